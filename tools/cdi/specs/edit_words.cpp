// Parses the words of a command line that describe a device node, a mount or a device's edit.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "edit_words.hpp"

#include <algorithm>

#include "../../kit/base/text.hpp"

namespace {

/// Splits off what follows a path: the second path begins at `:/`, since paths below /dev may
/// contain colons themselves, as in /dev/dri/by-path/pci-0000:03:00.0-render.
WordParts split_paths(std::string_view text) {
  const auto at = text.find(":/");
  if (at == std::string_view::npos) return {text, {}};
  return {text.substr(0, at), text.substr(at + 1)};
}

/// Whether a text lists permissions of a device: some of `r`, `w` and `m`, or `none`.
bool are_permissions(std::string_view text) {
  return text == "none" ||
         (!text.empty() && text.find_first_not_of("rwm") == std::string_view::npos);
}

/// Cuts the permissions off the end of a path.
std::string_view cut_permissions(std::string_view& path) {
  const auto at = path.rfind(':');
  if (at == std::string_view::npos || !are_permissions(path.substr(at + 1))) return {};
  const auto permissions = path.substr(at + 1);
  path = path.substr(0, at);
  return permissions;
}

/// The last part of a path if it can only be meant as permissions: a few letters after a colon. The
/// names of udev, such as pci-0000:03:00.0-render, end otherwise.
std::string_view wrong_permissions(std::string_view path) {
  const auto last = path.substr(path.rfind(':') + 1);
  const bool is_word =
      std::all_of(last.begin(), last.end(), [](char c) { return 'a' <= c && c <= 'z'; });
  const bool is_short = !last.empty() && last.size() <= 4;
  return is_word && is_short && last.size() < path.size() ? last : std::string_view{};
}

/// Whether a path is absolute, and is not the root.
bool is_usable_path(std::string_view path) {
  return path.starts_with('/') && path.size() > 1;
}

/// Why the permissions of `HOST[:CONTAINER][:PERMISSIONS]` are not valid; empty if they are.
std::string permissions_error(std::string_view word) {
  auto [host, container] = split_paths(word);
  auto& last = container.empty() ? host : container;
  if (!cut_permissions(last).empty()) return "";
  const auto wrong = wrong_permissions(last);
  if (wrong.empty()) return "";
  return cdi::quoted(wrong) + " are not permissions: use some of r, w and m, such as rw, or none";
}

}  // namespace

std::optional<WordParts> split_word(std::string_view word, char mark) {
  const auto at = word.find(mark);
  if (at == std::string_view::npos || at == 0) return std::nullopt;
  return WordParts{word.substr(0, at), word.substr(at + 1)};
}

std::optional<cdi::DeviceNode> parse_node(std::string_view word) {
  auto [host, container] = split_paths(word);
  const auto permissions = cut_permissions(container.empty() ? host : container);
  if (!is_usable_path(host)) return std::nullopt;
  if (container.empty()) container = host;
  if (!is_usable_path(container)) return std::nullopt;
  cdi::DeviceNode node{.path = std::string{container}, .permissions = std::string{permissions}};
  if (host != container) node.host_path = host;
  return node;
}

std::optional<cdi::Mount> parse_mount(std::string_view word) {
  auto [host, rest] = split_paths(word);
  const auto mark = rest.rfind(':');
  const auto container = rest.substr(0, mark);
  if (!host.starts_with('/') || !container.starts_with('/')) return std::nullopt;
  cdi::Mount mount{.host_path = std::string{host}, .container_path = std::string{container}};
  if (mark != std::string_view::npos) mount.options = tools::split(rest.substr(mark + 1), ",");
  if (!cdi::detail::has_bind(mount.options)) mount.options.insert(mount.options.begin(), "rbind");
  return mount;
}

std::string device_word_error(const std::string& word) {
  const auto parts = split_word(word, '=');
  const bool is_path = word.find('/') != std::string::npos;
  if (!parts && !word.empty() && !word.starts_with('=') && !is_path) return "";
  if (parts && parse_node(parts->rest)) return permissions_error(parts->rest);
  return "write NAME=HOST[:CONTAINER[:PERMISSIONS]], such as 0=/dev/npu0:/dev/npu0:rw, instead "
         "of " +
         cdi::quoted(word);
}

std::string mount_word_error(const std::string& word) {
  if (parse_mount(word)) return "";
  return "write HOST:CONTAINER[:OPTIONS], such as /opt/acme:/opt/acme:ro,nosuid, instead of " +
         cdi::quoted(word);
}

std::string assignment_error(const std::string& word) {
  if (split_word(word, '=')) return "";
  return "write NAME=VALUE instead of " + cdi::quoted(word);
}

std::string device_mount_error(const std::string& word) {
  const auto parts = split_word(word, '=');
  if (parts && parse_mount(parts->rest)) return "";
  return "write DEVICE=HOST:CONTAINER[:OPTIONS], such as 0=/opt/acme/0:/opt/acme:ro, instead of " +
         cdi::quoted(word);
}

std::string device_env_error(const std::string& word) {
  const auto parts = split_word(word, '=');
  if (parts && split_word(parts->rest, '=')) return "";
  return "write DEVICE=NAME=VALUE, such as 0=ACME_INDEX=0, instead of " + cdi::quoted(word);
}
