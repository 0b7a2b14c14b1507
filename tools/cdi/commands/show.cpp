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

/// Whether a directory from --spec-dir is there but was not read, or is a dangling link.
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
  ShownDevices shown;
  for (const auto& found : *devices) {
    auto& device = shown.devices.emplace_back(ShownDevice{device_in_file(found, text)});
    device.edits = edits_of(found, text);
  }
  return code_of_list(output.result(text, shown), common, *registry, output);
}

/// Where edits are in a spec. `name` is the name of the device, or the kind of the spec.
struct EditsPlace {
  const cdi::LoadedSpec& spec;
  std::string name;
  std::string where;
};

/// Adds the edits at a place.
void add_edits(const cdi::ContainerEdits& edits, const EditsPlace& place, ShownEdits& out,
               std::string& text) {
  const auto add_one = [&](const auto& edit, const std::string& where) {
    auto shown =
        shown_edit(edit, {place.name, place.spec.path, place.spec.locate(where).line, where});
    text += fmt::format("  {}  {}\n", edit_text(edit), to_string(shown.origin));
    out.add(std::move(shown));
  };
  cdi::Plan::each_kind([&](const char* key, auto, auto member) {
    const auto& list = edits.*member;
    const auto where = place.where + "." + key;
    if constexpr (requires { list.size(); }) {
      for (std::size_t i = 0; i < list.size(); ++i) {
        add_one(list[i], cdi::detail::item_path(where, i));
      }
    } else if (list) {
      add_one(*list, where);
    }
  });
}

Run set_up_show(CLI::App& app, CommonOptions& /*common*/) {
  auto names = std::make_shared<std::vector<std::string>>();
  add_names(app, *names);
  return [names](const CommonOptions& given, const Output& output) {
    return show_devices(given, *names, output);
  };
}

}  // namespace

ShownEdits edits_of(const cdi::ResolvedDevice& found, std::string& text) {
  const auto& kind = found.spec->spec.kind;
  ShownEdits out;
  add_edits(found.spec->spec.container_edits, {*found.spec, kind, "containerEdits"}, out, text);
  const auto place = cdi::detail::item_path("devices", found.index()) + ".containerEdits";
  add_edits(found.device->container_edits,
            {*found.spec, cdi::qualified_name(kind, found.device->name), place}, out, text);
  return out;
}

DeviceInFile device_in_file(const cdi::ResolvedDevice& found, std::string& text) {
  DeviceInFile out{.name = cdi::qualified_name(found.spec->spec.kind, found.device->name),
                   .file = found.spec->path,
                   .line = found.line(),
                   .annotations = found.device->annotations};
  text += fmt::format("{}  {}:{}\n", out.name, printable(out.file), out.line);
  for (const auto& [key, value] : out.annotations) {
    text += fmt::format("  annotation  {}: {}\n", printable(key), printable(value));
  }
  return out;
}

ExitCode code_of_list(bool printed, const CommonOptions& common, const cdi::Registry& registry,
                      const Output& output) {
  ExitCode code = printed ? exit_done : exit_failed;
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
