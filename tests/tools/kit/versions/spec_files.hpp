// Spec files and engines for the tests of conversions.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include <cdi/files/spec_text.hpp>
#include <cdi/registry/loaded_spec.hpp>

#include "../../../../tools/kit/versions/engine_versions.hpp"

namespace spec_files {

inline cdi::LoadedSpec parse(const std::string& text, const char* path = "v.yaml") {
  auto loaded = cdi::parse_spec(text, path, cdi::Format::yaml);
  REQUIRE_MESSAGE(loaded, (loaded ? "" : to_string(loaded.error())));
  return *std::move(loaded);
}

/// A file with one device `v.com/gpu=dev` of these edits.
inline cdi::LoadedSpec file(const std::string& version, const std::string& edits = "{env: [A=1]}",
                            const std::string& more = {}, const char* path = "/etc/cdi/v.yaml") {
  return parse("cdiVersion: " + version + "\nkind: v.com/gpu\n" + more +
                   "devices:\n- name: dev\n  containerEdits: " + edits + "\n",
               path);
}

inline tools::VersionedEngine engine(std::string_view name) {
  return *tools::parse_engine(name);
}

}  // namespace spec_files
