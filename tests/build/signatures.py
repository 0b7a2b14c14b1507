#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Fails if a public declaration names something of a namespace `detail`: a type of a parameter, a
result or a public member, a constraint or a base class.

The functions of a SpecEditor may: only the engine calls them. usage: signatures.py [HEADER...]
"""
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parents[2]

IGNORED = r"//[^\n]*|/\*.*?\*/|R\"\(.*?\)\"|\"(?:\\.|[^\"\\\n])*\"|(?<!\w)'(?:\\.|[^'\\\n])+'"
DIRECTIVE = r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*"
BRACKETS = {"(": ")", "[": "]", "{": "}"}
REQUIREMENT = re.compile(r"(requires|=|&&|\|\||!|\()\s*requires\s*(\([^()]*\))?\s*$")  # not a clause
HEAD = re.compile(r"\s*(template\s*(?=<)|\[\[.*?\]\]|alignas\s*\(\w+\))")


def blank(text):
    """The text without comments, strings and directives, with the same lines."""
    def spaces(match):
        return re.sub(r"[^\n]", " ", match.group())
    return re.sub(DIRECTIVE, spaces, re.sub(IGNORED, spaces, text, flags=re.S), flags=re.M)


def after_group(text, at):
    """The index after the bracket that closes the one at an index."""
    ends = [BRACKETS[text[at]]]
    while ends:
        at += 1
        if text[at] in BRACKETS:
            ends.append(BRACKETS[text[at]])
        elif text[at] == ends[-1]:
            ends.pop()
    return at + 1


def after_angle(text, at):
    """The same for `<`. Parentheses protect comparisons."""
    depth = 0
    while True:
        if text[at] in BRACKETS:
            at = after_group(text, at)
            continue
        depth += {"<": 1, ">": -1}.get(text[at], 0)
        at += 1
        if depth == 0:
            return at


def split_heads(declaration):
    """A declaration as its template heads and attributes, and the rest."""
    at = 0
    while match := HEAD.match(declaration, at):
        at = match.end()
        if match.group().strip() == "template":
            at = after_angle(declaration, at)
    return declaration[:at], declaration[at:].strip()


def without_value(declaration):
    """A declaration without the value of a variable and without the initialisers of members."""
    at = 0
    seen_call = False
    while at < len(declaration):
        char = declaration[at]
        if char in "([{":
            seen_call = seen_call or char == "("
            at = after_group(declaration, at)
            continue
        if char == "=" and not re.search(r"operator\W*$", declaration[:at]):
            return declaration[:at]
        if char == ":" and "::" not in declaration[max(0, at - 1):at + 2] and seen_call:
            return declaration[:at]
        at += 1
    return declaration


class Header:
    def __init__(self, path):
        self.name = path
        self.text = blank(path.read_text())
        self.found = []

    def check(self, begin, declaration):
        heads, rest = split_heads(declaration)
        if re.match(r"(extern\s+)?template\b|friend\b|using\b|static_assert\b|concept\b"
                    r"|struct SpecEditor\b", rest):
            return
        if re.search(r"\bdetail::", heads + without_value(rest)):
            begin += len(declaration) - len(declaration.lstrip())
            line = self.text.count("\n", 0, begin) + 1
            self.found.append(f"{self.name.relative_to(root)}:{line}: "
                              + " ".join(declaration.split())[:160])

    def scope_after(self, rest, is_visible):
        """Whether the braces after a declaration are a scope: its visibility, or None."""
        if match := re.match(r"(?:inline\s+)?namespace\b([\s\w:]*)$", rest):
            return is_visible and "detail" not in re.findall(r"\w+", match[1])
        if match := re.match(r"(class|struct|union)\b\s*([^:]*)", rest):
            return is_visible and not match[2].startswith("SpecEditor")
        return None

    def walk(self, at, is_visible, is_public):
        """Checks the declarations of a scope; returns the index after its end."""
        begin = at
        while at < len(self.text):
            char = self.text[at]
            if char == "}":
                return at + 1
            if char in "([":
                at = after_group(self.text, at)
                continue
            declaration = self.text[begin:at]
            if char == ":" and declaration.strip() in ("public", "private", "protected"):
                is_public = declaration.strip() == "public"
                at += 1
                begin = at
            elif char == "{" and REQUIREMENT.search(declaration):
                at = after_group(self.text, at)  # a constraint, and part of the declaration
            elif char in "{;":
                if is_visible and is_public:
                    self.check(begin, declaration)
                at = self.after_declaration(at, declaration, is_visible and is_public)
                begin = at
            else:
                at += 1
        return at

    def after_declaration(self, at, declaration, is_visible):
        """The index after a declaration, of which the text ends at `;` or before a brace."""
        if self.text[at] == ";":
            return at + 1
        rest = split_heads(declaration)[1]
        inner = self.scope_after(rest, is_visible)
        if inner is not None:
            at = self.walk(at + 1, inner, not rest.startswith("class"))
        else:
            at = after_group(self.text, at)
            is_initialiser = rest.startswith("enum") or self.text[at:].lstrip()[:1] in (",", "{", ";")
            while is_initialiser and self.text[at] not in ";{":
                at = after_group(self.text, at) if self.text[at] in "([" else at + 1
            if self.text[at] == "{" and is_initialiser:
                return self.after_declaration(at, declaration, is_visible)
        end = re.match(r"[\s\w{}]*;", self.text[at:])
        return at + end.end() if end and rest.startswith(("class", "struct", "union")) else \
            at + 1 if self.text[at:at + 1] == ";" else at


def main(paths):
    headers = paths or sorted((root / "include/cdi").rglob("*.hpp"))
    found = []
    for path in headers:
        header = Header(pathlib.Path(path).resolve())
        header.walk(0, True, True)
        found += header.found
    print("\n".join(found) or f"{len(headers)} headers: no public declaration names detail::")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
