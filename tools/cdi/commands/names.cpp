// `cdi names`: the qualified names of the GPUs that an environment variable selects.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "../../kit/base/text.hpp"
#include "../../kit/names/visible_list.hpp"
#include "../../kit/names/visible_names.hpp"
#include "../base/exit_codes.hpp"
#include "../base/options.hpp"
#include "../base/output.hpp"
#include "../base/reports.hpp"
#include "../results/devices.hpp"
#include "commands.hpp"

namespace {

using tools::Dialect;

using tools::match_visible;

using tools::read_visible;

using tools::VisibleEntry;

using tools::VisibleList;

using tools::VisibleText;

/// The options of `names`.
struct NamesOptions {
  std::string from{};
  std::string kind{};  // empty: the vendor's
  std::optional<std::string> value{};
  bool nul = false;
};

std::optional<std::string> variable(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? std::nullopt : std::optional<std::string>{text};
}

/// The variable that a command line selects, and its text; without a text, `why` says what to do.
struct SelectedVariable {
  std::string name{};
  std::optional<VisibleText> given{};
  cdi::Error why{};
};

/// Slurm's variable of the step, or of the job. In a job without GPUs, the text is empty.
SelectedVariable slurm_variable() {
  for (const char* const name : {"SLURM_STEP_GPUS", "SLURM_JOB_GPUS"}) {
    if (auto text = variable(name)) return {name, VisibleText{Dialect::slurm, name, *text}, {}};
  }
  const auto count = variable("SLURM_GPUS_ON_NODE").value_or("0");
  SelectedVariable out{.name = "SLURM_STEP_GPUS"};
  if (variable("SLURM_JOB_ID") && count == "0") {
    out.given = VisibleText{Dialect::slurm, out.name, ""};
    return out;
  }
  out.why.message = "neither SLURM_STEP_GPUS nor SLURM_JOB_GPUS is set";
  if (count != "0") {
    out.why.message += fmt::format(", but SLURM_GPUS_ON_NODE is {}", cdi::quoted(count));
    out.why.advice = "name the device files of the GPUs in gres.conf";
  } else {
    out.why.advice = "run this in the environment of a Slurm job, or give --value TEXT";
  }
  return out;
}

/// The variable of a runtime. An empty HIP_VISIBLE_DEVICES means all GPUs, as if it were not set.
SelectedVariable runtime_variable(Dialect dialect) {
  const char* const name = dialect == Dialect::cuda   ? "CUDA_VISIBLE_DEVICES"
                           : dialect == Dialect::rocr ? "ROCR_VISIBLE_DEVICES"
                                                      : "HIP_VISIBLE_DEVICES";
  SelectedVariable out{.name = name};
  if (auto text = variable(name)) out.given = VisibleText{dialect, name, *text};
  out.why.message = fmt::format("{} is not set, which means all GPUs", name);
  out.why.advice = "set it, give --value TEXT, or inject the device \"all\"";
  return out;
}

Dialect dialect_named(std::string_view name) {
  if (name == "cuda") return Dialect::cuda;
  if (name == "hip") return Dialect::hip;
  return name == "rocr" ? Dialect::rocr : Dialect::slurm;
}

SelectedVariable select_variable(const NamesOptions& options) {
  const auto dialect = dialect_named(options.from);
  auto out = dialect == Dialect::slurm ? slurm_variable() : runtime_variable(dialect);
  if (options.value) out.given = VisibleText{dialect, "--value", *options.value};
  if (dialect == Dialect::hip && out.given && out.given->text.empty()) {
    out.given.reset();
    out.why.message = "HIP_VISIBLE_DEVICES is empty, which HIP takes for all GPUs";
    out.why.advice = "write indices, -1 for no GPU, or inject the device \"all\"";
  }
  return out;
}

/// The indices of some entries; nothing if one is not an index.
std::optional<std::vector<std::string>> indices_of(const VisibleList& list) {
  std::vector<std::string> out;
  for (const auto& entry : list.entries) {
    if (!entry.uuid.empty()) return std::nullopt;
    out.push_back(entry.device);
  }
  return out;
}

/// Why the indices of a variable may differ from the host's.
std::optional<cdi::Error> relative_indices(const VisibleText& given, const VisibleList& list) {
  const auto own = indices_of(list);
  if (given.dialect == Dialect::slurm || given.source == "--value" || !own || own->empty()) {
    return std::nullopt;
  }
  if (given.dialect == Dialect::hip && variable("ROCR_VISIBLE_DEVICES")) {
    return cdi::Error{.message =
                          "HIP_VISIBLE_DEVICES counts in the list of ROCR_VISIBLE_DEVICES, "
                          "which is set, too",
                      .advice = "use --from rocr"};
  }
  const auto slurm = slurm_variable();
  if (!slurm.given || slurm.given->text.empty()) return std::nullopt;
  const auto of_job = read_visible(*slurm.given);
  if (of_job && indices_of(*of_job) == own) return std::nullopt;
  return cdi::Error{
      .message = fmt::format("{} and {} differ: in a Slurm job with ConstrainDevices, {} counts "
                             "from 0 within the job",
                             given.source, slurm.name, given.source),
      .advice = "use --from slurm, or --value TEXT with the indices of the host"};
}

/// The kind of an option, of the vendor, or the only one of class `gpu`.
cdi::Result<std::string> kind_for(const NamesOptions& options, const cdi::Registry& registry) {
  if (!options.kind.empty()) return options.kind;
  if (options.from == "cuda") return std::string{"nvidia.com/gpu"};
  if (options.from != "slurm") return std::string{"amd.com/gpu"};
  std::vector<std::string> kinds;
  for (const auto& name : registry.devices()) {
    const auto kind = name.substr(0, name.find('='));
    if (kind.ends_with("/gpu") && (kinds.empty() || kinds.back() != kind)) kinds.push_back(kind);
  }
  if (kinds.size() == 1) return kinds.front();
  if (kinds.empty()) {
    return cdi::Error{
        .message = "no spec has a device of a kind such as vendor.com/gpu",
        .advice = "write specs, for example with `cdi-prepare write`, or give --kind"};
  }
  return cdi::Error{.message = "the devices have several kinds of GPUs: " + tools::listed(kinds),
                    .advice = "select one with --kind"};
}

/// Finds the devices of entries, and collects faults.
class NamesSearch {
 public:
  NamesSearch(const VisibleText& given, const std::string& kind, const cdi::Registry& registry)
      : given_{given}, kind_{kind}, registry_{registry} {
    const auto prefix = kind + "=";
    for (const auto& name : registry.devices()) {
      if (name.starts_with(prefix)) devices_.push_back(name.substr(prefix.size()));
    }
  }

  /// Adds the names of the entries, up to the point where the runtime ends the list.
  void add(const std::vector<VisibleEntry>& entries) {
    for (const auto& entry : entries) {
      if (!add(entry)) return;
    }
  }

  /// Prints the faults. False if there is an error.
  bool report(const Output& output) const {
    for (const auto& warning : warnings_) output.warning(warning);
    for (const auto& one : unresolved_) report_unresolved(one, output);
    for (const auto& error : errors_) output.error(error);
    return unresolved_.empty() && errors_.empty();
  }

  const std::vector<std::string>& names() const { return names_; }

 private:
  /// Adds the name of an entry. False if the list ends.
  bool add(const VisibleEntry& entry) {
    const auto match = match_visible(entry, devices_);
    if (match.devices.size() == 1) return add_name(entry, match.devices.front());
    if (match.devices.size() > 1) {
      return end(entry, "is the beginning of " + tools::listed(match.devices),
                 "write more of the UUID");
    }
    if (!match.parts.empty()) return add_divided(entry, match.parts);
    return add_missing(entry, match.manner_known);
  }

  bool add_name(const VisibleEntry& entry, const std::string& device) {
    auto name = cdi::qualified_name(kind_, device);
    if (std::find(names_.begin(), names_.end(), name) == names_.end()) {
      names_.push_back(std::move(name));
      return true;
    }
    VisibleList list;
    const bool goes_on = tools::detail::keep_repeated(given_, entry, list);
    if (given_.dialect == Dialect::cuda) names_.clear();
    warnings_.insert(warnings_.end(), list.warnings.begin(), list.warnings.end());
    return goes_on;
  }

  bool add_divided(const VisibleEntry& entry, const std::vector<std::string>& parts) {
    auto error = fault(entry, "is a GPU that is divided into parts",
                       "name a part, by its MIG-UUID if there is one");
    error.message += fmt::format(", such as {}", cdi::qualified_name(kind_, parts.front()));
    errors_.push_back(std::move(error));
    return true;
  }

  /// An entry without a device. If specs of this kind name other GPUs in the same manner, the GPU
  /// does not exist for the runtime, either.
  bool add_missing(const VisibleEntry& entry, bool manner_known) {
    const std::string names[] = {cdi::qualified_name(kind_, entry.device)};
    auto missing = registry_.unresolved(names);
    const auto reason = missing.front().reason;
    const bool is_unknown = reason == cdi::Reason::unknown_device;
    if (is_unknown && manner_known && given_.dialect != Dialect::slurm) {
      return end(entry, "is not a device of " + kind_, "remove it, or write its spec again");
    }
    unresolved_.push_back(std::move(missing.front()));
    if (!is_unknown || manner_known) return true;
    const bool by_uuid = !entry.uuid.empty();
    errors_.push_back(fault(
        entry,
        fmt::format("has no device, because no name of {} is {}", kind_,
                    by_uuid ? "a UUID like it" : "an index"),
        fmt::format("write specs that have such names, with `cdi-prepare write{}` or `nvidia-ctk "
                    "cdi generate --device-name-strategy={}`",
                    entry.uuid.starts_with("mig-") ? " --nvml" : "", by_uuid ? "uuid" : "index")));
    return true;
  }

  cdi::Error fault(const VisibleEntry& entry, std::string_view what, std::string advice) const {
    return given_.fault(entry.place, entry.text, what, std::move(advice));
  }

  bool end(const VisibleEntry& entry, std::string_view what, std::string advice) {
    warnings_.push_back(given_.cut(entry.place, entry.text, what, std::move(advice)));
    return false;
  }

  const VisibleText& given_;
  const std::string& kind_;
  const cdi::Registry& registry_;
  std::vector<std::string> devices_{};  // names without the kind
  std::vector<std::string> names_{};
  std::vector<cdi::Error> warnings_{};
  std::vector<cdi::Unresolved> unresolved_{};
  std::vector<cdi::Error> errors_{};
};

ExitCode print_visible(const std::string& variable, const std::vector<std::string>& names, bool nul,
                       const Output& output) {
  std::string text;
  for (const auto& name : names) text.append(name).append(1, nul ? '\0' : '\n');
  const NamesResult record{.variable = variable, .names = names};
  return output.result(text, record) ? exit_done : exit_failed;
}

/// Prints the names of the GPUs that a variable selects.
ExitCode list_visible(const CommonOptions& common, const NamesOptions& options,
                      const Output& output) {
  const auto selected = select_variable(options);
  if (!selected.given) return output.reject(selected.why);
  const auto& given = *selected.given;
  const auto list = read_visible(given);
  if (!list) return output.reject(list.error());
  for (const auto& warning : list->warnings) output.warning(warning);
  if (list->entries.empty()) return print_visible(selected.name, {}, options.nul, output);
  if (const auto error = relative_indices(given, *list)) return output.reject(*error);
  const auto registry = scan_and_warn(common, output);
  const auto kind = kind_for(options, *registry);
  if (!kind) return output.reject(kind.error());
  NamesSearch search{given, *kind, *registry};
  search.add(list->entries);
  if (!search.report(output)) return exit_failed;
  return print_visible(selected.name, search.names(), options.nul, output);
}

std::string kind_fault(const std::string& kind) {
  return cdi::parse_kind(kind) ? std::string{} : to_string(cdi::kind_error(kind));
}

Run set_up_names(CLI::App& app, CommonOptions& /*common*/) {
  auto options = std::make_shared<NamesOptions>();
  app.add_option("--from", options->from,
                 "The variable: CUDA_VISIBLE_DEVICES, HIP_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES, "
                 "or SLURM_STEP_GPUS and else SLURM_JOB_GPUS")
      ->type_name("VARIABLE")
      ->required()
      ->check(CLI::IsMember({"cuda", "hip", "rocr", "slurm"}));
  app.add_option("--kind", options->kind,
                 "The kind of the devices (default: nvidia.com/gpu or amd.com/gpu; for slurm, the "
                 "only kind of class gpu)")
      ->type_name("KIND")
      ->check(kind_fault);
  app.add_option("--value", options->value, "Read TEXT instead of the variable")->type_name("TEXT");
  app.add_flag("-0", options->nul, "End each name with NUL instead of a line end");
  return [options](const CommonOptions& common, const Output& output) {
    return list_visible(common, *options, output);
  };
}

}  // namespace

constexpr Command names_command{
    "names", "List the names of the GPUs that an environment variable selects", set_up_names,
    "cdi names --from cuda --kind vendor.com/gpu --value 0,1"};
