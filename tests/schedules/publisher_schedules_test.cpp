// Two publishers in one directory, under all interleavings, kills and power cuts.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/file.hpp>
#include <cdi/publish.hpp>

#include "model_calls.hpp"
#include "model_test.hpp"
#include "schedules.hpp"

namespace {

using model::Effect;
using model::host;

const std::string shared_dir = "/specs";
const std::string absent = "absent";  // a file that is missing, as a device

enum class Work { write, remove, reconcile, prune };

/// What a process does with the file `name`; `reconcile` and `prune` also do it with the others.
struct PublisherCall {
  Work work;
  std::string name;
  std::string device = absent;
};

struct PublisherPlan {
  std::string name;
  std::array<std::string, 2> owners;
  std::array<PublisherCall, 2> calls;
  std::map<std::string, std::string> before{};  // the devices of the first owner's files
};

/// A change of a file, and when it began and ended.
struct Publishing {
  std::string device;
  std::size_t began = 0;
  std::size_t ended = 0;  // 0 if it was not answered
};

cdi::Spec spec_with_device(const std::string& device) {
  return {.version = "0.6.0",
          .kind = "vendor.com/x",
          .devices = {{.name = device, .container_edits = {.env = {"A=1"}}}}};
}

class PublisherScenario final : public model::Scenario {
 public:
  explicit PublisherScenario(PublisherPlan plan) : plan_{std::move(plan)} {}

  void set_up() override {
    host->files.make_directory(AT_FDCWD, shared_dir, 0755);
    for (const auto& [name, device] : plan_.before) {
      expect(bool{publisher(0).write(name, spec_with_device(device))}, "cannot set up");
      changes_[name] = {{.device = device, .ended = 1}};
    }
  }

  void work(int process) override {
    const auto& call = plan_.calls[static_cast<std::size_t>(process)];
    auto& changes = changes_[call.name];
    if (changes.empty()) changes.push_back({.device = absent, .ended = 1});
    const auto number = changes.size();
    if (call.work != Work::prune) changes.push_back({call.device, host->now + 1});
    const auto done = carry_out(publisher(process), call);
    if (!host->step(Effect::changes, done ? "answer" : "error", call.name)) return;
    if (done && call.work != Work::prune) changes_[call.name][number].ended = host->now;
    if (!done) refused(process, call, number, done.error());
  }

  void recover(bool /*rebooted*/) override {
    std::set<std::string> all;
    for (const auto& name : host->files.names_in(shared_dir)) {
      if (cdi::format_of(name)) all.insert(name);
    }
    const auto done = publisher(0).prune(all);
    expect(done && done->errors.empty(), "the directory cannot be cleaned");
  }

  void check() override {
    for (const auto& name : host->files.names_in(shared_dir)) {
      expect(changes_.contains(name), name + " is left");
    }
    for (const auto& [name, changes] : changes_) {
      const auto device = device_in(name);
      expect(may_be_last(changes, device), name + " has " + device);
      expect(plan_.owners[0] == plan_.owners[1] || answered(changes) < 2,
             "two owners have " + name);
    }
  }

 private:
  cdi::Publisher publisher(int process) const {
    return cdi::Publisher{plan_.owners[static_cast<std::size_t>(process)], shared_dir};
  }

  static cdi::Result<void> carry_out(const cdi::Publisher& publisher, const PublisherCall& call) {
    const auto spec = spec_with_device(call.device);
    if (call.work == Work::write) return result_of(publisher.write(call.name, spec));
    if (call.work == Work::remove) return result_of(publisher.remove(call.name));
    const auto done = call.work == Work::prune ? publisher.prune({call.name})
                                               : publisher.reconcile({{call.name, spec}});
    if (!done) return done.error();
    return done->errors.empty() ? cdi::Result<void>{} : done->errors.front();
  }

  static cdi::Result<void> result_of(const cdi::Result<cdi::Publication>& done) {
    return done ? cdi::Result<void>{} : done.error();
  }

  /// A file of another owner may be refused; then nothing was changed.
  void refused(int process, const PublisherCall& call, std::size_t number,
               const cdi::Error& error) {
    const auto& other = plan_.calls[static_cast<std::size_t>(1 - process)];
    const bool is_others = plan_.owners[0] != plan_.owners[1] && other.name == call.name;
    expect(is_others && error.code == cdi::Errc::conflict, to_string(error));
    changes_[call.name][number].device = "";
  }

  /// The device of a file; empty if it is not a complete spec.
  static std::string device_in(const std::string& name) {
    const auto text = host->files.text_of(shared_dir + "/" + name);
    if (!host->files.names_in(shared_dir).contains(name)) return absent;
    const auto spec = cdi::parse_spec(text, name, cdi::Format::json);
    return spec ? spec->spec.devices.at(0).name : "an incomplete spec";
  }

  /// How many processes changed a file.
  static std::size_t answered(const std::vector<Publishing>& changes) {
    std::size_t count = 0;
    for (const auto& change : changes) count += change.began != 0 && change.ended != 0 ? 1 : 0;
    return count;
  }

  /// Whether a change may be the last one: none began after its end and ended.
  static bool may_be_last(const std::vector<Publishing>& changes, const std::string& device) {
    for (const auto& change : changes) {
      bool is_last = change.device == device;
      for (const auto& later : changes) {
        const bool follows = change.ended != 0 && later.began > change.ended;
        if (follows && later.ended != 0 && !later.device.empty()) is_last = false;
      }
      if (is_last) return true;
    }
    return false;
  }

  PublisherPlan plan_;
  std::map<std::string, std::vector<Publishing>> changes_{};
};

const std::map<std::string, std::string> one_file{{"x.json", "old"}};

const std::vector<PublisherPlan> publisher_plans{
    {"one file, one owner",
     {"me", "me"},
     {{{Work::write, "x.json", "a"}, {Work::write, "x.json", "b"}}},
     one_file},
    {"a new file, one owner",
     {"me", "me"},
     {{{Work::write, "x.json", "a"}, {Work::write, "x.json", "b"}}}},
    {"a new file, two owners",
     {"me", "other"},
     {{{Work::write, "x.json", "a"}, {Work::write, "x.json", "b"}}}},
    {"two files",
     {"me", "other"},
     {{{Work::reconcile, "x.json", "a"}, {Work::reconcile, "y.json", "b"}}}},
    {"a file that is written and removed",
     {"me", "me"},
     {{{Work::write, "x.json", "a"}, {Work::remove, "x.json"}}},
     one_file},
    {"a writer and a cleaner",
     {"me", "other"},
     {{{Work::write, "x.json", "a"}, {Work::prune, "x.json"}}},
     one_file},
};

}  // namespace

TEST_CASE("Of two publishers, the last one wins, and each file is complete") {
  for (const auto& plan : publisher_plans) {
    model::explore_all("publishers: " + plan.name, 2,
                       [&] { return std::make_unique<PublisherScenario>(plan); });
  }
}
