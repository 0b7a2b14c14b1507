// `cdi transform root`: replaces the root of the paths in specs.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/base/path.hpp>

#include "../../kit/cdi_specs/move_root.hpp"
#include "../base/exit_codes.hpp"
#include "../base/in_place.hpp"
#include "../base/options.hpp"
#include "../base/output.hpp"
#include "../base/spec_input.hpp"
#include "../results/files.hpp"
#include "commands.hpp"

namespace {

/// The options of `transform root`.
struct TransformOptions {
  std::string from{};
  std::string to{};
  std::vector<std::string> files{};
  std::string relative_to = "host";
  bool in_place = false;
  bool backup = false;
};

/// A spec with another root.
struct MovedSpec {
  std::string file{};
  std::optional<FileInPlace> in_place{};
  std::string text{};
  std::size_t changed = 0;  // members; 0 means that the file stays
};

/// Moves the root of a spec, and writes its text in the given format.
cdi::Result<MovedSpec> move_root_of(const TransformOptions& options, const cdi::LoadedSpec& loaded,
                                    cdi::Format format) {
  auto spec = whole_spec(loaded);
  if (!spec) return std::move(spec).error();
  const auto paths =
      options.relative_to == "host" ? tools::PathsOf::host : tools::PathsOf::container;
  const auto changed = tools::move_root(spec->spec, options.from, options.to, paths);
  if (!changed) return changed.error();
  auto text = cdi::write_spec(spec->spec, format, spec->owner);
  if (!text) {
    text.error().position.file = loaded.path;
    return std::move(text).error();
  }
  return MovedSpec{.file = loaded.path, .text = *std::move(text), .changed = *changed};
}

/// Reads a file to replace, and moves its root.
cdi::Result<MovedSpec> move_root_in_place(const CommonOptions& common,
                                          const TransformOptions& options, const std::string& path,
                                          const Output& output) {
  const auto format = cdi::format_of(path);
  if (!format) return cdi::read_spec_file(path, common.reading).error();
  auto file = read_in_place(path, common.reading.reject_writable);
  if (!file) return std::move(file).error();
  if (auto good = check_link(*file); !good) return std::move(good).error();
  const auto loaded = cdi::parse_spec(file->text, path, *format, common.reading);
  if (!loaded) return loaded.error();
  output.warnings(loaded->warnings);
  auto moved = move_root_of(options, *loaded, *format);
  if (moved) moved->in_place = *std::move(file);
  return moved;
}

void warn_if_unchanged(const MovedSpec& moved, const TransformOptions& options,
                       const Output& output) {
  if (moved.changed != 0) return;
  const auto why =
      cdi::clean_path(options.from) == cdi::clean_path(options.to)
          ? std::string{"the old and the new root are the same"}
          : fmt::format("no {} path is below {}", options.relative_to, cdi::quoted(options.from));
  output.warning({.message = why + ": nothing changes", .position = {.file = moved.file}});
}

/// Prints one spec with another root.
ExitCode print_moved(const CommonOptions& common, const TransformOptions& options,
                     const Output& output) {
  const auto file = options.files.empty() ? "-" : options.files.front();
  const auto loaded = read_spec(file, common.reading);
  if (!loaded) return output.reject(loaded.error());
  output.warnings(loaded->warnings);
  const auto own = cdi::format_of(file).value_or(cdi::Format::yaml);
  const auto format = output.format() == OutputFormat::json   ? cdi::Format::json
                      : output.format() == OutputFormat::yaml ? cdi::Format::yaml
                                                              : own;
  const auto moved = move_root_of(options, *loaded, format);
  if (!moved) return output.reject(moved.error());
  warn_if_unchanged(*moved, options, output);
  return output.print(moved->text) ? exit_done : exit_failed;
}

/// Replaces a file; returns the path of the backup, if there is one.
cdi::Result<std::string> replace_moved(const MovedSpec& moved, bool backup) {
  if (backup) return replace_with_backup(*moved.in_place, moved.text);
  const auto done = replace_in_place(*moved.in_place, moved.text);
  if (!done) return done.error();
  return std::string{};
}

/// The same file among those to replace; null if there is none. It can be replaced only once.
const MovedSpec* find_same_file(const std::vector<MovedSpec>& all, const MovedSpec& moved) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const MovedSpec& other) {
    return other.in_place->signature == moved.in_place->signature;
  });
  return found == all.end() ? nullptr : &*found;
}

/// Rewrites files with another root. All files are read and checked before the first is replaced.
ExitCode rewrite_moved(const CommonOptions& common, const TransformOptions& options,
                       const Output& output) {
  std::vector<MovedSpec> all;
  for (const auto& path : options.files) {
    auto moved = move_root_in_place(common, options, path, output);
    if (!moved) return output.reject(moved.error());
    if (const auto* const same = find_same_file(all, *moved)) {
      return output.reject({.code = cdi::Errc::conflict,
                            .message = "this is the same file as " + cdi::quoted(same->file),
                            .advice = "name it once",
                            .position = {.file = path}});
    }
    warn_if_unchanged(*moved, options, output);
    if (moved->changed != 0) all.push_back(*std::move(moved));
  }
  std::string text;
  MovedFiles value;
  for (const auto& moved : all) {
    const auto backup = replace_moved(moved, options.backup);
    if (!backup) {
      for (const auto* done = all.data(); done != &moved; ++done) {
        output.warning({.message = "already rewritten", .position = {.file = done->file}});
      }
      return output.reject(backup.error());
    }
    text += fmt::format("{}: rewritten\n", printable(moved.file));
    if (!backup->empty()) text += fmt::format("backup: {}\n", printable(*backup));
    value.files.push_back({moved.file, moved.changed, *backup});
  }
  return output.result(text, value) ? exit_done : exit_failed;
}

std::string root_error(const std::string& root) {
  return root.starts_with('/') ? "" : "must be an absolute path, not " + cdi::quoted(root);
}

/// Rejects options that contradict each other.
void check_transform_options(const TransformOptions& options, const CommonOptions& common) {
  reject_quarantine("transform", common);
  if (options.files.size() > 1 && !options.in_place) {
    throw CLI::ValidationError{"FILE", "only one file can be printed: use --in-place for several"};
  }
  const bool reads_input = options.files.empty() || options.files.front() == "-";
  if (options.in_place && reads_input) {
    throw CLI::ValidationError{"--in-place", "needs a FILE"};
  }
}

Run set_up_transform(CLI::App& app, CommonOptions& common) {
  auto options = std::make_shared<TransformOptions>();
  app.require_subcommand(1);
  auto& root = *app.add_subcommand("root", "Replace the root of paths");
  root.fallthrough();
  root.add_option("FROM", options->from, "The old root: this path, and all paths below it, move")
      ->required()
      ->check(root_error);
  root.add_option("TO", options->to, "The new root")->required()->check(root_error);
  root.add_option("FILE", options->files, "Spec files, .json or .yaml (default: -, standard input)")
      ->check(not_empty);
  root.add_option("--relative-to", options->relative_to, "Which paths move: host or container")
      ->type_name("WHERE")
      ->capture_default_str()
      ->check(CLI::IsMember({"host", "container"}));
  auto* const in_place =
      root.add_flag("--in-place", options->in_place, "Rewrite the files instead of printing one");
  root.add_flag("--backup", options->backup,
                "Keep each old FILE as FILE.bak, or FILE.bak.2 and so on if that exists")
      ->needs(in_place);
  root.footer(
      "Host paths are the hostPath of device nodes and mounts, the programs of hooks that run on\n"
      "the host, and their arguments. Container paths are the path of device nodes, the\n"
      "containerPath of mounts, and programs and arguments of hooks that run in the "
      "container.\n\n" +
      exit_code_table("transform") + "With exit code 1, some files may already be rewritten.\n");
  root.callback([options, &common] { check_transform_options(*options, common); });
  return [options](const CommonOptions& given, const Output& output) {
    return options->in_place ? rewrite_moved(given, *options, output)
                             : print_moved(given, *options, output);
  };
}

}  // namespace

constexpr Command transform_command{"transform",
                                    "Print or rewrite specs with the root of their paths replaced",
                                    set_up_transform, "cdi transform root /host / vendor.yaml"};
