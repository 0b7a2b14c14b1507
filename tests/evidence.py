# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The tables of docs/ that programs write."""
import datetime
import pathlib

DOCS = pathlib.Path(__file__).resolve().parents[1] / "docs"


def write_table(marker, command, lines, page="evidence.md"):
    """Replaces what is between the markers of a page by lines, with the date and the command."""
    path = DOCS / page
    begin, end = f"<!-- {marker} -->\n", f"<!-- end of {marker} -->"
    before, _, rest = path.read_text(encoding="utf-8").partition(begin)
    made = f"\nMade on {datetime.date.today()} by `{command}`:\n\n" + "\n".join(lines) + "\n\n"
    path.write_text(before + begin + made + rest[rest.index(end):], encoding="utf-8")
