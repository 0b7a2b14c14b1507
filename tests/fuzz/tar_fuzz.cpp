// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0 OR MIT

// An archive that is read from any bytes has only paths that can be made below a directory, no file
// below another, and is the same after it was written and read again.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "../../tools/prepare/record/tar_reader.hpp"
#include "../../tools/prepare/record/tar_writer.hpp"
#include "fuzz.hpp"

namespace {

/// A copy with the right checksums, which mutation would hardly find.
std::string with_checksums(std::string_view text) {
  std::string out{text};
  for (std::size_t at = 0; at + prepare::tar::block_size <= out.size();
       at += prepare::tar::block_size) {
    const auto magic = at + prepare::tar::field::magic.offset;
    if (std::string_view{out}.substr(magic, 5) != "ustar") continue;
    const auto sum = fmt::format("{:06o}", prepare::tar::checksum(out.data() + at));
    out.replace(at + prepare::tar::field::sum.offset, sum.size() + 1, sum + '\0');
  }
  return out;
}

void require_safe(const prepare::TarEntries& entries, const std::string& path) {
  fuzz::require(path.starts_with('/') && path.size() > 1, "a path is absolute");
  fuzz::require((path + "/").find("/../") == path.npos, "no path leads up");
  fuzz::require(path.find('\0') == path.npos, "a path is a C string");
  for (auto end = path.rfind('/'); end > 0; end = path.rfind('/', end - 1)) {
    const auto above = entries.find(path.substr(0, end));
    fuzz::require(
        above == entries.end() || above->second.type == prepare::TarEntry::Type::directory,
        "files are below directories");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto entries = prepare::read_tar(with_checksums(fuzz::text_of(data, size)));
  if (!entries) return 0;
  for (const auto& item : *entries) require_safe(*entries, item.first);
  const auto written = prepare::write_tar(*entries, "fuzz");
  const auto again = prepare::read_tar(written);
  fuzz::require(again.has_value(), "what was written can be read");
  fuzz::require(prepare::write_tar(*again, "fuzz") == written, "nothing is lost");
  return 0;
}
