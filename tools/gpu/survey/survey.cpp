// A survey: the state of a host at one time, and its GPUs.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "survey.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "../../kit/base/text.hpp"
#include "../host/open_host.hpp"
#include "../model/fault.hpp"
#include "../model/selection.hpp"
#include "../model/visible.hpp"
#include "../vendor_files/vendor_files.hpp"
#include "../vendors/detect.hpp"
#include "../vendors/driver_place.hpp"
#include "../vendors/nvidia_on_request.hpp"

namespace prepare {

namespace {

/// Adds the devices of vendor files, with nodes in the host's /dev.
cdi::Result<void> add_vendor_devices(const SurveyOptions& options, Survey& survey) {
  auto read = read_vendor_files(survey.tree, options);
  if (!read) return read.error();
  for (const auto& file : read->files) {
    survey.vendor_kinds.push_back(file.kind);
    VendorSearch search{survey.tree, file};
    auto found = search.run();
    if (found.gpus.empty()) {
      survey.absent.push_back({file.kind, search.why_none(), !file.is_default});
    } else {
      survey.inventories.push_back(std::move(found));
    }
  }
  survey.complete = survey.complete && read->faults.empty();
  survey.faults = std::move(read->faults);
  return {};
}

/// The kinds that detection can find on any host.
std::vector<std::string_view> known_kinds(const Survey& survey) {
  std::vector<std::string_view> kinds{std::begin(own_kinds), std::end(own_kinds)};
  for (const auto& one : on_request::kinds) kinds.push_back(one.name);
  kinds.insert(kinds.end(), survey.vendor_kinds.begin(), survey.vendor_kinds.end());
  return kinds;
}

/// Finds the GPUs of all kinds. `nvidia` is the tree of the survey with the dev root of NVIDIA's
/// driver.
cdi::Result<void> find_gpus(const tools::HostTree& nvidia, const SurveyOptions& options,
                            NvmlMemory& memory, Survey& survey) {
  if (auto found = on_request::detect(nvidia, options.kind)) {
    if (found->gpus.empty()) {
      survey.absent.push_back({options.kind, on_request::why_none(*found), true});
    } else {
      survey.inventories.push_back(std::move(*found));
    }
    return {};
  }
  auto bus = read_pci_bus(survey.tree);
  survey.inventories = detect(survey.tree, nvidia, bus);
  survey.complete = bus.is_complete();
  survey.unreadable = std::move(bus.unreadable);
  if (auto added = add_vendor_devices(options, survey); !added) return added;
  if (options.nvml) ask_nvml(survey.inventories, options, memory);
  if (options.visible_only) survey.hidden = keep_visible(survey.tree, survey.inventories);
  return {};
}

/// Keeps the GPUs and the kind that the options select, and adds the files of their drivers.
cdi::Result<void> complete_inventories(const DriverPlace& place, const SurveyOptions& options,
                                       Survey& survey) {
  auto& inventories = survey.inventories;
  if (!options.devices.empty()) {
    Selection selected{options.devices};
    selected.keep_named(inventories);
    survey.not_found = selected.not_found();
  }
  for (const auto& [kind, names] : options.devices_of) detail::keep_named(kind, names, survey);
  for (auto& found : inventories) add_driver_files(survey.tree, place, found);
  if (options.kind.empty()) return {};
  return settle_kind(options.kind, known_kinds(survey), inventories);
}

}  // namespace

std::string_view Survey::noun() const {
  for (const auto& found : inventories) {
    for (const auto& gpu : found.gpus) {
      if (gpu.noun != "GPU") return gpu.noun;
    }
  }
  return absent.empty() ? "GPU" : "device";
}

std::size_t Survey::sum(std::size_t (Inventory::*count)() const) const {
  std::size_t out = 0;
  for (const auto& found : inventories) out += (found.*count)();
  return out;
}

std::optional<cdi::Error> nvml_fault(const SurveyOptions& options) {
  if (!options.nvml || !options.nvml_library.empty() || options.root == "/") return std::nullopt;
  return cdi::Error{.code = cdi::Errc::unsupported,
                    .message = fmt::format("--nvml: the library would report on this host, not on "
                                           "the one under --root {}",
                                           options.root),
                    .advice = "leave out --nvml, or run this on that host without --root"};
}

void ask_nvml(std::vector<Inventory>& inventories, const SurveyOptions& options,
              NvmlMemory& memory) {
  const auto found =
      std::find_if(inventories.begin(), inventories.end(), [](const Inventory& inventory) {
        return inventory.kind == "nvidia.com/gpu" && !inventory.driver_version.empty();
      });
  if (found == inventories.end()) return;
  if (options.nvml_library.empty() && options.root != "/") {  // kept from a spec
    found->warnings.push_back(
        {Fault::nvml_of_other_host,
         "NVML was not called: it would report on this host, not on the tree under the root"});
    return;
  }
  NvmlOptions asked;
  if (!options.nvml_library.empty()) asked.library = options.nvml_library;
  if (!memory.has_hung) {
    auto answer = prepare::ask_nvml(asked);
    memory.has_hung = !answer && answer.error().code == cdi::Errc::timeout;
    memory.fault = answer ? std::string{} : cdi::to_string(answer.error());
    if (answer) memory.gpus = std::move(*answer);
  }
  if (!memory.fault.empty()) found->warnings.push_back({Fault::nvml_failed, memory.fault});
  add_nvml(*found, memory.gpus);
}

std::optional<std::string> unreadable_functions(const Survey& survey) {
  if (survey.unreadable.empty()) return std::nullopt;
  return fmt::format(
      "cannot read class, vendor and device of PCI function {}, which may be a GPU: the indexes "
      "of the GPUs after it are unknown",
      tools::listed(survey.unreadable, 1));
}

cdi::Result<Survey> survey_host(const SurveyOptions& options, NvmlMemory& memory) {
  auto tree = open_host(options);
  if (!tree) return std::move(tree).error();
  Survey survey{.tree = std::move(*tree), .place = place_arguments(options)};
  const auto place = open_driver_place(survey.tree, options);
  if (!place) return place.error();
  auto dev_root = dev_root_of(survey.tree, options);
  if (!dev_root) return std::move(dev_root).error();
  std::optional<tools::HostTree> other_dev;
  if (!dev_root->empty()) {
    auto opened = open_host(options);
    if (!opened) return std::move(opened).error();
    other_dev.emplace(std::move(*opened));
    other_dev->set_dev_root(std::move(*dev_root));
  }
  auto searched = find_gpus(other_dev ? *other_dev : survey.tree, options, memory, survey);
  if (!searched) return std::move(searched).error();
  if (auto done = complete_inventories(*place, options, survey); !done) {
    return std::move(done).error();
  }
  return survey;
}

cdi::Result<Survey> survey_host(const SurveyOptions& options) {
  NvmlMemory memory;
  return survey_host(options, memory);
}

bool has_passing_fault(const Gpu& gpu) {
  const auto shares = gpu.shares();
  return std::any_of(shares.begin(), shares.end(), [](const Share& share) {
    return share.left_out && !share.left_out->is_lasting();
  });
}

bool is_between_states(const Survey& survey) {
  const auto& kinds = survey.inventories;
  return std::any_of(kinds.begin(), kinds.end(), [&](const Inventory& found) {
    return found.not_ready || std::any_of(found.gpus.begin(), found.gpus.end(), &has_passing_fault);
  });
}

}  // namespace prepare

namespace prepare::detail {

void keep_named(const std::string& kind, const std::vector<std::string>& names, Survey& survey) {
  auto& all = survey.inventories;
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Inventory& one) { return one.kind == kind; });
  if (found == all.end()) return;
  std::vector<Inventory> own;
  own.push_back(std::move(*found));
  Selection selected{names};
  selected.keep_named(own);
  for (auto& name : selected.not_found()) survey.not_found.push_back(std::move(name));
  if (own.empty()) {
    all.erase(found);
  } else {
    *found = std::move(own.front());
  }
}

}  // namespace prepare::detail
