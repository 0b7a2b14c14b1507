// What a log has of the questions to a tree.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/kit/host/read_log.hpp"

#include <cerrno>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <sys/stat.h>
#include <vector>

#include <doctest/doctest.h>

#include "../../../../tools/kit/host/host_tree.hpp"
#include "../../../support/made_up_host.hpp"

namespace {

using tools::HostTree;
using tools::ReadLog;

/// A host whose files are logged while they are read.
struct LoggedHost : MadeUpHost {
  LoggedHost() {
    put("etc/text", "one line\n");
    link("text", "etc/link");
    tree = *HostTree::open(path(), log);
  }

  const ReadLog::Seen& seen(const std::string& path, const std::string& root = {}) const {
    const auto found = log->all().find({root, path});
    REQUIRE(found != log->all().end());
    return found->second;
  }
  bool has(const std::string& path) const { return log->all().contains({"", path}); }

  std::shared_ptr<ReadLog> log = std::make_shared<ReadLog>();
  std::optional<HostTree> tree{};
};

}  // namespace

TEST_CASE_FIXTURE(LoggedHost, "A log has the paths as they were asked for, also missing ones") {
  CHECK(tree->exists("/etc/link"));
  CHECK_FALSE(tree->exists("/none"));
  CHECK(tree->real_path("/var/run") == "/run");
  CHECK(has("/etc/link"));
  CHECK(has("/none"));
  CHECK(has("/var/run"));
  CHECK_FALSE(has("/run"));  // where a link leads is not asked for
  CHECK_FALSE(seen("/etc/link").text);
}

TEST_CASE_FIXTURE(LoggedHost, "A log has the longest text that was read of a file") {
  CHECK(tree->first_bytes("/etc/text", 3) == "one");
  CHECK(seen("/etc/text").text == "one");
  CHECK(tree->read("/etc/text"));
  CHECK(tree->first_bytes("/etc/text", 2) == "on");
  CHECK(seen("/etc/text").text == "one line\n");
}

TEST_CASE_FIXTURE(LoggedHost, "A log has why a file that exists cannot be read") {
  CHECK_FALSE(tree->read("/none"));
  CHECK(seen("/none").failure == 0);
  for (const auto* name : {"", "etc"}) REQUIRE(::chmod((*this / name).c_str(), 0755) == 0);
  REQUIRE(::chmod((*this / "etc/text").c_str(), 0) == 0);
  const UnprivilegedUser unprivileged;
  if (!unprivileged) return;
  const auto text = tree->read("/etc/text");
  REQUIRE_FALSE(text);
  CHECK(seen("/etc/text").failure == EACCES);
  CHECK_FALSE(seen("/etc/text").text);
}

TEST_CASE_FIXTURE(LoggedHost, "A log has the names in a directory, if it can be listed") {
  CHECK(tree->list("/etc") == std::vector<std::string>{"link", "text"});
  CHECK(seen("/etc").names == std::vector<std::string>{"link", "text"});
  CHECK(tree->list("/none").empty());
  CHECK_FALSE(has("/none"));
}

TEST_CASE_FIXTURE(LoggedHost, "A log has the files that were wanted in a directory") {
  const auto is_text = [](const auto& file) {
    return file.name == "text";
  };
  CHECK(tree->files("/etc", is_text).size() == 1);
  CHECK(has("/etc/text"));
  CHECK_FALSE(has("/etc/link"));
}

TEST_CASE_FIXTURE(LoggedHost, "A log has the directory that is / for the links in a path") {
  put("run/driver/lib/a", "of the driver");
  const auto driver = HostTree::open(*this / "run/driver", log, "/run/driver");
  REQUIRE(driver);
  CHECK(driver->line("/lib/a") == "of the driver");
  CHECK(seen("/lib/a", "/run/driver").text == "of the driver");
}
