#include <cdi/cdi.hpp>

bool other_object_reads() {
  return cdi::read_yaml<cdi::Mount>("{hostPath: /a, containerPath: /b}").has_value();
}
