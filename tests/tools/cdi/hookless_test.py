#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""`cdi inject` and `cdi resolve` with `--hooks`, and `cdi gc --state-dir`.

usage: hookless_test.py CDI PROJECT

Libraries are made with a C compiler; without one, their tests are skipped.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time
import unittest

from cdi_case import CDI, CdiCase

SCHEMA = pathlib.Path(sys.argv.pop(1)) / "schema/resolved-1.json"
COMPILER = shutil.which("cc") or shutil.which("gcc")
try:
    from jsonschema import Draft202012Validator
except ImportError:
    Draft202012Validator = None

HOOK = {"hookName": "createContainer", "path": "/usr/bin/nvidia-cdi-hook"}


def hook(*args):
    return {**HOOK, "args": ["nvidia-cdi-hook", *args]}


def build(path, soname, text="int answer(void) { return 42; }"):
    """Compiles a library."""
    path.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([COMPILER, "-shared", "-fPIC", f"-Wl,-soname,{soname}", "-x", "c", "-", "-o",
                    path], input=text.encode(), check=True)


class Hookless(CdiCase):
    def setUp(self):
        super().setUp()
        self.root = self.folder
        (self.root / "state").mkdir(mode=0o755)
        self.driver = self.root / "driver"
        self.driver.mkdir()

    def write_spec(self, hooks, mounts=(), nodes=()):
        edits = {"env": ["GPU=0"], "hooks": hooks, "mounts": list(mounts),
                 "deviceNodes": list(nodes)}
        edits = {key: value for key, value in edits.items() if value}
        self.put("specs/gpu.json", {"cdiVersion": "0.6.0", "kind": "vendor.com/gpu",
                                    "devices": [{"name": "0", "containerEdits": edits}]})

    def mount(self, name, path):
        return {"hostPath": str(self.driver / name), "containerPath": path,
                "options": ["ro", "nosuid", "nodev", "rbind"]}

    def cdi(self, *args, code=0, **more):
        return self.run_tool(CDI, "-d", "specs", *args, expect=code, **more)

    def inject(self, *args, config=None, code=0, hooks="replace"):
        text = json.dumps(config or {"ociVersion": "1.0.0", "process": {"cwd": "/", "args": ["a"]}})
        done = self.cdi("inject", "--hooks", hooks, *args, "-", "vendor.com/gpu=0", given=text,
                        code=code)
        return (json.loads(done.stdout) if code == 0 and "--diff" not in args else done.stdout,
                done.stderr)

    def resolve(self, *args):
        done = self.cdi("resolve", "--hooks", "replace", "-o", "json", *args, "vendor.com/gpu=0")
        return json.loads(done.stdout)

    def ways(self, *args):
        notes = self.resolve(*args)["notes"]
        return [(note["class"], note["way"], note["subject"]) for note in notes]

    def test_links_become_mounts_and_nodes(self):
        (self.driver / "libx.so.1").write_text("not a library")
        self.write_spec([hook("create-symlinks", "--link", "libx.so.1::/lib/x/libx.so",
                              "--link", "../x/libx.so::/lib/y/z.so",
                              "--link", "../gpu0::/dev/by-path/gpu")],
                        [self.mount("libx.so.1", "/lib/x/libx.so.1")],
                        [{"path": "/dev/gpu0", "hostPath": "/dev/null"}])
        config, err = self.inject()
        self.assertEqual(err, "")
        self.assertNotIn("hooks", config)
        library = str(self.driver / "libx.so.1")
        self.assertEqual({(m["destination"], m["source"]) for m in config["mounts"]},
                         {("/lib/x/libx.so.1", library), ("/lib/x/libx.so", library),
                          ("/lib/y/z.so", library)})
        self.assertEqual([(d["path"], d["major"], d["minor"]) for d in config["linux"]["devices"]],
                         [("/dev/gpu0", 1, 3), ("/dev/by-path/gpu", 1, 3)])

    def test_an_effect_that_is_lost_is_a_warning(self):
        self.write_spec([hook("create-symlinks", "--link", "none.so::/lib/x/libx.so")])
        config, err = self.inject()
        self.assertNotIn("hooks", config)
        self.assertIn('"/lib/x/none.so"', err)
        self.assertIn("gpu.json:1:", err)

    def test_the_root_of_a_config_need_not_be_there(self):
        (self.driver / "a").write_text("")
        self.write_spec([hook("create-symlinks", "--link", "a::/x/b")], [self.mount("a", "/x/a")])
        config = {"ociVersion": "1.0.0", "root": {"path": "/none"}, "mounts": [
            {"destination": "/proc", "type": "proc", "source": "proc"}]}
        expected = ["/proc", "/x/a", "/x/b"]
        for root in ("/none", str(self.root)):
            config["root"]["path"] = root
            for options in ((), ("--image-root", str(self.root))):
                found, err = self.inject(*options, config=config)
                self.assertEqual((sorted(one["destination"] for one in found["mounts"]), err),
                                 (expected, ""))

    def test_what_cannot_be_injected_is_refused(self):
        self.write_spec([hook("create-symlinks", "--link", "a::/x/b")],
                        nodes=[{"path": "/dev/no-such"}])
        self.assertIn("/dev/no-such", self.inject(code=1)[1])
        self.write_spec([hook("create-symlinks", "--link", "a::/x/b")])
        for options in ((), ("--diff",)):
            self.assertIn("process.env",
                          self.inject(*options, config={"process": {"env": 1}}, code=1)[1])

    def test_refused_hooks_are_errors_at_their_places(self):
        of_all = hook("chmod", "--mode", "755", "--path", "/x")
        self.write_spec([{**HOOK, "path": "/opt/a", "hookName": "poststop"}] * 3)
        file = self.root / "specs/gpu.json"
        spec = json.loads(file.read_text())
        file.write_text(json.dumps({**spec, "containerEdits": {"hooks": [of_all]}}))
        for given in ((), ("--partial",)):
            out, err = self.inject(*given, hooks="refuse", code=1)
            self.assertEqual((out, len(err.splitlines())), ("", 4))
            self.assertTrue(err.startswith("cdi: error: specs/gpu.json:1:"), err)
            for text in ("containerEdits.hooks[0]: --hooks refuse: every device of vendor.com/gpu "
                         'has the hook "/usr/bin/nvidia-cdi-hook" of class chmod at createContainer',
                         "devices[0].containerEdits.hooks[2]: --hooks refuse: vendor.com/gpu=0 has "
                         'the hook "/opt/a" of class foreign at poststop'):
                self.assertIn(text, err)
        self.write_spec([of_all] * 103)
        last = self.inject(hooks="refuse", code=1)[1].splitlines()[100:]
        self.assertEqual(last, ["cdi: error: --hooks refuse: the devices have 3 more hooks"])
        self.write_spec([])
        self.assertIn("GPU=0", self.inject(hooks="refuse")[0]["process"]["env"])

    def test_the_diff_shows_the_mounts(self):
        (self.driver / "a").write_text("")
        self.write_spec([hook("create-symlinks", "--link", "a::/x/b")], [self.mount("a", "/x/a")])
        out, _ = self.inject("--diff")
        self.assertIn('"destination":"/x/b"', out)
        self.assertNotIn("hooks", out)

    def test_an_unknown_hook_stays_with_a_warning(self):
        self.write_spec([{**HOOK, "path": "/bin/other"}, hook("create-symlinks", "--no-flag", "x")])
        config, err = self.inject()
        self.assertEqual([h["path"] for h in config["hooks"]["createContainer"]],
                         ["/bin/other", "/usr/bin/nvidia-cdi-hook"])
        self.assertIn('class foreign is left to its program: "/bin/other"', err)
        failed = self.cdi("resolve", "--hooks", "replace", "vendor.com/gpu=0", code=1).stderr
        self.assertIn('the hook "/bin/other" cannot be replaced', failed)
        self.assertIn('the hook "/usr/bin/nvidia-cdi-hook" cannot be replaced', failed)

    def make_library(self):
        build(self.driver / "libx.so.1.2", "libx.so.1")
        self.write_spec([hook("update-ldcache", "--folder", "/opt/odd"),
                         hook("create-symlinks", "--link", "libx.so.1::/opt/odd/libx.so")],
                        [self.mount("libx.so.1.2", "/opt/odd/libx.so.1.2")])

    @unittest.skipUnless(COMPILER, "needs a C compiler")
    def test_without_an_image_a_variable_lists_the_directories(self):
        self.make_library()
        process = {"cwd": "/", "args": ["a"], "env": ["LD_LIBRARY_PATH=/own", "A=1"]}
        config, err = self.inject(config={"ociVersion": "1.0.0", "process": process})
        self.assertEqual(err, "")
        self.assertEqual(config["process"]["env"],
                         ["LD_LIBRARY_PATH=/opt/odd:/own", "A=1", "GPU=0"])
        self.assertEqual([m["destination"] for m in config["mounts"]],
                         ["/opt/odd/libx.so.1.2", "/opt/odd/libx.so.1", "/opt/odd/libx.so"])
        self.assertEqual(self.ways(), [("ldcache", "variable", "LD_LIBRARY_PATH"),
                                       ("symlinks", "mounts", "/opt/odd/libx.so")])

    @unittest.skipUnless(COMPILER, "needs a C compiler")
    def test_the_linker_of_the_image_decides(self):
        self.make_library()
        image, state = self.root / "image", self.root / "state"
        (image / "lib").mkdir(parents=True)
        (image / "etc").mkdir()
        given = ["--image-root", image, "--state-dir", state]
        self.assertEqual(self.ways(*given)[0], ("ldcache", "variable", "LD_LIBRARY_PATH"))
        (image / "lib/ld-musl-x86_64.so.1").write_text("")
        (image / "etc/ld-musl-x86_64.path").write_text("/lib:/mine\n")
        self.assertEqual(self.ways(*given)[0],
                         ("ldcache", "linker-path", "/etc/ld-musl-x86_64.path"))
        made = list(state.iterdir())
        self.assertEqual([path.read_text() for path in made], ["/opt/odd\n/lib:/mine\n"])
        self.ways(*given)
        self.assertEqual(list(state.iterdir()), made)
        (image / "lib/ld-musl-x86_64.so.1").rename(image / "lib/ld-linux-x86-64.so.2")
        self.assertEqual(self.ways(*given)[0], ("ldcache", "linker-cache", "/etc/ld.so.cache"))
        cache = next(state.glob("*-ld.so.cache")).read_bytes()
        for name in (b"libx.so.1", b"libx.so"):
            self.assertIn(b"\0%s\0/opt/odd/%s\0" % (name, name), b"\0" + cache)
        self.assertEqual(self.ways("--image-root", image)[0][1], "variable")
        (image / "etc/ld.so.cache").symlink_to("/none")
        self.assertEqual(self.ways(*given)[0], ("ldcache", "variable", "LD_LIBRARY_PATH"))

    @unittest.skipUnless(COMPILER, "needs a C compiler")
    def test_the_image_is_the_root_of_the_config(self):
        self.make_library()
        (self.root / "bundle/rootfs/lib64").mkdir(parents=True)
        (self.root / "bundle/rootfs/lib64/ld-linux-x86-64.so.2").write_text("")
        config = self.root / "bundle/config.json"
        config.write_text('{"ociVersion": "1.0.0", "root": {"path": "rootfs"}}')
        out = self.cdi("inject", "--hooks", "replace", "--state-dir", self.root / "state", config,
                       "vendor.com/gpu=0").stdout
        self.assertIn("/etc/ld.so.cache", [m["destination"] for m in json.loads(out)["mounts"]])

    @unittest.skipUnless(COMPILER, "needs a C compiler")
    def test_devices_of_two_runs_are_both_found(self):
        self.make_library()
        (self.root / "specs/gpu.json").rename(self.root / "specs/one.json")
        build(self.driver / "liby.so.1", "liby.so.1")
        self.write_spec([hook("update-ldcache", "--folder", "/opt/y")],
                        [self.mount("liby.so.1", "/opt/y/liby.so.1")])
        text = (self.root / "specs/gpu.json").read_text().replace("vendor.com", "other.com")
        (self.root / "specs/gpu.json").write_text(text)
        config = self.root / "config.json"
        given = {"ociVersion": "1.0.0", "process": {"cwd": "/", "args": ["a"]},
                 "root": {"path": "image"}}
        (self.root / "image/lib").mkdir(parents=True)

        def inject(linker, *devices):
            """The config after each device, one run each; relative directories."""
            for old in (self.root / "image/lib").iterdir():
                old.unlink()
            (self.root / "image/lib" / linker).write_text("")
            config.write_text(json.dumps(given))
            for device in devices:
                self.cdi("inject", "--in-place", "--hooks", "replace", "--state-dir", "state",
                         "config.json", device)
            return json.loads(config.read_text())

        def generated(made, path):
            source = next(m["source"] for m in made["mounts"] if m["destination"] == path)
            self.assertTrue(source.startswith(f"{self.root}/state/"), source)
            return pathlib.Path(source).read_bytes()

        one, both = ["vendor.com/gpu=0"], ["vendor.com/gpu=0", "other.com/gpu=0"]
        for linker in ("ld-linux.so.2", "ld-musl-x.so.1", "other"):
            self.assertEqual(inject(linker, *one), inject(linker, *one, *one))
        cache = generated(inject("ld-linux.so.2", *both), "/etc/ld.so.cache")
        for path in (b"/opt/odd/libx.so.1", b"/opt/y/liby.so.1"):
            self.assertIn(path, cache)
        self.assertEqual(generated(inject("ld-musl-x.so.1", *both), "/etc/ld-musl-x.path"),
                         b"/opt/y\n/opt/odd\n/lib:/usr/local/lib:/usr/lib\n")
        self.assertEqual(inject("other", *both)["process"]["env"],
                         ["GPU=0", "LD_LIBRARY_PATH=/opt/y:/opt/odd"])

    def test_others_may_not_write_the_state(self):
        self.write_spec([hook("update-application-profile")], nodes=[
            {"path": "/dev/nvidia0", "type": "c", "major": 195, "minor": 0}])
        state = self.root / "state"
        state.chmod(0o777)
        self.assertIn("other users may write in the directory",
                      self.inject("--state-dir", state, code=1)[1])
        state.chmod(0o755)
        config, _ = self.inject("--state-dir", state)
        self.assertEqual([m["destination"] for m in config["mounts"]],
                         ["/etc/nvidia/nvidia-application-profiles-rc.d/10-container.conf"])

    @unittest.skipUnless(Draft202012Validator, "python3-jsonschema 4 is not installed")
    def test_resolved_edits_match_their_schema(self):
        validator = Draft202012Validator(json.loads(SCHEMA.read_text()))
        self.write_spec([hook("create-symlinks", "--link", "null::/dev/x", "--link", "a::/b"),
                         hook("update-ldcache", "--folder", "/opt"),
                         hook("disable-device-node-modification"),
                         hook("enable-cuda-compat", "--host-driver-version", "570.1"),
                         hook("chmod", "--mode", "755", "--path", "/x")],
                        nodes=[{"path": "/dev/null"}])
        kept = json.loads(self.cdi("resolve", "-o", "json", "vendor.com/gpu=0").stdout)
        for plan in (kept, self.resolve()):
            self.assertEqual([error.message for error in validator.iter_errors(plan)], [])
        self.assertEqual([one["class"] for one in kept["hooks"]],
                         ["symlinks", "ldcache", "proc-mask", "cuda-compat", "chmod"])

    def test_gc_removes_unused_generated_files(self):
        state = self.root / "state"
        names = ["cdi-0123456789abcdef-old", "cdi-0123456789abcdee-new", "other"]
        for name in names:
            (state / name).write_text("")
        past = time.time() - 8 * 24 * 3600
        for name in (names[0], names[2]):
            os.utime(state / name, (past, past))
        args = ["gc", "--state-dir", state, "--unused", "7"]
        self.assertEqual(self.cdi(*args, "--dry-run").stdout,
                         f"{state}/{names[0]}: would be removed\n")
        self.assertEqual(self.cdi(*args).stdout, f"{state}/{names[0]}: removed\n")
        self.assertEqual(self.cdi(*args).stdout, "no file is unused for 7 days\n")
        self.assertEqual(sorted(path.name for path in state.iterdir()), sorted(names[1:]))
        self.cdi("gc", "--state-dir", state, "--owner", "a", code=2)
        self.assertIn("cannot open", self.cdi("gc", "--state-dir", state / "none", code=1).stderr)


if __name__ == "__main__":
    unittest.main()
