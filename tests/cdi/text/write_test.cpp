// Tests for include/cdi/text/write.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/model/spec.hpp>
#include <cdi/text/write.hpp>

#include "../../support/check_writable.hpp"

namespace {

using namespace std::string_view_literals;
using cdi::detail::is_utf8;

/// Records all calls.
struct Notes {
  std::string out{};

  void begin_map() { out += "{ "; }
  void end_map() { out += "} "; }
  void begin_list() { out += "[ "; }
  void end_list() { out += "] "; }
  void key(std::string_view name) { out.append(name).append(": "); }
  void text(std::string_view value) { out.append("'").append(value).append("' "); }
  void integer(std::int64_t value) { out.append(std::to_string(value)).append(" "); }
  void unsigned_integer(std::uint64_t value) { out.append(std::to_string(value)).append(" "); }
  void boolean(bool value) { out += value ? "true " : "false "; }
  void number(std::string_view value) { out.append(value).append(" "); }
  void null() { out += "null "; }
};

static_assert(cdi::Sink<Notes>);
static_assert(cdi::Sink<cdi::detail::WriteCheck>);
static_assert(!cdi::Sink<std::string>);

template <class T>
std::string written(const T& value) {
  Notes notes;
  cdi::write(value, notes);
  return notes.out;
}

TEST_CASE("Empty members are omitted, unless they are required") {
  CHECK(written(cdi::Spec{}) == "{ cdiVersion: '' kind: '' devices: [ ] } ");
  CHECK(written(cdi::Device{}) == "{ name: '' containerEdits: { } } ");
  CHECK(written(cdi::DeviceNode{}) == "{ path: '' } ");
  CHECK(written(cdi::NetDevice{}) == "{ hostInterfaceName: '' name: '' } ");
  CHECK(written(cdi::Hook{}) == "{ hookName: '' path: '' } ");
  CHECK(written(cdi::Mount{}) == "{ hostPath: '' containerPath: '' } ");
  CHECK(written(cdi::ContainerEdits{}) == "{ } ");
  CHECK(written(cdi::IntelRdt{}) == "{ } ");
}

TEST_CASE("Fields are written in the order of the document, in whatever order they are set") {
  cdi::ContainerEdits edits;
  edits.additional_gids = {7, 0};
  edits.intel_rdt = {.clos_id = "/", .enable_monitoring = true};
  edits.mounts = {{.host_path = "/a", .container_path = "/b", .options = {"ro"}, .type = "bind"}};
  edits.hooks = {{.hook_name = "poststop", .path = "/h", .args = {"h"}, .timeout = 0}};
  edits.net_devices = {{.host_interface_name = "e", .name = "n"}};
  edits.device_nodes = {{.path = "/d", .major = -1, .file_mode = 0, .gid = 4294967295}};
  edits.env = {"A=1"};
  CHECK(written(edits) ==
        "{ env: [ 'A=1' ] "
        "deviceNodes: [ { path: '/d' major: -1 fileMode: 0 gid: 4294967295 } ] "
        "netDevices: [ { hostInterfaceName: 'e' name: 'n' } ] "
        "hooks: [ { hookName: 'poststop' path: '/h' args: [ 'h' ] timeout: 0 } ] "
        "mounts: [ { hostPath: '/a' containerPath: '/b' options: [ 'ro' ] type: 'bind' } ] "
        "intelRdt: { closID: '/' enableMonitoring: true } "
        "additionalGids: [ 7 0 ] } ");
}

TEST_CASE("An empty object in an optional is written") {
  CHECK(written(cdi::ContainerEdits{.intel_rdt = cdi::IntelRdt{}}) == "{ intelRdt: { } } ");
  cdi::IntelRdt rdt;
  rdt.schemata.emplace();
  CHECK(written(rdt) == "{ schemata: [ ] } ");
}

TEST_CASE("Maps are written in the order of their keys") {
  cdi::Device device;
  device.annotations = {{"b", "2"}, {"a", "1"}};
  CHECK(written(device) == "{ name: '' annotations: { a: '1' b: '2' } containerEdits: { } } ");
}

TEST_CASE("Parts of a model are written on their own") {
  CHECK(written(std::int64_t{-5}) == "-5 ");
  CHECK(written(std::uint32_t{4294967295}) == "4294967295 ");
  CHECK(written(true) == "true ");
  CHECK(written(std::string{"a"}) == "'a' ");
  CHECK(written(std::optional{3}) == "3 ");
}

TEST_CASE("Views are written like owning models") {
  CHECK(written(cdi::SpecView{.version = "1.1.0", .kind = "v/c"}) ==
        written(cdi::Spec{.version = "1.1.0", .kind = "v/c"}));
}

// RFC 3629, section 4; the table 3-7 of the Unicode standard.
static_assert(is_utf8(""));
static_assert(is_utf8("\0"sv));
static_assert(is_utf8("\x7f"));
static_assert(is_utf8("\xc2\x80") && is_utf8("\xdf\xbf"));
static_assert(is_utf8("\xe0\xa0\x80") && is_utf8("\xec\xbf\xbf"));
static_assert(is_utf8("\xed\x80\x80") && is_utf8("\xed\x9f\xbf"));
static_assert(is_utf8("\xee\x80\x80") && is_utf8("\xef\xbf\xbf"));
static_assert(is_utf8("\xf0\x90\x80\x80") && is_utf8("\xf4\x8f\xbf\xbf"));
static_assert(is_utf8("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z"));

static_assert(!is_utf8("\x80") && !is_utf8("\xbf"), "a lone continuation");
static_assert(!is_utf8("\xc0\x80") && !is_utf8("\xc1\xbf"), "two bytes for one");
static_assert(!is_utf8("\xe0\x80\x80") && !is_utf8("\xe0\x9f\xbf"), "three bytes for two");
static_assert(!is_utf8("\xf0\x80\x80\x80") && !is_utf8("\xf0\x8f\xbf\xbf"), "four for three");
static_assert(!is_utf8("\xed\xa0\x80") && !is_utf8("\xed\xbf\xbf"), "surrogates");
static_assert(!is_utf8("\xf4\x90\x80\x80") && !is_utf8("\xf5\x80\x80\x80"), "above U+10FFFF");
static_assert(!is_utf8("\xfe") && !is_utf8("\xff"));
static_assert(!is_utf8("\xc3") && !is_utf8("\xe2\x82") && !is_utf8("\xf0\x9f\x98"), "cut off");
static_assert(!is_utf8("\xc3(") && !is_utf8("\xe2\x28\xa1") && !is_utf8("\xe2\x82("));
static_assert(!is_utf8("\xf0\x28\x8c\xbc") && !is_utf8("\xf0\x90\x28\xbc"));
static_assert(!is_utf8("ok\xc3\xa9\xff"), "not only at the beginning");

TEST_CASE("Text that is not UTF-8 is found wherever it is") {
  CHECK(check_writable(cdi::Spec{.kind = "\xc3\xa9"}));
  CHECK_FALSE(check_writable(cdi::Spec{.kind = "\xff"}));
  CHECK_FALSE(check_writable(cdi::Spec{.annotations = {{"\xff", ""}}}));
  CHECK_FALSE(check_writable(cdi::Spec{.annotations = {{"", "\xff"}}}));
  CHECK_FALSE(check_writable(cdi::Spec{.container_edits = {.env = {"A=1", "\xff"}}}));
  const auto bad =
      check_writable(cdi::Spec{.container_edits = {.hooks = {{.args = {"ok", "\xff"}}}}});
  REQUIRE_FALSE(bad);
  CHECK(bad.error().code == cdi::Errc::invalid);
  CHECK(bad.error().message == R"(text "\xff" is not UTF-8)");
}

TEST_CASE("An empty optional is null where it cannot be omitted") {
  CHECK(written(std::vector<std::optional<int>>{std::nullopt, 2}) == "[ null 2 ] ");
  CHECK(written(std::map<std::string, std::optional<int>>{{"a", std::nullopt}}) == "{ a: null } ");
  CHECK(written(std::optional<int>{}) == "null ");
}

}  // namespace
