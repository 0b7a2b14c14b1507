#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What `cdi-prepare` and `cdi` advise is true: each command that they name is run as it is printed,
and removes the fault, for each version in the table of engines. usage: advice_test.py CDI_PREPARE
CDI"""
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import unittest

import node_trees
from tree_case import NodeTest, ToolCase

CDI_PREPARE, CDI = map(os.path.abspath, sys.argv[1:3])
del sys.argv[1:3]

# The program and the package of each engine.
ENGINES = {"containerd": ("containerd", "containerd"), "cri-o": ("crio", "cri-o"),
           "docker": ("dockerd", "docker.io"), "podman": ("podman", "podman")}


NAMES = ("aa", "bb", "cc", "dd", "ee", "ff", "gg")


def spec(version, *edits, kind="v.com/gpu", names=NAMES, top=""):
    """A spec with a device for each edits."""
    devices = "".join(f"- name: '{name}'\n  containerEdits: {one}\n"
                      for name, one in zip(names, edits or ("{env: [A=1]}",)))
    return f"cdiVersion: {version}\nkind: {kind}\n{top}devices:\n{devices}"


NODE = "{path: /dev/a, hostPath: /dev/b}"
RDT = "{intelRdt: {closID: c, %s: true}}"
SPECS = {
    "plain.yaml": spec("0.3.0"),
    "newer.yaml": spec("1.1.0"),
    "digit.yaml": spec("0.5.0", "{env: [A=1]}", "{env: [A=2]}", names=("0a", "bb")),
    "digits.yaml": spec("0.5.0", names=("00",)),
    "host.yaml": spec("0.5.0", "{deviceNodes: [%s]}" % NODE),
    "type.yaml": spec("0.4.0", "{mounts: [{hostPath: /a, containerPath: /b, type: tmpfs}]}"),
    "needless.yaml": spec("1.0.0", "{mounts: [{hostPath: /a, containerPath: /b, type: bind, "
                                   "options: [bind]}]}"),
    "annotated.yaml": spec("0.6.0", top="annotations: {a.b/c: d}\n"),
    "odd key.yaml": spec("0.6.0", top="annotations: {a b: d, '': e}\n"),
    "large.yaml": spec("0.6.0", top="annotations: {a: %s}\n" % ("x" * 300000)),
    "dotted.yaml": spec("0.6.0", kind="v.com/c.d"),
    "groups.yaml": spec("0.7.0", "{env: [A=1], additionalGids: [7]}"),
    "only-groups.yaml": spec("0.7.0", "{additionalGids: [7]}"),
    "monitored.yaml": spec("0.7.0", RDT % "enableCMT"),
    "monitoring.yaml": spec("1.1.0", RDT % "enableMonitoring"),
    "net.yaml": spec("1.1.0", "{env: [A=1], netDevices: [{hostInterfaceName: e, name: e}]}"),
    "many.yaml": spec("1.1.0", *["{env: [A=1], additionalGids: [%d]}" % i for i in range(1, 8)]),
    "two.yaml": spec("0.3.0") + "---\nmore: 1\n",
    "two-newer.yaml": spec("1.1.0") + "---\nmore: 1\n",
    "case.yaml": spec("0.7.0", "{ENV: [A=1]}"),
    "it's yaml.json": spec("0.7.0"),
    "escape.json": json.dumps({"cdiVersion": "0.6.0", "kind": "v.com/gpu", "devices": [
        {"name": "aa", "containerEdits": {"env": ["A=/"]}}]}).replace("A=/", "A=\\/"),
    "root.yaml": spec("0.7.0", "{intelRdt: {closID: /}}"),
    "none.yaml": spec("0.3.0", "{deviceNodes: [{path: /dev/a, permissions: none}]}"),
    "class.yaml": spec("0.3.0", kind="v.com/c"),
    "letter.yaml": spec("0.5.0", names=("a",)),
    "digit-none.yaml": spec("0.5.0", "{deviceNodes: [{path: /dev/a, permissions: none}]}",
                            "{env: [A=1]}", names=("0a", "bb")),
    "name.yaml": spec("0.6.0", "{env: ['A B=1']}"),  # its warning is not about the text
    "owned.yaml": spec("0.7.0", top="annotations: {cdi-publisher/owner: me}\n"),
    "commented.yaml": "# cdi-publisher/owner: me\n" + spec("0.5.0", "{Env: [A=1]}"),
    "owned.json": json.dumps({"cdiVersion": "0.7.0", "kind": "v.com/gpu",
                              "annotations": {"cdi-publisher/owner": "me"}, "devices": [
                                  {"name": "aa", "containerEdits": {"env": ["A=1"]}}]}),
}


PATH = os.pathsep.join([str(pathlib.Path(CDI).parent), str(pathlib.Path(CDI_PREPARE).parent),
                        os.environ["PATH"]])


def run(*command):
    return subprocess.run([str(word) for word in command], text=True, capture_output=True,
                          timeout=30, check=False)


def commands_in(text):
    """The commands that a text advises."""
    return re.findall(r"`(cdi(?:-prepare|-pod)? [^`]*)`", text)


def run_as_printed(command, folder):
    return subprocess.run(["sh", "-c", command], text=True, capture_output=True, timeout=30,
                          check=False, cwd=folder, env={**os.environ, "PATH": PATH})


def engines():
    """The versions of the table from which on an engine reads another version."""
    table = run(CDI, "convert", "--help").stdout
    for name, rows in re.findall(r"^  ([a-z-]+): (\d[^:]*), known\s+to", table, re.M):
        for version in re.findall(r"since\s+([\d.]+)", rows):
            if name in ENGINES:
                yield name, version


class Host:
    """A host with an engine and spec files."""

    def __init__(self, root, engine, version, specs):
        self.root, self.engine = pathlib.Path(root), f"{engine} {version}"
        program, package = ENGINES[engine]
        self.put(f"usr/bin/{program}", "")
        self.put("var/lib/dpkg/status",
                 f"Package: {package}\nStatus: install ok installed\nVersion: {version}\n")
        self.put("etc/docker/daemon.json", '{"features": {"cdi": true}}')
        self.put("etc/containerd/config.toml",
                 'version = 2\n[plugins."io.containerd.grpc.v1.cri"]\nenable_cdi = true\n')
        for name, text in specs.items():
            self.put(f"etc/cdi/{name}", text)

    def put(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def findings(self):
        """The advice of doctor by spec file, each about this engine."""
        found = {}
        done = run(CDI_PREPARE, "doctor", "--root", self.root, "-o", "json")
        for finding in json.loads(done.stdout)["findings"]:
            words = re.match(r"(refuses|may refuse or read differently:) /etc/cdi/(.*?): ",
                             finding["what"])
            if words and finding["about"] == self.engine:
                name = re.sub(r"(:\d+)+$", "", words[2])
                found[name] = (words[1] == "refuses", finding["advice"])
        return found


class Advice(ToolCase):
    def setUp(self):
        super().setUp()
        self.place = self.folder

    def why_in(self, folder, engine, name):
        done = run(CDI, "-d", folder, "why", "--no-host", "--for", engine, "-o", "json", name)
        (record,) = json.loads(done.stdout)
        return record

    def why(self, engine, path):
        """`cdi why` about a device of a file that is alone in its directory."""
        folder = self.place / "alone"
        folder.mkdir(exist_ok=True)
        (folder / path.name).write_bytes(path.read_bytes())
        kind = {"dotted.yaml": "v.com/c.d", "class.yaml": "v.com/c"}.get(path.name, "v.com/gpu")
        name = {"digits.yaml": "00", "digit.yaml": "bb", "digit-none.yaml": "bb",
                "letter.yaml": "a"}.get(path.name, "aa")
        record = self.why_in(folder, engine, f"{kind}={name}")
        (folder / path.name).unlink()
        return record

    def owned(self, folder):
        """The files of an owner, by name."""
        done = run(CDI, "-d", folder, "gc", "--owner", "me", "--dry-run")
        return sorted(pathlib.Path(line.split(": ")[0]).name for line in done.stdout.splitlines())

    def check_command(self, path, command):
        """Runs a command that converts a file. Each file is as before when it is refused."""
        old = path.read_bytes()
        if "--lossy " in command:
            done = run_as_printed(command.replace("--lossy ", ""), self.place)
            self.assertEqual((done.returncode, path.read_bytes()), (1, old))
        done = run_as_printed(command, self.place)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotEqual(path.read_bytes(), b"")
        self.assertEqual(path.with_name(path.name + ".bak").read_bytes(), old)

    def check_file(self, host, engine, name, refused, advice):
        path = host.root / "etc/cdi" / name
        record = self.why(engine, path)
        self.assertEqual(record["resolved"], not refused)
        self.assertEqual(record["advice"].split("`")[0].lower(), advice.split("`")[0].lower()
                         if "`" in advice else advice.rstrip(".").lower())
        if newer := re.search(r"pdate ([a-z-]+) to ([\d.]+) or newer", advice):
            self.assertTrue(self.why(f"{newer[1]}@{newer[2]}", path)["resolved"])
        commands = commands_in(advice)
        if not commands:
            done = run(CDI, "convert", "--in-place", "--lossy", "--for", engine, path)
            self.assertIn(done.returncode, (1, 2))  # 2: the engine reads no known version
        for command in commands:
            self.check_command(path, command)

    def test_the_advised_command_works_for_each_engine(self):
        advised, checked = 0, list(engines())
        self.assertGreater(len(checked), 20)
        for name, version in checked:
            host = Host(self.place / f"{name}-{version}", name, version, SPECS)
            owned = self.owned(host.root / "etc/cdi")
            self.assertEqual(owned, ["commented.yaml", "owned.json", "owned.yaml"])
            found = host.findings()
            for file in SPECS:
                with self.subTest(engine=f"{name}@{version}", file=file):
                    if file in found:
                        advised += 1
                        self.check_file(host, f"{name}@{version}", file, *found[file])
                    else:
                        record = self.why(f"{name}@{version}", host.root / "etc/cdi" / file)
                        self.assertTrue(record["resolved"])
                        self.assertNotIn("warnings", record)
            left = host.findings()
            self.assertEqual([file for file, (_, advice) in left.items() if "`" in advice], [])
            self.assertEqual(self.owned(host.root / "etc/cdi"), owned)
        self.assertGreater(advised, 200)

    def test_the_command_is_safe_whatever_the_path_is(self):
        folder = self.place / "a b; touch x '$(touch y)' \"\\n\" > z"
        folder.mkdir()
        for name in ("plain", "a; touch w", "new\nline", "tab\t\x1b[31m", "`touch v`", "-rf", "100%s",
                     "\u202e\u00e9", "it's $HOME"):
            with self.subTest(name=name):
                path = folder / f"{name}.yaml"
                path.write_text(spec("0.7.0"), encoding="utf-8")
                record = self.why_in(folder, "podman@4.3.1", "v.com/gpu=aa")
                (command,) = commands_in(record["advice"])
                self.check_command(path, command)
                self.assertTrue(self.why_in(folder, "podman@4.3.1", "v.com/gpu=aa")["resolved"])
                for file in folder.iterdir():
                    file.unlink()
        path = folder / "bytes.yaml"
        os.rename(self.write(folder / "x", spec("0.7.0")), os.fsencode(folder) + b"/\xff.yaml")
        done = run(CDI, "-d", folder, "why", "--no-host", "--for", "podman@4.3.1", "v.com/gpu=aa")
        (command,) = commands_in(done.stdout)
        self.assertEqual(run_as_printed(command, self.place).returncode, 0)
        self.assertTrue(self.why_in(folder, "podman@4.3.1", "v.com/gpu=aa")["resolved"])
        self.assertEqual(os.listdir(self.place), [folder.name])
        self.assertEqual(path.exists(), False)

    @staticmethod
    def write(path, text):
        path.write_text(text, encoding="utf-8")
        return path

    def test_a_relative_path_is_no_option(self):
        (self.place / "-d").mkdir()
        self.write(self.place / "-d/v.yaml", spec("0.7.0"))
        done = run_as_printed("cdi --spec-dir=-d why --no-host --for podman@4.3.1 v.com/gpu=aa",
                              self.place)
        (command,) = commands_in(done.stdout)
        self.assertEqual(run_as_printed(command, self.place).returncode, 0, command)


class OurSpecs(NodeTest):
    """Files of cdi-prepare on a node with two GPUs."""

    def setUp(self):
        super().setUp()
        node_trees.TREES["nv2"](str(self.root), False)
        self.put("usr/bin/podman")
        self.put("var/lib/dpkg/status",
                 "Package: podman\nStatus: install ok installed\nVersion: 4.3.1\n")

    def write(self, *more):
        done = run(CDI_PREPARE, "write", "--root", self.root, *more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return pathlib.Path(done.stdout.splitlines()[0])

    def advice(self, *more):
        """The advice of doctor about specs and engines with a command, by the fact."""
        done = run(CDI_PREPARE, "doctor", "--root", self.root, "-o", "json", *more)
        return {finding["what"]: finding["advice"]
                for finding in json.loads(done.stdout)["findings"]
                if finding["advice"] and commands_in(finding["advice"])}

    def follow(self, advice):
        for command in commands_in(advice):
            done = run_as_printed(command, self.place)
            self.assertNotIn(done.returncode, (2, 127), command + done.stderr)
            self.assertEqual((done.returncode, done.stderr.count("error")), (0, 0), done.stderr)

    def test_a_missing_spec_is_written(self):
        (advice,) = self.advice().values()
        self.follow(advice)
        self.assertEqual(self.advice(), {})

    def test_a_spec_that_the_engine_refuses_is_written_again(self):
        path = self.write("--max-version", "0.6.0")
        (advice,) = self.advice().values()
        self.assertNotIn("cdi convert", advice)
        self.follow(advice)
        self.assertEqual(self.advice(), {})
        self.assertTrue(path.read_text().startswith("# cdi-publisher/owner: cdi-prepare\n"))

    def test_two_faults_of_a_spec_are_repaired_by_one_command(self):
        path = self.write("--max-version", "0.6.0")
        path.write_text(path.read_text().replace("/dev/nvidia0", "/dev/nvidia7"))
        advices = self.advice().values()
        self.assertEqual(len(advices), 2)  # on the engine that refuses it, and on the lost node
        for advice in advices:
            self.assertNotIn("--max-version", advice)
            self.follow(advice)
        self.assertEqual(self.advice(), {})

    def test_why_names_the_command_of_the_owner(self):
        path = self.write("--max-version", "0.6.0", "--profile", "compute")
        name = run(CDI, "-d", path.parent, "devices").stdout.splitlines()[0]
        done = run(CDI, "why", "--root", self.root, "--for", "podman@4.3.1", name)
        (command,) = commands_in(done.stdout)
        self.assertEqual(command, f"cdi-prepare write --root {self.root} --for podman@4.3.1 "
                                  "--profile compute")
        self.follow(done.stdout)
        done = run(CDI, "why", "--root", self.root, "--for", "podman@4.3.1", name)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_why_names_the_command_for_a_container(self):
        path = self.write("--profile", "compute")
        name = run(CDI, "-d", path.parent, "devices").stdout.splitlines()[0]
        config = self.place / "config.json"
        config.write_text('{"ociVersion": "1.0.2"}', encoding="utf-8")
        self.assertEqual(run(CDI, "-d", path.parent, "inject", "--in-place", config, name).stderr,
                         "")
        table = self.path("dev.tab")
        table.write_text(table.read_text().replace("/dev/nvidia0 c 195 0", "/dev/nvidia0 c 195 7"))
        done = run(CDI, "why", "--root", self.root, "--bundle", config)
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertIn(f"cdi-prepare write --root {self.root} --profile compute",
                      commands_in(done.stdout))

    def test_a_converted_file_still_belongs_to_its_owner(self):
        path = self.write("--max-version", "0.6.0")
        for target in (("--for", "podman@4.3.1"), ("--to", "0.7.0"), ("--to", "0.5.0")):
            done = run(CDI, "convert", "--in-place", "--lossy", *target, path)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.write()
        self.assertEqual(self.advice(), {})

    def test_an_odd_directory_is_one_word(self):
        out = self.root / "a b; touch x $(touch y) 'z'"
        path = self.write("--output-dir", out, "--max-version", "0.5.0")
        path.write_text(path.read_text().replace("/dev/nvidia0", "/dev/nvidia7"))
        (advice,) = self.advice("--spec-dir", out).values()
        self.assertEqual(len(commands_in(advice)), 2)  # write, diff
        self.follow(advice)
        self.assertEqual(self.advice("--spec-dir", out), {})
        self.assertEqual(os.listdir(self.place), ["node"])

    def test_nothing_out_of_the_root_is_written(self):
        outside = self.place / "outside"
        outside.mkdir()
        self.path("etc/cdi").symlink_to(outside)  # on that host, it is below its root
        inside = self.root / str(outside).lstrip("/")
        inside.mkdir(parents=True)
        (inside / "v.yaml").write_text(spec("0.7.0"))
        self.write("--max-version", "0.5.0")
        (advice,) = self.advice().values()
        self.follow(advice)
        self.assertIn("0.5.0", (inside / "v.yaml").read_text())
        self.assertEqual(os.listdir(outside), [])

    def test_a_file_outside_the_root_is_not_converted(self):
        outside = self.place / "spec.yaml"
        outside.write_text(spec("0.6.0"))
        inside = self.root / str(outside).lstrip("/")
        inside.parent.mkdir(parents=True)
        self.path("etc/cdi").mkdir(parents=True)
        link = self.path("etc/cdi/a.yaml")
        link.symlink_to(outside)
        why = (CDI, "why", "--root", self.root, "--for", "podman@4.3.1", "v.com/gpu=aa")
        for advice in (lambda: run(*why).stdout, lambda: " ".join(
                text for what, text in self.advice().items() if "a.yaml" in what)):
            inside.write_text(spec("0.7.0"))
            self.follow(text := advice())
            self.assertEqual(len(commands_in(text)), 1, text)
            self.assertIn("0.5.0", inside.read_text())
            self.assertEqual(outside.read_text(), spec("0.6.0"))
            self.assertTrue(link.is_symlink())

    def test_a_link_to_a_file_of_another_name_is_converted(self):
        self.path("etc/cdi").mkdir(parents=True)
        self.path("etc/data").write_text(spec("0.7.0"))
        link = self.path("etc/cdi/a.yaml")
        link.symlink_to("../data")
        (advice,) = (text for what, text in self.advice().items() if "a.yaml" in what)
        self.follow(advice)
        self.assertIn("0.5.0", self.path("etc/data").read_text())
        self.path("etc/data").write_text(spec("0.7.0"))
        link.unlink()
        link.symlink_to("/etc/data")  # from here, it leads out
        self.assertFalse([text for what, text in self.advice().items() if "a.yaml" in what])
        done = run(CDI_PREPARE, "doctor", "--root", self.root)
        said = ('no command here converts it, because the link "/etc/cdi/a.yaml" leads out of '
                f'"{self.root}" from here, and the name of its target "/etc/data" has another extension')
        self.assertIn(said, done.stdout.replace("\n", " "))
        done = run(CDI, "why", "--root", self.root, "--for", "podman@4.3.1", "v.com/gpu=aa")
        self.assertIn(said, done.stdout)
        self.assertEqual(commands_in(done.stdout), [])

    def test_a_copy_is_converted_and_not_written_again(self):
        path = self.write("--max-version", "0.6.0")
        copies = self.place / "copies"
        copies.mkdir()
        name = run(CDI, "-d", path.parent, "devices").stdout.splitlines()[0]
        below = self.path("opt/copies")
        below.mkdir(parents=True)
        for folder, host in ((copies, ["--no-host"]), (copies, []), (below, ["--root", self.root]),
                             (copies, ["--root", self.root])):
            with self.subTest(folder=folder, host=host):
                copy = folder / f"copy{path.suffix}"
                copy.write_text(path.read_text())
                why = (CDI, "-d", folder, "why", *host, "--for", "podman@4.3.1", name)
                done = run(*why)
                self.assertEqual(done.returncode, 14, done.stderr)
                (command,) = commands_in(done.stdout)
                self.assertTrue(command.startswith("cdi convert --in-place --backup "), command)
                self.follow(done.stdout)
                self.assertEqual(run(*why).returncode, 0)
                self.assertEqual(sorted(os.listdir(folder)), [copy.name, copy.name + ".bak"])
                copy.unlink()
                (folder / f"{copy.name}.bak").unlink()
        done = run(CDI, "-d", path.parent, "why", "--root", self.root, "--for", "podman@4.3.1",
                   name)
        self.assertTrue(commands_in(done.stdout)[0].startswith("cdi-prepare write"), done.stdout)

    def test_relative_paths_and_roots_are_those_of_the_owner(self):
        path = self.write("--max-version", "0.6.0")
        name = run(CDI, "-d", path.parent, "devices").stdout.splitlines()[0]
        (self.place / "link").symlink_to("node")
        self.path("run/cdi").mkdir(parents=True, exist_ok=True)
        for options in (("why", "--root", "."), ("why", "--root", "../link/../link"),
                        ("-d", path.relative_to(self.root).parent, "why", "--root", ".")):
            done = self.run_tool(CDI, *options, "--for", "podman@4.3.1", name, expect=None,
                                 cwd=self.root)
            (command,) = commands_in(done.stdout)
            self.assertEqual(command,
                             f"cdi-prepare write --root {self.root.resolve()} --for podman@4.3.1")
        copies = self.place / "run/cdi"
        copies.mkdir(parents=True)
        (copies / path.name).write_text(path.read_text())
        done = run_as_printed(f"cdi -d run/cdi why --for podman@4.3.1 {name}", self.place)
        (command,) = commands_in(done.stdout)
        self.assertTrue(command.startswith("cdi convert "), command)

    def test_only_recorded_options_become_options(self):
        path = self.write("--max-version", "0.6.0", "--profile", "compute")
        text = path.read_text()
        self.assertIn("profile=compute", text)
        for words in ("force output-dir=x dry-run", "no=thing hooks=odd node-numbers=1",
                      "max-version=x", "max-version=0.1.0", "profile=all", "--force", "root=y"):
            path.write_text(text.replace("profile=compute", "profile=compute " + words))
            for advice in self.advice().values():
                for command in commands_in(advice):
                    self.assertRegex(command, fr"^cdi-prepare (write|diff) --root {self.root} "
                                              "--profile compute( --max-version 0.6.0)?$")

    def test_the_module_comes_before_the_spec(self):
        self.edit("proc/devices", "510 nvidia-uvm\n", "")
        (advice,) = self.advice().values()
        self.assertTrue(advice.startswith("Load the module: modprobe nvidia-uvm."), advice)
        self.edit("proc/devices", "Block", "510 nvidia-uvm\nBlock")
        self.follow(advice)
        self.assertEqual(self.advice(), {})

    def replace_gpu(self, index):
        """Puts another GPU in the place of one."""
        old = node_trees.NVIDIA_UUIDS[index]
        for path in self.path("proc").rglob("information"):
            path.write_text(path.read_text().replace(old, "GPU-ffffffff" + old[12:]))

    def advice_on_gpus(self):
        return {what: text for what, text in self.advice().items()
                if re.search("gpus was | (is|are) gone", what)}

    def check(self, *more):
        return run(CDI_PREPARE, "check", "--root", self.root, *more).returncode

    def test_a_spec_with_chosen_names_or_devices_is_that_of_its_gpus(self):
        for options in (("--kind", "acme.com/gpu"), ("--device", "1"), ("--device", "all"),
                        ("--kind", "acme.com/gpu", "--device", "0"),
                        ("--kind", "acme.com/gpu", "--max-version", "0.5.0"),
                        ("--kind", "nvidia.com/gpu", "--device", "nvidia.com/gpu=1")):
            with self.subTest(options=options):
                path = self.write(*options)
                self.assertEqual((self.check(*options), self.advice()), (0, {}))
                path.unlink()

    def test_a_replaced_gpu_is_noticed_whatever_the_options_were(self):
        for options in (("--kind", "acme.com/gpu"), ("--device", "1"), ("--device", "all"),
                        ("--kind", "acme.com/gpu", "--device", "1")):
            with self.subTest(options=options):
                path = self.write("--max-version", "0.6.0", *options)
                information = {file: file.read_text()
                               for file in self.path("proc").rglob("information")}
                self.replace_gpu(1)
                self.assertEqual(self.check("--max-version", "0.6.0", *options), 1)
                ((what, advice),) = self.advice_on_gpus().items()
                self.assertIn(f"{path.name}: gpus was ", what)
                self.assertIn(shlex.join(options), commands_in(advice)[0])
                self.follow(advice)
                self.assertEqual(self.advice(), {})
                self.assertEqual([file.name for file in path.parent.iterdir()], [path.name])
                path.unlink()
                for file, text in information.items():
                    file.write_text(text)

    def test_a_replaced_gpu_that_was_not_chosen_is_no_fault(self):
        options = ("--max-version", "0.6.0", "--device", "0")
        path = self.write(*options)
        self.assertIn("cdi-prepare/gpus", path.read_text())
        self.replace_gpu(1)
        self.assertEqual((self.check(*options), self.advice_on_gpus()), (0, {}))

    def test_a_chosen_gpu_that_is_gone_cannot_be_written_again(self):
        self.write("--max-version", "0.6.0", "--device", ",".join(node_trees.NVIDIA_UUIDS))
        self.replace_gpu(1)
        (advice,) = self.advice_on_gpus().values()
        self.assertIn(f"No device has the name {node_trees.NVIDIA_UUIDS[1]} any more", advice)
        self.assertEqual(commands_in(advice), [f"cdi-prepare detect --root {self.root}"])

    def test_a_spec_of_all_nodes_is_not_that_of_the_gpus(self):
        self.write("--kind", "management.nvidia.com/gpu")
        (what,) = self.advice()
        self.assertEqual(what, "no spec for nvidia.com/gpu")

    def test_a_missing_node_is_made(self):
        for out in ((), ("--output-dir", self.root / "etc/cdi")):
            with self.subTest(out=out):
                path = self.write("--profile", "compute", *out)
                table = self.path("dev.tab").read_text()
                self.path("dev.tab").write_text(re.sub("/dev/nvidia-uvm .*\n", "", table))
                ((what, advice),) = self.advice().items()
                self.assertIn('device node "/dev/nvidia-uvm" is missing', what)
                (command,) = commands_in(advice)
                self.assertTrue(command.startswith(f"cdi-prepare write --root {self.root} "
                                                   "--profile compute "), command)
                self.assertTrue(command.endswith(" --make-nodes"), command)
                done = run_as_printed(command.replace("--make", "--dry-run --make"), self.place)
                self.assertIn("would make /dev/nvidia-uvm c 510:0", done.stderr)
                self.path("dev.tab").write_text(table)
                path.unlink()

    def test_a_vendor_file_that_is_gone_is_not_in_the_command(self):
        file, device = self.place / "npu.toml", "/sys/devices/virtual/npu/npu0"
        file.write_text('kind = "acme.com/npu"\ndevices = "/dev/npu{index}"\n')
        tree = node_trees.Tree(self.root)
        tree.file(f"{device}/dev", "240:0\n")
        tree.link("/sys/dev/char/240:0", device)
        tree.file("/dev/npu0")
        before = self.path("dev.tab").read_text()
        self.path("dev.tab").write_text(before + "/dev/npu0 c 240 0 0666 0 0\n")
        self.edit("proc/devices", "\nBlock", "240 npu\n\nBlock")
        done = run(CDI_PREPARE, "write", "--root", self.root, "--vendor-file", file)
        self.assertIn("acme.com/npu=0", done.stdout, done.stderr)
        self.path("dev.tab").write_text(before)
        self.path("dev/npu0").unlink()
        (advice,) = self.advice().values()
        self.assertIn(f"--vendor-file {file}", advice)
        file.unlink()
        (advice,) = self.advice().values()
        self.assertNotIn("--vendor-file", advice)
        self.follow(advice.split(";")[0])
        self.assertEqual(self.advice(), {})

    def test_commands_of_other_messages_are_those_of_the_program(self):
        state = self.root / "state"
        done = run(CDI_PREPARE, "prepare", "--root", self.root, "--state-dir", state, "--claim",
                   "a", "--device", "none")
        (command,) = commands_in(done.stderr)
        self.assertEqual(command, f"cdi-prepare detect --root {self.root}")
        self.follow(done.stderr)
        for arguments in (["frob"], ["why", "--for", "podman"], ["inject", "--in-place", "-", "a"]):
            for command in commands_in(run(CDI, *arguments).stderr):
                with self.subTest(command=command):
                    self.assertEqual(run_as_printed(command, self.place).returncode, 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
