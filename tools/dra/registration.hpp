// The registration service, through which the kubelet finds a driver.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <functional>
#include <registration.pb.h>
#include <string>
#include <string_view>
#include <utility>

#include "protocol/grpc_server.hpp"

namespace dra {

/// The services of a driver. Of each kind, the kubelet uses the first one that it knows.
inline constexpr std::string_view driver_services[] = {
    "v1.DRAPlugin", "v1beta1.DRAPlugin", "v1.DRAResourceHealth", "v1alpha1.DRAResourceHealth"};

/// Adds the methods of the registration socket. `told` gets the kubelet's answer: empty if the
/// driver is registered, otherwise the reason.
inline void add_registration(Methods& methods, const std::string& driver,
                             const std::string& endpoint,
                             std::function<void(const std::string& error)> told) {
  namespace api = registration;
  methods.add("/pluginregistration.Registration/GetInfo",
              [driver, endpoint](std::string_view request, Call&) {
                return answer<api::InfoRequest>(request, [&](const api::InfoRequest&) {
                  api::PluginInfo info;
                  info.set_type("DRAPlugin");
                  info.set_name(driver);
                  info.set_endpoint(endpoint);
                  for (const auto service : driver_services) {
                    info.add_supported_versions(std::string{service});
                  }
                  return info;
                });
              });
  methods.add(
      "/pluginregistration.Registration/NotifyRegistrationStatus",
      [told = std::move(told)](std::string_view request, Call&) {
        return answer<api::RegistrationStatus>(request, [&](const api::RegistrationStatus& got) {
          const auto error = got.error().empty() ? "the kubelet gives no reason" : got.error();
          told(got.plugin_registered() ? "" : error);
          return api::RegistrationStatusResponse{};
        });
      });
}

}  // namespace dra
