// Writes the arguments that give a program the edits of a plan.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include <cdi/plan.hpp>
#include <cdi/rules/mount_options.hpp>

#include "../../kit/host/rooted_paths.hpp"
#include "access.hpp"
#include "loss.hpp"
#include "mount_options.hpp"
#include "program.hpp"
#include "write_form.hpp"

/// Writes the edits of a plan as arguments of one program, kind by kind.
class ArgumentsWriter {
 public:
  /// `root` is the directory that a shell mounts into; null if the program needs none.
  ArgumentsWriter(const Program& program, const tools::RootedPaths* root, std::string root_path)
      : program_{program}, root_{root}, root_path_{std::move(root_path)} {}

  /// Writes a plan. Mounts precede nodes, as in an OCI runtime: a mount hides no node.
  Arguments write(const cdi::Plan& plan, bool with_sys) {
    if (program_.first) append(program_.first, {});
    if (with_sys && needs_sys(plan)) write_sys();
    each(plan.mounts, [&](const auto& mount, const auto& origin) { add(mount, origin); });
    each(plan.device_nodes, [&](const auto& node, const auto& origin) { add(node, origin); });
    each(plan.env, [&](const auto& variable, const auto& origin) { add(variable, origin); });
    each(plan.net_devices, [&](const auto& device, const auto& origin) { add(device, origin); });
    each(plan.intel_rdt, [&](const auto& rdt, const auto& origin) {
      lose("intelRdt", rdt.clos_id, "limits of caches and memory bandwidth are not set", origin);
    });
    add_groups(plan);
    return std::move(out_);
  }

 private:
  static void each(const auto& edits, auto add) {
    for (const auto& [edit, origin, overridden] : edits) {
      if (!overridden) add(edit, origin);
    }
  }

  void lose(std::string edit, std::string subject, std::string consequence,
            const cdi::Origin& origin) {
    out_.lost.push_back({{std::move(edit), std::move(subject), std::move(consequence)}, origin});
  }

  void append(const Form& form, const FormValues& values) {
    auto written = write_form(form, program_.shape, values);
    std::move(written.begin(), written.end(), std::back_inserter(out_.args));
  }

  /// Writes an edit in the first form that can express it; otherwise reports it as lost, and
  /// returns false.
  bool append(const Forms& forms, const FormValues& values, const PossibleLoss& otherwise) {
    char obstacle = '\0';
    if (const auto* const form = choose_form(forms, values, obstacle)) {
      append(*form, values);
      return true;
    }
    out_.lost.push_back(
        otherwise.because(fmt::format(": the program cannot take a name or value with {}",
                                      cdi::quoted(std::string_view{&obstacle, 1}))));
    return false;
  }

  /// Adds the place of a path in the container; reports a loss and returns false if there is none.
  bool place(FormValues& values, const std::string& path, const PossibleLoss& otherwise) {
    values["path"] = path;
    values["target"] = path.substr(std::min(path.find_first_not_of('/'), path.size()));
    if (root_ == nullptr) return true;
    using Paths = tools::RootedPaths;
    const auto found = root_->find(path, Paths::Last::follow, Paths::IfMissing::report);
    const bool goes_up = ("/" + path + "/").find("/../") != std::string::npos;
    if (found && !goes_up && found->path() != "/") {
      values["at"] = root_path_ + found->path();
      return true;
    }
    out_.lost.push_back(otherwise.because(found ? ": it is not a path below the root"
                                                : ": " + found.error().message));
    return false;
  }

  void write_sys() {
    const cdi::Origin origin;
    FormValues values;
    if (!program_.sys || !place(values, "/sys", {"mount", "/sys", "it is not mounted", origin})) {
      return;
    }
    append(program_.sys, values);
  }

  /// Whether drivers look for the devices of a plan in /sys: they are GPUs or accelerators.
  static bool needs_sys(const cdi::Plan& plan) {
    return std::any_of(plan.device_nodes.begin(), plan.device_nodes.end(), [](const auto& one) {
      constexpr std::int64_t nvidia = 195;
      constexpr std::int64_t drm = 226;
      constexpr std::int64_t accel = 261;
      const auto major = one.edit.type == "b" ? 0 : one.edit.major;
      return major == nvidia || major == drm || major == accel ||
             one.edit.path.starts_with("/dev/nvidia") || one.edit.path == "/dev/kfd";
    });
  }

  /// Whether the permissions of nodes are enforced, by a cgroup, which needs root.
  bool limits_access() const {
    return program_.limits_access && (program_.groups != Groups::rootless || ::geteuid() == 0);
  }

  /// Whether this user needs this group to open a node, or there is no node to try. Root needs no
  /// group.
  static bool needs_group(const cdi::Plan& plan, std::uint32_t gid) {
    if (::geteuid() == 0) return false;
    bool has_nodes = false;
    for (const auto& [node, origin, overridden] : plan.device_nodes) {
      if (overridden) continue;
      has_nodes = true;
      struct stat there = {};
      if (::stat(node.host_path.c_str(), &there) == 0 && there.st_gid == gid &&
          !may_open(node.host_path, node.permissions)) {
        return true;
      }
    }
    return !has_nodes;
  }

  /// Whether nodes of the host could not be opened in a plain mount of the program.
  bool hides_nodes(const cdi::Mount& mount) const {
    return mount.host_path.starts_with("/dev/") && !has_option(mount, "nodev") &&
           program_.places == NodePlaces::any && program_.shape == Shape::words &&
           is_listed(program_.implies, "nodev");
  }

  void add(const cdi::Mount& mount, const cdi::Origin& origin);
  void add(const cdi::DeviceNode& node, const cdi::Origin& origin);
  void add(const std::string& variable, const cdi::Origin& origin);
  void add(const cdi::NetDevice& device, const cdi::Origin& origin);
  void add_groups(const cdi::Plan& plan);
  void add_tmpfs(const cdi::Mount& mount, const cdi::Origin& origin);
  std::optional<std::string> node_obstacle(const cdi::DeviceNode& node, const struct stat& there);
  void compare(const cdi::DeviceNode& node, const struct stat& there, const cdi::Origin& origin);

  const Program& program_;
  const tools::RootedPaths* root_;
  std::string root_path_;
  Arguments out_{};
  int interfaces_ = 0;
};

inline void ArgumentsWriter::add_tmpfs(const cdi::Mount& mount, const cdi::Origin& origin) {
  const PossibleLoss loss{"mount", mount.container_path, "it is not mounted", origin};
  FormValues values;
  if (mount.type != "tmpfs" || !program_.tmpfs) {
    out_.lost.push_back(loss.because(
        fmt::format(": the program has no mounts of the type {}", cdi::quoted(mount.type))));
    return;
  }
  if (!place(values, mount.container_path, loss)) return;
  // An option is needed where a separator precedes it.
  const bool writes = program_.tmpfs.text.find("{options}") != std::string_view::npos;
  std::string options;
  for (const auto& option : mount.options) {
    if (writes) options.append(options.empty() ? "" : ",").append(option);
    if (!writes && !is_usual_option(option) && !is_listed(program_.implies, option)) {
      lose("mount", mount.container_path, option_loss(option), origin);
    }
  }
  values["options"] = options.empty() ? "rw" : options;
  append(Forms{program_.tmpfs}, values, loss);
}

inline void ArgumentsWriter::add(const cdi::Mount& mount, const cdi::Origin& origin) {
  if (!cdi::detail::is_bind_mount(mount)) return add_tmpfs(mount, origin);
  const PossibleLoss loss{"mount", mount.container_path, "it is not mounted", origin};
  struct stat there = {};
  if (!mount.host_path.starts_with('/') || ::stat(mount.host_path.c_str(), &there) != 0) {
    const auto why = mount.host_path.starts_with('/') ? std::generic_category().message(errno)
                                                      : std::string{"it is not an absolute path"};
    out_.lost.push_back(
        loss.because(fmt::format(": its source {}: {}", cdi::quoted(mount.host_path), why)));
    return;
  }
  FormValues values{{"host", mount.host_path}};
  if (!place(values, mount.container_path, loss)) return;
  auto options = written_options(mount, program_);
  values["options"] = options;
  values["flags"] = (has_option(mount, "rbind") ? "rbind" : "bind") +
                    (options.empty() ? std::string{} : "," + options);
  values["kind"] = S_ISDIR(there.st_mode) ? "dir" : "file";
  const bool read_only = cdi::detail::is_read_only(mount.options) && program_.read_only[0];
  auto forms = read_only || !options.empty() ? program_.read_only : program_.writable;
  // Nodes need a mount that lets them be opened.
  if (!read_only && options.empty() && hides_nodes(mount) && shows_nodes(mount.host_path, there)) {
    forms = program_.node;
    values["permissions"] = "rwm";
    values["rule"] = device_rule(there);
    if (S_ISDIR(there.st_mode)) forms.back() = {};  // its rule is for one node
  }
  if (!append(forms, values, loss)) return;
  for (const auto& option : lost_options(mount, there, program_)) {
    lose("mount", mount.container_path, option_loss(option), origin);
  }
}

/// Why a node cannot be made at its path; empty if it can.
inline std::optional<std::string> ArgumentsWriter::node_obstacle(const cdi::DeviceNode& node,
                                                                 const struct stat& there) {
  const bool in_dev = node.path.starts_with("/dev/");
  if (program_.places == NodePlaces::own_path && (!in_dev || node.path != node.host_path)) {
    return "the program has nodes only below /dev, at their paths on the host";
  }
  if (program_.places == NodePlaces::not_in_dev && in_dev && node.path != node.host_path) {
    return "/dev is the host's, and gets no other nodes";
  }
  const auto type = S_ISCHR(there.st_mode)    ? "c"
                    : S_ISBLK(there.st_mode)  ? "b"
                    : S_ISFIFO(there.st_mode) ? "p"
                                              : "none";
  const bool drifted = node.type != "p" && (node.major != gnu_dev_major(there.st_rdev) ||
                                            node.minor != gnu_dev_minor(there.st_rdev));
  if (type != (node.type == "u" ? "c" : node.type) || drifted) {
    return fmt::format("the host has the type and number {} {}:{}, and the spec {} {}:{}", type,
                       gnu_dev_major(there.st_rdev), gnu_dev_minor(there.st_rdev), node.type,
                       node.major, node.minor);
  }
  if (node.permissions == "none") return "the program cannot make a node that no user may open";
  return std::nullopt;
}

/// Reports how a bound node differs from the node in a spec.
inline void ArgumentsWriter::compare(const cdi::DeviceNode& node, const struct stat& there,
                                     const cdi::Origin& origin) {
  if (node.file_mode && (*node.file_mode & 0777U) != (there.st_mode & 0777U)) {
    lose("deviceNode", node.path,
         fmt::format("it keeps the mode {:04o} of the host, and does not get {:04o}",
                     there.st_mode & 0777U, *node.file_mode & 0777U),
         origin);
  }
  if ((node.uid && *node.uid != there.st_uid) || (node.gid && *node.gid != there.st_gid)) {
    lose("deviceNode", node.path,
         fmt::format("it keeps the owner {} and the group {} of the host", user_name(there.st_uid),
                     group_name(there.st_gid)),
         origin);
  }
  // Without the right to make nodes, only opening can be limited.
  for (const auto& [access, verb] : {std::pair{'r', "read"}, std::pair{'w', "written"}}) {
    if (limits_access() || node.permissions.find(access) != std::string::npos) continue;
    lose("deviceNode", node.path,
         fmt::format("its permissions {} are not enforced: it can be {} by users that may open it "
                     "on the host",
                     node.permissions, verb),
         origin);
  }
}

inline void ArgumentsWriter::add(const cdi::DeviceNode& node, const cdi::Origin& origin) {
  const PossibleLoss loss{"deviceNode", node.path, "the container does not get it", origin};
  const auto reject = [&](const std::string& why) {
    out_.lost.push_back(loss.because(": " + why));
  };
  struct stat there = {};
  if (::stat(node.host_path.c_str(), &there) != 0) {
    return reject(fmt::format("{} on the host: {}, and the program makes no nodes",
                              cdi::quoted(node.host_path), std::generic_category().message(errno)));
  }
  if (const auto obstacle = node_obstacle(node, there)) return reject(*obstacle);
  compare(node, there, origin);
  if (program_.opens_as_user) {
    if (auto warning = access_warning(node, there)) out_.warnings.push_back(std::move(*warning));
  }
  if (program_.places == NodePlaces::not_in_dev && node.path == node.host_path &&
      node.path.starts_with("/dev/")) {
    return;  // it is there
  }
  FormValues values{{"host", node.host_path},
                    {"type", node.type == "u" ? "c" : node.type},
                    {"major", fmt::format("{}", node.major)},
                    {"minor", fmt::format("{}", node.minor)},
                    {"permissions", node.permissions}};
  values["rule"] =
      fmt::format("{} {}:{} {}", values["type"], node.major, node.minor, node.permissions);
  if (place(values, node.path, loss)) append(program_.node, values, loss);
}

inline void ArgumentsWriter::add(const std::string& variable, const cdi::Origin& origin) {
  const auto equals = std::min(variable.find('='), variable.size());
  const FormValues values{{"name", variable.substr(0, equals)},
                          {"value", variable.substr(std::min(equals + 1, variable.size()))}};
  const auto& name = *values.find("name");
  const PossibleLoss loss{"env", name, "it is not set", origin};
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  const bool is_name = name.find_first_not_of(plain) == std::string::npos && name[0] > '9';
  if (program_.shape == Shape::shell && !is_name) {
    out_.lost.push_back(loss.because(": a shell cannot have such a name"));
    return;
  }
  append(program_.variable, values, loss);
}

inline void ArgumentsWriter::add(const cdi::NetDevice& device, const cdi::Origin& origin) {
  constexpr int first_index = 100;  // above those of most configs
  const PossibleLoss loss{"netDevice", device.host_interface_name,
                          "the container does not get the interface", origin};
  if (!program_.interface || (!program_.renames && device.name != device.host_interface_name)) {
    out_.lost.push_back(loss.because(program_.interface ? ": the program cannot rename it"
                                                        : ": the program moves none"));
    return;
  }
  append(Forms{program_.interface},
         {{"host", device.host_interface_name},
          {"name", device.name},
          {"index", fmt::format("{}", first_index + interfaces_++)}},
         loss);
}

inline void ArgumentsWriter::add_groups(const cdi::Plan& plan) {
  const bool any = program_.groups == Groups::listed ||
                   (program_.groups == Groups::rootless && ::geteuid() == 0);
  std::string gids;
  bool keeps = false;
  each(plan.additional_gids, [&](std::uint32_t gid, const cdi::Origin& origin) {
    const auto name = group_name(gid);
    if (any) {
      gids.append(gids.empty() ? "" : ",").append(fmt::format("{}", gid));
      if (program_.group.text.find("{gid}") == std::string_view::npos) return;
      append(program_.group, {{"gid", fmt::format("{}", gid)}});
    } else if (program_.groups == Groups::none) {
      lose("additionalGid", name,
           "the program drops groups: only root in the container can open nodes of this group",
           origin);
    } else if (has_group(gid)) {
      keeps = true;
    } else if (needs_group(plan, gid)) {
      lose(
          "additionalGid", name,
          "this user is not in the group, and cannot open its nodes or files: " + group_advice(gid),
          origin);
    }
  });
  if (program_.group.text.find("{gids}") != std::string_view::npos && !gids.empty()) {
    append(program_.group, {{"gids", gids}});
  }
  if (keeps && program_.groups == Groups::rootless) {
    append(program_.group, {{"gid", "keep-groups"}});
  }
}
