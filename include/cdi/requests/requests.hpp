// `Requests`: the devices that a container asks for, and where each name comes from.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_REQUESTS_REQUESTS_HPP
#define CDI_REQUESTS_REQUESTS_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/rules/annotations.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

/// Where the name of a requested device was found.
enum class RequestOrigin : std::uint8_t {
  field,         ///< the field `CDI_devices` of the CRI, which kubelet fills
  annotation,    ///< an annotation; `RequestedDevice::key` is its key
  variable,      ///< an environment variable; `RequestedDevice::key` is its name
  command_line,  ///< a caller named it, for example on a command line
};

/// The names of the origins in policies and decisions, in the order of `RequestOrigin`.
inline constexpr std::array<std::string_view, 4> request_origin_names{"field", "annotation",
                                                                      "variable", "commandLine"};

/// The name of an origin: an entry of `request_origin_names`.
constexpr std::string_view request_origin_name(RequestOrigin origin) {
  return request_origin_names[static_cast<std::size_t>(origin)];
}

/// A device that a container asks for. Converts to its name, so that a list of them can be passed
/// to `inject` and `wait_for`.
struct RequestedDevice {
  std::string name{};                           ///< qualified, as it was written
  RequestOrigin origin = RequestOrigin::field;  ///< where it was found
  std::string key{};                            ///< of its annotation or variable; else empty

  /// The name. Valid as long as the device.
  operator std::string_view() const noexcept { return name; }

  friend bool operator==(const RequestedDevice&, const RequestedDevice&) = default;
};

/// What happens to repeated names, and to annotations without a value. A device that is injected
/// twice has its hooks run twice.
enum class RequestRules : std::uint8_t {
  each_once,   ///< drops a name that is already requested; an empty annotation requests nothing
  containerd,  ///< the same, but an empty annotation is an error; containerd 1.7.2 to 2.4
  cri_o,       ///< drops only names of annotations that the field has; CRI-O 1.27 to 1.35
};

/// The devices that a container asks for, gathered from the CRI field, annotations and environment
/// variables, in the order in which they are added.
///
/// containerd and CRI-O add the field first, then annotations. Both visit annotations in random
/// order; here they are in order of key.
class Requests {
 public:
  /// No devices yet.
  explicit Requests(RequestRules which = RequestRules::each_once) : rules_{which} {}

  /// Adds the names of the CRI field, any range of text. Names are not checked: one that is not
  /// valid fails when it is injected, as in containerd and CRI-O.
  template <class Names>
  void add_field(const Names& names) {
    std::vector<RequestedDevice> added;
    for (const auto& item : names) {
      const std::string_view name = item;
      added.push_back({.name = std::string{name}});
    }
    add(std::move(added));
  }

  /// Adds the devices of annotations: of any map of text, such as `std::map` and
  /// `oci::Spec::annotations`, or of an object of `nlohmann::json`. Only keys that begin with
  /// `prefix` count. A null of JSON has no annotations.
  ///
  /// After an error, nothing is added. `Errc::invalid_name`, with key and name in the message, for
  /// the first name that is not valid; `Errc::schema` for JSON that is not an object, and for a
  /// value that is not a string.
  template <class Annotations>
  Result<void> add_annotations(const Annotations& annotations,
                               std::string_view prefix = annotation_prefix) {
    detail::AnnotationEntries entries;
    if (auto done = entries.add(annotations, prefix); !done) return done;
    return add_entries(entries);
  }

  /// Adds the devices of an environment variable such as `VISIBLE_CDI_DEVICES`; its value is a
  /// selector. A name that is already requested is dropped, whatever the rules. Errors are those of
  /// `parse_selector`, with the name of the variable; after an error, nothing is added.
  Result<void> add_variable(std::string_view name, std::string_view value);

  /// What was added, in order.
  const std::vector<RequestedDevice>& devices() const& { return devices_; }
  /// What was added, to move from.
  std::vector<RequestedDevice>&& devices() && { return std::move(devices_); }

 private:
  Result<void> add_entries(const detail::AnnotationEntries& entries);
  void add(std::vector<RequestedDevice> added);

  RequestRules rules_;
  std::vector<RequestedDevice> devices_{};
};

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/requests/requests.inl>
#endif

#endif  // CDI_REQUESTS_REQUESTS_HPP
