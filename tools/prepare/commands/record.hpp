// The command `record`.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_PREPARE_COMMANDS_RECORD_HPP
#define CDI_TOOLS_PREPARE_COMMANDS_RECORD_HPP

#include <algorithm>
#include <memory>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/result.hpp>

#include "../../gpu/base/options.hpp"
#include "../../gpu/cdi_specs/prepared_spec.hpp"
#include "../../gpu/slices/resource_slices.hpp"
#include "../../gpu/vendors/on_request.hpp"
#include "../../gpu/vendors/survey.hpp"
#include "../../kit/base/options.hpp"
#include "../../kit/base/release.hpp"
#include "../../kit/host/read_log.hpp"
#include "../../kit/host/replace_regular.hpp"
#include "../record/hashed_names.hpp"
#include "../record/recording.hpp"
#include "../record/tar_writer.hpp"
#include "command.hpp"
#include "exit_codes.hpp"
#include "files.hpp"
#include "make_nodes.hpp"
#include "output.hpp"
#include "selection_options.hpp"
#include <CLI/CLI.hpp>

namespace prepare {

/// The options of `record`.
struct RecordOptions {
  std::string file = "-";
  bool hash_names = false;
};

/// Reads all that the commands read about devices and drivers. Returns how many devices there are.
inline cdi::Result<std::size_t> read_node(Options options) {
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
  if (const auto version = version_for_files(*tree, *place, {}, options)) {
    std::vector<Problem> ignored;
    static_cast<void>(files_for(*tree, *place, *version, all_profiles, ignored));
  }
  return survey->total_count();
}

/// The archive, and what is in it, for people.
struct Archive {
  std::string bytes{};
  std::string contents{};
};

/// Makes the archive, and reports what is missing in it.
inline cdi::Result<Archive> archive_of_node(const Options& given, const RecordOptions& own) {
  const auto log = std::make_shared<tools::ReadLog>();
  auto options = given;
  options.log = log;
  const auto count = read_node(options);
  if (!count) return count.error();
  auto recording = Recording::open(options.root);
  if (!recording) return std::move(recording).error();
  recording->add(*log);
  auto entries = recording->entries();
  if (own.hash_names) {
    auto names = HashedNames::make();
    if (!names) return names.error();
    entries = names->replace(entries);
  }
  for (const auto& fault : recording->faults()) {
    report(Message::warning("not recorded: " + fault));
  }
  const auto nodes = std::count_if(entries.begin(), entries.end(),
                                   [](const auto& item) { return item.second.is_node(); });
  return Archive{.bytes = write_tar(entries, "cdi-prepare " + tools::release_version()),
                 .contents = fmt::format("recorded: devices {}, files {}, of which device nodes {}",
                                         *count, entries.size(), nodes)};
}

/// Writes the bytes of an archive to a file or to standard output; reports why it cannot.
inline ExitCode write_archive(const std::string& bytes, const std::string& file) {
  if (file == "-") return finish(bytes, ExitCode::done);
  const auto done = tools::replace_regular(
      file, bytes, "name another file, or - for standard output, with -o", {.mode = 0600});
  return done ? ExitCode::done : finish(done.error(), ExitCode::failed);
}

inline ExitCode record_node(const Options& options, const RecordOptions& own) {
  if (own.file == "-" && ::isatty(STDOUT_FILENO) == 1) {
    report(Message::error(cdi::Error{.message = "an archive is no text for a terminal",
                                     .advice = "name a file with -o FILE.tar"}));
    return ExitCode::usage;
  }
  const auto archive = archive_of_node(options, own);
  if (!archive) return finish(archive.error(), ExitCode::failed);
  const auto code = write_archive(archive->bytes, own.file);
  if (code == ExitCode::done) report(Message::note(archive->contents));
  return code;
}

inline Run set_up_record(CLI::App& app, Options& options) {
  auto own = std::make_shared<RecordOptions>();
  app.add_option("-o,--output", own->file, "The archive; -: standard output")
      ->type_name("FILE")
      ->check(not_empty)
      ->capture_default_str();
  app.add_flag("--hash-names", own->hash_names,
               "Replace UUIDs and serial numbers by hashes of the same form");
  add_driver_place(app, options);
  add_vendor_files(app, options);
  return [own](const Options& given) {
    return record_node(given, *own);
  };
}

inline constexpr Command record_command{
    "record", "Record what the commands read of this host in a tar archive, for --root elsewhere",
    set_up_record, "cdi-prepare record -o node.tar --hash-names"};

}  // namespace prepare

#endif  // CDI_TOOLS_PREPARE_COMMANDS_RECORD_HPP
