// The ResourceSlices of a driver on a node, in the API server.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "slice_store.hpp"

#include <fmt/format.h>

#include "../../gpu/slices/limits.hpp"
#include "../claims/api_limits.hpp"
#include "api_versions.hpp"

namespace dra {

std::optional<ApiFailure> SliceStore::list(std::vector<ExistingSlice>& out) {
  auto answer =
      api_.get(fmt::format("/resourceslices?fieldSelector=spec.driver%3D{},spec.nodeName%3D{}",
                           whose_.driver, whose_.node),
               deadline(), api_limits.bytes);
  const std::string what = "the list of ResourceSlices";
  if (auto failed = failure_in(what, answer)) return failed;
  auto object = read_object(std::exchange(answer->body, {}), what);
  if (!object) return ApiFailure{.error = std::move(object).error()};
  const auto items = object->find("items");
  if (items == object->end() || !(items->is_array() || items->is_null())) {
    return ApiFailure{.error = {.code = cdi::Errc::schema, .message = what + " has no items"}};
  }
  out.clear();
  for (auto& item : *items) {
    if (auto slice = slice_in(std::move(item))) out.push_back(*std::move(slice));
  }
  return std::nullopt;
}

std::optional<ApiFailure> SliceStore::apply(const SliceChange& change, const std::string& node_uid,
                                            ApiJson& kept) {
  const auto answer =
      api_.send([&](const std::string& version) { return request_for(change, node_uid, version); },
                deadline());
  const bool removes = change.action == SliceChange::Action::remove;
  if (removes && answer && answer->status == 404) return std::nullopt;  // it is gone anyway
  const auto what = change.slice.name.empty() ? std::string{"a new ResourceSlice"}
                                              : "ResourceSlice " + change.slice.name;
  if (auto failed = failure_in(what, answer)) return failed;
  if (removes) return std::nullopt;
  auto slice = slice_in(parse_object(answer->body));
  if (!slice) {
    return ApiFailure{.error = {.code = cdi::Errc::schema,
                                .message = what + ": the API server answers with another object"}};
  }
  kept = std::move(slice->spec);
  return std::nullopt;
}

std::optional<ApiFailure> SliceStore::node_uid(std::string& out) {
  const auto answer = api_.node(whose_.node, deadline());
  const auto what = "Node " + whose_.node;
  if (auto failed = failure_in(what, answer)) {
    failed->status = 0;
    return failed;
  }
  const auto object = parse_object(answer->body);
  if (object.contains("metadata")) out = text_in(object["metadata"], "uid");
  if (!out.empty()) return std::nullopt;
  return ApiFailure{.error = {.code = cdi::Errc::schema, .message = what + " has no UID"}};
}

HttpClient::Deadline SliceStore::deadline() {
  return std::chrono::steady_clock::now() + HttpClient::longest;
}

std::optional<ApiFailure> SliceStore::failure_in(const std::string& what,
                                                 const cdi::Result<HttpAnswer>& answer) {
  if (!answer) return ApiFailure{.error = answer.error()};
  if (answer->is_success()) return std::nullopt;
  return ApiFailure{.error = answer_error(what, *answer),
                    .status = answer->status,
                    .retry_after = answer->retry_after};
}

ApiJson SliceStore::owners_in(ApiJson& metadata) {
  const auto found = metadata.is_object() ? metadata.find("ownerReferences") : metadata.end();
  const bool has_some = found != metadata.end() && found->is_array() && !found->empty();
  return has_some ? std::move(*found) : ApiJson{};
}

std::optional<ExistingSlice> SliceStore::slice_in(ApiJson object) {
  if (!object.contains("metadata") || !object.contains("spec")) return std::nullopt;
  auto& metadata = object["metadata"];
  ExistingSlice out{.name = text_in(metadata, "name"),
                    .uid = text_in(metadata, "uid"),
                    .resource_version = text_in(metadata, "resourceVersion"),
                    .owners = owners_in(metadata),
                    .spec = spec_to_v1(std::move(object["spec"]))};
  const bool has_name = prepare::is_dns_subdomain(out.name, prepare::slice_limits::object_name);
  if (!has_name || !out.spec.is_object()) return std::nullopt;
  return out;
}

HttpRequest SliceStore::request_for(const SliceChange& change, const std::string& node_uid,
                                    const std::string& version) const {
  const auto& slice = change.slice;
  const auto path = "/resourceslices/" + slice.name;
  if (change.action == SliceChange::Action::remove) {
    return {.method = "DELETE", .path = path, .body = text_of(delete_options(slice))};
  }
  // Unknown members are mistakes of this program. Older versions of the API lack some members.
  const std::string strict = version == "v1" ? "?fieldValidation=Strict" : "";
  ApiJson object{{"apiVersion", "resource.k8s.io/" + version},
                 {"kind", "ResourceSlice"},
                 {"metadata", metadata(slice, node_uid)},
                 {"spec", spec_to_version(slice.spec, version)}};
  if (slice.name.empty()) {
    return {.method = "POST", .path = "/resourceslices" + strict, .body = text_of(object)};
  }
  return {.method = "PUT", .path = path + strict, .body = text_of(object)};
}

ApiJson SliceStore::delete_options(const ExistingSlice& slice) {
  return {
      {"apiVersion", "v1"},
      {"kind", "DeleteOptions"},
      {"preconditions", ApiJson{{"uid", slice.uid}, {"resourceVersion", slice.resource_version}}}};
}

ApiJson SliceStore::metadata(const ExistingSlice& slice, const std::string& node_uid) const {
  ApiJson node{{"apiVersion", "v1"},
               {"kind", "Node"},
               {"name", whose_.node},
               {"uid", node_uid},
               {"controller", true}};
  auto owners = slice.owners.is_null() ? ApiJson::array({std::move(node)}) : slice.owners;
  ApiJson out{{"ownerReferences", std::move(owners)}};
  if (slice.name.empty()) {
    out["generateName"] = whose_.node + "-" + whose_.driver + "-";
  } else {
    out["name"] = slice.name;
    out["uid"] = slice.uid;
    out["resourceVersion"] = slice.resource_version;
  }
  return out;
}

std::string SliceStore::text_of(const ApiJson& object) {
  return object.dump(-1, ' ', false, ApiJson::error_handler_t::replace);
}

}  // namespace dra
