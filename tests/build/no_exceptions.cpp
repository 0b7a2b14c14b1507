// The core and JSON in a program without exceptions and RTTI.
#include "use_core.hpp"

int main() {
  return use_core() ? 0 : 1;
}
