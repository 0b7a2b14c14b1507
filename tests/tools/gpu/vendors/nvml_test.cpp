// Answers of NVIDIA's library, from fake ones that misbehave.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/gpu/vendors/nvml.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <fcntl.h>
#include <future>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/files/descriptor.hpp>
#include <cdi/result.hpp>

#include "../../../../tools/gpu/model/fault.hpp"
#include "../../../../tools/gpu/model/gpu.hpp"
#include "../../../../tools/kit/host/child_process.hpp"
#include "../../../support/temp_tree.hpp"

// The build gives the paths of the libraries made of fake_nvml.cpp: CDI_FAKE_NVML,
// CDI_FAKE_NVML_OLD and CDI_FAKE_NVML_EMPTY.

namespace {

using namespace std::chrono_literals;
using Gpus = std::vector<prepare::NvmlGpu>;

constexpr auto uuid = "GPU-5f2a1c0e-3b7d-4c55-9f0a-8e1d2b3c4a51";
constexpr auto other_uuid = "GPU-0b7e4d7f-5c1a-4a0e-8b3c-2d1f6e5a9c72";
constexpr auto mig_uuid = "MIG-8c3d5a7e-1111-5222-9333-444455556666";

/// Asks a fake library that behaves like `mode`. There is time for a slow machine: it counts
/// only where the library hangs.
cdi::Result<Gpus> ask(const char* mode, const char* library = CDI_FAKE_NVML,
                      std::chrono::milliseconds deadline = 60s) {
  ::setenv("FAKE_NVML", mode, 1);
  return prepare::ask_nvml({.library = library, .deadline = deadline});
}

Gpus answer(const char* mode, const char* library = CDI_FAKE_NVML) {
  auto gpus = ask(mode, library);
  const std::string why = gpus ? "" : to_string(gpus.error());
  INFO(mode, ": ", why);
  REQUIRE(gpus);
  return std::move(*gpus);
}

cdi::Error failure(const char* mode, const char* library = CDI_FAKE_NVML,
                   std::chrono::milliseconds deadline = 60s) {
  const auto gpus = ask(mode, library, deadline);
  INFO(mode);
  REQUIRE_FALSE(gpus);
  return gpus.error();
}

bool has_child() {
  return ::waitpid(-1, nullptr, WNOHANG) >= 0 || errno != ECHILD;
}

/// Runs `work` in a process of its own, which may be changed at will; the number it answers.
template <class Work>
int in_process(Work work) {
  std::fflush(stdout);
  const auto child = ::fork();
  if (child == 0) ::_exit(work());
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("what NVML knows") {
  const auto gpus = answer("");
  REQUIRE(gpus.size() == 2);
  CHECK(gpus[0].pci_address == "0000:17:00.0");
  CHECK(gpus[0].uuid == uuid);
  CHECK(gpus[0].model == "NVIDIA A100 80GB PCIe");
  CHECK(gpus[0].is_mig);
  REQUIRE(gpus[0].instances.size() == 2);
  const auto& named = gpus[0].instances[0];
  CHECK(named.gi == 7);
  CHECK(named.ci == 0);
  CHECK(named.uuid == mig_uuid);
  CHECK(named.size == "1g.10gb");
  const auto& unnamed = gpus[0].instances[1];
  CHECK(unnamed.gi == 2);
  CHECK(unnamed.ci == 1);
  CHECK(unnamed.size == "1c.3g.40gb");

  CHECK(gpus[1].pci_address == "1000a:ca:1f.0");
  CHECK(gpus[1].uuid == other_uuid);
  CHECK(gpus[1].model == "NVIDIA L4");
  CHECK_FALSE(gpus[1].is_mig);
  CHECK(gpus[1].instances.empty());
}

TEST_CASE("an older library is asked for what it has") {
  const auto gpus = answer("", CDI_FAKE_NVML_OLD);
  REQUIRE(gpus.size() == 2);
  CHECK(gpus[0].uuid == uuid);
  CHECK(gpus[0].model == "NVIDIA A100 80GB PCIe");
  CHECK_FALSE(gpus[0].is_mig);
  CHECK(gpus[0].instances.empty());
  CHECK(failure("error 9", CDI_FAKE_NVML_OLD).message.ends_with("(NVML error 9)"));
}

TEST_CASE("GPUs are left asleep, by a library that knows how") {
  CHECK(answer("flags only").size() == 2);
  CHECK(answer("no flags").size() == 2);
}

TEST_CASE("a GPU that fails is left out, and what fails of it is empty") {
  const auto second = answer("first is lost");
  REQUIRE(second.size() == 1);
  CHECK(second[0].uuid == other_uuid);

  const auto first = answer("second has no address");
  REQUIRE(first.size() == 1);
  CHECK(first[0].uuid == uuid);

  const auto both = answer("UUID is lost");
  REQUIRE(both.size() == 2);
  CHECK(both[0].uuid.empty());
  CHECK(both[0].model == "NVIDIA A100 80GB PCIe");
}

TEST_CASE("odd answers do no harm") {
  CHECK(answer("odd text").empty());
  for (const auto& gpu : answer("control characters")) CHECK(gpu.model.empty());
  for (const auto& gpu : answer("no end")) CHECK(gpu.model == std::string(96, 'x'));
  const auto many = answer("endless");
  REQUIRE(many.size() == 64);
  CHECK(many[63].instances.size() == 64);
}

TEST_CASE("why an answer is missing") {
  struct Row {
    const char* mode;
    const char* library;
    std::string_view message;
  };
  const TempTree tree;
  tree.put("text.so", "no library");
  const auto text = tree / "text.so";
  tree.put("\xff.so", "no library");
  const auto odd = tree / "\xff.so";
  const Row rows[] = {
      {"error 9", CDI_FAKE_NVML, "NVML: Driver Not Loaded (NVML error 9)"},
      {"error 18", CDI_FAKE_NVML, "NVML: Driver/library version mismatch (NVML error 18)"},
      {"crash", CDI_FAKE_NVML, "signal 11"},
      {"leave", CDI_FAKE_NVML, "ended without an answer"},
      {"", CDI_FAKE_NVML_EMPTY, "has no nvmlInit_v2"},
      {"", "libcdi-no-such-library.so.1", "NVML: libcdi-no-such-library.so.1: cannot open"},
      {"", text.c_str(), "text.so: "},
      {"", odd.c_str(), "/?.so: "},
  };
  for (const auto& row : rows) {
    const auto error = failure(row.mode, row.library);
    INFO(row.mode, " ", row.library, " ", error.message);
    CHECK(error.code == cdi::Errc::host);
    CHECK(error.message.find(row.message) != std::string::npos);
    CHECK_FALSE(has_child());
  }
}

TEST_CASE("a library that hangs is given up") {
  const auto files = open_files();
  for (const auto* const mode : {"hang in init", "hang in a device"}) {
    const auto error = failure(mode, CDI_FAKE_NVML, 100ms);
    CHECK(error.code == cdi::Errc::timeout);
    CHECK(error.message == "NVML: no answer within 100 ms");
    CHECK_FALSE(has_child());
  }
  CHECK(failure("", CDI_FAKE_NVML, -1ms).code == cdi::Errc::timeout);
  CHECK(answer("").size() == 2);
  CHECK(open_files() == files);
}

TEST_CASE("nothing of the child gets into the output of the parent") {
  const TempTree tree;
  const auto output = tree / "output";
  CHECK(in_process([&] {
          static std::string at_exit;
          at_exit = tree / "at-exit";
          std::atexit([] { ::close(::open(at_exit.c_str(), O_CREAT | O_WRONLY, 0600)); });
          if (std::freopen(output.c_str(), "w", stdout) == nullptr) return 1;
          if (::dup2(::fileno(stdout), STDERR_FILENO) < 0) return 2;
          std::fputs("mine", stdout);  // stays in the buffer
          const auto gpus = ask("noise");
          std::fflush(stdout);
          return gpus ? 0 : 3;
        }) == 0);
  CHECK(get_file(output) == "mine");
  CHECK(tree.names() == std::set<std::string>{"output"});
}

TEST_CASE("the child has no file of its parent") {
  int ends[2] = {-1, -1};
  REQUIRE(::pipe(&ends[0]) == 0);
  const cdi::Descriptor reading{ends[0]};
  const cdi::Descriptor writing{ends[1]};
  const auto gpus = answer("descriptors");
  REQUIRE(gpus.size() == 2);
  CHECK(gpus[0].model == "0 1 2 3 ");
}

TEST_CASE("what one thread does with the library does not stop another one that asks") {
  void* const library = ::dlopen(CDI_FAKE_NVML, RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library != nullptr);
  auto* const lock = static_cast<std::mutex*>(::dlsym(library, "fake_nvml_lock"));
  REQUIRE(lock != nullptr);
  {
    const std::lock_guard held{*lock};
    CHECK(std::async(std::launch::async, [] { return answer("").size(); }).get() == 2);
  }
  ::dlclose(library);
}

TEST_CASE("it works in odd processes too") {
  CHECK(in_process([] {
          for (const int fd : {0, 1, 2}) ::close(fd);
          return ask("") ? 0 : 1;
        }) == 0);
  CHECK(in_process([] {
          ::signal(SIGCHLD, SIG_IGN);
          return ask("") ? 0 : 1;
        }) == 0);
  CHECK(in_process([] {
          for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_IGN);
          ::signal(SIGCHLD, SIG_DFL);
          sigset_t all;
          ::sigfillset(&all);
          ::sigprocmask(SIG_SETMASK, &all, nullptr);
          const auto gpus = ask("crash");
          return !gpus && gpus.error().message.find("signal 11") != std::string::npos ? 0 : 1;
        }) == 0);
}

TEST_CASE("the child dies with its parent") {
  REQUIRE(::access(CDI_FAKE_NVML, R_OK) == 0);  // without the library, nothing opens the fifo
  const TempTree tree;
  const auto fifo = tree / "fifo";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  REQUIRE(::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);  // orphans become ours
  const auto parent = ::fork();
  if (parent == 0) {
    ::setenv("FAKE_NVML_FIFO", fifo.c_str(), 1);
    ::_exit(ask("hang in init", CDI_FAKE_NVML, 1h) ? 0 : 1);
  }
  const cdi::Descriptor started{::open(fifo.c_str(), O_RDONLY)};  // waits for the library
  CHECK(::kill(parent, SIGKILL) == 0);
  CHECK(::waitpid(parent, nullptr, 0) == parent);
  int status = 0;
  CHECK(::waitpid(-1, &status, 0) > 0);
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGKILL);
  CHECK(::prctl(PR_SET_CHILD_SUBREAPER, 0) == 0);
}

TEST_CASE("an answer without end is refused") {
  int ends[2] = {-1, -1};
  REQUIRE(::pipe2(&ends[0], O_CLOEXEC) == 0);
  const cdi::Descriptor reading{ends[0]};
  cdi::Descriptor writing{ends[1]};
  const auto child = ::fork();
  if (child == 0) {
    const std::string block(4096, 'x');
    while (::write(writing.get(), block.data(), block.size()) > 0) {
    }
    ::_exit(0);
  }
  writing = cdi::Descriptor{-1};
  const auto text = tools::child::read_pipe(reading.get(), 60s);
  CHECK(tools::child::end(child).has_value());
  REQUIRE_FALSE(text);
  CHECK(text.error().code == cdi::Errc::limit);
}

TEST_CASE("PCI addresses") {
  const std::pair<const char*, std::string_view> rows[] = {
      {"00000000:17:00.0", "0000:17:00.0"}, {"00000000:C3:1A.1", "0000:c3:1a.1"},
      {"0000:17:00.0", "0000:17:00.0"},     {"0001000A:CA:1F.0", "1000a:ca:1f.0"},
      {"1FFFFFFFFF:17:00.0", ""},           {"", ""},
      {"GPU-5f2a1c0e-3b7d-4c55-9f0a", ""},  {"00000000:17:00.0\n", ""},
  };
  for (const auto& [theirs, ours] : rows) CHECK(prepare::nvml::our_address(theirs) == ours);
}

TEST_CASE("sizes in names") {
  const std::pair<const char*, std::string_view> rows[] = {
      {"NVIDIA A100 80GB PCIe MIG 1g.10gb", "1g.10gb"},
      {"NVIDIA A100-SXM4-40GB MIG 1c.3g.20gb", "1c.3g.20gb"},
      {"NVIDIA H100 80GB HBM3 MIG 1g.10gb+me", "1g.10gb+me"},
      {"NVIDIA A100 80GB PCIe", ""},
      {"NVIDIA MIGHTY 1g", ""},
      {"", ""},
  };
  for (const auto& [name, size] : rows) CHECK(prepare::nvml::size_in_name(name) == size);
}

TEST_CASE("sizes of parts, as NVIDIA's documents list them") {
  struct Row {
    std::uint32_t compute_slices, gpu_slices;
    std::uint64_t memory_mib, gpu_mib;
    std::uint32_t ofa_engines;
    std::string_view size;
  };
  const Row rows[] = {
      {1, 1, 4864, 40960, 0, "1g.5gb"},       // A100, 40 GB
      {7, 7, 40192, 40960, 1, "7g.40gb"},     //
      {1, 1, 9728, 81920, 0, "1g.10gb"},      // A100, 80 GB
      {2, 3, 40192, 81920, 0, "2c.3g.40gb"},  //
      {1, 1, 5952, 24576, 0, "1g.6gb"},       // A30
      {1, 1, 16384, 143771, 0, "1g.18gb"},    // H200: 16 GiB are not its name
      {3, 3, 71424, 143771, 0, "3g.71gb"},    //
      {1, 1, 9728, 81920, 1, ""},             // perhaps 1g.10gb+me
      {0, 1, 9728, 81920, 0, ""},             //
      {1, 0, 9728, 81920, 0, ""},             //
      {1, 1, 0, 81920, 0, ""},                //
      {1, 1, 9728, 0, 0, ""},                 //
      {1, 1, UINT64_MAX, 81920, 0, ""},
  };
  for (const auto& row : rows) {
    const auto size = prepare::nvml::size_of_parts({.ofa_engines = row.ofa_engines,
                                                    .gpu_slices = row.gpu_slices,
                                                    .compute_slices = row.compute_slices,
                                                    .memory_mib = row.memory_mib},
                                                   row.gpu_mib << 20);
    CHECK(size == row.size);
  }
}

namespace {

prepare::Inventory inventory() {
  return {.kind = "nvidia.com/gpu",
          .gpus = {{.pci_address = "0000:17:00.0",
                    .partitions = {{.suffix = ":gi1:ci0"}, {.suffix = ":gi2:ci0"}}},
                   {.id = other_uuid, .model = "NVIDIA L4", .pci_address = "0000:65:00.0"}}};
}

}  // namespace

TEST_CASE("what is unknown is added") {
  auto found = inventory();
  const Gpus known = {
      {.pci_address = "0000:17:00.0",
       .uuid = uuid,
       .model = "NVIDIA A100 80GB PCIe",
       .instances = {{.gi = 2, .ci = 0, .uuid = mig_uuid, .size = "1g.10gb+me"},
                     {.gi = 1, .ci = 1, .uuid = "MIG-of-no-share", .size = "7g.80gb"}}},
      {.pci_address = "0000:ff:00.0", .uuid = "GPU-of-no-gpu"}};
  for (int times = 0; times < 2; ++times) {
    prepare::add_nvml(found, known);
    REQUIRE(found.gpus.size() == 2);
    const auto& gpu = found.gpus[0];
    CHECK(gpu.id == uuid);
    CHECK(gpu.model == "NVIDIA A100 80GB PCIe");
    REQUIRE(gpu.partitions.size() == 2);
    CHECK(gpu.partitions[0].aliases.empty());
    CHECK(gpu.partitions[0].size.empty());
    CHECK(gpu.partitions[1].aliases == std::vector<std::string>{mig_uuid});
    CHECK(gpu.partitions[1].size == "1g.10gb+me");
    CHECK(found.gpus[1].id == other_uuid);
    CHECK(found.gpus[1].model == "NVIDIA L4");
    CHECK(found.warnings.empty());
  }
}

TEST_CASE("what is known stays") {
  auto found = inventory();
  prepare::add_nvml(found, {{.pci_address = "0000:65:00.0", .model = "NVIDIA L40"}});
  CHECK(found.gpus[1].id == other_uuid);
  CHECK(found.gpus[1].model == "NVIDIA L4");

  found.gpus[0].partitions[0].size = "1g.5gb";
  prepare::add_nvml(found, {{.pci_address = "0000:17:00.0",
                             .instances = {{.gi = 1, .ci = 0, .size = "2g.10gb"}}}});
  CHECK(found.gpus[0].partitions[0].size == "1g.5gb");

  found.gpus[1].model.clear();
  prepare::add_nvml(found,
                    {{.pci_address = "0000:65:00.0", .uuid = uuid, .model = "of another machine"}});
  CHECK(found.gpus[1].id == other_uuid);
  CHECK(found.gpus[1].model.empty());
}

TEST_CASE("a GPU in MIG mode without instances is left out") {
  auto found = inventory();
  prepare::add_nvml(found, {{.pci_address = "0000:17:00.0", .is_mig = true},
                            {.pci_address = "0000:65:00.0", .is_mig = true}});
  const auto shares = found.gpus[0].shares();
  CHECK(std::none_of(shares.begin(), shares.end(), [](const auto& it) { return it.left_out; }));
  REQUIRE(found.gpus[1].whole.left_out);
  CHECK(found.gpus[1].whole.left_out->code() == "no-compute-instance");
  CHECK(found.gpus[1].mode == "MIG");

  found = inventory();
  found.gpus[1].whole.left_out = prepare::Problem{prepare::Fault::nvidia_node, "its node"};
  prepare::add_nvml(found, {{.pci_address = "0000:65:00.0", .is_mig = true}});
  CHECK(found.gpus[1].whole.left_out->text == "its node");
}

TEST_CASE("a UUID that can be no name is left out") {
  const std::vector<std::string> bad_uuids = {
      "GPU-" + std::string(36, '?'), "GPU-", "5f2a1c0e", "", "GPU-5f2a 1c0e", "GPU-5f2a/1/0"};
  for (const auto& bad : bad_uuids) {
    auto found = inventory();
    prepare::add_nvml(
        found, {{.pci_address = "0000:17:00.0",
                 .uuid = bad,
                 .instances = {{.gi = 1, .uuid = "MIG-" + bad + "/1/0"}, {.gi = 2, .uuid = bad}}}});
    INFO(bad);
    CHECK(found.gpus[0].id.empty());
    CHECK(found.gpus[0].partitions[0].aliases.empty());
    CHECK(found.gpus[0].partitions[1].aliases.empty());
  }
}

TEST_CASE("no two GPUs share a UUID") {
  auto found = inventory();
  prepare::add_nvml(found, {{.pci_address = "0000:17:00.0", .uuid = other_uuid}});
  CHECK(found.gpus[0].id.empty());
  CHECK(found.gpus[1].id.empty());
  CHECK(found.warnings.size() == 2);
}
