// Reads vendor files.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_GPU_VENDORS_VENDOR_READER_HPP
#define CDI_TOOLS_GPU_VENDORS_VENDOR_READER_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/base/path.hpp>
#include <cdi/name.hpp>
#include <cdi/result.hpp>
#include <cdi/spec.hpp>
#include <cdi/validate.hpp>

#include "../../kit/engines/toml_settings.hpp"
#include "../host/path_glob.hpp"
#include "placeholders.hpp"
#include "toml_reader.hpp"
#include "vendor_file.hpp"

namespace prepare {

/// Reads the members of a vendor file.
class VendorReader {
 public:
  explicit VendorReader(const std::string& path) : toml_{path} { file_.path = path; }

  cdi::Result<VendorFile> read(const toml::table& table) {
    read_all(table);
    for (const std::string_view needed : {"kind", "devices"}) {
      if (table.contains(needed) || toml_.error()) continue;
      toml_.fail(table, std::string{needed}, "is missing",
                 R"(the least is: kind = "vendor.com/npu" and devices = "/dev/npu*")");
    }
    if (toml_.error()) return *toml_.error();
    if (file_.name.empty()) file_.name = *Template::parse(tools::Glob::index);
    return std::move(file_);
  }

 private:
  using Node = TomlReader::Node;
  using Text = TomlReader::Text;
  using Read = TomlReader::Read;

  void read_all(const toml::table& table) {
    toml_.read_table(table, "",
                     {{"kind", member(&VendorReader::read_kind)},
                      {"devices", globs_into(file_.devices)},
                      {"name", member(&VendorReader::read_name)},
                      {"aliases", templates_into(file_.aliases)},
                      {"model", template_into(file_.model)},
                      {"module", member(&VendorReader::read_module)},
                      {"nodes", nodes_into(file_.nodes)},
                      {"siblings", globs_into(file_.siblings)},
                      {"shared", member(&VendorReader::read_shared)},
                      {"mounts", each(&VendorReader::read_mount)},
                      {"env", member(&VendorReader::read_env)},
                      {"hooks", each(&VendorReader::read_hook)},
                      {"match", member(&VendorReader::read_match)},
                      {"attributes", member(&VendorReader::read_attributes)},
                      {"health", each(&VendorReader::read_health)}});
  }

  using Method = void (VendorReader::*)(const Node&, const std::string&);

  Read member(Method method) {
    return [this, method](const Node& node, const std::string& where) {
      (this->*method)(node, where);
    };
  }

  Read each(Method method) {
    return [this, method](const Node& node, const std::string& where) {
      toml_.for_each(node, where, member(method));
    };
  }

  Read globs_into(std::vector<PathGlob>& out) {
    return [this, &out](const Node& node, const std::string& where) {
      for (const auto& text : toml_.read_texts(node, where)) {
        if (auto glob = as_node_glob(text)) out.push_back(std::move(*glob));
      }
    };
  }

  Read template_into(Template& out) {
    return [this, &out](const Node& node, const std::string& where) {
      if (const auto text = toml_.read_text(node, where)) out = as_template(*text);
    };
  }

  Read templates_into(std::vector<Template>& out) {
    return [this, &out](const Node& node, const std::string& where) {
      for (const auto& text : toml_.read_texts(node, where)) out.push_back(as_template(text));
    };
  }

  Read nodes_into(std::vector<VendorNodes>& out) {
    return [this, &out](const Node& node, const std::string& where) {
      toml_.for_each(node, where, [&](const Node& item, const std::string& place) {
        out.push_back(read_nodes(item, place));
      });
    };
  }

  Read text_into(std::string& out) {
    return [this, &out](const Node& node, const std::string& where) {
      if (auto text = toml_.read_text(node, where)) out = std::move(text->text);
    };
  }

  Read truth_into(bool& out) {
    return [this, &out](const Node& node, const std::string& where) {
      out = toml_.read_truth(node, where);
    };
  }

  Template as_template(const Text& text) {
    auto parsed = Template::parse(text.text);
    if (parsed) return std::move(*parsed);
    toml_.fail(text, parsed.error().message, parsed.error().advice);
    return {};
  }

  std::optional<PathGlob> as_node_glob(const Text& text) {
    auto glob = PathGlob::parse(text.text);
    if (!text.text.starts_with("/dev/")) {
      toml_.fail(text, "device nodes are in /dev", "begin with /dev/");
    } else if (!glob) {
      toml_.fail(text, glob.error().message, glob.error().advice);
    } else {
      return std::move(*glob);
    }
    return std::nullopt;
  }

  /// Checks an edit by the rules for specs.
  template <typename Edit>
  void check(const Node& node, const std::string& where, const Edit& edit) {
    const auto good = cdi::validate(edit);
    if (!good) toml_.fail(node, where, good.error().message, good.error().advice);
  }

  void require(const Node& node, const std::string& where, std::string_view name) {
    const auto* const table = node.as_table();
    if (table == nullptr || table->contains(name) || toml_.error()) return;
    toml_.fail(node, where, fmt::format("{} is missing", name));
  }

  // The members.

  void read_kind(const Node& node, const std::string& where) {
    const auto text = toml_.read_text(node, where);
    if (!text) return;
    file_.kind = text->text;
    if (cdi::parse_kind(text->text)) return;
    toml_.fail(*text, cdi::quoted(text->text) + " is not a kind",
               "give one such as vendor.com/npu");
  }

  void read_name(const Node& node, const std::string& where) {
    template_into(file_.name)(node, where);
    if (file_.name.empty() || !file_.name.is_constant()) return;
    toml_.fail(node, where, "all devices would have the same name", std::string{Template::advice});
  }

  void read_module(const Node& node, const std::string& where) {
    text_into(file_.module)(node, where);
    if (file_.module.find('/') == std::string::npos && !file_.module.starts_with('.')) return;
    toml_.fail(node, where, "this is not the name of a kernel module", "use a name of lsmod");
  }

  VendorNodes read_nodes(const Node& node, const std::string& where) {
    VendorNodes out;
    std::optional<Text> path;
    const auto read_path = [&](const Node& item, const std::string& place) {
      path = toml_.read_text(item, place);
    };
    if (const auto* const table = node.as_table()) {
      toml_.read_table(*table, where,
                       {{"path", read_path}, {"optional", truth_into(out.is_optional)}});
      require(node, where, "path");
    } else {
      read_path(node, where);
    }
    if (!path) return out;
    out.paths = as_template(*path);
    if (out.paths.empty()) return out;
    static_cast<void>(as_node_glob({path->node, out.paths.filled("0"), path->where}));
    return out;
  }

  void read_shared(const Node& node, const std::string& where) {
    nodes_into(file_.shared)(node, where);
    for (const auto& nodes : file_.shared) {
      if (nodes.paths.is_constant()) continue;
      toml_.fail(node, where, nodes.paths.text() + " has a placeholder, and belongs in `nodes`");
    }
  }

  void read_mount(const Node& node, const std::string& where) {
    VendorMount mount{.options = {"ro", "nosuid", "nodev", "rbind", "rprivate"}};
    const auto read_options = [&](const Node& item, const std::string& place) {
      mount.options.clear();
      for (auto& text : toml_.read_texts(item, place)) {
        mount.options.push_back(std::move(text.text));
      }
    };
    if (const auto* const table = node.as_table()) {
      toml_.read_table(*table, where,
                       {{"host", template_into(mount.host)},
                        {"container", template_into(mount.container)},
                        {"options", read_options},
                        {"optional", truth_into(mount.is_optional)}});
      require(node, where, "host");
    } else {
      template_into(mount.host)(node, where);
    }
    if (mount.container.empty()) mount.container = mount.host;
    check_mount(node, where, mount);
    file_.mounts.push_back(std::move(mount));
  }

  void check_mount(const Node& node, const std::string& where, const VendorMount& mount) {
    const cdi::Mount filled{.host_path = mount.host.filled("0"),
                            .container_path = mount.container.filled("0"),
                            .options = mount.options};
    for (const auto& path : {filled.host_path, filled.container_path}) {
      if (path.starts_with('/') && cdi::clean_path(path) == path) continue;
      return toml_.fail(node, where,
                        cdi::quoted(path) + " is not an absolute path without . and ..");
    }
    check(node, where, filled);
  }

  void read_env(const Node& node, const std::string& where) {
    for (const auto& text : toml_.read_texts(node, where)) {
      file_.env.push_back(as_template(text));
      const auto equals = text.text.find('=');
      if (equals == 0 || equals == std::string::npos) toml_.fail(text, "is not NAME=VALUE");
    }
  }

  void read_hook(const Node& node, const std::string& where) {
    VendorHook hook;
    const auto read_timeout = [&](const Node& item, const std::string& place) {
      const auto seconds = item.value_exact<std::int64_t>();
      const bool good = seconds && *seconds > 0 && *seconds <= 3600;
      if (!good) return toml_.fail(item, place, "must be a number of seconds from 1 to 3600");
      hook.hook.timeout = *seconds;
    };
    toml_.read_table(node, where,
                     {{"name", text_into(hook.hook.hook_name)},
                      {"path", text_into(hook.hook.path)},
                      {"args", templates_into(hook.args)},
                      {"env", templates_into(hook.env)},
                      {"timeout", read_timeout}});
    auto filled = hook.hook;
    for (const auto& argument : hook.args) filled.args.push_back(argument.filled("0"));
    for (const auto& variable : hook.env) filled.env.push_back(variable.filled("0"));
    check(node, where, filled);
    file_.hooks.push_back(std::move(hook));
  }

  void read_match(const Node& node, const std::string& where) {
    toml_.for_each_member(node, where, [&](const Node& value, const std::string& name) {
      const auto place = fmt::format("{}.{}", where, name);
      check_attribute(value, place, name);
      file_.match.push_back({.attribute = name, .values = read_patterns(value, place)});
    });
  }

  void check_attribute(const Node& node, const std::string& where, std::string_view path) {
    if (is_attribute_path(path)) return;
    toml_.fail(node, where, cdi::quoted(path) + " is not the path of an attribute",
               "give it relative to the node's directory in sysfs, such as device/vendor");
  }

  std::vector<std::string> read_patterns(const Node& node, const std::string& where) {
    std::vector<std::string> out;
    for (auto& text : toml_.read_texts(node, where)) {
      if (const auto glob = tools::Glob::parse(text.text, tools::Glob::Index::yes); !glob) {
        toml_.fail(text, glob.error().message, glob.error().advice);
      }
      out.push_back(std::move(text.text));
    }
    return out;
  }

  void read_attributes(const Node& node, const std::string& where) {
    toml_.for_each_member(node, where, [&](const Node& value, const std::string& name) {
      const auto place = fmt::format("{}.{}", where, name);
      if (!tools::is_plain(name)) toml_.fail(value, place, "its name is not printable ASCII");
      template_into(file_.attributes[name])(value, place);
    });
  }

  void read_health(const Node& node, const std::string& where) {
    VendorCondition health;
    const auto read_attribute = [&](const Node& item, const std::string& place) {
      text_into(health.attribute)(item, place);
      if (!health.attribute.empty()) check_attribute(item, place, health.attribute);
    };
    const auto read_good = [&](const Node& item, const std::string& place) {
      health.values = read_patterns(item, place);
    };
    const auto read_bad = [&](const Node& item, const std::string& place) {
      read_good(item, place);
      health.is_met_by_others = true;
    };
    toml_.read_table(node, where,
                     {{"attribute", read_attribute},
                      {"good", read_good},
                      {"bad", read_bad},
                      {"optional", truth_into(health.is_optional)}});
    require(node, where, "attribute");
    const auto* const table = node.as_table();
    if (toml_.error()) return;
    if (table->contains("good") == table->contains("bad")) {
      toml_.fail(node, where, "needs either good, the values of a healthy device, or bad");
    }
    file_.health.push_back(std::move(health));
  }

  TomlReader toml_;
  VendorFile file_{};
};

/// Reads the text of a vendor file; `path` is for messages.
inline cdi::Result<VendorFile> parse_vendor_file(std::string_view text, const std::string& path) {
  const auto settings = tools::parse_toml(text, path);
  if (!settings) return settings.error();
  return VendorReader{path}.read(settings->table());
}

}  // namespace prepare

#endif  // CDI_TOOLS_GPU_VENDORS_VENDOR_READER_HPP
