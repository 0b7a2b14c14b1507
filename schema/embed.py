#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Writes a C++ header with JSON schemas, each on a line, for `cdi schema`. usage: embed.py SCHEMA... >HEADER"""
import json
import pathlib
import sys

DELIMITER = "schema"  # of the raw strings


def entry(path):
    """A row of the table: the name, the title and the text."""
    schema = json.loads(path.read_text(encoding="utf-8"))
    text = json.dumps(schema, separators=(",", ":"))
    if f"){DELIMITER}\"" in text:
        sys.exit(f"{path} contains the end of a raw string")
    title = json.dumps(schema["title"])
    return f'    {{"{path.stem}", {title}, R"{DELIMITER}({text}){DELIMITER}"}},\n'


print("""// The JSON schemas of schema/, written by schema/embed.py.
// SPDX-License-Identifier: Apache-2.0 OR MIT

struct EmbeddedSchema {
  std::string_view name;
  std::string_view title;
  std::string_view text;
};

inline constexpr EmbeddedSchema embedded_schemas[] = {
""" + "".join(entry(pathlib.Path(path)) for path in sorted(sys.argv[1:])) + "};")
