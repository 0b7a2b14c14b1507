#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Adds a field and a kind of edit to a copy of the headers.

A field of a device node costs its member and its line in the field list: it is then read, joined,
planned and written. The C library does not compile until it treats the field. A kind of edit costs
the places that PLACES, PARTS and EDITORS list, and one in the C library; the compiler names each.
"""
import pathlib
import re
import shutil
import sys
import unittest

sys.dont_write_bytecode = True
from toolchain import GXX, INCLUDE, PROJECT, Case, Unit

PROGRAM = r"""
#include <cdi/plan.hpp>
#include <cdi/spec_text.hpp>

int main() {
  const auto registry = cdi::make_registry({{.name = "a.yaml", .text = R"(
cdiVersion: 1.1.0
kind: v.com/c
devices:
- name: d
  containerEdits:
    deviceNodes: [{path: /dev/a, type: c, major: 1, fileMode: 420, label: read}]
)"}});
  const auto devices = registry.resolve_all({"v.com/c=d"});
  if (!devices) return 1;
  const auto& spec = (*devices)[0].spec->spec;
  if (spec.devices[0].container_edits.device_nodes[0].label != "read") return 2;
  cdi::detail::JoinedDevices joined{*devices};
  const cdi::SystemHost host;
  if (!joined.join({true, true, true, true}, cdi::detail::HostRef{host}, nullptr)) return 3;
  if (joined.joined.nodes[0].label != "read") return 4;
  const auto plan = cdi::plan(registry, {"v.com/c=d"});
  if (!plan || plan->device_nodes[0].edit.label != "read") return 5;
  if (plan->edits().device_nodes[0].label != "read") return 6;
  const auto text = cdi::write_spec(spec, cdi::Format::json);
  return text && text->find(R"("label": "read")") != text->npos ? 0 : 7;
}
"""
CHECKED = """
#include <cdi/spec.hpp>
#include <cdi/validate.hpp>

int main() {
  cdi::ContainerEdits edits;
  edits.labels.emplace_back();
  const auto checked = cdi::validate(edits);
  return !checked && checked.error().where == "labels[0].hostInterfaceName" ? 0 : 1;
}
"""
TARGETS = """
#include <cdi/config_json.hpp>
#include <cdi/nlohmann.hpp>
#include <cdi/oci.hpp>
#include <cdi/plan.hpp>
"""
# The places that name each kind of edit, and those that name each part of an OCI spec.
PLACES = ["apply/joined_edits.inl", "plan/plan.hpp", "policy/decision.inl"]
PARTS = ["apply/apply.hpp", "targets/part_check.hpp"]
# What FullyEditable reports once it requires the part, and the place of the part for each.
EDITORS = {"cdi::oci::Spec": "targets/oci_editor.hpp",
           "cdi::detail::RecordingTarget<cdi::oci::Spec>": "plan/recording_target.hpp",
           "cdi::ConfigJson": "targets/part_check.hpp", "nlohmann::json": "targets/part_check.hpp"}


@unittest.skipUnless(GXX, "needs g++")
class NewField(Case):
    def setUp(self):
        self.include = self.folder() / "include"
        shutil.copytree(INCLUDE, self.include)

    def change(self, header, old, new):
        path = self.include / "cdi" / header
        text = path.read_text(encoding="utf-8")
        self.assertEqual(text.count(old), 1, f"{header}: {old}")
        path.write_text(text.replace(old, new), encoding="utf-8")

    def compile(self, source, *flags):
        command = [GXX, "-std=c++20", "-I", self.include, "-fmax-errors=0", *flags, "-x", "c++",
                   "-pthread"]
        return Unit("", [*command, *([source] if source else ["-"])], "").run()

    def errors_of(self, source, *flags):
        """The headers in which an assertion of ours fails, sorted, and all errors."""
        done = self.compile(source, "-fsyntax-only", *flags)
        found = re.findall(r"/(?:include/cdi|src)/(\S+?):\d+:\d+: error: static assertion failed: cdi:",
                           done.errors)
        return sorted(set(found)), done.errors

    def run_program(self, text, meaning):
        source = self.include.parent / "program.cpp"
        source.write_text(text, encoding="utf-8")
        program = self.include.parent / "program"
        done = self.compile(source, "-o", program)
        self.assertTrue(done.good, done.errors[:3000])
        self.assertTrue(Unit("", [program]).run().good, meaning)

    def test_a_field(self):
        self.change("model/spec.hpp", "  StringOf<S> permissions{}; ",
                    "  StringOf<S> label{};\n  StringOf<S> permissions{}; ")
        self.change("model/spec.hpp", '    list("permissions", &Self::permissions);\n',
                    '    list("permissions", &Self::permissions);\n    list("label", &Self::label);\n')
        self.run_program(PROGRAM, "the program returns the number of the step that lost the field")
        found, errors = self.errors_of(PROJECT / "src/c/c_library.cpp", "-DCDI_COMPILED")
        self.assertEqual(found, ["c/edits.hpp"], errors[:3000])

    def test_a_kind_of_edit(self):
        self.change("model/spec.hpp", "  ListOf<S, BasicNetDevice<S>> net_devices = no_items;\n",
                    "  ListOf<S, BasicNetDevice<S>> net_devices = no_items;\n"
                    "  ListOf<S, BasicNetDevice<S>> labels = no_items;\n")
        self.change("model/spec.hpp", '    list("hooks", &Self::hooks);\n',
                    '    list("hooks", &Self::hooks);\n    list("labels", &Self::labels);\n')
        self.change("apply/spec_editor.hpp", "  bool net_devices = false;",
                    "  bool labels = false;\n  bool net_devices = false;")
        found, errors = self.errors_of(PROJECT / "src/library.cpp")
        self.assertEqual(found, sorted(PLACES + PARTS), errors[:3000])
        found, errors = self.errors_of(PROJECT / "src/c/c_library.cpp", "-DCDI_COMPILED")
        self.assertIn("c/edits.hpp", found, errors[:3000])
        self.run_program(CHECKED, "the rules of interfaces also apply to the new kind")

    def test_an_editor(self):
        self.change("apply/editor_parts.hpp", "concept FullyEditable = ",
                    "concept FullyEditable = requires(SpecEditor<OciSpec> e) { e.labels(); } && ")
        self.assertEqual(self.incomplete(), list(EDITORS))
        self.change("targets/part_check.hpp", "  List env() {", "  void labels() {}\n  List env() {")
        self.assertEqual(self.incomplete(), [target for target, place in EDITORS.items()
                                             if place != "targets/part_check.hpp"])

    def incomplete(self):
        """The targets that are not fully editable."""
        source = self.include.parent / "targets.cpp"
        source.write_text(TARGETS + "".join(
            f'static_assert(cdi::FullyEditable<{target}>, "target {target}");\n'
            for target in EDITORS), encoding="utf-8")
        errors = self.compile(source, "-fsyntax-only").errors
        return re.findall("static assertion failed: target (.*)", errors)


if __name__ == "__main__":
    unittest.main(verbosity=2)
