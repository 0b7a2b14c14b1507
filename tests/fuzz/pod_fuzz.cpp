// Each question of `cdi-pod` about any JSON has an answer in JSON, or a reason in UTF-8. A VM has
// a size, and an instance type has a name. An amount that is written reads back.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <cdi/json.hpp>

#include "../../tools/pod/guest.hpp"
#include "../../tools/pod/inner.hpp"
#include "../../tools/pod/instance.hpp"
#include "../../tools/pod/peerpod.hpp"
#include "../../tools/pod/quantity.hpp"
#include "../../tools/pod/requests.hpp"
#include "../../tools/pod/size.hpp"
#include "../../tools/pod/strategy.hpp"
#include "fuzz.hpp"

namespace {

/// The answer of a question; nothing when it is refused.
template <class Ask>
auto answer_of(Ask ask) -> std::optional<decltype(ask())> {
  try {
    auto answer = ask();
    for (const auto& warning : answer.warnings) {
      fuzz::require(cdi::detail::is_utf8(warning), "a warning is UTF-8", warning);
    }
    fuzz::require(cdi::write_json(answer).has_value(), "an answer is JSON");
    return answer;
  } catch (const pod::Rejection& rejection) {
    fuzz::require(cdi::detail::is_utf8(rejection.what()), "a reason is UTF-8", rejection.what());
  }
  return std::nullopt;
}

void ask_sizes(const cdi::Document& input) {
  for (const auto* const formula : {"rfc", "runtime-go", "runtime-rs"}) {
    for (const auto* const engine : {"containerd", "crio"}) {
      const auto size = answer_of([&] {
        return pod::answer_size(
            input,
            {.formula = formula, .engine = engine, .static_cpu_manager = true, .verbose = true});
      });
      fuzz::require(!size || (size->vcpus >= 1 && size->memory_mib > 0), "a VM has a size");
    }
  }
}

void ask_all(const cdi::Document& input) {
  for (const auto* const runtime : {"containerd", "crio"}) {
    for (const auto* const cdi : {"on", "off"}) {
      answer_of([&] {
        return pod::answer_requests(input, {.runtime = runtime, .cdi = cdi, .origins = true});
      });
    }
  }
  for (const bool yes : {false, true}) {
    answer_of([&] { return pod::answer_inner(input, yes); });
    answer_of([&] { return pod::answer_peerpod(input, {.set_defaults = yes}); });
    const auto chosen = answer_of([&] { return pod::answer_instance(input, yes); });
    fuzz::require(!chosen || !chosen->instance.empty(), "an instance type has a name");
  }
  answer_of([&] { return pod::answer_podresources(input, {.origins = true}); });
  answer_of([&] { return pod::answer_slices(input, {}); });
  answer_of([&] { return pod::answer_strategy(input); });
  answer_of([&] { return pod::Answer{.version = pod::is_pause_container(input) ? 1 : 2}; });
  ask_sizes(input);
}

void check_quantity(std::string_view text) {
  const auto amount = pod::parse_quantity(text);
  if (!fuzz::is_read(amount, text)) return;
  const auto units = pod::units(*amount);
  const auto again = pod::parse_quantity(pod::decimal_text(units));
  fuzz::require(again && *again == pod::Quantity{units, 0}, "an amount reads back");
  const auto milli = pod::thousandths(*amount);
  fuzz::require(!milli || *milli / 1000 + (*milli % 1000 == 0 ? 0 : 1) == units,
                "thousandths are of the same amount");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = fuzz::text_of(data, size);
  check_quantity(text);
  const auto document = cdi::parse_json(text);
  if (!document || document->root().kind() != cdi::Document::Kind::map) return 0;
  ask_all(*document);
  return 0;
}
