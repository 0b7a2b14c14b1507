#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Tests of `cdi names` and of examples/slurm. usage: names_test.py CDI PROJECT"""
import json
import os
import pathlib
import re
import shutil
import sys
import unittest

from cdi_case import CDI, CdiCase

PROJECT = pathlib.Path(os.path.abspath(sys.argv.pop(1)))

A, B = "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6", "GPU-8932aaaa-0000-4106-c12f-20bd9faed9f6"
MIG = "MIG-d184f67c-c95f-5ef2-a935-195bd0094fbd"
SPECS = {  # GPU 2 of NVIDIA and GPU 1 of AMD are divided
    "nvidia.com/gpu": ["0", "1", "10", A, B, "all", "2:0", "2:1", "GPU-3eb79704:gi13:ci0", MIG,
                       "GPU-of-a-name"],
    "amd.com/gpu": ["0", "1-p0", "1-p1", "2", "8", "16", "all",
                    "deadbeefdeadbeef", "deadc0dedeadc0de", "feedfeedfeedfeed-p0",
                    "feedfeedfeedfeed0"],
    "uuid.com/gpu": [A],
    "index.com/gpu": ["0"],
}
CUT = "ends the list there"
NV, AMD = "nvidia.com/gpu=", "amd.com/gpu="

# What a variable holds, the names of the devices, and a text of the warning; none is expected where
# that is empty.
CUDA = [
    ("0", ["0"], ""),
    ("0,1", ["0", "1"], ""),
    ("1,0", ["1", "0"], ""),                       # the order is that of the list
    ("10", ["10"], ""),
    ("007", [], '"007" is not a device of nvidia.com/gpu'),   # 7
    ("01", ["1"], ""),
    ("+1", ["1"], ""),
    (" 0 , 1 ", ["0", "1"], ""),                   # CUDA skips blanks
    ("0,", ["0"], ""),
    ("", [], ""),
    ("NoDevFiles", [], ""),                        # of Slurm
    ("-1", [], f'entry 1 "-1" is negative; CUDA {CUT}: '),
    ("0,-1,1", ["0"], f'entry 2 "-1" is negative; CUDA {CUT}, and ignores the entry after it: '),
    ("0,9,1,10", ["0"], f'entry 2 "9" is not a device of nvidia.com/gpu; CUDA {CUT}, and ignores '
                        'the 2 entries after it'),
    ("9", [], 'entry 1 "9" is not a device'),
    ("0,,1", ["0"], 'entry 2 "" is empty'),
    (",", [], 'entry 1 "" is empty'),
    ("  ", [], 'entry 1 "  " is empty'),
    ("0-3", ["0"], 'entry 1 "0-3" is read as 0, as by CUDA: write each index'),
    ("1gpu,0", ["1", "0"], 'entry 1 "1gpu" is read as 1'),
    ("0 1", ["0"], 'entry 1 "0 1" is read as 0'),
    ("0\x1b[2J,1", ["0", "1"], r'entry 1 "0\x1b[2J" is read as 0'),
    ("\x01", [], r'entry 1 "\x01" has a character that is not printable'),
    ("\x7f", [], r'entry 1 "\x7f" has a character that is not printable'),
    ("0,0", [], "; CUDA then sees no device at all"),
    ("0,1,+0", [], 'entry 3 "+0" names the same GPU as an entry before it'),
    ("0,-1,0", ["0"], CUT),                        # the list ends before the repetition
    ("99999999999999999999", [], "is too large"),
    ("4294967295", [], "is not a device"),
    ("all", [], "inject KIND=all"),
    ("none", [], "is neither an index nor a UUID"),
    (A, [A], ""),
    ("GPU-8932f937", [A], ""),
    ("GPU-8932F", [A], ""),
    (f"{A},{B}", [A, B], ""),
    ("GPU-8932", [], f"is the beginning of {B}, {A}; CUDA {CUT}: write more of the UUID"),
    ("GPU-", [], "is neither an index nor a UUID"),
    ("GPU-xyz", [], "is neither an index nor a UUID"),
    ("gpu-8932f937", [], "is neither an index nor a UUID"),  # only in capitals
    ("GPU-ffff", [], 'entry 1 "GPU-ffff" is not a device'),
    (f"{A},{A}", [], "sees no device at all"),
    (f"{A},GPU-8932f", [], "sees no device at all"),
    (f"0,{A}", ["0"], "is not an index, as entry 1"),
    (f"{A},1", [A], "is not a UUID, as entry 1"),
    (MIG, [MIG], ""),
    ("MIG-d184", [MIG], ""),
    ("MIG-GPU-3eb79704/13/0", ["GPU-3eb79704:gi13:ci0"], ""),
    ("MIG-GPU-3eb7/13/0", ["GPU-3eb79704:gi13:ci0"], ""),
    ("MIG-GPU-3eb79704/1/0", [], "is not a device"),
    *((text, [], "is neither an index nor a UUID")
      for text in ("MIG-GPU-3eb79704/13", "MIG-GPU-3eb79704/13/x", "MIG-GPU-xyz/13/0",
                   "MIG-GPU-3eb79704/13/0/")),
    (f"0,{MIG}", ["0"], "is not an index, as entry 1"),
    (f"{MIG},0", [MIG], "is not of MIG, as entry 1"),
    ("MIG-GPU-3eb79704/../0", [], "is neither an index nor a UUID"),
]
ROCR = [
    ("0,2", ["0", "2"], ""),
    ("0x10", ["16"], ""),                          # numbers as in C
    ("+2", ["2"], ""),
    ("GPU-deadz", [], "is neither an index nor a UUID"),
    ("010", ["8"], ""),
    ("08", [], "is neither an index nor a UUID"),
    ("0a", [], "is neither an index nor a UUID"),
    ("GPU-DEADBEEFDEADBEEF", ["deadbeefdeadbeef"], ""),
    ("gpu-deadb", ["deadbeefdeadbeef"], ""),
    ("GPU-DEAD", [], "is the beginning of deadbeefdeadbeef, deadc0dedeadc0de"),
    ("GPU-DEADBEEFDEADBEEF0", [], "is neither an index nor a UUID"),
    ("2,0,2,8", ["2", "0"], f"; ROCr {CUT}, and ignores the entry after it"),
    ("0,GPU-deadc0de", ["0", "deadc0dedeadc0de"], ""),
    ("0,-1", ["0"], "is negative"),
    ("", [], ""),
]
HIP = [
    ("0,2", ["0", "2"], ""),
    ("0,02", ["0"], 'entry 2 "02" is neither'),
    ("0, 2", ["0"], 'entry 2 " 2" has blanks'),
    ("0,0,2", ["0", "2"], "HIP ignores it"),
    ("-1", [], "is negative"),
    ("GPU-deadbeefdeadbeef", ["deadbeefdeadbeef"], ""),
    ("GPU-dead", [], "is neither"),
    ("GPU-deadbeefdeadbeeg", [], "is neither"),
]
SLURM = [
    ("0", ["0"]), ("0,1", ["0", "1"]), ("0-1", ["0", "1"]), ("10,0-1", ["10", "0", "1"]),
    ("1-1", ["1"]), ("", []), ("00", ["0"]),
]
SLURM_FAULTS = [
    ("1-", 'entry 1 "1-" is neither a number nor a range: write numbers such as 0,1 or 0-3'),
    ("-1", 'entry 1 "-1" is neither'),
    ("5-2", 'entry 1 "5-2" ends before it begins: write 2-5'),
    ("0,,1", 'entry 2 "" is neither'),
    ("0,", 'entry 2 "" is neither'),
    (" 0", 'entry 1 " 0" is neither'),
    ("0,1,0-1", 'entry 3 "0-1" repeats 0'),
    ("0-1-2", "is neither"),
    ("0\n", r'entry 1 "0\n" is neither'),
    ("99999999999", "is too large"),
    ("0-4294967295", "is too large"),
    ("0-99999999999", "is too large"),
    ("0-1024", "more than 1024 numbers"),
    ("0-999999999", "more than 1024 numbers"),
    ("0,0x1", 'entry 2 "0x1" is neither'),
    (A, "is neither"),
    ("7", 'no device "7"'),
    ("0,2", 'entry 2 "2" is a GPU that is divided into parts, such as nvidia.com/gpu=2:0: name'),
]


def spec(kind, devices):
    return {"cdiVersion": "0.6.0", "kind": kind, "devices": [
        {"name": name, "containerEdits": {"env": [f"DEVICE={name}"]}} for name in devices]}


class Folder(CdiCase):
    def setUp(self):
        super().setUp()
        self.options = ("-d", self.path("specs"))
        for kind, devices in SPECS.items():
            self.put(f"specs/{kind.replace('/', '-')}.json", json.dumps(spec(kind, devices)))

    def run_cdi(self, *args, expect=0, **variables):
        """Runs cdi with these variables and no others of GPUs. Returns what it prints."""
        env = {key: value for key, value in os.environ.items()
               if not re.search("VISIBLE_DEVICES|^SLURM", key)}
        return super().run_cdi(*args, expect=expect, env={**env, **variables})


class Names(Folder):
    def check(self, prefix, rows, variable, source):
        for text, names, said in rows:
            expected = "".join(f"{prefix}{name}\n" for name in names)
            for where in (variable, "--value"):
                args = []
                if where == "--value":
                    args = ["--value=" + text] if text.startswith("-") else ["--value", text]
                with self.subTest(text=text, where=where):
                    out, err = self.run_cdi("names", "--from", source, *args,
                                            **({} if args else {variable: text}))
                    self.assertEqual(out, expected, err)
                    self.assertIn(said, err)
                    if said:
                        self.assertIn(f"cdi: warning: {where}: entry ", err)
                    self.assertEqual(err == "", said == "")

    def test_cuda(self):
        self.check(NV, CUDA, "CUDA_VISIBLE_DEVICES", "cuda")

    def test_rocr(self):
        self.check(AMD, ROCR, "ROCR_VISIBLE_DEVICES", "rocr")

    def test_hip(self):
        self.check(AMD, HIP, "HIP_VISIBLE_DEVICES", "hip")

    def test_slurm(self):
        for text, names in SLURM:
            with self.subTest(text):
                out, err = self.run_cdi("names", "--from", "slurm", "--kind", "nvidia.com/gpu",
                                        SLURM_STEP_GPUS=text, SLURM_JOB_GPUS="5")
                self.assertEqual((out, err), ("".join(f"{NV}{name}\n" for name in names), ""))

    def test_a_fault_in_a_list_of_slurm_is_an_error(self):
        for text, said in SLURM_FAULTS:
            with self.subTest(text):
                _, err = self.run_cdi("names", "--from", "slurm", "--kind", "nvidia.com/gpu",
                                      expect=1, SLURM_JOB_GPUS=text)
                self.assertIn(said, err)
                self.assertIn("cdi: error: ", err)
                if "entry" in said:
                    self.assertIn("SLURM_JOB_GPUS: entry ", err)

    def test_a_job_without_gpus_has_no_names(self):
        self.assertEqual(self.run_cdi("names", "--from", "slurm", SLURM_JOB_ID="7"), ("", ""))
        _, err = self.run_cdi("names", "--from", "slurm", expect=1, SLURM_JOB_ID="7",
                              SLURM_GPUS_ON_NODE="2")
        self.assertIn("SLURM_GPUS_ON_NODE is \"2\": name the device files", err)

    def test_a_variable_that_is_not_set_is_an_error(self):
        for source, said in (("cuda", "CUDA_VISIBLE_DEVICES is not set, which means all GPUs: set"),
                             ("rocr", "ROCR_VISIBLE_DEVICES is not set"),
                             ("hip", "HIP_VISIBLE_DEVICES is not set"),
                             ("slurm", "neither SLURM_STEP_GPUS nor SLURM_JOB_GPUS is set: run")):
            self.assertIn(said, self.run_cdi("names", "--from", source, expect=1)[1])
        self.assertIn("is empty, which HIP takes for all GPUs",
                      self.run_cdi("names", "--from", "hip", expect=1, HIP_VISIBLE_DEVICES="")[1])

    def test_the_only_kind_of_gpus_is_that_of_slurm(self):
        _, err = self.run_cdi("names", "--from", "slurm", "--value", "0", expect=1)
        self.assertIn("amd.com/gpu, index.com/gpu, nvidia.com/gpu, uuid.com/gpu: ", err)
        for kind in list(SPECS)[:3]:
            os.unlink(self.path(f"specs/{kind.replace('/', '-')}.json"))
        self.put("specs/more.json", json.dumps(spec("index.com/gpu", ["1"])))
        self.put("specs/nic.json", json.dumps(spec("index.com/nic", ["0"])))
        self.assertEqual(self.run_cdi("names", "--from", "slurm", "--value", "0")[0],
                         "index.com/gpu=0\n")
        shutil.rmtree(self.path("specs"))
        os.mkdir(self.path("specs"))
        self.assertIn("no spec has a device of a kind such as",
                      self.run_cdi("names", "--from", "slurm", "--value", "0", expect=1)[1])

    def test_numbers_that_count_from_0_in_a_job_are_refused(self):
        job = {"SLURM_JOB_GPUS": "1,10"}
        for source, name in (("cuda", "CUDA"), ("rocr", "ROCR"), ("hip", "HIP")):
            variable = f"{name}_VISIBLE_DEVICES"
            _, err = self.run_cdi("names", "--from", source, expect=1, **job, **{variable: "0,1"})
            self.assertIn(f"{variable} and SLURM_JOB_GPUS differ", err)
            self.assertIn("use --from slurm", err)
        self.run_cdi("names", "--from", "cuda", SLURM_JOB_GPUS="", CUDA_VISIBLE_DEVICES="0,1")
        for text in ("1,10", A, "-1", ""):
            self.run_cdi("names", "--from", "cuda", **job, CUDA_VISIBLE_DEVICES=text)
        self.run_cdi("names", "--from", "cuda", "--value", "0,1", **job)

    def test_numbers_of_hip_in_the_list_of_rocr_are_refused(self):
        _, err = self.run_cdi("names", "--from", "hip", expect=1, HIP_VISIBLE_DEVICES="0",
                              ROCR_VISIBLE_DEVICES="2")
        self.assertIn("counts in the list of ROCR_VISIBLE_DEVICES", err)

    def test_names_that_do_not_resolve_are_errors(self):
        _, err = self.run_cdi("names", "--from", "cuda", "--kind", "none.com/gpu", "--value", "0,1",
                              expect=1)
        self.assertEqual(err.count('no spec of kind "none.com/gpu"'), 2)
        _, err = self.run_cdi("names", "--from", "cuda", "--kind", "uuid.com/gpu", "--value", "0",
                              expect=1)
        self.assertIn("no name of uuid.com/gpu is an index: write specs that have such names", err)
        for text, said in ((A, "--device-name-strategy=uuid"), (MIG, "cdi-prepare write --nvml`")):
            _, err = self.run_cdi("names", "--from", "cuda", "--kind", "index.com/gpu", "--value",
                                  text, expect=1)
            self.assertIn("no name of index.com/gpu is a UUID like it: write specs", err)
            self.assertIn(said, err)
        _, err = self.run_cdi("names", "--from", "cuda", "--value", "2", expect=1)
        self.assertIn("divided into parts, such as nvidia.com/gpu=2:0: ", err)
        self.run_cdi("names", "--from", "rocr", "--value", "1", expect=1)
        self.run_cdi("names", "--from", "rocr", "--value", "GPU-feedfeed", expect=1)

    def test_a_device_in_conflict_or_in_a_bad_file_is_an_error(self):
        self.put("specs/more.json", json.dumps(spec("nvidia.com/gpu", ["1"])))
        _, err = self.run_cdi("names", "--from", "cuda", "--value", "0,1", expect=1)
        self.assertIn('cannot resolve "nvidia.com/gpu=1": both', err)
        self.put("specs/more.json", '{"cdiVersion": "0.6.0", "kind": "nvidia.com/gpu", "x": 1}')
        _, err = self.run_cdi("names", "--from", "cuda", "--value", "0,9", expect=1)
        self.assertIn("unknown field", err)

    def test_sizes_are_bounded(self):
        many = ",".join(map(str, range(1025)))
        for text in (many, "0" * 65537, "," * 65537):
            for source in ("cuda", "rocr", "hip", "slurm"):
                _, err = self.run_cdi("names", "--from", source, "--kind", "nvidia.com/gpu",
                                      "--value", text, expect=1)
                self.assertIn("more than 65536 bytes or 1024 entries", err)
                self.assertLess(len(err), 1000)

    def test_output(self):
        args = ("names", "--from", "cuda", "--value", "1,0")
        self.assertEqual(self.run_cdi(*args, "-0")[0], f"{NV}1\0{NV}0\0")
        self.assertEqual(json.loads(self.run_cdi(*args, "-o", "json")[0]), {
            "version": 1, "variable": "CUDA_VISIBLE_DEVICES", "names": [f"{NV}1", f"{NV}0"]})
        out, err = self.run_cdi("names", "--from", "slurm", "--value", "", "-o", "json")
        self.assertEqual(json.loads(out), {"version": 1, "variable": "SLURM_STEP_GPUS",
                                           "names": []})
        out, err = self.run_cdi("names", "--from", "cuda", "--value=0,-1", "-o", "json")
        self.assertEqual(json.loads(err)["level"], "warning")
        _, err = self.run_cdi("names", "--from", "cuda", "--value", "2", "-o", "json", expect=1)
        self.assertEqual(json.loads(err)["level"], "error")

    def test_wrong_usage(self):
        for args in ((), ("--from", "opencl"), ("--from", "cuda", "--kind", "gpu"),
                     ("--from", "cuda", "--kind", "a.com/gpu=0")):
            self.run_cdi("names", *args, expect=2)


class Slurm(Folder):
    """examples/slurm, with a stand-in for crun, and without Slurm and enroot."""

    def setUp(self):
        super().setUp()
        self.put("bundle/config.json", '{"ociVersion": "1.0.2"}')
        self.programs = self.path("bin")
        self.put("bin/cdi", f'#!/bin/sh\nexec "{CDI}" "$@" -d "{self.folder}/only"\n')
        self.put("bin/crun", f'#!/bin/sh\necho "$@" >> "{self.folder}/crun.log"\n')
        for name in os.listdir(self.programs):
            os.chmod(os.path.join(self.programs, name), 0o755)
        self.put("only/gpu.json", json.dumps(spec("nvidia.com/gpu", ["0", "1"])))
        text = (PROJECT / "examples/slurm/oci.conf").read_text(encoding="utf-8")
        self.lines = dict(re.findall(r'^#?(\w+)="([^"]*)"$', text, re.M))  # no quotes inside

    def run_line(self, name, **variables):
        """Runs a line of oci.conf as slurmstepd does. Returns its status and the variables that
        the container has."""
        values = {"b": f"{self.folder}/bundle", "e": f"{self.folder}/environment", "n": "node",
                  "u": "user", "U": "1000", "j": "7", "s": "0", "t": "1"}
        line = re.sub("%(.)", lambda found: values[found[1]], self.lines[name])
        line = line.replace("/usr/bin/", self.programs + "/")
        done = self.run_tool("/bin/sh", "-c", line, expect=None,
                             env={"PATH": "/usr/bin:/bin", **variables})
        config = json.loads(self.get("bundle/config.json"))
        return done.returncode, config.get("process", {}).get("env", [])

    def crun_log(self):
        return self.get("crun.log") if "crun.log" in self.files(".") else ""

    def test_the_run_of_a_step_with_gpus(self):
        self.assertEqual(self.run_line("RunTimeRun", SLURM_STEP_GPUS="1", SLURM_JOB_GPUS="0,1"),
                         (0, ["DEVICE=1"]))
        self.assertEqual(self.crun_log(), "--rootless=true --root=/run/user/1000/ run --bundle "
                                          f"{self.folder}/bundle node.user.7.0.1\n")

    def test_the_run_of_a_step_without_gpus(self):
        self.assertEqual(self.run_line("RunTimeRun", SLURM_JOB_ID="7"), (0, []))
        self.assertIn(" run ", self.crun_log())

    def test_a_container_without_its_gpus_does_not_run(self):
        for gpus in ("5", "x"):
            status, env = self.run_line("RunTimeRun", SLURM_STEP_GPUS=gpus)
            self.assertNotEqual(status, 0)
            self.assertEqual((env, self.crun_log()), ([], ""))

    def test_create_reads_the_file_of_variables(self):
        for text, env in (("A=1\n", []), ("SLURM_JOB_GPUS=0\n", ["DEVICE=0"]),
                          ("SLURM_JOB_GPUS=0,1\nSLURM_STEP_GPUS=1\n", ["DEVICE=1"])):
            self.put("bundle/config.json", "{}")
            self.put("environment", text)
            self.assertEqual(self.run_line("RunTimeCreate"), (0, env))
        self.assertIn(" create --bundle ", self.crun_log())

    @unittest.skipUnless(shutil.which("jq") and shutil.which("bash"), "needs jq and bash")
    def test_the_hook_of_enroot(self):
        edits = {"env": ["A=1", "B=x y"], "mounts": [
            {"hostPath": "/etc/hostname", "containerPath": "/a b", "options": ["ro", "bind"]},
            {"hostPath": "/etc", "containerPath": "/e", "type": "bind", "options": ["rbind"]}],
            "deviceNodes": [{"path": "/dev/gpu", "hostPath": "/dev/null"}],
            "hooks": [{"hookName": "createContainer", "path": "/bin/true"}]}
        self.put("only/gpu.json", json.dumps({
            "cdiVersion": "0.6.0", "kind": "nvidia.com/gpu",
            "devices": [{"name": "0", "containerEdits": edits}]}))

        def run_hook(**variables):
            files = {name: self.put(name, "") for name in ("ENROOT_ENVIRON", "ENROOT_MOUNTS")}
            done = self.run_tool("bash", PROJECT / "examples/slurm/50-cdi.sh", expect=None, env={
                "PATH": f"{self.programs}:{os.environ['PATH']}", **files, **variables})
            return done.returncode, *map(self.get, files), done.stderr

        status, env, mounts, err = run_hook(SLURM_JOB_ID="7", SLURM_STEP_GPUS="0")
        self.assertEqual((status, env), (0, "A=1\nB=x y\n"), err)
        self.assertEqual(mounts, "/dev/null /dev/gpu none x-create=file,bind,rw,nosuid,noexec,"
                                 "private\n/etc/hostname /a\\040b none x-create=file,ro,bind\n"
                                 "/etc /e none x-create=dir,rbind\n")
        self.assertIn("these edits are left out", err)
        self.assertEqual(run_hook(), (0, "", "", ""))
        self.assertEqual(run_hook(SLURM_JOB_ID="7"), (0, "", "", ""))
        self.assertEqual(run_hook(SLURM_JOB_ID="7", SLURM_STEP_GPUS="4")[:3], (1, "", ""))


if __name__ == "__main__":
    unittest.main(verbosity=2)
