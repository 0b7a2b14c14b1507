// The configuration of an engine, a vendor file and a settings file are read, or refused at a
// position inside; a setting with a name is found by its key.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <cstdint>

#include "../../tools/gpu/vendor_files/vendor_reader.hpp"
#include "../../tools/kit/cdi_specs/prepare_settings.hpp"
#include "../../tools/kit/engines/toml_settings.hpp"
#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = fuzz::text_of(data, size);
  fuzz::is_read(prepare::parse_vendor_file(text, "vendor.toml"), text);
  tools::WriteSettings write;
  fuzz::is_read(tools::read_toml(text, "config.toml", write), text);
  const auto settings = tools::parse_toml(text, "config.toml");
  if (!fuzz::is_read(settings, text)) return 0;
  for (const auto* const name : {"cdi_spec_dirs", "enable_cdi", "version", "imports"}) {
    for (const auto& key : settings->keys_named(name)) {
      fuzz::require(key.back() == name && settings->has(key), "a key leads to its setting", name);
      const int kinds = (settings->list(key) ? 1 : 0) + (settings->truth(key) ? 1 : 0) +
                        (settings->number(key) ? 1 : 0);
      fuzz::require(kinds <= 1, "a setting has only one type", name);
    }
  }
  return 0;
}
