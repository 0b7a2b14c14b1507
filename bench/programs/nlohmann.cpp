// What `examples/inject.cpp` costs without us: a JSON document read and written.
#include <iostream>

#include <nlohmann/json.hpp>

int main() {
  const auto config = nlohmann::ordered_json::parse(std::cin, nullptr, false);
  std::cout << config.dump(2) << '\n';
}
