// A container of NRI as an OCI runtime spec, so that the library can inject devices into it.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_NRI_CONTAINER_SPEC_HPP
#define CDI_TOOLS_NRI_CONTAINER_SPEC_HPP

#include <nri.pb.h>
#include <optional>

#include <cdi/oci.hpp>

namespace nri {

namespace detail {

inline cdi::oci::Hook oci_hook(const Hook& hook) {
  cdi::oci::Hook out;
  out.path = hook.path();
  out.args.assign(hook.args().begin(), hook.args().end());
  out.env.assign(hook.env().begin(), hook.env().end());
  if (hook.has_timeout()) out.timeout = hook.timeout().value();
  return out;
}

inline cdi::oci::Hooks oci_hooks(const Hooks& hooks) {
  cdi::oci::Hooks out;
  for (const auto& hook : hooks.prestart()) out.prestart.push_back(oci_hook(hook));
  for (const auto& hook : hooks.create_runtime()) out.create_runtime.push_back(oci_hook(hook));
  for (const auto& hook : hooks.create_container()) out.create_container.push_back(oci_hook(hook));
  for (const auto& hook : hooks.start_container()) out.start_container.push_back(oci_hook(hook));
  for (const auto& hook : hooks.poststart()) out.poststart.push_back(oci_hook(hook));
  for (const auto& hook : hooks.poststop()) out.poststop.push_back(oci_hook(hook));
  return out;
}

inline cdi::oci::LinuxDevice oci_device(const LinuxDevice& device) {
  cdi::oci::LinuxDevice out;
  out.path = device.path();
  out.type = device.type();
  out.major = device.major();
  out.minor = device.minor();
  if (device.has_file_mode()) out.file_mode = device.file_mode().value();
  if (device.has_uid()) out.uid = device.uid().value();
  if (device.has_gid()) out.gid = device.gid().value();
  return out;
}

inline cdi::oci::LinuxDeviceCgroup oci_rule(const LinuxDeviceCgroup& rule) {
  cdi::oci::LinuxDeviceCgroup out;
  out.allow = rule.allow();
  out.type = rule.type();
  if (rule.has_major()) out.major = rule.major().value();
  if (rule.has_minor()) out.minor = rule.minor().value();
  out.access = rule.access();
  return out;
}

inline cdi::oci::LinuxIntelRdt oci_rdt(const LinuxRdt& rdt) {
  cdi::oci::LinuxIntelRdt out;
  out.clos_id = rdt.clos_id().value();
  out.schemata.assign(rdt.schemata().value().begin(), rdt.schemata().value().end());
  out.enable_monitoring = rdt.enable_monitoring().value();
  return out;
}

inline cdi::oci::Linux oci_linux(const LinuxContainer& linux_container) {
  cdi::oci::Linux out;
  for (const auto& device : linux_container.devices()) out.devices.push_back(oci_device(device));
  out.resources.emplace();
  for (const auto& rule : linux_container.resources().devices()) {
    out.resources->devices.push_back(oci_rule(rule));
  }
  for (const auto& [host_name, device] : linux_container.net_devices()) {
    out.net_devices[host_name].name = device.name();
  }
  if (linux_container.has_rdt()) out.intel_rdt = oci_rdt(linux_container.rdt());
  return out;
}

}  // namespace detail

/// The parts of a container that devices can change.
inline cdi::oci::Spec container_spec(const Container& container) {
  cdi::oci::Spec spec;
  auto& process = spec.process.emplace();
  process.user.uid = container.user().uid();
  process.user.gid = container.user().gid();
  process.user.additional_gids.assign(container.user().additional_gids().begin(),
                                      container.user().additional_gids().end());
  process.env.assign(container.env().begin(), container.env().end());
  for (const auto& mount : container.mounts()) {
    auto& added = spec.mounts.emplace_back();
    added.destination = mount.destination();
    added.type = mount.type();
    added.source = mount.source();
    added.options.assign(mount.options().begin(), mount.options().end());
  }
  spec.hooks = detail::oci_hooks(container.hooks());
  spec.linux_ = detail::oci_linux(container.linux());
  return spec;
}

}  // namespace nri

#endif  // CDI_TOOLS_NRI_CONTAINER_SPEC_HPP
