#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Draws the table of docs/speed.md: charts.py --write | --check

Each question has a chart, docs/speed/NAME.svg. `run.sh --readme` draws them after the table.
"""
import math
import pathlib
import re
import sys
import typing

DOCS = pathlib.Path(__file__).resolve().parents[1] / "docs"
UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9}
PEERS = ("ours", "Go 1.1.2", "Go 0.5.2", "Rust 1.1.1")
PARSERS = ("simdjson", "rapidjson", "nlohmann json", "ordered_json", "libyaml events", "rapidyaml",
           "yaml-cpp")
ROW, LABEL, LEFT, RIGHT, TOP = 18, 10, 200, 560, 44
WIDTH = 660
STYLE = """<style>
  text { font: 12px sans-serif; fill: #1f2328 } .bold { font: 13px sans-serif; font-weight: bold }
  .axis { font: 10px sans-serif; fill: #6e7781 } line { stroke: #d1d9e0 }
  circle { fill: #8c959f } polyline { fill: none; stroke: #8c959f; stroke-width: 1.5 }
  circle.c0 { fill: #0969da } polyline.c0 { stroke: #0969da; stroke-width: 2.5 }
  circle.c2 { fill: #bf8700 } polyline.c2 { stroke: #bf8700 }
  circle.c3 { fill: #bc4c00 } polyline.c3 { stroke: #bc4c00 }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc } .axis { fill: #9198a1 } line { stroke: #3d444d }
    circle.c0 { fill: #4493f8 } polyline.c0 { stroke: #4493f8 }
  }
</style>
"""


class Bars(typing.NamedTuple):
    """A chart of one row of the table: a point for each program."""
    name: str
    title: str
    row: str
    unit: str = "s"


class Lines(typing.NamedTuple):
    """A chart of rows that differ in one number, which the pattern has: a line for each program."""
    name: str
    title: str
    pattern: str
    what: str


CHARTS = (
    Bars("read", "Read a spec of 69 kB of JSON, like NVIDIA's for 8 GPUs",
         "read a spec of 60 kB, like NVIDIA's: JSON"),
    Bars("read-yaml", "Read the same spec as 52 kB of YAML",
         "read a spec of 60 kB, like NVIDIA's: YAML"),
    Bars("process", "A whole process: inject a device of that spec",
         "process, `cdi inject`, a spec of 60 kB: YAML"),
    Bars("text", "Inject a device into the text of a config.json",
         "config text to text: `cdi::inject_json`"),
    Bars("memory", "Peak memory: a spec of 10,000 devices, 5 MB of JSON",
         "peak memory: 5 MB of JSON, 10,000 devices", "B"),
    Lines("load", "Load a directory", r"^([\d,]+) files?: load$", "files"),
    Lines("unchanged", "Find that no file changed, by the state of each",
          r"^([\d,]+) files?: check, none changed$", "files"),
    Lines("changed", "Read again the one file that changed",
          r"^([\d,]+) files?: check, one changed$", "files"),
    Lines("find", "Find a device by its name", r"^find a device among: ([\d,]+)$", "devices"),
)


def table_of(page):
    """The rows of the page's table: what each program took, in seconds or bytes."""
    lines = re.search(r"^\| \| ours \|.*\n(?:\|.*\n)+", page, re.M)[0].splitlines()
    head = [text.strip() for text in lines[0].split("|")[1:-1]]
    out = {}
    for line in lines[2:]:
        label, ours, *others = (text.strip() for text in line.split("|")[1:-1])
        number, unit = re.match(r"([\d.]+) (\w+)", ours).groups()
        base = float(number) * UNITS[unit]
        found = {"ours": base}
        for name, text in zip(head[2:-1], others):
            if text not in ("-", ""):
                found[name] = base * float(text.split()[0])
        for text in filter(None, others[-1].split("; ")):
            name, ratio = re.match(r"(.*) ([\d.]+)$", text).groups()
            found[name] = base * float(ratio)
        out[label] = found
    return out


def words(value, unit):
    """A value with a unit, in two digits."""
    value = float(f"{value:.2g}")
    for name, factor in sorted(UNITS.items(), key=lambda item: -item[1]):
        if name.endswith(unit) and value >= 0.999 * factor:
            return f"{value / factor:.2g} {name}" if value < 99 * factor else \
                f"{value / factor:,.0f} {name}"
    return f"{value:.2g} {unit}"


class Axis:
    """A logarithmic axis of whole decades."""

    def __init__(self, values, start, end):
        self.first = math.floor(math.log10(min(values)) + 1e-9)
        self.last = max(math.ceil(math.log10(max(values)) - 1e-9), self.first + 1)
        self.start, self.step = start, (end - start) / (self.last - self.first)

    def at(self, value):
        return self.start + (math.log10(value) - self.first) * self.step

    def decades(self):
        return [10.0 ** power for power in range(self.first, self.last + 1)]


def text(x, y, content, kind=""):
    escaped = content.replace("&", "&amp;").replace("<", "&lt;")
    return f'<text{kind and f" class={chr(34)}{kind}{chr(34)}"} x="{x:.0f}" y="{y:.0f}">' \
           f"{escaped}</text>\n"


def line(x, y, to_x, to_y):
    return f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}"/>\n'


def point(x, y, colour):
    return f'<circle class="c{colour}" cx="{x:.1f}" cy="{y:.1f}" r="4"/>\n'


def picture(title, height, body):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
            f'width="{WIDTH}" height="{height}">\n<title>{title}</title>\n{STYLE}'
            + text(LABEL, 20, title, "bold") + body
            + "<!-- SPDX-License-Identifier: Apache-2.0 OR MIT -->\n</svg>\n")


def draw_bars(chart, table):
    values = sorted(table[chart.row].items(), key=lambda item: item[1])
    axis = Axis([value for _, value in values], LEFT, RIGHT)
    bottom = TOP + ROW * len(values)
    out = "".join(line(axis.at(tick), TOP - 8, axis.at(tick), bottom)
                  + text(axis.at(tick) - 12, bottom + 14, words(tick, chart.unit), "axis")
                  for tick in axis.decades())
    for index, (name, value) in enumerate(values):
        y = TOP + ROW * index + 6
        note = ", parses only" if name in PARSERS else ""
        out += text(LABEL, y + 4, name + note) + point(axis.at(value), y, 0 if name == "ours" else 1)
        out += text(axis.at(value) + 9, y + 4, words(value, chart.unit))
    return picture(chart.title, bottom + 24, out)


def draw_lines(chart, table):
    rows = {int(found[1].replace(",", "")): values for label, values in table.items()
            if (found := re.match(chart.pattern, label))}
    bottom = TOP + 200
    across = Axis(list(rows), 70, 500)
    up = Axis([value for values in rows.values() for value in values.values()], bottom, TOP)
    out = "".join(line(70, up.at(tick), 500, up.at(tick))
                  + text(LABEL, up.at(tick) + 4, words(tick, "s"), "axis")
                  for tick in up.decades())
    out += "".join(text(across.at(tick) - 12, bottom + 16, f"{tick:,.0f}", "axis")
                   for tick in across.decades())
    out += text(560, bottom + 16, chart.what, "axis")
    names = [name for name in PEERS if any(name in values for values in rows.values())]
    for name in reversed(names):
        colour = PEERS.index(name)
        at = [(across.at(key), up.at(rows[key][name])) for key in sorted(rows)
              if name in rows[key]]
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in at)
        out += f'<polyline class="c{colour}" points="{points}"/>\n'
        out += "".join(point(x, y, colour) for x, y in at)
    for index, name in enumerate(names):
        out += point(560, TOP + ROW * index, PEERS.index(name))
        out += text(570, TOP + ROW * index + 4, name)
    return picture(chart.title, bottom + 26, out)


def drawn():
    """The text of each chart, by its file."""
    table = table_of((DOCS / "speed.md").read_text(encoding="utf-8"))
    return {DOCS / f"speed/{chart.name}.svg":
            (draw_bars if isinstance(chart, Bars) else draw_lines)(chart, table)
            for chart in CHARTS}


def main():
    charts = drawn()
    if sys.argv[1:] == ["--write"]:
        for path, svg in charts.items():
            path.write_text(svg, encoding="utf-8")
        return 0
    if sys.argv[1:] != ["--check"]:
        print(__doc__, file=sys.stderr)
        return 2
    old = [path.name for path, svg in charts.items()
           if not path.exists() or path.read_text(encoding="utf-8") != svg]
    if old:
        print(f"not as the table of speed.md: {', '.join(old)}; run bench/charts.py --write")
    return 1 if old else 0


if __name__ == "__main__":
    sys.exit(main())
