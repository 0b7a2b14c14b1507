#!/usr/bin/env python3
# cdi - Container Device Interface for C++20
# SPDX-License-Identifier: Apache-2.0
"""Draws docs/layers.svg: the folders of include/cdi, their headers, and what each folder includes.

Without an argument, it fails if the picture does not match the headers; `--write` draws it again.
"""
import sys
import textwrap

sys.dont_write_bytecode = True
from layers import FOLDERS, FOR_ALL, headers, is_door, layer, root, uses  # noqa: E402

PICTURE = root / "docs/layers.svg"
MEANINGS = {
    "base": "results and errors, paths, order",
    "model": "the CDI document as types; field lists",
    "oci": "the OCI runtime spec as types",
    "text": "JSON and YAML; models from and to text",
    "rules": "names, annotations, rules, releases",
    "engine": "edits applied to an OCI spec",
    "targets": "OCI specs that edits are applied to",
    "registry": "devices by name; why one is not found",
    "files": "single spec files, read and replaced",
    "dirs": "spec directories: cache, watch, publish",
}
WIDTH, ROW, LEFT, BOX, LINE = 730, 58, 10, 640, 16
STYLE = """<style>
  text { font: 13px sans-serif; fill: #1f2328 } .name { font-weight: bold } .headers { font-size: 11.5px; fill: #57606a }
  rect { fill: #f6f8fa; stroke: #8c959f } path { fill: none; stroke: #0969da; stroke-width: 1.2 }
</style>"""


def folder_includes():
    """The folders that each folder includes."""
    found = {folder: set() for folder in FOLDERS}
    for name, used in uses.items():
        if not is_door(name) and name not in FOR_ALL:
            found[name.split("/")[0]] |= {other.split("/")[0] for other in used
                                          if other not in FOR_ALL}
    return {folder: used - {folder} for folder, used in found.items()}


def direct(includes):
    """The includes without those that follow from two others."""
    def reached(folder):
        return includes[folder].union(*(reached(used) for used in includes[folder]))

    return {folder: {used for used in all_used
                     if not any(used in reached(other) for other in all_used - {used})}
            for folder, all_used in includes.items()}


def top_of(folder):
    return LEFT + (len(FOLDERS) - 1 - layer(folder + "/")) * ROW


def lines_of(names, most=100):
    """The names, in lines of at most `most` characters."""
    return textwrap.wrap(", ".join(names), most)


def box(folder):
    names = [name.split("/")[1] for name in headers
             if name.startswith(folder + "/") and "/impl/" not in name and not is_door(name)]
    top = top_of(folder)
    text = [f'<rect x="{LEFT}" y="{top}" width="{BOX}" height="{ROW - 8}" rx="4"/>',
            f'<text x="{LEFT + 8}" y="{top + 15}"><tspan class="name">{folder}/</tspan>'
            f' {MEANINGS[folder]}</text>']
    text += [f'<text class="headers" x="{LEFT + 8}" y="{top + 30 + 13 * row}">{line}</text>'
             for row, line in enumerate(lines_of(names))]
    return text


def arrow(folder, used, lane):
    """An arrow from the right side of a box to a box below; longer arrows are further out."""
    start, end = top_of(folder) + ROW // 2 - 4, top_of(used) + ROW // 2 - 12
    right = LEFT + BOX
    out = right + 20 + LINE * lane
    return (f'<path d="M{right},{start} C{out},{start} {out},{end} {right + 6},{end}"'
            ' marker-end="url(#head)"/>')


def picture():
    height = 2 * LEFT + len(FOLDERS) * ROW - 8
    text = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
            f'width="{WIDTH}" height="{height}">', STYLE,
            '<marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
            'markerHeight="7" orient="auto"><path d="M0,0 L8,4 L0,8"/></marker>']
    for folder in reversed(FOLDERS):
        text += box(folder)
    for folder, all_used in direct(folder_includes()).items():
        text += [arrow(folder, used, layer(folder + "/") - layer(used + "/"))
                 for used in sorted(all_used)]
    return "\n".join([*text, "</svg>"]) + "\n"


if sys.argv[1:] == ["--write"]:
    PICTURE.write_text(picture(), encoding="utf-8")
elif not PICTURE.exists() or PICTURE.read_text(encoding="utf-8") != picture():
    sys.exit("docs/layers.svg does not match the headers: "
             "run tests/build/layers_picture.py --write")
