#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Writes some of our headers, and all of our headers that they include, into a single file.

usage: amalgamate.py OUT cdi/cdi.hpp...
"""
import pathlib
import re
import sys

INCLUDE = pathlib.Path(__file__).resolve().parent.parent / "include"
BODIES = re.compile(r"(#if.*\n)#include <(cdi/\w+/\S+\.inl|cdi/text/models.hpp)>\n#endif\n")
LICENCE = re.compile(r"\A(// .*\n)// SPDX-.*\n")


class Amalgamation:
    """Puts each header where it is first included, with its guard, so that including a header of
    the same release as well adds nothing. Third-party headers are included once. The bodies of
    functions follow all declarations, and those for the library alone come last, so that no
    declaration depends on a header that only bodies include."""

    def __init__(self):
        self.headers = set()
        self.others = set()
        self.later = {"#if CDI_BODIES\n": [], "#ifdef CDI_SOURCE\n": []}

    def whole(self, headers):
        """The text of headers and of all headers that they include."""
        text = "".join(self.text_of(name) for name in headers if name not in self.headers)
        for condition in list(self.later):
            names = self.later.pop(condition)  # later ones are put where they are included
            bodies = "\n".join(self.text_of(name) for name in names if name not in self.headers)
            text += f"\n{condition}\n{bodies}\n#endif  // {condition.split()[1]}\n"
        return text

    def text_of(self, header):
        self.headers.add(header)
        text = LICENCE.sub(r"\1", (INCLUDE / header).read_text(encoding="utf-8"))
        text = BODIES.sub(self.put_off, text)
        return f"// ---- {header}\n" + "".join(map(self.line, text.splitlines(keepends=True)))

    def put_off(self, bodies):
        if bodies[1] not in self.later:
            return bodies[0]
        self.later[bodies[1]].append(bodies[2])
        return ""

    def line(self, line):
        match = re.match(r"#include <([^>]+)>", line)
        if not match:
            return line
        name = match[1]
        if name in self.headers | self.others:
            return ""
        if (INCLUDE / name).is_file():
            return self.text_of(name)
        self.others.add(name)
        return line


def main(out, *headers):
    version = (INCLUDE / "cdi/version.hpp").read_text(encoding="utf-8")
    release = ".".join(re.findall(r"VERSION_\w+ (\d+)", version))
    names = ", ".join(f"<{header}>" for header in headers)
    banner = (f"// cdi {release} - Container Device Interface for C++20\n"
              "// SPDX-License-Identifier: Apache-2.0 OR MIT\n\n"
              f"// {names} in a single file, made by packaging/amalgamate.py: do not edit.\n\n")
    text = re.sub(r"\n{3,}", "\n\n", banner + Amalgamation().whole(headers))
    pathlib.Path(out).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
