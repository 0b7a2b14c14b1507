// Writes a value on one line, shortened to fit into a message.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TEXT_ONE_LINE_HPP
#define CDI_TEXT_ONE_LINE_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <cdi/base/result.hpp>
#include <cdi/model/type.hpp>
#include <cdi/text/write.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// A sink that writes a value on one line, shortened to fit into a message.
class OneLine final : public ErasedSink {
 public:
  void begin_map() override { open("{"); }
  void end_map() override { close("}"); }
  void begin_list() override { open("["); }
  void end_list() override { close("]"); }
  void key(std::string_view name) override { open(cdi::escaped(name).append(": ")); }
  void text(std::string_view value) override { item(cdi::quoted(value)); }
  void integer(std::int64_t value) override { item(std::to_string(value)); }
  void unsigned_integer(std::uint64_t value) override { item(std::to_string(value)); }
  void boolean(bool value) override { item(value ? "true" : "false"); }
  void number(std::string_view value) override { item(value); }
  void null() override { item("null"); }

  std::string take() && {
    if (is_full()) line_.append("...");
    return std::move(line_);
  }

 private:
  static constexpr std::size_t longest = 160;

  bool is_full() const { return line_.size() > longest; }

  void item(std::string_view text) {
    if (!is_full()) line_.append(first_ ? "" : ", ").append(text);
    first_ = false;
  }
  void open(std::string_view text) {
    item(text);
    first_ = true;
  }
  void close(std::string_view text) {
    if (!is_full()) line_.append(text);
    first_ = false;
  }

  std::string line_{};
  bool first_ = true;
};

inline std::string on_one_line(const void* self, const Type& type) {
  OneLine sink;
  detail::write_value(self, type, sink);
  return std::move(sink).take();
}

}  // namespace cdi::detail

#endif  // CDI_TEXT_ONE_LINE_HPP
