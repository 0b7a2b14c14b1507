# Chains of headers, for flags_test.py: to compile a chain tests each of its headers alone.
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A header compiles alone if it compiles after headers that it includes itself.

What is declared before it is then what it would include anyway, so a missing include is found. In a
chain, each header includes the one before it, ahead of its own text, and not the reverse. To
compile a chain takes about as long as to compile its last header.
"""
import collections
import re

from toolchain import GXX, INCLUDE, Unit, includes


def direct_includes(headers, *flags):
    """The names in the include directives that are active in each of our files."""
    done = Unit("", [GXX, "-std=c++20", "-I", INCLUDE, "-E", "-dI", *flags, "-x", "c++", "-"],
                includes(*headers)).run()
    assert done.good, done.errors
    found = collections.defaultdict(set)
    path = ""
    for line in done.out.splitlines():
        if marker := re.match(r'# \d+ "([^"]*)"', line):
            path = marker[1]
        elif included := re.match(r"#include <(cdi/[^>]+)>", line):
            found[path.removeprefix(f"{INCLUDE}/")].add(included[1])
    return found


def all_includes(header, direct):
    """What a header includes, directly or not; itself, too, if there is a cycle."""
    found = set()
    new = set(direct[header])
    while new:
        found |= new
        new = {name for each in new for name in direct[each]} - found
    return found


def chains(headers, *flags):
    """The headers in chains, each in the order in which to include them."""
    direct = direct_includes(headers, *flags)
    below = {header: all_includes(header, direct) for header in headers}
    # What a header includes before its own text: its bodies come after that.
    before = {header: set().union(*({name, *all_includes(name, direct)} for name in direct[header]
                                    if not name.endswith(".inl"))) for header in headers}
    found = []  # the headers in reverse order
    for header in sorted(headers, key=lambda each: -len(below[each])):
        fitting = [chain for chain in found
                   if header in before[chain[-1]] and chain[-1] not in below[header]]
        if fitting:
            min(fitting, key=lambda chain: len(below[chain[-1]])).append(header)
        else:
            found.append([header])
    return [chain[::-1] for chain in found]
