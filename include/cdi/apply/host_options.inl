// The bodies of <cdi/apply/host_options.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_APPLY_HOST_OPTIONS_INL
#define CDI_APPLY_HOST_OPTIONS_INL

#include <cerrno>
#include <climits>
#include <unistd.h>
#include <utility>

#include <cdi/apply/host_options.hpp>
#include <cdi/base/path.hpp>

namespace cdi::inline CDI_ABI {

namespace detail {

/// Describes a device node as in `c 195:0`, or a FIFO as `p`.
inline std::string describe_node(std::string_view type, std::int64_t major, std::int64_t minor) {
  std::string text{type};
  if (type == "p") return text;
  return text.append(" ").append(std::to_string(major)).append(":").append(std::to_string(minor));
}

/// Returns the host's letter for a type: "c" for "u", which is also a character device.
inline char host_type(std::string_view type) {
  return type == "u" ? 'c' : type.front();
}

CDI_INLINE std::optional<Error> drift_of(const NodeView& node, const HostRef& host,
                                         HostNode& found) {
  if (node.type.empty() && node.major == 0) return std::nullopt;  // nothing is pinned
  auto asked = host(host_path_of(node));
  if (!asked) {
    const int number = asked.error().system;
    if (number == ENOENT || number == ENOTDIR) return std::nullopt;
    return std::move(asked).error();
  }
  found = *asked;
  const bool same_type = node.type.empty() || host_type(node.type) == found.type;
  const bool same_number =
      node.major == 0 || (node.major == found.major && node.minor == found.minor);
  if (same_type && same_number) return std::nullopt;
  const std::string_view type{&found.type, 1};
  return Error{
      .code = Errc::host,
      .message = "host device " + cdi::quoted(host_path_of(node)) + " is " +
                 describe_node(type, found.major, found.minor) + ", not " +
                 describe_node(node.type.empty() ? type : node.type, node.major, node.minor),
      .where = same_type ? "major" : "type"};
}

/// Sets a node's type and number from the host. Keeps the type "u" if the host has "c".
inline void follow_host(NodeView& node, const HostNode& found) {
  if (node.type.empty() || host_type(node.type) != found.type) node.type = type_text(found.type);
  node.major = found.major;
  node.minor = found.minor;
}

/// Applies a rule to a node that differs from the host. Fails if the host path is not a node.
inline Result<void> use_drift(NodeView& node, const HostRef& host, HostDrift rule) {
  HostNode found;
  found.type = 0;
  auto drift = drift_of(node, host, found);
  if (!drift) return {};
  if (rule == HostDrift::fail && found.type != 0) {
    drift->advice = "correct the spec, or follow the host";
  }
  if (rule == HostDrift::fail || found.type == 0) return *std::move(drift);
  follow_host(node, found);
  return {};
}

/// Returns the component of a path at `at`, after any slashes, and moves `at` past it; empty at the
/// end of the path.
inline std::string take_component(const std::string& path, std::size_t& at) {
  const auto begin = path.find_first_not_of('/', at);
  at = begin == std::string::npos ? path.size() : path.find('/', begin);
  if (at == std::string::npos) at = path.size();
  return begin == std::string::npos ? std::string{} : path.substr(begin, at - begin);
}

/// Reads a link into `target`. Returns 0 or `errno`.
inline int read_link_into(const std::string& path, std::string& target) {
  char text[PATH_MAX];
  const auto size = ::readlink(path.c_str(), text, sizeof text);
  if (size < 0) return errno;
  target.assign(text, static_cast<std::size_t>(size));
  return 0;
}

/// Replaces a path with the path to which its links lead.
inline Result<void> resolve_links(std::string_view& path, const std::string& root,
                                  std::deque<std::string>& texts) {
  auto resolved = resolve_host_links(path, root);
  if (!resolved) return std::move(resolved).error();
  if (!is_utf8(*resolved)) return not_utf8(*resolved);
  if (*resolved != path) path = texts.emplace_back(*std::move(resolved));
  return {};
}

/// Applies the options to the device nodes.
inline Result<void> change_nodes(JoinedEdits& edits, const HostRef& host,
                                 const HostOptions& options, std::deque<std::string>& texts) {
  std::size_t i = 0;
  for (std::size_t set = 0; set < edits.nodes_end.size(); ++set) {
    const std::size_t first = i;
    for (; i < edits.nodes_end[set]; ++i) {
      auto& node = edits.nodes[i];
      if (options.resolve_links) {
        node.host_path = host_path_of(node);
        if (auto r = resolve_links(node.host_path, options.root, texts); !r) {
          const auto where = item_path("deviceNodes", i - first) + ".hostPath";
          return about_edits(std::move(r).error().under(where), set);
        }
      }
      if (options.drift == HostDrift::keep) continue;
      if (auto r = use_drift(node, host, options.drift); !r) {
        return about_edits(std::move(r).error().under(item_path("deviceNodes", i - first)), set);
      }
    }
  }
  return {};
}

/// Resolves the links in the host paths of mounts.
inline Result<void> change_mounts(JoinedEdits& edits, const HostOptions& options,
                                  std::deque<std::string>& texts) {
  std::size_t i = 0;
  for (std::size_t set = 0; set < edits.nodes_end.size(); ++set) {
    const std::size_t first = i;
    for (; i < edits.mounts_end[set]; ++i) {
      if (auto r = resolve_links(edits.mounts[i].source, options.root, texts); !r) {
        const auto where = item_path("mounts", i - first) + ".hostPath";
        return about_edits(std::move(r).error().under(where), set);
      }
    }
  }
  return {};
}

/// Adds the environment to hooks that have none.
inline Result<void> add_hook_env(JoinedEdits& edits, const HostOptions& options) {
  const TextRange added{edits.texts.size(), options.hook_env.size()};
  for (const auto& entry : options.hook_env) {
    if (!is_utf8(entry)) return not_utf8(entry);
    edits.texts.push_back(entry);
  }
  for (auto& hook : edits.hooks) {
    if (hook.env.count == 0) hook.env = added;
  }
  return {};
}

CDI_INLINE Result<std::deque<std::string>> use_options(JoinedEdits& edits, const HostRef& host,
                                                       const HostOptions& options) {
  std::deque<std::string> texts;  // a deque never moves its texts
  if (auto r = change_nodes(edits, host, options, texts); !r) return std::move(r).error();
  if (options.resolve_links) {
    if (auto r = change_mounts(edits, options, texts); !r) return std::move(r).error();
  }
  if (auto r = add_hook_env(edits, options); !r) return std::move(r).error();
  return texts;
}

/// Where a path leads inside a root.
struct FollowedPath {
  std::string path{};  // without links; from a part on that does not exist, as it was
  bool exists = false;
  int links = 0;  // the number of links that were followed
};

/// Follows the links of an absolute path inside a root.
inline Result<FollowedPath> follow_links(std::string_view path, std::string_view root) {
  constexpr int max_links = 40;  // the same limit as in the kernel
  FollowedPath out;
  std::string& done = out.path;  // has no trailing slash
  std::string rest{path};
  std::size_t at = 0;
  for (auto part = take_component(rest, at); !part.empty(); part = take_component(rest, at)) {
    if (part == ".") continue;
    if (part == "..") {
      done.erase(done.empty() ? 0 : done.rfind('/'));
      continue;
    }
    std::string target;
    const int number = read_link_into(std::string{root} + done + "/" + part, target);
    if (number == EINVAL) {  // the part is not a link
      done.append("/").append(part);
      continue;
    }
    if (number == ENOENT || number == ENOTDIR) {
      done.append("/").append(part).append(rest, at);
      return out;
    }
    if (number != 0 || ++out.links > max_links) {
      return system_error(Errc::host, "cannot follow host path " + cdi::quoted(path),
                          number != 0 ? number : ELOOP);
    }
    if (target.starts_with('/')) done.clear();
    rest = target.append("/").append(rest, at);
    at = 0;
  }
  out.exists = true;
  return out;
}

CDI_INLINE Result<std::string> path_below(std::string_view root, std::string_view path) {
  std::string inside = path.starts_with('/') ? "" : "/";
  inside.append(path);
  const auto slash = inside.rfind('/');
  auto out = std::string{root};
  if (path.find('\0') != std::string_view::npos) return out.append(inside);  // no such file
  const auto folder = follow_links(inside.substr(0, slash), root);
  if (!folder) return folder.error();
  return out.append(folder->path).append(inside, slash);
}

}  // namespace detail

CDI_INLINE Result<std::string> resolve_host_links(std::string_view path, std::string_view root) {
  const std::string start{path};
  if (!path.starts_with('/') || path.find('\0') != std::string_view::npos) return start;
  auto followed = detail::follow_links(path, root);
  if (!followed) return std::move(followed).error();
  if (!followed->exists || followed->links == 0) return start;
  return followed->path.empty() ? std::string{"/"} : std::move(followed->path);
}

}  // namespace cdi

#endif  // CDI_APPLY_HOST_OPTIONS_INL
