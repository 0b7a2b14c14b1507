// Reads vendor files, and checks what they say.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "vendor_reader.hpp"

#include <cstddef>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/name.hpp>
#include <cdi/spec.hpp>
#include <cdi/text/document.hpp>
#include <cdi/validate.hpp>

#include "../../kit/base/text.hpp"
#include "../../kit/base/toml.hpp"
#include "../host/path_glob.hpp"
#include "placeholders.hpp"

namespace prepare {

namespace {

/// Checks a vendor file, and keeps the first error in its text.
class VendorChecks {
 public:
  explicit VendorChecks(const cdi::Document& document) : document_{document} {}

  const std::optional<cdi::Error>& error() const { return error_; }

  void check(const VendorFile& file) {
    check_texts(document_.root(), {});
    if (!cdi::parse_kind(file.kind)) {
      fail("kind", cdi::quoted(file.kind) + " is not a kind", "give one such as vendor.com/npu");
    }
    each("devices", file.devices, &VendorChecks::check_glob);
    check_template("name", file.name);
    if (file.name.is_constant()) {
      fail("name", "all devices would have the same name", std::string{Template::advice});
    }
    each("aliases", file.aliases, &VendorChecks::check_template);
    check_template("model", file.model);
    if (file.module.find('/') != std::string::npos || file.module.starts_with('.')) {
      fail("module", "this is not the name of a kernel module", "use a name that lsmod lists");
    }
    each("nodes", file.nodes, &VendorChecks::check_nodes);
    each("siblings", file.siblings, &VendorChecks::check_glob);
    each("shared", file.shared, &VendorChecks::check_shared);
    each("mounts", file.mounts, &VendorChecks::check_mount);
    each("env", file.env, &VendorChecks::check_variable);
    each("hooks", file.hooks, &VendorChecks::check_hook);
    for (const auto& [attribute, values] : file.match) {
      const auto where = "match." + attribute;
      check_attribute(where, attribute);
      each(where, values, &VendorChecks::check_pattern);
    }
    for (const auto& [name, text] : file.attributes) check_template("attributes." + name, text);
    each("health", file.health, &VendorChecks::check_health);
  }

 private:
  /// Remembers an error, unless there is one before it in the text.
  void fail(std::string_view where, std::string message, std::string advice = {}) {
    auto error = tools::member_error(document_, where, std::move(message), std::move(advice));
    const auto place = [](const cdi::Error& one) {
      return std::tuple{one.position.line, one.position.column};
    };
    if (!error_ || place(error) < place(*error_)) error_ = std::move(error);
  }

  void fail(std::string_view where, const cdi::Error& why) { fail(where, why.message, why.advice); }

  template <class T>
  void each(const std::string& where, const std::vector<T>& items,
            void (VendorChecks::*check_one)(const std::string&, const T&)) {
    for (std::size_t i = 0; i < items.size(); ++i) {
      (this->*check_one)(fmt::format("{}[{}]", where, i), items[i]);
    }
  }

  /// Checks the length of all lists and texts, and that these are printable.
  void check_texts(const cdi::Document::Value& value, const std::string& where) {
    constexpr std::size_t longest_text = 1024;
    constexpr std::size_t most_items = 64;
    if (value.size() > most_items) fail(where, fmt::format("has more than {} entries", most_items));
    if (value.text().size() > longest_text || !tools::is_plain(value.text())) {
      fail(where, fmt::format("must be at most {} letters of printable ASCII", longest_text));
    }
    std::size_t number = 0;
    for (const auto item : value.items()) check_texts(item, fmt::format("{}[{}]", where, number++));
    for (const auto [key, member] : value.members()) {
      const auto name = cdi::detail::inner_path(where, key.text());
      if (!tools::is_plain(key.text())) fail(name, "its name is not printable ASCII");
      check_texts(member, name);
    }
  }

  void check_template(const std::string& where, const Template& text) {
    if (text.fault()) fail(where, *text.fault());
  }

  void check_glob(const std::string& where, const PathGlob& glob) {
    if (!glob.text().starts_with("/dev/")) {
      fail(where, "device nodes are in /dev", "begin with /dev/");
    } else if (glob.fault()) {
      fail(where, *glob.fault());
    }
  }

  /// Checks an edit by the rules for specs.
  template <typename Edit>
  void check_edit(const std::string& where, const Edit& edit) {
    if (const auto good = cdi::validate(edit); !good) fail(where, good.error());
  }

  void check_nodes(const std::string& where, const VendorNodes& nodes) {
    check_template(where, nodes.paths);
    check_glob(where, PathGlob{nodes.paths.filled("0")});
  }

  void check_shared(const std::string& where, const VendorNodes& nodes) {
    check_nodes(where, nodes);
    if (nodes.paths.is_constant()) return;
    fail(where, nodes.paths.text() + " has a placeholder, and belongs in `nodes`");
  }

  void check_mount(const std::string& where, const VendorMount& mount) {
    check_template(where, mount.host);
    check_template(where, mount.container);
    const cdi::Mount filled{.host_path = mount.host.filled("0"),
                            .container_path = mount.target().filled("0"),
                            .options = mount.options};
    for (const auto& path : {filled.host_path, filled.container_path}) {
      if (path.starts_with('/') && cdi::clean_path(path) == path) continue;
      return fail(where, cdi::quoted(path) + " is not an absolute path without . and ..");
    }
    check_edit(where, filled);
  }

  void check_variable(const std::string& where, const Template& text) {
    check_template(where, text);
    const auto equals = text.text().find('=');
    if (equals == 0 || equals == std::string::npos) fail(where, "is not NAME=VALUE");
  }

  void check_hook(const std::string& where, const VendorHook& hook) {
    each(where + ".args", hook.args, &VendorChecks::check_template);
    each(where + ".env", hook.env, &VendorChecks::check_template);
    constexpr std::int64_t hour = 3600;
    if (hook.timeout && (*hook.timeout <= 0 || *hook.timeout > hour)) {
      fail(where + ".timeout", "must be a number of seconds from 1 to 3600");
    }
    cdi::Hook filled{.hook_name = hook.name, .path = hook.path, .timeout = hook.timeout};
    for (const auto& argument : hook.args) filled.args.push_back(argument.filled("0"));
    for (const auto& variable : hook.env) filled.env.push_back(variable.filled("0"));
    check_edit(where, filled);
  }

  void check_attribute(const std::string& where, std::string_view path) {
    if (is_attribute_path(path)) return;
    fail(where, cdi::quoted(path) + " is not the path of an attribute",
         "give it relative to the node's directory in sysfs, such as device/vendor");
  }

  void check_pattern(const std::string& where, const std::string& text) {
    const auto glob = tools::Glob::parse(text, tools::Glob::Index::yes);
    if (!glob) fail(where, glob.error());
  }

  void check_health(const std::string& where, const VendorHealth& health) {
    check_attribute(where + ".attribute", health.attribute);
    each(where + ".good", health.good, &VendorChecks::check_pattern);
    each(where + ".bad", health.bad, &VendorChecks::check_pattern);
    if (health.good.empty() != health.bad.empty()) return;
    fail(where, "needs either good, the values of a healthy device, or bad");
  }

  const cdi::Document& document_;
  std::optional<cdi::Error> error_{};
};

}  // namespace

cdi::Result<VendorFile> parse_vendor_file(std::string_view text, const std::string& path) {
  VendorFile file{.path = path};
  const auto document = tools::read_toml(text, path, file);
  if (!document) return document.error();
  VendorChecks checks{*document};
  checks.check(file);
  if (checks.error()) return *checks.error();
  return file;
}

}  // namespace prepare
