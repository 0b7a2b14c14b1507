# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Made-up specs and configs for the fuzz targets go_spec and go_inject: all members, mostly with
values that are valid, and now and then with a value of another kind or form."""
import json
import random

# A percent sign is a space.
ODD = r"""null ~ "" '' 0 -0 -1 +5 1.5 2.0 1e3 12e-1 1. .5 0x1F 0o17 017 08 0b11 1_000 .inf .nan
true True yes off "yes" "5" 'true' [] {} [a] [null] {a:%b} !!str%5 !!int%"5" !!str%null
!!bool%"true" !!float%3 4294967295 4294967296 9223372036854775807 9223372036854775808
18446744073709551616 2001-01-01 1:30 "a\tb" "\u00e9" é "%a%" "\x41" <<""".split()
PATHS = ["/dev/null", "/dev/zero", "/dev/full", "/nothing", "/", "/a//b/", "/a/../b", "a", "/a/b/c",
         "."]
TEXTS = ["a", "b", "A=1", "B=", "A=2=3", "x.y_z-0", "/h"]
NUMBERS = ["0", "1", "3", "5", "195", "1000", "4095", "65536"]
BOOLS = ["true", "false"]
NODE = {"path": PATHS, "hostPath": PATHS, "type": ["c", "b", "u", "p"], "major": NUMBERS,
        "minor": NUMBERS, "fileMode": ["438", "0666", "0o660", "8630"], "uid": NUMBERS,
        "gid": NUMBERS, "permissions": ["r", "rw", "rwm", "none", "mw"]}
MOUNT = {"hostPath": PATHS, "containerPath": PATHS, "options": ["[ro]", "[rbind, rw]", "[]"],
         "type": ["bind", "tmpfs"]}
HOOK = {"hookName": ["prestart", "createRuntime", "createContainer", "startContainer", "poststart",
                     "poststop"], "path": PATHS, "args": ["[a]", "[a, b]"], "env": ["[A=1]"],
        "timeout": NUMBERS}
RDT = {"closID": ["a", "/"], "l3CacheSchema": ["a"], "memBwSchema": ["b"], "schemata": ["[a, b]"],
       "enableMonitoring": BOOLS}
NET = {"hostInterfaceName": ["eth0", "eth1"], "name": ["eth0", "eth1"]}
VERSIONS = ["0.3.0", "0.5.0", "0.6.0", "0.7.0", "0.8.0", "1.0.0", "1.1.0", "v1.1.0", "1.1", "2.0.0"]


class Maker:
    def __init__(self, rng, odd):
        self.rng, self.odd = rng, odd

    def value(self, good):
        """A valid value, or now and then one of ODD."""
        odd = self.rng.random() < self.odd
        return self.rng.choice(ODD).replace("%", " ") if odd else self.rng.choice(good)

    def record(self, members, needed):
        chosen = [name for name in members if name in needed or self.rng.random() < 0.4]
        if self.rng.random() < self.odd:
            self.rng.shuffle(chosen)
            chosen = chosen[1:]
        return "{" + ", ".join(f"{name}: {self.value(members[name])}" for name in chosen) + "}"

    def items(self, make):
        return "[" + ", ".join(make() for _ in range(self.rng.choice((1, 1, 1, 2, 3)))) + "]"

    def edits(self):
        kinds = {
            "env": lambda: self.value(["A=1", "B=2", "A=", "C=d=e"]),
            "deviceNodes": lambda: self.record(
                NODE, ["path", "type", "major"][:self.rng.choice((1, 2, 3))]),
            "mounts": lambda: self.record(MOUNT, ["hostPath", "containerPath"]),
            "hooks": lambda: self.record(HOOK, ["hookName", "path"]),
            "additionalGids": lambda: self.value(NUMBERS)}
        chosen = [name for name in kinds if self.rng.random() < 0.35]
        parts = [f"{name}: {self.items(kinds[name])}" for name in chosen]
        if self.rng.random() < 0.1:  # only one, because names may not repeat
            parts.append(f"netDevices: [{self.record(NET, ['hostInterfaceName', 'name'])}]")
        if self.rng.random() < 0.2 or not parts:
            parts.append("intelRdt: " + self.record(RDT, []))
        return "{" + ", ".join(parts) + "}"

    def spec(self):
        lines = [f"cdiVersion: {self.value(['1.1.0'] * 40 + VERSIONS)}",
                 f"kind: {self.value(['vendor.com/device'])}"]
        if self.rng.random() < 0.1:
            lines.append(f"annotations: {{a/b: {self.value(TEXTS)}}}")
        lines.append("devices:")
        for name in ("dev0", "dev1")[:self.rng.choice((1, 1, 2))]:
            lines += [f"- name: {self.value([name])}", "  containerEdits: " + self.edits()]
        if self.rng.random() < 0.4:
            lines.append("containerEdits: " + self.edits())
        return ("\n".join(lines) + "\n").encode()

    def config(self):
        pick = self.rng.choice
        nodes = [{"path": path, "type": pick("cb"), "major": 1, "minor": pick((3, 5))}
                 for path in self.rng.sample(PATHS, 2)]
        mounts = [{"destination": path, "source": "/s"} for path in self.rng.sample(PATHS, 3)]
        rules = [{"allow": pick((True, False)), "type": "c", "major": 1, "minor": 3,
                  "access": "rwm"}]
        hooks = {pick(HOOK["hookName"]): [{"path": pick(PATHS)}]}
        user = {"uid": pick((0, 7)), "gid": pick((0, 8)), "additionalGids": [1, 5]}
        whole = {"ociVersion": "1.2.0", "mounts": mounts, "hooks": hooks,
                 "process": {"cwd": "/", "user": user, "env": ["A=0", "B", "A=9"]},
                 "linux": {"devices": nodes, "resources": {"devices": rules},
                           "netDevices": {"eth1": {"name": "old"}}, "intelRdt": {"closID": "z"}}}
        kept = {name: member for name, member in whole.items() if self.rng.random() < 0.7}
        return json.dumps(kept).encode()


def inputs(target, seed, count):
    """Inputs for a target; none for other targets than these two."""
    rng = random.Random(seed)
    if target == "go_spec":
        return [Maker(rng, 0.03).spec() for _ in range(count)]
    if target == "go_inject":  # only valid specs are injected
        maker = Maker(rng, 0.005)
        return [maker.config() + b"\x1e" + maker.spec() for _ in range(count)]
    return []
