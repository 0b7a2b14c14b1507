#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""`cdi-prepare configure`: engines read the specs afterwards, and nothing else changes.

configure_test.py CDI_PREPARE KILL_AT [unittest options]
"""
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tomllib

sys.dont_write_bytecode = True
from tree_case import TreeTest, run_tests  # noqa: E402  pylint: disable=C0413

KILL_AT = os.path.abspath(sys.argv.pop(2))
CONTAINERD = "/etc/containerd/config.toml"
CONTAINERD_OWN = "/etc/containerd/conf.d/cdi-prepare.toml"
CONTAINERD_IMPORTS = "/etc/containerd/conf.d/*.toml"
DOCKER = "/etc/docker/daemon.json"
DOCKER_COPY = DOCKER + ".before-cdi-prepare"
DOCKER_RECORD = DOCKER + ".set-by-cdi-prepare"
CRIO_OWN = "/etc/crio/crio.conf.d/99-cdi-prepare.conf"
PODMAN_OWN = "/etc/containers/containers.conf.d/99-cdi-prepare.conf"
DIRS = ["/etc/cdi", "/var/run/cdi"]
CRI_2, CRI_3 = "io.containerd.grpc.v1.cri", "io.containerd.cri.v1.runtime"


class ConfigureTest(TreeTest):
    tree = "nv2"

    def text(self, path):
        return self.path(path).read_text()

    def toml(self, path):
        return tomllib.loads(self.text(path))

    def files(self):
        """The bytes of all files in /etc."""
        return {str(path.relative_to(self.root)): path.read_bytes()
                for path in self.path("/etc").rglob("*") if path.is_file()}

    def configure(self, *arguments, code=0):
        done = self.run_prepare("configure", *arguments)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stderr if code else done.stdout

    def finding(self, engine):
        """What doctor says about an engine."""
        found = json.loads(self.run_prepare("doctor", "-o", "json").stdout)["findings"]
        return [one for one in found if one["about"].split(" ")[0] == engine]

    def check_all(self, engine, name):
        """Doctor finds a fault; its advice changes this; the undo gives the bytes of before."""
        before = self.files()
        (finding,) = self.finding(engine)
        self.assertEqual(finding["level"], "fault", finding)
        (command,) = re.findall("`(cdi-prepare configure .*?)`", finding["advice"])
        words = shlex.split(command)
        run = lambda *more: subprocess.run(  # noqa: E731
            [self.program, *words[1:], *more], text=True, capture_output=True, check=False)
        diff = run("--dry-run").stdout
        self.assertEqual(self.files(), before)
        done = run()
        self.assertEqual(done.returncode, 0, done.stderr)
        changes = done.stdout.splitlines()
        self.assertTrue(changes)
        for line in changes:  # none of them restarts an engine of this host
            self.assertRegex(
                line, f"^{re.escape(str(self.root))}/etc/[^ ]*: (created|changed|removed)$")
        after = self.files()
        self.check_diff(diff, before, after)
        self.assertEqual([one["level"] for one in self.finding(engine)], ["good"])
        self.assertIn("nothing to do", self.configure(name))
        self.assertEqual(self.files(), after)
        diff = self.configure(name, "--undo", "--dry-run")
        self.assertEqual(self.files(), after)
        self.configure(name, "--undo")
        self.assertEqual(self.files(), before)
        self.check_diff(diff, after, before)
        self.assertIn("nothing to undo", self.configure(name, "--undo"))
        return after

    def check_diff(self, diff, before, after):
        """`patch` makes of one the other."""
        place = self.place / "patched"
        subprocess.run(["rm", "-rf", place], check=True)
        for name, content in before.items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_bytes(content)
        place.mkdir(exist_ok=True)
        strip = f"-p{len(self.root.parts)}"
        done = self.run_tool("patch", strip, "-E", "-d", place, given=diff)
        patched = {str(path.relative_to(place)): path.read_bytes()
                   for path in place.rglob("*") if path.is_file()}
        empty = {name for name, content in (before | after).items() if not content}
        drop = lambda files: {name: files[name] for name in files.keys() - empty}  # noqa: E731
        self.assertEqual(drop(patched), drop(after))


class HelpOfConfigure(ConfigureTest):
    def test_it_is_about_engines_only(self):
        done = self.run_prepare("configure", "--help")
        self.assertIn("cdi-prepare configure [OPTIONS] ENGINE\n", done.stdout)
        for word in ("archive", "GPU", "`check`", "doctor", "\n  4  "):
            self.assertNotIn(word, done.stdout)


class Containerd(ConfigureTest):
    def by_hand(self):
        """What is printed for a person to add; nothing is written."""
        before = self.files()
        for more in ((), ("--dry-run",)):
            done = self.run_prepare("configure", "containerd", *more)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn("not done: containerd", done.stderr)
            self.assertEqual(self.files(), before)
        (finding,) = self.finding("containerd")
        self.assertNotIn("cdi-prepare configure", finding["advice"])
        where, _, lines = done.stdout.partition("\n")
        self.assertIn(CONTAINERD, where)
        return lines

    def test_before_2_a_person_changes_the_main_file(self):
        # An imported file would replace the whole table, with the runtimes.
        self.install(containerd="1.7.24")
        for begin, table in ((f'imports = ["{CONTAINERD_IMPORTS}"]\nversion = 2\n', CRI_2),
                             ("", "cri")):
            text = f'{begin}[plugins."{table}"]\nenable_cdi = false\ncdi_spec_dirs = ["/x"]\n'
            self.put(CONTAINERD, text)
            self.assertEqual(tomllib.loads(self.by_hand())["plugins"][table],
                             {"enable_cdi": True, "cdi_spec_dirs": ["/x", "/var/run/cdi"]})
            self.put(CONTAINERD, begin + self.by_hand())
            self.assertIn("nothing to do", self.configure("containerd"))
            self.assertIn("nothing to undo", self.configure("containerd", "--undo"))

    def test_no_main_file(self):
        for version, number, table in (("1.7.24", 2, CRI_2), ("2.0.5", 3, CRI_3)):
            self.install(containerd=version)
            out = ("--output-dir", str(self.path("/opt/cdi")))
            self.configure("containerd", *out)
            self.assertEqual(self.toml(CONTAINERD), {"version": number, "plugins": {table: {
                "enable_cdi": True, "cdi_spec_dirs": [*DIRS, "/opt/cdi"]}}})
            self.configure("containerd", "--undo")
            self.assertFalse(self.path(CONTAINERD).exists())
            self.path("var/lib/dpkg/status").unlink()

    def test_from_2_on_an_imported_file_of_our_own(self):
        self.install(containerd="2.0.5")
        for version, table in ((2, CRI_2), (3, CRI_3)):
            for imports in (CONTAINERD_IMPORTS, "conf.d/cdi-*.toml", CONTAINERD_OWN):
                text = (f'imports = ["/etc/containerd/a/*", "{imports}"]\nversion = {version}\n'
                        f'[plugins."{table}"]\nenable_cdi = false\nsandbox = "a"\n')
                self.put(CONTAINERD, text)
                after = self.check_all("containerd", "containerd")
                own = tomllib.loads(after[CONTAINERD_OWN[1:]].decode())
                self.assertEqual(own, {"version": version,
                                       "plugins": {table: {"enable_cdi": True}}})
                self.assertEqual(after[CONTAINERD[1:]].decode(), text)

    def test_import_that_a_person_adds(self):
        self.install(containerd="2.0.5")
        for imports in ("", 'imports = ["/etc/containerd/x.toml"]\n'):
            rest = f'version = 3\n[plugins."{CRI_3}"]\nenable_cdi = false\n'
            self.put(CONTAINERD, imports + rest)
            lines = self.by_hand()
            self.assertEqual(tomllib.loads(lines)["imports"][-1], CONTAINERD_IMPORTS)
            self.assertEqual("x.toml" in lines, bool(imports))
            self.put(CONTAINERD, lines + rest)
            self.check_all("containerd", "containerd")

    def test_version_that_is_unknown(self):
        """A person changes the main file: every version reads it."""
        self.install()
        self.path("usr/bin/containerd").touch()
        self.put(CONTAINERD, f'imports = ["{CONTAINERD_IMPORTS}"]\nversion = 2\n')
        self.assertIn("enable_cdi = true\n", self.run_prepare("configure", "containerd").stdout)
        self.assertFalse(self.path(CONTAINERD_OWN).exists())

    def test_second_change_of_a_file_of_our_own(self):
        self.install(containerd="2.0.5")
        self.put(CONTAINERD, f'imports = ["{CONTAINERD_IMPORTS}"]\nversion = 3\n')
        self.configure("containerd", "--output-dir", str(self.path("/opt/a")))
        self.configure("containerd", "--output-dir", str(self.path("/opt/b")))
        own = {"enable_cdi": True, "cdi_spec_dirs": [*DIRS, "/opt/a", "/opt/b"]}
        self.assertEqual(self.toml(CONTAINERD_OWN), {"version": 3, "plugins": {CRI_3: own}})
        self.put(CONTAINERD, self.text(CONTAINERD) + f'[plugins."{CRI_3}"]\nenable_cdi = false\n')
        self.assertIn("nothing to do", self.configure("containerd"))

    def test_file_that_is_wrong(self):
        for version in ("1.7.24", "2.0.5"):
            self.install(containerd=version)
            self.put(CONTAINERD, "version = \n")
            self.assertIn(f"{CONTAINERD}:1:", self.configure("containerd", code=1))
            self.assertEqual(self.text(CONTAINERD), "version = \n")
            self.assertIn("nothing to undo", self.configure("containerd", "--undo"))

    def test_files_that_cannot_be_read(self):
        self.install(containerd="2.0.5")
        for path in (CONTAINERD, CONTAINERD_OWN):
            self.put(CONTAINERD, f'imports = ["{CONTAINERD_IMPORTS}"]\nversion = 3\n')
            if path == CONTAINERD:
                self.path(path).unlink()
            self.path(path).mkdir(parents=True)
            for more in (("--output-dir", str(self.path("/opt/cdi"))), ("--undo",)):
                self.assertIn(path, self.configure("containerd", *more, code=1))
            self.path(path).rmdir()

    def test_too_old(self):
        self.install(containerd="1.6.20")
        for remedy in ("update it", "cdi-runtime"):
            self.assertIn(remedy, self.configure("containerd", code=1))

    def test_the_cri_plugin_is_disabled(self):
        self.install(containerd="1.7.24")
        self.put(CONTAINERD, 'version = 2\ndisabled_plugins = ["cri"]\n')
        before = self.files()
        said = self.configure("containerd", code=1)
        self.assertIn("the CRI plugin of containerd, which reads specs, is in disabled_plugins: "
                      "configure docker, if containerd only serves Docker;", said)
        self.assertIn(CONTAINERD, said)
        self.assertEqual(self.files(), before)

    def test_not_installed(self):
        self.install(docker=None)
        self.path("usr/bin/docker").touch()  # the client alone is not an engine
        for name, program in (("containerd", "containerd"), ("docker", "dockerd"),
                              ("podman", "podman"), ("crio", "crio")):
            said = self.configure(name, code=1)
            self.assertIn(f" is not on this host: neither its program {program}, in "
                          "/usr/local/sbin, /usr/local/bin, /usr/sbin, /usr/bin, nor its "
                          "configuration was found", said)
        self.assertIn("rkt", self.configure("rkt", code=2))


class Docker(ConfigureTest):
    def setUp(self):
        super().setUp()
        database = self.path("var/lib/dpkg/status")
        database.parent.mkdir(parents=True)
        self.path("usr/bin/dockerd").touch()
        database.write_text("Package: docker.io\nStatus: install ok installed\n"
                            "Version: 26.1.5\n")

    def docker(self, text):
        self.put(DOCKER, text)
        after = self.check_all("docker", "docker")
        return after[DOCKER[1:]].decode()

    def test_other_members_stay_in_their_order(self):
        text = ('{\n  "zeta": 1, "runtimes": {"nvidia": {"path": "x", "args": []}},\n'
                '  "features": {"buildkit": true},\n  "alpha": [1.5, null]\n}\n')
        after = self.docker(text)
        self.assertEqual(list(json.loads(after)), ["zeta", "runtimes", "features", "alpha"])
        self.assertIn('\n  "zeta": 1,\n', after)
        config = json.loads(text)
        config["features"]["cdi"] = True
        self.assertEqual(json.loads(after), config)

    def test_old_values(self):
        text = '{"features":{"cdi":false},"cdi-spec-dirs":["/a"]}'
        self.assertEqual(json.loads(self.docker(text)),
                         {"features": {"cdi": True}, "cdi-spec-dirs": ["/a", "/var/run/cdi"]})

    def test_indentation_stays(self):
        self.assertIn('\n\t"features"', self.docker('{\n\n\t"a": 1\n}\n'))

    def test_file_that_is_missing(self):
        after = self.check_all("docker", "docker")
        self.assertEqual(json.loads(after[DOCKER[1:]]), {"features": {"cdi": True}})
        self.configure("docker")
        self.configure("docker", "--output-dir", str(self.path("/opt/cdi")))
        self.configure("docker", "--undo")
        self.assertEqual(os.listdir(self.path("/etc/docker")), [])

    def test_what_was_changed_later_stays(self):
        for text in ('{"features": {"cdi": false}, "a": 1}', '{"a": 1}', ""):
            self.put(DOCKER, text)
            self.configure("docker")
            config = json.loads(self.text(DOCKER))
            self.put(DOCKER, json.dumps({**config, "log-level": "debug"}))
            self.configure("docker", "--undo")
            expected = {**json.loads(text or "{}"), "log-level": "debug"}
            self.assertEqual(json.loads(self.text(DOCKER)), expected)
            self.assertFalse(self.path(DOCKER_COPY).exists())

    def test_second_change_keeps_the_first_copy(self):
        self.put(DOCKER, '{"a": 1}')
        self.configure("docker")
        self.configure("docker", "--output-dir", str(self.path("/opt/cdi")))
        self.assertEqual(json.loads(self.text(DOCKER))["cdi-spec-dirs"], [*DIRS, "/opt/cdi"])
        self.configure("docker", "--undo")
        self.assertEqual(self.text(DOCKER), '{"a": 1}')

    def test_values_that_were_changed_later_stay(self):
        for old in ("{}", '{"cdi-spec-dirs": ["/a"]}'):
            self.put(DOCKER, old)
            out = () if old != "{}" else ("--output-dir", str(self.path("/opt/cdi")))
            self.configure("docker", *out)
            config = {**json.loads(self.text(DOCKER)), "cdi-spec-dirs": ["/mine"]}
            self.put(DOCKER, json.dumps(config))
            done = self.run_prepare("configure", "docker", "--undo")
            self.assertIn('daemon.json: "cdi-spec-dirs" was changed since, and stays', done.stderr)
            self.assertEqual(json.loads(self.text(DOCKER)), {"cdi-spec-dirs": ["/mine"]})
            self.assertEqual(os.listdir(self.path("/etc/docker")), ["daemon.json"])

    def test_switch_that_was_removed_or_replaced_later_stays_so(self):
        for old, later in (("{}", {"a": 1}), ("{}", {"features": {"x": True}}),
                           ("{}", {"features": ["x"]}),
                           ('{"features": {}, "a": 1}', {"features": {}, "a": 2})):
            with self.subTest(old=old, later=later):
                self.put(DOCKER, old)
                self.configure("docker")
                self.put(DOCKER, json.dumps(later))
                self.configure("docker", "--undo")
                self.assertEqual(json.loads(self.text(DOCKER)), later)

    def test_directories_that_were_set_twice_or_removed_between(self):
        outs = [("--output-dir", str(self.path(f"/opt/{name}"))) for name in "ab"]
        old = {"a": 1, "cdi-spec-dirs": ["/a"]}
        for mine in (None, {"a": 1}):
            self.put(DOCKER, json.dumps(old))
            self.configure("docker", *outs[0])
            if mine:
                self.put(DOCKER, json.dumps(mine))
            self.configure("docker", *outs[1])
            self.configure("docker", "--undo")
            self.assertEqual(json.loads(self.text(DOCKER)), mine or old)

    def test_switch_that_was_turned_off_between_two_changes_is_off_again(self):
        self.put(DOCKER, '{"a": 1}')
        mine = {"a": 1, "features": {"cdi": False}}
        self.configure("docker")
        self.put(DOCKER, json.dumps(mine))
        self.configure("docker")
        self.configure("docker", "--undo")
        self.assertEqual(json.loads(self.text(DOCKER)), mine)

    def test_values_that_were_not_set_by_it_stay(self):
        self.put(DOCKER, '{"a": 1}')
        self.configure("docker")
        self.put(DOCKER, '{"a": 1, "features": {"cdi": true}, "cdi-spec-dirs": ["/mine"]}')
        self.configure("docker", "--undo")
        self.assertEqual(json.loads(self.text(DOCKER)), {"a": 1, "cdi-spec-dirs": ["/mine"]})

    def test_values_that_were_changed_between_two_changes_come_back(self):
        """A second `configure` does not bring back what was there before the first."""
        out = ("--output-dir", str(self.path("/opt/cdi")))
        for old in ("{}", '{"cdi-spec-dirs": ["/a"], "features": {"cdi": false, "x": true}}'):
            for mine in ({"cdi-spec-dirs": ["/mine"], "features": {"cdi": False}},
                         {"cdi-spec-dirs": ["/mine"]}):
                with self.subTest(old=old, mine=mine):
                    self.put(DOCKER, old)
                    self.configure("docker", *out)
                    mine = {**json.loads(old), "a": 1, **mine}
                    self.put(DOCKER, json.dumps(mine))
                    self.configure("docker", *out)
                    self.assertEqual(json.loads(self.text(DOCKER))["cdi-spec-dirs"],
                                     ["/mine", "/opt/cdi"])
                    self.configure("docker", "--undo")
                    self.assertEqual(json.loads(self.text(DOCKER)), mine)
                    self.assertEqual(os.listdir(self.path("/etc/docker")), ["daemon.json"])

    def test_a_list_that_was_added_between_two_changes_comes_back(self):
        self.put(DOCKER, '{"a": 1}')
        self.configure("docker")
        mine = {"a": 1, "features": {"cdi": True}, "cdi-spec-dirs": ["/mine"]}
        self.put(DOCKER, json.dumps(mine))
        self.configure("docker")
        self.configure("docker", "--undo")
        self.assertEqual(json.loads(self.text(DOCKER)), {"a": 1, "cdi-spec-dirs": ["/mine"]})

    def test_file_that_was_emptied_or_removed_comes_back(self):
        old = '{"log-driver":"local","data-root":"/big"}'
        for lose in (lambda path: path.write_text(" \n"), pathlib.Path.unlink):
            self.put(DOCKER, old)
            self.path(DOCKER).chmod(0o600)
            self.configure("docker")
            lose(self.path(DOCKER))
            done = self.run_prepare("configure", "docker", "--undo")
            self.assertIn("its text from before comes back", done.stderr)
            self.assertEqual(self.text(DOCKER), old)
            self.assertEqual(self.path(DOCKER).stat().st_mode & 0o777, 0o600)
            self.assertEqual(os.listdir(self.path("/etc/docker")), ["daemon.json"])

    def test_empty_file_is_empty_again(self):
        self.docker("")
        out = ("--output-dir", str(self.path("/opt/cdi")))
        self.configure("docker")
        self.configure("docker", *out)
        self.configure("docker", "--undo")
        self.assertEqual(self.text(DOCKER), "")
        self.put(DOCKER, " \n")
        self.configure("docker")
        self.put(DOCKER, "")
        self.configure("docker", "--undo")
        self.assertEqual(self.text(DOCKER).strip(), "")
        self.assertEqual(os.listdir(self.path("/etc/docker")), ["daemon.json"])

    def test_damaged_files_change_nothing(self):
        """Each of the three files, when it is configured again, and when that is undone."""
        out = ("--output-dir", str(self.path("/opt/cdi")))
        for path in (DOCKER, DOCKER_COPY, DOCKER_RECORD):
            for more in (("--undo",), out):
                with self.subTest(path=path, more=more):
                    self.put(DOCKER, '{"a": 1}')
                    self.configure("docker")
                    self.put(path, '{"a": ')
                    before = self.files()
                    self.assertIn("not valid JSON", self.configure("docker", *more, code=1))
                    self.assertEqual(self.files(), before)
                    for name in os.listdir(self.path("/etc/docker")):
                        self.path(f"/etc/docker/{name}").unlink()

    def test_directory_that_is_a_file(self):
        self.put("/etc/docker", "")
        for more, code in (((), 1), (("--undo",), 0)):
            self.configure("docker", *more, code=code)
            self.assertEqual(self.text("/etc/docker"), "")

    def test_private_file_has_private_copies(self):
        self.put(DOCKER, "{}")
        self.path(DOCKER).chmod(0o640)
        if os.geteuid() == 0:
            os.chown(self.path(DOCKER), 12, 34)
        before = self.path(DOCKER).stat()
        self.configure("docker")
        self.assertEqual(len(os.listdir(self.path("/etc/docker"))), 3)
        for path in self.path("/etc/docker").iterdir():
            after = path.stat()
            self.assertEqual((after.st_mode, after.st_uid, after.st_gid),
                             (before.st_mode, before.st_uid, before.st_gid), path)

    def test_file_that_would_lose_something(self):
        for text, why in (('{"a": 12345678901234567890123}', "too many digits"),
                          ('{"a": [-9223372036854775809]}', "too many digits"),
                          ('{"a": {"b": 1, "b": 2}}', 'has the member "b" twice')):
            self.put(DOCKER, text)
            self.assertIn(why, self.configure("docker", code=1))
            self.assertEqual((self.text(DOCKER), self.path(DOCKER_COPY).exists()), (text, False))
        self.docker('{"a": [18446744073709551615, {"b": 0.5}, {"b": 1e3}]}')

    def test_file_that_is_nested_too_deeply_to_write(self):
        for levels in (65, 80_000):
            text = '{"a": ' + "[" * (levels - 1) + "]" * (levels - 1) + "}"
            self.put(DOCKER, text)
            self.assertIn("is more than 64 levels deep", self.configure("docker", code=1))
            self.assertEqual((self.text(DOCKER), self.path(DOCKER_COPY).exists()), (text, False))
        self.docker('{"a": ' + "[" * 63 + "]" * 63 + "}")

    def test_file_that_is_wrong(self):
        for text in ('{"a": 1,}', "[]", '{"features": []}', "\x00"):
            self.put(DOCKER, text)
            self.assertIn("by hand", self.configure("docker", code=1))
            self.assertEqual((self.text(DOCKER), self.path(DOCKER_COPY).exists()), (text, False))

    def test_where_a_file_is_wrong(self):
        """The error has the line and column, and no warning says the same again."""
        for text, what in (('{\n  "a": 1,\n  b\n}', ':3:3: not valid JSON: unexpected "b"'),
                           ("[\n]", ":1:1: is not a JSON object")):
            self.put(DOCKER, text)
            (said,) = self.configure("docker", code=1).splitlines()
            self.assertIn(f"{self.root}{DOCKER}{what}", said)
            self.assertTrue(said.endswith("correct it by hand; nothing was changed"), said)
            self.assertIn(DOCKER + what, self.run_prepare("doctor").stdout)

    def test_on_this_host_it_says_how_to_restart_the_engine(self):
        self.put(DOCKER, '{"features": {"cdi": false}}')
        script = ("mount --bind {0} /etc && for dir in /usr/local/sbin /usr/local/bin /usr/sbin "
                  '/usr/bin; do mount -t tmpfs t $dir || exit 77; done; exec "$0" "$@"')
        run = lambda *more: subprocess.run(  # noqa: E731
            ["unshare", "-m", "sh", "-c", script.format(shlex.quote(str(self.path("etc")))),
             self.program, *more], text=True, capture_output=True, check=False)
        if os.geteuid() != 0 or not shutil.which("unshare") or run("--version").returncode != 0:
            self.skipTest("cannot make a mount namespace")
        for more in ((), ("--undo",)):
            done = run("configure", "docker", *more)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn(f"\n{DOCKER}: changed\n", "\n" + done.stdout)
            self.assertTrue(done.stdout.endswith("\nRestart Docker: systemctl restart docker\n"))

    def test_file_that_cannot_be_read(self):
        self.path("/etc/docker").mkdir(parents=True)
        for make in (lambda path: path.mkdir(), lambda path: path.symlink_to("nowhere"),
                     lambda path: path.symlink_to(path.name)):
            make(self.path(DOCKER))
            before = os.lstat(self.path(DOCKER))
            for more in ((), ("--undo",)):
                said = self.configure("docker", *more, code=1)
                self.assertIn(f": error: {self.root}{DOCKER}: ", said)
            after = os.lstat(self.path(DOCKER))
            self.assertEqual((after.st_ino, after.st_mode, after.st_mtime_ns),
                             (before.st_ino, before.st_mode, before.st_mtime_ns))
            self.assertEqual(os.listdir(self.path("/etc/docker")), ["daemon.json"])
            (pathlib.Path.rmdir if before.st_mode & 0o40000 and not self.path(DOCKER).is_symlink()
             else pathlib.Path.unlink)(self.path(DOCKER))

    def test_link_and_mode_stay(self):
        self.put("/opt/daemon.json", "{}")
        self.path("/opt/daemon.json").chmod(0o600)
        self.path("/etc/docker").mkdir()
        self.path(DOCKER).symlink_to("/opt/daemon.json")
        self.configure("docker")
        self.assertEqual(json.loads(self.text("/opt/daemon.json")), {"features": {"cdi": True}})
        self.assertEqual(self.path("/opt/daemon.json").stat().st_mode & 0o777, 0o600)
        self.assertEqual(os.readlink(self.path(DOCKER)), "/opt/daemon.json")
        self.configure("docker", "--undo")
        self.assertEqual(self.text("/opt/daemon.json"), "{}")


class WrongFiles(ConfigureTest):
    """The settings in a file that the engine cannot read either are unknown."""

    def refuses(self, engine, path):
        before = self.files()
        (said,) = self.configure(engine, code=1).splitlines()
        self.assertIn(f"error: {self.root}{path}:", said)
        self.assertTrue(said.endswith("correct it by hand; nothing was changed"), said)
        self.assertEqual(self.files(), before)
        return said

    def test_no_engine_is_called_ready_or_changed(self):
        imports = 'version = 3\nimports = ["/etc/containerd/conf.d/*.toml"]\n'
        for engine, version, files in (
                ("containerd", "1.7.24", {CONTAINERD: "version = = 3"}),
                ("containerd", "2.1.4", {CONTAINERD: "version = = 3"}),
                ("containerd", "2.1.4", {CONTAINERD: imports,
                                         "/etc/containerd/conf.d/a.toml": "a = = 3"}),
                ("crio", "1.33.0", {"/etc/crio/crio.conf": "[crio"}),
                ("crio", "1.33.0", {"/etc/crio/crio.conf.d/10-a.conf": "[crio"}),
                ("podman", "5.5.1", {"/etc/containers/containers.conf": "[engine"}),
                ("podman", "5.2.0", {"/etc/containers/containers.conf.d/a.conf": "[engine"})):
            with self.subTest(engine=engine, version=version, files=list(files)):
                self.install(**{engine: version})
                for path, text in files.items():
                    self.put(path, text)
                path = list(files)[-1]
                self.assertRegex(self.refuses(engine, path), r":1:\d+: ")
                self.path(path).unlink()
                self.path(path).mkdir()
                if ".conf.d/" in path:  # the engine skips directories among its drop-in files
                    self.assertNotIn(path, self.configure(engine, "--dry-run"))
                else:
                    self.refuses(engine, path)
            shutil.rmtree(self.path("/etc"))
            self.path("/var/lib/dpkg/status").unlink()


class DropIns(ConfigureTest):
    def test_crio(self):
        self.install(**{"crio": "1.30.0"})
        self.put("/etc/crio/crio.conf", '[crio.runtime]\ncdi_spec_dirs = ["/etc/cdi"]\n')
        self.assertIn("+++ ", self.run_prepare("configure", "cri-o", "--dry-run").stdout)
        after = self.check_all("cri-o", "crio")
        own = tomllib.loads(after[CRIO_OWN[1:]].decode())
        self.assertEqual(own, {"crio": {"runtime": {"cdi_spec_dirs": DIRS}}})

    def test_podman(self):
        self.install(podman="5.5.0")
        after = self.check_all("podman", "podman")
        own = tomllib.loads(after[PODMAN_OWN[1:]].decode())
        self.assertEqual(own, {"engine": {"cdi_spec_dirs": DIRS}})

    def test_podman_that_ignores_the_setting(self):
        self.install(podman="5.2.0")
        self.assertIn("nothing to do", self.configure("podman"))
        done = self.configure("podman", "--output-dir", str(self.path("/opt/cdi")), code=1)
        self.assertIn("ignores cdi_spec_dirs", done)
        found = self.run_prepare("doctor", "--output-dir", str(self.path("/opt/cdi"))).stdout
        self.assertNotIn("cdi-prepare configure", found)

    def test_podman_of_an_unknown_version(self):
        self.path("usr/bin/podman").touch()
        self.configure("podman", "--output-dir", str(self.path("/opt/cdi")))
        self.assertEqual(self.toml(PODMAN_OWN)["engine"]["cdi_spec_dirs"], [*DIRS, "/opt/cdi"])

    def test_directory_with_a_quote(self):
        self.install(podman="5.6.0")
        self.configure("podman", "--output-dir", str(self.path('/opt/"a\\b')))
        self.assertEqual(self.toml(PODMAN_OWN)["engine"]["cdi_spec_dirs"], [*DIRS, '/opt/"a\\b'])

    def test_file_of_our_own_that_was_changed_or_cannot_be_read(self):
        self.install(podman="5.5.0", crio="1.30.0")
        for name, path in (("podman", PODMAN_OWN), ("crio", CRIO_OWN)):
            self.configure(name, "--output-dir", str(self.path("/opt/cdi")))
            more = ("--output-dir", str(self.path("/opt/b")))
            ours = self.text(path)
            for text in (ours + "# mine\n", ours.replace("/opt/cdi", "/mine"), ours[:-2]):
                self.put(path, text)
                for words in (more, ("--undo",)):
                    self.assertIn(f"{path}", self.configure(name, *words, code=1))
                self.assertEqual(self.text(path), text)
            self.path(path).unlink()
            self.path(path).mkdir()
            for words in (more, ("--undo",)):
                self.assertIn(path, self.configure(name, *words, code=1))
            self.path(path).rmdir()

    def test_another_directory(self):
        self.install(podman="5.6.0")
        out = str(self.path("/opt/a b"))
        done = self.run_prepare("doctor", "--output-dir", out).stdout
        self.assertIn(f"configure --root {self.root} podman --output-dir '{out}'", done)
        self.configure("podman", "--output-dir", out)
        self.assertEqual(self.toml(PODMAN_OWN)["engine"]["cdi_spec_dirs"], [*DIRS, "/opt/a b"])
        self.configure("podman", "--output-dir", "/opt", code=2)

    def test_file_that_is_read_later(self):
        self.install(podman="5.5.0")
        self.put("/etc/containers/containers.conf.d/99-z.conf",
                 '[engine]\ncdi_spec_dirs = ["/x"]\n')
        said = self.configure("podman", code=1)
        self.assertIn("a file that it reads later", said)
        self.assertIn("change cdi_spec_dirs in [engine] of /etc/containers/containers.conf.d/"
                      "99-z.conf, which is read after /etc/containers/containers.conf", said)

    def test_file_of_others(self):
        self.install(podman="5.5.0")
        self.put(PODMAN_OWN, "[engine]\n")
        self.assertIn("another program or person wrote it", self.configure("podman", code=1))
        self.assertIn("nothing to undo", self.configure("podman", "--undo"))
        self.assertEqual(self.text(PODMAN_OWN), "[engine]\n")


class Advice(ConfigureTest):
    """Doctor names the setting that counts, and not one that is right already."""

    def advice(self, engine):
        (finding,) = self.finding(engine)
        self.assertEqual(finding["level"], "fault", finding)
        return finding["advice"].split("By hand: ")[1]

    def test_import_that_switches_cdi_off(self):
        self.install(containerd="2.2.1")
        self.put(CONTAINERD, 'version = 3\n'
                 f'imports = ["/etc/containerd/parts.d/*.toml", "{CONTAINERD_IMPORTS}"]\n'
                 f'[plugins."{CRI_3}"]\nenable_cdi = true\n')
        self.put("/etc/containerd/parts.d/50-lab.toml",
                 f'version = 3\n[plugins."{CRI_3}"]\nenable_cdi = false\n')
        self.assertTrue(self.advice("containerd").startswith(
            "Set enable_cdi = true in the CRI table of /etc/containerd/parts.d/50-lab.toml, "))
        self.check_all("containerd", "containerd")

    def test_drop_in_that_replaces_the_directories(self):
        self.install(crio="1.34.0")
        self.put("/etc/crio/crio.conf",
                 '[crio.runtime]\ncdi_spec_dirs = ["/etc/cdi", "/var/run/cdi"]\n')
        self.put("/etc/crio/crio.conf.d/60-lab.conf",
                 '[crio.runtime]\ncdi_spec_dirs = ["/srv/cdi"]\n')
        self.assertIn("Add /var/run/cdi to cdi_spec_dirs in [crio.runtime] of "
                      "/etc/crio/crio.conf.d/60-lab.conf, ", self.advice("cri-o"))
        self.check_all("cri-o", "crio")

    def test_directories_of_docker(self):
        self.install(docker="28.2.2")
        self.path("usr/bin/docker").rename(self.path("usr/bin/dockerd"))
        self.put(DOCKER, '{"features": {"cdi": true}, "cdi-spec-dirs": [""]}')
        self.assertTrue(self.advice("docker").startswith("Remove cdi-spec-dirs from "))


class Killed(ConfigureTest):
    """Killed just before each system call that changes something, `configure` and `--undo` leave
    nothing, and the old bytes come back."""

    ENGINES = {
        "containerd": ("2.1.0", "containerd", {
            CONTAINERD: f'imports = ["{CONTAINERD_IMPORTS}"]\nversion = 3\n'}),
        "docker": ("27.0.0", "docker.io", {
            DOCKER: '{\n   "log-driver": "json-file", "features":{"a":true},\n "z":1E5}\n'}),
        "podman": ("5.6.0", "podman", {"/etc/containers/containers.conf": "[engine]\n"}),
        "crio": ("1.30.0", "cri-o", {"/etc/crio/crio.conf": '[crio.runtime]\n'}),
    }

    def prepare(self, name):
        """The engine, which reads another directory, with its files. The words of `configure`."""
        version, package, files = self.ENGINES[name]
        program = {"docker": "dockerd"}.get(name, name)
        shutil.rmtree(self.path("/etc"))
        self.put(f"/usr/bin/{program}", "")
        self.put("/var/lib/dpkg/status", f"Package: {package}\n"
                 f"Status: install ok installed\nVersion: {version}\n\n")
        for path, text in files.items():
            self.put(path, text)
        return [name, "--output-dir", str(self.path("/opt/cdi"))]

    def kill(self, number, *words):
        """Whether a call was killed before its change of that number; else it was done before."""
        options = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"  # which traces, too
        done = self.run_tool(KILL_AT, str(number), self.program, "configure", "--root",
                             str(self.root), *words, expect=None,
                             env={**os.environ, "ASAN_OPTIONS": options})
        if done.returncode == 77:
            self.skipTest("ptrace is not permitted, or too old to tell system calls")
        self.assertIn(done.returncode, (0, 10), done.stderr)
        return done.returncode == 10

    def places(self):
        """The numbers of changes at which a call is killed."""
        return range(1, 200)

    def test_configure(self):
        for name in self.ENGINES:
            for repeated in (False, True):
                for number in self.places():
                    words = self.prepare(name)
                    before = self.files()
                    if not self.kill(number, *words):
                        break
                    with self.subTest(name=name, number=number, repeated=repeated):
                        if repeated:
                            self.configure(*words)
                            self.assertIn("nothing to do", self.configure(*words))
                        self.configure(*words, "--undo")
                        self.assertEqual(self.files(), before)
                self.assertGreater(number, 5)

    def test_undo(self):
        for name in self.ENGINES:
            for number in self.places():
                words = self.prepare(name)
                before = self.files()
                self.configure(*words)
                after = self.files()
                if not self.kill(number, *words, "--undo"):
                    break
                with self.subTest(name=name, number=number):
                    self.configure(*words, "--undo")
                    self.assertEqual(self.files(), before)
                    self.configure(*words)
                    self.assertEqual(self.files(), after)
                    self.configure(*words, "--undo")
                    self.assertEqual(self.files(), before)
            self.assertGreater(number, 1)


if __name__ == "__main__":
    run_tests()
