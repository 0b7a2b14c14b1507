#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The YAML readers of this library and of the Go reference make the same trees from many texts: the
texts of the vectors with random changes, and random tokens. CDI_FULL=1 tests a hundred times as
many.

usage: trees_test.py BUILD TREES [ARGUMENTS OF UNITTEST]
"""
import os
import pathlib
import random
import re
import struct
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
import peer_test  # noqa: E402  takes the first two arguments

TREES = peer_test.CONFORMANCE
COUNT = 400_000 if os.environ.get("CDI_FULL") == "1" else 4_000
TOKENS = [token.encode() for token in (
    "- ", ": ", "? ", "[", "]", "{", "}", ",", "#", " #", "&a ", "*a", "!!str ", "!t ", "|", ">",
    "&b\n", "!!str\n", "!!null ", '""', "{a: b}", "[? ", "[c]", "? !!str ", "k: &b\n  !!str x\n",
    "|-", ">+", "|2\n", "'", '"', "\n", "\n  ", "\n    ", "  ", " ", "\t", "---", "\n---\n",
    "\n...\n", "%", "@", "a", "x: 1", "- x", "~", "null", "\\", "\\n", "\r\n", "\r", "\n\n", "-",
    ":", "?", "k:\n", "%YAML 1.2\n---\n", "\x80")]
# Errors of the library for texts that are valid YAML; and texts that are not compared, because the
# readers are known to differ: line ends of YAML 1.1, a tag without a name, with brackets or commas, or
# of a type that the text need not have, merge keys, a comment without a blank before it, an anchor
# or tag of a key that is not written, and a directive that is not at the beginning.
REFUSED = re.compile(rb"is a duplicate|a key must be text|the text is empty|levels deep|"
                     rb"text in brackets cannot begin with '\?'|the tag !!null precedes a text|"
                     rb"the key must be on the same line as its")
NOT_COMPARED = re.compile(rb"\xc2\x85|\xe2\x80[\xa8\xa9]|!(\s|[,\]}]|$)|![^\s]*[\[\],]|<<|"
                          rb"!!(binary|int|float|bool|timestamp)|[|>][-+0-9]*#|[&!]\S*\s*:|"
                          rb"(?s:.)%YAML")
# A tab that begins a line is refused by older releases of the reference, and mostly by this one.
TAB_LINE = re.compile(rb"(?m)(^|\r) *\t")
# Of the reference's tree.
TOO_LARGE = (b"error: too large", b"error: yaml: document contains excessive aliasing")


def texts_of_vectors():
    def texts(value):
        if isinstance(value, str):
            if "\n" in value:
                yield value.encode()
        elif value is not None and not isinstance(value, (bool, int, float)):
            for item in value.values() if isinstance(value, dict) else value:
                yield from texts(item)
    return sorted({text for path in peer_test.VECTORS for text in texts(peer_test.load(path))
                   if len(text) < 3000})


def some_tokens(rng):
    return b"".join(rng.choice(TOKENS) for _ in range(rng.randrange(1, 14)))


def changed(text, rng):
    text = bytearray(text)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 5))):
        at = rng.randrange(len(text) + 1)
        kind = rng.random()
        if kind < 0.6:
            text[at:at + rng.choice((0, 0, 0, 1))] = rng.choice(TOKENS)
        elif kind < 0.8:
            del text[at:at + rng.choice((1, 1, 2, 4, 10))]
        elif kind < 0.9:
            del text[at:]
        else:
            begin = rng.randrange(len(text) + 1)
            text[at:at] = text[begin:begin + rng.randrange(60)]
    return bytes(text)


def answers(command, texts):
    given = b"".join(struct.pack("<I", len(text)) + text for text in texts)
    done = subprocess.run(command, input=given, stdout=subprocess.PIPE, check=True, timeout=1000)
    out, found, at = done.stdout, [], 0
    while at < len(out):
        size, = struct.unpack_from("<I", out, at)
        found.append(out[at + 4:at + 4 + size])
        at += 4 + size
    assert len(found) == len(texts)
    return found


class Trees(unittest.TestCase):

    def test_same_trees(self):
        rng = random.Random(1)
        texts = known = texts_of_vectors()
        while len(texts) < COUNT:
            texts = texts + [some_tokens(rng) if rng.random() < 0.4
                             else changed(rng.choice(known), rng) for _ in range(1000)]
        texts = [text for text in texts if b"\0" not in text and not NOT_COMPARED.search(text)]
        same = refused = 0
        for text, ours, theirs in zip(texts, answers([TREES], texts),
                                      answers([peer_test.PEER, "trees"], texts), strict=True):
            more = ours.endswith(b" +")  # the reference may read more of the text than we do
            ours = ours.removesuffix(b" +")
            unportable = ours.endswith(b" !")
            if more and theirs.startswith(b"error: "):
                right = True
            elif ours.startswith(b"error: ") or not ours.startswith(b"{"):
                right = (not ours.startswith(b"error: ") or theirs.startswith(b"error: ")
                         or not theirs.startswith(b"{") or b"{null " in theirs
                         or b" null null " in theirs or b"{text 0: " in theirs or REFUSED.search(ours))
            elif unportable:
                right = theirs.startswith(b"error: ")
                refused += right
                right = right or (TAB_LINE.search(text) and ours.removesuffix(b" !") == theirs)
            else:
                right = ours == theirs or theirs in TOO_LARGE
                same += right
            if not right:
                with self.subTest(text):
                    self.assertEqual(ours, theirs)
        self.assertGreater(same, COUNT // 10)
        self.assertGreater(refused, 0)


setUpModule = peer_test.build

if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
