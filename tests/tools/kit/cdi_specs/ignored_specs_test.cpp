// Tests for tools/kit/cdi_specs/ignored_specs.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/kit/cdi_specs/ignored_specs.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/base/result.hpp>

#include "../../../support/temp_tree.hpp"

namespace {

using Names = std::vector<std::string>;

/// `PATH: MESSAGE` of each, with the directory of the test as `~`.
Names found(const TempTree& tree, const Names& dirs) {
  const std::string root = tree.path();
  Names out;
  for (const auto& one : tools::ignored_specs(dirs)) {
    auto text = to_string(tools::error_of(one));
    for (auto at = text.find(root); at != text.npos; at = text.find(root)) {
      text.replace(at, root.size(), "~");
    }
    out.push_back(text);
  }
  return out;
}

}  // namespace

TEST_CASE("Files with names similar to specs are reported with the name that is read") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  for (const auto* const name : {"a/x.yml", "a/y.YAML", "a/z.Json", "a/good.yaml", "a/good.json"}) {
    tree.put(name, "");
  }
  CHECK(found(tree, {a + "/"}) ==
        Names{"~/a/x.yml: ignored: its name ends neither in .json nor in .yaml: rename it to "
              "\"x.yaml\"",
              "~/a/y.YAML: ignored: its name ends neither in .json nor in .yaml: rename it to "
              "\"y.yaml\"",
              "~/a/z.Json: ignored: its name ends neither in .json nor in .yaml: rename it to "
              "\"z.json\""});
}

TEST_CASE("The remedy replaces no other file") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  tree.put("a/x.yml", "");
  tree.put("a/x.yaml", "");
  CHECK(found(tree, {a}) ==
        Names{"~/a/x.yml: ignored: its name ends neither in .json nor in .yaml: rename it to an "
              "unused name that ends in .yaml, or remove it"});
}

TEST_CASE("Directories with specs in them are reported once, unless they are searched") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  for (const auto* const dir : {"a/one", "a/two", "a/none", "a/.hidden", "a/searched"}) {
    tree.make_dir(dir);
  }
  tree.put("a/one/x.yaml", "");
  tree.put("a/two/x.yml", "");
  tree.put("a/two/y.json", "");
  tree.put("a/none/readme", "");
  tree.put("a/.hidden/x.yaml", "");
  tree.put("a/searched/x.yaml", "");
  tree.link("../a", "a/itself");
  CHECK(found(tree, {a, a + "/searched"}) ==
        Names{"~/a/one: ignored: subdirectories of a spec directory are not searched: move "
              "\"x.yaml\" to \"~/a\"",
              "~/a/two: ignored: subdirectories of a spec directory are not searched: move "
              "\"x.yml\" and 1 more to \"~/a\" with unused names that end in .json or .yaml"});
}

TEST_CASE("The remedy for a directory replaces no other file, and names one that is read") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  tree.make_dir("a/Sub.d");
  const auto remedy = [&] {
    const auto text = found(tree, {a}).front();
    return text.substr(text.find("move"));
  };
  tree.put("a/Sub.d/z.yml", "");
  CHECK(remedy() == "move \"z.yml\" to \"~/a\" as \"z.yaml\"");
  tree.put("a/z.yaml", "");
  CHECK(remedy() == "move \"z.yml\" to \"~/a\" with an unused name that ends in .json or .yaml");
  tree.put("a/Sub.d/b.json", "");
  CHECK(remedy() ==
        "move \"b.json\" and 1 more to \"~/a\" with unused names that end in .json or .yaml");
  tree.make_dir("a/first");
  tree.put("a/first/z.yaml", "");
  tree.put("a/Sub.d/z.yaml", "");
  CHECK(found(tree, {a})[1].ends_with(
      "move \"z.yaml\" to \"~/a\" with an unused name that ends in .json or .yaml"));
}

TEST_CASE("Copies of editors and other files are not reported") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  for (const auto* const name :
       {"a/x.yaml~", "a/.x.yaml.swp", "a/#x.yaml#", "a/x.yaml.bak", "a/.x.yml", "a/readme", "a/yml",
        "a/x.yaml.cdi-tmp-1", "a/.yml", "a/x.yml.old"}) {
    tree.put(name, "");
  }
  tree.link("nowhere", "a/gone.yml");
  CHECK(found(tree, {a, tree / "none", a + "/readme"}).empty());
}
