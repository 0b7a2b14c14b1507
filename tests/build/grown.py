# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Compares counts with a table of them, for compile_cost_test.py and instructions_test.py."""
TOLERANCE = 1.05


def has_grown(rows, higher, lower):
    """Prints the rows that differ by more than 5 %, and returns whether one is higher.

    Rows are (name, count, unit, count in the table, or 0); `higher` and `lower` are the words
    for a count that differs.
    """
    bad = False
    for name, count, unit, was in rows:
        growth = f"{100 * count / was - 100:+.1f} %" if was else "new"
        change = f"{name}: {count} {unit}, in the table {was}, {growth}"
        if count > was * TOLERANCE:
            print(f"{higher}: {change}")
            bad = True
        elif count * TOLERANCE < was:
            print(f"{lower}: {change}; renew the table")
    return bad
