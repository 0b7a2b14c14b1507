// Types with a field list that are not templates.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <cdi/model/fields.hpp>

struct Inner {
  int number = 0;
  std::optional<int> maybe{};

  static constexpr void fields(auto& list) {
    list("number", &Inner::number);
    list("maybe", &Inner::maybe);
  }
};

struct Outer {
  std::string name{};
  Inner inner{};
  std::vector<int> items{};
  bool flag = false;
  std::map<std::string, Inner, std::less<>> inners{};

  static constexpr void fields(auto& list) {
    list("name", &Outer::name, cdi::required);
    list("inner", &Outer::inner, {cdi::Presence::keep_empty, cdi::SpecVersion{1, 0, 0}});
    list("items", &Outer::items, cdi::SpecVersion{0, 7, 0});
    list("flag", &Outer::flag);
    list("inners", &Outer::inners);
  }
};
