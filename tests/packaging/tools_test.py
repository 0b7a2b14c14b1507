#!/usr/bin/env python3
# cdi - Container Device Interface for C++20
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Tests which files `meson install` installs for the tools: tools_test.py BUILD"""
import json
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
from project import RELEASE, ROOT, PackagingTest  # noqa: E402

BUILD = pathlib.Path(sys.argv.pop(1))
TOOLS = ["cdi", "cdi-pod", "cdi-prepare"]
UNITS = ["cdi-prepare-watch.service", "cdi-prepare.path", "cdi-prepare.service"]


class Tools(PackagingTest):

    def test_programs_units_and_rules(self):
        self.run_in(BUILD, "meson", "install", "--no-rebuild", "--tags", "runtime,man",
                    "--destdir", str(self.folder))
        options = json.loads(self.run_in(BUILD, "meson", "introspect", "--buildoptions"))
        prefix = next(option["value"] for option in options if option["name"] == "prefix")
        usr = self.folder / prefix.lstrip("/")
        found = {str(path.relative_to(usr)) for path in usr.rglob("*") if path.is_file()}
        completions = {f"share/{place.format(name)}" for name in TOOLS for place in (
            "bash-completion/completions/{}", "zsh/site-functions/_{}",
            "fish/vendor_completions.d/{}.fish")}
        vendors = {f"share/cdi-prepare/vendor-files/{path.name}"
                   for path in ROOT.glob("examples/tools/prepare/vendor-files/*.toml")}
        self.assertEqual(found, {*vendors, *(f"bin/{name}" for name in [*TOOLS, "cdi-runtime"]),
                                 *completions, "share/man/man1/cdi.1", "share/man/man1/cdi-pod.1",
                                 "share/man/man8/cdi-prepare.8",
                                 "lib/udev/rules.d/90-cdi-prepare.rules",
                                 *(f"lib/systemd/system/{name}" for name in UNITS)})
        for name in UNITS:
            text = (usr / "lib/systemd/system" / name).read_text(encoding="ascii")
            self.assertEqual(text.count(f"ExecStart={prefix}/bin/cdi-prepare "),
                             name.endswith(".service"), name)
        for name in TOOLS:
            self.assertIn(RELEASE, self.run_in(usr, f"bin/{name}", "--version"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
