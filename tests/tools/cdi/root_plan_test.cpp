// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../tools/cdi/rootfs/root_plan.hpp"

#include <cerrno>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "../../support/temp_tree.hpp"

namespace {

/// Carries out changes in a root, and returns the steps in words.
std::vector<std::string> apply(const TempTree& root, const cdi::RootChanges& changes) {
  const auto files = RootedFiles::open(root / "");
  REQUIRE(files);
  const auto plan = plan_steps(*files, changes);
  REQUIRE_MESSAGE(plan, (plan ? "" : to_string(plan.error())));
  REQUIRE(needed_steps(*files, *plan));
  std::vector<std::string> steps;
  REQUIRE(carry_out_plan(*files, *plan,
                         [&](const RootStep& step) { steps.push_back(step_text(step)); }));
  return steps;
}

using Steps = std::vector<std::string>;

}  // namespace

TEST_CASE("A root with glibc gets a file in ld.so.conf.d, and ld.so.conf if it has none") {
  const TempTree root;
  const cdi::RootChanges changes{.library_folders = {"/usr/lib/x", "/opt/lib"}};
  CHECK(apply(root, changes) == Steps{"file /etc/ld.so.conf, 33 bytes, mode 0644",
                                      "file /etc/ld.so.conf.d/00-cdi.conf, 20 bytes, mode 0644"});
  CHECK(get_file(root / "etc/ld.so.conf") == "include /etc/ld.so.conf.d/*.conf\n");
  CHECK(get_file(root / "etc/ld.so.conf.d/00-cdi.conf") == "/usr/lib/x\n/opt/lib\n");
  CHECK(apply(root, changes).empty());
  root.put("etc/ld.so.conf", "/own\n");
  CHECK(apply(root, {.library_folders = {"/opt/lib"}}).size() == 1);
  CHECK(get_file(root / "etc/ld.so.conf") == "/own\n");
}

namespace {

/// Makes a root with musl, and returns the path of the file that lists its linker's folders.
std::string make_musl(const TempTree& root) {
  utsname machine = {};
  REQUIRE(::uname(&machine) == 0);
  root.make_dir("etc");
  root.put("etc/alpine-release", "3.20\n");
  return std::string{"etc/ld-musl-"} + machine.machine + ".path";
}

}  // namespace

TEST_CASE("A root with musl gets folders in the file of its linker, with the default ones") {
  const TempTree root;
  const auto name = make_musl(root);
  const cdi::RootChanges changes{.cuda_compat = {{"/compat", "1", ""}},
                                 .library_folders = {"/usr/lib", "/opt/a"}};
  CHECK(apply(root, changes).size() == 1);
  CHECK(get_file(root / name) == "/lib:/usr/local/lib:/usr/lib\n/opt/a\n");
  CHECK(apply(root, changes).empty());
  root.put(name, "/own");
  CHECK(apply(root, changes).size() == 1);
  CHECK(get_file(root / name) == "/own\n/usr/lib\n/opt/a\n");
  CHECK(apply(root, {}).empty());
}

TEST_CASE("An empty list of musl's folders gets all folders") {
  const TempTree root;
  const auto name = make_musl(root);
  root.put(name, "");
  CHECK(apply(root, {.library_folders = {"/usr/lib", "/opt/a"}}).size() == 1);
  CHECK(get_file(root / name) == "/usr/lib\n/opt/a\n");
  CHECK(::unlink((root / name).c_str()) == 0);
  root.link(name.substr(name.rfind('/') + 1).c_str(), name);
  const auto files = RootedFiles::open(root / "");
  REQUIRE(files);
  CHECK(plan_steps(*files, {.library_folders = {"/a"}}).error().system == ELOOP);
}

TEST_CASE("A loop of links in the place of a file that decides about the plan is an error") {
  const cdi::RootChanges changes{.cuda_compat = {{"/compat", "1", ""}},
                                 .library_folders = {"/usr/lib"}};
  for (const std::string name :
       {"etc/alpine-release", "etc/ld.so.conf", "compat", "compat/libcuda.so.570.1"}) {
    CAPTURE(name);
    const TempTree root;
    root.make_dir(name.substr(0, name.find('/')) == name ? "else" : name.substr(0, name.find('/')));
    root.link(name.substr(name.rfind('/') + 1).c_str(), name);
    const auto files = RootedFiles::open(root / "");
    REQUIRE(files);
    const auto plan = plan_steps(*files, changes);
    REQUIRE_FALSE(plan);
    CHECK(plan.error().system == ELOOP);
  }
}

TEST_CASE("A library of the image that is only a link to nowhere is not used") {
  const TempTree root;
  root.make_dir("compat");
  root.link("none", "compat/libcuda.so.570.1");
  CHECK(apply(root, {.cuda_compat = {{"/compat", "1", ""}}}) ==
        Steps{"file /etc/ld.so.conf, 33 bytes, mode 0644"});
}

TEST_CASE("A mode may be set through a link of the same changes") {
  const TempTree root;
  root.put("file", "text");
  const cdi::RootChanges changes{.links = {{"/link", "file"}}, .modes = {{"/link", 0751}}};
  CHECK(apply(root, changes) == Steps{"link /link -> file", "mode 0751 /link"});
  CHECK(mode_of(root / "file") == 0751);
  CHECK(apply(root, changes).empty());
}

TEST_CASE("A mode of a file that the changes write is that of the file") {
  const TempTree root;
  root.make_dir("real");
  root.link("real", "alias");
  const cdi::RootChanges changes{
      .links = {{"/l", "alias/f"}},
      .modes = {{"/l", 0700}, {"/etc/ld.so.conf", 0777}, {"/etc", 0711}, {"/none", 0711}},
      .files = {{"/real/f", "t"}, {"/alias/f", "t"}},
      .library_folders = {"/lib"}};
  CHECK(apply(root, changes) == Steps{"link /l -> alias/f", "file /real/f, 1 bytes, mode 0700",
                                      "file /etc/ld.so.conf, 33 bytes, mode 0777",
                                      "file /etc/ld.so.conf.d/00-cdi.conf, 5 bytes, mode 0644",
                                      "mode 0711 /etc"});
  CHECK(mode_of(root / "real/f") == 0700);
  CHECK(mode_of(root / "etc/ld.so.conf") == 0777);
  CHECK(apply(root, changes) == Steps{});
  REQUIRE(::chmod((root / "real/f").c_str(), 0444) == 0);
  CHECK(apply(root, changes) == Steps{"file /real/f, 1 bytes, mode 0700"});
  CHECK(mode_of(root / "real/f") == 0700);
}

TEST_CASE("A mode of a file that the changes remove is not set") {
  const TempTree root;
  const std::string compat = "/etc/ld.so.conf.d/00-cdi-compat.conf";
  const cdi::RootChanges changes{.modes = {{compat, 0700}}, .cuda_compat = {{"/compat", "1", ""}}};
  root.make_dir("etc");
  root.make_dir("etc/ld.so.conf.d");
  root.put("etc/ld.so.conf", "");
  root.put("etc/ld.so.conf.d/00-cdi-compat.conf", "/compat\n");
  CHECK(apply(root, changes) == Steps{"remove " + compat});
  CHECK(apply(root, changes) == Steps{});
}

TEST_CASE("Changes that decide about others are planned again until nothing is needed") {
  const TempTree root;
  utsname machine = {};
  REQUIRE(::uname(&machine) == 0);
  const cdi::RootChanges changes{.links = {{"/etc/alpine-release", "version"}},
                                 .files = {{"/etc/version", "3.20\n"}},
                                 .library_folders = {"/opt/a"}};
  const auto files = RootedFiles::open(root / "");
  REQUIRE(files);
  const auto apply_all = [&] {
    auto plan = plan_steps(*files, changes);
    REQUIRE(plan);
    Steps steps;
    REQUIRE(carry_out_changes(*files, changes, *std::move(plan),
                              [&](const RootStep& step) { steps.push_back(step_text(step)); }));
    return steps;
  };
  CHECK(apply_all().back() ==
        fmt::format("file /etc/ld-musl-{}.path, 36 bytes, mode 0644", machine.machine));
  CHECK(apply_all() == Steps{});
}

TEST_CASE("The library of the image is used when it is newer, and no longer after an update") {
  const TempTree root;
  cdi::RootChanges changes{.cuda_compat = {{"/compat", "570.1", ""}}};
  CHECK(apply(root, changes) == Steps{"file /etc/ld.so.conf, 33 bytes, mode 0644"});
  root.make_dir("compat");
  root.put("compat/libcuda.so.580.2", "no note");
  CHECK(apply(root, changes) ==
        Steps{"file /etc/ld.so.conf.d/00-cdi-compat.conf, 8 bytes, mode 0644"});
  CHECK(get_file(root / "etc/ld.so.conf.d/00-cdi-compat.conf") == "/compat\n");
  CHECK(apply(root, changes).empty());
  changes.cuda_compat[0].host_driver_version = "580.1";
  CHECK(apply(root, changes) == Steps{"remove /etc/ld.so.conf.d/00-cdi-compat.conf"});
  CHECK(apply(root, changes).empty());
  changes.cuda_compat[0].host_driver_version = "570.1";
  root.put("compat/libcuda.so.581.2", "two libraries decide nothing");
  root.put("compat/libcuda.so.1", "a link in real images");
  CHECK(apply(root, changes).empty());
}

TEST_CASE("A file in the place of ld.so.conf.d leaves nothing to remove") {
  const TempTree root;
  root.make_dir("etc");
  root.put("etc/ld.so.conf", "/own\n");
  root.put("etc/ld.so.conf.d", "a file");
  CHECK(apply(root, {.cuda_compat = {{"/compat", "570.1", ""}}}).empty());
  const auto files = RootedFiles::open(root / "");
  REQUIRE(files);
  const auto plan = plan_steps(*files, {.library_folders = {"/opt/lib"}});
  REQUIRE(plan);
  CHECK(needed_steps(*files, *plan).error().system == ENOTDIR);
}

TEST_CASE("Each library that the image prefers counts, in one file") {
  TempTree root;
  const cdi::RootChanges changes{.cuda_compat = {{"/a", "570.1", ""}, {"/b", "570.1", ""}}};
  root.make_dir("a");
  root.put("a/libcuda.so.580.2", "no note");
  root.make_dir("b");
  CHECK(apply(root, changes).front() ==
        "file /etc/ld.so.conf.d/00-cdi-compat.conf, 3 bytes, mode 0644");
  CHECK(apply(root, changes) == Steps{});
  root.put("b/libcuda.so.580.2", "no note");
  CHECK(apply(root, changes) ==
        Steps{"file /etc/ld.so.conf.d/00-cdi-compat.conf, 6 bytes, mode 0644"});
  CHECK(get_file(root / "etc/ld.so.conf.d/00-cdi-compat.conf") == "/a\n/b\n");
}

TEST_CASE("Changes that would cost too much, or never end, are refused") {
  TempTree root;
  const auto files = RootedFiles::open(root / "");
  REQUIRE(files);
  CHECK_FALSE(plan_steps(*files, {.links = {{"/a", "x"}, {"/a", "y"}}}));
  CHECK_FALSE(plan_steps(*files, {.modes = {{"/a", 0600}, {"/a", 0644}}}));
  CHECK_FALSE(plan_steps(*files, {.files = {{"/a", "x"}, {"/a", "y"}}}));
  CHECK(plan_steps(*files, {.links = {{"/a", "x"}}, .modes = {{"/a", 07777}}}));
  CHECK_FALSE(plan_steps(*files, {.modes = {{"/a", 010644}}}));
  std::vector<cdi::CudaCompat> many(17, {"/a", "1", ""});
  CHECK_FALSE(plan_steps(*files, {.cuda_compat = many}));
  many.pop_back();
  CHECK(plan_steps(*files, {.cuda_compat = many}));
}

TEST_CASE("Links and files that leave no place for each other are refused before any change") {
  const TempTree root;
  const auto files = RootedFiles::open(root / "");
  REQUIRE(files);
  const cdi::RootChanges refused[] = {
      {.links = {{"/a/b", "x"}, {"/a", "y"}}},
      {.links = {{"/a", "y"}, {"/a/b/c", "x"}}},
      {.links = {{"/a", "y"}}, .files = {{"/a", "text"}}},
      {.files = {{"/a", "text"}, {"/a/b", "text"}}},
      {.links = {{"/etc/ld.so.conf.d", "x"}}, .library_folders = {"/l"}},
      // The same text with another mode.
      {.files = {{"/etc/ld.so.conf", "include /etc/ld.so.conf.d/*.conf\n"}},
       .library_folders = {"/l"}},
  };
  for (const auto& changes : refused) {
    const auto plan = plan_steps(*files, changes);
    REQUIRE_FALSE(plan);
    CHECK(plan.error().code == cdi::Errc::denied);
  }
  CHECK(plan_steps(*files, {.links = {{"/a", "b"}, {"/a-b", "b"}, {"/ab", "b"}},
                            .modes = {{"/a/c", 0755}, {"/a", 0755}}}));
}

TEST_CASE("Two paths that lead to one place by links of the image are checked like one path") {
  const TempTree root;
  root.make_dir("real");
  root.make_dir("real/sub");
  root.put("real/f", "text");
  root.link("real", "alias");
  root.link("/alias/sub", "deep");
  root.link("missing/../real", "odd");
  for (const auto lookup : {RootedFiles::Lookup::by_kernel, RootedFiles::Lookup::by_walk}) {
    const auto files = RootedFiles::open(root / "", lookup);
    REQUIRE(files);
    const auto fault = [&](const cdi::RootChanges& changes) {
      const auto plan = plan_steps(*files, changes);
      return plan ? std::string{} : plan.error().message;
    };
    const auto no_place = [](std::string_view other, std::string_view path) {
      return fmt::format("a link or file at \"{}\" blocks the path of the one at \"{}\"", other,
                         path);
    };
    CHECK(fault({.links = {{"/alias/y", "a"}, {"/real/y", "b"}}}) ==
          no_place("/alias/y", "/real/y"));
    CHECK(fault({.links = {{"/odd/y", "a"}, {"/real/y", "b"}}}) == no_place("/odd/y", "/real/y"));
    CHECK(fault({.links = {{"/real/z/w", "a"}, {"/alias/z", "b"}}}) ==
          no_place("/alias/z", "/real/z/w"));
    CHECK(fault({.links = {{"/alias/y", "a"}}, .files = {{"/real/y", "a"}}}) ==
          no_place("/alias/y", "/real/y"));
    CHECK(fault({.links = {{"/deep/y", "a"}, {"/alias", "b"}}}) == no_place("/alias", "/deep/y"));
    CHECK(fault({.links = {{"/real/y", "a"}, {"/alias/y", "a"}, {"/alias", "b"}}}) ==
          no_place("/alias", "/alias/y"));
    CHECK(fault({.modes = {{"/alias/f", 0700}, {"/real/f", 0600}}}) ==
          "mode 0600 /real/f: conflicting mode for this file: 0700");
    CHECK(fault({.links = {{"/l", "alias/f"}}, .modes = {{"/l", 0700}, {"/real/f", 0600}}}) ==
          "mode 0600 /real/f: conflicting mode for this file: 0700");
    CHECK(fault({.links = {{"/real/l", "f"}, {"/alias/k", "f"}},
                 .modes = {{"/alias/f", 0700}, {"/real/sub", 0700}}})
              .empty());
  }
  const cdi::RootChanges equal{.links = {{"/alias/y", "f"}, {"/real/y", "f"}},
                               .modes = {{"/alias/f", 0700}, {"/real/y", 0700}}};
  CHECK(apply(root, equal) == Steps{"link /alias/y -> f", "mode 0700 /alias/f"});
  CHECK(apply(root, equal).empty());
}

TEST_CASE("A mode of a path below a file changes nothing, like that of a missing file") {
  const TempTree root;
  root.put("file", "text");
  CHECK(apply(root, {.modes = {{"/file/a", 0755}, {"/none/a", 0755}}}).empty());
}

TEST_CASE("A path with too many directories fails before any change") {
  const TempTree root;
  const auto files = RootedFiles::open(root / "");
  REQUIRE(files);
  const auto is_refused = [&](std::size_t folders) {
    std::string path;
    for (std::size_t i = 0; i < folders; ++i) path += "/a";
    const auto plan = plan_steps(*files, {.links = {{path + "/link", "x"}}});
    return !plan || !needed_steps(*files, *plan);
  };
  CHECK_FALSE(is_refused(256));
  CHECK(is_refused(257));
}

// Once, each part of each target was looked up again for each step, which took seconds.
TEST_CASE("Long links of an image are refused, and links are read once for many steps") {
  const TempTree root;
  std::string deep;
  for (std::size_t i = 0; i < 300; ++i) deep += "/a";
  root.link(deep.c_str(), "deep");
  root.make_dir("usr");
  root.link("usr/lib", "lib");
  const auto files = RootedFiles::open(root / "");
  REQUIRE(files);
  const auto plan = plan_steps(*files, {.links = {{"/deep/b", "x"}}});
  REQUIRE_FALSE(plan);
  CHECK(plan.error().message.ends_with("it is in more than 256 directories"));
  cdi::RootChanges changes;
  for (int i = 0; i < 10'000; ++i) changes.links.push_back({"/lib/" + std::to_string(i), "x"});
  CHECK(plan_steps(*files, changes));
}

TEST_CASE("A link of the image that no path can follow ends the plan") {
  const TempTree root;
  root.link((std::string(256, 'n') + "/x").c_str(), "long");
  root.link("loop", "loop");
  const auto files = RootedFiles::open(root / "");
  REQUIRE(files);
  for (const auto& row : {std::pair{"/long/y", ENAMETOOLONG}, {"/loop/y", ELOOP}}) {
    CAPTURE(row.first);
    CHECK(plan_steps(*files, {.links = {{row.first, "z"}}}).error().system == row.second);
    CHECK(plan_steps(*files, {.modes = {{row.first, 0755}}}).error().system == row.second);
  }
}

// Once, parts that are `.` or `..` were not counted, and such an image kept the program busy.
TEST_CASE("All parts of the links of an image count") {
  const TempTree root;
  root.make_dir("end");
  std::string dots;
  while (dots.size() < 4000) dots += "./../";
  for (int i = 0; i < 20; ++i) {
    root.link((dots + (i < 19 ? fmt::format("l{}", i + 1) : "end")).c_str(),
              fmt::format("l{}", i).c_str());
  }
  const auto files = RootedFiles::open(root / "");
  REQUIRE(files);
  const auto fault = [&](int count) {
    cdi::RootChanges changes;
    for (int i = 0; i < count; ++i) changes.links.push_back({fmt::format("/l0/{}", i), "x"});
    const auto plan = plan_steps(*files, changes);
    return plan ? std::string{} : plan.error().message;
  };
  CHECK(fault(1).empty());
  CHECK(fault(100).ends_with(
      "the paths have more than 1000000 parts, including the links in the root"));
}

TEST_CASE("All bytes of the places behind the links of an image count") {
  const TempTree root;
  std::string deep;
  for (int i = 0; i < 15; ++i) deep += "/" + std::string(255, 'a');
  root.link(deep.c_str(), "l");
  const auto files = RootedFiles::open(root / "");
  REQUIRE(files);
  const auto fault = [&](int count) {
    cdi::RootChanges changes;
    for (int i = 0; i < count; ++i) changes.links.push_back({fmt::format("/l/{}", i), "x"});
    const auto plan = plan_steps(*files, changes);
    return plan ? std::string{} : plan.error().message;
  };
  CHECK(fault(1000).empty());
  CHECK(fault(20'000).ends_with("have more than 64000000 bytes, including the links in the root"));
}

TEST_CASE("A link of the image to a name that cannot be created fails before any change") {
  const TempTree root;
  root.link(("missing/" + std::string(256, 'b') + "/c").c_str(), "a");
  const auto files = RootedFiles::open(root / "");
  REQUIRE(files);
  const auto plan = plan_steps(*files, {.links = {{"/first", "x"}, {"/a/link", "x"}}});
  REQUIRE(plan);
  const auto needed = needed_steps(*files, *plan);
  REQUIRE_FALSE(needed);
  CHECK(needed.error().system == ENAMETOOLONG);
}

TEST_CASE("musl gets many folders in linear time") {
  TempTree root;
  root.make_dir("etc");
  root.put("etc/alpine-release", "3");
  cdi::RootChanges changes;
  for (int i = 0; i < 300'000; ++i) changes.library_folders.push_back(fmt::format("/{}", i));
  CHECK(apply(root, changes).size() == 1);
  CHECK(apply(root, changes) == Steps{});
}

TEST_CASE("Paths that lower_hook would not give are refused") {
  const TempTree root;
  const auto files = RootedFiles::open(root / "");
  REQUIRE(files);
  using namespace std::string_literals;
  for (const auto& path : {""s, "/"s, "a"s, "a/b"s, "/a/"s, "/a/../b"s, "/a/./b"s, "/a//b"s, "/.."s,
                           "/a\nb"s, "/a\0b"s}) {
    CAPTURE(path);
    CHECK_FALSE(plan_steps(*files, {.links = {{path, "x"}}}));
    CHECK_FALSE(plan_steps(*files, {.modes = {{path, 0755}}}));
    CHECK_FALSE(plan_steps(*files, {.files = {{path, "x"}}}));
    CHECK_FALSE(plan_steps(*files, {.cuda_compat = {{path, "1", ""}}}));
    CHECK_FALSE(plan_steps(*files, {.library_folders = {path}}));
  }
  CHECK(plan_steps(*files, {.links = {{"/" + std::string(255, 'a') + "/b", "x"}}}));
  const auto fault = [&](const cdi::RootChanges& changes) {
    const auto plan = plan_steps(*files, changes);
    return plan ? std::string{} : plan.error().message;
  };
  CHECK(fault({.library_folders = {"/a:/b"}}) == "the library folder \"/a:/b\" contains a colon");
  CHECK(plan_steps(*files, {.links = {{"/a:b", "x"}}}));
  for (const auto& path : {"/" + std::string(256, 'a'), "/" + std::string(256, 'a') + "/b"}) {
    CHECK(fault({.links = {{path, "x"}}}).ends_with("contains a name longer than 255 bytes"));
    CHECK(fault({.files = {{path, "x"}}}).ends_with("contains a name longer than 255 bytes"));
  }
  CHECK(fault({.links = {{std::string(2048, 'x').insert(0, "/") + std::string(2047, '/'), "x"}}})
            .ends_with("is longer than 4095 bytes"));
  CHECK(plan_steps(*files, {.links = {{"/a", std::string(4095, 'x')}}}));
  CHECK(fault({.links = {{"/a", std::string(4096, 'x')}}}).ends_with("is longer than 4095 bytes"));
  CHECK_FALSE(plan_steps(*files, {.links = {{"/a", ""}}}));
  CHECK_FALSE(plan_steps(*files, {.links = {{"/a", "b\0c"s}}}));
  CHECK(plan_steps(*files, {.links = {{"/a", "../../../etc"}}}));
}
