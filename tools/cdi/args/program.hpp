// The programs that `cdi args` prints arguments for, as data.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

/// How a value is written into an argument.
enum class Escape : std::uint8_t {
  none,       // as it is
  backslash,  // a backslash before `:` and `\`
  csv,        // as fields of comma-separated values, in double quotes if needed
  octal,      // as in fstab: \040 for a blank
  line,       // the rest of a line of a config; in double quotes if trailing blanks would be cut
  quotes,     // in single quotes if it already has some, which the program strips
  shell,      // as a word of a shell command
};

/// How values are written, and the characters that cannot be written.
struct Carrier {
  Escape escape = Escape::none;
  std::string_view cannot{};
};

/// Arguments with places for values, such as `--bind {host} {path}`; empty if there are none.
/// Words are separated by blanks, lines by newlines.
struct Form {
  std::string_view text{};
  Carrier carrier{};

  constexpr explicit operator bool() const { return !text.empty(); }
};

/// The ways to write one kind of edit, best first: the first that can express all values is used.
using Forms = std::array<Form, 2>;

/// What a program reads: the words of its command line, lines of a config, or a shell.
enum class Shape : std::uint8_t { words, lines, shell };

/// Where a program can put device nodes.
enum class NodePlaces : std::uint8_t {
  any,
  own_path,    // only below /dev, and only where they are on the host
  not_in_dev,  // /dev is the host's, with all its nodes: others only outside /dev
};

/// Which additional groups a program gives to processes.
enum class Groups : std::uint8_t {
  none,      // it drops them all
  own,       // the groups of its parent process
  listed,    // any
  rootless,  // any, if root starts it; otherwise its parent's groups
};

/// A program that starts sandboxes or containers, and what it can express.
struct Program {
  std::string_view name;
  std::string_view release;  // that was examined
  Shape shape = Shape::words;
  Form first{};                // what precedes all others
  Forms read_only{};           // a bind mount that cannot be written, or one with `{options}`
  Forms writable{};            // any other bind mount
  Forms node{};                // a device node
  Form tmpfs{};                // a mount of the type tmpfs
  Forms variable{};            // an environment variable
  Form group{};                // an additional group
  Form interface {};           // a network interface to move
  Form sys{};                  // /sys of the host, if the program has none of its own
  std::string_view keeps{};    // the mount options that it writes, or `*` for all
  std::string_view implies{};  // the mount options that its mounts have anyway
  NodePlaces places = NodePlaces::any;
  Groups groups = Groups::own;
  bool limits_access = false;      // whether it enforces the permissions of nodes, such as "r"
  bool opens_as_user = true;       // whether processes have no more rights than the caller's
  bool makes_targets = true;       // whether it makes the targets of mounts
  bool renames = false;            // whether an interface may get another name
  std::string_view library_dir{};  // a directory that no mount of a user hides
  bool keeps_environment = false;  // whether processes have the caller's variables
};

namespace detail {

inline constexpr Carrier no_colon{Escape::none, ":"};
inline constexpr Carrier fields{Escape::csv, "\r"};
inline constexpr Carrier plain_fields{Escape::none, ",\"\n\r"};
inline constexpr Carrier escaped_colons{Escape::backslash};
inline constexpr Carrier fstab{Escape::octal};
inline constexpr Carrier config_line{Escape::line, "\n"};
inline constexpr Carrier in_shell{Escape::shell};
// Apptainer's shell expands variables, and its parser splits at commas.
inline constexpr Carrier apptainer_bind{Escape::none, ":,\\\"\n"};
inline constexpr Carrier apptainer_value{Escape::none, "=\"$`\\"};
inline constexpr Carrier apptainer_fields{Escape::csv, "\"$`\\\r"};
inline constexpr Carrier charliecloud_value{Escape::quotes, "$"};
inline constexpr Carrier charliecloud_exact{Escape::quotes};

inline constexpr Program bwrap{
    .name = "bwrap",
    .release = "bubblewrap 0.8.0",
    .first = {"--dev /dev"},
    .read_only = {{{"--ro-bind {host} {path}"}}},
    .writable = {{{"--bind {host} {path}"}}},
    .node = {{{"--dev-bind {host} {path}"}}},
    .tmpfs = {"--tmpfs {path}"},
    .variable = {{{"--setenv {name} {value}"}}},
    .sys = {"--ro-bind /sys /sys"},
    .implies = "nosuid,nodev",
    .library_dir = "/dev/cdi",  // in the new /dev
    .keeps_environment = true,
};

inline constexpr Program nspawn{
    .name = "nspawn",
    .release = "systemd-nspawn 252",
    .read_only = {{{"--bind-ro={host}:{path}", escaped_colons}}},
    .writable = {{{"--bind={host}:{path}", escaped_colons}}},
    .node = {{{"--bind={host}:{path}", escaped_colons}}},  // it allows access to such nodes
    .tmpfs = {"--tmpfs={path}:{options}", escaped_colons},
    .variable = {{{"--setenv={name}={value}"}}},
    .interface = {"--network-interface={host}"},
    .implies = "nodev",  // by the device policy of its scope
    .groups = Groups::none,
    .opens_as_user = false,
};

inline constexpr Program apptainer{
    .name = "apptainer",
    .release = "Apptainer, its source only",
    .read_only = {{{"--bind {host}:{path}:ro", apptainer_bind},
                   {"--mount type=bind,source={host},destination={path},ro", fields}}},
    .writable = {{{"--bind {host}:{path}", apptainer_bind},
                  {"--mount type=bind,source={host},destination={path}", fields}}},
    .node = {{{"--bind {host}:{path}", apptainer_bind},
              {"--mount type=bind,source={host},destination={path}", fields}}},
    .variable = {{{"--env {name}={value}", apptainer_value},
                  {"--env {name}={value}", apptainer_fields}}},
    .implies = "nosuid,nodev",
    .places = NodePlaces::own_path,
};

inline constexpr Program charliecloud{
    .name = "charliecloud",
    .release = "Charliecloud 0.31",
    .writable = {{{"-b {host}:{path}", no_colon}}},
    .node = {{{"-b {host}:{path}", no_colon}}},
    .variable = {{{"--set-env={name}={value}", charliecloud_value},
                  {"--env-no-expand --set-env={name}={value}", charliecloud_exact}}},
    .implies = "nosuid",
    .places = NodePlaces::not_in_dev,
    .makes_targets = false,
    .keeps_environment = true,
};

inline constexpr Program lxc{
    .name = "lxc",
    .release = "LXC 5.0.2",
    .shape = Shape::lines,
    .read_only = {{{"lxc.mount.entry = {host} {target} none {flags},create={kind} 0 0", fstab}}},
    .writable = {{{"lxc.mount.entry = {host} {target} none {flags},create={kind} 0 0", fstab}}},
    .node = {{{"lxc.cgroup2.devices.allow = {type} {major}:{minor} {permissions}\n"
               "lxc.mount.entry = {host} {target} none bind,create=file 0 0",
               fstab}}},
    .tmpfs = {"lxc.mount.entry = tmpfs {target} tmpfs {options},create=dir 0 0", fstab},
    .variable = {{{"lxc.environment = {name}={value}", config_line}}},
    .group = {"lxc.init.groups = {gids}"},
    .interface = {"lxc.net.{index}.type = phys\n"
                  "lxc.net.{index}.link = {host}\n"
                  "lxc.net.{index}.name = {name}",
                  config_line},
    .keeps = "*",
    .groups = Groups::listed,
    .limits_access = true,
    .opens_as_user = false,
    .renames = true,
};

inline constexpr Program docker{
    .name = "docker",
    .release = "Docker 28.2.2, its command line",
    .read_only = {{{"--mount type=bind,src={host},dst={path},readonly", fields}}},
    .writable = {{{"--mount type=bind,src={host},dst={path}", fields}}},
    .node = {{{"--device {host}:{path}:{permissions}", no_colon},
              {"--device-cgroup-rule {rule} --mount type=bind,src={host},dst={path}", fields}}},
    .tmpfs = {"--tmpfs {path}:{options}", no_colon},
    .variable = {{{"-e {name}={value}"}}},
    .group = {"--group-add {gid}"},
    .implies = "nodev",  // by its device cgroup
    .groups = Groups::listed,
    .limits_access = true,
    .opens_as_user = false,
};

inline constexpr Program podman{
    .name = "podman",
    .release = "podman 4.3.1",
    .read_only = {{{"--mount type=bind,src={host},dst={path},{options}", plain_fields}}},
    .writable = {{{"--mount type=bind,src={host},dst={path}", plain_fields}}},
    .node = {{{"--device {host}:{path}:{permissions}", no_colon}}},
    .tmpfs = {"--tmpfs {path}:{options}", no_colon},
    .variable = {{{"-e {name}={value}"}}},
    .group = {"--group-add {gid}"},
    .keeps = "ro,noexec",
    .implies = "nosuid,nodev",
    .groups = Groups::rootless,
    .limits_access = true,
};

inline constexpr Program unshare{
    .name = "unshare",
    .release = "util-linux 2.38.1",
    .shape = Shape::shell,
    .first = {"set -e\n"
              "at_dir() { mkdir -p -- \"$1\"; }\n"
              "at_file() { mkdir -p -- \"${1%/*}\"; [ -e \"$1\" ] || : >\"$1\"; }"},
    .read_only = {{{"at_{kind} {at}\nmount --rbind -- {host} {at}\n"
                    "mount -o remount,bind,{options} -- {at}",
                    in_shell}}},
    .writable = {{{"at_{kind} {at}\nmount --rbind -- {host} {at}", in_shell}}},
    .node = {{{"at_file {at}\nmount --bind -- {host} {at}", in_shell}}},
    .tmpfs = {"at_dir {at}\nmount -t tmpfs -o {options} -- tmpfs {at}", in_shell},
    .variable = {{{"export {name}={value}", in_shell}}},
    .sys = {"at_dir {at}\nmount --rbind -- /sys {at}", in_shell},
    .keeps = "ro,nosuid,nodev,noexec,noatime,nodiratime",
    .keeps_environment = true,
};

}  // namespace detail

/// All programs.
inline constexpr std::array programs{
    detail::bwrap, detail::nspawn, detail::apptainer, detail::charliecloud,
    detail::lxc,   detail::docker, detail::podman,    detail::unshare,
};

/// The program of this name, which must be one of `programs`.
constexpr const Program& program_of(std::string_view name) {
  return *std::find_if(programs.begin(), programs.end(),
                       [&](const auto& program) { return program.name == name; });
}
