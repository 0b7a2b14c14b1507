# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The mutants of headers, for mutants.py: each has one small change in one line."""
import collections
import hashlib
import pathlib
import re

PROJECT = pathlib.Path(__file__).resolve().parents[2]
SWAPS = ["< <=", "<= <", "> >=", ">= >", "== !=", "!= ==", "&& ||", "|| &&", "+ -", "- +"]
RULES = [(re.escape(f" {old} "), f" {new} ") for old, new in map(str.split, SWAPS)] + [
    (r"\btrue\b", "false"), (r"\bfalse\b", "true"),
    (r"(?<![\w.'])\d+(?![\w.'])", lambda found: str(int(found[0]) + 1)),
    (r"(?<![\w.'])[1-9]\d*(?![\w.'])", lambda found: str(int(found[0]) - 1)),
    (r"\bif \(((?:[^();]|\((?:[^()]|\([^()]*\))*\))*)\) ", r"if (!(\1)) "),
    (r"\breturn ([^;{]+);$", r"return !(\1);"),
    (r"^\s+(?!return)(?:\+\+|--)?[\w:*]+(?:[.(\[]|->| \W?= |\+\+).*;$", ";")]
NO_CODE = re.compile(r"\s*(//|#|static_assert|template|using|namespace|extern)")
Mutant = collections.namedtuple("Mutant", "key file number line into")


def mutants_of(path):
    """The mutants of a header; some do not compile."""
    name = str(path.relative_to(PROJECT))
    seen = collections.Counter()  # a line may occur more than once
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if NO_CODE.match(line):
            continue
        seen[line.strip()] += 1
        nth = f" ({seen[line.strip()]})" if seen[line.strip()] > 1 else ""
        code = re.sub(r'"(?:[^"\\]|\\.)*"|//.*', lambda found: "_" * len(found[0]), line)
        for old, new in RULES:
            for found in re.finditer(old, code):
                changed = re.sub(old, new, line[found.start():found.end()], count=1)
                into = line[:found.start()] + changed + line[found.end():]
                yield Mutant(f"{name}: {line.strip()}{nth} -> {into.strip()}", name, number, line, into)


def all_mutants(folder):
    return {one.key: one for path in sorted((PROJECT / "include/cdi" / folder).rglob("*.[hi]*"))
            for one in mutants_of(path)}


def sample(folder, count, seed):
    """Some mutants of a folder. A change of a line changes no other choice."""
    return sorted(all_mutants(folder).values(), key=lambda one: hashlib.sha256(
        f"{seed} {one.file} {one.line} {one.into}".encode()).digest())[:count]
