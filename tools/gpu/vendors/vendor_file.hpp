// What a vendor file says about the devices of one kind.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_GPU_VENDORS_VENDOR_FILE_HPP
#define CDI_TOOLS_GPU_VENDORS_VENDOR_FILE_HPP

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <cdi/spec.hpp>

#include "../host/path_glob.hpp"
#include "placeholders.hpp"

namespace prepare {

/// Nodes that belong to a device, or to all devices.
struct VendorNodes {
  Template paths{};          // with wildcards, if they are not in an attribute's value
  bool is_optional = false;  // otherwise a path without wildcards must exist
};

/// A file or directory of the host that containers get.
struct VendorMount {
  Template host{};
  Template container{};
  std::vector<std::string> options{};
  bool is_optional = false;  // otherwise it must exist
};

/// A hook, with placeholders in its arguments and environment.
struct VendorHook {
  cdi::Hook hook{};  // without them
  std::vector<Template> args{};
  std::vector<Template> env{};

  /// Whether the hook is the same for all devices.
  bool is_constant() const;
};

/// The values of an attribute, as patterns.
struct VendorCondition {
  std::string attribute{};
  std::vector<std::string> values{};
  bool is_met_by_others = false;  // the values are forbidden
  bool is_optional = false;       // also met without the attribute
};

/// A vendor file. Its members have the same names in TOML, see docs/vendor-files.md.
struct VendorFile {
  std::string path{};       // on the host if `is_default` or from a journal, otherwise here
  bool is_default = false;  // found without an option

  std::string kind{};
  std::vector<PathGlob> devices{};
  Template name{};
  std::vector<Template> aliases{};
  Template model{};
  std::string module{};  // of the kernel; empty if unknown
  std::vector<VendorNodes> nodes{};
  std::vector<PathGlob> siblings{};
  std::vector<VendorNodes> shared{};
  std::vector<VendorMount> mounts{};
  std::vector<Template> env{};
  std::vector<VendorHook> hooks{};
  std::vector<VendorCondition> match{};
  std::map<std::string, Template> attributes{};
  std::vector<VendorCondition> health{};
};

inline bool VendorHook::is_constant() const {
  const auto constant = [](const Template& text) {
    return text.is_constant();
  };
  return std::all_of(args.begin(), args.end(), constant) &&
         std::all_of(env.begin(), env.end(), constant);
}

}  // namespace prepare

#endif  // CDI_TOOLS_GPU_VENDORS_VENDOR_FILE_HPP
