// A directory of specs, with bodies from the library. Its headers need nothing third-party.
#include <cdi/cache.hpp>
#include <cdi/file.hpp>
#include <cdi/publish.hpp>

int main() {
#ifndef CDI_COMPILED
#error "what gives the library defines CDI_COMPILED"
#endif
  const auto loaded = cdi::parse_spec(
      "{cdiVersion: 0.5.0, kind: v.com/c, devices: [{name: d, containerEdits: {env: [GPU=0]}}]}",
      "v.yaml", cdi::Format::yaml);
  cdi::Cache cache{{"/nowhere/cdi"}};
  const auto missing = cache.registry()->unresolved({"v.com/c=d"});
  const auto ours = cdi::Publisher{"test.example", "/nowhere/cdi"}.files();
  return loaded && missing.size() == 1 && ours && ours->empty() ? 0 : 1;
}
