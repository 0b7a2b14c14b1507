// Tests for include/cdi/apply/host_options.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cerrno>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/apply/apply.hpp>
#include <cdi/apply/host_options.hpp>
#include <cdi/targets/oci_editor.hpp>

#include "../../support/temp_tree.hpp"

namespace {

using cdi::HostDrift;
using Texts = std::vector<std::string>;
namespace fs = std::filesystem;

/// A host with one node, /dev/a: c 195:255.
cdi::Result<cdi::HostNode> one_node(std::string_view path) {
  if (path == "/dev/a") return cdi::HostNode{'c', 195, 255, 0660};
  if (path == "/dev/dir") return cdi::Error{.code = cdi::Errc::host, .message = "a directory"};
  return cdi::Error{.code = cdi::Errc::host, .message = "no host device", .system = ENOENT};
}
using OneNode = decltype(&one_node);

cdi::HostWithOptions<OneNode> with(cdi::HostOptions options) {
  return {.options = std::move(options), .host = one_node};
}

/// The node that one of the edits makes; an error as text.
struct Made {
  std::string type{};
  std::int64_t major = 0;
  std::int64_t minor = 0;
  std::string error{};

  friend bool operator==(const Made&, const Made&) = default;
};

Made make(HostDrift drift, const cdi::DeviceNode& node) {
  cdi::oci::Spec spec;
  const cdi::ContainerEdits edits{.device_nodes = {node}};
  const auto done = edits.apply(spec, with({.drift = drift}));
  if (!done) {
    CHECK(spec == cdi::oci::Spec{});
    return {.error = to_string(done.error())};
  }
  const auto& device = spec.linux_->devices[0];
  return {device.type, device.major, device.minor};
}

}  // namespace

TEST_CASE("A host may have a member of the same name") {
  struct {
    int options = 1;
    cdi::Result<cdi::HostNode> operator()(std::string_view path) const { return one_node(path); }
  } const host;
  cdi::oci::Spec spec;
  const cdi::ContainerEdits edits{.device_nodes = {{.path = "/dev/a"}}};
  CHECK(edits.apply(spec, host));
  CHECK(host.options == 1);
}

TEST_CASE("A hook without an environment gets the one of the options, and others keep theirs") {
  const cdi::ContainerEdits edits{
      .hooks = {{.hook_name = "createContainer", .path = "/a", .args = {"a", "b"}},
                {.hook_name = "createContainer", .path = "/b", .env = {"ONLY=this"}},
                {.hook_name = "poststop", .path = "/c"}}};
  cdi::oci::Spec spec;
  REQUIRE(edits.apply(
      spec, cdi::HostWithOptions<>{{.hook_env = {std::string{cdi::explicit_hook_path}, "B="}}}));
  const Texts both{std::string{cdi::explicit_hook_path}, "B="};
  REQUIRE(spec.hooks->create_container.size() == 2);
  CHECK(spec.hooks->create_container[0].env == both);
  CHECK(spec.hooks->create_container[0].args == Texts{"a", "b"});
  CHECK(spec.hooks->create_container[1].env == Texts{"ONLY=this"});
  CHECK(spec.hooks->poststop[0].env == both);
}

TEST_CASE("By default, a hook stays without an environment, like in the Go reference") {
  const cdi::ContainerEdits edits{.hooks = {{.hook_name = "poststop", .path = "/a"}}};
  cdi::oci::Spec spec;
  REQUIRE(edits.apply(spec));
  CHECK(spec.hooks->poststop[0].env.empty());
  cdi::oci::Spec with_options;
  REQUIRE(edits.apply(with_options, cdi::HostWithOptions<>{}));
  CHECK(with_options == spec);
}

TEST_CASE("An environment that is not UTF-8 changes nothing") {
  const cdi::ContainerEdits edits{.hooks = {{.hook_name = "poststop", .path = "/a"}}};
  cdi::oci::Spec spec;
  const auto done = edits.apply(spec, cdi::HostWithOptions<>{{.hook_env = {"A=\xff"}}});
  REQUIRE_FALSE(done);
  CHECK(done.error().code == cdi::Errc::invalid);
  CHECK(spec == cdi::oci::Spec{});
}

TEST_CASE("A pinned node that differs from the host's is kept, follows the host, or fails") {
  const cdi::DeviceNode node{.path = "/dev/a", .type = "c", .major = 195, .minor = 0};
  CHECK(make(HostDrift::keep, node) == Made{"c", 195, 0});
  CHECK(make(HostDrift::follow, node) == Made{"c", 195, 255});
  CHECK(make(HostDrift::fail, node).error ==
        "deviceNodes[0].major: host device \"/dev/a\" is c 195:255, not c 195:0: correct the spec, "
        "or follow the host");
  const cdi::DeviceNode block{
      .path = "/dev/x", .host_path = "/dev/a", .type = "b", .major = 195, .minor = 255};
  CHECK(make(HostDrift::follow, block) == Made{"c", 195, 255});
  CHECK(make(HostDrift::fail, block).error ==
        "deviceNodes[0].type: host device \"/dev/a\" is c 195:255, not b 195:255: correct the "
        "spec, or follow the host");
  // The number alone is pinned.
  const cdi::DeviceNode number{.path = "/dev/a", .major = 500, .minor = 1};
  CHECK(make(HostDrift::keep, number) == Made{"c", 500, 1});
  CHECK(make(HostDrift::follow, number) == Made{"c", 195, 255});
}

TEST_CASE("A node like the host's, and one that the host lacks, are not drift") {
  for (const auto drift : {HostDrift::keep, HostDrift::follow, HostDrift::fail}) {
    CHECK(make(drift, {.path = "/dev/a", .type = "c", .major = 195, .minor = 255}) ==
          Made{"c", 195, 255});
    CHECK(make(drift, {.path = "/dev/a", .type = "u", .major = 195, .minor = 255}) ==
          Made{"u", 195, 255});
    CHECK(make(drift, {.path = "/dev/b", .type = "b", .major = 8, .minor = 1}) == Made{"b", 8, 1});
    CHECK(make(drift, {.path = "/dev/a"}) == Made{"c", 195, 255});
  }
  CHECK(make(HostDrift::follow, {.path = "/dev/a", .type = "u", .major = 1}) ==
        Made{"u", 195, 255});
}

TEST_CASE("A node follows the host to any type, and a path below a file is not a node") {
  const auto follow = [](cdi::HostNode found, const cdi::DeviceNode& node) {
    const auto host = [&](std::string_view) {
      return cdi::Result<cdi::HostNode>{found};
    };
    cdi::oci::Spec spec;
    const cdi::ContainerEdits edits{.device_nodes = {node}};
    REQUIRE(edits.apply(spec,
                        cdi::HostWithOptions<decltype(host)>{{.drift = HostDrift::follow}, host}));
    return spec.linux_->devices[0].type;
  };
  const cdi::DeviceNode node{.path = "/dev/a", .type = "c", .major = 1, .minor = 1};
  CHECK(follow({'b', 8, 0, 0660}, node) == "b");
  CHECK(follow({'p', 0, 0, 0660}, node) == "p");
  const auto below_file = [](std::string_view) -> cdi::Result<cdi::HostNode> {
    return cdi::Error{.code = cdi::Errc::host, .system = ENOTDIR};
  };
  cdi::oci::Spec spec;
  const cdi::HostWithOptions<decltype(below_file)> host{{.drift = HostDrift::fail}, below_file};
  CHECK(cdi::ContainerEdits{.device_nodes = {node}}.apply(spec, host));
}

TEST_CASE("A host is asked for paths below its root, also for relative ones") {
  Texts asked;
  const auto host = [&](std::string_view path) {
    asked.emplace_back(path);
    return cdi::Result<cdi::HostNode>{cdi::HostNode{}};
  };
  const cdi::HostWithOptions<decltype(host)> below{{.root = "/r"}, host};
  CHECK(below("/dev/a"));
  CHECK(below("dev/a"));
  CHECK(asked == Texts{"/r/dev/a", "/r/dev/a"});
}

TEST_CASE("A host is asked for paths inside its root, wherever links of directories lead") {
  const TempTree dir;
  const std::string root = dir / "root";
  fs::create_directories(root + "/run/gpu");
  fs::create_directory(root + "/var");
  fs::create_directory(root + "/tmp");
  fs::create_symlink("/run", root + "/var/run");  // as in Debian
  fs::create_symlink("../../../../tmp", root + "/up");
  fs::create_symlink("loop", root + "/loop");
  fs::create_symlink("/run/gpu", root + "/run/last");
  Texts asked;
  const auto host = [&](std::string_view path) {
    asked.emplace_back(path.substr(root.size()));
    return cdi::Result<cdi::HostNode>{cdi::HostNode{}};
  };
  const cdi::HostWithOptions<decltype(host)> inside{{.root = root}, host};
  for (const auto* path : {"/var/run/gpu/a", "/up/a/b", "/gone/./a", "/../a", "var/run/last"}) {
    CHECK(inside(path));
  }
  CHECK(asked == Texts{"/run/gpu/a", "/tmp/a/b", "/gone/./a", "/a", "/run/last"});
  const auto loop = inside("/loop/a");
  REQUIRE_FALSE(loop);
  CHECK(loop.error().code == cdi::Errc::host);
  CHECK(loop.error().system == ELOOP);
  CHECK(inside(std::string_view{"/var/run/\0", 10}));  // the host rejects it
  CHECK(asked.back() == std::string_view{"/var/run/\0", 10});
}

TEST_CASE("What is not a device node on the host is neither followed nor ignored") {
  const cdi::DeviceNode node{.path = "/dev/dir", .type = "c", .major = 1};
  CHECK(make(HostDrift::keep, node).error.empty());
  CHECK(make(HostDrift::follow, node).error == "deviceNodes[0]: a directory");
  CHECK(make(HostDrift::fail, node).error == "deviceNodes[0]: a directory");
}

TEST_CASE("Links are followed inside of a root") {
  const TempTree dir;
  const std::string root = dir / "root";
  fs::create_directories(root + "/usr/lib");
  fs::create_directories(root + "/dev/by-id");
  put_file(root + "/usr/lib/a", "");
  fs::create_symlink("usr/lib", root + "/lib");
  fs::create_symlink("/usr/lib/a", root + "/absolute");
  fs::create_symlink("../../../../../usr/lib/a", root + "/dev/by-id/up");
  fs::create_symlink("/usr/lib/a", root + "/dev/by-id/absolute");
  fs::create_symlink("loop", root + "/loop");
  fs::create_symlink("nowhere", root + "/broken");
  const auto resolved = [&](std::string_view path) {
    const auto result = cdi::resolve_host_links(path, root);
    return result ? *result : "error: " + std::to_string(result.error().system);
  };
  CHECK(resolved("/lib/a") == "/usr/lib/a");
  CHECK(resolved("/lib") == "/usr/lib");
  CHECK(resolved("/lib/") == "/usr/lib");
  CHECK(resolved("/absolute") == "/usr/lib/a");
  CHECK(resolved("/dev/by-id/up") == "/usr/lib/a");
  CHECK(resolved("/dev/by-id/absolute") == "/usr/lib/a");
  CHECK(resolved("/lib/../..") == "/");
  CHECK(resolved("/usr//lib/./a") == "/usr//lib/./a");  // no link: as it was
  CHECK(resolved("/broken") == "/broken");
  CHECK(resolved("/absolute/x") == "/absolute/x");
  CHECK(resolved("tmpfs") == "tmpfs");
  CHECK(resolved("") == "");
  CHECK(resolved("/loop") == "error: " + std::to_string(ELOOP));
  CHECK(resolved("/" + std::string(300, 'a')) == "error: " + std::to_string(ENAMETOOLONG));
  const std::string nul{"/absolute\0", 10};
  CHECK((resolved(nul) == nul));
}

TEST_CASE("As many links are followed as in the kernel") {
  const TempTree dir;
  put_file(dir / "0", "");
  for (int i = 1; i <= 41; ++i) {
    fs::create_symlink(std::to_string(i - 1), dir / std::to_string(i));
  }
  CHECK(*cdi::resolve_host_links("/40", dir.path()) == "/0");
  CHECK(cdi::resolve_host_links("/41", dir.path()).error().system == ELOOP);
}

TEST_CASE("A link to a path that is not UTF-8 changes nothing") {
  const TempTree dir;
  put_file(dir / "\xff", "");
  fs::create_symlink("\xff", dir / "link");
  cdi::oci::Spec spec;
  const cdi::ContainerEdits edits{.mounts = {{.host_path = "/link", .container_path = "/a"}}};
  const auto done =
      edits.apply(spec, cdi::HostWithOptions<>{{.resolve_links = true, .root = dir.path()}});
  REQUIRE_FALSE(done);
  CHECK(done.error().code == cdi::Errc::invalid);
  CHECK(spec == cdi::oci::Spec{});
}

TEST_CASE("Host paths of mounts and nodes are resolved on request") {
  const TempTree dir;
  const std::string root = dir / "root";
  fs::create_directories(root + "/dev");
  fs::create_symlink("null", root + "/dev/link");
  fs::create_symlink("/dev/null", root + "/source");
  put_file(root + "/dev/null", "");
  std::vector<std::string> asked;
  const auto host = [&](std::string_view path) {
    asked.emplace_back(path);
    return cdi::Result<cdi::HostNode>{cdi::HostNode{'c', 1, 3, 0666}};
  };
  const cdi::ContainerEdits edits{.device_nodes = {{.path = "/dev/link"}},
                                  .mounts = {{.host_path = "/source", .container_path = "/a"}}};
  cdi::oci::Spec spec;
  const cdi::HostWithOptions<decltype(host)> options{{.resolve_links = true, .root = root}, host};
  REQUIRE(edits.apply(spec, options));
  CHECK(spec.mounts[0].source == "/dev/null");
  CHECK(spec.linux_->devices[0].path == "/dev/link");
  CHECK(asked == Texts{root + "/dev/null"});

  cdi::oci::Spec unresolved;
  REQUIRE(edits.apply(unresolved, host));
  CHECK(unresolved.mounts[0].source == "/source");
}

TEST_CASE("A link that cannot be followed changes nothing") {
  const TempTree dir;
  fs::create_symlink("loop", dir / "loop");
  cdi::oci::Spec spec;
  const cdi::HostWithOptions<> host{{.resolve_links = true, .root = dir.path()}};
  const cdi::ContainerEdits node{.device_nodes = {{.path = "/dev/x", .host_path = "/loop"}}};
  const auto done = node.apply(spec, host);
  REQUIRE_FALSE(done);
  CHECK(done.error().where == "deviceNodes[0].hostPath");
  CHECK(done.error().system == ELOOP);
  const cdi::ContainerEdits mount{.mounts = {{.host_path = "/a", .container_path = "/a"},
                                             {.host_path = "/loop", .container_path = "/a"}}};
  const auto mounted = mount.apply(spec, host);
  REQUIRE_FALSE(mounted);
  CHECK(mounted.error().where == "mounts[1].hostPath");
  CHECK(mounted.error().system == ELOOP);
  CHECK(spec == cdi::oci::Spec{});
}

TEST_CASE("An error about a host path names the set of edits, and the item in this set") {
  const TempTree dir;
  fs::create_symlink("loop", dir / "loop");
  const cdi::HostOptions links{.resolve_links = true, .root = dir.path()};
  const cdi::HostOptions drift{.drift = HostDrift::fail};
  const cdi::ContainerEdits good{
      .device_nodes = {{.path = "/dev/a", .type = "c", .major = 195, .minor = 255}},
      .mounts = {{.host_path = "/a", .container_path = "/a"}}};
  const auto node = good.device_nodes[0];
  const auto mount = good.mounts[0];
  struct {
    cdi::ContainerEdits edits;
    cdi::HostOptions options;
    std::string_view where;
  } const rows[] = {
      {{.device_nodes = {node, {.path = "/loop"}}}, links, "deviceNodes[1].hostPath"},
      {{.mounts = {mount, {.host_path = "/loop", .container_path = "/b"}}},
       links,
       "mounts[1].hostPath"},
      {{.device_nodes = {node, {.path = "/dev/a", .type = "b"}}}, drift, "deviceNodes[1].type"},
      {{.device_nodes = {node, {.path = "/dev/dir", .type = "c"}}}, drift, "deviceNodes[1]"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.where);
    const cdi::ContainerEdits* const all[] = {&good, &row.edits};
    cdi::oci::Spec spec;
    const auto done =
        cdi::apply(std::span<const cdi::ContainerEdits* const>{all}, spec, with(row.options));
    REQUIRE_FALSE(done);
    CHECK(done.error().edits == 2);
    CHECK(done.error().where == row.where);
  }
}

// Once, each part of a path moved the rest of it: this would run into a timeout.
TEST_CASE("A long path costs one pass") {
  std::string path;
  while (path.size() < 10'000'000) path += "/.";
  const auto resolved = cdi::resolve_host_links(path);
  REQUIRE(resolved);
  CHECK((*resolved == path));
}
