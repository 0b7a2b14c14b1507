// Tests for scan_spec_dirs_for in include/cdi/dirs/scan.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cdi/dirs/cache.hpp>
#include <cdi/dirs/scan.hpp>
#include <cdi/nlohmann/editor.hpp>

#include "../../support/random_numbers.hpp"
#include "../../support/temp_tree.hpp"
#include "../files/kind_texts.hpp"

namespace {

using Json = nlohmann::ordered_json;
using Names = std::vector<std::string>;

/// The target after an injection, or the error.
template <class Inject>
std::string outcome(const Inject& inject) {
  Json target = Json::parse(R"({"x":1,"process":{"env":["A=0"]}})");
  const auto before = target;
  const auto done = inject(target);
  if (done) return target.dump();
  CHECK(target == before);
  return to_string(done.error());
}

/// Directories with random spec files of few kinds and devices, so that they often conflict.
class RandomNode {
 public:
  explicit RandomNode(std::uint32_t seed) : random_{seed} {
    for (std::uint32_t i = 0; i < 3; ++i) add_dir("d" + std::to_string(i));
  }

  const Names& dirs() const { return dirs_; }

  Names names() {
    Names names;
    for (auto i = random_.below(4); i > 0; --i) {
      constexpr const char* wrong[] = {"",     "=", "v.com/gpu", "v.com/gpu=", "v.com/gpu=a b",
                                       "x/y=z"};
      const bool bad = random_.below(10) == 0;
      names.push_back(bad ? wrong[random_.below(6)] : kind() + "=" + device());
    }
    return names;
  }

 private:
  void add_dir(const std::string& name) {
    dirs_.push_back(tree_ / name);
    if (random_.below(6) == 0) return;  // missing
    tree_.make_dir(name);
    for (auto i = random_.below(5); i > 0; --i) add_file(name + "/" + std::to_string(i));
    if (random_.below(20) == 0) tree_.link("nowhere", name + "/dangling.yaml");
    if (random_.below(20) == 0) tree_.make_dir(name + "/folder.json");
  }

  void add_file(const std::string& name) {
    const auto texts = kind_texts(kind(), device(), "FROM=" + name);
    const auto& [what, format, text] =
        texts[random_.below(static_cast<std::uint32_t>(texts.size()))];
    tree_.put(name + format, random_.below(5) == 0 ? spoilt(text) : text);
  }

  /// A text that is often not a valid spec, with or without its kind.
  std::string spoilt(std::string text) {
    const auto at = random_.below(static_cast<std::uint32_t>(text.size()));
    switch (random_.below(4)) {
      case 0: return text.substr(0, at);
      case 1: return text.erase(at, 1);
      case 2: return text.append("\nunknown: member\n");
      default: return text.insert(at, "\"");
    }
  }

  std::string kind() {
    constexpr const char* kinds[] = {"v.com/gpu", "v.com/gpu2", "v.com/nic", "w.org/gpu"};
    return kinds[random_.below(4)];
  }
  std::string device() { return std::string(1, static_cast<char>('a' + random_.below(3))); }

  RandomNumbers random_;
  TempTree tree_{"/dev/shm"};  // many small files
  Names dirs_{};
};

}  // namespace

TEST_CASE("Result and error equal a cache's, for random directories and names") {
  // A file that has just been changed is never skipped, unless there is no patience.
  const cdi::ReadOptions options{.retry_window = {}};
  std::size_t resolved = 0;
  std::size_t rejected = 0;
  std::size_t skipped = 0;
  for (std::uint32_t seed = 0; seed < 500; ++seed) {
    CAPTURE(seed);
    RandomNode node{seed};
    const auto names = node.names();
    const auto all = cdi::scan_spec_dirs(node.dirs(), options);
    const auto some = cdi::scan_spec_dirs_for(names, node.dirs(), options);
    const auto expected = outcome([&](Json& target) {
      return cdi::Cache{node.dirs(), {.read = options}}.inject(target, names);
    });
    CHECK(outcome([&](Json& target) { return some->inject(target, names); }) == expected);
    ++(expected.front() == '{' ? resolved : rejected);
    skipped += all->specs().size() - some->specs().size();
  }
  CHECK(resolved > 100);
  CHECK(rejected > 100);
  CHECK(skipped > 100);
}

TEST_CASE("A file that another process may still write is read, whatever its bytes") {
  const TempTree tree;
  const auto dir = tree.make_dir("cdi");
  tree.put_spec("cdi/x.yaml", "d");
  tree.put("cdi/y.yaml",
           "cdiVersion: 1.0.0\nkind: other/kind\ndevices:\n- name: o\n"
           "  containerEdits: {env: [O=1]}\n");
  const auto specs = [&](std::chrono::milliseconds retry_window) {
    return cdi::scan_spec_dirs_for({"v/c=d"}, {dir}, {.retry_window = retry_window})
        ->specs()
        .size();
  };
  CHECK(specs(std::chrono::milliseconds{0}) == 1);
  CHECK(specs(std::chrono::hours{1}) == 2);
}
