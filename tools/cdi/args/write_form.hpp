// Writes arguments from a form and values.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "program.hpp"

/// The values of a form, by their names. There are few, so they are found by comparing all names.
class FormValues {
 public:
  using Value = std::pair<std::string_view, std::string>;

  FormValues() = default;
  FormValues(std::initializer_list<Value> values) : values_{values} {}

  /// The value of this name, which is added if it is new.
  std::string& operator[](std::string_view name);

  /// The value of this name; null if there is none.
  const std::string* find(std::string_view name) const;

  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }

 private:
  std::vector<Value> values_{};
};

/// A text as one word of a shell command, on one line unless it ends with a newline.
std::string shell_argument(std::string_view text);

namespace detail {

/// A character of the values that a form cannot express; none if it can express all.
std::optional<char> obstacle(const Form& form, const FormValues& values);

}  // namespace detail

/// The words or lines of a form with these values.
std::vector<std::string> write_form(const Form& form, Shape shape, const FormValues& values);

/// The first form that can express the values; null if there is none. `obstacle` is then a
/// character that the last form cannot express.
const Form* choose_form(const Forms& forms, const FormValues& values, char& obstacle);
