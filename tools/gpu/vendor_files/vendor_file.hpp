// The content of a vendor file: the devices of one kind.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <cdi/model/fields.hpp>

#include "../../kit/base/glob.hpp"
#include "../host/path_glob.hpp"
#include "placeholders.hpp"

namespace prepare {

/// Nodes that belong to a device, or to all devices.
struct VendorNodes {
  Template paths{};          // with wildcards, if they are not in an attribute's value
  bool is_optional = false;  // otherwise a path without wildcards must exist

  static constexpr void fields(auto& list) {
    list("path", &VendorNodes::paths, cdi::required);
    list("optional", &VendorNodes::is_optional);
  }
};

/// A file or directory of the host that containers get.
struct VendorMount {
  Template host{};
  Template container{};  // the same if it is empty
  std::vector<std::string> options{"ro", "nosuid", "nodev", "rbind", "rprivate"};
  bool is_optional = false;  // otherwise it must exist

  static constexpr void fields(auto& list) {
    list("host", &VendorMount::host, cdi::required);
    list("container", &VendorMount::container);
    list("options", &VendorMount::options);
    list("optional", &VendorMount::is_optional);
  }

  const Template& target() const { return container.empty() ? host : container; }
};

/// A hook, with placeholders in its arguments and environment.
struct VendorHook {
  std::string name{};
  std::string path{};
  std::vector<Template> args{};
  std::vector<Template> env{};
  std::optional<std::int64_t> timeout{};  // seconds

  static constexpr void fields(auto& list) {
    list("name", &VendorHook::name, cdi::required);
    list("path", &VendorHook::path, cdi::required);
    list("args", &VendorHook::args);
    list("env", &VendorHook::env);
    list("timeout", &VendorHook::timeout);
  }

  /// Whether the hook is the same for all devices.
  bool is_constant() const {
    const auto constant = [](const Template& text) {
      return text.is_constant();
    };
    return std::all_of(args.begin(), args.end(), constant) &&
           std::all_of(env.begin(), env.end(), constant);
  }
};

/// The values of an attribute of a healthy device, as patterns, or those of others.
struct VendorHealth {
  std::string attribute{};
  std::vector<std::string> good{};
  std::vector<std::string> bad{};
  bool is_optional = false;  // a device without the attribute is healthy, too

  static constexpr void fields(auto& list) {
    list("attribute", &VendorHealth::attribute, cdi::required);
    list("good", &VendorHealth::good);
    list("bad", &VendorHealth::bad);
    list("optional", &VendorHealth::is_optional);
  }
};

/// A vendor file, see docs/vendor-files.md.
struct VendorFile {
  std::string path{};       // on the host if `is_default` or from a journal, otherwise here
  bool is_default = false;  // found without an option

  std::string kind{};
  std::vector<PathGlob> devices{};
  Template name{tools::Glob::index};
  std::vector<Template> aliases{};
  Template model{};
  std::string module{};  // of the kernel; empty if unknown
  std::vector<VendorNodes> nodes{};
  std::vector<PathGlob> siblings{};
  std::vector<VendorNodes> shared{};
  std::vector<VendorMount> mounts{};
  std::vector<Template> env{};
  std::vector<VendorHook> hooks{};
  std::map<std::string, std::vector<std::string>> match{};  // patterns of values, by attribute
  std::map<std::string, Template> attributes{};
  std::vector<VendorHealth> health{};

  static constexpr void fields(auto& list) {
    list("kind", &VendorFile::kind, cdi::required);
    list("devices", &VendorFile::devices, cdi::required);
    list("name", &VendorFile::name);
    list("aliases", &VendorFile::aliases);
    list("model", &VendorFile::model);
    list("module", &VendorFile::module);
    list("nodes", &VendorFile::nodes);
    list("siblings", &VendorFile::siblings);
    list("shared", &VendorFile::shared);
    list("mounts", &VendorFile::mounts);
    list("env", &VendorFile::env);
    list("hooks", &VendorFile::hooks);
    list("match", &VendorFile::match);
    list("attributes", &VendorFile::attributes);
    list("health", &VendorFile::health);
  }
};

}  // namespace prepare
