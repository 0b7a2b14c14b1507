// Two programs that rewrite one file, under all interleavings, kills and power cuts.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <array>
#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include <doctest/doctest.h>

#include <cdi/files/descriptor.hpp>
#include <cdi/files/replace_file.hpp>
#include <cdi/files/text_file.hpp>

#include "model_calls.hpp"
#include "model_test.hpp"
#include "schedules.hpp"

namespace {

using model::Effect;
using model::host;

const std::string bundle = "/bundle";
const std::string config_name = "config.json";

/// The text has a letter for each process, which the process sets to these, one after the other.
struct RewriterPlan {
  std::string name;
  std::array<std::string, 2> letters;
};

class RewriterScenario final : public model::Scenario {
 public:
  explicit RewriterScenario(RewriterPlan plan) : plan_{std::move(plan)} {}

  void set_up() override {
    host->files.make_directory(AT_FDCWD, bundle, 0755);
    const auto directory = open_bundle();
    const auto path = bundle + "/" + config_name;
    const auto done =
        cdi::replace_file_at(directory.get(), config_name, "--", path, {.mode = 0640});
    expect(bool{done}, "cannot set up");
  }

  void work(int process) override {
    const auto at = static_cast<std::size_t>(process);
    for (const char letter : plan_.letters[at]) {
      allowed_[at] += letter;
      const auto done = rewrite(at, letter);
      if (!host->step(Effect::changes, done ? "answer" : "error", std::string(1, letter))) return;
      if (done) {
        allowed_[at] = letter;
      } else {
        allowed_[at].pop_back();
        expect(done.error().code == cdi::Errc::conflict, to_string(done.error()));
      }
    }
  }

  void recover(bool /*rebooted*/) override {
    const auto directory = open_bundle();
    cdi::remove_temporaries_of(directory.get(), config_name);
  }

  void check() override {
    expect(host->files.names_in(bundle) == std::set{config_name}, "other files are left");
    const auto text = host->files.text_of(bundle + "/" + config_name);
    expect(text.size() == 2, "the file has the text '" + text + "'");
    for (std::size_t i = 0; i < text.size() && i < 2; ++i) {
      expect(allowed_[i].find(text[i]) != std::string::npos,
             "instead of '" + allowed_[i] + "', the text is '" + text + "'");
    }
    struct stat info = {};
    host->files.stat(AT_FDCWD, bundle + "/" + config_name, &info);
    expect((info.st_mode & 07777) == 0640, "the file has another mode");
  }

 private:
  static cdi::Descriptor open_bundle() {
    return cdi::Descriptor{::open(bundle.c_str(), O_RDONLY | O_DIRECTORY)};
  }

  static cdi::Result<void> rewrite(std::size_t at, char letter) {
    const auto directory = open_bundle();
    auto file = cdi::read_file_at(directory.get(), config_name, config_name, 100);
    if (!file) return file.error();
    file->text.at(at) = letter;
    return cdi::rewrite_file_at(directory.get(), config_name, file->text, config_name,
                                file->signature);
  }

  RewriterPlan plan_;
  std::array<std::string, 2> allowed_{"-", "-"};  // the letters that may be there afterwards
};

const std::array<RewriterPlan, 2> rewriter_plans{{
    {"a change each", {"1", "a"}},
    {"three changes", {"1", "ab"}},
}};

}  // namespace

TEST_CASE("Of two programs that rewrite a file, neither loses the change of the other") {
  for (const auto& plan : rewriter_plans) {
    model::explore_all("rewriters: " + plan.name, 2,
                       [&] { return std::make_unique<RewriterScenario>(plan); });
  }
}
