// The C structs of older releases of libocispec have fewer parts: the editor compiles, and edits of
// a missing part are refused.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#define C_SPEC_CRUN 8

#include <cerrno>

#include <doctest/doctest.h>

#include <cdi/cdi.h>
#include <cdi/oci.hpp>

#include "c_spec_model.hpp"
#include "edits.hpp"

extern "C" int merge_for_test(runtime_spec_schema_config_schema* spec, const cdi_edits* edits);

namespace {

using c_spec_test::CSpec;
using c_spec_test::Model;
using c_spec_test::OwnedCSpec;

static_assert(cdi::Editable<CSpec>);
static_assert(!cdi::FullyEditable<CSpec>);

}  // namespace

TEST_CASE("Edits of parts that the structs have are the same as in the model, others fail") {
  for (const auto each : editors_test::edits) {
    CAPTURE(each);
    const auto applied = editors_test::parsed<cdi::ContainerEdits>(each);
    auto model = editors_test::parsed<Model>(editors_test::full_spec);
    OwnedCSpec owned;
    c_spec_test::fill(model, owned.spec);
    model.version.clear();
    const bool is_new = each.find("netDevices") != each.npos || each.find("intelRdt") != each.npos;
    const auto done = applied.apply(owned.spec);
    CHECK(done.has_value() == !is_new);
    if (done) {
      REQUIRE(applied.apply(model));
    } else {
      CHECK(done.error().code == cdi::Errc::unsupported);
    }
    CHECK(c_spec_test::to_model(owned.spec) == model);
  }
}

TEST_CASE("The merge in C refuses edits of parts that the structs do not have") {
  cdi_node node{};
  node.size = sizeof node;
  node.path = node.host_path = "/d";
  node.type = 'c';
  node.access = node.origin = "";
  const cdi_node* const nodes[] = {&node};
  cdi_edits edits{};
  edits.nodes = nodes;
  edits.node_count = 1;
  OwnedCSpec owned;
  edits.net_device_count = 1;
  CHECK(merge_for_test(&owned.spec, &edits) == ENOTSUP);
  edits.net_device_count = 0;
  const cdi_intel_rdt settings{};
  edits.intel_rdt = &settings;
  CHECK(merge_for_test(&owned.spec, &edits) == ENOTSUP);
  CHECK(owned.spec.linux == nullptr);
  edits.intel_rdt = nullptr;
  REQUIRE(merge_for_test(&owned.spec, &edits) == 0);
  CHECK(owned.spec.linux->devices_len == 1);
}
