// For any files on a host, the devices found can be printed; the specs written for them are valid,
// have unique device names, and read back the same, with warnings only about long names.
//
// An input is a text. A line `@PATH` begins a file, whose content is the lines up to the next such
// line; `@PATH/` is a directory, and `@PATH -> TARGET` is a symbolic link.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <cdi/file.hpp>
#include <cdi/files/descriptor.hpp>
#include <cdi/files/text_file.hpp>
#include <cdi/validate.hpp>

#include "../../tools/gpu/cdi_specs/prepared_spec.hpp"
#include "../../tools/gpu/cdi_specs/version_choice.hpp"
#include "../../tools/gpu/survey/survey.hpp"
#include "../../tools/prepare/commands/report.hpp"
#include "../../tools/prepare/commands/spec_set.hpp"
#include "../../tools/prepare/doctor/doctor.hpp"
#include "fuzz.hpp"

namespace {

/// A temporary directory, in memory if possible, removed by the destructor.
class MadeUpHost {
 public:
  explicit MadeUpHost(std::string_view text) {
    if (::mkdtemp(path_.data()) == nullptr) {
      path_ = "/tmp/cdi-fuzz-XXXXXX";
      fuzz::require(::mkdtemp(path_.data()) != nullptr, "there is a temporary directory");
    }
    constexpr int max = 200;  // files, so that an input takes less than a second
    for (int count = 0; !text.empty() && count < max; ++count) {
      const auto end = std::min(text.find("\n@"), text.size());
      if (text.starts_with('@')) make(text.substr(1, std::max<std::size_t>(end, 1) - 1));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }
  MadeUpHost(const MadeUpHost&) = delete;
  MadeUpHost& operator=(const MadeUpHost&) = delete;
  ~MadeUpHost() { std::filesystem::remove_all(path_); }

  const std::string& path() const { return path_; }

 private:
  /// Makes the file of an entry, if possible. Does not follow links, which may lead out of the
  /// directory.
  void make(std::string_view entry) const {
    const auto line = entry.substr(0, entry.find('\n'));
    const auto content = entry.substr(std::min(line.size() + 1, entry.size()));
    const auto arrow = line.find(" -> ");
    auto names = tools::split(line.substr(0, arrow), "/");
    std::erase(names, ".");
    std::erase(names, "..");
    constexpr std::size_t deepest = 20;
    if (names.empty() || names.size() > deepest) return;
    const std::string last = names.back();
    if (!line.ends_with('/')) names.pop_back();
    cdi::Descriptor directory{::open(path_.c_str(), O_RDONLY | O_DIRECTORY)};
    for (const auto& name : names) {
      ::mkdirat(directory.get(), name.c_str(), 0755);
      directory = cdi::Descriptor{
          ::openat(directory.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW)};
      if (!directory) return;
    }
    if (line.ends_with('/')) return;
    if (arrow != line.npos) {
      const std::string choice{line.substr(arrow + 4)};
      static_cast<void>(::symlinkat(choice.c_str(), directory.get(), last.c_str()));
      return;
    }
    const cdi::Descriptor file{
        ::openat(directory.get(), last.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0755)};
    if (file) static_cast<void>(::write(file.get(), content.data(), content.size()));
  }

  std::string path_ = "/dev/shm/cdi-fuzz-XXXXXX";
};

void check_spec(const cdi::Spec& spec) {
  const auto valid = cdi::validate(spec, nullptr, cdi::ValidateFor::writing);
  fuzz::require(valid.has_value(), "a generated spec is valid", fuzz::fault_of(valid));
  std::set<std::string> names;
  for (const auto& device : spec.devices) {
    fuzz::require(names.insert(device.name).second, "device names are unique", device.name);
  }
  const auto text = cdi::write_spec(spec, cdi::Format::yaml);
  fuzz::require(text.has_value(), "a generated spec can be written", fuzz::fault_of(text));
  const auto again = cdi::parse_spec(*text, "f", cdi::Format::yaml);
  fuzz::require(again && again->spec == spec, "a spec reads back", fuzz::fault_of(again));
  for (const auto& warning : again->warnings) {
    const bool from_host = warning.rule == "device-name-length";  // the name of a platform device
    fuzz::require(from_host, "a generated spec has no warnings", to_string(warning));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const MadeUpHost host{fuzz::text_of(data, size)};
  prepare::Options options;
  options.root = host.path();
  options.hooks = "nvidia";
  options.ld_library_path = true;
  options.output_dir = options.below_root("/var/run/cdi");
  const auto survey = prepare::survey_host(options);
  if (!survey) return 0;
  const auto shown =
      prepare::model_as_json(survey->inventories) + prepare::model_as_text(survey->inventories);
  fuzz::require(cdi::detail::is_utf8(shown), "found devices can be printed");
  const auto choice = prepare::choose_version(*survey, options);
  const auto prepared = prepare::prepare_specs(*survey, choice.options);
  for (const auto& message : prepare::messages_of(prepared, choice)) {
    fuzz::require(cdi::detail::is_utf8(prepare::message_text(message)), "problems can be printed");
    fuzz::require(cdi::detail::is_utf8(prepare::message_json(message)), "problems are JSON");
  }
  for (const auto& one : prepared.specs) check_spec(one.spec);
  const auto engines = tools::EngineVersions{tools::VersionsFrom::packages}.engines(survey->tree);
  const auto findings = prepare::diagnose_host(survey->tree, survey->inventories, engines, {});
  fuzz::require(cdi::detail::is_utf8(tools::json_text(prepare::shown(findings))),
                "findings are JSON");
  return 0;
}
