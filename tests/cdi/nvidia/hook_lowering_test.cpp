// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/nvidia/hook_lowering.hpp>

namespace {

using Args = std::vector<std::string_view>;

/// A container as runtimes describe it, with two GPUs.
const cdi::ContainerOutline outline{.mounts = {{"/proc", "proc"},
                                               {"/dev", "tmpfs"},
                                               {"/dev/pts", "devpts"},
                                               {"/run/", "tmpfs"},
                                               {"srv//x/.", "bind"},
                                               {"/usr/lib/libx.so.1", "bind"}},
                                    .nodes = {{"/dev/nvidia0", "c", 0},
                                              {"/dev/nvidia3", "c", 3},
                                              {"/dev/nvidiactl", "c", 255},
                                              {"/dev/dri/card1", "c", 1},
                                              {"/dev/nvidia7", "b", 7}}};
const cdi::SortedOutline container{outline};

cdi::Result<cdi::LoweredHook> lower(
    const Args& arguments, cdi::oci::HookPoint point = cdi::oci::HookPoint::create_container) {
  Args all{"nvidia-cdi-hook"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return cdi::lower_hook({"/usr/bin/nvidia-cdi-hook", std::move(all)}, point, container);
}

cdi::LoweredHook lowered(const Args& arguments) {
  auto hook = lower(arguments);
  REQUIRE_MESSAGE(hook, (hook ? "" : hook.error().message));
  return *std::move(hook);
}

/// Why a hook is not lowered; empty when it is.
std::string reason(const Args& arguments) {
  const auto hook = lower(arguments);
  if (hook) return {};
  CHECK(hook.error().code == cdi::Errc::unsupported);
  return hook.error().message;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace

TEST_CASE("create-symlinks becomes links, with both spellings of the flag") {
  const auto hook = lowered({"create-symlinks", "--link", "libcuda.so.1::/usr/lib/x/libcuda.so",
                             "--link=../y.so::/usr/lib//x/./z.so", "--link", "/abs/t::/opt/l"});
  CHECK(hook.changes.links == std::vector<cdi::RootLink>{{"/usr/lib/x/libcuda.so", "libcuda.so.1"},
                                                         {"/usr/lib/x/z.so", "../y.so"},
                                                         {"/opt/l", "/abs/t"}});
  CHECK(hook.node_links.empty());
  CHECK_FALSE(hook.needs_ldconfig);
}

TEST_CASE("A link in the runtime's /dev becomes another node, if it leads to one") {
  const auto hook =
      lowered({"create-symlinks", "--link", "../card1::/dev/dri/by-path/pci-0000:17:00.0-card",
               "--link", "/dev/nvidia0::/dev/gpu"});
  CHECK(hook.changes == cdi::RootChanges{});
  CHECK(hook.node_links ==
        std::vector<cdi::RootLink>{{"/dev/dri/by-path/pci-0000:17:00.0-card", "/dev/dri/card1"},
                                   {"/dev/gpu", "/dev/nvidia0"}});
  CHECK(contains(reason({"create-symlinks", "--link", "../card9::/dev/dri/by-path/x"}),
                 R"(the mount of "/dev" would hide "/dev/dri/by-path/x")"));
  auto host_dev = outline;
  host_dev.mounts[1].type = "bind";
  CHECK_FALSE(
      cdi::lower_hook({"/nvidia-cdi-hook", {"", "create-symlinks", "--link=nvidia0::/dev/b"}},
                      cdi::oci::HookPoint::create_container, cdi::SortedOutline{host_dev}));
}

TEST_CASE("Links that mounts would hide, or are not understood, are not lowered") {
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
      {{"create-symlinks", "--link", "a::/run/x"}, R"(the mount of "/run/")"},
      {{"create-symlinks", "--link", "a::/srv/x/y"}, R"(the mount of "srv//x/.")"},
      {{"create-symlinks", "--link", "a::/usr/lib/libx.so.1"}, R"("/usr/lib/libx.so.1" would)"},
      {{"create-symlinks", "--link", "../nvidia0::/dev/pts/x"}, R"(the mount of "/dev/pts")"},
      {{"create-symlinks", "--container-spec", "/x", "--link", "a::/b"}, "--container-spec"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.args.back());
    const auto why = reason(row.args);
    CAPTURE(why);
    CHECK(contains(why, row.reason));
  }
  CHECK(lowered({"create-symlinks", "--link", "a::/runner/x"}).changes.links.size() == 1);
  const auto longest = std::string(4095, '/') + "::/" + std::string(255, 'x');
  CHECK(lowered({"create-symlinks", "--link", longest}).changes.links.size() == 1);
  CHECK(lowered({"create-symlinks", "--link", "a::/usr/lib/libx.so.12"}).changes.links.size() == 1);
}

TEST_CASE("update-ldcache becomes folders for the linker, and a run of ldconfig") {
  const auto hook = lowered({"update-ldcache", "--folder", "/usr/lib/", "--folder=/opt/lib"});
  CHECK(hook.changes.library_folders == std::vector<std::string>{"/usr/lib", "/opt/lib"});
  CHECK(hook.needs_ldconfig);
  CHECK(hook.ldconfig.empty());
  CHECK(lowered({"update-ldcache"}).needs_ldconfig);
  CHECK(lowered({"update-ldcache", "--ldconfig-path", "@/sbin/ldconfig"}).ldconfig ==
        "/sbin/ldconfig");
  CHECK(lowered({"update-ldcache", "--ldconfig-path=/x/ldconfig.real"}).ldconfig ==
        "/x/ldconfig.real");
  CHECK(lowered({"create-soname-symlinks", "--folder", "/l"}).needs_ldconfig);
  for (const auto* folder : {"/a b", "/a:b", "/a#", "/a=b", "/a*"}) {
    CAPTURE(folder);
    CHECK(contains(reason({"update-ldcache", "--folder", folder}), "cannot list its directory"));
  }
  for (const auto* folder : {"lib", "/..", "/"}) {
    CAPTURE(folder);
    CHECK(contains(reason({"update-ldcache", "--folder", folder}), "not an absolute path"));
  }
  CHECK(
      contains(reason({"update-ldcache", "--ldconfig-path", "ldconfig"}), "not an absolute path"));
  for (const auto* program : {"@/bin/sh", "/bin/sh", "/sbin/ldconfig/", "/sbin/ldconfig.real.sh",
                              "/sbin/my-ldconfig", "/sbin/ldconfig/sh"}) {
    CAPTURE(program);
    CHECK(contains(reason({"update-ldcache", "--ldconfig-path", program}),
                   "is not named ldconfig or ldconfig.real"));
  }
  auto mounted = outline;
  mounted.mounts.push_back({"/etc/ld.so.conf.d", "bind"});
  CHECK_FALSE(cdi::lower_hook({"/nvidia-cdi-hook", {"", "update-ldcache"}},
                              cdi::oci::HookPoint::create_container, cdi::SortedOutline{mounted}));
}

TEST_CASE("enable-cuda-compat becomes a change that depends on the image") {
  const auto hook = lowered({"enable-cuda-compat", "--host-driver-version=570.195.03"});
  CHECK(hook.changes.cuda_compat ==
        std::vector<cdi::CudaCompat>{{"/usr/local/cuda/compat", "570.195.03", ""}});
  const auto other = lowered({"enable-cuda-compat", "--host-cuda-version", "12.8",
                              "--cuda-compat-container-root", "/opt/compat"});
  CHECK(other.changes.cuda_compat == std::vector<cdi::CudaCompat>{{"/opt/compat", "", "12.8"}});
  CHECK(lowered({"enable-cuda-compat"}).changes == cdi::RootChanges{});
  CHECK(contains(reason({"enable-cuda-compat", "--host-driver-version=new"}), R"("new")"));
  CHECK(contains(reason({"enable-cuda-compat", "--host-driver-version=1",
                         "--cuda-compat-container-root=/run/x"}),
                 "would hide"));
}

TEST_CASE("A mount hides the file of enable-cuda-compat") {
  const auto hook =
      cdi::lower_hook({"/usr/bin/nvidia-cdi-hook",
                       {"nvidia-cdi-hook", "enable-cuda-compat", "--host-driver-version=570.1"}},
                      cdi::oci::HookPoint::create_container,
                      cdi::SortedOutline{{.mounts = {{"/etc/ld.so.conf.d", "bind"}}}});
  REQUIRE_FALSE(hook);
  CHECK(contains(hook.error().message, R"("/etc/ld.so.conf.d/00-cdi-compat.conf")"));
}

TEST_CASE("chmod becomes modes; directories that the runtime creates have them already") {
  const auto hook = lowered({"chmod", "--mode", "0750", "--path", "/opt/x", "--path=/opt/y"});
  CHECK(hook.changes.modes == std::vector<cdi::RootMode>{{"/opt/x", 0750}, {"/opt/y", 0750}});
  CHECK(lowered({"chmod", "--mode", "755", "--path", "/dev/dri"}).changes == cdi::RootChanges{});
  CHECK(lowered({"chmod", "--path", "/x", "--mode=7777"}).changes.modes[0].mode == 07777);
  CHECK(contains(reason({"chmod", "--mode", "700", "--path", "/dev/dri"}), "would hide"));
  CHECK(contains(reason({"chmod", "--mode", "755", "--path", "/dev/dri/card1"}), "would hide"));
  CHECK(contains(reason({"chmod", "--mode", "755", "--path", "/dev/other"}), "would hide"));
  CHECK(contains(reason({"chmod", "--path", "/x"}), "--mode is missing"));
  CHECK(contains(reason({"chmod", "--mode", "1", "--mode", "2", "--path", "/x"}),
                 "repeats the option --mode"));
  for (const auto* mode : {"rwx", "8", "10000", "0o755", "+1"}) {
    CAPTURE(mode);
    CHECK(contains(reason({"chmod", "--mode", mode, "--path", "/x"}), "is not octal"));
  }
}

TEST_CASE("update-application-profile becomes a file with the GPUs of the container") {
  const auto hook = lowered({"update-application-profile"});
  REQUIRE(hook.changes.files.size() == 1);
  CHECK(hook.changes.files[0].path ==
        "/etc/nvidia/nvidia-application-profiles-rc.d/10-container.conf");
  CHECK(hook.changes.files[0].text ==
        R"({"profiles":[{"name":"_container_","settings":["EGLVisibleDGPUDevices",0x9]}],)"
        R"("rules":[{"pattern":[],"profile":"_container_"}]})"
        "\n");
  cdi::ContainerOutline last;
  last.nodes = {{"/dev/nvidia63", "c", 63}, {"/dev/nvidia64", "c", 64}, {"/dev/nvidia1", "c", -1}};
  const auto high =
      cdi::lower_hook({"/nvidia-cdi-hook", {"", "update-application-profile"}},
                      cdi::oci::HookPoint::create_container, cdi::SortedOutline{last});
  REQUIRE(high);
  CHECK(contains(high->changes.files[0].text, ",0x8000000000000000]"));
  CHECK(contains(reason({"update-application-profile", "--x"}), R"(argument "--x")"));
}

TEST_CASE("update-application-profile does nothing without GPUs") {
  const auto hook = cdi::lower_hook({"/nvidia-cdi-hook", {"", "update-application-profile"}},
                                    cdi::oci::HookPoint::create_container, cdi::SortedOutline{{}});
  REQUIRE(hook);
  CHECK(hook->changes == cdi::RootChanges{});
}

namespace {

/// Why apply-cuda-memory-limits stays; empty when it is lowered, to nothing.
std::string limits_reason(const Args& flags, std::optional<std::vector<std::string>> environment) {
  Args all{"nvidia-cdi-hook", "apply-cuda-memory-limits"};
  all.insert(all.end(), flags.begin(), flags.end());
  const auto hook = cdi::lower_hook({"/usr/bin/nvidia-cdi-hook", std::move(all)},
                                    cdi::oci::HookPoint::create_runtime,
                                    cdi::SortedOutline{{.environment = std::move(environment)}});
  if (!hook) return hook.error().message;
  CHECK(hook->changes == cdi::RootChanges{});
  CHECK_FALSE(hook->needs_ldconfig);
  return {};
}

}  // namespace

TEST_CASE("apply-cuda-memory-limits becomes nothing in a container without its variables") {
  using Variables = std::vector<std::string>;
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
  CHECK(contains(limits_reason(flags, std::nullopt), "environment of the container is unknown"));
}

TEST_CASE("apply-cuda-memory-limits with other arguments stays") {
  const std::vector<std::string> none;
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
TEST_CASE("Each hook that nvidia-container-toolkit 1.16 to 1.20 writes is lowered") {
  auto known = outline;
  known.environment.emplace();
  const cdi::SortedOutline all{known};
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
      const auto hook = cdi::lower_hook(command, cdi::oci::HookPoint::create_container, all);
      CHECK_MESSAGE(hook, (hook ? "" : hook.error().message));
    }
  }
}

TEST_CASE("disable-device-node-modification becomes a mount") {
  const auto hook = lowered({"disable-device-node-modification"});
  CHECK(hook.changes.masked_params);
  CHECK(cdi::masked_params("ModifyDeviceFiles: 1\nDeviceFileUID: 0\n") ==
        "ModifyDeviceFiles: 0\nDeviceFileUID: 0\n");
  CHECK(cdi::masked_params("A: 1\nModifyDeviceFiles: 1") == "A: 1\nModifyDeviceFiles: 0\n");
  CHECK_FALSE(cdi::masked_params("ModifyDeviceFiles: 0\n"));
  CHECK_FALSE(cdi::masked_params("NoModifyDeviceFiles: 1\nModifyDeviceFiles: 10\n"));
  CHECK_FALSE(cdi::masked_params(""));
  const auto mount = cdi::params_mount("/b/params");
  CHECK(mount.host_path == "/b/params");
  CHECK(mount.container_path == "/proc/driver/nvidia/params");
  CHECK(mount.options == std::vector<std::string>{"bind", "ro", "nosuid", "nodev", "noexec"});
}

TEST_CASE("Only hooks before the container's process are lowered, and no unknown ones") {
  const Args args{"update-ldcache"};
  CHECK(lower(args, cdi::oci::HookPoint::prestart));
  CHECK(lower(args, cdi::oci::HookPoint::create_runtime));
  CHECK_FALSE(lower(args, cdi::oci::HookPoint::start_container));
  const auto late = lower(args, cdi::oci::HookPoint::poststop);
  REQUIRE_FALSE(late);
  CHECK(contains(late.error().message, "runs at poststop"));
  CHECK(contains(reason({"limit-memory"}), "effect is unknown"));
  const auto legacy = cdi::lower_hook({"/bin/nvidia-container-runtime-hook", {"x", "prestart"}},
                                      cdi::oci::HookPoint::prestart, container);
  REQUIRE_FALSE(legacy);
  CHECK(contains(legacy.error().message, "injects GPUs itself"));
}

TEST_CASE("What several hooks do is added up, and repeats change nothing") {
  std::vector<cdi::LoweredHook> hooks;
  for (int round = 0; round < 2; ++round) {
    hooks.push_back(lowered({"create-symlinks", "--link=a::/x", "--link=b::/y"}));
    hooks.push_back(lowered({"create-symlinks", "--link=c::/x", "--link=../nvidia0::/dev/a/b"}));
    hooks.push_back(lowered({"update-ldcache", "--folder=/l"}));
    hooks.push_back(
        lowered({"update-ldcache", "--folder=/l", "--folder=/m", "--ldconfig-path=/ldconfig"}));
    hooks.push_back(lowered({"update-ldcache", "--ldconfig-path=/x/ldconfig"}));
    hooks.push_back(lowered({"disable-device-node-modification"}));
    const auto all = cdi::merge(hooks);
    // The last link of a path counts, as if the hooks ran.
    CHECK(all.changes.links == std::vector<cdi::RootLink>{{"/x", "c"}, {"/y", "b"}});
    CHECK(all.changes.library_folders == std::vector<std::string>{"/l", "/m"});
    CHECK(all.node_links == std::vector<cdi::RootLink>{{"/dev/a/b", "/dev/nvidia0"}});
    CHECK(all.ldconfig == "/ldconfig");
    CHECK(all.needs_ldconfig);
    CHECK(all.changes.masked_params);
  }
  CHECK(cdi::merge(std::vector<cdi::LoweredHook>{}).changes == cdi::RootChanges{});
}

// Once, each hook was compared with each mount, node and other hook: this would run into a timeout.
TEST_CASE("Many hooks in a container with many mounts and nodes") {
  constexpr int count = 50'000;
  cdi::ContainerOutline many{.mounts = {{"/dev", "tmpfs"}},
                             .nodes = {{"/dev/nvidia0", "c", 0}},
                             .environment = std::vector<std::string>{}};
  for (int i = 0; i < count; ++i) {
    const auto number = std::to_string(i);
    many.mounts.push_back({"/m/" + number, "bind"});
    many.nodes.push_back({"/dev/n/" + number, "c", i});
    many.environment->push_back("A" + number + "=1");
  }
  const cdi::SortedOutline crowded{std::move(many)};
  std::vector<cdi::LoweredHook> hooks;
  for (int i = 0; i < count; ++i) {
    const auto number = std::to_string(i);
    const auto link = "--link=a::/l/" + number;
    const auto node = "--link=n/" + number + "::/dev/l" + number;
    const auto folder = "/f/" + number;
    for (const auto& args :
         {Args{"", "create-symlinks", link, node}, Args{"", "update-ldcache", "--folder", folder},
          Args{"", "chmod", "--mode=755", "--path=/dev/n"}, Args{"", "update-application-profile"},
          Args{"", "apply-cuda-memory-limits", "--gpu-id", number},
          Args{"", "enable-cuda-compat", "--host-cuda-version", number}}) {
      auto one = cdi::lower_hook({"/nvidia-cdi-hook", args}, cdi::oci::HookPoint::create_container,
                                 crowded);
      REQUIRE(one);
      hooks.push_back(*std::move(one));
    }
  }
  const auto all = cdi::merge(hooks);
  CHECK(all.changes.links.size() == count);
  CHECK(all.node_links.size() == count);
  CHECK(all.changes.library_folders.size() == count);
  CHECK(all.changes.cuda_compat.size() == count);
  CHECK(all.changes.modes.empty());
  CHECK(all.changes.files.size() == 1);
}
