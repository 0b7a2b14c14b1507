# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What compilers print when a type cannot be edited: one short error that says what to write."""
import pathlib
import re
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "build"))
from toolchain import CLANGXX, GXX, INCLUDE, Unit  # noqa: E402

MOST_LINES = 30
PRELUDE = """
#include <cdi/apply.hpp>
#include <cdi/cache.hpp>
#include <cdi/host.hpp>
#include <cdi/oci.hpp>
#include <cdi/plan.hpp>
struct MySpec {};
struct HalfSpec {};
template <>
struct cdi::SpecEditor<HalfSpec> : cdi::SpecEditor<cdi::oci::Spec> {
  explicit SpecEditor(HalfSpec& spec);
  void mounts();
};
void call(MySpec& spec, HalfSpec& half, const cdi::Registry& registry, cdi::Cache& cache,
          const cdi::ContainerEdits& edits, const std::vector<std::string>& names,
          cdi::oci::SpecView& view, const cdi::Plan& plan) {
"""
# The call, and what the first line of the error has.
ROWS = (
    ("(void)edits.apply(spec);", "PleaseWrite<cdi::SpecEditor<MySpec>>"),
    ("(void)registry.inject(spec, {\"v.com/c=d\"});", "PleaseWrite<cdi::SpecEditor<MySpec>>"),
    ("(void)cache.inject(spec, names);", "PleaseWrite<cdi::SpecEditor<MySpec>>"),
    ("(void)edits.apply(half);", "the SpecEditor of this type lacks a function"),
    ("(void)edits.apply(view, cdi::HostWithOptions<>{});", "text that this type would not own"),
    ("(void)plan.apply(view);", "this type would point into temporary edits of the plan"),
)


def plain(text):
    """An error without the inline namespace and the blanks between brackets."""
    return re.sub(r"::v\d+_\d+_\d+", "", text).replace("> >", ">>")


class NoEditor(unittest.TestCase):
    def check(self, compiler):
        if not compiler:
            self.skipTest("the compiler is not installed")
        for call, expected in ROWS:
            with self.subTest(call):
                unit = Unit(call, [compiler, "-std=c++20", "-fsyntax-only", "-I", INCLUDE, "-xc++",
                                   "-"], PRELUDE + call + "}\n")
                unit.run()
                self.assertFalse(unit.good)
                errors = [line for line in unit.errors.splitlines() if "error:" in line]
                self.assertEqual(len(errors), 1, unit.errors)
                self.assertIn(expected, plain(errors[0]))
                self.assertLessEqual(len(unit.errors.splitlines()), MOST_LINES, unit.errors)

    def test_gcc(self):
        self.check(GXX)

    def test_clang(self):
        self.check(CLANGXX)


if __name__ == "__main__":
    unittest.main(verbosity=2)
