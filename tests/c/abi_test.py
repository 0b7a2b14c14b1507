#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The binary interface of the library for programs in C: what may change, and what may not.

usage: abi_test.py LIBRARY USE_CDI RUNTIME
       abi_test.py --renew [--break]

landed.h has the declarations of the last landed include/cdi/cdi.h. --renew writes it again, if
programs of the landed one stay compatible; --break, which only a new .so number allows, in any
case.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

TESTS = pathlib.Path(__file__).resolve().parent
PROJECT = TESTS.parents[1]
HEADER = PROJECT / "include/cdi/cdi.h"
LANDED = TESTS / "landed.h"
LICENCE = "// SPDX-License-Identifier: Apache-2.0 OR MIT\n"
GROWN = re.compile(r"^typedef struct (cdi_\w+) \{\n  size_t size;", re.M)
BODY = re.compile(r"^(?:typedef struct|enum) cdi_\w+ \{\n.*?(?=\n\})", re.S | re.M)

# Prints for each struct whether the library knows its newest member, and whether it is NULL.
ASKING = """\
#include <stdio.h>
#include <cdi/cdi.h>
#define ASK(type, object) printf("%s %d %d\\n", #type, CDI_HAS(type, object, added_later), \\
                                 (object)->added_later == NULL)
int main(int argc, char** argv) {
  cdi_error* error = NULL;
  cdi_cache* cache = cdi_cache_open(argv + 1, 1, NULL);
  cdi_edits* edits = cdi_cache_edits(cache, argv + 2, (size_t)argc - 2, &error);
  if (edits == NULL) return 1;
  ASK(cdi_edits, edits);
  ASK(cdi_node, edits->nodes[0]);
  ASK(cdi_node, edits->nodes[1]);
  ASK(cdi_rule, edits->rules[0]);
  ASK(cdi_mount, edits->mounts[0]);
  ASK(cdi_hook, edits->hooks[0]);
  ASK(cdi_net_device, edits->net_devices[0]);
  ASK(cdi_intel_rdt, edits->intel_rdt);
  cdi_free(edits);
  edits = cdi_cache_hookless_edits(cache, argv + 2, (size_t)argc - 2, NULL, NULL, NULL, NULL);
  ASK(cdi_hook_note, edits->notes[0]);
  cdi_free(edits);
  cdi_cache_edits(cache, argv + 1, 1, &error);
  ASK(cdi_error, error);
  cdi_reasons* reasons = cdi_cache_why(cache, argv + 1, 1, NULL);
  ASK(cdi_reason, reasons->items[0]);
  cdi_free(reasons);
  cdi_free(error);
  cdi_free(cache);
  return 0;
}
"""
HOOK = "{hookName: createContainer, path: /usr/bin/nvidia-cdi-hook, args: [nvidia-cdi-hook, %s]}"
SPEC = f"""\
cdiVersion: 1.1.0
kind: v.com/c
devices:
- name: d
  containerEdits:
    deviceNodes:
    - {{path: /dev/nvidia0, type: c, major: 195, minor: 0}}
    - {{path: /dev/d, hostPath: /dev/null}}
    mounts: [{{hostPath: /h, containerPath: /c, options: [rbind, ro]}}]
    netDevices: [{{hostInterfaceName: eth1, name: eth0}}]
    intelRdt: {{closID: low}}
    hooks:
    - {HOOK % "create-symlinks, --link, 'a::/usr/lib/b'"}
"""


def run(*command, **more):
    return subprocess.run([str(part) for part in command], text=True, capture_output=True,
                          check=False, **more)


def declarations(header):
    """A header without its comments."""
    text = re.sub(r"[ \t]*/\*.*?\*/", "", header, flags=re.S)
    return re.sub(r"\n\n+", "\n", text)


def stub(header, folder, name):
    """A shared library with functions of these types, and all types that they use."""
    place = pathlib.Path(folder) / name / "cdi"
    place.mkdir(parents=True, exist_ok=True)
    (place / "cdi.h").write_text(header)
    functions = re.findall(r"^CDI_API (.*?);", declarations(header), re.S | re.M)
    text = "#include <stdlib.h>\n#include <cdi/cdi.h>\n"
    text += "".join(f"{function} {{ abort(); }}\n" for function in functions)
    (place / "stub.c").write_text(text)
    library = place.parent / "libstub.so"
    made = run("cc", "-g", "-w", "-shared", "-fPIC", f"-I{place.parent}", place / "stub.c",
               "-o", library)
    if made.returncode != 0:
        raise AssertionError(made.stderr)
    return library


def without_additions(old, new):
    """A header without the members at the end of structs, and codes, that an older one lacks."""
    old, new = declarations(old), declarations(new)
    for body in BODY.findall(old):
        name = body.partition("{")[0]
        now = next((each for each in BODY.findall(new) if each.partition("{")[0] == name), "")
        if now.startswith(body) and ("size_t size;" in body or name.startswith("enum")):
            new = new.replace(now, body)
    return new


def values(header, names, folder):
    """The values of enumerators, one a line, by a compiler: abidiff does not see an enum that no
    function uses, such as the flags."""
    (pathlib.Path(folder) / "values.h").write_text(header)
    program = '#include <stdio.h>\n#include "values.h"\nint main(void) {\n'
    program += "".join(f'printf("{name} = %lld\\n", (long long){name});\n' for name in names)
    source = pathlib.Path(folder) / "values.c"
    source.write_text(program + "return 0;\n}\n")
    made = run("cc", source, "-o", source.with_suffix(""))
    if made.returncode != 0:
        return made.stderr
    return run(source.with_suffix("")).stdout


def changed_values(old, new):
    """The enumerators of an old header that have other values in a new one, or are not there."""
    bodies = [body for body in BODY.findall(declarations(old)) if body.startswith("enum")]
    names = re.findall(r"^  (CDI_\w+)", "\n".join(bodies), re.M)
    with tempfile.TemporaryDirectory() as folder:
        before, after = (values(header, names, folder) for header in (old, new))
    return "" if before == after else f"values before:\n{before}values now:\n{after}"


def broken(old, new):
    """What old programs would notice of a change; empty if there is nothing."""
    found = changed_values(old, new)
    if found:
        return found
    with tempfile.TemporaryDirectory() as folder:
        made = run("abidiff", "--no-added-syms", stub(old, folder, "old"),
                   stub(without_additions(old, new), folder, "new"))
        return made.stdout + made.stderr if made.returncode != 0 else ""


def renew(and_break):
    if not and_break:
        found = broken(LANDED.read_text(), HEADER.read_text())
        if found:
            sys.exit(found + "\nPrograms would break: see docs/abi.md.")
    LANDED.write_text(LICENCE + declarations(HEADER.read_text()))


def grown():
    """The header of a later release: each struct has a new member."""
    header = HEADER.read_text()
    for name in GROWN.findall(header):
        header = header.replace(f"}} {name};", f"  const char* added_later;\n}} {name};")
    return header


class Abi(unittest.TestCase):
    def test_landed_is_current(self):
        self.assertEqual(LANDED.read_text(), LICENCE + declarations(HEADER.read_text()),
                         "\nrun tests/c/abi_test.py --renew")

    @unittest.skipUnless(shutil.which("abidiff"), "abidiff (Debian: abigail-tools) is not there")
    def test_landed_programs_stay_compatible(self):
        self.assertEqual(broken(LANDED.read_text(), HEADER.read_text()), "")

    @unittest.skipUnless(shutil.which("abidiff"), "abidiff (Debian: abigail-tools) is not there")
    def test_what_breaks_programs_is_seen(self):
        header = HEADER.read_text()
        self.assertEqual(broken(header, grown()), "")
        member = "  const char* host_path;"
        for old, new in ((member, "  int other;\n" + member), (member, "  const int* host_path;"),
                         (member, ""), ("  CDI_SCHEMA,", "  CDI_OTHER, CDI_SCHEMA,"),
                         ("CDI_REFUSE_WRITABLE = 2", "CDI_REFUSE_WRITABLE = 3"),
                         ("CDI_WATCHED = 4", "CDI_WATCHED = 48"),
                         ("  CDI_NO_MEMORY ", "  CDI_NO_MEMORY = 77 "),
                         ("uint32_t flags", "uint64_t flags"),
                         ("CDI_API const char* cdi_version(void);", ""),
                         ("typedef struct cdi_strings {", "typedef struct cdi_strings {\nint n;")):
            with self.subTest(old=old, new=new):
                self.assertEqual(header.count(old), 1)
                self.assertNotEqual(broken(header, header.replace(old, new)), "")
                self.assertNotEqual(broken(header, grown().replace(old, new)), "")

    def test_structs_behind_pointers_say_their_size(self):
        """A list of structs by value, or one inside another, could not grow."""
        text = declarations(HEADER.read_text())
        names = set(GROWN.findall(text))
        structs = set(re.findall(r"^typedef struct (cdi_\w+) \{", text, re.M))
        self.assertEqual(structs - names, {"cdi_errors", "cdi_strings", "cdi_reasons"})
        for name in names:
            self.assertNotRegex(text, rf"(?m)^  {name} \w+;")

    def last_members(self):
        """The structs, each with its last member."""
        for body in BODY.findall(declarations(HEADER.read_text())):
            last = re.search(r"(\w+);$", body)
            name = re.match(r"typedef struct (cdi_\w+)", body)
            if last and name:
                yield name[1], last[1]

    def test_structs_have_no_padding_at_their_end(self):
        """There, a new member would not change the size, by which CDI_HAS knows it."""
        program = "#include <stdio.h>\n#include <cdi/cdi.h>\nint main(void) {\n"
        for name, last in self.last_members():
            program += (f"if (offsetof({name}, {last}) + sizeof((({name}*)0)->{last})"
                        f' != sizeof({name})) puts("{name}");\n')
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / "padding.c"
            source.write_text(program + "return 0;\n}\n")
            made = run("cc", f"-I{PROJECT}/include", source, "-o", f"{folder}/padding")
            self.assertEqual(made.returncode, 0, made.stderr)
            self.assertEqual(run(f"{folder}/padding").stdout, "")

    @unittest.skipUnless(shutil.which("clang"), "clang is not there")
    def test_structs_have_no_padding_at_their_end_on_32_bit_machines(self):
        program = "#include <cdi/cdi.h>\n"
        for name, last in self.last_members():
            program += (f"_Static_assert(offsetof({name}, {last}) + sizeof((({name}*)0)->{last})"
                        f' == sizeof({name}), "{name}");\n')
        for target in ("armv7-linux-gnueabihf", "i686-linux-gnu"):
            with self.subTest(target):
                made = run("clang", f"--target={target}", "-ffreestanding", "-fsyntax-only", "-xc",
                           f"-I{PROJECT}/include", "-", input=program)
                self.assertEqual((made.returncode, made.stderr), (0, ""))

    def test_each_list_has_pointers(self):
        text = declarations(HEADER.read_text())
        for name, items in re.findall(r"const (cdi_\w+)(\*[^;]*);\n  size_t \w*count;", text):
            self.assertRegex(items, r"^\* const\* \w+$", name)


class OldAndNew(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if b"__asan_init" in pathlib.Path(LIBRARY).read_bytes():
            raise unittest.SkipTest("the later library is not built with the sanitizers")
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        (cls.folder / "cdi").mkdir()
        (cls.folder / "specs").mkdir()
        (cls.folder / "cdi/cdi.h").write_text(grown())
        (cls.folder / "specs/v.yaml").write_text(SPEC)
        name = "libcontainer-device-interface-c.so.0"
        made = run("c++", "-std=c++20", "-O0", "-w", "-shared", "-fPIC", f"-I{cls.folder}",
                   f"-I{PROJECT}/include", f"-Wl,-soname,{name}",
                   f"-Wl,--version-script={PROJECT}/src/c/c_library.map",
                   PROJECT / "src/c/c_library.cpp", "-o", cls.folder / name, "-lpthread")
        assert made.returncode == 0, made.stderr
        cls.later = {**os.environ, "LD_LIBRARY_PATH": str(cls.folder)}

    def test_a_program_of_now_runs_with_a_later_library(self):
        shown = run("env", "LD_DEBUG=libs", RUNTIME, self.folder / "specs", "v.com/c=d",
                    env=self.later)
        self.assertIn(f"{self.folder}/libcontainer", shown.stderr)
        now, later = (run(RUNTIME, self.folder / "specs", "v.com/c=d", env=env)
                      for env in (None, self.later))
        self.assertEqual((now.returncode, now.stdout), (0, later.stdout), now.stderr)
        self.assertIn("mknod /dev/d (/dev/null) c 1 3", now.stdout)
        made = run(USE_CDI, self.folder / "new", env=self.later)
        self.assertEqual((made.returncode, made.stdout, made.stderr), (0, "", ""))

    def test_a_later_program_asks_which_members_there_are(self):
        (self.folder / "ask.c").write_text(ASKING)
        made = run("cc", f"-I{self.folder}", self.folder / "ask.c", LIBRARY, "-o",
                   self.folder / "ask")
        self.assertEqual((made.returncode, made.stderr), (0, ""))
        names = sorted(GROWN.findall(grown()))
        for library, known in ((pathlib.Path(LIBRARY).parent, 0), (self.folder, 1)):
            made = run(self.folder / "ask", self.folder / "specs", "v.com/c=d",
                       env={**os.environ, "LD_LIBRARY_PATH": str(library)})
            lines = [line.split() for line in made.stdout.splitlines()]
            self.assertEqual(sorted({name for name, *_ in lines}), names, made.stderr)
            for name, has, is_null in lines:
                self.assertEqual((has, is_null), (str(known), "1"), name)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--renew"]:
        renew("--break" in sys.argv)
    else:
        LIBRARY, USE_CDI, RUNTIME = (os.path.abspath(sys.argv.pop(1)) for _ in range(3))
        unittest.main(verbosity=2)
