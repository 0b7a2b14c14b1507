// Tests for include/cdi/registry/explain.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cerrno>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/registry/explain.hpp>
#include <cdi/registry/registry.hpp>

#include "specs.hpp"

namespace {

std::shared_ptr<const cdi::RejectedFile> rejected(cdi::Error why, std::string kind = {},
                                                  Names devices = {}) {
  return std::make_shared<const cdi::RejectedFile>(cdi::RejectedFile{
      .why = std::move(why), .kind = std::move(kind), .devices = std::move(devices)});
}

cdi::Error error_in(std::string file, cdi::Errc code, int system = 0) {
  return {.code = code,
          .message = "the fault",
          .position = {.file = std::move(file), .line = 3, .column = 5},
          .system = system};
}

cdi::Unresolved reason(const cdi::Registry& registry, std::string_view name) {
  const auto missing = registry.unresolved({name});
  REQUIRE(missing.size() == 1);
  CHECK(missing[0].name == name);
  return missing[0];
}

Names files_of(const std::vector<cdi::Error>& errors) {
  Names files;
  for (const auto& error : errors) files.push_back(error.position.file);
  return files;
}

}  // namespace

TEST_CASE("Each kind of failure is explained") {
  cdi::Error rejected{.code = cdi::Errc::schema,
                      .message = "unknown field",
                      .where = "x",
                      .position = {.file = "/etc/cdi/bad.json", .line = 3, .column = 5}};
  const cdi::Registry registry{{spec_at("1", 0, "v/c", {"d", "e"}), spec_at("2", 0, "v/c", {"e"})},
                               {std::make_shared<const cdi::RejectedFile>(
                                   cdi::RejectedFile{.why = rejected, .kind = "w/c"})}};
  struct {
    std::string name;
    cdi::Errc code;
    std::vector<std::string> words;
  } const rows[] = {
      {"plain", cdi::Errc::invalid_name, {"\"plain\"", "vendor.com/class=device"}},
      {"v=d", cdi::Errc::invalid_name, {"\"v\"", "slash"}},
      {"v/c=d!", cdi::Errc::invalid_name, {"\"d!\"", "must end with a letter or digit"}},
      {"0/c=d", cdi::Errc::invalid_name, {"vendor \"0\"", "must begin with a letter"}},
      {"v/c=", cdi::Errc::invalid_name, {"empty"}},
      {"v/other=d",
       cdi::Errc::not_found,
       {"no spec of kind \"v/other\"", "v/c", "/etc/cdi/bad.json:3:5: x: unknown field"}},
      {"v/c=f",
       cdi::Errc::not_found,
       {"kind \"v/c\" has no device \"f\"", "d, e", "/etc/cdi/bad.json:3:5"}},
      {"v/c=e", cdi::Errc::conflict, {"\"v/c=e\"", "\"2\"", "same priority"}},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    const auto error = why(registry, row.name);
    CAPTURE(error.message);
    CHECK(error.code == row.code);
    for (const auto& word : row.words) {
      CAPTURE(word);
      CHECK(to_string(error).find(word) != std::string::npos);
    }
  }
  CHECK(why(cdi::Registry{}, "v/c=d").message.find("none") != std::string::npos);
}

TEST_CASE("Explanations are cut after a few names and files") {
  Names devices;
  for (int i = 1000; i < 2000; ++i) devices.push_back("d" + std::to_string(i));
  const auto bad = std::make_shared<const cdi::RejectedFile>(
      cdi::RejectedFile{.why = {.code = cdi::Errc::syntax, .message = "bad"}, .kind = "w/c"});
  const cdi::Registry registry{{spec_at("1", 0, "v/c", devices)},
                               std::vector<std::shared_ptr<const cdi::RejectedFile>>(50, bad)};
  const auto message = why(registry, "v/c=x").message;
  CAPTURE(message);
  CHECK(message.find("d1007, ...;") != std::string::npos);
  CHECK(message.find("d1008") == std::string::npos);
  CHECK(message.find("and 47 more") != std::string::npos);
  CHECK(message.size() < 500);
}

TEST_CASE("Invalid names have no causes and no similar names") {
  const cdi::Registry registry{{spec_at("1", 0, "v/c", {"d"})}};
  for (const std::string_view name : {"", "d", "v/c", "v/c=", "=d", "v/c=d ", "v/c=\n"}) {
    CAPTURE(name);
    const auto one = reason(registry, name);
    CHECK(one.reason == cdi::Reason::invalid_name);
    CHECK(one.why.code == cdi::Errc::invalid_name);
    CHECK(one.nearest.empty());
    CHECK(one.causes.empty());
  }
}

TEST_CASE("For an unknown device, similar ones are named, or the first of its kind") {
  const cdi::Registry registry{{spec_at("1", 0, "v/c", {"gpu1", "gpu0", "all"}),
                                spec_at("2", 1, "v/c", {"gpu1", "nic"}),
                                spec_at("3", 0, "w/c", {"gpu3"})}};
  const auto near = reason(registry, "v/c=gpu3");
  CHECK(near.reason == cdi::Reason::unknown_device);
  CHECK(near.why.code == cdi::Errc::not_found);
  CHECK(near.nearest == Names{"v/c=gpu0", "v/c=gpu1"});
  CHECK(near.why.message ==
        "cannot resolve \"v/c=gpu3\": kind \"v/c\" has no device \"gpu3\"; nearest: gpu0, gpu1");
  const auto far = reason(registry, "v/c=something");
  CHECK(far.nearest.empty());
  CHECK(far.why.message ==
        "cannot resolve \"v/c=something\": kind \"v/c\" has no device \"something\"; its devices: "
        "all, "
        "gpu0, gpu1, nic");
}

TEST_CASE("For an unknown kind, similar ones are named, of rejected files too") {
  const cdi::Registry registry{{spec_at("1", 0, "vendor.com/gpu", {"0"})},
                               {rejected(error_in("2", cdi::Errc::schema), "vendor.org/gpu")}};
  const auto near = reason(registry, "vendor.con/gpu=0");
  CHECK(near.reason == cdi::Reason::unknown_kind);
  CHECK(near.nearest == Names{"vendor.com/gpu", "vendor.org/gpu"});
  CHECK(near.why.message.ends_with("; nearest: vendor.com/gpu, vendor.org/gpu"));
  CHECK(reason(registry, "VENDOR.COM/GPU=0").nearest.front() == "vendor.com/gpu");
  CHECK(reason(registry, "vendor.com/nic=0").nearest == Names{"vendor.com/gpu"});  // its vendor
  CHECK(reason(registry, "vendor/gpu=0").nearest == Names{"vendor.com/gpu"});  // its domain lacks
  CHECK(reason(registry, "vend/gpu=0").nearest.empty());
  CHECK(reason(registry, "other.example/gpu=0").nearest.empty());  // another vendor's device
  const auto far = reason(registry, "x.example/nic=0");
  CHECK(far.nearest.empty());
  CHECK(
      far.why.message.ends_with("no spec of kind \"x.example/nic\"; known kinds: vendor.com/gpu"));
}

TEST_CASE("Without any spec, the searched directories are named") {
  using State = cdi::SpecDir::State;
  const cdi::SpecDir missing{.path = "/a", .state = State::missing};
  const cdi::SpecDir empty{.path = "/b\n", .state = State::read};
  struct {
    std::vector<cdi::SpecDir> dirs;
    cdi::Reason reason;
    std::string_view end;
  } const rows[] = {
      {{}, cdi::Reason::unknown_kind, "; known kinds: none"},
      {{missing}, cdi::Reason::no_directory, "; missing: /a"},
      {{missing, missing}, cdi::Reason::no_directory, "; missing: /a /a"},
      {{missing, empty}, cdi::Reason::unknown_kind, "; no valid specs in: /a /b\\n"},
      {{empty, missing}, cdi::Reason::unknown_kind, "; no valid specs in: /b\\n /a"},
  };
  for (const auto& row : rows) {
    const cdi::Registry registry{{}, {}, row.dirs};
    const auto one = reason(registry, "v/c=d");
    CAPTURE(one.why.message);
    CHECK(one.reason == row.reason);
    CHECK(one.why.message.ends_with(row.end));
    CHECK(one.causes.empty());
    CHECK(registry.unresolved({"v/c=d"}, 0).at(0).reason == row.reason);
  }
  const cdi::Registry known{{spec_at("1", 0, "w/x", {"d"})}, {}, {missing}};
  CHECK(reason(known, "v/c=d").reason == cdi::Reason::unknown_kind);
}

TEST_CASE("All files of a conflict are named, but none of another priority or kind") {
  const cdi::Registry registry{{spec_at("a", 1, "v/c", {"d", "x"}), spec_at("b", 1, "v/c", {"d"}),
                                spec_at("c", 1, "v/c", {"y", "d"}), spec_at("low", 0, "v/c", {"d"}),
                                spec_at("other", 1, "w/c", {"d"}), spec_at("e", 1, "v/c", {"e"})}};
  const auto one = reason(registry, "v/c=d");
  CHECK(one.reason == cdi::Reason::conflict);
  CHECK(one.why.code == cdi::Errc::conflict);
  CHECK(files_of(one.causes) == Names{"a", "b", "c"});
  CHECK(one.why.message.starts_with("cannot resolve \"v/c=d\": both \"a\" and \"b\" define it"));
  for (const auto& cause : one.causes) CHECK(cause.code == cdi::Errc::conflict);
}

TEST_CASE("A rejected file may define the devices it names, or any when it names none") {
  const auto good = spec_at("good", 0, "v/c", {"a"});
  const auto names = rejected(error_in("names", cdi::Errc::invalid), "v/c", {"b", "d"});
  const auto silent = rejected(error_in("silent", cdi::Errc::syntax), "v/c");
  const auto other = rejected(error_in("other", cdi::Errc::syntax), "w/c", {"d"});
  const cdi::Registry registry{{good}, {names, other}};
  const auto one = reason(registry, "v/c=d");
  CHECK(one.reason == cdi::Reason::rejected);
  CHECK(files_of(one.causes) == Names{"names"});
  CHECK(one.causes[0].position.line == 3);
  CHECK(one.causes[0].position.column == 5);
  CHECK(one.why.code == cdi::Errc::invalid);
  CHECK(one.why.message ==
        "cannot resolve \"v/c=d\": a file of its kind is not a valid spec: names:3:5: the fault");
  CHECK(reason(registry, "v/c=x").reason == cdi::Reason::unknown_device);
  CHECK(reason(registry, "v/c=x").causes.empty());

  const auto both = reason(cdi::Registry{{good}, {names, silent, other}}, "v/c=d");
  CHECK(files_of(both.causes) == Names{"names", "silent"});
  CHECK(both.why.message.ends_with(": names:3:5: the fault; silent:3:5: the fault"));
  CHECK(files_of(reason(cdi::Registry{{good}, {silent, names}}, "v/c=x").causes) ==
        Names{"silent"});
  const auto last = rejected(error_in("last", cdi::Errc::invalid), "v/c", {"d", "b"});
  CHECK(files_of(reason(cdi::Registry{{good}, {last}}, "v/c=d").causes) == Names{"last"});
  // Where no other file is of the kind, one of it may have been cut off before the device.
  CHECK(files_of(reason(cdi::Registry{{}, {names, other}}, "v/c=x").causes) == Names{"names"});
}

TEST_CASE("The version that a file needs is reported with it") {
  auto newer = std::make_shared<cdi::RejectedFile>(cdi::RejectedFile{
      .why = error_in("1", cdi::Errc::invalid), .kind = "v/c", .needs_version = "1.2.0"});
  const auto other = rejected(error_in("2", cdi::Errc::invalid), "v/c");
  CHECK(reason(cdi::Registry{{}, {newer}}, "v/c=d").needs_version == "1.2.0");
  CHECK(reason(cdi::Registry{{}, {other, newer}}, "v/c=d").needs_version == "1.2.0");
  CHECK(reason(cdi::Registry{{}, {other, newer}}, "w/c=d").needs_version.empty());
  auto newest = std::make_shared<cdi::RejectedFile>(*newer);
  newest->needs_version = "1.3.0";
  CHECK(reason(cdi::Registry{{}, {newer, newest}}, "v/c=d").needs_version == "1.2.0");
}

TEST_CASE("Unread files and directories may be of an unknown kind") {
  struct {
    cdi::Errc code;
    int system;
    cdi::Reason reason;
  } const rows[] = {
      {cdi::Errc::system, EACCES, cdi::Reason::unreadable},
      {cdi::Errc::system, EIO, cdi::Reason::unreadable},
      {cdi::Errc::denied, 0, cdi::Reason::denied},
      {cdi::Errc::system, EISDIR, cdi::Reason::unknown_kind},
      {cdi::Errc::system, EINVAL, cdi::Reason::unknown_kind},
      {cdi::Errc::system, ENOTDIR, cdi::Reason::unreadable},  // a spec directory that is a file
      {cdi::Errc::syntax, 0, cdi::Reason::unknown_kind},      // it was looked into
      {cdi::Errc::limit, 0, cdi::Reason::unknown_kind},       // one of many files, perhaps
  };
  for (const auto& row : rows) {
    CAPTURE(row.system);
    const cdi::Registry registry{{spec_at("1", 0, "v/c", {"d"})},
                                 {rejected(error_in("x", row.code, row.system))}};
    const auto one = reason(registry, "w/c=d");
    CHECK(one.reason == row.reason);
    CHECK(files_of(one.causes) == Names{"x"});
    if (row.reason != cdi::Reason::unknown_kind) CHECK(one.why.system == row.system);
  }
}

TEST_CASE("A quarantined device, and a file that became invalid, explain only their own names") {
  cdi::LoadedSpec loaded = *spec_at("1", 0, "v/c", {"a"});
  loaded.quarantined = {{"b", error_in("1", cdi::Errc::schema)}};
  cdi::LoadedSpec turned = *spec_at("2", 0, "w/c", {"a"});
  turned.last_error = std::make_shared<const cdi::Error>(error_in("2", cdi::Errc::syntax));
  const cdi::Registry registry{{std::make_shared<const cdi::LoadedSpec>(loaded),
                                std::make_shared<const cdi::LoadedSpec>(turned)}};
  CHECK(files_of(registry.errors()) == Names{"1", "2"});
  const auto bad = reason(registry, "v/c=b");
  CHECK(bad.reason == cdi::Reason::quarantined);
  CHECK(bad.why.code == cdi::Errc::schema);
  CHECK(files_of(bad.causes) == Names{"1"});
  CHECK(reason(registry, "v/c=x").reason == cdi::Reason::unknown_device);
  CHECK(reason(registry, "w/c=b").reason == cdi::Reason::rejected);
  CHECK(files_of(reason(registry, "w/c=b").causes) == Names{"2"});
  CHECK(registry.find("w/c=a").device != nullptr);
}

TEST_CASE("An unread file comes before a file of the kind that names other devices") {
  const auto other = rejected(error_in("1", cdi::Errc::syntax), "v/c", {"e"});
  const auto unread = rejected(error_in("2", cdi::Errc::system, EACCES));
  const auto one = reason(cdi::Registry{{}, {other, unread}}, "v/c=d");
  CHECK(one.reason == cdi::Reason::unreadable);
  CHECK(files_of(one.causes) == Names{"2", "1"});
  const auto named = reason(cdi::Registry{{}, {other, unread}}, "v/c=e");
  CHECK(named.reason == cdi::Reason::rejected);
  CHECK(files_of(named.causes) == Names{"1"});
}

TEST_CASE("All causes are kept, but few are in the message") {
  const auto bad = rejected(error_in("x", cdi::Errc::syntax), "v/c");
  const cdi::Registry registry{{}, std::vector<std::shared_ptr<const cdi::RejectedFile>>(50, bad)};
  const auto one = reason(registry, "v/c=d");
  CHECK(one.causes.size() == 50);
  CHECK(one.why.message.ends_with("; x:3:5: the fault; x:3:5: the fault; and more"));
  CHECK(one.why.message.size() < 200);
}

TEST_CASE("All causes are kept for the first names, and three of them for the others") {
  std::vector<std::shared_ptr<const cdi::LoadedSpec>> twice;
  for (int i = 0; i < 50; ++i) twice.push_back(spec_at(std::to_string(i), 0, "v/c", {"twice"}));
  const auto valid = spec_at("valid", 0, "v/valid", {"d"});
  struct {
    cdi::Registry registry;
    std::string name;
  } const rows[] = {
      {cdi::Registry{twice}, "v/c=twice"},
      {cdi::Registry{{}, {50, rejected(error_in("x", cdi::Errc::syntax), "v/c")}}, "v/c=d"},
      {cdi::Registry{{}, {50, rejected(error_in("x", cdi::Errc::syntax))}}, "v/c=d"},
      {cdi::Registry{{}, {50, rejected(error_in("x", cdi::Errc::denied))}}, "v/c=d"},
      {cdi::Registry{{valid}, {50, rejected(error_in("x", cdi::Errc::denied))}}, "v/valid=e"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    const auto missing = row.registry.unresolved(Names(3, row.name), 2);
    REQUIRE(missing.size() == 3);
    CHECK(missing[1].causes.size() == 50);
    CHECK(missing[1].more_causes == 0);
    CHECK(missing[2].causes.size() == 3);
    CHECK(missing[2].more_causes == 47);
    CHECK(files_of({missing[2].causes[2]}) == files_of({missing[1].causes[2]}));
    CHECK(missing[2].reason == missing[1].reason);
    CHECK(advice(missing[2]) == advice(missing[1]));
    if (!is_unknown(missing[2].reason)) CHECK(missing[2].why.message == missing[1].why.message);
  }
}

TEST_CASE("Messages stay on one line of UTF-8, whatever names and paths hold") {
  const std::string odd = "a\n\"\xff\x1b";
  cdi::LoadedSpec loaded = *spec_at(odd, 0, "v/c", {"d", "e"});
  loaded.quarantined = {{"q", error_in(odd, cdi::Errc::schema)}};
  const auto first = std::make_shared<const cdi::LoadedSpec>(loaded);
  const cdi::Registry registry{{first, spec_at(odd + "2", 0, "v/c", {"d"})},
                               {rejected(error_in(odd, cdi::Errc::syntax), "w/c")},
                               {{.path = odd, .state = cdi::SpecDir::State::read}}};
  const std::string names[] = {odd,
                               "v/c=d",
                               "v/c=x",
                               "v/c=q",
                               "w/c=x",
                               "y/z=x",
                               "v/c=" + odd,
                               odd + "/c=d",
                               "v/c=d\n"
                               "",
                               std::string(100'000, '\n'),
                               {"v/c=d\0", 6}};
  for (const auto& name : names) {
    CAPTURE(name.substr(0, 20));
    const auto one = reason(registry, name);
    Names texts{one.why.message, to_string(one.why), registry.resolve(name).error().message};
    for (const auto& cause : one.causes) texts.push_back(to_string(cause));
    for (const auto& text : texts) {
      CAPTURE(text);
      CHECK(text.find_first_of("\n\x1b") == std::string::npos);
      CHECK(cdi::detail::is_utf8(text));
      CHECK(text.size() < 1000);
    }
  }
}

TEST_CASE("A reason among a hundred thousand devices is found in one pass") {
  Names devices;
  for (int i = 0; i < 100'000; ++i) devices.push_back("d" + std::to_string(i));
  const cdi::Registry registry{{spec_at("1", 0, "v/c", devices), spec_at("2", 0, "v/c", devices)},
                               {rejected(error_in("x", cdi::Errc::syntax), "w/c", devices)}};
  CHECK(registry.errors().size() == 3);  // one conflict, told from both sides
  CHECK(reason(registry, "v/c=d99999").reason == cdi::Reason::conflict);
  CHECK(reason(registry, "v/c=d100000").nearest.size() == 5);
  CHECK(reason(registry, "w/c=d99999").reason == cdi::Reason::rejected);
  CHECK(registry.devices().empty());
}

TEST_CASE("Similar names are searched only for the first few of many names") {
  const cdi::Registry registry{{spec_at("1", 0, "v/c", {"d"})}};
  struct {
    std::string name, nearest, rest;
    cdi::Reason reason;
  } const rows[] = {
      {"v/c=e", "v/c=d", "kind \"v/c\" has no device \"e\"", cdi::Reason::unknown_device},
      {"v/g=d", "v/c", "no spec of kind \"v/g\"", cdi::Reason::unknown_kind},
  };
  for (const auto& row : rows) {
    const auto missing = registry.unresolved(Names(20, row.name));
    REQUIRE(missing.size() == 20);
    CHECK(missing[7].nearest == Names{row.nearest});
    CHECK(missing[8].nearest.empty());
    CHECK(missing[8].reason == row.reason);
    CHECK(missing[8].why.message.ends_with(row.rest));
  }
}

TEST_CASE("A name of two letters does not resemble a long name that contains them") {
  const cdi::Registry registry{{spec_at("1", 0, "v/c", {"0", "GPU-5209d77e"})}};
  CHECK(registry.unresolved({"v/c=09"}).at(0).nearest == Names{"v/c=0"});
  CHECK(registry.unresolved({"v/c=52"}).at(0).nearest.empty());
  CHECK(registry.unresolved({"v/c=5209"}).at(0).nearest == Names{"v/c=GPU-5209d77e"});
}

TEST_CASE("An unread file may define more devices of a known kind, but one that was read may not") {
  const auto good = spec_at("good", 0, "v/c", {"a"});
  const auto unread = rejected(error_in("unread", cdi::Errc::system, EACCES));
  const auto read = rejected(error_in("read", cdi::Errc::syntax));
  const auto other = rejected(error_in("other", cdi::Errc::denied), "w/c");
  const auto one = reason(cdi::Registry{{good}, {unread, read, other}}, "v/c=d");
  CHECK(one.reason == cdi::Reason::unknown_device);
  CHECK(files_of(one.causes) == Names{"unread"});
}

TEST_CASE("A spec whose kind is not a kind is not related to any") {
  const cdi::Registry registry{{spec_at("1", 0, "no kind", {"d"})}};
  CHECK(reason(registry, "v/c=d").nearest.empty());
  CHECK(registry.vendors().empty());
  CHECK(registry.classes().empty());
}

TEST_CASE("Files that are not used are named unless each name has another reason") {
  const cdi::Registry registry{{spec_at("1", 0, "v/c", {"d"})},
                               {rejected(error_in("x", cdi::Errc::syntax), "w/c")}};
  const auto why_all = [&](const Names& names) {
    return registry.resolve_all(names).error().message.find("; not used: x") != std::string::npos;
  };
  CHECK(why_all({"v/c=e", "v/c=f"}));
  CHECK(why_all({"v/c=e", "w/c=d"}));
  CHECK(why_all({"w/c=d", "v/c=e"}));
  CHECK_FALSE(why_all({"w/c=d", "w/c=e"}));
}

TEST_CASE("Each device of a conflict has its own files") {
  const cdi::Registry registry{{spec_at("a", 0, "v/c", {"d", "e"}), spec_at("b", 0, "v/c", {"d"}),
                                spec_at("c", 0, "v/c", {"e"})}};
  CHECK(files_of(reason(registry, "v/c=d").causes) == Names{"a", "b"});
  CHECK(files_of(reason(registry, "v/c=e").causes) == Names{"a", "c"});
}

TEST_CASE("Each of several reasons has its own advice, behind it") {
  const cdi::Registry registry;
  const std::string advice = "write vendor.com/class=device";
  const auto one = registry.resolve_all({"a"}).error();
  CHECK(one.advice == advice);
  CHECK(one.message.find(advice) == std::string::npos);
  const auto two = registry.resolve_all({"a", "b"}).error();
  CHECK(two.advice.empty());
  CHECK(two.message.find(advice) < two.message.find("\"b\""));
  CHECK(two.message.rfind(advice) > two.message.find("\"b\""));
  CHECK(two.message.rfind(advice) != std::string::npos);
}
