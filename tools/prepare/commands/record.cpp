// The command `record`.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "../../gpu/base/options.hpp"
#include "../../gpu/cdi_specs/prepared_spec.hpp"
#include "../../gpu/slices/resource_slices.hpp"
#include "../../gpu/survey/survey.hpp"
#include "../../gpu/vendors/nvidia_on_request.hpp"
#include "../../kit/base/options.hpp"
#include "../../kit/host/read_log.hpp"
#include "../record/hashed_names.hpp"
#include "../record/recorded_file.hpp"
#include "../record/recording.hpp"
#include "commands.hpp"
#include "exit_codes.hpp"
#include "files.hpp"
#include "make_nodes.hpp"
#include "output.hpp"
#include "selection_options.hpp"
#include <CLI/CLI.hpp>

namespace prepare {

namespace {

/// The options of `record`.
struct RecordOptions {
  std::string directory{};
  bool hash_names = false;
};

/// Reads everything that the commands read about devices and drivers. Returns the number of
/// devices.
cdi::Result<std::size_t> read_node(Options options) {
  const auto survey = survey_host(options);
  if (!survey) return survey.error();
  static_cast<void>(prepare_specs(*survey, options));
  static_cast<void>(slice_list(*survey, {.driver = "gpu.cdi.local", .node = "node"}));
  static_cast<void>(advice_on_nodes(options));
  for (const auto& kind : on_request::kinds) {
    options.kind = kind.name;
    if (const auto other = survey_host(options); !other) return other.error();
  }
  const auto tree = open_host(options);
  if (!tree) return tree.error();
  static_cast<void>(nvidia::NodeCheck{*tree}.all());
  const auto place = open_driver_place(*tree, options);
  if (!place) return place.error();
  if (const auto version = version_for_files(*tree, *place, {})) {
    std::vector<Problem> ignored;
    static_cast<void>(files_for(*tree, *place, *version, all_profiles, ignored));
  }
  return survey->total_count();
}

/// Records the node. Returns what is in the recording, for people.
cdi::Result<std::string> record_files(const Options& given, const RecordOptions& own) {
  const auto log = std::make_shared<tools::ReadLog>();
  auto options = given;
  options.log = log;
  const auto count = read_node(options);
  if (!count) return count.error();
  auto recording = Recording::open(options.root);
  if (!recording) return std::move(recording).error();
  recording->add(*log);
  auto files = recording->files();
  if (own.hash_names) {
    auto names = HashedNames::make();
    if (!names) return names.error();
    files = names->replace(files);
  }
  if (auto done = write_files(files, own.directory); !done) return std::move(done).error();
  for (const auto& fault : recording->faults()) {
    report(Message::warning("not recorded: " + fault));
  }
  const auto nodes = std::count_if(files.begin(), files.end(), [](const auto& item) {
    return item.second.type == RecordedFile::Type::device;
  });
  return fmt::format("recorded: devices {}, files {}, of which device nodes {}", *count,
                     files.size(), nodes);
}

ExitCode record_node(const Options& options, const RecordOptions& own) {
  const auto contents = record_files(options, own);
  if (!contents) return finish(contents.error(), ExitCode::failed);
  report(Message::note(*contents));
  return ExitCode::done;
}

Run set_up_record(CLI::App& app, Options& options) {
  auto own = std::make_shared<RecordOptions>();
  app.add_option("DIRECTORY", own->directory, "A new directory for the recording")
      ->required()
      ->check(not_empty);
  app.add_flag("--hash-names", own->hash_names,
               "Replace UUIDs and serial numbers by hashes of the same form");
  add_driver_place(app, options);
  add_vendor_files(app, options);
  return [own](const Options& given) {
    return record_node(given, *own);
  };
}

}  // namespace

constexpr Command record_command{
    "record", "Record what the commands read of this host in a directory, for --root elsewhere",
    set_up_record, "cdi-prepare record node --hash-names"};

}  // namespace prepare
