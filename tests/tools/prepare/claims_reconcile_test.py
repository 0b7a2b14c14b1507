#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Claims after a boot, without a GPU, and when they end:
claims_reconcile_test.py CDI_PREPARE [unittest options]"""
import json
import os
import re
import shutil
import sys
import unittest

sys.dont_write_bytecode = True
from claim_case import (  # noqa: E402  pylint: disable=wrong-import-position
    FIRST, FIRST_PCI, KIND, SECOND, SECOND_PCI, THIRD, UNKNOWN_UUID, ClaimTest, id_of,
    read_spec)
from tree_case import TreeTest, dri  # noqa: E402  pylint: disable=wrong-import-position


class Reconcile(ClaimTest):
    tree = "nv2"

    def change_uvm(self, major):
        """The effects of another boot, or of a reloaded driver."""
        self.edit("proc/devices", "510 nvidia-uvm", f"{major} nvidia-uvm")
        table = self.path("dev.tab").read_text()
        table = re.sub(r"(/dev/nvidia-uvm\S* c) \d+", rf"\1 {major}", table)
        self.path("dev.tab").write_text(table)

    def uvm_major(self, uid):
        nodes = read_spec(self.spec_path(uid))["containerEdits"]["deviceNodes"]
        return [node["major"] for node in nodes if node["path"] == "/dev/nvidia-uvm"]

    def test_spec_that_is_gone_or_damaged_is_made_again(self):
        devices = self.prepare("a", "0")
        path = self.spec_path("a")
        text = path.read_text()

        def edit():
            path.write_text(text.replace("/dev/nvidia0", "/dev/nvidia1"))
        for damage in (path.unlink, lambda: path.write_text(""), edit, lambda: path.chmod(0o600),
                       lambda: shutil.rmtree(self.out)):
            for repair in (lambda: self.assertEqual(self.prepare("a", "0"), devices),
                           lambda: self.assertEqual(self.list(), {"a": None}),
                           lambda: self.prepare("b", "1")):
                damage()
                repair()
                self.assertEqual(path.read_text(), text)
                self.unprepare("b")
                self.assertEqual(self.claims(), ["a"])

    def test_other_boot_has_other_numbers(self):
        devices = self.prepare("a", "0")
        self.assertEqual(self.uvm_major("a"), [510])
        for again in (lambda: self.assertEqual(self.prepare("a", "0"), devices), self.list):
            self.unprepare("a")
            self.make_tree("nv2")
            self.prepare("a", "0")
            self.reboot()
            self.change_uvm(499)
            shutil.rmtree(self.out)  # as /var/run is emptied
            again()
            self.assertEqual(self.uvm_major("a"), [499])
            self.assertEqual(self.claims(), ["a"])
            self.assertEqual(self.journal("a")["boot_id"], "another")
            before = self.snapshot()
            again()
            self.assertEqual(self.snapshot(), before)

    def test_driver_reloaded_in_the_same_boot(self):
        devices = self.prepare("a", "0")
        self.change_uvm(499)
        self.assertEqual(self.prepare("a", "0"), devices)
        self.assertEqual(self.uvm_major("a"), [499])

    def test_gpu_that_is_gone(self):
        devices = self.prepare("a", "0")
        text = self.spec_path("a").read_text()
        put_back = self.remove_gpu(FIRST_PCI)
        for _ in range(2):  # in the same boot the spec stays
            self.assertRegex(self.refuse("a", "0"), f"{FIRST}.*gone.*unprepare the claim")
            self.assertIn("gone from this host", self.list(3)["a"])
            self.assertEqual(self.spec_path("a").read_text(), text)
        self.prepare("b", SECOND)
        self.assertIn("warning: claim a: ", self.errors)
        self.unprepare("b")
        self.reboot()
        self.assertIn("gone from this host", self.list(3)["a"])
        self.assertEqual(os.listdir(self.out), [])
        self.assertIn("gone from this host", self.refuse("a", "0"))
        self.assertEqual(self.journal("a")["phase"], "prepared")
        put_back()
        self.assertEqual(self.prepare("a", FIRST), devices)
        self.assertEqual(self.spec_path("a").read_text(), text)
        self.assertEqual(self.claims(), ["a"])

    def test_gpu_that_is_lost(self):
        self.prepare("a", "0")
        self.remove_node("/dev/nvidia0")
        self.assertIn("/dev/nvidia0", self.list(3)["a"])
        self.assertTrue(self.spec_path("a").exists())
        self.reboot()
        self.assertIn("/dev/nvidia0", self.list(3)["a"])
        self.assertFalse(self.spec_path("a").exists())

    def test_nodes_of_a_lost_gpu_that_another_one_gets(self):
        """The next GPU of the driver has the number 0, which the spec of the claim gives."""
        devices = self.prepare("a", "0")
        text = self.spec_path("a").read_text()
        self.bind(FIRST_PCI, None)
        self.list(3)
        self.assertEqual(self.spec_path("a").read_text(), text)
        self.set_uuid("Device Minor: \t 1", "Device Minor: \t 0", SECOND_PCI)
        self.prepare("b", SECOND)
        self.assertFalse(self.spec_path("a").exists())
        self.assertIn("/dev/nvidia0", str(self.nodes("b")))
        self.set_uuid("Device Minor: \t 0", "Device Minor: \t 1", SECOND_PCI)
        (self.pci(FIRST_PCI) / "driver").symlink_to("../../../../bus/pci/drivers/nvidia")
        self.assertEqual(self.prepare("a", "0"), devices)
        self.assertEqual(self.spec_path("a").read_text(), text)
        self.assertEqual(self.claims(), ["a", "b"])

    def test_numbers_of_a_lost_gpu_that_another_node_gets(self):
        self.prepare("a", "0")
        self.bind(FIRST_PCI, None)
        path = self.spec_path("a")
        for node, kept in (("/dev/dri/by-hand", False), ("/dev/other", True)):
            with self.subTest(kept=kept):
                spec = read_spec(path)
                (device,) = spec["devices"]
                device["containerEdits"]["deviceNodes"] = [
                    {"path": node, "type": "c", "major": 226, "minor": 129 + 100 * kept}]
                path.write_text(json.dumps(spec))
                self.list(3)
                self.assertEqual(path.exists(), kept)
                path.write_text(json.dumps(spec))

    def test_vfio_itself_belongs_to_all_gpus(self):
        self.make_tree("vfio")
        self.prepare("a", "0000:81:00.0")
        self.bind("0000:82:00.1", None)  # now the second GPU can be handed out
        self.prepare("b", "0000:82:00.0")
        self.remove_node("/dev/vfio/42")
        self.remove_node("/dev/iommu")
        self.assertIn("a", self.list(3))
        self.assertTrue(self.spec_path("a").exists())

    def test_partition_of_a_gpu_that_is_lost(self):
        self.make_tree("nv2mig")
        self.prepare("a", "1:gi1:ci0")
        self.remove_node("/dev/nvidia1")
        self.assertIn("/dev/nvidia1", self.list(3)["a"])

    def test_host_that_does_not_say_which_boot_it_is(self):
        self.prepare("a", "0")
        before = self.snapshot()
        self.path("proc/sys/kernel/random/boot_id").unlink()
        self.assertEqual(self.list(), {"a": None})
        self.remove_gpu(FIRST_PCI)
        self.list(3)
        self.assertEqual(self.snapshot(), before)

    def test_another_gpu_at_the_place(self):
        """The spec has the numbers of a GPU that was never promised."""
        self.prepare("a", "0")
        self.set_uuid(FIRST, THIRD)
        self.assertRegex(self.refuse_after_list("a", "0"), f"{FIRST}.*gone.*{FIRST_PCI}.*{THIRD}")
        self.assertFalse(self.spec_path("a").exists())
        self.prepare("b", THIRD)
        self.set_uuid(THIRD, FIRST)
        self.assertEqual(list(self.list(3)), ["a", "b"])  # it is b's now that is gone

    def refuse_after_list(self, *asked):
        self.list(3)
        return self.refuse(*asked)

    def test_another_model_at_the_place_of_a_gpu_without_id(self):
        self.make_tree("intel-xe")
        self.prepare("a", "0000:00:02.0")
        (self.pci("0000:00:02.0") / "device").write_text("0x1234\n")
        self.assertIn("and the GPU at", self.list(3)["a"])
        self.assertFalse(self.spec_path("a").exists())

    def test_gpus_that_change_places(self):
        devices = self.prepare("a", FIRST)
        self.set_uuid(FIRST, THIRD)
        self.set_uuid(SECOND, FIRST, SECOND_PCI)
        self.set_uuid(THIRD, SECOND)
        self.reboot()
        # Index 0 is another one now.
        self.assertIn("unprepare it first", self.refuse_after_reboot("a", "0"))
        self.assertEqual(self.prepare("a", FIRST), devices)
        self.assertEqual(self.nodes("a"), {id_of("a"): ["/dev/nvidia1",
                                                               *dri(2, 129)]})
        self.assertIn("claim a has", self.refuse("b", SECOND_PCI))
        # Nor is it forgotten while the driver does not tell the ids.
        for address, uuid in ((FIRST_PCI, SECOND), (SECOND_PCI, FIRST)):
            self.set_uuid(uuid, UNKNOWN_UUID, address)
        self.assertEqual(self.prepare("a", FIRST), devices)
        self.assertEqual(list(self.nodes("a").values()), [["/dev/nvidia1",
                                                           *dri(2, 129)]])
        self.prepare("b", FIRST_PCI)

    def refuse_after_reboot(self, *asked):
        self.assertEqual(self.list(), {"a": None})
        return self.refuse(*asked)

    def test_id_that_becomes_known_later(self):
        self.set_uuid(FIRST, UNKNOWN_UUID)
        devices = self.prepare("a", FIRST_PCI)
        self.assertEqual(devices[0]["device_name"], FIRST_PCI)
        self.set_uuid(UNKNOWN_UUID, FIRST)
        self.assertIn("claim a has", self.refuse_after_reboot("b", FIRST))
        for name in (FIRST, FIRST_PCI, "0"):
            self.assertEqual(self.prepare("a", name), devices)
        self.assertEqual(self.claims(), ["a"])
        self.assertEqual(self.journal("a")["devices"][0]["identity"]["id"], FIRST)
        self.set_uuid(FIRST, THIRD)
        self.assertIn(f"and the GPU at {FIRST_PCI} is now", self.list(3)["a"])

    def test_driver_that_was_changed(self):
        self.prepare("a", "0")
        (self.pci(FIRST_PCI) / "iommu_group").unlink(missing_ok=True)
        (self.pci(FIRST_PCI) / "iommu_group").symlink_to("../../../../kernel/iommu_groups/77")
        self.bind(FIRST_PCI, "vfio-pci")
        self.assertIn(f"now has the driver vfio-pci, and is vfio.local/gpu={FIRST_PCI}",
                      self.list(3)["a"])

    def test_orphans(self):
        self.prepare("a", "0")
        self.prepare("b", "1")
        foreign = self.out / "foreign.json"
        foreign.write_text('{"cdiVersion": "0.6.0", "kind": "a.com/b", "annotations": '
                           '{"cdi-publisher/owner": "another"}, "devices": []}')
        unowned = self.out / f"{KIND.replace('/', '-')}_c.json"
        unowned.write_text("cdiVersion: 0.6.0\nkind: a.com/c\ndevices: []\n")
        other = self.place / "other"
        self.prepare("x", "0", state=other)
        (self.state / "a.json").unlink()
        self.assertEqual(self.list(), {"b": None})
        self.assertEqual(sorted(os.listdir(self.out)), sorted(
            ["foreign.json", unowned.name, self.spec_path("b").name, self.spec_path("x").name]))
        # The same UID in two journals: neither takes the other's file.
        self.assertIn("records owner", self.refuse("x", "0"))
        self.unprepare("x")
        self.assertTrue(self.spec_path("x").exists())
        self.assertEqual(self.list(state=other), {"x": None})
        self.assertTrue(self.spec_path("b").exists())

    def test_spec_that_another_owner_has_replaced(self):
        self.prepare("a", "0")
        path = self.spec_path("a")
        path.write_text(path.read_text().replace("cdi-prepare claims", "other claims"))
        text = path.read_text()
        self.assertIn("records owner", self.list(3)["a"])
        self.unprepare("a")
        self.assertEqual(path.read_text(), text)
        self.assertEqual(os.listdir(self.state), [".lock"])

    def test_each_claim_keeps_its_directory_and_options(self):
        elsewhere = self.place / "elsewhere"
        self.prepare("a", "0", out=elsewhere, more=("--profile", "compute", "--ld-library-path",
                                                    "--node-numbers", "asked"))
        text = self.spec_path("a", elsewhere).read_text()
        self.assertIn("LD_LIBRARY_PATH=", text)
        self.spec_path("a", elsewhere).unlink()
        self.list()
        self.assertEqual(self.spec_path("a", elsewhere).read_text(), text)
        self.unprepare("a")
        self.assertEqual(os.listdir(elsewhere), [])

    def unreadable_journals(self):
        good = self.journal("a")

        def special():
            os.mkfifo(self.state / "a.json")
        yield special
        for text in ("", "{", "[]", "1", "{}", '{"version": 1}', '{"version": "1"}', "\xff",
                     json.dumps({**good, "uid": "b"}), json.dumps({**good, "devices": []}),
                     json.dumps({**good, "devices": [1]}), json.dumps({**good, "kind": "x"}),
                     json.dumps({**good, "phase": "x"}), json.dumps({**good, "options": [""]}),
                     json.dumps({**good, "devices": [{**good["devices"][0], "name": "../x"}]}),
                     json.dumps({**good, "uid": 1}), "[" * 100000,
                     '{"version":' + "[" * 500000 + "]" * 500000 + "}",
                     '{"version": 1, "by_iommufd": ' + "[" * 500 + "]" * 500 + "}",
                     json.dumps({**good, "version": 2, "phase": "removing"})):
            yield lambda text=text: (self.state / "a.json").write_text(text, encoding="latin1")

    def test_journal_that_cannot_be_read(self):
        self.make_tree("other")
        self.prepare("a", "0")
        self.prepare("b", "1")
        for number, damage in enumerate(self.unreadable_journals()):
            with self.subTest(number=number):
                (self.state / "a.json").unlink()
                damage()
                before = self.snapshot()
                newer = b'"version": 2' in before[self.state / "a.json"][2]
                fault = "a newer version of this program wrote it" if newer else ""
                faults = self.list(3)
                self.assertRegex(faults["a"], rf"a\.json(:1:\d+)?: {fault}")
                self.assertIn("unprepare the claim", faults["a"])
                self.assertIn(fault, self.refuse("a", "0"))
                self.prepare("b", "1")  # goes on
                # Nobody can tell which GPUs it has.
                self.assertIn("claim a may have it", self.refuse("c", "0"))
                self.assertEqual(self.snapshot(), before)
        (self.out / self.spec_path("b").name).rename(self.spec_path("orphan"))
        self.assertEqual(sorted(self.list(3)), ["a", "b"])
        self.assertFalse(self.spec_path("orphan").exists())
        self.unprepare("a")
        self.assertEqual(self.claims(), ["b"])
        self.prepare("c", "0")

    def test_files_in_the_journal_that_are_no_claims(self):
        self.prepare("a", "0")
        for name in ("notes.txt", ".b.json", "b.json.bak", "b_c.json", ".x.cdi-tmp"):
            (self.state / name).write_text("mine\n")
        abandoned = self.state / ".a.json.1234-0.cdi-tmp"
        abandoned.write_text("")
        self.assertEqual(self.list(), {"a": None})
        self.assertEqual(sorted(os.listdir(self.state)), sorted(
            [".lock", "a.json", "notes.txt", ".b.json", "b.json.bak", "b_c.json", ".x.cdi-tmp"]))


class Unprepare(ClaimTest):
    tree = "nv2"

    def test_the_unknown(self):
        for _ in range(2):
            self.unprepare("a")
        self.assertEqual(self.claims(), [])

    def test_twice(self):
        self.prepare("a", "0")
        self.prepare("b", "1")
        for _ in range(2):
            self.unprepare("a")
            self.assertEqual(self.claims(), ["b"])

    def test_without_any_hardware(self):
        self.prepare("a", "0")
        self.prepare("b", "1")
        before = self.snapshot()
        shutil.rmtree(self.root)
        self.root.mkdir()
        self.unprepare("unknown")
        self.assertEqual(self.snapshot(), before)
        self.unprepare("a")
        self.assertEqual(sorted(os.listdir(self.state)), [".lock", "b.json"])
        self.assertEqual(os.listdir(self.out), [self.spec_path("b").name])

    def test_spec_or_its_directory_gone(self):
        self.prepare("a", "0")
        shutil.rmtree(self.out)
        put_back = self.remove_gpu(FIRST_PCI)
        self.reboot()
        self.unprepare("a")
        put_back()
        self.assertEqual(self.claims(), [])

    def test_spec_that_cannot_be_removed_stays_a_claim(self):
        self.prepare("a", "0")
        self.prepare("b", "1", out=self.place / "elsewhere")
        shutil.rmtree(self.out)
        self.out.write_text("no directory")
        done = self.run_claims("unprepare", "--claim", "a", code=1)
        self.assertIn("Not a directory", done.stdout)
        self.assertIn("claim a has", self.refuse_only("c", "0"))
        self.assertIsNone(self.list(3)["b"])
        self.unprepare("b")  # is not to suffer for it
        self.unprepare("unknown")
        self.out.unlink()
        self.assertEqual(self.list(), {})

    def test_spec_of_a_damaged_journal_that_cannot_be_read(self):
        self.prepare("a", "0")
        path = self.spec_path("a")
        text = path.read_text()
        for lost in (False, True):  # an unreadable journal, or none
            with self.subTest(lost=lost):
                (self.state / "a.json").write_text("")
                path.write_text(text + " " * (16 << 20))
                fault = f"{path}: the file is larger than 16777216 bytes"
                if lost:
                    (self.state / "a.json").unlink()
                else:
                    self.list(3)
                    self.assertEqual(self.errors.count(f"warning: {fault}"), 1)
                    self.assertIn("claim a may have it", self.refuse_only("c", "0"))
                for _ in range(2):
                    done = self.run_claims("unprepare", "--claim", "a", code=1)
                    self.assertIn(fault, json.loads(done.stdout)["claims"]["a"]["error"])
                    self.assertTrue(path.exists())
                    self.assertEqual((self.state / "a.json").exists(), not lost)
                path.unlink()
                self.unprepare("a")
                self.assertEqual(self.claims(), [])

    def test_damaged_journal_of_a_claim_with_another_directory(self):
        elsewhere = self.place / "elsewhere"
        path = self.state / "a.json"
        for number, damage in enumerate((lambda text: text.replace('"version": 1', '"version": 9'),
                                         lambda text: text[:text.index('"devices"')],
                                         lambda text: text.replace(" ", "").replace("uid", "x"))):
            with self.subTest(number=number):
                self.prepare("a", "0", out=elsewhere)
                text = path.read_text()
                path.write_text(damage(text))
                self.assertNotEqual(path.read_text(), text)
                self.assertIn("claim a may have it", self.refuse_only("b", "0"))
                self.unprepare("a")
                self.assertEqual((os.listdir(elsewhere), self.claims()), ([], []))

    def test_damaged_journal_that_names_no_directory_of_the_host(self):
        self.prepare("a", "0")
        (self.state / "a.json").write_text('{"spec_dir": "/etc/passwd"}')
        self.unprepare("a")
        self.assertFalse(self.spec_path("a").exists())
        self.assertEqual(self.claims(), [])
        self.prepare("b", "0")

    def test_damaged_journal_that_does_not_name_the_directory(self):
        elsewhere = self.place / "elsewhere"
        for text in ("", '"spec_dir"', '"spec_dir":', '"spec_dir": "', '"spec_dir": 1, "/"',
                     '"spec_dir": "relative"', '"spec_dir": "/a/../b"', '"spec_dir": "/a',
                     '"spec_dir": "/a\\n"'):
            with self.subTest(text=text):
                self.prepare("a", "0", out=elsewhere)
                (self.state / "a.json").write_text(text)
                self.unprepare("a")
                self.assertIn(f"warning: claim a: its spec is not in {self.out}: ", self.errors)
                self.list(out=elsewhere)
                self.assertEqual(os.listdir(elsewhere), [])

    def test_damaged_journal_where_the_specs_cannot_be_listed(self):
        self.prepare("a", "0")
        self.out.rename(self.place / "kept")
        self.out.write_text("no directory")
        (self.state / "a.json").write_text("")
        done = self.run_claims("unprepare", "--claim", "a", code=1)
        self.assertIn("Not a directory", done.stdout)
        self.out.unlink()
        (self.place / "kept").rename(self.out)
        self.unprepare("a")
        self.assertEqual(self.claims(), [])

    def refuse_only(self, *asked):
        return self.run_claims("prepare", *self.asked(asked[0], asked[1:]), code=1).stdout


if __name__ == "__main__":
    TreeTest.program = os.path.abspath(sys.argv[1])
    unittest.main(verbosity=2, argv=[sys.argv[0], *sys.argv[2:]])
