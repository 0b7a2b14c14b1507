// What each option of reading changes for one directory of good and bad files.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <chrono>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/dirs/scan.hpp>
#include <cdi/files/read_options.hpp>

#include "../../support/temp_tree.hpp"

namespace {

using Names = std::vector<std::string>;

/// A directory of four files: a good one, a long one, one that each user may write, and one with a
/// good and a bad device.
struct Files : TempTree {
  Files() {
    put_spec("good.yaml", "good");
    put("long.yaml", spec("long", "A=" + std::string(2000, 'x')));
    put_spec("open.yaml", "open");
    REQUIRE(::chmod((*this / "open.yaml").c_str(), 0666) == 0);
    put("partly.yaml",
        spec("partly", "A=b") + "- name: bad name\n  containerEdits: {env: [A=b]}\n");
  }

  static std::string spec(std::string_view device, std::string_view variable) {
    return "cdiVersion: 1.0.0\nkind: v/c\ndevices:\n- name: " + std::string{device} +
           "\n  containerEdits: {env: [" + std::string{variable} + "]}\n";
  }

  Names devices(cdi::ReadOptions options) const {
    options.retry_window = std::chrono::milliseconds{0};  // the bad file stays bad
    return cdi::scan_spec_dirs({path()}, options)->devices();
  }
};

}  // namespace

TEST_CASE("Each option accepts or rejects the files that it is about, and no others") {
  const Files dir;
  struct {
    std::string_view what;
    cdi::ReadOptions options;
    Names devices;
  } const rows[] = {
      {"the defaults", {}, {"v/c=good", "v/c=long", "v/c=open"}},
      {"devices in quarantine",
       {.quarantine_devices = true},
       {"v/c=good", "v/c=long", "v/c=open", "v/c=partly"}},
      {"no files that others may write", {.reject_writable = true}, {"v/c=good", "v/c=long"}},
      {"no long files", {.limits = {.bytes = 1000}}, {"v/c=good", "v/c=open"}},
      {"as many files as there are", {.files = 4}, {"v/c=good", "v/c=long", "v/c=open"}},
      {"fewer files than there are", {.files = 3}, {}},
  };
  for (const auto& row : rows) {
    CAPTURE(row.what);
    CHECK(dir.devices(row.options) == row.devices);
  }
}

TEST_CASE("A digest is made of the bytes of each valid file, on request") {
  const Files dir;
  cdi::ReadOptions options{.retry_window = std::chrono::milliseconds{0}};
  const auto without = cdi::scan_spec_dirs({dir.path()}, options);
  CHECK(without->specs().size() == 3);
  for (const auto& spec : without->specs()) CHECK(spec->digest.empty());
  options.digest = [](std::string_view bytes) {
    return std::string{bytes};
  };
  const auto registry = cdi::scan_spec_dirs({dir.path()}, options);
  REQUIRE(registry->specs().size() == 3);
  for (const auto& spec : registry->specs()) CHECK(spec->digest == get_file(spec->path));
}
