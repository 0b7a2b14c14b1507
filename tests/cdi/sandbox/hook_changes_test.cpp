// Tests for include/cdi/sandbox/hook_changes.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/sandbox/hook_changes.hpp>

namespace {

using Args = std::vector<std::string_view>;

using cdi::detail::HookChanges;

/// A container with two GPUs.
cdi::detail::HookedContainer container() {
  cdi::detail::HookedContainer out;
  out.add_node("/dev//nvidia0", "c", 0);
  out.add_node("/dev/nvidia3", "c", 3);
  return out;
}

cdi::Result<HookChanges> read(const Args& arguments,
                              cdi::oci::HookPoint point = cdi::oci::HookPoint::create_container,
                              const cdi::detail::HookedContainer& in = container()) {
  Args all{"nvidia-cdi-hook"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return cdi::detail::changes_of({"/usr/bin/nvidia-cdi-hook", std::move(all)}, point, in);
}

HookChanges changes(const Args& arguments) {
  auto hook = read(arguments);
  REQUIRE_MESSAGE(hook, (hook ? "" : hook.error().message));
  return *std::move(hook);
}

/// Why a hook is not understood; empty when it is.
std::string reason(const Args& arguments) {
  const auto hook = read(arguments);
  if (hook) return {};
  CHECK(hook.error().code == cdi::Errc::unsupported);
  return hook.error().message;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace

TEST_CASE("create-symlinks becomes links, with both spellings of the flag") {
  const auto hook = changes({"create-symlinks", "--link", "libcuda.so.1::/usr/lib/x/libcuda.so",
                             "--link=../y.so::/usr/lib//x/./z.so", "--link", "/abs/t::/opt/l"});
  CHECK(hook.links == std::vector<cdi::detail::HookLink>{{"/usr/lib/x/libcuda.so", "libcuda.so.1"},
                                                         {"/usr/lib/x/z.so", "../y.so"},
                                                         {"/opt/l", "/abs/t"}});
}

TEST_CASE("Links that are not understood") {
  const auto long_name = "a::/b/" + std::string(256, 'x');
  const auto long_target = std::string(4096, '/') + "::/b";
  const auto long_path = "a::" + std::string(4094, '/') + "ab";
  const struct {
    Args args;
    std::string_view reason;
  } rows[] = {
      {{"create-symlinks"}, "--link is missing"},
      {{"create-symlinks", "--link"}, R"(argument "--link")"},
      {{"create-symlinks", "--link", "--link"}, R"(argument "--link")"},
      {{"create-symlinks", "--link="}, R"(argument "--link=")"},
      {{"create-symlinks", "--link a::/b"}, R"(argument "--link a::/b")"},
      {{"create-symlinks", "-link", "a::/b"}, R"(argument "-link")"},
      {{"create-symlinks", "--link", "a::/b", "c::/d"}, R"(argument "c::/d")"},
      {{"create-symlinks", "--link", "a::/b", "--mode", "1"}, R"(argument "--mode")"},
      {{"create-symlinks", "--link", "a::/b,c::/d"}, R"(argument "a::/b,c::/d")"},
      {{"create-symlinks", "--link", "a\n::/b"}, "not understood"},
      {{"create-symlinks", "--link", "a:/b"}, "not TARGET::LINK"},
      {{"create-symlinks", "--link", "::/b"}, "not TARGET::LINK"},
      {{"create-symlinks", "--link", "a::/b::/c"}, "not TARGET::LINK"},
      {{"create-symlinks", "--link", "a::"}, "not an absolute path"},
      {{"create-symlinks", "--link", "a::b"}, "not an absolute path"},
      {{"create-symlinks", "--link", "a::/"}, "not an absolute path"},
      {{"create-symlinks", "--link", "a::/b/"}, "ends with a slash"},
      {{"create-symlinks", "--link", "a::/b/../c"}, "not an absolute path"},
      {{"create-symlinks", "--link", "a::/b/.."}, "not an absolute path"},
      {{"create-symlinks", "--link", long_name}, "name longer than 255 bytes"},
      {{"create-symlinks", "--link", long_target}, "longer than 4095 bytes"},
      {{"create-symlinks", "--link", long_path}, "longer than 4095 bytes"},
      {{"create-symlinks", "--container-spec", "/x", "--link", "a::/b"}, "--container-spec"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.args.back());
    const auto why = reason(row.args);
    CAPTURE(why);
    CHECK(contains(why, row.reason));
  }
  const auto longest = std::string(4095, '/') + "::/" + std::string(255, 'x');
  CHECK(changes({"create-symlinks", "--link", longest}).links.size() == 1);
}

TEST_CASE("update-ldcache becomes folders for the linker, whichever ldconfig it names") {
  const auto hook = changes({"update-ldcache", "--folder", "/usr/lib/", "--ldconfig-path",
                             "@/sbin/ldconfig", "--folder=/opt/lib"});
  CHECK(hook == HookChanges{.library_folders = {"/usr/lib", "/opt/lib"}});
  CHECK(changes({"update-ldcache"}) == HookChanges{});
  CHECK(changes({"create-soname-symlinks", "--folder", "/l"}).library_folders.size() == 1);
  for (const auto* folder : {"/a b", "/a:b", "/a#", "/a=b", "/a*"}) {
    CAPTURE(folder);
    CHECK(contains(reason({"update-ldcache", "--folder", folder}), "cannot list its directory"));
  }
  for (const auto* folder : {"lib", "/..", "/"}) {
    CAPTURE(folder);
    CHECK(contains(reason({"update-ldcache", "--folder", folder}), "not an absolute path"));
  }
}

TEST_CASE("enable-cuda-compat becomes a change that depends on the image") {
  const auto hook = changes({"enable-cuda-compat", "--host-driver-version=570.195.03"});
  CHECK(hook.cuda_compat ==
        std::vector<cdi::detail::CudaCompat>{{"/usr/local/cuda/compat", "570.195.03", ""}});
  const auto other = changes({"enable-cuda-compat", "--host-cuda-version", "12.8",
                              "--cuda-compat-container-root", "/opt/compat"});
  CHECK(other.cuda_compat == std::vector<cdi::detail::CudaCompat>{{"/opt/compat", "", "12.8"}});
  CHECK(changes({"enable-cuda-compat"}) == HookChanges{});
  CHECK(contains(reason({"enable-cuda-compat", "--host-driver-version=new"}), R"("new")"));
}

TEST_CASE("chmod becomes modes") {
  const auto hook = changes({"chmod", "--mode", "0750", "--path", "/opt/x", "--path=/opt/y"});
  CHECK(hook.modes == std::vector<cdi::detail::HookMode>{{"/opt/x", 0750}, {"/opt/y", 0750}});
  CHECK(changes({"chmod", "--path", "/x", "--mode=7777"}).modes[0].mode == 07777);
  CHECK(contains(reason({"chmod", "--path", "/x"}), "--mode is missing"));
  CHECK(contains(reason({"chmod", "--mode", "1", "--mode", "2", "--path", "/x"}),
                 "repeats the option --mode"));
  for (const auto* mode : {"rwx", "8", "10000", "0o755", "+1"}) {
    CAPTURE(mode);
    CHECK(contains(reason({"chmod", "--mode", mode, "--path", "/x"}), "is not octal"));
  }
}

TEST_CASE("update-application-profile becomes a file with the GPUs of the container") {
  const auto hook = changes({"update-application-profile"});
  REQUIRE(hook.files.size() == 1);
  CHECK(hook.files[0].path == "/etc/nvidia/nvidia-application-profiles-rc.d/10-container.conf");
  CHECK(hook.files[0].text ==
        R"({"profiles":[{"name":"_container_","settings":["EGLVisibleDGPUDevices",0x9]}],)"
        R"("rules":[{"pattern":[],"profile":"_container_"}]})"
        "\n");
  cdi::detail::HookedContainer last;
  last.add_node("/dev/nvidia63", "c", 63);
  last.add_node("/dev/nvidia64", "c", 64);
  last.add_node("/dev/nvidia8", "c", 64);
  last.add_node("/dev/nvidia1", "c", -1);
  last.add_node("/dev/nvidia7", "b", 7);
  last.add_node("/dev/nvidiactl", "c", 2);
  const auto high =
      read({"update-application-profile"}, cdi::oci::HookPoint::create_container, last);
  REQUIRE(high);
  CHECK(contains(high->files[0].text, ",0x8000000000000000]"));
  CHECK(contains(reason({"update-application-profile", "--x"}), R"(argument "--x")"));
}

TEST_CASE("update-application-profile does nothing without GPUs") {
  const auto hook = read({"update-application-profile"}, cdi::oci::HookPoint::create_container, {});
  REQUIRE(hook);
  CHECK(*hook == HookChanges{});
}

namespace {

using Variables = std::vector<std::string>;

/// Why apply-cuda-memory-limits is not replaced; empty when it is, by nothing.
std::string limits_reason(const Args& flags, const Variables& environment) {
  cdi::detail::HookedContainer in;
  for (const auto& entry : environment) in.add_variable(entry);
  Args all{"apply-cuda-memory-limits"};
  all.insert(all.end(), flags.begin(), flags.end());
  const auto hook = read(all, cdi::oci::HookPoint::create_runtime, in);
  if (!hook) return hook.error().message;
  CHECK(*hook == HookChanges{});
  return {};
}

}  // namespace

TEST_CASE("apply-cuda-memory-limits becomes nothing in a container without its variables") {
  const Args flags{"--driver-root", "/run/driver", "--gpu-id", "GPU-a", "--gpu-id=GPU-b"};
  CHECK(limits_reason(flags, Variables{}).empty());
  CHECK(limits_reason(flags, Variables{"A=NVIDIA_GPU_MEMORY_LIMIT=1", "NVIDIA_GPU_MEMORY=1",
                                       "NVIDIA_GPU_MEMORY_LIMITS=1", "nvidia_gpu_memory_limit=1"})
            .empty());
  CHECK(limits_reason({"--gpu-id", "0", "--container-spec=-"}, Variables{}).empty());
  CHECK(contains(limits_reason(flags, Variables{"A=1", "NVIDIA_GPU_MEMORY_LIMIT=16", "Z=1"}),
                 "it reads the variable NVIDIA_GPU_MEMORY_LIMIT"));
  for (const auto* entry :
       {"NVIDIA_GPU_MEMORY_REQUEST=1", "NVIDIA_GPU_MEMORY_REQUEST=", "NVIDIA_GPU_MEMORY_REQUEST"}) {
    CAPTURE(entry);
    CHECK(contains(limits_reason(flags, Variables{entry}), "variable NVIDIA_GPU_MEMORY_REQUEST"));
  }
}

TEST_CASE("apply-cuda-memory-limits with other arguments stays") {
  const Variables none;
  CHECK(contains(limits_reason({}, none), "--gpu-id is missing"));
  CHECK(contains(limits_reason({"--driver-root", "/"}, none), "--gpu-id is missing"));
  CHECK(contains(limits_reason({"--gpu-id", " "}, none), "--gpu-id is empty"));
  CHECK(contains(limits_reason({"--gpu-id"}, none), R"(argument "--gpu-id")"));
  CHECK(contains(limits_reason({"--gpu-id", "0", "--gpu", "1"}, none), R"(argument "--gpu")"));
  CHECK(contains(limits_reason({"--gpu-id", "0", "-v"}, none), R"(argument "-v")"));
  CHECK(contains(limits_reason({"--gpu-id", "0", "--container-spec", "/x/state"}, none),
                 R"(--container-spec "/x/state" may refer to another container)"));
}

// The releases of nvidia-container-toolkit that first wrote each form into specs.
TEST_CASE("Each hook that nvidia-container-toolkit 1.16 to 1.20 writes is understood") {
  const struct {
    std::string_view release;
    cdi::HookClass id;
    Args args;
  } rows[] = {
      {"1.16", cdi::HookClass::symlinks, {"create-symlinks", "--link", "a.so.1::/usr/lib/a.so"}},
      {"1.16", cdi::HookClass::ldcache, {"update-ldcache", "--folder", "/usr/lib"}},
      {"1.16",
       cdi::HookClass::ldcache,
       {"update-ldcache", "--ldconfig-path", "/sbin/ldconfig", "--folder", "/usr/lib64"}},
      {"1.16", cdi::HookClass::chmod, {"chmod", "--mode", "755", "--path", "/dev/dri"}},
      {"1.17", cdi::HookClass::cuda_compat, {"enable-cuda-compat"}},
      {"1.17",
       cdi::HookClass::cuda_compat,
       {"enable-cuda-compat", "--host-driver-version=550.54.15"}},
      {"1.18", cdi::HookClass::proc_mask, {"disable-device-node-modification"}},
      {"1.19",
       cdi::HookClass::cuda_compat,
       {"enable-cuda-compat", "--host-driver-version=570.1", "--host-cuda-version=12.8",
        "--cuda-compat-container-root=/usr/local/cuda/compat_orin"}},
      {"1.20", cdi::HookClass::profile, {"update-application-profile"}},
      {"1.20",
       cdi::HookClass::memory_limits,
       {"apply-cuda-memory-limits", "--driver-root", "/", "--gpu-id", "GPU-0", "--gpu-id",
        "GPU-1"}},
  };
  for (const auto& row : rows) {
    for (const auto& [program, before] :
         {std::pair{"/usr/bin/nvidia-cdi-hook", Args{"nvidia-cdi-hook"}},
          std::pair{"/usr/bin/nvidia-ctk", Args{"nvidia-ctk", "hook"}}}) {
      CAPTURE(row.release);
      CAPTURE(row.args.front());
      cdi::HookCommand command{program, before};
      command.args.insert(command.args.end(), row.args.begin(), row.args.end());
      CHECK(cdi::classify_hook(command) == row.id);
      const auto hook =
          cdi::detail::changes_of(command, cdi::oci::HookPoint::create_container, container());
      CHECK_MESSAGE(hook, (hook ? "" : hook.error().message));
    }
  }
}

TEST_CASE("disable-device-node-modification masks the driver's parameters") {
  CHECK(changes({"disable-device-node-modification"}) == HookChanges{.masks_params = true});
}

TEST_CASE("Only hooks before the container's process are replaced, and no unknown ones") {
  const Args args{"update-ldcache"};
  CHECK(read(args, cdi::oci::HookPoint::prestart));
  CHECK(read(args, cdi::oci::HookPoint::create_runtime));
  CHECK_FALSE(read(args, cdi::oci::HookPoint::start_container));
  const auto late = read(args, cdi::oci::HookPoint::poststop);
  REQUIRE_FALSE(late);
  CHECK(contains(late.error().message, "runs at poststop"));
  CHECK(contains(reason({"limit-memory"}), "effect is unknown"));
  const auto legacy = cdi::detail::changes_of(
      {"/bin/nvidia-container-runtime-hook", {"x", "prestart"}}, cdi::oci::HookPoint::prestart, {});
  REQUIRE_FALSE(legacy);
  CHECK(contains(legacy.error().message, "injects GPUs itself"));
}
