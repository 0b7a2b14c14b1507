// The spec files of `cdi-prepare write`.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/gpu/findings/our_specs.hpp"

#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include <cdi/base/shell_word.hpp>

#include "diagnosis.hpp"

using namespace prepare;

TEST_CASE("a spec that does not fit is written again by the program that wrote it") {
  const Host host;
  host.put("dev.tab", "/dev/nvidia0 c 195 0 0666 0 0\n");
  const auto is_advised = [&](std::string_view advice) {
    return is_only(diagnose(host, {inventory()}), "specs", Level::fault,
                   {"\"/dev/nvidia0\" is c 195:0", advice});
  };
  const auto write = "Run `cdi-prepare write --root " + host.path() + "`";
  const std::string_view not_ours = "program that wrote it, or remove it";
  host.put("var/run/cdi/a.json", spec_of_gpu(196, "{" + our_owner + "}"));
  CHECK(is_advised("Run `cdi-prepare write --root " + host.path() + " --format json`"));
  host.put("var/run/cdi/a.json", spec_of_gpu(196, R"({"cdi-publisher/owner": "other"})"));
  CHECK(is_advised("program that wrote it, which is \"other\", or remove it"));
  host.remove("var/run/cdi/a.json");

  // A version without annotations: the owner is in a comment.
  const std::string old_spec =
      "cdiVersion: 0.5.0\nkind: nvidia.com/gpu\ndevices:\n- name: '0'\n  containerEdits:\n"
      "    deviceNodes:\n    - {path: /dev/nvidia0, type: c, major: 196}\n";
  host.put("var/run/cdi/a.yaml", old_spec);
  CHECK(is_advised(not_ours));
  host.put("var/run/cdi/a.yaml", "# cdi-publisher/owner: cdi-prepare\n" + old_spec);
  CHECK(is_advised(write));
}

TEST_CASE("the advised command has the options and the directory of the spec") {
  const Host host;
  const auto check = [&](const std::string& name, const std::string& options,
                         const std::string& words, const std::string& directory = {}) {
    const auto arguments = words + " --format json" + directory;  // as the file is JSON
    host.put("dev.tab", "/dev/nvidia0 c 195 0 0666 0 0\n");
    host.put(name,
             spec_of_gpu(196, R"({"cdi-prepare/options": ")" + options + "\", " + our_owner + "}"));
    CHECK(is_only(
        diagnose(host, {inventory()}), "specs", Level::fault,
        {"Run `cdi-prepare write --root " + host.path() + arguments +
         "`; `cdi-prepare diff --root " + host.path() + arguments + "` shows what changes."}));
    host.remove(name);
  };
  const std::string in_run = "run/cdi/a.json", in_etc = "etc/cdi/a.json";
  const auto to_etc = " --output-dir " + host.path() + "/etc/cdi";
  check(in_run, "profile=all hooks=none node-numbers=given", "");
  check(in_etc, "profile=all hooks=none node-numbers=asked", "", to_etc);
  check(in_run, "profile=compute hooks=nvidia node-numbers=asked",
        " --profile compute --hooks nvidia --node-numbers asked");
  check(in_etc, "node-numbers=given nvml visible-only", " --node-numbers given --visible-only",
        to_etc);  // --nvml asks about this host only
  check(in_run, "ld-library-path max-version=0.7.0", " --ld-library-path --max-version 0.7.0");
  for (const auto* const odd : {"", "nvml; reboot", "$(x)", "`x`", "a\\nb"}) check(in_run, odd, "");
}

TEST_CASE("a directory is one word of the advised command, and below the root") {
  const Host host;
  host.put("dev.tab", "/dev/nvidia0 c 195 0 0666 0 0\n");
  const std::string name = "data/$(touch x) 'y'; \"z\"";
  host.put(name + "/a.json", spec_of_gpu(196, "{" + our_owner + "}"));
  host.make("etc");
  host.link(("/" + name).c_str(), "etc/cdi");
  CHECK(is_only(diagnose(host, {inventory()}), "specs", Level::fault,
                {" --output-dir " + cdi::shell_word(host.path() + "/" + name) + "`;"}));
}

TEST_CASE("the advice names first what keeps the spec from being written") {
  const Host host;
  host.put("dev.tab", "/dev/nvidia0 c 195 0 0666 0 0\n");
  auto found = inventory();
  const auto advice = [&] {
    for (const auto& finding : diagnose(host, {found})) {
      if (finding.about == "specs") return finding.advice;
    }
    return std::string{};
  };
  const auto write = "un `cdi-prepare write --root " + host.path();
  CHECK(advice() == "R" + write + "`.");
  found.missing = {{{Fault::uvm_module, "the module nvidia-uvm is not loaded"}, compute}};
  const std::string first = "Load the module: modprobe nvidia-uvm. CUDA needs it. Then r";
  CHECK(advice() == first + write + "`.");
  host.put("run/cdi/a.json", spec_of_gpu(196, "{" + our_owner + "}"));
  CHECK(advice().starts_with(first + write + " --format json`; "));
  host.remove("run/cdi/a.json");

  // A spec whose profile needs no CUDA. Its version has no annotations: a comment has the profile.
  host.put("run/cdi/a.yaml",
           "# cdi-publisher/owner: cdi-prepare\n# cdi-prepare/options: profile=graphics\n"
           "cdiVersion: 0.5.0\nkind: nvidia.com/gpu\ndevices:\n- name: gpu\n  containerEdits:\n"
           "    deviceNodes:\n    - {path: /dev/nvidia0, type: c, major: 196}\n");
  CHECK(advice().starts_with("R" + write + " --profile graphics`; "));
}
