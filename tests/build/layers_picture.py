#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Draws docs/layers.svg: the folders of include/cdi, their headers, and what each folder includes.

The layers are one above another, and the wings stand beside them. The words for a folder are those
of its row in docs/architecture.md. Without an argument, it fails if the picture does not match the
headers; `--write` draws it again.
"""
import itertools
import re
import sys

sys.dont_write_bytecode = True
import layers  # noqa: E402
from layers import (C_LIBRARY, FOLDERS, FOR_ALL, WINGS, headers, is_bodies, is_door,  # noqa: E402
                    root, uses)

PICTURE, PAGE = root / "docs/layers.svg", root / "docs/architecture.md"
MEANINGS = dict(re.findall(r"^\| `([a-z_/]+)/` \| (.*) \|$", PAGE.read_text("utf-8"), re.M))

LEFT, GAP, LANE = 10, 18, 9  # margins, between boxes, between the vertical parts of arrows
SPINE_WIDTH, WING_WIDTH = 480, 300
LINE, PADDING = 15, 8
WORDS, NAMES = 13, 11  # sizes of fonts
SHIFT = 28  # of wings, so that few ends of arrows are at one height
# Widths in em of DejaVu Sans, which is wider than the other common fonts.
WIDTHS = (("ijl", 0.28), (" .,:;/'|", 0.34), ("frt-()[]", 0.42), ("sczI_", 0.55), ("w", 0.82),
          ("mMW", 1.0), ("ABCDEFGHJKLNOPQRSTUVXYZ@%+=<>~→", 0.84))
OTHERS, MONO, BOLD = 0.64, 0.61, 1.13
NEAR = 5  # parts of two arrows that are nearer look like one
STYLE = f"""<style>
  text {{ font: {WORDS}px sans-serif; fill: #1f2328 }} .bold {{ font-weight: bold }}
  .mono {{ font: {NAMES}px monospace; fill: #57606a }}
  rect {{ fill: #f6f8fa; stroke: #8c959f }}
  path {{ fill: none; stroke: #0969da; stroke-width: 1.2 }} .wing {{ stroke: #8250df }}
  @media (prefers-color-scheme: dark) {{
    text {{ fill: #f0f6fc }} .mono {{ fill: #9198a1 }} rect {{ fill: #151b23; stroke: #656c76 }}
    path {{ stroke: #4493f8 }} .wing {{ stroke: #ab7df8 }}
  }}
</style>"""
MARKER = ('<marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
          'orient="auto"><path d="M0,0 L8,4 L0,8"/></marker>')


def text_width(text, size, classes=""):
    """An upper bound of the width of a line of text in common fonts."""
    if "mono" in classes:
        return len(text) * MONO * size
    width = sum(next((em for letters, em in WIDTHS if letter in letters), OTHERS)
                for letter in text)
    return width * size * (BOLD if "bold" in classes else 1)


def folder_of(name):
    """The folder of a header, or None for the doors, what all layers use, and the C library."""
    folder = layers.folder_of(name)
    return None if is_door(name) or name in FOR_ALL or folder == C_LIBRARY else folder


def folder_includes():
    """The folders that each folder includes."""
    found = {folder: set() for folder in [*FOLDERS, *WINGS]}
    for name, used in uses.items():
        if folder_of(name):
            found[folder_of(name)] |= set(filter(None, map(folder_of, used)))
    return {folder: used - {folder} for folder, used in found.items()}


def direct(includes):
    """The includes without those that follow from two others."""
    def reached(folder):
        return includes[folder].union(*(reached(used) for used in includes[folder]))

    return {folder: {used for used in all_used
                     if not any(used in reached(other) for other in all_used - {used})}
            for folder, all_used in includes.items()}


def names_in(folder):
    """The headers of a folder."""
    return sorted(name.rpartition("/")[2] for name in headers
                  if folder_of(name) == folder and not is_bodies(name))


def in_lines(words, size, room, kind="", first=0):
    """The words, in lines no wider than `room`, with space for `first` in the first one."""
    lines, left = [""], room - first
    for word in words:
        longer = f"{lines[-1]} {word}".strip()
        if text_width(longer, size, kind) > left:
            lines, left = [*lines, word], room
        else:
            lines[-1] = longer
    return lines


class Box:
    """A folder at its place; its height follows from its lines."""

    def __init__(self, folder, left, width):
        if folder not in MEANINGS:
            sys.exit(f"docs/architecture.md has no row for {folder}/")
        self.folder, self.left, self.width, self.top = folder, left, width, 0
        room = width - 2 * PADDING
        self.words = in_lines(MEANINGS[folder].split(), WORDS, room,
                              first=text_width(f"{folder}/ ", WORDS, "bold"))
        self.names = in_lines(", ".join(names_in(folder)).split(), NAMES, room, "mono")
        self.height = LINE * (len(self.words) + len(self.names)) + PADDING
        self.arrows = []  # those that begin or end at its side

    @property
    def bottom(self):
        return self.top + self.height

    def port(self, arrow):
        """The height of the end of an arrow; the ends have the order of the other boxes."""
        order = sorted(self.arrows, key=lambda one: one.other(self).top)
        return round(self.top + (order.index(arrow) + 1) * self.height / (len(order) + 1))

    def svg(self):
        first, *rest = self.words
        lines = [("", f'<tspan class="bold">{self.folder}/</tspan> {first}'),
                 *(("", line) for line in rest), *((' class="mono"', line) for line in self.names)]
        return [f'<rect x="{self.left}" y="{self.top}" width="{self.width}" '
                f'height="{self.height}" rx="4"/>',
                *(f'<text{kind} x="{self.left + PADDING}" y="{self.top + LINE * row}">{line}</text>'
                  for row, (kind, line) in enumerate(lines, 1))]


class Arrow:
    """An arrow between the sides of two boxes, through the space between layers and wings."""

    def __init__(self, start, end):
        self.start, self.end = start, end
        start.arrows.append(self)
        end.arrows.append(self)

    def other(self, box):
        return self.end if box is self.start else self.start

    def ends(self):
        return self.start.port(self), self.end.port(self)

    def sides(self):
        """The folder and the height of each end."""
        return zip((self.start.folder, self.end.folder), self.ends())

    def svg(self, lane):
        """The arrow with its vertical part in a lane; the first is beside the layers."""
        side = LEFT + SPINE_WIDTH
        start, end = (box.left if box.folder in WINGS else side for box in (self.start, self.end))
        kind = ' class="wing"' if self.start.folder in WINGS else ""
        first, last = self.ends()
        return (f'<path{kind} d="M{start},{first} H{side + (lane + 2) * LANE} V{last} H{end}"'
                ' marker-end="url(#head)"/>')


def apart(one, lane, other, other_lane):
    """Whether no parts of two arrows are in one place."""
    low, high = sorted(one.ends())
    other_low, other_high = sorted(other.ends())
    if lane == other_lane and high + NEAR >= other_low and other_high + NEAR >= low:
        return False
    # An end at a layer and an end at a wing at one height: the lane of the first is further left.
    for (box, end), (other_box, other_end) in itertools.product(one.sides(), other.sides()):
        if abs(end - other_end) < NEAR and (box in WINGS) != (other_box in WINGS):
            if (lane < other_lane) == (box in WINGS):
                return False
    return True


def in_lanes(arrows):
    """Each arrow with a lane, so that the arrows are apart; those with wings come last."""
    def order(arrow):
        first, last = arrow.ends()
        return sum(folder in WINGS for folder, _ in arrow.sides()), abs(first - last), first, last

    found, count = [], 0
    for arrow in sorted(arrows, key=order):
        lane = next((lane for lane in range(count)
                     if all(apart(arrow, lane, *other) for other in found)), count)
        found.append((arrow, lane))
        count = max(count, lane + 1)
    return found, count


def stacked(boxes, lowest_tops):
    """Places boxes one below another, none above its lowest top."""
    top = LEFT
    for box, lowest in zip(boxes, lowest_tops):
        box.top = max(top, lowest)
        top = box.bottom + GAP


def picture():
    includes = direct(folder_includes())
    spine = {folder: Box(folder, LEFT, SPINE_WIDTH) for folder in reversed(FOLDERS)}
    stacked(spine.values(), [0] * len(spine))
    wings = {folder: Box(folder, 0, WING_WIDTH) for folder in WINGS}

    def beside(folder):  # a little below the top of the highest layer that a wing uses
        tops = (spine[used].top for used in includes[folder] if used in spine)
        return min(tops, default=LEFT) + SHIFT

    order = sorted(wings, key=lambda folder: (beside(folder), list(WINGS).index(folder)))
    stacked([wings[folder] for folder in order], map(beside, order))

    boxes, steps, arrows = {**spine, **wings}, [], []
    for folder, all_used in includes.items():
        for used in sorted(all_used):
            if used in spine and folder in spine and FOLDERS.index(folder) == FOLDERS.index(used) + 1:
                steps.append(f'<path d="M{LEFT + 40},{spine[folder].bottom} V{spine[used].top}"'
                             ' marker-end="url(#head)"/>')
            else:
                arrows.append(Arrow(boxes[folder], boxes[used]))
    placed, lanes = in_lanes(arrows)
    for box in wings.values():
        box.left = LEFT + SPINE_WIDTH + (lanes + 3) * LANE
    width = LEFT + SPINE_WIDTH + (lanes + 3) * LANE + (WING_WIDTH + LEFT if wings else 0)
    height = max(box.bottom for box in boxes.values()) + LEFT
    text = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}">', STYLE, MARKER]
    for box in boxes.values():
        text += box.svg()
    text += steps + [arrow.svg(lane) for arrow, lane in placed]
    licence = "<!-- SPDX-License-Identifier: Apache-2.0 OR MIT -->"
    return "\n".join([*text, "</svg>", licence]) + "\n"


if sys.argv[1:] == ["--write"]:
    PICTURE.write_text(picture(), encoding="utf-8")
elif not PICTURE.exists() or PICTURE.read_text(encoding="utf-8") != picture():
    sys.exit("docs/layers.svg does not match the headers: "
             "run tests/build/layers_picture.py --write")
