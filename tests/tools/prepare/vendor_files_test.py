#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What cdi-prepare makes of vendor files: vendor_files_test.py CDI_PREPARE [unittest options]"""
import json
import os
import re
import sys
import unittest
import time

sys.dont_write_bytecode = True
from tree_case import paths, run_tests  # noqa: E402  pylint: disable=wrong-import-position
from vendor_case import SHIPPED, VendorTest  # noqa: E402  pylint: disable=wrong-import-position

ADVICE = ": use {index}, {node}, {pci} or {attribute:PATH}, and {{ for a brace"
LEAST = 'kind = "acme.com/npu"\ndevices = "/dev/npu*"\n'
WITH_CONTROL = LEAST + 'shared = "/dev/npu_ctl"\n'


class Devices(VendorTest):
    def setUp(self):
        super().setUp()
        self.two_npus()

    def test_the_least_file(self):
        vendor = self.detect_with('kind = "acme.com/npu"\ndevices = "/dev/npu{index}"\n')
        self.assertEqual(vendor["kind"], "acme.com/npu")
        self.assertEqual(self.nodes_by_name(vendor),
                         {"0000:01:00.0": ["/dev/npu0"], "0000:02:00.0": ["/dev/npu1"]})
        self.assertEqual([(gpu["index"], gpu["aliases"], gpu["pciId"]) for gpu in vendor["gpus"]],
                         [(0, ["0"], "1e52:b140"), (1, ["1"], "1e52:b140")])

    def test_a_wildcard_needs_a_number(self):
        vendor = self.detect_with(LEAST, 3)
        self.assertIn("npu_ctl has no number for {index}: ", self.errors)
        self.assertIn("left out: acme.com device /dev/npu_ctl: npu_ctl has no", self.errors)
        for command in ("detect", "doctor"):
            done = self.run_prepare(command, "--vendor-file", str(self.place / "npu.toml"))
            self.assertRegex(done.stdout, r"device /dev/npu_ctl\b")
        self.assertEqual(vendor["gpus"][2]["leftOutCode"], "vendor-name")
        self.assertEqual(len(self.detect_with(WITH_CONTROL)["gpus"]), 2)

    def test_spec(self):
        spec = self.spec_with(WITH_CONTROL + 'name = "{attribute:serial}"\naliases = "{node}"\n')
        self.assertEqual(list(self.devices(spec)),
                         ["SN0", "SN1", "0", "1", "npu0", "0000:01:00.0", "npu1", "0000:02:00.0",
                          "all"])
        self.assertEqual(self.devices(spec)["all"], ["/dev/npu0", "/dev/npu1"])
        self.assertEqual(paths(spec["containerEdits"]["deviceNodes"]), ["/dev/npu_ctl"])

    def test_a_node_is_listed_once(self):
        """Patterns of one member, or of several, may match the same node."""
        parent = self.pci_device(1)
        self.add_node("/dev/npu0_dma", parent)
        self.finish()
        all_of_0 = ["/dev/npu0", "/dev/npu0_dma"]
        for members in ('devices = ["/dev/npu{index}", "/dev/npu[01]"]\nnodes = "/dev/npu{index}*"',
                        'devices = "/dev/npu{index}"\nsiblings = ["/dev/npu0*", "/dev/npu*_dma"]',
                        'devices = ["/dev/npu[01]*", "/dev/npu*"]',
                        'devices = "/dev/npu{index}"\nnodes = ["/dev/npu_ctl", "/dev/npu{index}*"]'):
            with self.subTest(members):
                vendor = self.detect_with('kind = "acme.com/npu"\n'
                                          f'shared = ["/dev/npu_ctl", "/dev/npu_*"]\n{members}\n')
                self.assertEqual(self.nodes_by_name(vendor),
                                 {"0000:01:00.0": all_of_0, "0000:02:00.0": ["/dev/npu1"]})
                self.assertEqual(paths(vendor["controlNodes"]), ["/dev/npu_ctl"])

    def test_the_first_pattern_decides_whose_a_node_is(self):
        self.add_node("/dev/npu1_0")
        self.finish()
        vendor = self.detect_with('kind = "acme.com/npu"\n'
                                  'devices = ["/dev/npu[01]*", "/dev/npu1_*"]\n')
        self.assertEqual(self.nodes_by_name(vendor),
                         {"0000:01:00.0": ["/dev/npu0"],
                          "0000:02:00.0": ["/dev/npu1", "/dev/npu1_0"]})

    def test_missing_mounts_and_hooks(self):
        for entry, reason in (('mounts = "/opt/none"\n', 'mount source "/opt/none" is missing'),
                              ('[[hooks]]\nname = "prestart"\npath = "/bin/no"\n',
                               '"/bin/no" is missing')):
            vendor = self.detect_with(WITH_CONTROL + entry, 4)
            self.assertIn(f"not ready: acme.com/npu: {reason}" if "opt" in reason else reason,
                          self.errors)
            self.assertEqual(vendor["notReadyCode"], "vendor-path")
            done = self.run_prepare("doctor", "--vendor-file", str(self.place / "npu.toml"))
            self.assertIn(reason, done.stdout)
            self.assertIn("set optional = true for it", done.stdout)
        self.path("opt/1").mkdir(parents=True)
        vendor = self.detect_with(WITH_CONTROL + 'mounts = "/opt/{index}"\n', 3)
        self.assertEqual([gpu["leftOut"] for gpu in vendor["gpus"]],
                         ['mount source "/opt/0" is missing', None])

    def test_why_there_is_none(self):
        start = "no device for kind acme.com/npu found on this host: "
        for text, reason in (
                (LEAST.replace("npu*", "none*"), "no node matches /dev/none*: is the driver loaded?"),
                (LEAST + 'match = {"device/vendor" = "0x1"}\n', "/dev/npu_ctl matches `devices`, "
                 "but its attributes differ from `match`")):
            path = self.vendor_file(text)
            for more in ((), ("--kind", "acme.com/npu")):
                done = self.run_prepare("detect", "--vendor-file", str(path), *more)
                self.assertEqual((done.returncode, done.stderr),
                                 (0, f"cdi-prepare: {start}{reason}\n"))
            self.assertIn(f"note   acme.com/npu: no device found: {reason}",
                          self.run_prepare("doctor", "--vendor-file", str(path)).stdout)
        for number in range(3):
            self.path(f"sys/dev/char/240:{number}").unlink()
        done = self.run_prepare("detect", "--vendor-file", str(self.vendor_file(LEAST)))
        self.assertIn(start + "/dev/npu_ctl is 240:2, and no driver has that number now",
                      done.stderr)

    def test_edits_of_all_and_of_one(self):
        self.path("opt/npu").mkdir(parents=True)
        self.path("usr/bin").mkdir(parents=True)
        self.path("usr/bin/hook").touch()
        self.path("usr/bin/hook").chmod(0o755)
        spec = self.spec_with(WITH_CONTROL + '''
env = ["NPU=1", "NPU_{index}={attribute:serial}"]
mounts = ["/opt/npu", {host = "/opt/none", optional = true},
          {host = "/opt/npu", container = "/npu/{index}", options = ["rw", "rbind"]}]
[[hooks]]
name = "createContainer"
path = "/usr/bin/hook"
args = ["hook", "{pci}"]
timeout = 5
''')
        shared = spec["containerEdits"]
        self.assertEqual(shared["env"], ["NPU=1"])
        self.assertEqual(shared["mounts"],
                         [{"hostPath": "/opt/npu", "containerPath": "/opt/npu",
                           "options": ["ro", "nosuid", "nodev", "rbind", "rprivate"]}])
        edits = {device["name"]: device["containerEdits"] for device in spec["devices"]}
        self.assertEqual(edits["1"]["env"], ["NPU_1=SN1"])
        self.assertEqual(edits["1"]["mounts"], [{"hostPath": "/opt/npu", "containerPath": "/npu/1",
                                                 "options": ["rw", "rbind"]}])
        self.assertEqual(edits["1"]["hooks"],
                         [{"hookName": "createContainer", "path": "/usr/bin/hook",
                           "args": ["hook", "0000:02:00.0"], "timeout": 5}])
        self.assertEqual(edits["all"]["env"], ["NPU_0=SN0", "NPU_1=SN1"])
        self.assertEqual(len(edits["all"]["hooks"]), 2)

    def test_health(self):
        text = WITH_CONTROL + '[health]\nattribute = "status"\ngood = ["ok", "idle*"]\n'
        self.assertEqual(len(self.spec_with(text)["devices"]), 5)
        self.path("sys/dev/char/240:1/status").write_text("dead\n")
        second = self.detect_with(text, 3)["gpus"][1]
        self.assertEqual((second["leftOut"], second["leftOutCode"]),
                         ('its status is "dead"', "vendor-health"))
        bad = WITH_CONTROL + '[health]\nattribute = "status"\nbad = "dead"\n'
        self.assertEqual(self.detect_with(bad, 3)["gpus"][1]["leftOutCode"], "vendor-health")
        self.detect_with(bad.replace("[health]", 'name = "{attribute:serial}"\n[health]'), 3)
        self.assertIn("left out: acme.com device SN", self.errors)  # not only its address
        self.path("sys/dev/char/240:1/status").unlink()
        self.assertIn("attribute status cannot be read", self.detect_with(text, 3)["gpus"][1]["leftOut"])
        self.detect_with(text + "optional = true\n")

    def test_match(self):
        text = WITH_CONTROL + '[match]\n"device/vendor" = "0x1e5*"\nserial = ["SN1", "SN7"]\n'
        self.assertEqual(list(self.nodes_by_name(self.detect_with(text))), ["0000:02:00.0"])

    def test_attributes(self):
        vendor = self.detect_with(WITH_CONTROL + 'model = "NPU {attribute:serial}"\n'
                                  '[attributes]\nheat = "{attribute:temp} C"\nnone = "{attribute:x}"\n')
        self.assertEqual([(gpu["model"], gpu["attributes"]) for gpu in vendor["gpus"]],
                         [("NPU SN0", {"heat": "40 C"}), ("NPU SN1", {"heat": "41 C"})])

    def test_name_that_is_not_valid(self):
        self.path("sys/dev/char/240:0/serial").write_text("no/name\n")
        vendor = self.detect_with(WITH_CONTROL + 'name = "{attribute:serial}"\n', 3)
        self.assertEqual(vendor["gpus"][0]["leftOut"],
                         '{attribute:serial} gives "no/name", which is not a device name')
        self.path("sys/dev/char/240:0/serial").write_text("all\n")
        vendor = self.detect_with(WITH_CONTROL + 'name = "{attribute:serial}"\n', 3)
        self.assertIn('gives "all"', vendor["gpus"][0]["leftOut"])

    def test_same_name_twice(self):
        self.path("sys/dev/char/240:0/serial").write_text("SN1\n")
        vendor = self.detect_with(WITH_CONTROL + 'name = "{attribute:serial}"\n')
        self.assertIn("another GPU has the same name, SN1", self.errors)
        self.assertEqual(list(self.nodes_by_name(vendor)), ["0000:01:00.0", "0000:02:00.0"])

    def test_shared_node_that_is_missing(self):
        vendor = self.detect_with(LEAST.replace("*", "{index}") + 'shared = ["/dev/npu_log"]\n', 4)
        self.assertEqual((vendor["notReadyCode"], vendor["notReady"]),
                         ("vendor-node", "/dev/npu_log: No such file or directory"))
        self.detect_with(WITH_CONTROL.replace(
            '"/dev/npu_ctl"', '["/dev/npu_ctl", {path = "/dev/npu_log", optional = true}]'))

    def test_attribute_that_leads_elsewhere(self):
        self.path("sys/dev/char/240:0/serial").write_text("../../etc\n")
        vendor = self.detect_with(WITH_CONTROL + 'nodes = "/dev/x{attribute:serial}"\n', 4)
        self.assertIn("cannot be part of a path", vendor["gpus"][0]["leftOut"])

    def test_nodes_with_an_attribute(self):
        """The value is part of a path, or the device is left out; an optional node is not."""
        self.path("sys/dev/char/240:0/serial").write_text("..\n")
        vendor = self.detect_with(WITH_CONTROL + 'nodes = "/dev/{attribute:serial}"\n', 4)
        self.assertIn('is "/dev/..", which leads elsewhere', vendor["gpus"][0]["leftOut"])
        for more, left_out in (("", "attribute x cannot be read"), (", optional = true", None)):
            vendor = self.detect_with(
                WITH_CONTROL + f'nodes = {{path = "/dev/{{attribute:x}}"{more}}}\n',
                4 if left_out else 0)
            self.assertTrue(str(vendor["gpus"][0]["leftOut"]).startswith(str(left_out)))

    def test_edits_with_an_attribute_that_cannot_be_read(self):
        hook = 'hooks = {{name = "prestart", path = "/bin/no", {0} = ["A={{attribute:x}}"]}}\n'
        for line in ('env = "A={attribute:x}"\n', 'mounts = "/opt/{attribute:x}"\n',
                     'mounts = {host = "/opt", container = "/{attribute:x}"}\n',
                     hook.format("args"), hook.format("env")):
            with self.subTest(line=line):
                vendor = self.detect_with(WITH_CONTROL + line, 4)
                for gpu in vendor["gpus"]:
                    self.assertTrue(gpu["leftOut"].startswith("attribute x cannot be read"))
        self.path("opt").mkdir()
        for host, container in (("/opt/{attribute:x}", "/a"), ("/opt", "/{attribute:x}")):
            spec = self.spec_with(WITH_CONTROL + f'mounts = {{host = "{host}", container = '
                                  f'"{container}", optional = true}}\n')
            self.assertNotIn("mounts", json.dumps(spec))

    def test_mounts_with_an_attribute_that_leads_elsewhere(self):
        self.path("opt/SN1").mkdir(parents=True)
        for value in ("..", ".", "", "a\\b"):
            self.path("sys/dev/char/240:0/serial").write_text(value + "\n")
            for line in ('mounts = "/opt/{attribute:serial}"\n',
                         'mounts = {host = "/opt", container = "/a/{attribute:serial}/b"}\n'):
                with self.subTest(value=value, line=line):
                    vendor = self.detect_with(WITH_CONTROL + line, 3)
                    self.assertRegex(vendor["gpus"][0]["leftOut"],
                                     "leads elsewhere|cannot be part of a path")
                    self.assertIsNone(vendor["gpus"][1]["leftOut"])

    def test_texts_with_an_attribute_that_cannot_be_read(self):
        """A device has no such alias and no model, and can be handed out."""
        self.path("sys/dev/char/240:0/serial").write_text("no/name\n")
        self.path("sys/dev/char/240:1/serial").write_text("all\n")
        vendor = self.detect_with(WITH_CONTROL + 'model = "NPU {attribute:x}"\n'
                                  'aliases = ["{attribute:serial}", "{attribute:x}"]\n')
        self.assertEqual([(gpu["aliases"], gpu["model"]) for gpu in vendor["gpus"]],
                         [(["0"], None), (["1"], None)])

    def test_braces_and_hooks_with_an_environment(self):
        self.path("usr/bin").mkdir(parents=True)
        self.path("usr/bin/hook").touch(0o755)
        spec = self.spec_with(WITH_CONTROL + 'env = "A={{x}}"\nhooks = {name = "createContainer", '
                              'path = "/usr/bin/hook", env = ["NPU={index}"]}\n')
        self.assertEqual(spec["containerEdits"]["env"], ["A={x}"])
        self.assertEqual(spec["devices"][0]["containerEdits"]["hooks"][0]["env"], ["NPU=0"])

    def test_no_node_of_two_patterns(self):
        done = self.run_prepare("detect", "--vendor-file", str(self.vendor_file(
            'kind = "acme.com/npu"\ndevices = ["/dev/a*", "/dev/b*"]\n')))
        self.assertIn("no node matches /dev/a* or /dev/b*: is the driver loaded?", done.stderr)

    def test_files_that_are_no_nodes(self):
        self.path("dev/npu7").touch()
        self.assertEqual(len(self.detect_with(WITH_CONTROL)["gpus"]), 2)
        spec = self.spec_with(WITH_CONTROL + 'nodes = ["/dev/npu7*", "/dev/npu{index}*"]\n')
        self.assertEqual(self.devices(spec)["0000:01:00.0"], ["/dev/npu0"])

    def test_block_device(self):
        with self.path("dev.tab").open("a", encoding="ascii") as table:
            table.write("/dev/npu7 b 241 7 0666 0 0\n")
        self.path("dev/npu7").touch()
        self.path("sys/dev/block/241:7").mkdir(parents=True)
        self.assertEqual(list(self.nodes_by_name(self.detect_with(WITH_CONTROL)))[-1], "7")

    def test_numa_node(self):
        for number, text in ((1, "1\n"), (2, "-1\n")):
            self.path(f"sys/devices/pci0000:00/0000:0{number}:00.0/numa_node").write_text(text)
        vendor = self.detect_with(WITH_CONTROL)
        self.assertEqual([gpu["numaNode"] for gpu in vendor["gpus"]], [1, None])

    def test_too_many_nodes(self):
        """No search takes long, and none loses a device silently."""
        place = self.path("dev/many")
        place.mkdir()
        for number in range(4097):
            (place / str(number)).touch()
        for line in ('siblings = "/dev/many/*"\n', 'nodes = "/dev/many/*"\n',
                     'shared = ["/dev/npu_ctl", "/dev/many/*"]\n'):
            with self.subTest(line=line):
                text = LEAST if "shared" in line else WITH_CONTROL
                self.detect_with(text + line, 4)
                self.assertIn("/dev/many/*", self.errors)
        done = self.run_prepare("detect", "--vendor-file", str(self.vendor_file(
            'kind = "acme.com/npu"\ndevices = "/dev/many/*"\n')))
        self.assertIn("/dev/many/*", done.stderr)

    def test_node_with_a_number_of_no_driver(self):
        self.path("sys/dev/char/240:1").unlink()
        vendor = self.detect_with(WITH_CONTROL)
        self.assertEqual(vendor["warnings"],
                         ["/dev/npu1 is 240:1, and no driver has that number now"])
        self.assertEqual(list(self.nodes_by_name(vendor)), ["0000:01:00.0"])


class Groups(VendorTest):
    def test_nodes_with_one_index_are_one_device(self):
        for index in (0, 10):
            parent = self.pci_device(index + 1)
            for part in ("mgmt", "pe0", "pe0-3", "ch0"):
                self.add_node(f"/dev/rngd/npu{index}{part}", parent)
        self.finish()
        found = self.nodes_by_name(self.detect_with(
            'kind = "acme.com/npu"\ndevices = "/dev/rngd/npu{index}mgmt"\n'
            'nodes = ["/dev/rngd/npu{index}pe*", "/dev/rngd/npu{index}ch*"]\n'))
        self.assertEqual(found, {
            f"0000:{number}:00.0": [f"/dev/rngd/npu{index}{part}"
                                    for part in ("mgmt", "pe0", "pe0-3", "ch0")]
            for number, index in (("01", 0), ("0b", 10))})
        together = self.nodes_by_name(self.detect_with(
            'kind = "acme.com/npu"\ndevices = "/dev/rngd/npu{index}*"\n'))
        self.assertEqual({name: sorted(nodes) for name, nodes in together.items()},
                         {name: sorted(nodes) for name, nodes in found.items()})

    def test_siblings_have_the_same_parent_in_sysfs(self):
        for index in (0, 1):
            parent = self.pci_device(index + 1)
            self.add_node(f"/dev/npu{index}", parent)
            self.add_node(f"/dev/infiniband/uverbs{7 - index}", parent)
        self.add_node("/dev/infiniband/uverbs0", self.pci_device(9))
        self.finish()
        self.assertEqual(self.nodes_by_name(self.detect_with(
            LEAST + 'siblings = "/dev/infiniband/uverbs*"\n')), {
                "0000:01:00.0": ["/dev/npu0", "/dev/infiniband/uverbs7"],
                "0000:02:00.0": ["/dev/npu1", "/dev/infiniband/uverbs6"]})

    def test_device_without_a_pci_address(self):
        self.add_node("/dev/npu0")
        self.finish()
        vendor = self.detect_with(LEAST + 'name = "npu-{pci}"\n', 4)
        self.assertEqual(vendor["gpus"][0]["leftOut"], "it has no PCI address for {pci}")

    def test_number_that_is_too_large_for_an_index(self):
        self.add_node("/dev/npu99999999999")
        self.finish()
        gpu, = self.detect_with(LEAST)["gpus"]
        self.assertEqual((gpu["name"], gpu["index"]), ("99999999999", None))

    def test_order_is_by_number(self):
        for index in (10, 9, 2):
            self.add_node(f"/dev/npu{index}")
        self.finish()
        self.assertEqual(list(self.nodes_by_name(self.detect_with(LEAST))), ["2", "9", "10"])


class Page(VendorTest):
    """The examples in the documentation."""

    page = SHIPPED.parents[2] / "docs/vendor-files.md"

    def test_examples(self):
        self.two_npus()
        blocks = re.findall(r"^```toml\n(.*?)^```$", self.page.read_text(), re.M | re.S)
        self.assertEqual(len(blocks), 2)
        least = self.nodes_by_name(self.detect_with(blocks[0], 3))
        self.assertEqual(least["0000:01:00.0"], ["/dev/npu0"])
        longer = self.detect_with(blocks[1])
        self.assertEqual([(gpu["name"], gpu["model"], gpu["attributes"])
                          for gpu in longer["gpus"]],
                         [(f"SN{index}", "NPU 0xb140", {"temperature": str(40 + index)})
                          for index in (0, 1)])

    def test_members_and_files_are_those_that_exist(self):
        text = self.page.read_text()
        fields = (SHIPPED.parents[1] / "gpu/vendor_files/vendor_file.hpp").read_text()
        table = re.search(r"## Members\n(.*?)\n## ", text, re.S)[1]
        self.assertEqual(re.findall(r"^\| `(\w+)` \|", table, re.M),
                         re.findall(r'list\("(\w+)", &VendorFile::', fields))
        files = re.search(r"## Files that are installed\n(.*?)\n## ", text, re.S)[1]
        self.assertEqual(sorted(re.findall(r"`([\w-]+\.toml)`", files)),
                         sorted(path.name for path in SHIPPED.glob("*.toml")))


class Files(VendorTest):
    """Where vendor files are, and what happens to the specs of those that are not given."""

    def setUp(self):
        super().setUp()
        self.two_npus()
        self.out = self.place / "out"

    def put(self, text, name="npu.toml"):
        super().put(f"etc/cdi-prepare.d/{name}", text)

    def run_on_out(self, command, *options):
        return self.run_prepare(command, "--output-dir", str(self.out), *options)

    def written(self):
        return sorted(os.listdir(self.out)) if self.out.exists() else []

    def test_directory_of_the_host(self):
        self.put(WITH_CONTROL)
        self.put("no TOML", "ignored.txt")
        self.assertEqual(list(self.detect()), ["acme.com/npu"])
        self.assertEqual(self.run_on_out("write").returncode, 0)
        self.assertEqual(self.run_on_out("check").returncode, 0)
        self.path("etc/cdi-prepare.d/npu.toml").unlink()
        done = self.run_on_out("write")
        self.assertEqual(done.returncode, 0)
        self.assertIn("removed: the host no longer has such a device", done.stderr)
        self.assertEqual(self.written(), [])

    def test_spec_of_a_file_that_is_not_given_stays(self):
        given = ("--vendor-file", str(self.vendor_file(WITH_CONTROL)))
        for version in ("0.5.0", "1.1.0"):  # 0.5.0 has no annotations
            self.assertEqual(
                self.run_on_out("write", *given, "--max-version", version).returncode, 0)
            self.assertEqual(self.run_on_out("write").returncode, 0)
            self.assertEqual(self.written(), ["acme.com-npu.yaml"])
        self.assertEqual(self.run_on_out("write", *given).returncode, 0)
        self.assertEqual(self.written(), ["acme.com-npu.yaml"])
        self.assertEqual(self.run_on_out("check", *given).returncode, 0)
        self.assertEqual(self.run_on_out("write").returncode, 0)
        self.assertEqual(self.written(), ["acme.com-npu.yaml"])
        self.vendor_file(WITH_CONTROL + 'env = "NPU=1"\n')
        different = self.run_on_out("diff", *given)
        self.assertEqual(different.returncode, 1)
        self.assertIn("+ env NPU: 1", different.stdout)
        self.vendor_file("").unlink()
        self.assertEqual(self.run_on_out("write").returncode, 0)
        self.assertEqual(self.written(), [])

    def test_path_with_other_characters(self):
        file = self.vendor_file(WITH_CONTROL)
        for name in ("a b.toml", "a:b.toml", "\u00e4%20.toml"):
            file = file.rename(file.with_name(name))
            self.assertEqual(self.run_on_out("write", "--vendor-file", str(file)).returncode, 0)
            self.assertEqual(self.written(), ["acme.com-npu.yaml"])
            self.assertEqual(self.run_on_out("write").returncode, 0)
            self.assertEqual(self.written(), ["acme.com-npu.yaml"])
        file.unlink()
        self.assertEqual(self.run_on_out("write").returncode, 0)
        self.assertEqual(self.written(), [])

    def test_file_that_others_may_write(self):
        file = self.vendor_file(WITH_CONTROL)
        self.put(WITH_CONTROL.replace("acme.com", "other.com"))
        for path, code in ((file, 1), (self.path("etc/cdi-prepare.d/npu.toml"), 4)):
            given = ("--vendor-file", str(file)) if path == file else ()
            for mode in (0o666, 0o646):
                path.chmod(mode)
                done = self.run_on_out("write", *given)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertIn("chmod go-w", done.stderr)
                self.assertEqual(self.written(), [])
            path.chmod(0o644)
            self.assertEqual(self.run_on_out("write", "--dry-run", *given).returncode, 0)

    @unittest.skipUnless(os.geteuid() == 0, "only root can give a file to another user")
    def test_file_of_another_user(self):
        file = self.vendor_file(WITH_CONTROL)
        os.chown(file, 65534, 65534)
        done = self.run_on_out("write", "--vendor-file", str(file))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("chown root", done.stderr)

    def test_fault_in_the_directory_leaves_other_kinds_alone(self):
        self.put(WITH_CONTROL)
        self.put("kind = 3\n", "wrong.toml")
        done = self.run_on_out("write")
        self.assertEqual(done.returncode, 4)
        self.assertIn("not ready: /etc/cdi-prepare.d/wrong.toml:1:8: kind: expected text, not 3: put it "
                      "in quotes\n", done.stderr)
        self.assertEqual(self.written(), ["acme.com-npu.yaml"])
        self.path("etc/cdi-prepare.d/npu.toml").write_text("devices = 1\n")
        self.assertEqual(self.run_on_out("write").returncode, 4)
        self.assertEqual(self.written(), ["acme.com-npu.yaml"])
        findings = json.loads(self.run_prepare("doctor", "-o", "json").stdout)["findings"]
        self.assertEqual([one["level"] for one in findings if one["about"] == "vendor files"],
                         ["fault", "fault"])

    def test_hidden_files_are_ignored(self):
        self.put("kind = 3\n", ".npu.toml")
        self.assertEqual(self.detect(), {})

    def test_too_many_files(self):
        for number in range(65):
            self.put(WITH_CONTROL.replace("npu\"", f"npu{number}\"", 1), f"{number}.toml")
        done = self.run_prepare("detect")
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("/etc/cdi-prepare.d has more than 64 vendor files", done.stderr)

    def test_two_files_of_one_kind(self):
        self.put(WITH_CONTROL, "a.toml")
        self.put(WITH_CONTROL, "b.toml")
        done = self.run_prepare("detect")
        self.assertEqual(done.returncode, 4)
        self.assertRegex(done.stderr, "/etc/cdi-prepare.d/b.toml: .* /etc/cdi-prepare.d/a.toml: ")

    def test_kind_that_is_found_without_a_file(self):
        for kind in ("amd.com/gpu", "nvidia.com/gds"):
            path = self.vendor_file(LEAST.replace("acme.com/npu", kind))
            done = self.run_prepare("detect", "--vendor-file", str(path))
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"cdi-prepare finds {kind} without a vendor file: choose another kind",
                          done.stderr)

    def test_claims_get_all_edits(self):
        self.put(WITH_CONTROL + 'env = ["NPU=1", "NPU_{index}=1"]\n')
        done = self.run_prepare("prepare", "--claim", "c1", "--device", "acme.com/npu=1")
        self.assertEqual(done.returncode, 0, done.stderr)
        spec, = (json.loads(path.read_text())
                 for path in self.path("var/run/cdi").glob("*.json"))
        self.assertEqual(spec["containerEdits"]["env"], ["NPU=1"])
        self.assertEqual(spec["devices"][0]["containerEdits"]["env"], ["NPU_1=1"])
        self.assertEqual(paths(spec["devices"][0]["containerEdits"]["deviceNodes"]), ["/dev/npu1"])

    def test_nothing_outside_the_root(self):
        self.path("dev/outside").symlink_to("/../../../../../../dev")
        vendor = LEAST.replace("/dev/npu*", "/dev/outside/nul{index}*")
        path = self.vendor_file(vendor)
        done = self.run_prepare("detect", "--vendor-file", str(path))
        self.assertEqual((done.returncode, done.stdout), (0, ""))


class OtherGpus(VendorTest):
    """A node with GPUs, and without a device of the vendor file."""

    tree = "nv2"

    def test_kind_of_a_vendor_file_is_no_name_for_them(self):
        path = self.vendor_file(LEAST)
        done = self.run_prepare("detect", "--vendor-file", str(path))
        self.assertIn("nvidia.com/gpu", done.stdout)
        done = self.run_prepare("write", "--dry-run", "--vendor-file", str(path), "--kind",
                                "acme.com/npu")
        self.assertEqual((done.returncode, done.stdout), (0, ""))


class Faults(VendorTest):
    """What a vendor file can do wrong, and the message."""

    CASES = {
        'devices = "/dev/npu*"\n':
            "1:1: kind: the required field is missing: add it",
        LEAST + 'nmae = "{index}"\n': "3:1: nmae: this member does not exist: did you mean name?",
        LEAST + "health = {atribute = \"x\"}\n":
            "3:11: health[0].atribute: this member does not exist: did you mean attribute?",
        LEAST + 'name = "npu"\n':
            "3:8: name: all devices would have the same name: use {index}, {node}, {pci} or "
            "{attribute:PATH}, and {{ for a brace",
        LEAST + 'name = "{serial}"\n':
            "3:8: name: {serial} is not a placeholder: use {index}, {node}, {pci} or "
            "{attribute:PATH}, and {{ for a brace",
        LEAST + 'name = "{attribute:../x}"\n':
            "3:8: name: {attribute:../x} is not a placeholder: use {index}, {node}, {pci} or "
            "{attribute:PATH}, and {{ for a brace",
        'kind = "npu"\ndevices = "/dev/npu*"\n':
            '1:8: kind: "npu" is not a kind: give one such as vendor.com/npu',
        'kind = "acme.com/npu"\ndevices = ["/dev/npu*", "npu"]\n':
            "2:25: devices[1]: device nodes are in /dev: begin with /dev/",
        'kind = "acme.com/npu"\ndevices = "/dev/../etc/*"\n':
            "2:11: devices[0]: this is not an absolute path of printable ASCII without empty parts, . "
            "or ..",
        'kind = "acme.com/npu"\ndevices = "/dev/npu[0-9"\n':
            '2:11: devices[0]: "[0-9" is not closed, is empty, or has a reversed range: write [0-3] '
            "or [abc] for one character",
        LEAST + 'match = {vendor = "[!0]x"}\n':
            '3:19: match.vendor[0]: "[!0]x" has [!: write [^01] for a character that is neither 0 nor '
            "1",
        'kind = "acme.com/npu"\ndevices = "/dev/{index}/{index}"\n':
            "2:11: devices[0]: a pattern can contain {index} only once",
        LEAST + 'env = ["A=1", "B"]\n': "3:15: env[1]: is not NAME=VALUE",
        LEAST + 'shared = "/dev/npu{index}"\n':
            "3:10: shared[0]: /dev/npu{index} has a placeholder, and belongs in `nodes`",
        LEAST + 'mounts = "lib"\n':
            '3:10: mounts[0]: "lib" is not an absolute path without . and ..',
        LEAST + 'mounts = {container = "/lib"}\n': "3:10: mounts[0].host: the required field is missing: add it",
        LEAST + 'hooks = {name = "poststop", path = "/x", timeout = 0}\n':
            "3:52: hooks[0].timeout: must be a number of seconds from 1 to 3600",
        LEAST + 'health = {attribute = "x"}\n':
            "3:10: health[0]: needs either good, the values of a healthy device, or bad",
        LEAST + 'match = {"/sys/x" = "1"}\n':
            '3:21: match./sys/x: "/sys/x" is not the path of an attribute: give it relative to '
            "the node's directory in sysfs, such as device/vendor",
        LEAST + "env = [1]\n": "3:8: env[0]: expected text, not 1: put it in quotes",
        LEAST + f"aliases = {['{index}'] * 65}\n": "3:11: aliases: has more than 64 entries",
        LEAST + 'match = "x"\n': '3:9: match: expected an object, not "x"',
        **{LEAST + f'name = "{name}"\n': f"3:8: name: {name} is not a placeholder" + ADVICE
           for name in ("{index", "{attribute:}", "{attribute:/x}", "{attribute:a//b}")},
        **{LEAST + f"{line} = 1\n":
           f"3:{len(line) + 4}: {line}: expected text, not 1: put it in quotes"
           for line in ("name", "module")},
        LEAST + 'name = ""\n': "3:8: name: must not be empty or contain NUL",
        **{LEAST + f"name = {text}\n":
           "3:8: name: must be at most 1024 letters of printable ASCII"
           for text in ('"\\u00e9"', '"' + "a" * 1025 + '"')},
        **{LEAST + f'module = "{name}"\n':
           "3:10: module: this is not the name of a kernel module: use a name that lsmod lists"
           for name in ("a/b", ".a")},
        **{LEAST + f'match = {{"{path}" = "1"}}\n':
           f'3:{len(path) + 15}: match.{path}: "{path}" is not the path of an attribute: give it '
           "relative to the node's directory in sysfs, such as device/vendor"
           for path in ("a//b", "a/./b", "a/")},
        **{LEAST + f'hooks = {{name = "poststop", path = "/x", timeout = {time}}}\n':
           "3:52: hooks[0].timeout: " + why
           for time, why in (('"5"', 'expected an integer, not "5": write 5 without quotes'),
                             ("3601", "must be a number of seconds from 1 to 3600"))},
        LEAST + "hooks = 1\n": "3:9: hooks[0]: expected an object, not 1",
        LEAST + "nodes = [1]\n": "3:10: nodes[0]: expected an object, not 1",
        LEAST + 'nodes = "/dev/{x}"\n': "3:9: nodes[0]: {x} is not a placeholder" + ADVICE,
        LEAST + 'mounts = "/lib/../x"\n':
            '3:10: mounts[0]: "/lib/../x" is not an absolute path without . and ..',
        LEAST + 'env = "=A"\n': "3:7: env[0]: is not NAME=VALUE",
        LEAST + 'attributes = {"\\u00e9" = "x"}\n':
            "3:26: attributes.\u00e9: its name is not printable ASCII",
        LEAST + "[attributes]\n" + "".join(f'a{i} = "x"\n' for i in range(65)):
            "3:1: attributes: has more than 64 entries",
        LEAST + 'health = {attribute = 1, good = "x"}\n':
            "3:23: health[0].attribute: expected text, not 1: put it in quotes",
        LEAST + 'health = {attribute = "x", good = "x", optional = 1}\n':
            "3:51: health[0].optional: expected true or false, not 1",
        LEAST + "zzzzzzzz = 1\n":
            "3:1: zzzzzzzz: this member does not exist: use one of kind, devices, name, aliases, model, "
            "module, nodes, siblings, shared, mounts, env, hooks, match, attributes, health",
        # The first of two faults is told, whatever is read first.
        LEAST + "name = 1\nhealth = 1\n": "3:8: name: expected text, not 1: put it in quotes",
        LEAST + "health = 1\nname = 1\n": "3:10: health[0]: expected an object, not 1",
    }

    def test_messages(self):
        self.finish()
        for text, message in self.CASES.items():
            with self.subTest(text):
                self.assertEqual(self.fault_in(text), message)

    def test_hook_that_no_spec_may_have(self):
        self.finish()
        message = self.fault_in(LEAST + 'hooks = {name = "never", path = "/x"}\n')
        self.assertTrue(message.startswith("3:9: hooks[0]: "), message)

    def test_not_toml(self):
        self.finish()
        self.assertIn("1:8: is not valid TOML", self.fault_in("kind = \n"))

    def test_hostile_files_end_soon(self):
        self.add_node("/dev/" + "a" * 200)
        self.finish()
        star = "*a" * 100
        begin = time.monotonic()
        self.detect_none('kind = "acme.com/npu"\ndevices = "/dev/' + star + 'b"\n')
        self.fault_in('kind = "acme.com/npu"\ndevices = "/dev/' + "[" * 900 + '"\n')
        self.fault_in("a" + ".a" * 30000 + "=1\n")
        path = self.vendor_file("# " + "a" * (65 << 10))
        done = self.run_prepare("detect", "--vendor-file", str(path))
        self.assertEqual(done.returncode, 1)
        self.assertLess(time.monotonic() - begin, 10)

    def detect_none(self, text):
        done = self.run_prepare("detect", "--vendor-file", str(self.vendor_file(text)))
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)


if __name__ == "__main__":
    run_tests()
