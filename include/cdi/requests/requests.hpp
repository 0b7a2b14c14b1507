// `Requests`: the devices that a container requests, and the origin of each name; selectors.
// SPDX-License-Identifier: Apache-2.0 OR MIT

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
#include <cdi/requests/annotations.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// Where the name of a requested device was found.
enum class RequestOrigin : std::uint8_t {
  field,         ///< the field `CDI_devices` of the CRI, which kubelet fills
  annotation,    ///< an annotation, whose key is `RequestedDevice::key`
  variable,      ///< an environment variable, whose name is `RequestedDevice::key`
  command_line,  ///< a caller, for example on a command line
};

/// The names of the origins in policies and decisions, in the order of `RequestOrigin`.
inline constexpr std::array<std::string_view, 4> request_origin_names{"field", "annotation",
                                                                      "variable", "commandLine"};

/// Returns the name of an origin: an entry of `request_origin_names`.
constexpr std::string_view request_origin_name(RequestOrigin origin) {
  return request_origin_names[static_cast<std::size_t>(origin)];
}

/// A device that a container requests. It converts to its name, so that `inject` and `wait_for`
/// accept a list of requested devices.
struct RequestedDevice {
  std::string name{};                           ///< the qualified name, as written
  RequestOrigin origin = RequestOrigin::field;  ///< where the name was found
  std::string key{};                            ///< of the annotation or variable; may be empty

  /// Returns the name, which is valid as long as this device.
  operator std::string_view() const noexcept { return name; }

  friend bool operator==(const RequestedDevice&, const RequestedDevice&) = default;
};

/// How to handle repeated names, and annotations without a value. The hooks of a device that is
/// injected twice run twice.
enum class RequestRules : std::uint8_t {
  each_once,   ///< drops a name that is already requested; an empty annotation requests nothing
  containerd,  ///< like `each_once`, but rejects an empty annotation; containerd 1.7.2 to 2.4
  cri_o,       ///< drops only annotated names that are also in the field; CRI-O 1.27 to 1.35
};

/// The most bytes that the keys of all names in one call of `Requests::add_annotations` may take,
/// and that the names of a selector may take. Each device has its own copy: without a limit, an
/// annotation or a variable of 100 kB could take gigabytes.
inline constexpr std::size_t max_request_bytes = std::size_t{16} << 20;

/// The devices that a container requests, gathered from the CRI field, annotations and environment
/// variables, in the order of the calls.
///
/// containerd and CRI-O add the field first, then annotations in random order. This class sorts
/// annotations by key.
class Requests {
 public:
  /// Starts without devices.
  explicit Requests(RequestRules which = RequestRules::each_once) : rules_{which} {}

  /// Adds the names of the CRI field, any range of text. Names are not checked: as in containerd
  /// and CRI-O, an invalid name fails only when it is injected.
  template <class Names>
  void add_field(const Names& names) {
    std::vector<RequestedDevice> added;
    for (const auto& item : names) {
      const std::string_view name = item;
      added.push_back({.name = std::string{name}});
    }
    add(std::move(added));
  }

  /// Adds the devices of annotations: any map of text, such as `std::map` or
  /// `oci::Spec::annotations`, or an `nlohmann::json` object. Only keys that begin with `prefix`
  /// are read. JSON null means no annotations.
  ///
  /// An error adds nothing. Fails with `Errc::invalid_name` for the first invalid name, with its
  /// key; with `Errc::schema` for JSON that is not an object or a value that is not a string; and
  /// with `Errc::limit` beyond `max_request_bytes`.
  template <class Annotations>
  Result<void> add_annotations(const Annotations& annotations,
                               std::string_view prefix = annotation_prefix) {
    detail::AnnotationEntries entries;
    if (auto done = entries.add(annotations, prefix); !done) return done;
    return add_entries(entries);
  }

  /// Adds the devices of an environment variable such as `VISIBLE_CDI_DEVICES`, whose value is a
  /// selector. A name that is already requested is dropped under all rules. Fails with the errors
  /// of `parse_selector`, which then name the variable, and adds nothing.
  Result<void> add_variable(std::string_view name, std::string_view value);

  /// Returns the requested devices, in order.
  const std::vector<RequestedDevice>& devices() const& { return devices_; }
  /// Returns the requested devices, so that they can be moved.
  std::vector<RequestedDevice>&& devices() && { return std::move(devices_); }

 private:
  Result<void> add_entries(const detail::AnnotationEntries& entries);
  void add(std::vector<RequestedDevice> added);

  RequestRules rules_;
  std::vector<RequestedDevice> devices_{};
};

/// The environment variable with which a container in a Kata guest requests devices.
inline constexpr std::string_view visible_devices_variable = "VISIBLE_CDI_DEVICES";

/// Returns the qualified names that a selector such as `nvidia.com/gpu=all : nvidia.com/ib=0, 1`
/// selects, in order: three in this example. A colon separates entries. An entry consists of a
/// kind, `=`, and either `all` or indices separated by commas; blanks around these parts are
/// ignored. The index `+07` selects the device `7`. Empty text, `none` and `void` select nothing.
/// `all` is the name of a device that vendors define.
///
/// Fails with `Errc::invalid_name` for a missing or invalid kind; with `Errc::invalid` for a device
/// that is neither `all` nor an index below 2^32, or for `all` next to indices; and with
/// `Errc::limit` beyond `max_request_bytes`.
Result<std::vector<std::string>> parse_selector(std::string_view text);

}  // namespace cdi

#if CDI_BODIES
#include <cdi/requests/requests.inl>
#endif

#endif  // CDI_REQUESTS_REQUESTS_HPP
