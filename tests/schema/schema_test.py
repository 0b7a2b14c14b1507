#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The schemas match the field lists, and agree with the library about every conformance vector.

usage: schema_test.py GENERATE DOCUMENTS PROJECT

Validates with Draft202012Validator of python3-jsonschema, and skips these tests if it is missing.
"""
import base64
import difflib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    from jsonschema import Draft202012Validator
except ImportError:
    Draft202012Validator = None

GENERATE, DOCUMENTS = sys.argv.pop(1), sys.argv.pop(1)
PROJECT = pathlib.Path(sys.argv.pop(1))
CONFORMANCE = PROJECT / "tests/conformance"

# Vectors whose files the library accepts and the schema refuses, by reason: the schema is for
# writers, and readers accept more.
TEXT_NOT_IN_SCHEMA = {
    "field names match in any case": {
        "gid-field-name-other-case", "spec-field-names-any-case"},
    "null is read as absent": {
        "devnode-filemode-null", "spec-null-spec-level-edits", "yaml-empty-value-for-annotations",
        "yaml-empty-value-for-edits"},
    "a number or boolean is read as text": {
        "spec-annotations-number-value", "spec-json-bool-device-name",
        "spec-json-number-device-name", "yaml-big-integer-device-name", "yaml-float-device-name",
        "yaml-float-device-name-exponent", "yaml-float-device-name-large-loses-digits",
        "yaml-numeric-device-name"},
    "a word of YAML in quotes is read as a boolean": {"yaml-quoted-yes-for-boolean"},
    "YAML has numbers that JSON does not have": {
        "yaml-long-number-with-leading-zeros", "yaml-numbers-with-signs-and-underscores",
        "yaml-octal-filemode"},
}
# Vectors whose files are refused even after the library has written them again.
RETIRED = {"rdt-dropped-field-enablembm-in-080"}  # 1.1.0 no longer has the member

# Rules that JSON schema cannot express, or only at great length.
RULES_NOT_IN_SCHEMA = {
    "version-earlier-devices",
    "version-new-enough",  # in the schema, every version has the members of the current one
    "device-name-unique", "net-names-unique",  # `uniqueItems` compares whole items
    "text-nul",
}
# Vectors refused at another place: the library reads null as absent, so that the edits are empty.
REFUSED_ELSEWHERE = {"env-null-list", "rdt-null"}


def spec(**members):
    device = {"name": "a", "containerEdits": {"env": ["A="]}}
    return {"cdiVersion": "1.1.0", "kind": "vendor.com/class", "devices": [device], **members}


def spec_with(edits):
    return spec(devices=[{"name": "a", "containerEdits": edits}])


def spec_with_node(**members):
    return spec_with({"deviceNodes": [{"path": "/dev/a", **members}]})


WORDS = ["a", "Z", "0", "", "a-b", "a_b", "a.b", "a:b", "a..b", "-a", "a-", "a.", "a b", "a\u00e9",
         "a\n", "a\nb", "\n", "a" * 63, "a" * 64, "a/b", "a=b", "a,b", "[a]", "a\\b", "a^b"]
LONG_DOMAIN = ".".join(["a" * 60] * 4)  # 243 characters
NUMBERS = [0, -1, 1, 1.0, 1.5, 1e2, "1", True, 2**31, 2**32 - 1, 2**32, 2**63 - 1, 2**63, -2**63,
           -2**63 - 1, 2**64]

# Documents just inside and just outside of the rules.
SAMPLES = [
    *[spec(cdiVersion=text) for text in (
        "0.1.0", "0.2.0", "0.3.0", "v0.3.0", "1.1.0", "v1.1.0", "vv1.1.0", "1.1", "1.2.0",
        "1.1.0\n", "")],
    *[spec(kind=f"{vendor}/a") for vendor in WORDS],
    *[spec(kind=f"a/{name}") for name in WORDS],
    *[spec(kind=kind) for kind in ("a", "/", "a/", "/a")],
    *[spec(devices=[{"name": name, "containerEdits": {"env": ["A="]}}]) for name in WORDS],
    *[spec(annotations={key: ""}) for key in WORDS],
    *[spec(annotations={f"{domain}/a": ""}) for domain in WORDS],
    *[spec(annotations={f"{LONG_DOMAIN}.{'a' * size}/a": ""}) for size in (9, 10)],
    spec(annotations={"a/b/c": ""}),
    spec(devices=[]),
    *[spec_with(edits) for edits in (
        {}, {"env": []}, {"env": [], "mounts": [], "additionalGids": []}, {"intelRdt": {}},
        {"env": [], "additionalGids": [0]},
        {"netDevices": [{"hostInterfaceName": "a", "name": "b"}]},
        {"netDevices": [{"hostInterfaceName": "", "name": "b"}]},
        {"netDevices": [{"hostInterfaceName": "a", "name": ""}]},
        {"mounts": [{"hostPath": "", "containerPath": "/a"}]},
        {"mounts": [{"hostPath": "/a", "containerPath": ""}]},
        {"mounts": [{"hostPath": "a", "containerPath": "a"}]})],
    *[spec_with({"env": [entry]}) for entry in
      ("A=", "=", "=A", "A", "", "\n=", "A\nB=C\n", "A==")],
    *[spec_with({"intelRdt": {"closID": text}}) for text in
      ("", "/", ".", "..", "...", ".\n", "a\n", "a/", "/a", "//", " ", "a" * 4095, "a" * 4096)],
    *[spec_with({"hooks": [{"hookName": name, "path": "/a", "env": ["A="]}]}) for name in
      ("prestart", "createRuntime", "poststop", "prestop", "Prestart", "")],
    spec_with({"hooks": [{"hookName": "prestart", "path": ""}]}),
    spec_with({"hooks": [{"hookName": "prestart", "path": "/a", "env": ["A"]}]}),
    *[spec_with({"hooks": [{"hookName": "prestart", "path": "/a", "timeout": number}]})
      for number in NUMBERS],
    *[spec_with({"additionalGids": [number]}) for number in NUMBERS],
    *[spec_with_node(path=path) for path in ("", "a", "/")],
    *[spec_with_node(type=text) for text in ("", "b", "c", "u", "p", "a", "bc", "B", "b\n")],
    *[spec_with_node(permissions=text) for text in
      ("", "r", "rwm", "mwr", "rr", "none", "rnone", "nonenone", "x", "r w", "rwm\n", "none\n")],
    *[spec_with_node(major=number) for number in NUMBERS],
    *[spec_with_node(fileMode=number) for number in NUMBERS],
]

def policy_with(**members):
    return {"rules": [{"name": "r", "allow": True, **members}]}


# Policies just inside and just outside of what is accepted. A schema does not express that names
# are unique, and that a rule that denies has no limits.
POLICIES = [
    {}, {"rules": []}, {"rules": [], "rule": []}, {"rules": [{}]}, {"rules": [{"name": "r"}]},
    {"rules": [{"allow": True}]}, {"rules": [{"name": "", "allow": True}]}, policy_with(allow=1),
    policy_with(edits={}), policy_with(edits=None), policy_with(edits={"hook": []}),
    policy_with(Edits={}), policy_with(edits={"Hooks": []}), {"Rules": []},
    *[{"rules": [{"name": str(i), "allow": True} for i in range(count)]} for count in (1000, 1001)],
    *[policy_with(edits={"env": [f"*{i}" for i in range(count)] + [str(i) for i in range(2000)]})
      for count in (1000, 1001)],
    *[policy_with(devices=texts) for texts in ([], None, "v/c=d", ["v/c=d", "v/c=*"], ["v/c"])],
    *[policy_with(devices=[f"v/{word}=d"]) for word in WORDS if word and word[0] not in "-/"
      and word.isalnum()],
    *[policy_with(devices=[text]) for text in (
        "", "*", "*=*", "v*=d", "v=d", "v/c=", "=d", "v/c=d=e", "v/c=[0]", "v/c/e=d", "v/c=d/e",
        "v/c=a b", "v/c=d\n", "v/c=0:1", "*/*=*", "v/c*=a*b")],
    *[policy_with(sources=[text]) for text in (
        "field", "annotation", "variable", "commandLine", "commandline", "")],
    *[policy_with(files=[text]) for text in ("/etc/cdi", "etc", "", "/", "/*")],
    *[policy_with(fileMode=text) for text in ("", "0", "0644", "07777", "007777", "17777", "7777", "0800", "rw")],
    *[policy_with(fileOwners=[number]) for number in NUMBERS if number not in (1.0, 1e2)],
    *[policy_with(edits={key: [text]}) for text in ("", "a", "*", "a=b", "/a", "/a=b")
      for key in ("env", "deviceNodes", "netDevices", "hooks", "hookEnv", "mounts", "mountOptions")],
    *[policy_with(edits={key: value}) for value in (True, False, "no")
      for key in ("nodeNumbers", "writableMounts", "intelRdt")],
    policy_with(edits={"additionalGids": [44]}), policy_with(edits={"additionalGids": [-1]}),
]

# Configs with members that edits do not write.
NOT_EDITS = [
    {"ociVersion": "1.0.2"}, {"process": {"args": []}}, {"process": {"env": ["A"]}},
    {"process": {"user": {"umask": 0}}}, {"process": {"user": {"additionalGids": [2**32]}}},
    {"mounts": [{"source": "/a"}]}, {"mounts": [{"destination": ""}]},
    {"hooks": {"prestop": []}}, {"hooks": {"prestart": [{}]}},
    {"linux": {"namespaces": []}}, {"linux": {"resources": {"memory": {}}}},
    {"linux": {"resources": {"devices": [{"allow": True, "access": "none"}]}}},
    {"linux": {"devices": [{"path": "/a"}]}}, {"linux": {"devices": [{"path": "/a", "type": ""}]}},
    {"linux": {"netDevices": {"": {"name": "a"}}}}, {"linux": {"netDevices": {"a": {"name": ""}}}},
    {"linux": {"intelRdt": {"closID": ".."}}}, {"linux": {"intelRdt": {"enableCMT": True}}},
]


def ask_library(queries):
    """The answers of `documents` to the queries."""
    lines = "".join(json.dumps(query) + "\n" for query in queries)
    done = subprocess.run([DOCUMENTS], input=lines, text=True, stdout=subprocess.PIPE, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def generate(which):
    return subprocess.run([GENERATE, which], stdout=subprocess.PIPE, check=True).stdout.decode()


def make_file(file, root):
    """Makes a file of a vector, like conformance.cpp, and returns its path."""
    path = root / f"dir{file.get('dir', 0)}" / file["name"]
    path.parent.mkdir(parents=True, exist_ok=True)
    if "symlink" in file:
        path.symlink_to(file["symlink"].replace("$TMP", str(root)))
    elif "fifo" in file:
        os.mkfifo(path)
    elif "mkdir" in file:
        path.mkdir()
    elif "content" in file:
        path.write_bytes(file["content"].replace("$TMP", str(root)).encode())
    else:
        path.write_bytes(base64.b64decode(file["content_b64"]))
    return str(path)


def injection(vector, root):
    """The query that injects the devices of a vector into an empty config."""
    def texts(key, default):
        return [text.replace("$TMP", str(root)) for text in vector.get(key, default)]

    count = max([vector.get("dirs", 0), *(file.get("dir", 0) + 1 for file in vector["files"])])
    return {"dirs": texts("specDirs", [f"$TMP/dir{i}" for i in range(count)]),
            "devices": texts("devices", [])}


def values_of(query, answer):
    """The values of a file: JSON as Python reads it, or YAML as the library reads it."""
    try:
        return json.loads(pathlib.Path(query["file"]).read_bytes())
    except ValueError:
        return answer["values"]["root"]


def path_text(path):
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif step:
            text += f".{step}" if text else step
    return text


def places(error):
    """The members that a validator's error is about, with their paths in the library's notation."""
    at = list(error.absolute_path)
    if error.validator == "required":
        found = [[*at, key] for key in error.validator_value if key not in error.instance]
    elif error.validator == "additionalProperties":
        found = [[*at, key] for key in error.instance if key not in error.schema["properties"]]
    elif "propertyNames" in error.absolute_schema_path:
        found = [[*at, error.instance]]
    else:
        found = [at]
    return {path_text(path) for path in found}


class Files(unittest.TestCase):
    def test_schema_files_are_up_to_date(self):
        for which in ("cdi", "oci-edits", "policy", "resolved", "shown", "results"):
            with self.subTest(schema=which):
                text = generate(which)
                path = PROJECT / "schema" / (json.loads(text)["$id"].split(":")[-1] + ".json")
                old = path.read_bytes().decode() if path.exists() else ""
                if old != text:
                    difference = difflib.unified_diff(old.splitlines(True), text.splitlines(True),
                                                      f"schema/{path.name}", "generated")
                    self.fail("\n" + "".join(difference) +
                              f"to write it again: {GENERATE} {which} >{path}")


@unittest.skipUnless(Draft202012Validator, "python3-jsonschema 4 is not installed")
class Validation(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.schemas = {which: json.loads(generate(which))
                       for which in ("cdi", "oci-edits", "policy", "resolved", "shown", "results")}
        cls.cdi = Draft202012Validator(cls.schemas["cdi"])
        cls.oci_edits = Draft202012Validator(cls.schemas["oci-edits"])

        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        files, injections = [], []
        for path in sorted(CONFORMANCE.glob("*.json")):
            vector = json.loads(path.read_text())
            if "expected" not in vector:
                continue  # deviations.json
            root = cls.folder / vector["name"]
            files += [(vector["name"], {"file": make_file(file, root)}) for file in vector["files"]]
            if vector["expected"].get("inject", {}).get("ok"):
                injections.append((vector["name"], injection(vector, root)))
        answers = ask_library([query for _, query in files + injections])
        cls.files = [(*file, answer) for file, answer in zip(files, answers)]
        cls.injections = [(name, answer) for (name, _), answer
                          in zip(injections, answers[len(files):])]

    def errors(self, validator, value):
        return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(value)]

    def assert_listed(self, found, listed):
        """Checks that the names in `found` are exactly those listed."""
        self.assertEqual({name: found[name] for name in found.keys() - listed}, {}, "not listed")
        self.assertEqual(listed - found.keys(), set(), "listed, but not found")

    def test_schemas_are_valid(self):
        for schema in self.schemas.values():
            Draft202012Validator.check_schema(schema)

    def test_accepted_specs_validate_as_written(self):
        refused = {name: errors for name, _, answer in self.files
                   if answer["accepted"] and (errors := self.errors(self.cdi, answer["spec"]))}
        self.assert_listed(refused, RETIRED)

    def test_accepted_files_validate(self):
        accepted = [file for file in self.files if file[2]["accepted"]]
        refused = {name: errors for name, query, answer in accepted
                   if (errors := self.errors(self.cdi, values_of(query, answer)))}
        self.assert_listed(refused, RETIRED.union(*TEXT_NOT_IN_SCHEMA.values()))
        print(f"{len(accepted)} files accepted, {len(refused)} of them refused by the schema")

    def test_refused_files_do_not_validate(self):
        valid, elsewhere, rules = {}, {}, set()
        no_values = sum(answer["values"] is None for _, _, answer in self.files)
        refused = [file for file in self.files
                   if not file[2]["accepted"] and file[2]["values"] is not None]
        for name, _, answer in refused:
            errors = list(self.cdi.iter_errors(answer["values"]["root"]))
            if answer["rule"] in RULES_NOT_IN_SCHEMA:
                if not errors:
                    rules.add(answer["rule"])
            elif not errors:
                valid[name] = answer["message"]
            elif answer["where"] not in set().union(*map(places, errors)):
                elsewhere[name] = [answer["message"], *(error.message for error in errors)]
        self.assertEqual(valid, {})
        self.assertEqual(RULES_NOT_IN_SCHEMA, rules)
        self.assert_listed(elsewhere, REFUSED_ELSEWHERE)
        print(f"{len(refused)} files refused; {no_values} that cannot be parsed were left out")

    def test_samples_validate_exactly_if_accepted(self):
        paths = [self.folder / f"{i}.json" for i in range(len(SAMPLES))]
        for path, document in zip(paths, SAMPLES):
            path.write_text(json.dumps(document))
        answers = ask_library([{"file": str(path)} for path in paths])
        wrong = [(document, answer.get("message", "is accepted"))
                 for document, answer in zip(SAMPLES, answers)
                 if self.cdi.is_valid(document) != answer["accepted"]]
        self.assertEqual(wrong, [])
        self.assertEqual({answer["accepted"] for answer in answers}, {True, False})

    def test_policies_validate_exactly_if_accepted(self):
        policy = Draft202012Validator(self.schemas["policy"])
        answers = ask_library([{"policy": json.dumps(sample)} for sample in POLICIES])
        wrong = [(sample, answer["message"] or "is accepted")
                 for sample, answer in zip(POLICIES, answers)
                 if policy.is_valid(sample) != answer["accepted"]]
        self.assertEqual(wrong, [])
        self.assertEqual({answer["accepted"] for answer in answers}, {True, False})

    def test_edited_configs_validate(self):
        known = json.loads((CONFORMANCE / "deviations.json").read_text())
        done = {name: answer["oci"] for name, answer in self.injections if "oci" in answer}
        self.assertEqual({name: answer for name, answer in self.injections
                          if name not in done and name not in known}, {})
        self.assertNotEqual(done, {})
        wrong = {name: errors for name, oci in done.items()
                 if (errors := self.errors(self.oci_edits, oci))}
        self.assertEqual(wrong, {})
        print(f"{len(done)} injections; {len(self.injections) - len(done)} refused were left out")

    def test_members_that_edits_do_not_write_do_not_validate(self):
        self.assertEqual([oci for oci in NOT_EDITS if self.oci_edits.is_valid(oci)], [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
