#include <cdi/cdi.hpp>

bool other_object_reads();

int main() {
  return cdi::parse_name("vendor.com/class=device") && other_object_reads() ? 0 : 1;
}
