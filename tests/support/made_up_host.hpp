// A made-up host in a temporary directory.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include <doctest/doctest.h>

#include "../../tools/kit/host/host_tree.hpp"
#include "temp_tree.hpp"

/// A host with only the files of a test.
class MadeUpHost : public TempTree {
 public:
  MadeUpHost() {
    make("run/cdi");
    make("var");
    link("../run", "var/run");
  }
  void make(std::string_view directory) const {
    std::filesystem::create_directories(*this / directory);
  }
  void put(std::string_view name, std::string_view text) const {
    std::filesystem::create_directories(std::filesystem::path{*this / name}.parent_path());
    TempTree::put(name, text);
  }
  void remove(std::string_view name) const {
    REQUIRE(std::filesystem::remove_all(*this / name) > 0);
  }
  void put_spec(std::string_view name, std::initializer_list<std::string_view> devices) const {
    std::string text = "cdiVersion: 0.5.0\nkind: nvidia.com/gpu\ndevices:\n";
    for (const auto device : devices) {
      text.append("- name: '").append(device).append("'\n  containerEdits: {env: [A=b]}\n");
    }
    put(name, text);
  }
  tools::HostTree tree() const {
    auto opened = tools::HostTree::open(path());
    REQUIRE(opened);
    return std::move(*opened);
  }
};
