// A cache beside a writer of specs, under all interleavings, kills and power cuts.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/cache.hpp>
#include <cdi/files/descriptor.hpp>
#include <cdi/publish.hpp>
#include <cdi/spec_text.hpp>

#include "model_calls.hpp"
#include "model_test.hpp"
#include "schedules.hpp"

namespace {

using model::Effect;
using model::host;

const std::string dir_of_specs = "/specs";

/// A new value of the device of a file; empty to remove the file.
struct Change {
  std::string file;
  std::string value;
};

enum class Writer {
  publisher,  // replaces files as a whole
  in_place,   // empties a file and writes it, as programs without the library do
};

struct CachePlan {
  std::string name;
  std::vector<Change> before;
  std::vector<Change> changes;
  Writer writer = Writer::publisher;
  bool waits = false;  // the reader waits for the device of the first file
};

/// The values that the device of a file had, and which of them a reader may see.
struct History {
  std::vector<std::string> values{""};
  std::size_t begun = 0;  // the changes until now, which are indices of `values`
  std::size_t done = 0;
};

/// All specs have the same size, and differ in one byte.
cdi::Spec spec_with(const std::string& file, const std::string& value) {
  return {.version = "0.6.0",
          .kind = "vendor.com/" + file.substr(0, file.find('.')),
          .devices = {{.name = "one", .container_edits = {.env = {"VALUE=" + value}}}}};
}

class CacheScenario final : public model::Scenario {
 public:
  explicit CacheScenario(CachePlan plan) : plan_{std::move(plan)} {}

  void set_up() override {
    host->files.make_directory(AT_FDCWD, dir_of_specs, 0755);
    for (const auto& change : plan_.before) carry_out(change);
    host->files.clock += 1000;
    if (!plan_.waits) query();
  }

  void work(int process) override {
    if (process == 0) {
      for (const auto& change : plan_.changes) carry_out(change);
    } else if (plan_.waits) {
      wait_for_device();
    } else {
      for (int i = 0; i < 2; ++i) {
        host->files.clock += 30;  // so that the cache takes signatures for stable
        query();
      }
    }
    is_well_[process] = host->step(Effect::none, "ends");
  }

  void recover(bool rebooted) override {
    if (rebooted || !is_well_[1]) cache_.emplace(std::vector{dir_of_specs});
    is_after_cut_ = rebooted;
    host->files.clock += 30;
    query();
    query();
  }

  void check() override {}

 private:
  void carry_out(const Change& change) {
    auto& history = histories_[change.file];
    history.values.push_back(change.value);
    history.begun = history.values.size() - 1;
    const bool written = plan_.writer == Writer::publisher ? publish(change) : write(change);
    if (!host->step(Effect::changes, "answer", change.value)) return;
    expect(written, "the writer failed");
    history.done = history.begun;
  }

  static bool publish(const Change& change) {
    const cdi::Publisher publisher{"owner", dir_of_specs};
    if (change.value.empty()) return bool{publisher.remove(change.file)};
    return bool{publisher.write(change.file, spec_with(change.file, change.value))};
  }

  static bool write(const Change& change) {
    const auto path = dir_of_specs + "/" + change.file;
    const auto text = *cdi::write_spec(spec_with(change.file, change.value), cdi::Format::json);
    const cdi::Descriptor file{::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644)};
    std::string_view rest = text;
    while (!rest.empty()) {
      const auto put = ::write(file.get(), rest.data(), rest.size());
      if (put < 0) return false;
      rest.remove_prefix(static_cast<std::size_t>(put));
    }
    return true;
  }

  /// What the registry has of a file's device; empty without the device.
  static std::string value_in(const cdi::Registry& registry, const std::string& file) {
    const auto name = "vendor.com/" + file.substr(0, file.find('.')) + "=one";
    const auto found = registry.find(name);
    return found.device == nullptr
               ? std::string{}
               : found.device->container_edits.env.at(0).substr(std::string{"VALUE="}.size());
  }

  void query() {
    const auto before = histories_;
    const auto registry = cache_->registry();
    if (!host->step(Effect::none, "has the registry")) return;
    for (const auto& [file, history] : histories_) {
      const auto first = before.contains(file) ? before.at(file).done : 0;
      check_value(file, value_in(*registry, file), first, history);
    }
    if (plan_.writer == Writer::in_place && is_unfinished()) return;
    for (const auto& error : registry->errors()) expect(false, to_string(error));
  }

  /// A query gives the last change that was done before it, or a later one. Of a file that is not
  /// complete, it may give the value before, or none.
  void check_value(const std::string& file, const std::string& value, std::size_t first,
                   const History& history) {
    const bool is_broken = plan_.writer == Writer::in_place && is_unfinished();
    if (is_broken && value.empty()) return;
    for (auto i = is_broken ? 0 : first; i <= history.begun; ++i) {
      if (history.values[i] == value) return;
    }
    expect(false, file + " has the value '" + value + "' instead of '" + history.values[first] +
                      "' or a later one");
  }

  /// Whether a change has begun, and is not done or never will be.
  bool is_unfinished() const {
    for (const auto& [file, history] : histories_) {
      if (history.begun != history.done) return true;
    }
    return is_after_cut_;
  }

  void wait_for_device() {
    const auto file = plan_.changes.front().file;
    const std::vector<std::string> names{"vendor.com/" + file.substr(0, file.find('.')) + "=one"};
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{10};
    const auto registry = cache_->wait_for(names, deadline);
    if (!host->step(Effect::none, "has waited")) return;
    if (registry) return expect(!value_in(**registry, file).empty(), "the device is not there");
    expect(registry.error().code == cdi::Errc::timeout, to_string(registry.error()));
    expect(histories_.at(file).done == 0, "the reader did not see the device");
  }

  CachePlan plan_;
  std::map<std::string, History> histories_{};
  std::optional<cdi::Cache> cache_{std::in_place, std::vector{dir_of_specs}};
  std::map<int, bool> is_well_{};
  bool is_after_cut_ = false;
};

const std::vector<CachePlan> cache_plans{
    {"a file that is replaced", {{"x.json", "1"}}, {{"x.json", "2"}, {"x.json", "3"}}},
    {"a file that comes and goes", {{"y.json", "1"}}, {{"x.json", "1"}, {"x.json", ""}}},
    {"a file that goes and comes", {{"x.json", "1"}}, {{"x.json", ""}, {"x.json", "2"}}},
    {"two files", {{"x.json", "1"}, {"y.json", "1"}}, {{"x.json", "2"}, {"y.json", "2"}}},
    {"a file written in place", {{"x.json", "1"}}, {{"x.json", "2"}}, Writer::in_place},
    {"a reader that waits", {}, {{"x.json", "1"}}, Writer::publisher, true},
};

}  // namespace

TEST_CASE("A cache sees each file as it was before or after a change, and sees each change") {
  for (const auto& plan : cache_plans) {
    model::explore_all("cache: " + plan.name, 2,
                       [&] { return std::make_unique<CacheScenario>(plan); });
  }
}
