// Makes the specs for a survey, and lists the omitted devices.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "prepared_spec.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "../host/directories.hpp"
#include "../vendors/nvidia_hooks.hpp"
#include "fingerprint.hpp"
#include "kept_options.hpp"
#include "lost_libraries.hpp"
#include "old_numbers.hpp"

namespace prepare {

namespace {

/// The spec for the usable devices of a kind, verified on the host. An error if there are none.
cdi::Result<PreparedSpec> prepare_spec(const tools::HostTree& tree, const Inventory& found,
                                       const SpecOptions& holds, const Options& options) {
  PreparedSpec out{.file_name = file_name(found.kind, options), .spec = gpu_spec(found, holds)};
  auto failed = verify(tree, out.spec);
  if (!failed) return failed.error();
  out.left_out = std::move(*failed);
  out.warnings = node_warnings(found, holds);
  if (has_annotations(options)) {
    add_fingerprint(out.spec, tree, found, options);
  } else {
    out.options_comment = options_text(found, options);
  }
  if (auto settled = settle_version(out, options.max_version); !settled) {
    return std::move(settled).error();
  }
  return out;
}

/// Why an old file of a kind would give containers a wrong device; nullopt if it would not.
std::optional<std::string> old_number_in_file(const std::string& name, const Inventory& found,
                                              const Options& options) {
  const auto directory = open_directory(options, options.output_dir, Missing::stays);
  if (!directory || !directory->descriptor) return std::nullopt;
  const auto old = cdi::read_spec_file(directory->path_of(name));
  return old ? renumbered(old->spec, found) : std::nullopt;
}

/// Adds the files of a kind that stay, in both formats: only a new spec replaces a file. A file
/// with an old number is removed, unless the new spec of a ready kind has its name.
void keep_files(const Inventory& found, bool ready, const Options& options, PreparedSpecs& out) {
  const auto own = file_name(found.kind, options);
  for (const auto& name : {own, name_in_other_format(own)}) {
    const bool is_rewritten = ready && name == own;
    auto old_number = is_rewritten ? std::nullopt : old_number_in_file(name, found, options);
    if (old_number) {
      out.old_numbers.emplace(name, *std::move(old_number));
    } else if (found.usable_count() > 0 || !ready) {
      out.files_that_stay.insert(name);
    }
  }
}

/// The same; an error also if a kept format cannot hold the version of a kind.
cdi::Result<PreparedSpec> prepare_kept_spec(const tools::HostTree& tree, const Inventory& found,
                                            const SpecOptions& holds, const Options& own) {
  if (own.kept.contains(found.kind)) {
    if (auto fault = format_fault(own)) return *std::move(fault);
  }
  return prepare_spec(tree, found, holds, own);
}

}  // namespace

SpecOptions spec_options(const tools::HostTree& tree, const Options& options) {
  SpecOptions out{.profiles = profiles_named(options.profile),
                  .ask_host = options.ask_host(),
                  .library_path = options.ld_library_path,
                  .all_device = !options.no_all};
  if (options.hooks == "nvidia") out.hook_program = nvidia::find_hook_program(tree);
  return out;
}

bool has_annotations(const Options& options) {
  return !options.max_version || *options.max_version >= first_with_annotations;
}

std::optional<cdi::Error> format_fault(const Options& options) {
  if (options.format != "json" || has_annotations(options)) return std::nullopt;
  const auto first = cdi::to_string(first_with_annotations);
  cdi::Error fault{
      .code = cdi::Errc::unsupported,
      .message = fmt::format("a JSON file in CDI {} cannot record its owner",
                             cdi::to_string(*options.max_version)),
      .advice = fmt::format("leave out --format json, or use --max-version {}", first)};
  if (!options.oldest_engine.empty()) {
    fault.advice += fmt::format(", which {} does not read", options.oldest_engine);
  }
  return fault;
}

cdi::Result<void> settle_version(PreparedSpec& prepared,
                                 const std::optional<cdi::SpecVersion>& max_version,
                                 cdi::SpecVersion lowest) {
  auto& spec = prepared.spec;
  const auto minimum = std::max(cdi::minimum_version(spec), lowest);
  spec.version = cdi::to_string(minimum);
  if (!max_version || minimum <= *max_version) return {};
  auto converted = cdi::to_version(spec, *max_version, cdi::Losses::allow);
  if (!converted) return std::move(converted).error();
  spec = std::move(converted->spec);
  prepared.converted = true;
  prepared.losses = std::move(converted->losses);
  return {};
}

std::vector<std::string> node_warnings(const Inventory& found, const SpecOptions& holds) {
  std::vector<std::string> out;
  for (const auto& node : found.control_nodes) {
    if (!is_omitted(node, holds)) continue;
    out.push_back(fmt::format(
        "{} omitted: it does not exist, and runtimes would query the host for its numbers: create "
        "it with nvidia-modprobe, or use --node-numbers given",
        node.path));
  }
  return out;
}

std::vector<LeftOut> left_out(const Inventory& found) {
  std::vector<LeftOut> out;
  for (const auto& gpu : found.gpus) {
    for (const auto& share : gpu.shares()) {
      if (!share.left_out) continue;
      out.push_back({found.kind, gpu.stable_name() + share.suffix, share.left_out->text,
                     share.left_out->node});
    }
  }
  return out;
}

std::map<std::string, std::size_t> grouped(const std::vector<cdi::Loss>& losses) {
  std::map<std::string, std::size_t> out;
  for (const auto& loss : losses) ++out[cdi::to_error(loss).message];
  return out;
}

bool PreparedSpecs::is_converted() const {
  return std::any_of(specs.begin(), specs.end(), [](const auto& one) { return one.converted; });
}

std::string hooks_fault(const Options& options, const SpecOptions& holds) {
  if (options.hooks != "nvidia") return {};
  if (!holds.hook_program) return "no nvidia-cdi-hook is installed: continuing without hooks";
  if (holds.hook_program->has_cuda_compat) return {};
  return holds.hook_program->path +
         " may not support all hooks: only the hooks for links and the library cache are used";
}

PreparedSpecs prepare_specs(const Survey& survey, const Options& options) {
  PreparedSpecs out;
  out.hooks_fault = hooks_fault(options, spec_options(survey.tree, options));
  for (const auto& found : survey.inventories) {
    const auto own = options_for(options, found.kind);
    const auto holds = spec_options(survey.tree, own);
    if (auto fault = hooks_fault(own, holds); !fault.empty()) out.hooks_fault = std::move(fault);
    const auto known = left_out(found);
    out.left_out.insert(out.left_out.end(), known.begin(), known.end());
    const bool ready = !reason_not_ready(found, holds.profiles);
    keep_files(found, ready, own, out);
    if (!ready || found.usable_count() == 0) continue;
    auto prepared = prepare_kept_spec(survey.tree, found, holds, own);
    if (!prepared) {
      out.failed.push_back(std::move(prepared).error());
      continue;
    }
    if (auto lost = lost_libraries(survey.tree, prepared->spec, found, own)) {
      out.failed.push_back(*std::move(lost));
      for (const auto& kind : kinds_of_specs(found)) {
        const auto name = file_name(kind, own);
        out.files_that_stay.insert({name, name_in_other_format(name)});
      }
      continue;
    }
    const auto& failed = prepared->left_out;
    out.left_out.insert(out.left_out.end(), failed.begin(), failed.end());
    out.specs.push_back(std::move(*prepared));
  }
  return out;
}

}  // namespace prepare
