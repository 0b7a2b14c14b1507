// Edits of the C library, merged into C structs by the example in plain C, have the same result as
// an injection into our OCI model. The address sanitizer shows that nothing leaks.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <iterator>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include <cdi/cache.hpp>
#include <cdi/cdi.h>

#include "../support/temp_tree.hpp"
#include "c_spec_model.hpp"
#include "edits.hpp"

extern "C" {
int merge_for_test(runtime_spec_schema_config_schema* spec, const cdi_edits* edits);
void remove_for_test(char** items, std::size_t* length, std::size_t at);
}

namespace {

using c_spec_test::CSpec;
using c_spec_test::ends_in_null;
using c_spec_test::fill;
using c_spec_test::Model;
using c_spec_test::OwnedCSpec;
using c_spec_test::to_model;
using editors_test::edits;
using editors_test::parsed;
using editors_test::specs;

/// The name of the device with the edits of an index.
std::string name_of(std::size_t index) {
  return "v.com/c=" + std::to_string(index);
}

/// A directory with a device for each of the edits.
struct Devices {
  Devices() {
    std::string text = R"({"cdiVersion":"1.1.0","kind":"v.com/c","devices":[)";
    for (std::size_t i = 0; i < std::size(edits); ++i) {
      text.append(i == 0 ? "" : ",").append(R"({"name":")").append(std::to_string(i));
      text.append(R"(","containerEdits":)").append(edits[i]).append("}");
    }
    put_file(folder / "v.json", text + "]}");
    const char* const dirs[] = {folder.path().c_str()};
    cache = cdi_cache_open(dirs, 1, nullptr);
  }
  Devices(const Devices&) = delete;
  Devices& operator=(const Devices&) = delete;
  ~Devices() { cdi_free(cache); }

  /// Merges a device into structs; an errno value.
  int merge(std::size_t index, CSpec& spec) const {
    const auto name = name_of(index);
    const char* const names[] = {name.c_str()};
    cdi_error* error = nullptr;
    auto* const found = cdi_cache_edits(cache, names, 1, &error);
    REQUIRE_MESSAGE(found != nullptr, std::string{error == nullptr ? "" : error->text});
    const int result = merge_for_test(&spec, found);
    cdi_free(found);
    return result;
  }

  TempTree folder{};
  cdi_cache* cache = nullptr;
};

/// Of two nodes of one path, or variables of one name, in the same edits, the plan has the last one
/// only, and so another order.
void sort_nodes_and_env(Model& model) {
  if (model.process) std::sort(model.process->env.begin(), model.process->env.end());
  if (!model.linux_) return;
  std::stable_sort(model.linux_->devices.begin(), model.linux_->devices.end(),
                   [](const auto& a, const auto& b) { return a.path < b.path; });
}

/// Makes a list as long as its length says, without the NULL that may follow: the address sanitizer
/// then sees each access behind it.
template <class T>
void cut_end(T**& items, std::size_t length) {
  if (length == 0) return;
  auto* const exact = static_cast<T**>(std::malloc(length * sizeof(T*)));
  REQUIRE(exact != nullptr);
  std::copy_n(items, length, exact);
  std::free(items);
  items = exact;
}

void cut_ends(CSpec& spec) {
  cut_end(spec.mounts, spec.mounts_len);
  if (spec.linux != nullptr) cut_end(spec.linux->devices, spec.linux->devices_len);
}

}  // namespace

TEST_CASE("Merged edits have the same result in C structs as in the model") {
  const Devices devices;
  cdi::Cache cache{{devices.folder.path()}};
  for (const auto text : specs) {
    for (std::size_t first = 0; first < std::size(edits); ++first) {
      for (std::size_t second = 0; second < std::size(edits); ++second) {
        CAPTURE(text);
        CAPTURE(edits[first]);
        CAPTURE(edits[second]);
        auto model = parsed<Model>(text);
        OwnedCSpec owned;
        fill(model, owned.spec);
        cut_ends(owned.spec);
        model.version.clear();
        for (const auto each : {first, second, first}) {
          const auto name = name_of(each);
          REQUIRE(cache.inject(model, {std::string_view{name}}));
          REQUIRE(devices.merge(each, owned.spec) == 0);
        }
        auto merged = to_model(owned.spec);
        sort_nodes_and_env(merged);
        sort_nodes_and_env(model);
        REQUIRE(merged == model);
      }
    }
  }
}

TEST_CASE("A list may end without NULL, and an item is removed without a look behind its end") {
  char texts[] = "abc";
  char *const a = texts, *const b = texts + 1, *const behind = texts + 2;
  char* items[] = {a, b, behind};
  std::size_t length = 2;
  remove_for_test(items, &length, 0);
  CHECK(length == 1);
  CHECK(items[0] == b);
  CHECK(items[1] == nullptr);
  items[1] = behind;
  remove_for_test(items, &length, 0);
  CHECK(length == 0);
  CHECK(items[0] == nullptr);
  CHECK(items[2] == behind);
}

TEST_CASE("Each merged list ends in NULL") {
  const Devices devices;
  OwnedCSpec owned;
  for (std::size_t i = 0; i < std::size(edits); ++i) REQUIRE(devices.merge(i, owned.spec) == 0);
  const auto& spec = owned.spec;
  CHECK(ends_in_null(spec.process->env, spec.process->env_len));
  CHECK(ends_in_null(spec.mounts, spec.mounts_len));
  for (std::size_t i = 0; i < spec.mounts_len; ++i) {
    CHECK(ends_in_null(spec.mounts[i]->options, spec.mounts[i]->options_len));
  }
  c_spec_test::check_ends(*spec.hooks);
  c_spec_test::check_ends(*spec.linux);
}
