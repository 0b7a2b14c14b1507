// Edits have the same result in C structs as in our OCI model. The address sanitizer shows that
// nothing leaks and nothing is freed twice.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/json.hpp>
#include <cdi/oci.hpp>
#include <cdi/plan.hpp>

#include "../support/random_registry.hpp"
#include "c_spec_model.hpp"
#include "edits.hpp"

namespace {

using c_spec_test::check_ends;
using c_spec_test::CSpec;
using c_spec_test::ends_in_null;
using c_spec_test::fill;
using c_spec_test::Model;
using c_spec_test::OwnedCSpec;
using c_spec_test::to_model;
using editors_test::edits;
using editors_test::parsed;
using editors_test::specs;

static_assert(cdi::FullyEditable<CSpec>);

}  // namespace

TEST_CASE("Edits have the same result in C structs as in the model") {
  for (const auto text : specs) {
    for (const auto first : edits) {
      for (const auto second : edits) {
        CAPTURE(text);
        CAPTURE(first);
        CAPTURE(second);
        auto model = parsed<Model>(text);
        OwnedCSpec owned;
        fill(model, owned.spec);
        model.version.clear();
        REQUIRE(to_model(owned.spec) == model);
        for (const auto each : {first, second, first}) {
          const auto applied = parsed<cdi::ContainerEdits>(each);
          REQUIRE(applied.apply(model));
          REQUIRE(applied.apply(owned.spec));
        }
        REQUIRE(to_model(owned.spec) == model);
      }
    }
  }
}

TEST_CASE("Each list ends in NULL") {
  for (const auto text : specs) {
    CAPTURE(text);
    OwnedCSpec owned;
    fill(parsed<Model>(text), owned.spec);
    for (const auto each : edits) {
      REQUIRE(parsed<cdi::ContainerEdits>(each).apply(owned.spec));
    }
    const auto& spec = owned.spec;
    CHECK(ends_in_null(spec.process->env, spec.process->env_len));
    CHECK(ends_in_null(spec.mounts, spec.mounts_len));
    for (std::size_t i = 0; i < spec.mounts_len; ++i) {
      CHECK(ends_in_null(spec.mounts[i]->options, spec.mounts[i]->options_len));
    }
    check_ends(*spec.hooks);
    check_ends(*spec.linux);
  }
}

TEST_CASE("Settings of Intel RDT are copied before the old ones are freed") {
  OwnedCSpec owned;
  cdi::SpecEditor<CSpec> editor{owned.spec};
  editor.set_intel_rdt({.clos_id = "first"});
  editor.set_intel_rdt({.clos_id = owned.spec.linux->intel_rdt->clos_id});
  CHECK(c_spec::view(owned.spec.linux->intel_rdt->clos_id) == "first");
}

TEST_CASE("A second injection of the same devices changes nothing") {
  random_registry::inject_twice(
      [](const Model& model) {
        const auto owned = std::make_shared<OwnedCSpec>();
        fill(model, owned->spec);
        return std::shared_ptr<CSpec>{owned, &owned->spec};
      },
      [](std::uint32_t seed, bool injected, const CSpec& once, const CSpec& twice) {
        CAPTURE(seed);
        REQUIRE(injected);
        REQUIRE(to_model(once) == to_model(twice));
      });
}

TEST_CASE("A plan changes C structs as it changes the model") {
  for (const auto text : specs) {
    for (const auto each : edits) {
      CAPTURE(text);
      CAPTURE(each);
      cdi::LoadedSpec loaded;
      loaded.spec.kind = "v.com/c";
      loaded.spec.devices = {{"0", {}, parsed<cdi::ContainerEdits>(each)}};
      const cdi::Registry registry{{std::make_shared<const cdi::LoadedSpec>(loaded)}};
      const auto plan = cdi::plan(registry, {"v.com/c=0"});
      REQUIRE(plan);
      auto model = parsed<Model>(text);
      OwnedCSpec owned;
      fill(model, owned.spec);
      model.version.clear();
      const auto of_model = plan->apply(model);
      const auto of_structs = plan->apply(owned.spec);
      REQUIRE(of_model);
      REQUIRE(of_structs);
      CHECK(to_model(owned.spec) == model);
      CHECK_FALSE(of_structs->empty());
    }
  }
}

TEST_CASE("After an error the structs are unchanged") {
  auto model = parsed<Model>(editors_test::full_spec);
  OwnedCSpec owned;
  fill(model, owned.spec);
  model.version.clear();
  auto bad =
      parsed<cdi::ContainerEdits>(R"({"env":["Z=1"],"deviceNodes":[{"path":"/not/there"}]})");
  const auto done = bad.apply(owned.spec);
  REQUIRE_FALSE(done);
  CHECK(done.error().code == cdi::Errc::host);
  CHECK(to_model(owned.spec) == model);
}
