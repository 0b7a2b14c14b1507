#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The programs, commands and transcripts of the README and of docs/ do what the text says.

usage: readme_test.py CDI CDI_PREPARE CDI_POD INJECT OWN_TYPE PROJECT
"""
import base64
import collections
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest
import zlib

CDI, PREPARE, POD, INJECT, OWN_TYPE, PROJECT = (os.path.abspath(sys.argv.pop(1))
                                                for _ in range(6))
PROJECT = pathlib.Path(PROJECT)

sys.dont_write_bytecode = True
sys.path += [str(PROJECT / "tests/tools/prepare"), str(PROJECT / "bench")]
import node_trees  # noqa: E402  pylint: disable=wrong-import-position
import table  # noqa: E402  pylint: disable=wrong-import-position

README, TUTORIAL = "README.md", "docs/tutorial.md"
MAINTAINING = "docs/maintaining.md"  # its commands change the project
PAGES = {str(path.relative_to(PROJECT)): path.read_text(encoding="utf-8")
         for path in (PROJECT / "README.md", *sorted(PROJECT.glob("docs/*.md")))}
OTHER_PAGES = {name: (PROJECT / name).read_text(encoding="utf-8")
               for name in ("CONTRIBUTING.md", "CHANGELOG.md", "packaging/mainpage.md")}
FENCED = re.compile(r"^```(.*)\n((?s:.*?))^```$", re.M)
PROSE = {page: FENCED.sub("", text) for page, text in PAGES.items()
         if page not in (TUTORIAL, MAINTAINING)}
INDENTED = re.compile(r"(?:^    .*\n)+", re.M)

# Programs whose lines are not run, and why.
NOT_RUN = {
    "bwrap": "has a placeholder for a program; see run_test.py",
    "examples/demo.sh": "installs packages and builds everything",
    "tests/run.sh": "runs this test",
    "g++": "takes longer than all else here; Meson builds the same file",
    "meson": "builds everything, and installs it",
    "ninja": "builds a program",
    "systemctl": "changes the machine",
    "podman": "starts a container; see ways_test.py",
    "docker": "starts a container; see ways_test.py",
    "ctr": "starts a container; see ways_test.py",
    "nerdctl": "needs an engine that Debian does not have",
    "buildctl": "needs an engine that Debian does not have",
    "lxc": "needs a daemon",
    "apptainer": "needs a program that Debian does not have",
    "words=$(cdi": "starts a sandbox, as args_test.py does",
    "tests/c/abi_test.py": "changes the project",
}
if not importlib.util.find_spec("jsonschema"):
    NOT_RUN["python3"] = "this one has no jsonschema"

# What is on the host before the commands are run there.
POLICY = (PROJECT / "examples/policy.json").read_text(encoding="utf-8")
SPEC = """\
cdiVersion: 0.7.0
kind: vendor.com/gpu
devices:
- name: "0"
  containerEdits:
    env: [GPU=0]
"""
POD_UID = "33333333-0000-4000-8000-000000000001"
# What kubelet has written about a pod: a device of a plugin.
GIVEN = "var/lib/kubelet/device-plugins/kubelet_internal_checkpoint"
GIVEN_DEVICE = json.dumps({"Data": {"PodDeviceEntries": [{
    "PodUID": POD_UID, "ContainerName": "c", "ResourceName": "vendor.com/gpu",
    "DeviceIDs": {"-1": ["0"]}, "AllocResp": base64.b64encode(
        b"\x2a\x12\x0a\x10vendor.com/gpu=0").decode()}], "RegisteredDevices": {}}, "Checksum": 0})
# A claim for which the driver has prepared nothing, as the scheduler and kubelet write it.
CLAIM = json.dumps({
    "kind": "ResourceClaim", "metadata": {"name": "train-gpu", "namespace": "default", "uid": "u"},
    "status": {"allocation": {"devices": {"results": [
        {"request": "gpu", "driver": "gpu.example.com", "pool": "node1", "device": "gpu-0"}]}},
        "reservedFor": [{"resource": "pods", "name": "train", "uid": POD_UID}]}})
KNOWN_CLAIM = json.dumps({"ClaimInfoStateList": [{
    "ClaimUID": "u", "ClaimName": "train-gpu", "Namespace": "default", "PodUIDs": {POD_UID: {}},
    "DriverState": {"gpu.example.com": {"Devices": None}}}]})
FILES = {
    GIVEN: GIVEN_DEVICE,
    f"var/log/pods/default_train_{POD_UID}/c/0.log": "",
    "etc/cdi/vendor.yaml": SPEC,
    "my-vendor.yaml": SPEC,
    "my-vendor.json": json.dumps({
        "cdiVersion": "0.7.0", "kind": "vendor.com/gpu",
        "devices": [{"name": "0", "containerEdits": {"env": ["GPU=0"]}}]}),
    "config.json": '{"ociVersion": "1.0.2"}',
    "policy.json": POLICY,
    "npu.toml": 'kind = "acme.com/npu"\ndevices = "/dev/npu*"\n',
    "usr/lib/x86_64-linux-gnu/libcuda.so.570.195.03": "",
    "features.json": '{"ociVersionMax": "1.0.2-dev"}',
    "rootfs/.keep": "",
    "usr/bin/podman": "",
    "usr/bin/containerd": "",
    "usr/bin/dockerd": "",
    "var/lib/dpkg/status": "\n".join(
        f"Package: {package}\nStatus: install ok installed\nVersion: {version}\n"
        for package, version in (("podman", "5.4.0"), ("containerd", "2.0.5"),
                                 ("docker.io", "28.2.2"))),
}
TRANSCRIPT_FILES = {
    "etc/cdi/vendor.yaml": SPEC,
    "var/run/cdi/.keep": "",
    "config.json": json.dumps({"ociVersion": "1.0.2", "process": {"env": ["PATH=/bin"]}}, indent=2)
                   + "\n",
    "policy.json": POLICY,
    "gpu.yaml": """\
cdiVersion: 0.7.0
kind: vendor.com/gpu
devices:
- name: gpu0
  containerEdits:
    deviceNodes:
    - path: /dev/gpu0
    additionalGids: [44]
""",
}


def files_for(page, transcript):
    """The files of the host of a transcript; a word of it says what is wrong there."""
    files = dict(TRANSCRIPT_FILES)
    if page == README:
        files["etc/cdi/vendor.yaml"] = dict(steps_of(README))["/etc/cdi/vendor.yaml"]
    if "colour" in transcript:
        files["etc/cdi/vendor.yaml"] += "    colour: red\n"
    if "evn" in transcript:
        files["vendor.yaml"] = SPEC.replace("vendor.com/gpu", "vendor").replace("env", "evn")
    if "vendor.yml" in transcript:
        files["etc/cdi/vendor.yml"] = files.pop("etc/cdi/vendor.yaml")
    if "libcuda.so.550" in transcript:
        path = "/usr/lib/libcuda.so.550"
        files["etc/cdi/vendor.yaml"] = SPEC.replace("0.7.0", "0.6.0") + (
            f"    mounts:\n    - {{hostPath: {path}, containerPath: {path}, options: [rbind]}}\n")
        files["usr/bin/podman"] = ""
        files["var/lib/dpkg/status"] = FILES["var/lib/dpkg/status"].replace("5.4.0", "4.3.1")
    if "claims.json" in transcript:
        files["claims.json"] = CLAIM
        files["usr/bin/containerd"] = ""
        files["var/lib/dpkg/status"] = FILES["var/lib/dpkg/status"]
        files["var/lib/kubelet/dra_manager_state"] = json.dumps(
            {"Data": KNOWN_CLAIM, "Checksum": zlib.crc32(KNOWN_CLAIM.encode())})
    if "bundle/" in transcript:
        library = files["etc/cdi/vendor.yaml"].split("containerPath: ")[1].split(",")[0]
        files["bundle/config.json"] = json.dumps({
            "ociVersion": "1.2.0", "process": {"env": ["GPU=0"]}, "mounts": [
                {"destination": library, "source": library, "options": ["rbind"]}]})
    return files


def fenced_blocks():
    """Page, line, nearest heading, language and text of each block between fences."""
    for page, text in PAGES.items():
        for found in FENCED.finditer(text):
            before = text[:found.start()]
            heading = re.findall(r"^#+ (.*)$", before, re.M)[-1]
            yield page, before.count("\n") + 1, heading, *found.groups()


def indented_blocks(transcripts):
    """Page and text of those that begin with a prompt, or of those that do not."""
    return [(page, textwrap.dedent(block)) for page, text in PROSE.items()
            for block in INDENTED.findall(text) if block.startswith("    $ ") == transcripts]


def steps_of(page):
    """The files that a page writes, (path, text), and its transcripts, ("", text), in order."""
    for block in re.finditer(f"{FENCED.pattern}|{INDENTED.pattern}", PAGES[page], re.M):
        if block[1] is None:
            yield "", textwrap.dedent(block[0])
        elif block[1] in ("yaml", "json"):
            yield re.findall(r"`(\S+)`[^`]*:\n\n\Z", PAGES[page][:block.start()])[0], block[2]


def commands_of_list(text):
    for line in text.splitlines():
        command, _, comment = line.partition("  # ")
        yield command.rstrip()
        if comment.startswith("and: "):  # other commands of the same program
            yield from (f"{command.split()[0]} {other}" for other in comment[5:].split(", "))


def commands_in_prose():
    """Inline code with options: `program ... -option ...`. What programs print does not count."""
    prose = re.sub(r"^    .*", "", "".join(PROSE.values()), flags=re.M)
    return re.findall(r"(?<!`)`([a-z][^\s`]* (?:[^`\n]* )?-[^`\n]*)`(?!`)", prose)


class Conformance(unittest.TestCase):
    PAGE = "docs/conformance.md"
    CASES = {path.stem for path in (PROJECT / "tests/conformance").glob("*.json")} - {"deviations"}
    OTHERS = set(json.loads((PROJECT / "tests/conformance/deviations.json").read_text()))

    def test_counts_are_those_of_the_recorded_cases(self):
        self.assertLessEqual(self.OTHERS, self.CASES)
        said = f"{len(self.CASES) - len(self.OTHERS)} of {len(self.CASES)} recorded cases"
        for page in (README, self.PAGE):
            self.assertIn(said, " ".join(PAGES[page].split()))

    def test_the_table_has_all_kinds_of_cases(self):
        rows = re.findall(r"^\| `(\w+)-\*` \|.*\| (\d+) \| (\d+) \|$", PAGES[self.PAGE], re.M)
        all_cases, others = (collections.Counter(case.split("-")[0] for case in cases)
                             for cases in (self.CASES, self.OTHERS))
        self.assertEqual({(kind, int(count), int(same)) for kind, count, same in rows},
                         {(kind, all_cases[kind], all_cases[kind] - others[kind])
                          for kind in all_cases})

    def test_each_difference_has_a_case(self):
        cases = re.findall(r"^\|.*\| `([\w-]+)` \|$", PAGES[self.PAGE], re.M)
        self.assertGreater(len(cases), 5)
        self.assertLessEqual(set(cases), self.OTHERS)


class Programs(unittest.TestCase):
    def test_each_is_an_example_that_is_run_here(self):
        licence = "// SPDX-License-Identifier: Apache-2.0 OR MIT\n"  # pages leave it out
        examples = {path.read_text(encoding="utf-8").replace(licence, ""): path.stem
                    for path in (PROJECT / "examples").glob("*.cpp")}
        found = set()
        for page, line, _, language, text in fenced_blocks():
            if language != "cpp":
                continue
            if text in examples:
                found.add(examples[text])
            elif not any(text in program for program in examples):
                self.fail(f"{page}:{line}: this is no file of examples/, and no part of one")
        self.assertEqual(found, {"inject", "own_type", "spec_view"})

    @staticmethod
    def inject(config, *names):
        return subprocess.run([INJECT, *names], input=json.dumps(config), text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def test_inject_applies_edits_and_members_stay(self):
        done = self.inject({"unknown": [1, None], "process": {"env": ["A=1"], "cwd": "/"}})
        if "no host device" in done.stderr:
            self.skipTest("the host has no /dev/fuse")
        config = json.loads(done.stdout)
        self.assertEqual(list(config), ["unknown", "process", "linux"])
        self.assertEqual(config["unknown"], [1, None])
        self.assertEqual(config["process"]["env"], ["A=1", "GREETING=hello"])
        self.assertEqual(config["linux"]["devices"][0]["path"], "/dev/fuse")

    @unittest.skipUnless(shutil.which("bwrap"), "bwrap is not installed")
    def test_inject_runs_as_its_first_line_says(self):
        """In a sandbox, whose /etc/cdi has only the spec of the README."""
        command = re.search(r"^// .*: (\./inject .*)$", PAGES[README], re.M)[1]
        with tempfile.TemporaryDirectory(prefix="cdi-readme-") as name:
            folder = pathlib.Path(name)
            (folder / "vendor.yaml").write_text(dict(steps_of(README))["/etc/cdi/vendor.yaml"])
            (folder / "config.json").write_text('{"process": {"env": ["A=1"]}}')
            (folder / "inject").symlink_to(INJECT)
            done = subprocess.run(
                ["bwrap", "--dev-bind", "/", "/", "--tmpfs", "/etc", "--chdir", name, "--ro-bind",
                 "vendor.yaml", "/etc/cdi/vendor.yaml", "sh", "-c", command], text=True,
                check=False, cwd=name, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            for reason in ("no host device", "bwrap: "):  # no /dev/fuse, or no sandbox here
                if reason in done.stdout:
                    self.skipTest(done.stdout)
            self.assertEqual((done.returncode, done.stdout), (0, ""))
            self.assertEqual(json.loads((folder / "new.json").read_text())["process"]["env"],
                             ["A=1", "GPU=0", "GREETING=hello"])

    def test_inject_refuses_an_unknown_name(self):
        done = self.inject({}, "no-such-vendor.example.com/device=one")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn('no spec of kind "no-such-vendor.example.com/device"', done.stderr)

    def test_own_type_prints_what_its_comment_says(self):
        code = (PROJECT / "examples/own_type.cpp").read_text(encoding="utf-8")
        said = re.search(r"// (.*\n)  std::cout", code)[1]
        self.assertEqual(subprocess.check_output([OWN_TYPE], text=True), said)


class HeaderTable(unittest.TestCase):
    INCLUDE = PROJECT / "include"
    LIBRARIES = {"nlohmann": "nlohmann_json"}

    def needs(self, header, seen):
        """The libraries that a header and those it includes need."""
        seen.add(header)
        found = set()
        for name in re.findall(r"#include <([^>]+)>", (self.INCLUDE / header).read_text("utf-8")):
            library = self.LIBRARIES.get(name.split("/")[0])
            found |= {library} if library else set()
            if (self.INCLUDE / name).exists() and name not in seen:
                found |= self.needs(name, seen)
        return found

    def test_each_row_is_true(self):
        page = PAGES["docs/headers.md"]
        rows = re.findall(r"^\| `(cdi/\S+)` \| (.*) \| (.*?) ?\| (\d+) \| (\d+\.\d) \| (\d+) \|$",
                          page, re.M)
        self.assertEqual(sorted(header for header, *_ in rows),
                         sorted(f"cdi/{path.name}" for path in self.INCLUDE.glob("cdi/*.hpp")))
        for header, _, needs, *_ in rows:
            with self.subTest(header):
                self.assertEqual(set(filter(None, needs.split(", "))), self.needs(header, set()))


class ReadmeTables(unittest.TestCase):
    def test_times_are_those_of_the_page_on_speed(self):
        for text in table.readme_tables(PAGES["docs/speed.md"]).values():
            self.assertIn(f"\n{text}\n", PAGES[README])

    def test_memory_is_what_the_compiler_takes(self):
        costs = json.loads((PROJECT / "tests/build/compile_cost.json").read_text())
        rows = re.findall(r"^\| `\S+/(\w+)\.cpp`.* \| (\d+) \| (\d+) \|$", PAGES[README], re.M)
        self.assertEqual(len(rows), 3)
        for program, alone, compiled in rows:
            for unit, said in ((program, alone), (f"{program}:compiled", compiled)):
                with self.subTest(unit):
                    self.assertAlmostEqual(int(said) / costs[unit]["MiB"], 1, delta=0.05)


class EnginesTable(unittest.TestCase):
    NAMES = {"CRI-O": "cri-o", "SingularityCE": "singularity-ce"}

    def test_versions_and_settings_are_those_of_the_data(self):
        engines = json.loads((PROJECT / "schema/engines.json").read_text())["engines"]
        rows = re.findall(r"^\| ([^|]*) \| ([^|]*) \| ([^|]*) \|(.*)\|$",
                          PAGES["docs/engines.md"], re.M)
        found = set()
        for engine, since, switch, rest in rows:
            name = engine.partition(",")[0]
            name = self.NAMES.get(name, name.lower())
            if name not in engines:
                continue
            with self.subTest(engine):
                found.add(name)
                defaults = engines[name]["defaults"]
                self.assertTrue(since.startswith(defaults[0]["since"]))
                on = next(row for row in defaults if row["switch"] != "off")
                if on is not defaults[0]:
                    self.assertIn(f"since {on['since']}", switch)
                for path in {path for row in defaults for path in row["dirs"]}:
                    self.assertIn(path, rest + "`/etc/cdi` and `/var/run/cdi`")
                self.assertIn(engines[name]["to_set_dirs"].split()[0], rest + "cdi_spec_dirs")
        self.assertGreater(len(found), 8)


class Links(unittest.TestCase):
    @staticmethod
    def anchors(text):
        """The anchors of the headings of a page."""
        return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
                for heading in re.findall(r"^#+ (.*)$", FENCED.sub("", text), re.M)}

    def test_each_leads_to_a_file_and_a_heading(self):
        for page, text in {**PAGES, **OTHER_PAGES}.items():
            for to in re.findall(r"\]\(([^)\s]+)\)", FENCED.sub("", text)):
                if "://" in to:
                    continue
                with self.subTest(page=page, to=to):
                    file, _, anchor = to.partition("#")
                    path = (PROJECT / page).parent / file if file else PROJECT / page
                    self.assertTrue(path.exists())
                    if anchor:
                        self.assertIn(anchor, self.anchors(path.read_text(encoding="utf-8")))

    def test_each_path_of_the_project_exists(self):
        """Paths with a folder, in inline code, of the project or of a folder that pages leave out."""
        for page, text in {**PAGES, **OTHER_PAGES}.items():
            for path in re.findall(r"`<?((?!nlohmann/json)(?:\w+/)+\w+\.(?:hpp|inl|cpp|c|h|py|md|sh|svg))>?`",
                                   FENCED.sub("", text)):
                with self.subTest(page=page, path=path):
                    self.assertTrue(any((PROJECT / folder / path).exists() for folder in
                                        (".", "include", "include/cdi", "src", "tools")))

    def test_the_index_has_each_page(self):
        self.assertEqual(set(re.findall(r"\]\(([\w-]+\.md)\) \|", PAGES["docs/README.md"])),
                         {path.name for path in PROJECT.glob("docs/*.md")} - {"README.md"})


class WaysToUse(unittest.TestCase):
    def test_readme_has_blocks_of_install(self):
        of_install = {text for page, _, _, _, text in fenced_blocks() if page == "docs/install.md"}
        blocks = [text for page, _, _, language, text in fenced_blocks()
                  if page == README and language not in ("cpp", "yaml")]
        self.assertEqual(len(blocks), 3)
        self.assertLessEqual(set(blocks), of_install)


# The root of the made-up host, unless a command names another.
UNLESS_GIVEN = '$(case " $* " in *" --root "*) ;; *) echo "--root $ROOT";; esac)'


class Commands(unittest.TestCase):
    """Commands of the pages on a made-up host."""

    def make_host(self, tree, files, spec_dirs='-d "$ROOT/etc/cdi" -d "$ROOT/var/run/cdi"'):
        """A host with GPUs below `self.root`, and programs that take it for theirs."""
        folder = tempfile.TemporaryDirectory(prefix="cdi-readme-")
        self.addCleanup(folder.cleanup)
        self.root, programs = f"{folder.name}/host", f"{folder.name}/programs"
        node_trees.TREES[tree](self.root, False)
        for name, text in files.items():
            self.write(f"{self.root}/{name}", text)
        for name in ("schema", "examples", "tools"):
            os.symlink(PROJECT / name, f"{self.root}/{name}")
        for name, program, first, last in (
                ("cdi", CDI, spec_dirs, ""),
                ("cdi-prepare", PREPARE, "", UNLESS_GIVEN),
                ("cdi-pod", POD, "", "")):
            self.write(f"{programs}/{name}", "#!/bin/sh\n"
                       'if [ "$1" = why ]; then set -- "$@" --root "$ROOT"; fi\n'
                       f'exec "{program}" {first} "$@" {last}\n')
            os.chmod(f"{programs}/{name}", 0o755)
        self.environment = {**os.environ, "ROOT": self.root,
                            "PATH": f"{programs}:{os.environ['PATH']}"}

    @staticmethod
    def write(path, text):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def start(self, command):
        return subprocess.Popen(["sh", "-c", command], cwd=self.root, text=True,
                                env=self.environment, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def run_command(self, command):
        """Exit status, and what is seen on a terminal."""
        with self.start(command) as running:
            printed, _ = running.communicate(timeout=60)
        return running.returncode, printed.replace(self.root, "")

    def check_monitor(self, command):
        with self.start(f"exec {command}") as monitor:
            self.assertTrue(monitor.stdout.readline().startswith("watching: "))
            monitor.terminate()
            monitor.communicate(timeout=60)
        self.assertEqual(monitor.returncode, 0)

    def check_watch(self, command):
        shutil.rmtree(f"{self.root}/var/run/cdi")
        with self.start(f"exec {command}") as watching:
            told = watching.stdout.readline()
            watching.terminate()
            watching.communicate(timeout=60)
        self.assertIn("created", told)
        self.assertEqual(watching.returncode, 0)

    def check(self, command):
        if command.endswith(" --write"):  # changes the project
            self.assertTrue((PROJECT / command.split()[0]).is_file(), command)
            return
        if command.split()[0] in NOT_RUN or command.startswith("cdi run "):  # see run_test.py
            return
        self.run_command("cdi-prepare write")  # what `check`, `diff` and `doctor` look for
        if command.startswith("cdi-prepare watch"):
            self.check_watch(command)
        elif command.startswith("cdi monitor"):
            self.check_monitor(command)
        else:
            status, printed = self.run_command(command)
            self.assertEqual(status, 0, printed)

    def test_lists(self):
        lists = indented_blocks(transcripts=False)
        self.assertTrue(lists)
        self.make_host("mi300x-cpx", FILES)  # it has eight GPUs to hand out
        for command in (command for _, text in lists for command in commands_of_list(text)):
            with self.subTest(command):
                self.check(command)

    def test_prose(self):
        commands = commands_in_prose()
        self.assertTrue(commands)
        self.make_host("mi300x-cpx", FILES)
        for command in commands:
            with self.subTest(command):
                self.check(command)

    def check_transcript(self, text):
        parts = re.split(r"^\$ (.*\n)", text, flags=re.M)[1:]
        for command, printed in zip(parts[::2], parts[1::2]):
            with self.subTest(command.strip()):
                self.assertEqual(self.run_command(command)[1], printed)

    def test_transcripts(self):
        transcripts = indented_blocks(transcripts=True)
        self.assertTrue(transcripts)
        for page, text in transcripts:
            self.make_host("nv2", files_for(page, text))
            self.check_transcript(text)

    def test_the_tutorial_from_beginning_to_end(self):
        self.make_host("nv2", {}, spec_dirs="")
        for file, text in steps_of(TUTORIAL):
            if file:
                self.write(f"{self.root}/{file}", text)
            else:
                self.check_transcript(text)


if __name__ == "__main__":
    unittest.main(verbosity=2)
