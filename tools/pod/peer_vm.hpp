// The VM of a peer pod whose devices the webhook of cloud-api-adaptor does not pass on: its
// instance type, and a CDI spec for its guest.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "answer.hpp"
#include "instance.hpp"
#include "objects.hpp"

namespace pod {

/// What a pod asks of its VM, and what could not be mapped.
class PeerVm {
 public:
  PeerVm(const Objects& objects, Answer& answer) : objects_{objects}, answer_{answer} {}

  /// Adds resources that containers request.
  void add_resource(const std::string& name, std::int64_t count);

  void set_size(std::int64_t vcpus, std::int64_t memory_mib);

  /// Adds a claim. Returns whether all its requests are mapped.
  bool add_claim(const Object& claim);

  /// Adds all claims, without their pods. Devices for the guest get the namespace in their names if
  /// there are several.
  void add_claims();

  /// The devices of the guest's spec for a claim of a container; empty if the spec has none.
  std::string guest_device(const Object& claim, const std::string& request) const;

  /// Adds the spec for the guest, and the instance type of `types` that has everything.
  void finish(const std::optional<InstanceTypes>& types, const std::string& named);

 private:
  /// The name of a claim, with its namespace where others may have the same name.
  std::string claim_name(const Object& claim, char separator) const;

  std::string device_name(const Object& claim, const std::string& request) const;

  void add_request(const Object& claim, const MappedRequest& one);

  /// Gives a claim devices of its own in the guest, and each request of a claim with several too.
  void add_to_guest(const Object& claim, const MappedRequest& one, const std::string& what);

  void choose(const InstanceTypes& types, const std::string& named);

  /// The type that a claim to the pool of `slices` has.
  void choose_claimed(const InstanceTypes& types);

  void set_instance(const std::string& type, std::string_view rule);

  void check(const InstanceTypes& types, const std::string& named, std::string_view rule);

  /// The kind of the guest's devices, of which each stands for a claim.
  static constexpr const char* claim_kind = "kata.peerpods.io/claim";
  const Objects& objects_;
  Answer& answer_;
  InstanceType need_{};
  bool is_beyond_webhook_ = false;  // it has devices that the webhook does not know
  // By namespace and name of a claim: whether all its requests are mapped.
  std::map<std::pair<std::string, std::string>, bool> mapped_{};
  bool has_namespaces_ = false;  // whether there are claims of several namespaces
  std::map<std::string, std::vector<std::string>> nodes_{};  // of the guest, by device
  std::map<std::string_view, std::uint32_t> taken_{};        // the number of nodes, by path
  std::vector<std::string> instances_{};  // the claimed devices of the pool of instance types
};

}  // namespace pod
