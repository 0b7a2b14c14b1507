#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""cdi-dra while things go wrong: kills, restarts, wiped folders, updates, calls that nobody waits
for.

usage: dra_life_test.py CDI_DRA [ARGUMENTS OF UNITTEST]
"""
import fcntl
import os
import shutil
import signal
import socket
import stat
import sys
import unittest

sys.dont_write_bytecode = True
from dra_case import DRIVER, GPUS, PCI, DraCase, name_of, need_program, uid_of  # noqa: E402
from nri_peers import wait_until  # noqa: E402
from scripted_kubelet import DRA, grpc, request  # noqa: E402

setUpModule = need_program
PREPARE = DRA["v1"] + "NodePrepareResources"


class Specs(DraCase):
    """The specs of claims are there, whatever others do to their folder."""

    def setUp(self):
        super().setUp()
        self.process = self.serving()
        self.write_claim(1, GPUS[0])
        self.service().prepare(name_of(1))
        self.spec_text = self.spec_path(1).read_text(encoding="utf-8")

    def check_repaired(self, what):
        """The spec is there again, as it was."""
        def is_there():
            return (self.spec_path(1).exists() and
                    self.spec_path(1).read_text(encoding="utf-8") == self.spec_text)
        wait_until(is_there, what)
        self.check_claims(1)

    def test_removed(self):
        for _ in range(3):
            os.unlink(self.spec_path(1))
            self.check_repaired("a removed spec")

    def test_damaged(self):
        self.spec_path(1).write_text("{", encoding="utf-8")
        self.check_repaired("a damaged spec")

    def test_changed_in_place(self):
        """The file has as many bytes as before."""
        self.assertIn("/dev/nvidia0", self.spec_text)
        self.spec_path(1).write_text(self.spec_text.replace("/dev/nvidia0", "/dev/nvidia9"),
                                     encoding="utf-8")
        self.check_repaired("a spec with another device")

    def test_folder_removed(self):
        for _ in range(3):
            self.wipe(self.out)
            self.check_repaired("a removed folder")

    def test_folder_made_again(self):
        self.out.rename(self.place / "away")
        self.check_repaired("a folder that was moved")
        os.unlink(self.spec_path(1))
        self.check_repaired("a spec in the new folder")

    def test_fault_that_ends(self):
        """A claim whose spec cannot be written is tried again."""
        spec = self.spec_path(1)
        self.process.kill()
        os.unlink(spec)
        spec.mkdir()
        process = self.serving()
        process.wait_for("failed", 1)
        spec.rmdir()
        self.check_repaired("a spec whose place was taken")
        self.assertEqual(len(process.events("failed")), 1)

    def test_gone_while_the_driver_is_away(self):
        self.process.kill()
        self.wipe(self.out)
        process = self.serving()
        self.check_repaired("a spec that was removed before the start")
        process.wait_for("repaired")

    def test_nothing_is_repaired_at_a_start(self):
        self.process.kill()
        process = self.serving()
        process.wait_for("serving", 2)
        self.assertEqual(process.events("repaired"), [])

    def test_another_folder_for_new_claims(self):
        """The claims that are there keep theirs, and their specs."""
        self.process.kill()
        before, self.out = self.out, self.place / "other"
        process = self.serving()
        self.write_claim(2, GPUS[1])
        self.check_prepared(self.service().prepare(name_of(2)), 2, GPUS[1])
        self.assertEqual(self.specs(), [2])
        self.out = before
        self.assertEqual(self.specs(), [1])
        os.unlink(self.spec_path(1))
        wait_until(self.spec_path(1).exists, "a spec in the first folder")
        process.wait_for("repaired")
        self.assertEqual({line["path"] for line in process.events("repaired")}, {str(before)})

    def test_the_journal_is_moved(self):
        """A spec names the old path as its owner, so the driver writes it only once it is gone."""
        self.process.kill()
        self.state.rename(self.place / "moved")
        self.state = self.place / "moved"
        process = self.serving()
        process.wait_for("failed")
        os.unlink(self.spec_path(1))
        wait_until(lambda: self.spec_path(1).exists(), "a spec of the moved journal")
        self.check_prepared(self.service().prepare(name_of(1)), 1, GPUS[0])

    def test_reboot(self):
        """Device numbers may be others after a boot."""
        self.process.kill()
        (self.root / "proc/sys/kernel/random/boot_id").write_text("another\n", encoding="ascii")
        self.load_module_again()
        self.serving()
        self.assertIn("499", self.spec_path(1).read_text(encoding="utf-8"))
        self.check_claims(1)

    def load_module_again(self):
        """As with modprobe: nvidia-uvm gets another number, and every GPU is as well as before."""
        for name in ("dev.tab", "proc/devices"):
            path = self.root / name
            text = path.read_text(encoding="utf-8")
            path.write_text(text.replace(" 510 ", " 499 ").replace("510 nv", "499 nv"),
                            encoding="utf-8")

    def test_a_module_that_is_loaded_again(self):
        """A container that starts again in its pod needs the new number: the kubelet does not call
        for it."""
        self.load_module_again()
        self.process.process.send_signal(signal.SIGHUP)
        wait_until(lambda: "499" in self.spec_path(1).read_text(encoding="utf-8"),
                   "the new number")
        self.check_claims(1)
        self.assertEqual(self.process.events("unhealthy"), [])

    def test_nothing_has_changed(self):
        """A look at the hardware that finds nothing new is not in the log."""
        self.process.process.send_signal(signal.SIGHUP)
        self.load_module_again()
        self.process.process.send_signal(signal.SIGHUP)
        self.process.wait_for("repaired")
        self.process.process.send_signal(signal.SIGHUP)
        os.unlink(self.spec_path(1))
        self.process.wait_for("repaired", 2)
        self.assertEqual(len(self.process.events("repaired")), 2)

    def test_a_gpu_goes(self):
        """The spec stays in this boot: the log says what is wrong, and not that it is repaired."""
        self.remove_gpu(PCI[0])
        self.process.process.send_signal(signal.SIGHUP)
        self.process.wait_for("failed")
        self.assertEqual(self.process.events("repaired"), [])

    def test_a_spec_goes_while_another_claim_has_a_fault(self):
        """The log says that it is repaired, and does not repeat the fault."""
        self.write_claim(2, GPUS[1])
        self.service().prepare(name_of(2))
        self.remove_gpu(PCI[0])
        self.process.process.send_signal(signal.SIGHUP)
        self.process.wait_for("failed")
        os.unlink(self.spec_path(2))
        self.process.wait_for("repaired")
        self.assertEqual(len(self.process.events("failed")), 1)

    def test_nothing_is_written_at_rest(self):
        """Its own writing does not make it look again."""
        self.write_claim(2, GPUS[1])
        self.service().prepare(name_of(2))
        self.service().unprepare(name_of(2))
        os.unlink(self.spec_path(1))
        self.check_repaired("a removed spec")
        self.process.wait_for("repaired", 1)
        self.assertEqual(len(self.process.events("repaired")), 1)


class Warnings(DraCase):
    """What people must know about a spec is in the log, once for each reason."""
    tree = "mi300x-spx"
    gpu = "amd-gpu-e3aa140f9a5f9e31"

    def warnings(self, process):
        return [line["error"] for line in process.events("warning")]

    def test_a_part_that_an_old_version_lacks(self):
        """Without its groups, a process that is not root cannot open the devices."""
        process = self.serving("--max-version", "0.6.0")
        self.write_claim(1, self.gpu)
        for _ in range(2):
            self.check_prepared(self.service().prepare(name_of(1)), 1, self.gpu)
        process.wait_for("prepared", 2)
        lost = [text for text in self.warnings(process) if uid_of(1) in text]
        self.assertEqual(len(set(lost)), len(lost), lost)
        self.assertTrue(any("additionalGids" in text for text in lost), self.warnings(process))

    def test_a_spec_that_a_call_removes(self):
        """As after a journal that was lost: no claim has the spec."""
        process = self.serving()
        self.write_claim(1, self.gpu)
        self.service().prepare(name_of(1))
        self.wipe(self.state)
        self.service().unprepare(name_of(2))
        process.wait_for("unprepared")
        self.assertEqual(self.warnings(process),
                         [f"{self.spec_path(1)} removed: it belongs to no claim"])


class Sockets(DraCase):
    """The sockets are there while the driver runs, and only then."""

    def check_answers(self):
        self.assertEqual(self.registration().info()["name"], DRIVER)
        self.assertEqual(self.service().unprepare(name_of(9)), {uid_of(9): {}})

    def test_killed(self):
        process = self.serving()
        self.write_claim(1, GPUS[0])
        self.check_prepared(self.service().prepare(name_of(1)), 1, GPUS[0])
        process.kill()
        self.assertTrue(self.service_path().exists())
        self.serving()
        self.check_answers()
        self.check_prepared(self.service().prepare(name_of(1)), 1, GPUS[0])
        self.assertEqual(self.service().unprepare(name_of(1)), {uid_of(1): {}})
        self.check_claims()

    def test_a_kubelet_that_restarts(self):
        """It may remove the sockets, or the folder."""
        process = self.serving()
        os.unlink(self.registry / f"{DRIVER}-reg.sock")
        process.wait_for("serving", 3)
        self.check_answers()
        self.wipe(self.registry)
        process.wait_for("serving", 4)
        self.check_answers()
        os.unlink(self.service_path())
        process.wait_for("serving", 5)
        self.check_answers()
        self.wipe(self.kubelet)
        process.wait_for("serving", 7)
        self.check_answers()
        self.assertEqual(process.stop(), 0)

    def test_modes_whatever_the_umask(self):
        """As the kubelet makes its folders; no other user may replace a socket."""
        self.write_claim(1, GPUS[0])
        for umask in (0, 0o077):
            with self.subTest(umask):
                process = self.start("--device-plugin", f"{DRIVER}/gpu", umask=umask)
                process.wait_for("serving", 3)
                self.check_prepared(self.service().prepare(name_of(1)), 1, GPUS[0])
                modes = {path: stat.S_IMODE(path.stat().st_mode) for path in (
                    self.kubelet, self.kubelet / "plugins", self.kubelet / "plugins" / DRIVER,
                    self.registry, self.kubelet / "device-plugins")}
                self.assertEqual(set(modes.values()), {0o750}, modes)
                self.assertEqual([stat.S_IMODE(path.stat().st_mode) for path in (
                    self.out, self.state, self.service_path(), self.spec_path(1))],
                    [0o755, 0o755, 0o600, 0o644])
                self.assertEqual(process.stop(), 0)
                for folder in (self.kubelet, self.state, self.out):
                    shutil.rmtree(folder)

    def test_folders_that_cannot_be_made(self):
        """As while a volume is away. They are tried again."""
        process = self.serving()
        process.process.send_signal(signal.SIGSTOP)  # or it may make the folder again at once
        os.waitid(os.P_PID, process.pid, os.WSTOPPED)
        self.kubelet.rename(self.place / "away")
        self.kubelet.write_text("", encoding="ascii")
        process.process.send_signal(signal.SIGCONT)
        process.wait_for("warning")
        self.assertIn("cannot open the directory", process.events("warning")[0]["error"])
        self.kubelet.unlink()
        process.wait_for("serving", 4)
        self.check_answers()

    def test_files_beside_the_sockets(self):
        """Other sockets and files stay."""
        folder = self.service_path().parent
        folder.mkdir(parents=True)
        names = {"dra-x.txt", "dra-y.sock", f"dra-{'z' * 120}.sock", "other.sock", "dra-.sock"}
        for name in names:
            (folder / name).write_text("mine", encoding="ascii")
        self.serving()
        self.check_answers()
        self.assertLessEqual(names, set(os.listdir(folder)))

    def test_a_second_driver(self):
        """The socket of a driver that runs stays."""
        process = self.serving()
        second = self.start()
        self.assertEqual(second.process.wait(30), 1)
        self.assertIn("another process serves this socket", second.printed())
        self.check_answers()
        self.assertTrue(process.is_running())

    def test_a_socket_of_another_in_its_place(self):
        """It stays, also when the driver ends."""
        process = self.serving()
        path = self.registry / f"{DRIVER}-reg.sock"
        with socket.socket(socket.AF_UNIX) as other:
            other.bind(str(self.place / "other"))
            other.listen()
            os.rename(self.place / "other", path)
            process.wait_for("warning")
            self.assertIn("another process serves this socket",
                          process.events("warning")[0]["error"])
            self.assertTrue(path.exists())
        process.wait_for("serving", 3)  # once nobody serves it
        self.check_answers()
        (self.place / "mine").write_text("mine", encoding="ascii")
        os.rename(self.place / "mine", path)
        process.wait_for("warning", 2)
        self.assertEqual(process.stop(), 0)
        self.assertEqual(path.read_text(encoding="ascii"), "mine")

    def test_a_file_at_the_place_of_a_socket(self):
        self.registry.mkdir(parents=True)
        path = self.registry / f"{DRIVER}-reg.sock"
        path.write_text("mine", encoding="ascii")
        process = self.start()
        self.assertEqual(process.process.wait(30), 1)
        self.assertIn("it is not a socket", process.printed())
        self.assertEqual(path.read_text(encoding="ascii"), "mine")

    def test_a_rolling_update(self):
        old = self.serving("--instance", "old")
        self.write_claim(1, GPUS[0])
        self.write_claim(2, GPUS[1])
        self.service("dra-old.sock").prepare(name_of(1))
        new = self.serving("--instance", "new")
        for name in ("old", "new"):
            info = self.registration(f"{DRIVER}-{name}-reg.sock").info()
            self.assertEqual(info["endpoint"], str(self.service_path(f"dra-{name}.sock")))
        self.check_prepared(self.service("dra-new.sock").prepare(name_of(1), name_of(2)), 2,
                            GPUS[1])
        self.check_claims(1, 2)
        self.service("dra-old.sock").unprepare(name_of(2))
        self.assertEqual(old.stop(), 0)
        self.assertEqual(os.listdir(self.registry), [f"{DRIVER}-new-reg.sock"])
        self.service("dra-new.sock").unprepare(name_of(1))
        self.check_claims()
        self.assertEqual(new.stop(), 0)
        self.assertEqual(os.listdir(self.registry), [])

    def test_a_claim_that_the_old_instance_prepared_last(self):
        """The new instance keeps its spec too, although it has not seen the claim."""
        old = self.serving("--instance", "old")
        self.serving("--instance", "new")
        self.write_claim(1, GPUS[0])
        self.service("dra-old.sock").prepare(name_of(1))
        self.assertEqual(old.stop(), 0)
        os.unlink(self.spec_path(1))
        wait_until(self.spec_path(1).exists, "the spec again")
        self.check_claims(1)

    def test_sockets_of_a_killed_instance(self):
        """A new instance removes them: the kubelet would go on calling them."""
        self.serving("--instance", "old").kill()
        self.serving("--instance", "live")
        self.serving("--instance", "new")
        self.assertEqual(sorted(os.listdir(self.registry)),
                         [f"{DRIVER}-live-reg.sock", f"{DRIVER}-new-reg.sock"])
        self.assertFalse(self.service_path("dra-old.sock").exists())

    def test_names_that_are_too_long(self):
        """The service's socket and the registration's get shorter names."""
        uid = "33333333-0000-4000-8000-000000000001"
        self.kubelet = self.place / ("k" * (53 - len(str(self.place))))
        self.serving("--instance", uid)
        names = os.listdir(self.registry)
        self.assertEqual(len(names), 1)
        self.assertRegex(names[0], r"^dra-[\w-]{22}-reg\.sock$")
        endpoint = self.registration(names[0]).info()["endpoint"]
        self.assertRegex(endpoint, r"/dra-[\w-]{11}\.sock$")
        self.assertEqual(self.service(os.path.basename(endpoint)).unprepare(name_of(1)),
                         {uid_of(1): {}})

    def test_odd_folders(self):
        self.kubelet = self.place / "k %41 ü?#"
        self.serving()
        self.check_answers()


class Settings(DraCase):
    """Settings that never work end the driver; what may get better is once in the log."""

    def check_refused(self, text):
        process = self.start()
        self.assertEqual(process.process.wait(30), 1)
        self.assertIn(text, process.printed().splitlines()[-1])
        self.assertEqual(list(self.kubelet.rglob("*.sock")), [])

    def test_one_directory_for_journal_and_specs(self):
        self.out.mkdir()
        self.state.symlink_to(self.out)
        self.check_refused(
            "this is also the directory of the journal of claims: use another --state-dir")

    def test_a_journal_that_specs_cannot_record(self):
        self.state = self.place / "ü"
        self.check_refused("cannot be recorded: use another --state-dir, in ASCII")

    def test_a_directory_that_is_a_file_for_a_while(self):
        self.write_claim(1, GPUS[0])
        for path in (self.state, self.out):
            with self.subTest(path.name):
                path.write_text("", encoding="ascii")
                process = self.serving()
                self.assertIn(f"{path}: ", self.failure())
                path.unlink()
                self.check_prepared(self.service().prepare(name_of(1)), 1, GPUS[0])
                self.service().unprepare(name_of(1))
                self.assertEqual(process.stop(), 0)
                self.wipe(self.state)
                self.wipe(self.out)

    def test_a_lock_that_is_a_directory_for_a_while(self):
        path = self.service_path("serialize.lock")
        path.mkdir(parents=True)
        self.serving()
        self.write_claim(1, GPUS[0])
        self.assertIn(f"{path}: cannot open the lock", self.failure())
        path.rmdir()
        self.check_prepared(self.service().prepare(name_of(1)), 1, GPUS[0])

    def failure(self):
        """Why claim 1 is not prepared: as an error of the call, or of the claim."""
        try:
            return self.service().prepare(name_of(1))[uid_of(1)]["error"]
        except grpc.RpcError as error:
            return error.details()

    def test_a_lock_that_another_process_keeps(self):
        path = self.service_path("serialize.lock")
        path.parent.mkdir(parents=True)
        with open(path, "a", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            process = self.serving()
            for _ in range(3):  # it tries again each second
                wait_until(lambda: process.has_open(path), "it waits for the lock")
                wait_until(lambda: not process.has_open(path), "it gives up")
        self.assertEqual([line["error"] for line in process.events("warning")],
                         [f"{path}: another process holds the lock: try again"])
        self.write_claim(1, GPUS[0])
        self.check_prepared(self.service().prepare(name_of(1)), 1, GPUS[0])


class LateCalls(DraCase):
    """A call without a waiting caller writes nothing."""

    def setUp(self):
        super().setUp()
        self.process = self.serving()
        self.write_claim(1, GPUS[0])

    def hold(self, path):
        """Takes a lock that the driver needs; what this gives lets it go."""
        lock = open(path, "a", encoding="ascii")  # pylint: disable=consider-using-with
        self.addCleanup(lock.close)
        fcntl.flock(lock, fcntl.LOCK_EX)
        return lambda: fcntl.flock(lock, fcntl.LOCK_UN)

    def locks(self):
        self.state.mkdir(exist_ok=True)
        yield self.service_path("serialize.lock")
        yield self.state / ".lock"

    def test_a_deadline_that_passes(self):
        for path in self.locks():
            with self.subTest(path.name):
                let_go = self.hold(path)
                status = self.service().status(PREPARE, request(name_of(1)), timeout=0.3)
                self.assertEqual(status[0], "DEADLINE_EXCEEDED")
                let_go()
                # In order: what is late comes before.
                self.assertEqual(self.service().unprepare(name_of(2)), {uid_of(2): {}})
                self.check_claims()
        self.process.wait_for("failed", 2)

    def test_a_call_that_is_cancelled(self):
        let_go = self.hold(self.service_path("serialize.lock"))
        first = self.service()
        call = first.start(PREPARE, request(name_of(1)))
        wait_until(self.waits_for_lock, "the call waits for the lock")
        self.assertEqual(self.registration().info()["name"], DRIVER)  # it goes on answering
        call.cancel()
        self.assertTrue(call.cancelled())
        self.process.wait_for("failed")
        let_go()
        self.assertEqual(first.unprepare(name_of(2)), {uid_of(2): {}})
        self.check_claims()

    def waits_for_lock(self):
        """Whether the driver has the file of the lock open."""
        return self.process.has_open(self.service_path("serialize.lock"))

    def test_other_calls_wait(self):
        let_go = self.hold(self.service_path("serialize.lock"))
        calls = [self.service().start(PREPARE, request(name_of(1))) for _ in range(40)]
        self.assertEqual(self.registration().info()["name"], DRIVER)
        let_go()
        self.assertEqual(len({call.result() for call in calls}), 1)
        self.check_claims(1)

    def test_a_call_for_very_many_claims(self):
        """The time grows with their number, not with its square."""
        names = [name_of(number) for number in range(40000)]
        answer = self.service().call(DRA["v1"] + "NodeUnprepareResources",
                                     b"".join(map(request, [*names, names[0]])))
        self.assertEqual(answer.count(uid_of(0)[:-12].encode()), len(names))

    def test_it_ends_while_calls_wait(self):
        for path in self.locks():
            with self.subTest(path.name):
                let_go = self.hold(path)
                # More than there are threads: some have not begun.
                calls = [self.service().start(PREPARE, request(name_of(1))) for _ in range(40)]
                wait_until(self.waits_for_lock, "the call waits for the lock")
                self.process.process.send_signal(signal.SIGTERM)
                self.assertEqual(self.process.process.wait(30), 0)
                self.check_unanswered(calls)
                self.check_claims()
                let_go()
                self.process = self.serving()


class Hardware(DraCase):
    def test_a_gpu_of_a_claim_goes_and_returns(self):
        process = self.serving()
        self.write_claim(1, GPUS[1])
        self.service().prepare(name_of(1))
        put_back = self.remove_gpu(PCI[1])
        answer = self.service().prepare(name_of(1))[uid_of(1)]
        self.assertIn("it is gone from this host", answer["error"])
        put_back()
        self.check_prepared(self.service().prepare(name_of(1)), 1, GPUS[1])
        self.check_claims(1)
        self.assertTrue(process.is_running())

    def test_a_gpu_of_a_claim_can_be_unprepared(self):
        self.serving()
        self.write_claim(1, GPUS[1])
        self.service().prepare(name_of(1))
        self.remove_gpu(PCI[1])
        self.assertEqual(self.service().unprepare(name_of(1)), {uid_of(1): {}})
        self.check_claims()


class Leaks(DraCase):
    def test_descriptors(self):
        process = self.serving()
        self.write_claim(1, GPUS[1])
        service = self.service()
        def turn():
            service.prepare(name_of(1))
            service.unprepare(name_of(1))
            watching = self.service()
            stream, states = watching.watch()
            next(states)
            stream.cancel()
            watching.close()
            with socket.socket(socket.AF_UNIX) as plain:
                plain.connect(str(self.service_path()))
        for _ in range(5):
            turn()
        before = process.descriptors()
        for _ in range(20):
            turn()
        service.unprepare(name_of(1))
        wait_until(lambda: process.descriptors() <= before, "descriptors are closed")


if __name__ == "__main__":
    unittest.main(verbosity=2)
