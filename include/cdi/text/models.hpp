// Explicit instances of the templates over the models, for the compiled library.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TEXT_MODELS_HPP
#define CDI_TEXT_MODELS_HPP

#include <string_view>

#include <cdi/model/spec.hpp>
#include <cdi/model/type_of.hpp>
#include <cdi/oci/spec.hpp>
#include <cdi/text/json.hpp>
#include <cdi/text/read.hpp>

#ifdef CDI_SOURCE

namespace cdi::inline CDI_ABI::detail {

template void copy_to(Spec* place, const Spec& value);
template void move_to(Spec* place, Spec& value);
template void destroy(Spec& value) noexcept;
template void copy_to(oci::Spec* place, const oci::Spec& value);
template void move_to(oci::Spec* place, oci::Spec& value);
template void destroy(oci::Spec& value) noexcept;

template const Type& table_of<Spec>();
template const Type& table_of<SpecView>();
template const Type& table_of<Device>();
template const Type& table_of<DeviceView>();
template const Type& table_of<ContainerEdits>();
template const Type& table_of<ContainerEditsView>();
template const Type& table_of<oci::Spec>();
template const Type& table_of<oci::SpecView>();

template Result<Spec> read_noting(const Document::Value& value, Reading& reading);
template Result<SpecView> read_noting(const Document::Value& value, Reading& reading);
template Result<oci::Spec> read_noting(const Document::Value& value, Reading& reading);
template Result<oci::SpecView> read_noting(const Document::Value& value, Reading& reading);

template Result<Spec> read_json_text(std::string_view, std::string_view, const Limits&);
template Result<oci::Spec> read_json_text(std::string_view, std::string_view, const Limits&);

}  // namespace cdi::detail

#endif  // CDI_SOURCE

#endif  // CDI_TEXT_MODELS_HPP
