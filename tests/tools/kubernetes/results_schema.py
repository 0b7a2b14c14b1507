# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Checks JSON of the tools with schema/results-1.json. Without python3-jsonschema, does nothing but
let `skip_without_schema` skip a test.
"""
import functools
import json
import pathlib
import unittest

try:
    from jsonschema import Draft202012Validator, ValidationError
except ImportError:
    Draft202012Validator = ValidationError = None

SCHEMA = pathlib.Path(__file__).resolve().parents[3] / "schema/results-1.json"


skip_without_schema = unittest.skipUnless(Draft202012Validator, "needs python3-jsonschema 4")


@functools.cache
def validator(command):
    definitions = json.loads(SCHEMA.read_text(encoding="utf-8"))["$defs"]
    return Draft202012Validator({"$ref": f"#/$defs/{command}", "$defs": definitions})


@functools.cache  # a test reads a log again and again
def check(command, text):
    if Draft202012Validator:
        validator(command).validate(json.loads(text))


def checked(command, text):
    """The value of a text that a command printed."""
    check(command, text)
    return json.loads(text)
