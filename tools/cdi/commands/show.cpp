// `cdi show`: prints the edits of devices as their files have them, with file and line.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "show.hpp"

#include <cstddef>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "../base/edit_text.hpp"
#include "../base/globs.hpp"
#include "commands.hpp"

namespace {

/// Whether a directory from --spec-dir is there but was not read, or is a link that leads to none.
bool is_unread(const CommonOptions& common, const cdi::SpecDir& dir) {
  std::error_code none;
  return common.dirs_named() && dir.state != cdi::SpecDir::State::read &&
         std::filesystem::exists(std::filesystem::symlink_status(dir.path, none));
}

/// Prints devices with their edits.
ExitCode show_devices(const CommonOptions& common, const std::vector<std::string>& names,
                      const Output& output) {
  const auto registry = scan_and_warn(common, output);
  const auto devices = resolve_or_report(names, *registry, output);
  if (!devices) return exit_failed;
  std::string text;
  Json list = Json::array();
  for (const auto& found : *devices) {
    ShownDevice shown{found};
    shown.add(edits_of(found));
    text += shown.text;
    list.push_back(std::move(shown.record));
  }
  const Json record{{"version", 1}, {"devices", std::move(list)}};
  return print_list(common, *registry, text, record, output);
}

Run set_up_show(CLI::App& app, CommonOptions& /*common*/) {
  auto names = std::make_shared<std::vector<std::string>>();
  add_names(app, *names);
  return [names](const CommonOptions& given, const Output& output) {
    return show_devices(given, *names, output);
  };
}

}  // namespace

void ShownEdits::add(const cdi::LoadedSpec& spec, const cdi::ContainerEdits& edits,
                     const std::string& name, const std::string& where) {
  const auto add_one = [&](const char* key, const auto& edit, const std::string& place) {
    const cdi::Origin origin{name, spec.path, spec.locate(place).line, place};
    text += fmt::format("  {}  {}\n", edit_text(edit), to_string(origin));
    record[key].push_back({{"edit", edit_json(edit)}, {"origin", origin_json(origin)}});
  };
  cdi::Plan::each_kind([&](const char* key, auto, auto member) {
    const auto& list = edits.*member;
    const auto place = where + "." + key;
    if constexpr (requires { list.size(); }) {
      for (std::size_t i = 0; i < list.size(); ++i) {
        add_one(key, list[i], cdi::detail::item_path(place, i));
      }
    } else if (list) {
      add_one(key, *list, place);
    }
  });
}

ShownEdits edits_of(const cdi::ResolvedDevice& found) {
  const auto& spec = *found.spec;
  ShownEdits out;
  out.add(spec, spec.spec.container_edits, spec.spec.kind, "containerEdits");
  out.add(spec, found.device->container_edits,
          cdi::qualified_name(spec.spec.kind, found.device->name),
          cdi::detail::item_path("devices", found.index()) + ".containerEdits");
  return out;
}

ShownDevice::ShownDevice(const cdi::ResolvedDevice& found) {
  const auto name = cdi::qualified_name(found.spec->spec.kind, found.device->name);
  text = fmt::format("{}  {}:{}\n", name, printable(found.spec->path), found.line());
  record = {{"name", name}, {"file", found.spec->path}, {"line", found.line()}};
  for (const auto& [key, value] : found.device->annotations) {
    text += fmt::format("  annotation  {}: {}\n", printable(key), printable(value));
  }
  if (!found.device->annotations.empty()) record["annotations"] = found.device->annotations;
}

void ShownDevice::add(ShownEdits edits) {
  text += edits.text;
  record["edits"] = std::move(edits.record);
}

ExitCode print_list(const CommonOptions& common, const cdi::Registry& registry,
                    std::string_view text, const Json& value, const Output& output) {
  ExitCode code = output.result(text, value) ? exit_done : exit_failed;
  for (const auto& dir : registry.dirs()) {
    if (!is_unread(common, dir)) continue;
    code = output.reject(
        {.message = "incomplete without this directory", .position = {.file = dir.path}});
  }
  return code;
}

constexpr Command show_command{
    "show", "Print the edits of devices as in their spec files, with the file and line of each",
    set_up_show, "cdi show vendor.com/gpu=0"};
