// Forward declarations, for headers that only pass objects along. Includes no other header.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_FWD_HPP
#define CDI_FWD_HPP

#include <cdi/version.hpp>

/// The Container Device Interface: reads, checks and writes device specs, finds devices by name,
/// and applies their edits to OCI runtime specs. The library itself never throws: a function that
/// can fail returns a `Result`.
namespace cdi::inline CDI_ABI {

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

}  // namespace cdi

#endif  // CDI_FWD_HPP
