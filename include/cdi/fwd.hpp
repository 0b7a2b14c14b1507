// Names without definitions, for headers that only pass things along. Includes no other header.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_FWD_HPP
#define CDI_FWD_HPP

#include <cdi/version.hpp>

/// The Container Device Interface: specs of devices, read, checked, written, found by name, and
/// applied to OCI runtime specs. Nothing in it throws of its own: what can fail gives a `Result`.
namespace cdi {
inline namespace CDI_ABI {

struct Owning;
struct Borrowed;

struct Error;
template <class T>
class Result;

template <class S>
struct BasicSpec;
template <class S>
struct BasicDevice;
template <class S>
struct BasicContainerEdits;

using Spec = BasicSpec<Owning>;
using SpecView = BasicSpec<Borrowed>;
using Device = BasicDevice<Owning>;
using DeviceView = BasicDevice<Borrowed>;
using ContainerEdits = BasicContainerEdits<Owning>;
using ContainerEditsView = BasicContainerEdits<Borrowed>;

class Document;
class Registry;
class Cache;
class Watcher;
class Publisher;

template <class OciSpec>
struct SpecEditor;

namespace oci {

template <class S>
struct BasicSpec;

using Spec = BasicSpec<Owning>;
using SpecView = BasicSpec<Borrowed>;

}  // namespace oci

}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_FWD_HPP
