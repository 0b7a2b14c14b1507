// Tests for tools/kit/cdi_specs/diagnose.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/kit/cdi_specs/diagnose.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/dirs/scan.hpp>

#include "../../../support/temp_tree.hpp"

namespace {

using Names = std::vector<std::string>;
using cdi::Reason;

const cdi::ReadOptions at_once{.retry_window = {}};

/// Why a name is not resolved in some directories, with a search of others.
cdi::Unresolved why(const Names& dirs, std::string_view name, const Names& others = {},
                    const cdi::ReadOptions& options = at_once) {
  const auto registry = cdi::scan_spec_dirs(dirs, options);
  const auto missing = tools::diagnose(*registry, {name}, others, options);
  REQUIRE(missing.size() == 1);
  CHECK(missing[0].name == name);
  return missing[0];
}

/// `FILE:LINE:COLUMN` of each cause; only `FILE` when it has no place in it.
Names places(const cdi::Unresolved& one) {
  Names out;
  for (const auto& cause : one.causes) {
    out.push_back(cause.position.file);
    if (cause.position.line == 0) continue;
    out.back().append(":").append(std::to_string(cause.position.line));
    out.back().append(":").append(std::to_string(cause.position.column));
  }
  return out;
}

/// A spec of that kind with one device in line 4.
std::string spec(std::string_view kind, std::string_view device) {
  std::string text = "cdiVersion: 1.0.0\nkind: ";
  text.append(kind).append("\ndevices:\n- name: ").append(device);
  return text.append("\n  containerEdits: {env: [A=1]}\n");
}

/// Sets a variable of the environment, or takes it away, for as long as it lives.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_{name} {
    if (const char* const old = std::getenv(name)) old_ = old;
    set(value);
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  ~Environment() { set(old_ ? old_->c_str() : nullptr); }

 private:
  void set(const char* value) const {
    if (value != nullptr) ::setenv(name_, value, 1);
    if (value == nullptr) ::unsetenv(name_);
  }

  const char* name_;
  std::optional<std::string> old_{};
};

}  // namespace

TEST_CASE("An invalid name and a resolved one need no search of other directories") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  tree.put("a/x.yaml", spec("v/c", "d"));
  CHECK(why({a}, "plain", {a}).reason == Reason::invalid_name);
  CHECK(tools::diagnose(*cdi::scan_spec_dirs({a}), {"v/c=d"}, {a}).empty());
  CHECK(tools::diagnose(*cdi::scan_spec_dirs({a}), Names{}).empty());
}

TEST_CASE("An unknown kind or device is reported with similar names") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  const auto b = tree.make_dir("b");
  tree.put("a/x.yaml", spec("vendor.com/gpu", "gpu0"));
  const auto kind = why({a}, "vendor.com/gpus=gpu0", {b});
  CHECK(kind.reason == Reason::unknown_kind);
  CHECK(kind.nearest == Names{"vendor.com/gpu"});
  const auto device = why({a}, "vendor.com/gpu=gpu1", {b});
  CHECK(device.reason == Reason::unknown_device);
  CHECK(device.nearest == Names{"vendor.com/gpu=gpu0"});
  CHECK(device.causes.empty());
}

TEST_CASE("A conflict names both files") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  tree.put("a/x.yaml", spec("v/c", "d"));
  tree.put("a/y.yaml", spec("v/c", "d"));
  const auto one = why({a}, "v/c=d");
  CHECK(one.reason == Reason::conflict);
  CHECK(places(one) == Names{a + "/x.yaml:4:3", a + "/y.yaml:4:3"});
}

TEST_CASE("An invalid file is reported with line, column and path") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  struct {
    std::string_view text;
    std::string_view place;  // line and column
    std::string_view where;
  } const rows[] = {
      {"cdiVersion: 1.0.0\nkind: v/c\ndevices:\n- name: d\n  containerEdit: {}\n", "5:3",
       "devices[0].containerEdit"},
      {"cdiVersion: 1.0.0\nkind: v/c\ndevices:\n- name: d\n  containerEdits: {env: [A]}\n", "5:26",
       "devices[0].containerEdits.env[0]"},
      {"cdiVersion: 1.0.0\nkind: v/c\ndevices:\n- name: e\n", "4:3",
       "devices[0].containerEdits"},  // another device of it
      {"cdiVersion: 1.0.0\nKind: v/c\ndevices: {name: d}\n", "3:10", "devices"},
      {"cdiVersion: 1.0.0\nkind: v/c\ndevices:\n- name: d\n  {", "5:3", ""},
      {"{\"cdiVersion\": \"1.0.0\", \"kind\": \"v/c\",\n \"devices\": [{\"na", "2:15", ""},
  };
  for (const auto& row : rows) {
    CAPTURE(row.text);
    tree.put("a/x.yaml", row.text);
    const auto one = why({a}, "v/c=d");
    CAPTURE(one.why.message);
    CHECK(one.reason == Reason::rejected);
    REQUIRE(one.causes.size() == 1);
    CHECK(one.causes[0].where == row.where);
    CHECK(places(one)[0].starts_with(a + "/x.yaml:"));
    CHECK(places(one)[0] == a + "/x.yaml:" + std::string{row.place});
    CHECK(one.needs_version.empty());
  }
}

TEST_CASE("A file of a newer version is reported with the version that it needs") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  tree.put("a/x.yaml", "cdiVersion: 9.1.0\nkind: v/c\ndevices:\n- name: d\n  new: {}\n");
  const auto newer = why({a}, "v/c=d");
  CHECK(newer.reason == Reason::rejected);
  CHECK(newer.needs_version == "9.1.0");
  tree.put("a/x.yaml", "cdiVersion: 0.3.0\nkind: v/c\ndevices:\n- name: 0d\n" +
                           std::string{"  containerEdits: {env: [A=1]}\n"});
  const auto older = why({a}, "v/c=0d");
  CHECK(older.reason == Reason::rejected);
  CHECK(older.needs_version == "0.5.0");
  CHECK(places(older) == Names{a + "/x.yaml:1:13"});
}

TEST_CASE("A rejected file of other devices is not a cause if the kind is known") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  tree.put("a/good.yaml", spec("v/c", "gpu0"));
  tree.put("a/bad.yaml", spec("v/c", "gpu1") + "  new: {}\n");
  const auto there = why({a}, "v/c=gpu1");
  CHECK(there.reason == Reason::rejected);
  CHECK(places(there) == Names{a + "/bad.yaml:6:3"});
  const auto gone = why({a}, "v/c=gpu2");
  CHECK(gone.reason == Reason::unknown_device);
  CHECK(gone.causes.empty());
}

TEST_CASE("Two responsible files are both reported, in the order of directories") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  const auto b = tree.make_dir("b");
  tree.put("a/x.yaml", spec("v/c", "d") + "  new: {}\n");
  tree.put("b/x.yaml", spec("v/c", "d") + "new: {}\n");
  const auto one = why({a, b}, "v/c=d");
  CHECK(one.reason == Reason::rejected);
  CHECK(places(one) == Names{a + "/x.yaml:6:3", b + "/x.yaml:6:1"});
}

TEST_CASE("A quarantined device is reported with its place, and the others resolve") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  tree.put("a/x.yaml", spec("v/c", "d") + "- name: e\n  new: {}\n");
  const cdi::ReadOptions options{.quarantine_devices = true, .retry_window = {}};
  const auto one = why({a}, "v/c=e", {}, options);
  CHECK(one.reason == Reason::quarantined);
  CHECK(places(one) == Names{a + "/x.yaml:7:3"});
  CHECK(one.causes[0].where == "devices[1].new");
  CHECK(cdi::scan_spec_dirs({a}, options)->find("v/c=d").line() == 4);
  CHECK(why({a}, "v/c=d").reason == Reason::rejected);  // without the option
}

TEST_CASE(
    "An unreadable file or directory is reported with mode, owner and the user of the process") {
  const UnprivilegedUser unprivileged;
  if (!unprivileged) return;
  const TempTree tree;
  const auto a = tree.make_dir("a");
  const auto b = tree.make_dir("b");
  tree.put("a/x.yaml", spec("v/c", "d"));
  REQUIRE(::chmod((a + "/x.yaml").c_str(), 0200) == 0);
  REQUIRE(::chmod(b.c_str(), 0300) == 0);
  const auto one = why({a, b}, "v/c=d");
  CHECK(one.reason == Reason::unreadable);
  CHECK(one.why.system == EACCES);
  CHECK(places(one) == Names{a + "/x.yaml", b});
  REQUIRE(one.causes.size() == 2);
  const auto us = "; this process is user " + std::to_string(::geteuid());
  CHECK(one.causes[0].message.find(": mode 0200, owner ") != std::string::npos);
  CHECK(one.causes[1].message.find(": mode 0300, owner ") != std::string::npos);
  for (const auto& cause : one.causes) CHECK(cause.message.find(us) != std::string::npos);
}

TEST_CASE("A dangling link is a possible cause") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  tree.link("gone", "a/x.yaml");
  const auto one = why({a}, "v/c=d");
  CHECK(one.reason == Reason::unreadable);
  CHECK(one.why.system == ENOENT);
  CHECK(places(one) == Names{a + "/x.yaml"});
}

TEST_CASE("A file or directory that other users may write is reported if it is refused") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  tree.put("a/x.yaml", spec("v/c", "d"));
  REQUIRE(::chmod((a + "/x.yaml").c_str(), 0646) == 0);
  const cdi::ReadOptions options{.reject_writable = true, .retry_window = {}};
  const auto file = why({a}, "v/c=d", {}, options);
  CHECK(file.reason == Reason::denied);
  CHECK(file.why.code == cdi::Errc::denied);
  CHECK(places(file) == Names{a + "/x.yaml"});
  REQUIRE(::chmod(a.c_str(), 0777) == 0);
  const auto directory = why({a}, "v/c=d", {}, options);
  CHECK(directory.reason == Reason::denied);
  CHECK(places(directory) == Names{a});
}

TEST_CASE("If all directories are missing, they are the reason; otherwise the kind is") {
  const TempTree tree;
  const auto none = why({tree / "a", tree / "b"}, "v/c=d", {tree / "c"});
  CHECK(none.reason == Reason::no_directory);
  CHECK(none.why.message.ends_with("; missing: " + tree / "a" + " " + tree / "b"));
  tree.make_dir("b");
  CHECK(why({tree / "a", tree / "b"}, "v/c=d").reason == Reason::unknown_kind);
}

TEST_CASE("A device in a directory that is not searched is reported with its place") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  const auto b = tree.make_dir("b");
  tree.put("b/x.yaml", spec("v/c", "d"));
  tree.put("b/bad.yaml", spec("v/c", "bad") + "  new: {}\n");
  for (const auto& searched : {Names{a}, Names{tree / "gone"}, Names{}}) {
    const auto one = why(searched, "v/c=d", {tree / "none", b + "/x.yaml", b});
    CHECK(one.reason == Reason::not_searched);
    CHECK(one.why.code == cdi::Errc::not_found);
    CHECK(places(one) == Names{b + "/x.yaml:4:3"});
    CHECK(one.why.message.ends_with("; it is in \"" + b +
                                    "/x.yaml\", whose directory is not "
                                    "searched"));
  }
  CHECK(why({a}, "v/c=e", {b}).reason == Reason::unknown_kind);
  const auto bad = why({a}, "v/c=bad", {b});  // what defines it is not valid either
  CHECK(bad.reason == Reason::not_searched);
  REQUIRE(places(bad).size() == 1);
  CHECK(places(bad)[0].starts_with(b + "/bad.yaml:"));
  CHECK(bad.why.message.find("; it is in \"" + b + "/bad.yaml\"") != std::string::npos);
  CHECK(bad.causes[0].message.ends_with("; and the directory is not searched"));
  CHECK(bad.causes[0].advice.empty());
  tree.put("a/x.yaml", spec("v/c", "e"));
  CHECK(why({a}, "v/c=d", {b}).reason == Reason::not_searched);
  CHECK(why({a}, "v/c=f", {b}).reason == Reason::unknown_device);
}

TEST_CASE("An invalid file of other devices has no device, wherever it is") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  const auto b = tree.make_dir("b");
  tree.put("a/x.yaml", spec("v/c", "0"));
  tree.put("a/bad.yml", spec("v/c", "0") + "  new: {}\n");
  tree.put("b/bad.yaml", spec("v/c", "0") + "  new: {}\n");
  const auto one = why({a}, "v/c=1", {b});
  CHECK(one.reason == Reason::unknown_device);
  CHECK(one.nearest == Names{"v/c=0"});
}

TEST_CASE("A file that cannot be read, in a directory that is not searched, may have the device") {
  const UnprivilegedUser unprivileged;
  if (!unprivileged) return;
  const TempTree tree;
  const auto a = tree.make_dir("a");
  const auto b = tree.make_dir("b");
  tree.put("b/x.yaml", spec("v/c", "d"));
  REQUIRE(::chmod((b + "/x.yaml").c_str(), 0) == 0);
  const auto one = why({a}, "v/c=d", {b});
  CHECK(one.reason == Reason::not_searched);
  CHECK(places(one) == Names{b + "/x.yaml"});
  CHECK(one.why.message.find("; it may be in \"" + b + "/x.yaml\"") != std::string::npos);
  CHECK(one.causes[0].system == EACCES);
}

TEST_CASE("A device of two files that are not searched is in them for certain") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  const auto b = tree.make_dir("b");
  tree.put("b/x.yaml", spec("v/c", "d"));
  tree.put("b/y.yaml", spec("v/c", "d"));
  const auto one = why({a}, "v/c=d", {b});
  CHECK(one.reason == Reason::not_searched);
  CHECK(one.why.message.find("; it is in \"" + b + "/") != std::string::npos);
}

TEST_CASE("A name with another reason keeps it, even if the device is in another directory") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  const auto b = tree.make_dir("b");
  tree.put("b/x.yaml", spec("v/c", "d"));
  tree.put("a/x.yaml", spec("v/c", "d") + "  new: {}\n");
  const auto missing = tools::diagnose(*cdi::scan_spec_dirs({a}, at_once),
                                       Names{"v/c=d", "w/c=d", "bad", "v/c=d"}, {b}, at_once);
  std::vector<Reason> reasons;
  for (const auto& one : missing) reasons.push_back(one.reason);
  CHECK(reasons == std::vector{Reason::rejected, Reason::unknown_kind, Reason::invalid_name,
                               Reason::rejected});
}

TEST_CASE("A directory counts as searched under any path") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  tree.link("a", "link");
  const auto b = tree.make_dir("b");
  const auto registry = cdi::scan_spec_dirs({tree / "link"});
  CHECK(tools::not_searched(registry->dirs(), {a, a + "/../a/", tree / "none", b, b + "/"}) ==
        Names{b});
}

TEST_CASE("The usual directories are the system's and the user's") {
  const Names system{"/etc/cdi",       "/var/run/cdi",       "/run/cdi",
                     "/usr/share/cdi", "/usr/local/etc/cdi", "/etc/buildkit/cdi"};
  {
    const Environment home{"HOME", nullptr};
    const Environment config{"XDG_CONFIG_HOME", ""};
    const Environment runtime{"XDG_RUNTIME_DIR", "not/absolute"};
    CHECK(tools::usual_spec_dirs() == system);
  }
  const Environment home{"HOME", "/h"};
  const Environment config{"XDG_CONFIG_HOME", "/c"};
  const Environment runtime{"XDG_RUNTIME_DIR", "/r"};
  auto all = system;
  all.insert(all.end(), {"/h/.config/cdi", "/c/cdi", "/r/cdi"});
  CHECK(tools::usual_spec_dirs() == all);
}

TEST_CASE("Messages have one line, whatever bytes the names of files and devices have") {
  const TempTree tree;
  const auto a = tree.make_dir("a\n\"\xff");
  const auto b = tree.make_dir("b\n\"\xff");
  tree.put("a\n\"\xff/x\x1b.yaml",
           "cdiVersion: 1.0.0\nkind: v/c\ndevices:\n- name: d\n"
           "  \"new\\n\\\"\\u001b\": {}\n");
  tree.put("a\n\"\xff/y\xfe.json", "{\"kind\": \"v/c\", \"\xff\n\x1b");
  tree.put("b\n\"\xff/x.yaml", spec("w/c", "d"));
  for (const std::string_view name : {"v/c=d", "w/c=d", "w/c=e\n\xff", "\n\xff\x1b"}) {
    const auto one = why({a}, name, {b});
    Names texts{to_string(one.why)};
    for (const auto& cause : one.causes) texts.push_back(to_string(cause));
    for (const auto& text : texts) {
      CAPTURE(text);
      CHECK(text.find_first_of("\n\x1b") == std::string::npos);
      CHECK(cdi::detail::is_utf8(text));
    }
  }
  CHECK(why({a}, "v/c=d").causes.size() == 2);
}

TEST_CASE(
    "A device in a file of a name that is ignored is reported with its place and the remedy") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  tree.put("a/x.yml", spec("v/c", "d"));
  tree.put("a/bad.YAML", spec("v/c", "bad") + "  new: {}\n");
  tree.put("a/y.yaml", spec("v/other", "d"));
  const auto one = why({a}, "v/c=d");
  CHECK(one.reason == Reason::ignored);
  CHECK(places(one) == Names{a + "/x.yml:4:3"});
  CHECK(one.causes[0].message ==
        "the device is here; and the file is ignored: its name ends neither in .json nor "
        "in .yaml");
  CHECK(one.causes[0].advice == "rename it to \"x.yaml\"");
  CHECK(one.why.message.ends_with("; it is in \"" + a + "/x.yml\", which is ignored"));
  const auto bad = why({a}, "v/c=bad");  // it is not valid either
  CHECK(bad.reason == Reason::ignored);
  CHECK(places(bad) == Names{a + "/bad.YAML:6:3"});
  CHECK(bad.causes[0].message ==
        "unknown field: use one of name, annotations, containerEdits; and the file is ignored: "
        "its name ends neither in .json nor in .yaml");
  CHECK(bad.causes[0].advice == "rename it to \"bad.yaml\"");
  CHECK(why({a}, "v/c=e").reason == Reason::unknown_kind);
  CHECK(why({a}, "v/other=e").reason == Reason::unknown_device);
  CHECK(tools::diagnose(*cdi::scan_spec_dirs({a}), {"v/other=d"}, {}).empty());
}

TEST_CASE("A device in a directory of a spec directory is in one that is not searched") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  tree.make_dir("a/inner");
  tree.put("a/inner/x.yaml", spec("v/c", "d"));
  const auto one = why({a}, "v/c=d");
  CHECK(one.reason == Reason::not_searched);
  CHECK(places(one) == Names{a + "/inner/x.yaml:4:3"});
}

TEST_CASE("A file of an ignored name in such a directory is reported with one remedy for both") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  tree.make_dir("a/inner");
  tree.put("a/inner/x.yml", spec("v/c", "d"));
  const auto one = why({a}, "v/c=d");
  CHECK(one.reason == Reason::ignored);
  CHECK(places(one) == Names{a + "/inner/x.yml:4:3"});
  CHECK(one.causes[0].advice == "move \"x.yml\" to \"" + a + "\" as \"x.yaml\"");
}

TEST_CASE("A file of an ignored name that cannot be read may have the device") {
  const UnprivilegedUser unprivileged;
  if (!unprivileged) return;
  const TempTree tree;
  const auto a = tree.make_dir("a");
  tree.put("a/x.yml", spec("v/c", "d"));
  REQUIRE(::chmod((a + "/x.yml").c_str(), 0) == 0);
  const auto one = why({a}, "v/c=d");
  CHECK(one.reason == Reason::unknown_kind);
  CHECK(places(one) == Names{a + "/x.yml"});
  CHECK(one.causes[0].message.ends_with(
      "; and the file is ignored: its name ends neither in .json nor in .yaml"));
  CHECK(one.causes[0].advice == "rename it to \"x.yaml\"");
}
