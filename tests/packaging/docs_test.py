#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Every public name is documented: Doxygen reports no undocumented name."""
import shutil
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
from project import RELEASE, ROOT, PackagingTest  # noqa: E402


@unittest.skipUnless(shutil.which("doxygen"), "doxygen is not installed")
class Docs(PackagingTest):

    def undocumented(self, source):
        """Doxygen's warnings about undocumented names. Its other warnings depend on its version."""
        text = (ROOT / "packaging/Doxyfile.in").read_text(encoding="utf-8")
        for name, value in {"SOURCE": source, "OUTPUT": self.folder, "VERSION": RELEASE}.items():
            text = text.replace(f"@{name}@", str(value))
        (self.folder / "Doxyfile").write_text(text, encoding="utf-8")
        done = subprocess.run(["doxygen", "Doxyfile"], cwd=self.folder, text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return [line for line in done.stdout.splitlines() if "is not documented" in line]

    def test_every_public_name_is_documented(self):
        self.assertEqual(self.undocumented(ROOT), [])
        html = self.folder / "html"
        self.assertIn("Everything that a device changes in a container",
                      (html / "structcdi_1_1BasicContainerEdits.html").read_text("utf-8"))
        self.assertEqual(list(html.glob("*detail*")), [])

    def test_an_undocumented_name_is_reported(self):
        shutil.copytree(ROOT / "include", self.folder / "include")
        header = self.folder / "include/cdi/oci/spec.hpp"
        text = header.read_text(encoding="utf-8")
        for place, code in (("struct BasicRoot {\n", "  int member = 0;\n"),
                            ("namespace oci {\n", "int function();\n"),
                            ("namespace oci {\n", "struct Type { int member; };\n")):
            with self.subTest(code):
                self.assertIn(place, text)
                header.write_text(text.replace(place, place + code, 1), encoding="utf-8")
                self.assertNotEqual(self.undocumented(self.folder), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
