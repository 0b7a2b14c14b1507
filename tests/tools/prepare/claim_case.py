# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What the tests of claims share."""
import itertools
import json
import os
import shutil
import stat
import subprocess

import node_trees
from tree_case import TreeTest, with_text

KIND = "cdi-prepare.local/claim"
FIRST, SECOND = node_trees.NVIDIA_UUIDS
FIRST_PCI, SECOND_PCI = "0000:17:00.0", "0000:ca:00.0"
AMD_PCI = "0000:05:00.0"
UNKNOWN_UUID = "GPU-????????-????-????-????-????????????"
THIRD = "GPU-00000000-0000-0000-0000-000000000003"
PARTS = tuple(f"{SECOND}:gi{instance}:ci0" for instance in (1, 2))




def read_spec(path):
    return json.loads(path.read_text())


class ClaimTest(TreeTest):
    """Claims on a node of `tree`, with a journal in `self.state` and specs in `self.out`."""

    def setUp(self):
        super().setUp()
        self.state, self.out = self.place / "state", self.place / "out"

    def make_tree(self, name):
        """Makes another node of this one."""
        shutil.rmtree(self.root, ignore_errors=True)
        node_trees.TREES[name](str(self.root), False)

    def reboot(self):
        self.path("proc/sys/kernel/random/boot_id").write_text("another\n")

    def set_uuid(self, old, new, address=FIRST_PCI):
        place = self.path(f"proc/driver/nvidia/gpus/{address}/information")
        place.chmod(0o644)
        self.edit(str(place.relative_to(self.root)), old, new)

    def remove_gpu(self, address):
        """Takes a card out; what this gives puts it back."""
        moved = []
        for place in (self.path(f"sys/bus/pci/devices/{address}"),
                      self.path(f"proc/driver/nvidia/gpus/{address}")):
            place.rename(self.place / f"removed{len(moved)}")
            moved.append(place)

        def put_back():
            for number, place in enumerate(moved):
                (self.place / f"removed{number}").rename(place)
        return put_back

    # Running it.

    def arguments(self, command, *more, state=None, out=None):
        return [TreeTest.program, command, "--root", str(self.root),
                "--state-dir", str(state or self.state), "--output-dir", str(out or self.out),
                *more]

    def run_claims(self, command, *more, code=0, state=None, out=None, **how):
        done = with_text(subprocess.run(
            self.arguments(command, *more, state=state, out=out), capture_output=True, text=True,
            timeout=60, check=False, **how))
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.errors = done.stderr
        return done

    @staticmethod
    def asked(uid, devices):
        return ["--claim", uid, *itertools.chain.from_iterable(("--device", name)
                                                               for name in devices)]

    def prepare(self, uid, *devices, more=(), **how):
        """The devices that a claim is given, as the kubelet wants them."""
        done = self.run_claims("prepare", *self.asked(uid, devices), *more, **how)
        claim = json.loads(done.stdout)["claims"]
        self.assertEqual(list(claim), [uid])
        return claim[uid]["devices"]

    def refuse(self, uid, *devices, code=1, more=(), **how):
        """Why a claim is given nothing. That changes nothing."""
        before = self.snapshot()
        done = self.run_claims("prepare", *self.asked(uid, devices), *more, code=code, **how)
        self.assertEqual(self.snapshot(), before)
        claim = json.loads(done.stdout)["claims"]
        self.assertEqual((list(claim), list(claim[uid])), ([uid], ["error"]))
        self.assertIn(claim[uid]["error"], done.stderr)
        return claim[uid]["error"]

    def unprepare(self, uid, **how):
        done = self.run_claims("unprepare", "--claim", uid, **how)
        self.assertEqual(json.loads(done.stdout), {"claims": {uid: {}}})

    def list(self, code=0, **how):
        """The faults of the claims; both outputs name the same ones."""
        answer = self.run_claims("list", "-o", "json", code=code, **how).stdout
        claims = json.loads(answer)["claims"]
        text = self.run_claims("list", code=code, **how).stdout
        faults = {uid: claim["fault"] for uid, claim in claims.items()}
        for uid, fault in faults.items():
            self.assertIn(uid, text)
            self.assertEqual(f"fault: {uid}: {fault}" in text, fault is not None)
        return faults

    # Looking at what it has made.

    def spec_path(self, uid, out=None, kind=KIND):
        return (out or self.out) / f"{kind.replace('/', '-')}_{uid}.json"

    def journal(self, uid):
        return json.loads((self.state / f"{uid}.json").read_text())

    def claims(self):
        """The UIDs of the claims there are. Journal, specs and hardware agree on each."""
        names = sorted(os.listdir(self.state)) if self.state.exists() else []
        uids = [name.removesuffix(".json") for name in names if name != ".lock"]
        self.assertEqual([f"{uid}.json" for uid in uids] + [".lock"],
                         [name for name in names if name != ".lock"] + [".lock"])
        specs = sorted(os.listdir(self.out)) if self.out.exists() else []
        self.assertEqual(specs, sorted(self.spec_path(uid).name for uid in uids))
        for uid in uids:
            self.assertEqual(self.journal(uid)["phase"], "prepared")
            self.nodes(uid)
        for directory in (self.state, self.out):
            if directory.exists():
                self.assertEqual(stat.S_IMODE(directory.stat().st_mode), 0o755)
        return uids

    def nodes(self, uid):
        """The paths of the nodes of each device of a claim, by CDI device id. The journal
        and what the spec gives is the same, and is right for this node as it is now."""
        path, journal = self.spec_path(uid), self.journal(uid)
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o644)
        self.assertTrue(stat.S_ISREG(path.lstat().st_mode))
        spec = read_spec(path)
        self.assertRegex(spec["cdiVersion"], r"^\d+\.\d+\.\d+$")
        names = [f"{uid}-{number}" for number in range(len(journal["devices"]))]
        self.assertEqual([device["name"] for device in spec["devices"]], names)
        self.check_nodes(spec.get("containerEdits", {}))
        for device in spec["devices"]:
            self.assertTrue(device["containerEdits"]["deviceNodes"])
            self.check_nodes(device["containerEdits"])
        return {f"{spec['kind']}={name}": nodes for name, nodes in self.devices(spec).items()}

    def snapshot(self):
        """All files, with values that change when they are written."""
        files = {}
        for directory in (self.state, self.out):
            for path in directory.iterdir() if directory.exists() else ():
                status = path.lstat()
                content = path.read_bytes() if stat.S_ISREG(status.st_mode) else b""
                if path.name != ".lock":
                    files[path] = (status.st_ino, status.st_mtime_ns, content)
        return files


def id_of(uid, number=0):
    return f"{KIND}={uid}-{number}"
