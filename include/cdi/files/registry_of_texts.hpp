// `registry_of_texts`: a registry of specs that are texts in memory.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_FILES_REGISTRY_OF_TEXTS_HPP
#define CDI_FILES_REGISTRY_OF_TEXTS_HPP

#include <string>
#include <vector>

#include <cdi/files/read_options.hpp>
#include <cdi/registry/registry.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

/// The text of a spec that is not in a file.
struct SpecText {
  std::string
      name{};  ///< in messages, in place of a path; if it ends in .json, YAML gets a warning
  std::string text{};  ///< JSON or YAML
  int priority = 0;    ///< like that of a spec directory: the higher wins
};

/// A registry of specs in memory, for programs that make specs, or get them from elsewhere. Its
/// devices, conflicts, errors and reasons are those of files with these names and texts. Of
/// `options`, only those have an effect that `parse_spec` names. A spec that is not a text, but a
/// `Spec`, goes into a `LoadedSpec` for the constructor of `Registry`, after `validate`.
///
/// Never fails: `Registry::errors` has the errors of all texts. Costs one pass over each text.
Registry registry_of_texts(std::vector<SpecText> texts, const ReadOptions& options = {});

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/files/registry_of_texts.inl>
#endif

#endif  // CDI_FILES_REGISTRY_OF_TEXTS_HPP
