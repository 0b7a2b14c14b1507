#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Fails if a header, or another file of a tool, has more than 400 lines, or a function of the
library or of a tool more than 40."""
import pathlib
import re
import sys

MAX_LINES, MAX_OF_FUNCTION = 400, 40
ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADERS = (".h", ".hpp", ".inl")
# Text other than code, so that each brace and semicolon left has its meaning.
NOT_CODE = re.compile(r"""//[^\n]* | /\*(?s:.*?)\*/ | R"(\w*)\((?s:.*?)\)\1" | "(?:\\.|[^"\\\n])*"
                          | (?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+' | ^\#(?:[^\n]*\\\n)*[^\n]*""",
                      re.M | re.X)
NOT_A_FUNCTION = re.compile(r"\b(?:namespace|class|struct|enum|union|extern)\b[^()]*$")


def functions(text):
    """The first line and the number of lines of each function, as clang-format writes it."""
    text = NOT_CODE.sub(lambda found: "\n" * found[0].count("\n"), text)
    scopes, begin = [], 0  # the begins of functions; None for other braces
    for brace in re.finditer(r"[;{}]", text):
        at = brace.start()
        if text[at] == "{" and text[at - 1] in " \n":
            head = text[begin:at]
            outer = all(scope is None for scope in scopes)
            is_function = outer and "(" in head and not NOT_A_FUNCTION.search(head)
            scopes.append(begin + len(head) - len(head.lstrip()) if is_function else None)
        elif text[at] == "{":  # of a value, which does not end a head
            scopes.append(-1)
            continue
        elif text[at] == "}":
            start = scopes.pop()
            if start == -1:
                continue
            if start is not None:
                yield text.count("\n", 0, start) + 1, text.count("\n", start, at) + 1
        if not scopes or scopes[-1] != -1:
            begin = at + 1


def main():
    paths = [path for folder in ("bench", "examples", "include", "schema", "src", "tests", "tools")
             for path in sorted((ROOT / folder).rglob("*"))
             if path.suffix in HEADERS
             or path.suffix == ".cpp" and path.is_relative_to(ROOT / "tools")]
    wrong, count = [], 0
    for path in paths:
        text, name = path.read_text(encoding="utf-8"), path.relative_to(ROOT)
        if text.count("\n") > MAX_LINES:
            wrong.append(f"{name} has {text.count(chr(10))} lines, of at most {MAX_LINES}")
        if name.parts[0] in ("include", "src", "tools"):
            for line, lines in functions(text):
                count += 1
                if lines > MAX_OF_FUNCTION:
                    wrong.append(f"{name}:{line}: a function of {lines} lines, of at most "
                                 f"{MAX_OF_FUNCTION}")
    print("\n".join(wrong) or f"{len(paths)} files and {count} functions are short enough")
    return bool(wrong)


sys.exit(main())
