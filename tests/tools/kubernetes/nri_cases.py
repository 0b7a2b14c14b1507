# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What pods ask for by annotation, and the devices that their container must get.

The tests give each row to plugins by a scripted runtime, and by nri-judge.
"""
import typing

KIND = "vendor.com/dev"
ZERO, ONE, TWO = (f"{KIND}={name}" for name in ("zero", "one", "two"))
FIELD = {"CDIDevices": [{"name": ZERO}]}
COMMON = "cdi-devices.noderesource.dev"
PREFIXES = (COMMON, "cdi-devices.nri.io", "nvidia.cdi.k8s.io", "cdi.k8s.io")

NULL = {"path": "/dev/vendor0", "hostPath": "/dev/null", "type": "c", "major": 1, "minor": 3}
SPEC = {
    "cdiVersion": "0.6.0", "kind": KIND, "containerEdits": {"env": ["EVERY=container"]},
    "devices": [
        {"name": "zero", "containerEdits": {
            "env": ["ZERO=0", "LIST=a,b=c d"],
            "deviceNodes": [{**NULL, "fileMode": 0o640, "uid": 5, "gid": 8, "permissions": "rw"},
                            {**NULL, "path": "/dev/second"}],
            "mounts": [{"hostPath": "/usr", "containerPath": "/mnt/vendor",
                        "options": ["ro", "nosuid", "rbind"]}],
            "hooks": [{"hookName": "createRuntime", "path": "/usr/bin/vendor-hook",
                       "args": ["vendor-hook", "--all"], "env": ["A=1"], "timeout": 7},
                      {"hookName": "poststop", "path": "/usr/bin/vendor-clean"}]}},
        {"name": "one", "containerEdits": {"env": ["ONE=1"]}},
        {"name": "two", "containerEdits": {"env": ["TWO=2"], "deviceNodes": [NULL]}}]}


class Case(typing.NamedTuple):
    """A row: the annotations of the pod, the names that the container `main` gets, and what the
    request has besides. If the answer is an error, `error` has texts in it. `demo` is false where
    nri-demo, which reads one form, is not a judge."""
    name: str
    annotations: dict
    names: list
    container: dict = {}
    error: tuple = ()
    demo: bool = True


def families():
    """The three forms of each prefix, with a list at commas and one of YAML."""
    lists = {"one name": (ONE, [ONE]), "commas": (f"{ZERO},{ONE}", [ZERO, ONE]),
             "a YAML list": (f"- {ZERO}\n- {ONE}\n", [ZERO, ONE]),
             "a YAML list in brackets": (f'["{ZERO}", {ONE}]', [ZERO, ONE])}
    for prefix in PREFIXES:
        for form, key in (("container", f"{prefix}/container.main"), ("pod", f"{prefix}/pod"),
                          ("bare", prefix)):
            for words, (value, names) in lists.items():
                known = prefix == COMMON and form == "container" and words in ("one name", "commas")
                yield Case(f"{prefix}, {form}: {words}", {key: value}, names, demo=known)


def precedence():
    for prefix in PREFIXES:
        container, pod = f"{prefix}/container.main", f"{prefix}/pod"
        yield Case(f"{prefix}: the container counts, not the pod",
                   {container: ONE, pod: ZERO, prefix: TWO}, [ONE], demo=prefix == COMMON)
        yield Case(f"{prefix}: the pod counts, not the bare key", {pod: ONE, prefix: ZERO}, [ONE],
                   demo=False)
        yield Case(f"{prefix}: of another container", {f"{prefix}/container.other": ONE}, [])


CASES = [
    *families(), *precedence(),
    Case("nothing is asked for", {"example.com/text": ONE}, []),
    Case("no annotations", {}, []),
    Case("the same name twice", {f"{COMMON}/container.main": f"{ONE},{ONE}"}, [ONE], demo=False),
    Case("the same name by two prefixes", {f"{prefix}/pod": ONE for prefix in PREFIXES}, [ONE],
         demo=False),
    Case("the field has the name", {f"{COMMON}/container.main": ZERO}, [], container=FIELD,
         demo=False),
    Case("the field has one of the names", {f"{COMMON}/container.main": f"{ZERO},{ONE}"}, [ONE],
         container=FIELD, demo=False),
    Case("the field has another name", {f"{COMMON}/container.main": ONE}, [ONE], container=FIELD),
    Case("only the field", {}, [], container=FIELD),
    Case("no name", {f"{COMMON}/container.main": "nonsense"}, [], error=("nonsense", "main")),
    Case("a name with a wrong letter", {f"{COMMON}/container.main": "vendor.com/dev=a b"}, [],
         error=("a b",), demo=False),
    Case("spaces and a line end, as people write them",
         {f"{COMMON}/container.main": f"{ZERO}, {ONE}\n"}, [ZERO, ONE], demo=False),
    Case("a device that no spec has", {f"{COMMON}/container.main": f"{KIND}=nine"}, [],
         error=(f"{KIND}=nine",)),
    Case("a kind that no spec has", {f"{COMMON}/container.main": "other.com/x=1"}, [],
         error=("other.com/x=1",)),
    Case("one good name and a bad one", {f"{COMMON}/container.main": f"{ZERO},{KIND}=nine"}, [],
         error=(f"{KIND}=nine",)),
]
