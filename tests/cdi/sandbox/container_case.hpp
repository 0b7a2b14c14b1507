// A container for the tests of plans without hooks: an image, files of the host and a state
// directory.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/base/result.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/nvidia/hook_class.hpp>
#include <cdi/plan/plan.hpp>
#include <cdi/sandbox/hook_way.hpp>
#include <cdi/sandbox/hookless.hpp>
#include <cdi/sandbox/linker_cache.hpp>

#include "../../support/elf_bytes.hpp"
#include "../../support/temp_tree.hpp"

using Texts = std::vector<std::string>;

/// The libraries of an ld.so.cache of the new format, as `SONAME => PATH`, sorted by SONAME.
inline Texts cached_libraries(std::string_view cache) {
  const auto number = [&](std::size_t at) {
    std::uint32_t value = 0;
    REQUIRE(at + sizeof value <= cache.size());
    std::memcpy(&value, cache.data() + at, sizeof value);
    return value;
  };
  Texts out;
  REQUIRE(cache.starts_with("glibc-ld.so.cache1.1"));
  constexpr std::size_t header = 48;
  constexpr std::size_t row = 24;
  for (std::size_t i = number(20); i-- > 0;) {
    const auto text = [&](std::size_t at) {
      return std::string{cache.data() + number(header + i * row + at)};
    };
    out.push_back(text(4) + " => " + text(8));
  }
  return out;
}

/// Three directories: `image`, `host` and `state`; and a plan with files of `host`.
struct ContainerCase {
  ContainerCase() {
    for (const auto* name : {"image", "host", "state"}) tree.make_dir(name);
    REQUIRE(::chmod(tree.path().c_str(), 0755) == 0);
    options.image_root = tree / "image";
    options.state_dir = tree / "state";
  }

  /// Puts a file into a directory of the case, and makes the directories above it.
  void put(std::string_view name, std::string_view text = "text") const {
    std::filesystem::create_directories(std::filesystem::path{tree / name}.parent_path());
    tree.put(name, text);
  }
  /// Puts a library without a SONAME if that is null.
  void put_library(std::string_view name, const char* soname) const {
    ElfText text{.soname = std::nullopt};
    if (soname != nullptr) text.soname = soname;
    put(name, elf_bytes(text));
  }
  /// Puts the linker of glibc into the image, and perhaps a cache with one library.
  void use_glibc(bool with_cache = true) const {
    put("image/lib64/ld-linux-x86-64.so.2");
    const cdi::detail::LinkerEntry entry{"libc.so.6", "/lib/libc.so.6", 0x0303};
    if (with_cache) {
      put("image/etc/ld.so.cache", *cdi::detail::merged_linker_cache({}, {&entry, 1}));
    }
  }
  void use_musl() const { put("image/lib/ld-musl-x86_64.so.1"); }

  /// Mounts a file or directory of `host` in the container.
  cdi::Mount& mount(std::string_view name, std::string_view path) {
    cdi::Mount made{.host_path = tree / ("host/" + std::string{name}),
                    .container_path = std::string{path}};
    made.options = {"rw", "rbind"};
    plan.mounts.push_back({made, {.name = "mounts"}});
    return plan.mounts.back().edit;
  }
  /// Mounts a library of this SONAME.
  void mount_library(std::string_view path, const char* soname) {
    const auto name = std::string{path.substr(path.rfind('/') + 1)};
    put_library("host/" + name, soname);
    mount(name, path);
  }
  void add_node(std::string_view path, std::uint32_t mode = 0666, std::int64_t minor = 0) {
    cdi::DeviceNode node{.path = std::string{path}, .host_path = std::string{path}};
    node.type = "c";
    node.major = 195;
    node.minor = minor;
    node.file_mode = mode;
    node.permissions = "rwm";
    plan.device_nodes.push_back({node, {.name = "nodes"}});
  }
  /// Adds a hook of NVIDIA's program, with this origin.
  void add_hook(const Texts& arguments, std::string_view origin = "hook") {
    cdi::Hook hook{.hook_name = "createContainer", .path = "/usr/bin/nvidia-cdi-hook"};
    hook.args = {"nvidia-cdi-hook"};
    hook.args.insert(hook.args.end(), arguments.begin(), arguments.end());
    plan.hooks.push_back({hook, {.name = std::string{origin}}});
  }
  /// Adds a hook that makes one link, `TARGET::PATH`.
  void add_link(const std::string& link, std::string_view origin = "hook") {
    add_hook({"create-symlinks", "--link", link}, origin);
  }

  TempTree tree{};
  cdi::Plan plan{};
  cdi::HooklessOptions options{};
};

/// The plan of a case without hooks.
inline cdi::HooklessPlan run(const ContainerCase& box) {
  auto made = without_hooks(box.plan, box.options);
  REQUIRE_MESSAGE(made, (made ? "" : to_string(made.error())));
  return *std::move(made);
}

/// The notes, as `CLASS WAY SUBJECT`.
inline Texts short_notes(const cdi::HooklessPlan& made) {
  Texts out;
  for (const auto& note : made.notes) {
    out.push_back(std::string{hook_class_name(note.hook_class)} + " " +
                  std::string{hook_way_name(note.way)} + " " + note.subject);
  }
  return out;
}

/// The only note, with its reason.
inline cdi::HookNote only_note(const cdi::HooklessPlan& made) {
  REQUIRE(made.notes.size() == 1);
  return made.notes.front();
}

/// The mounts of the hooks, as `PATH <- HOST`, without the directory of the case.
inline Texts new_mounts(const ContainerCase& box, const cdi::HooklessPlan& made) {
  Texts out;
  for (const auto& [mount, origin, overridden] : made.plan.mounts) {
    CHECK_FALSE(overridden);
    if (origin.name == "mounts") continue;
    REQUIRE(mount.host_path.starts_with(box.tree / ""));
    auto host = mount.host_path.substr((box.tree / "").size());
    if (host.starts_with("state/cdi-"))
      host = "state/" + host.substr(std::string_view{"state/cdi-0123456789abcdef-"}.size());
    out.push_back(mount.container_path + " <- " + host);
  }
  return out;
}
