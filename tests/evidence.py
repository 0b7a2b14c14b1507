# cdi - Container Device Interface for C++20
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The tables of docs/evidence.md, which programs write."""
import datetime
import pathlib

PAGE = pathlib.Path(__file__).resolve().parents[1] / "docs/evidence.md"


def write_table(marker, command, lines):
    """Replaces what is between the markers of the page by lines, with the date and the command."""
    begin, end = f"<!-- {marker} -->\n", f"<!-- end of {marker} -->"
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(begin)
    made = f"\nMade on {datetime.date.today()} by `{command}`:\n\n" + "\n".join(lines) + "\n\n"
    PAGE.write_text(before + begin + made + rest[rest.index(end):], encoding="utf-8")
