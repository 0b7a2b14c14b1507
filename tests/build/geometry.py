# cdi - Container Device Interface for C++20
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The geometry of an SVG picture of boxes, text and arrows: what a reader could not read.

A picture has `rect`, `text` with `tspan`, and `path` of the commands M, H and V. Its text is
`mono` (a class), or else sans-serif; classes that begin with `bold` are bold.
"""
import re
import xml.etree.ElementTree
from typing import NamedTuple

SVG = "{http://www.w3.org/2000/svg}"
# Widths in em of DejaVu Sans, which is wider than the other common fonts.
WIDTHS = (("ijl", 0.28), (" .,:;/'|", 0.34), ("frt-()[]", 0.42), ("sczI_", 0.55), ("w", 0.82),
          ("mMW", 1.0), ("ABCDEFGHJKLNOPQRSTUVXYZ@%+=<>~→", 0.84))
OTHERS, MONO, BOLD = 0.64, 0.61, 1.13
ASCENT, DESCENT = 0.8, 0.25  # of the size of the font
NEAR = 4  # of the parts of two arrows


class Box(NamedTuple):
    """A rectangle, and what is in it."""
    left: float
    top: float
    right: float
    bottom: float
    what: str

    def overlaps(self, other):
        return (self.left < other.right and other.left < self.right
                and self.top < other.bottom and other.top < self.bottom)

    def holds(self, other):
        return (self.left <= other.left and other.right <= self.right
                and self.top <= other.top and other.bottom <= self.bottom)


def text_width(text, size, classes=""):
    """An upper bound of the width of a line of text in common fonts."""
    if "mono" in classes:
        return len(text) * MONO * size
    width = sum(next((em for letters, em in WIDTHS if letter in letters), OTHERS)
                for letter in text)
    return width * size * (BOLD if "bold" in classes else 1)


def font_sizes(svg):
    """The size of the font of each class; that of `text` has no class."""
    rules = re.findall(r"(text|\.\w+) \{[^}]*font(?:-size)?: ([\d.]+)px", svg)
    return {name.strip(".").replace("text", ""): float(size) for name, size in reversed(rules)}


def width_of(element, inherited, sizes):
    """The width of an element of text and of all in it."""
    classes = element.get("class") or inherited
    size = sizes.get(classes, sizes[""])
    width = text_width(element.text or "", size, classes)
    for inner in element:
        width += width_of(inner, classes, sizes)
        width += text_width(inner.tail or "", size, classes)
    return width


def number(element, name):
    return float(element.get(name, 0))


def boxes_of(root):
    return [Box(number(rect, "x"), number(rect, "y"), number(rect, "x") + number(rect, "width"),
                number(rect, "y") + number(rect, "height"), "box")
            for rect in root.iter(f"{SVG}rect")]


def texts_of(root, sizes):
    for text in root.iter(f"{SVG}text"):
        size = sizes.get(text.get("class", ""), sizes[""])
        left, line, width = number(text, "x"), number(text, "y"), width_of(text, "", sizes)
        if text.get("text-anchor") == "middle":
            left -= width / 2
        yield Box(left, line - ASCENT * size, left + width, line + DESCENT * size,
                  "".join(text.itertext()))


def segments_of(root):
    """The straight parts of the arrows, with the number of the arrow."""
    for arrow, path in enumerate(root.findall(f"{SVG}path")):
        x = y = 0.0
        for command, numbers in re.findall(r"([A-Z])([^A-Z]*)", path.get("d")):
            to = [float(text) for text in re.findall(r"[\d.]+", numbers)]
            new_x, new_y = {"M": to, "H": [*to, y], "V": [x, *to]}[command]
            if command != "M":
                yield Box(min(x, new_x), min(y, new_y), max(x, new_x), max(y, new_y),
                          f"arrow {arrow}")
            x, y = new_x, new_y


def look_like_one(one, other):
    """Whether parts of two arrows are parallel, side by side, and almost in one place."""
    def gaps(low, high):
        return max(one[low], other[low]) - min(one[high], other[high])

    level, upright = (all(part[low] == part[high] for part in (one, other))
                      for low, high in ((1, 3), (0, 2)))
    across, along = gaps(0, 2), gaps(1, 3)
    return (one.what != other.what
            and ((level and across < 0 and along < NEAR) or (upright and along < 0 and across < NEAR)))


def faults(svg):
    """What is wrong with a picture, a line for each fault."""
    root = xml.etree.ElementTree.fromstring(svg)
    view = Box(*map(float, root.get("viewBox").split()), "picture")
    boxes, found = boxes_of(root), []
    texts = list(texts_of(root, font_sizes(svg)))
    segments = list(segments_of(root))
    for one in (*boxes, *texts, *segments):
        if not view.holds(one):
            found.append(f"outside of the picture: {one}")
    for index, one in enumerate(boxes):
        found += [f"overlap: {one} and {other}" for other in boxes[:index] if one.overlaps(other)]
    for index, one in enumerate(texts):
        found += [f"out of its box: {one}" for box in boxes
                  if one.overlaps(box) and not box.holds(one)]
        found += [f"two texts in one place: {one} and {other}" for other in texts[:index]
                  if one.overlaps(other)]
        found += [f"an arrow through a text: {one}" for segment in segments
                  if one.overlaps(segment)]
    for index, segment in enumerate(segments):
        found += [f"two arrows in one place: {segment} and {other}" for other in segments[:index]
                  if look_like_one(segment, other)]
        found += [f"an arrow through a box: {segment}" for box in boxes if segment.overlaps(box)]
    return found
