// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_LOWER_HPP
#define CDI_LOWER_HPP

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/fields.hpp>
#include <cdi/minimum_version.hpp>
#include <cdi/name.hpp>
#include <cdi/result.hpp>
#include <cdi/spec.hpp>
#include <cdi/validate.hpp>
#include <cdi/version.hpp>
#include <cdi/write.hpp>

// Specs for engines of another age: an engine refuses the whole of a spec file whose CDI release it
// does not know.

namespace cdi::inline CDI_ABI {

/// Something that a spec says and another release cannot say.
struct Loss {
  std::string where{};   ///< path of the member, in the spec that was given
  std::string what{};    ///< the member with its value, and since when it can be said
  std::string breaks{};  ///< what no longer works, for people

  friend bool operator==(const Loss&, const Loss&) = default;
};

/// A spec as another release writes it, with what was lost on the way.
struct Lowered {
  Spec spec{};                 ///< valid, and all of it in the release asked for
  std::vector<Loss> losses{};  ///< in the order of the field lists; a device after its members
};

/// What to do when something would be lost.
enum class Losses : std::uint8_t {
  refuse,  ///< fail, with the first loss as the error
  allow    ///< go on, and tell of each in `Lowered::losses`
};

/// A loss as an error at its place, `Errc::unsupported`, without a position. Its message:
/// `additionalGids [44] (since 0.7.0) is lost: ...`.
inline Error to_error(const Loss& loss) {
  return {.code = Errc::unsupported,
          .message = loss.what + " is lost: " + loss.breaks,
          .where = loss.where};
}

namespace detail {

/// A sink that writes a value on one line, as far as it fits into a message.
class OneLine {
 public:
  void begin_map() { open("{"); }
  void end_map() { close("}"); }
  void begin_list() { open("["); }
  void end_list() { close("]"); }
  void key(std::string_view name) { open(detail::escaped(name).append(": ")); }
  void text(std::string_view value) { item(detail::quoted(value)); }
  void integer(std::int64_t value) { item(std::to_string(value)); }
  void unsigned_integer(std::uint64_t value) { item(std::to_string(value)); }
  void boolean(bool value) { item(value ? "true" : "false"); }
  void number(std::string_view value) { item(value); }
  void null() { item("null"); }

  std::string take() && {
    if (is_full()) line_.append("...");
    return std::move(line_);
  }

 private:
  static constexpr std::size_t longest = 160;

  bool is_full() const { return line_.size() > longest; }

  void item(std::string_view text) {
    if (!is_full()) line_.append(first_ ? "" : ", ").append(text);
    first_ = false;
  }
  void open(std::string_view text) {
    item(text);
    first_ = true;
  }
  void close(std::string_view text) {
    if (!is_full()) line_.append(text);
    first_ = false;
  }

  std::string line_{};
  bool first_ = true;
};

template <class T>
std::string on_one_line(const T& value) {
  OneLine sink;
  cdi::write(value, sink);
  return std::move(sink).take();
}

/// What no longer works without a field.
struct Consequence {
  std::string_view key;
  std::string_view breaks;
};

inline constexpr std::array<Consequence, 7> consequences{{
    {"annotations", "nothing changes in the container, but tools that read annotations miss them"},
    {"hostPath", "the host's node at path is taken instead: another one, or none"},
    {"type", "the runtime is not told how to mount, and may refuse to start the container"},
    {"netDevices", "the network interfaces stay on the host"},
    {"intelRdt", "the container runs without these cache and memory bandwidth settings"},
    {"additionalGids", "a process that is not root may lack the groups that open the devices"},
    {"schemata", "these cache and memory bandwidth limits are not set"},
}};

inline std::string_view consequence_of_losing(std::string_view key) {
  for (const auto& [lost, breaks] : consequences) {
    if (lost == key) return breaks;
  }
  return "what it asks for is not done";
}

/// Whether a member can go and nothing changes.
template <class T>
bool is_needless(const T&, std::string_view) {
  return false;
}

/// Without a host path, or when the edits say all that the host would be asked, `path` counts.
inline bool is_needless(const DeviceNode& node, std::string_view key) {
  if (key != "hostPath") return false;
  const bool has_numbers = !node.type.empty() && (node.major != 0 || node.type == "p");
  return node.host_path == node.path || (has_numbers && node.file_mode);
}

/// The options `bind` and `rbind` say what the type `bind` says.
inline bool is_needless(const Mount& mount, std::string_view key) {
  if (key != "type" || mount.type != "bind") return false;
  return std::any_of(mount.options.begin(), mount.options.end(),
                     [](std::string_view option) { return option == "bind" || option == "rbind"; });
}

/// An empty list of schemata sets no limit.
inline bool is_needless(const IntelRdt& rdt, std::string_view key) {
  return key == "schemata" && rdt.schemata->empty();
}

/// 1.1.0 says with enableMonitoring what older releases say with enableCMT and enableMBM.
inline void translate_monitoring(ContainerEdits& edits, Release release) {
  if (!edits.intel_rdt) return;
  auto& rdt = *edits.intel_rdt;
  if (release >= Release{1, 1, 0}) {
    const bool counted = rdt.enable_cmt.value_or(false) || rdt.enable_mbm.value_or(false);
    rdt.enable_monitoring = rdt.enable_monitoring || counted;
    rdt.enable_cmt.reset();
    rdt.enable_mbm.reset();
  } else if (release >= Release{0, 7, 0} && rdt.enable_monitoring) {
    rdt.enable_monitoring = false;
    rdt.enable_cmt = true;
    rdt.enable_mbm = true;
  }
}

/// Whether a release allows the name of a device.
inline bool allows_name(Release release, const Device& device) {
  Spec named;
  named.devices.push_back({.name = device.name});
  return cdi::minimum_version(named) <= release;
}

/// Takes what a release lacks out of a spec, and notes what is lost by it.
class Lowering {
 public:
  Lowering(Release release, std::string_view kind) : release_{release}, kind_{kind} {}

  template <Described T>
  void lower_fields(T& value, const std::string& where) {
    every_field<T>([&](const auto& f) {
      lower_field(value, f, where);
      return true;
    });
  }

  std::vector<Loss> take_losses() && { return std::move(losses_); }

 private:
  template <class T, class F>
  void lower_field(T& owner, const F& field, const std::string& where) {
    auto& member = owner.*field.member;
    if (cdi::is_empty(member)) return;
    std::string path = where;
    path.append(where.empty() ? "" : ".").append(field.key);
    if (field.lifetime.has(release_)) {
      lower_inside(member, path);
      return;
    }
    if (!detail::is_needless(owner, field.key)) {
      std::string what{field.key};
      what.append(" ").append(detail::on_one_line(member));
      what.append(" (since ").append(cdi::to_string(field.lifetime.since)).append(")");
      losses_.push_back({.where = std::move(path),
                         .what = std::move(what),
                         .breaks = std::string{detail::consequence_of_losing(field.key)}});
    }
    member = typename F::value_type{};
  }

  template <class T>
  void lower_inside(T& value, const std::string& where) {
    if constexpr (Described<T>) {
      lower_fields(value, where);
    } else if constexpr (OptionalLike<T>) {
      if (value) lower_inside(*value, where);
    } else if constexpr (ListLike<T>) {
      if constexpr (Described<typename T::value_type>) lower_items(value, where);
    }
  }

  template <class List>
  void lower_items(List& items, const std::string& where) {
    List kept;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (keep(items[i], detail::item_path(where, i))) kept.push_back(std::move(items[i]));
    }
    items = std::move(kept);
  }

  template <Described T>
  bool keep(T& item, const std::string& where) {
    lower_fields(item, where);
    return true;
  }

  /// Devices that the release cannot name, and those with no edits left, cannot stay.
  bool keep(Device& device, const std::string& where) {
    if (!detail::allows_name(release_, device)) {
      lose_device(device, where,
                  " (names may begin with a digit since 0.5.0: rename it, or convert to that)");
      return false;
    }
    lower_fields(device, where);
    if (!cdi::is_empty(device.container_edits)) return true;
    lose_device(device, where, " (no edits are left)");
    return false;
  }

  void lose_device(const Device& device, const std::string& where, std::string_view reason) {
    losses_.push_back(
        {.where = where,
         .what = "device " + detail::quoted(device.name).append(reason),
         .breaks = detail::quoted(qualified_name(kind_, device.name)) + " cannot be requested"});
  }

  Release release_;
  std::string_view kind_;
  std::vector<Loss> losses_{};
};

inline Result<void> check_target(Release release) {
  const bool known =
      std::find(known_releases.begin(), known_releases.end(), release) != known_releases.end();
  if (known && release >= Release{}) return {};
  std::string message = "release " + cdi::to_string(release) + " is none that a spec can name: use";
  message.append(" one of");
  for (const Release r : known_releases) {
    if (r >= Release{}) message.append(1, ' ').append(cdi::to_string(r));
  }
  return Error{.code = Errc::unsupported, .message = std::move(message)};
}

/// Without its class, nobody finds the devices of a spec: there is nothing to convert.
inline Result<void> check_target_has_kind(Release release, const Spec& spec) {
  const Release needed = cdi::minimum_version(Spec{.kind = spec.kind});
  if (needed <= release) return {};
  return Error{.code = Errc::unsupported,
               .message = "kind " + detail::quoted(spec.kind) + " has a dot in its class, which " +
                          cdi::to_string(release) + " does not allow: rename it, or convert to " +
                          cdi::to_string(needed) + " or newer",
               .where = "kind"};
}

/// Says for all devices why the first is lost.
inline Error no_device_left(Release release, const std::vector<Loss>& losses) {
  Error error{.code = Errc::unsupported,
              .message = cdi::to_string(release) + " can hold none of the devices",
              .where = "devices"};
  for (const auto& loss : losses) {
    if (loss.where == "devices[0]") error.message.append("; ").append(to_error(loss).message);
  }
  return error;
}

/// The first loss as an error, which names the places of some more.
inline Error refusal(const std::vector<Loss>& losses) {
  constexpr std::size_t named = 4;
  Error error = to_error(losses.front());
  for (std::size_t i = 1; i < losses.size() && i <= named; ++i) {
    error.message.append(i == 1 ? "; lost too: " : ", ").append(losses[i].where);
  }
  if (losses.size() > named + 1) {
    error.message.append(" and ").append(std::to_string(losses.size() - named - 1)).append(" more");
  }
  return error;
}

}  // namespace detail

/// A spec as an older or newer release writes it: its `cdiVersion` is that release, and what the
/// release lacks is gone. What can be said in another way is, and is no loss.
///
/// `Errc::unsupported` when something is lost, unless losses are allowed; when the release is none
/// that a spec can name, or does not allow the kind; and when no device is left. When the spec is
/// not valid, what `validate` says. The result is valid. Costs a copy of the spec.
inline Result<Lowered> lower(const Spec& spec, Release release, Losses losses = Losses::refuse) {
  if (auto known = detail::check_target(release); !known) return std::move(known).error();
  if (auto valid = cdi::validate(spec); !valid) return std::move(valid).error();
  if (auto r = detail::check_target_has_kind(release, spec); !r) return std::move(r).error();
  Lowered lowered{.spec = spec};
  lowered.spec.version = cdi::to_string(release);
  detail::translate_monitoring(lowered.spec.container_edits, release);
  for (auto& device : lowered.spec.devices) {
    detail::translate_monitoring(device.container_edits, release);
  }
  detail::Lowering lowering{release, spec.kind};
  lowering.lower_fields(lowered.spec, "");
  lowered.losses = std::move(lowering).take_losses();
  if (lowered.spec.devices.empty()) return detail::no_device_left(release, lowered.losses);
  if (losses == Losses::refuse && !lowered.losses.empty()) return detail::refusal(lowered.losses);
  assert(cdi::validate(lowered.spec));
  return lowered;
}

}  // namespace cdi::inline CDI_ABI

#endif  // CDI_LOWER_HPP
