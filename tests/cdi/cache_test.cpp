// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <dirent.h>
#include <memory>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <thread>
#include <type_traits>
#include <unistd.h>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cdi/cache.hpp>
#include <cdi/oci/editor.hpp>
#include <cdi/oci/json_editor.hpp>

namespace {

using Names = std::vector<std::string>;

/// A directory tree of two levels that is removed in the end.
class TempTree {
 public:
  TempTree() { REQUIRE(::mkdtemp(path_.data()) != nullptr); }
  TempTree(const TempTree&) = delete;
  TempTree& operator=(const TempTree&) = delete;
  ~TempTree() { remove_all(path_); }

  std::string operator/(std::string_view name) const { return path_ + "/" + std::string{name}; }

  std::string make_dir(std::string_view name) const {
    auto path = *this / name;
    REQUIRE(::mkdir(path.c_str(), 0755) == 0);
    return path;
  }
  void link(const char* to, std::string_view name) const {
    REQUIRE(::symlink(to, (*this / name).c_str()) == 0);
  }
  void put(std::string_view name, std::string_view text) const {
    std::FILE* const file = std::fopen((*this / name).c_str(), "wb");
    REQUIRE(file != nullptr);
    CHECK(std::fwrite(text.data(), 1, text.size(), file) == text.size());
    std::fclose(file);
  }
  /// A spec of kind `v/c` with one device, which sets `FROM=<name>`.
  void put_spec(std::string_view name, std::string_view device) const {
    put(name, "cdiVersion: 1.0.0\nkind: v/c\ndevices:\n- name: " + std::string{device} +
                  "\n  containerEdits: {env: [FROM=" + std::string{name} + "]}\n");
  }

 private:
  static void remove_all(const std::string& path) {
    ::chmod(path.c_str(), 0700);
    if (DIR* const stream = ::opendir(path.c_str())) {
      Names names;
      while (const dirent* entry = ::readdir(stream)) names.emplace_back(entry->d_name);
      ::closedir(stream);
      for (const auto& name : names) {
        const auto inner = path + "/" + name;
        if (name != "." && name != ".." && ::unlink(inner.c_str()) != 0) remove_all(inner);
      }
    }
    ::rmdir(path.c_str());
  }

  std::string path_ = "/tmp/cdi-cache-test-XXXXXX";
};

/// The environment that a device gives to an empty OCI spec; empty when it is not injected.
std::string from(const cdi::Registry& registry, std::string_view name) {
  const auto found = registry.find(name);
  return found.device == nullptr ? "" : found.device->container_edits.env.at(0).substr(5);
}

Names files(const std::vector<cdi::Error>& errors) {
  Names files;
  for (const auto& error : errors) files.push_back(error.position.file);
  return files;
}

}  // namespace

static_assert(!std::is_copy_constructible_v<cdi::Cache>);

TEST_CASE("The default directories are those of the CDI document, the later with priority") {
  CHECK(cdi::default_spec_dirs() == Names{"/etc/cdi", "/var/run/cdi"});
}

TEST_CASE("A later directory has priority over an earlier one, whatever the names of the files") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  const auto b = tree.make_dir("b");
  tree.put_spec("a/z.yaml", "d");
  tree.put_spec("a/only.yaml", "e");
  tree.put_spec("b/a.yaml", "d");
  const auto ab = cdi::Cache{{a, b}}.registry();
  CHECK(from(*ab, "v/c=d") == "b/a.yaml");
  CHECK(from(*ab, "v/c=e") == "a/only.yaml");
  CHECK(from(*cdi::Cache{{b, a}}.registry(), "v/c=d") == "a/z.yaml");
  CHECK(ab->errors().empty());
  CHECK(ab->specs().size() == 3);
}

TEST_CASE("The same directory given twice is no conflict") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  tree.put_spec("a/x.yaml", "d");
  const auto registry = cdi::Cache{{a, a + "/", a}}.registry();
  CHECK(from(*registry, "v/c=d") == "a/x.yaml");
  CHECK(registry->errors().empty());
}

TEST_CASE(
    "Two files of one directory with the same device conflict, told pair by pair in order of "
    "names") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  tree.put_spec("a/y.yaml", "d");
  tree.put_spec("a/x.yaml", "d");
  tree.link("x.yaml", "a/z.yaml");
  const auto registry = cdi::Cache{{a}}.registry();
  CHECK(from(*registry, "v/c=d").empty());
  CHECK(files(registry->errors()) ==
        Names{a + "/x.yaml", a + "/y.yaml", a + "/x.yaml", a + "/z.yaml"});
}

TEST_CASE("A directory that is missing, a file, or unlistable hides no other") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  const auto b = tree.make_dir("b");
  tree.put("file", "");
  tree.link("loop", "loop");
  tree.link("gone", "dangling");
  tree.link("b", "link");
  tree.put_spec("a/x.yaml", "d");
  tree.put_spec("b/x.yaml", "e");
  cdi::Cache cache{
      {a, tree / "gone", tree / "file", tree / "loop", tree / "dangling", tree / "link"}};
  CHECK(cache.registry()->devices() == Names{"v/c=d", "v/c=e"});
  CHECK(files(cache.registry()->errors()) == Names{tree / "file", tree / "loop"});
  CHECK(cache.registry()->errors()[0].system == ENOTDIR);
  CHECK(cache.registry()->errors()[1].system == ELOOP);

  using State = cdi::SpecDir::State;
  const State states[] = {State::read,       State::missing, State::unreadable,
                          State::unreadable, State::missing, State::read};
  const auto dirs = cache.dirs();
  REQUIRE(dirs.size() == std::size(states));
  for (std::size_t i = 0; i < dirs.size(); ++i) {
    CAPTURE(dirs[i].path);
    CHECK(dirs[i].state == states[i]);
    CHECK(dirs[i].priority == static_cast<int>(i));
    CHECK(dirs[i].specs == (states[i] == State::read ? 1 : 0));
  }
}

TEST_CASE("A directory without permission hides no other") {
  if (::geteuid() == 0) {
    MESSAGE("skipped 'root may read and write everything'");
    return;
  }
  const TempTree tree;
  const auto a = tree.make_dir("a");
  const auto b = tree.make_dir("b");
  tree.put_spec("b/x.yaml", "d");
  REQUIRE(::chmod(a.c_str(), 0) == 0);
  const auto registry = cdi::Cache{{a, b}}.registry();
  CHECK(registry->devices() == Names{"v/c=d"});
  CHECK(files(registry->errors()) == Names{a});
}

TEST_CASE("A bad file costs only itself, and lets a lower one through") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  const auto b = tree.make_dir("b");
  tree.put_spec("a/x.yaml", "d");
  tree.put("b/1.json", "{");
  tree.put("b/2.yaml", "cdiVersion: 1.0.0\nkind: w/c\ndevices: [{name: d}]\n");
  tree.put("b/3.yaml", "");
  tree.put("b/4.json", std::string("\0\xff", 2));
  REQUIRE(::mkfifo((tree / "b/5.json").c_str(), 0600) == 0);
  tree.link("gone", "b/6.json");
  tree.link("7.json", "b/7.json");
  tree.link("/dev/zero", "b/8.json");
  tree.link("../a", "b/9.json");
  tree.put_spec("b/good.yaml", "e");
  const auto registry = cdi::Cache{{a, b}}.registry();
  CHECK(from(*registry, "v/c=d") == "a/x.yaml");
  CHECK(from(*registry, "v/c=e") == "b/good.yaml");
  CHECK(registry->vendors() == std::vector<std::string_view>{"v"});
  CHECK(files(registry->errors()) == Names{b + "/1.json", b + "/2.yaml", b + "/3.yaml",
                                           b + "/4.json", b + "/5.json", b + "/6.json",
                                           b + "/7.json", b + "/8.json", b + "/9.json"});
  for (const auto& error : registry->errors()) CHECK_FALSE(error.message.empty());
}

TEST_CASE("Looked at are files of the directory itself that end in .json or .yaml") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  tree.make_dir("a/sub.yaml");
  tree.put_spec("a/sub.yaml/x.yaml", "in-subdirectory");
  const std::pair<std::string, bool> rows[] = {
      {"1.yaml", true},      {"2.json", true}, {".yaml", true},   {".3.yaml", true},
      {" 4 .yaml", true},    {"5.yml", false}, {"6.YAML", false}, {"7.yaml~", false},
      {"8.yaml.tmp", false}, {"yaml", false},
  };
  Names expected;
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    const auto device = "d" + std::to_string(i);
    tree.put_spec("a/" + rows[i].first, device);
    if (rows[i].second) expected.push_back("v/c=" + device);
  }
  const auto registry = cdi::Cache{{a}}.registry();
  CHECK(registry->devices() == expected);
  CHECK(registry->errors().empty());
}

TEST_CASE("Directories are cleaned, so that paths in messages are") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  tree.put_spec("a/x.yaml", "d");
  for (const std::string text : {"a/", "a///", "./a/.", "b/../a", "a/b/../../a/"}) {
    CAPTURE(text);
    cdi::Cache cache{{tree / text}};
    CHECK(cache.dirs()[0].path == a);
    REQUIRE(cache.registry()->specs().size() == 1);
    CHECK(cache.registry()->specs()[0]->path == a + "/x.yaml");
  }
}

TEST_CASE("Directories are read when first asked, and not again before a refresh") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  cdi::Cache cache{{a, tree / "b"}};
  tree.put_spec("a/kept.yaml", "kept");
  tree.put_spec("a/changed.yaml", "before");
  tree.put_spec("a/removed.yaml", "removed");
  const auto old = cache.registry();
  const Names before{"v/c=before", "v/c=kept", "v/c=removed"};
  CHECK(old->devices() == before);

  tree.put_spec("a/changed.yaml", "after");
  REQUIRE(::unlink((tree / "a/removed.yaml").c_str()) == 0);
  tree.make_dir("b");
  tree.put_spec("b/added.yaml", "added");
  CHECK(cache.registry() == old);
  CHECK(cache.dirs()[1].state == cdi::SpecDir::State::missing);

  const auto fresh = cache.refresh();
  CHECK(fresh->devices() == Names{"v/c=added", "v/c=after", "v/c=kept"});
  CHECK(cache.registry() == fresh);
  CHECK(cache.dirs()[1].state == cdi::SpecDir::State::read);

  // The old snapshot is as it was, and usable.
  CHECK(old->devices() == before);
  cdi::oci::Spec oci;
  CHECK(old->inject(oci, {"v/c=removed"}));
  CHECK(oci.process->env == Names{"FROM=a/removed.yaml"});
}

TEST_CASE("A snapshot outlives the cache") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  tree.put_spec("a/x.yaml", "d");
  std::shared_ptr<const cdi::Registry> registry;
  {
    cdi::Cache cache{{a}};
    registry = cache.registry();
    cache.refresh();
  }
  CHECK(from(*registry, "v/c=d") == "a/x.yaml");
}

TEST_CASE("Errors go away when the file is mended") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  tree.put("a/x.yaml", "{");
  cdi::Cache cache{{a}};
  CHECK(cache.registry()->errors().size() == 1);
  tree.put_spec("a/x.yaml", "d");
  CHECK(cache.refresh()->errors().empty());
  CHECK(from(*cache.registry(), "v/c=d") == "a/x.yaml");
}

TEST_CASE_TEMPLATE("Devices are injected through the cache, all or none", Target, nlohmann::json,
                   nlohmann::ordered_json) {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  tree.put_spec("a/x.yaml", "d");
  cdi::Cache cache{{a}};
  auto target = Target::parse(R"({"x":1})");
  CHECK_FALSE(cache.inject(target, {"v/c=d", "v/c=e"}));
  CHECK(target == Target::parse(R"({"x":1})"));
  CHECK(cache.inject(target, Names{"v/c=d"}));
  CHECK(cache.inject(target, {"v/c=d"}));
  CHECK(target["process"]["env"] == Target::parse(R"(["FROM=a/x.yaml"])"));
}

TEST_CASE("Limits hold for each file") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  tree.put_spec("a/x.yaml", "d");
  tree.put("a/big.json", std::string(2000, ' '));
  const auto registry = cdi::Cache{{a}, {.bytes = 1000}}.registry();
  CHECK(from(*registry, "v/c=d") == "a/x.yaml");
  REQUIRE(registry->errors().size() == 1);
  CHECK(registry->errors()[0].code == cdi::Errc::limit);
}

TEST_CASE("No descriptor stays open") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  tree.put_spec("a/x.yaml", "d");
  tree.put("a/bad.json", "{");
  tree.make_dir("a/sub.json");
  tree.link("sub.json", "a/link.json");
  tree.put("file", "");
  const auto open_files = [] {
    std::size_t count = 0;
    DIR* const stream = ::opendir("/proc/self/fd");
    REQUIRE(stream != nullptr);
    while (::readdir(stream) != nullptr) ++count;
    ::closedir(stream);
    return count;
  };
  const auto before = open_files();
  cdi::Cache cache{{a, tree / "file", tree / "gone"}};
  for (int i = 0; i < 3; ++i) cache.refresh();
  CHECK(open_files() == before);
}

TEST_CASE("Threads read whole snapshots while others refresh") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  tree.put_spec("a/x.yaml", "d");
  tree.put_spec("a/y.yaml", "e");
  cdi::Cache cache{{a}};
  std::atomic<int> refreshing{2};
  std::atomic<int> reads{0};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 30; ++round) cache.refresh();
      --refreshing;
    });
    threads.emplace_back([&] {
      do {
        const auto registry = cache.registry();
        nlohmann::json oci;
        oci["process"] = nlohmann::json::object();
        const bool good = registry->devices().size() == 2 && cache.dirs().at(0).specs == 2 &&
                          registry->inject(oci, {"v/c=e"}) && cache.inject(oci, {"v/c=d"}) &&
                          oci["process"]["env"].at(0) == "FROM=a/x.yaml";
        if (!good) ++wrong;
        ++reads;
      } while (refreshing > 0);
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(reads > 0);
}
