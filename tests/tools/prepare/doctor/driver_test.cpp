// The findings about NVIDIA's driver.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/prepare/doctor/driver.hpp"

#include <string>

#include <doctest/doctest.h>

#include "diagnosis.hpp"

using namespace prepare;

TEST_CASE("module and libraries of one version") {
  const Host host;
  CHECK(about(diagnose(host), "NVIDIA driver").empty());

  host.put("sys/module/nvidia/version", "570.195.03\n");
  host.put("proc/driver/nvidia/version", "NVRM version: ...\n");
  CHECK(is_only(diagnose(host), "NVIDIA driver", Level::note, {"no libcuda", "570.195.03"}));

  host.put("usr/lib/x86_64-linux-gnu/libcuda.so.570.195.03", "");
  host.link("libcuda.so.570.195.03", "usr/lib/x86_64-linux-gnu/libcuda.so.1");
  CHECK(is_only(diagnose(host), "NVIDIA driver", Level::good, {"570.195.03"}));

  // What is left of another version is harmless as long as no program loads it.
  host.put("usr/lib/x86_64-linux-gnu/libcuda.so.535.216.03", "");
  CHECK(is_only(diagnose(host), "NVIDIA driver", Level::good, {}));
}

TEST_CASE("libraries upgraded without a reboot") {
  const Host host;
  host.put("sys/module/nvidia/version", "535.216.03\n");
  host.make("proc/driver/nvidia");
  host.put("usr/lib/x86_64-linux-gnu/libcuda.so.570.195.03", "");
  CHECK(is_only(diagnose(host), "NVIDIA driver", Level::fault,
                {"module 535.216.03", "libcuda.so.570.195.03", "reboot"}));
  host.put("usr/lib/x86_64-linux-gnu/libcuda.so.535.216.03", "");
  host.link("libcuda.so.570.195.03", "usr/lib/x86_64-linux-gnu/libcuda.so.1");
  CHECK(is_only(diagnose(host), "NVIDIA driver", Level::fault, {"libcuda.so.570.195.03"}));
}

TEST_CASE("the version by the other file, and libraries where Debian and Red Hat put them") {
  for (const std::string version :
       {"NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.216.03  Thu Apr  3 01:14:19 UTC 2025",
        "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  535.216.03  Release Build  "
        "(x) "}) {
    const Host host;
    host.put("proc/driver/nvidia/version", version + "\nGCC version:  gcc version 12.2.0\n");
    CHECK(is_only(diagnose(host), "NVIDIA driver", Level::note, {"module 535.216.03 is"}));
    host.put("usr/lib64/libcuda.so.535.216.03", "");
    host.put("usr/lib/x86_64-linux-gnu/nvidia/current/libcuda.so.535.216.03", "");
    CHECK(is_only(diagnose(host), "NVIDIA driver", Level::good, {}));
    host.put("usr/lib/x86_64-linux-gnu/nvidia/current/libcuda.so.550.1", "");
    CHECK(is_only(diagnose(host), "NVIDIA driver", Level::fault, {"current/libcuda.so.550.1"}));
  }
  const Host host;
  for (const auto* const odd : {"", "\n", "Module", "Module x y z", "no 1.2.3"}) {
    host.put("proc/driver/nvidia/version", odd);
    CHECK(about(diagnose(host), "NVIDIA driver").empty());
  }
}

TEST_CASE("a module without its directory in /proc") {
  const Host host;
  host.make("sys/module/nvidia");
  CHECK(
      is_only(diagnose(host), "NVIDIA driver", Level::fault, {"/proc/driver/nvidia", "modprobe"}));
  host.make("proc/driver/nvidia");
  CHECK(about(diagnose(host), "NVIDIA driver").empty());
}
