// `LoadedSpec`: a spec with its path, priority, warnings and lines.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_REGISTRY_LOADED_SPEC_HPP
#define CDI_REGISTRY_LOADED_SPEC_HPP

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

/// A device that was left out of its spec because its own definition is not valid.
struct QuarantinedDevice {
  std::string name{};  ///< as the file has it; empty when it has none
  Error why{};         ///< with its place in the file, `where` seen from the spec
};

/// A valid spec, and where it comes from.
struct LoadedSpec {
  Spec spec{};                    ///< valid, without the devices in `quarantined`
  std::string path{};             ///< of its file, or the name given to its text
  int priority = 0;               ///< of its directory; the higher wins
  std::vector<Error> warnings{};  ///< what is doubtful about the file; `rule` says which rule
  /// Of the devices, each where it begins, from 1; empty when it was not read from a text.
  std::vector<std::uint32_t> lines{};
  std::string digest{};  ///< of the bytes that were parsed: see `ReadOptions::digest`
  /// What was left out: see `ReadOptions::quarantine_devices`.
  std::vector<QuarantinedDevice> quarantined{};
  /// What is wrong with the file now, when `spec` is what it held before; null when nothing is.
  std::shared_ptr<const Error> fault{};
};

/// A spec file that gives no devices, or a directory that cannot be listed.
struct RejectedFile {
  Error why{};                         ///< with the path in `position.file`
  std::string kind{};                  ///< of its devices, as far as that can be told; else empty
  std::vector<std::string> devices{};  ///< their names, likewise; empty when more than 1000
  std::string needs_version{};         ///< the CDI release that it needs, when that is the fault
};

}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_REGISTRY_LOADED_SPEC_HPP
