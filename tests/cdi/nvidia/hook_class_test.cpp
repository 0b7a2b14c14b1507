// Tests for include/cdi/nvidia/hook_class.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/model/spec.hpp>
#include <cdi/nvidia/hook_class.hpp>
#include <cdi/oci/hooks.hpp>

using cdi::HookClass;

TEST_CASE("Classes have stable names, in the order of the enumerators") {
  constexpr std::string_view names[] = {"symlinks",      "ldcache",   "cuda-compat",
                                        "chmod",         "proc-mask", "profile",
                                        "memory-limits", "legacy",    "foreign"};
  for (std::size_t i = 0; i < cdi::hook_classes.size(); ++i) {
    const auto id = static_cast<HookClass>(i);
    CHECK(cdi::hook_classes[i].id == id);
    CHECK(cdi::hook_class_name(id) == names[i]);
  }
}

TEST_CASE("The program and its command decide the class") {
  constexpr std::string_view hook = "/usr/bin/nvidia-cdi-hook";
  constexpr std::string_view ctk = "/usr/bin/nvidia-ctk";
  const struct {
    std::string_view path;
    std::vector<std::string_view> args;
    HookClass id;
  } rows[] = {
      {hook, {"nvidia-cdi-hook", "create-symlinks", "--link", "a::/b"}, HookClass::symlinks},
      {hook, {"nvidia-cdi-hook", "create-soname-symlinks", "--folder", "/l"}, HookClass::ldcache},
      {hook, {"nvidia-cdi-hook", "update-ldcache"}, HookClass::ldcache},
      {hook, {"nvidia-cdi-hook", "update-ldcache", "--folder", "/lib"}, HookClass::ldcache},
      {hook,
       {"nvidia-cdi-hook", "enable-cuda-compat", "--host-driver-version=1.2.3"},
       HookClass::cuda_compat},
      {hook, {"nvidia-cdi-hook", "chmod", "--mode", "755", "--path", "/dev/x"}, HookClass::chmod},
      {hook, {"nvidia-cdi-hook", "disable-device-node-modification"}, HookClass::proc_mask},
      {hook, {"nvidia-cdi-hook", "update-application-profile"}, HookClass::profile},
      {hook,
       {"nvidia-cdi-hook", "apply-cuda-memory-limits", "--gpu-id", "GPU-0"},
       HookClass::memory_limits},
      // The old program, and where operators install them.
      {ctk, {"nvidia-ctk", "hook", "create-symlinks"}, HookClass::symlinks},
      {ctk, {"/usr/bin/nvidia-ctk", "hook", "update-ldcache"}, HookClass::ldcache},
      {"/bin/nvidia-ctk", {"nvidia-ctk", "hook", "chmod"}, HookClass::chmod},
      {"/opt/driver/tools/nvidia-cdi-hook", {"x", "update-ldcache"}, HookClass::ldcache},
      {"nvidia-cdi-hook", {"", "chmod"}, HookClass::chmod},
      // Forks of the program have its oldest commands.
      {"/usr/bin/rbln-cdi-hook", {"rbln-cdi-hook", "create-symlinks"}, HookClass::symlinks},
      {"/usr/bin/rbln-cdi-hook", {"rbln-cdi-hook", "update-ldcache"}, HookClass::ldcache},
      {"/usr/bin/rbln-cdi-hook", {"rbln-cdi-hook", "enable-cuda-compat"}, HookClass::foreign},
      {"/usr/bin/hcu-cdi-hook", {"hcu-cdi-hook", "chmod"}, HookClass::chmod},
      {"/usr/bin/hcu-ctk", {"hcu-ctk", "hook", "create-symlinks"}, HookClass::symlinks},
      {"/usr/bin/hcu-ctk", {"hcu-ctk", "create-symlinks"}, HookClass::foreign},
      // The arguments are not checked.
      {hook, {"nvidia-cdi-hook", "create-symlinks", "--unknown"}, HookClass::symlinks},
      // Programs that inject without CDI, whatever they are called with.
      {"/usr/bin/nvidia-container-runtime-hook", {"x", "prestart"}, HookClass::legacy},
      {"/usr/bin/nvidia-container-toolkit", {}, HookClass::legacy},
      // No command, or one that is not known.
      {hook, {}, HookClass::foreign},
      {hook, {"create-symlinks"}, HookClass::foreign},
      {hook, {"nvidia-cdi-hook", "limit-memory", "--gpu", "1"}, HookClass::foreign},
      {hook, {"nvidia-cdi-hook", "--debug", "update-ldcache"}, HookClass::foreign},
      {hook, {"nvidia-cdi-hook", "Update-ldcache"}, HookClass::foreign},
      {hook, {"nvidia-cdi-hook", "hook", "update-ldcache"}, HookClass::foreign},
      {ctk, {}, HookClass::foreign},
      {ctk, {"nvidia-ctk"}, HookClass::foreign},
      {ctk, {"nvidia-ctk", "hook"}, HookClass::foreign},
      {ctk, {"nvidia-ctk", "update-ldcache"}, HookClass::foreign},
      {ctk, {"nvidia-ctk", "cdi", "update-ldcache"}, HookClass::foreign},
      // Other programs, even if they are called with the same words.
      {"/usr/bin/nvidia-cdi-hook.sh", {"nvidia-cdi-hook", "chmod"}, HookClass::foreign},
      {"/usr/bin/nvidia-cdi-hook/x", {"nvidia-cdi-hook", "chmod"}, HookClass::foreign},
      {"/usr/bin/ldconfig", {}, HookClass::foreign},
      {"/usr/bin/acme-hook", {"acme-hook", "ldcache", "--folder", "/x"}, HookClass::foreign},
      {"/usr/bin/acme-hook", {"--device", "x"}, HookClass::foreign},
      {"/bin/true", {"gpu0"}, HookClass::foreign},
      {"", {}, HookClass::foreign},
  };
  for (const auto& row : rows) {
    CAPTURE(row.path);
    CAPTURE(row.args.size());
    CHECK(cdi::hook_class_name(cdi::classify_hook({row.path, row.args})) ==
          cdi::hook_class_name(row.id));
  }
}

TEST_CASE("Hooks of the CDI and OCI models have commands") {
  cdi::Hook hook;
  hook.path = "/bin/nvidia-ctk";
  hook.args = {"nvidia-ctk", "hook", "chmod"};
  const auto command = cdi::command_of(hook);
  CHECK(command.path == "/bin/nvidia-ctk");
  CHECK(command.args == std::vector<std::string_view>{"nvidia-ctk", "hook", "chmod"});
  const cdi::oci::Hook other{.path = hook.path, .args = hook.args};
  CHECK(cdi::classify_hook(cdi::command_of(other)) == HookClass::chmod);
}
