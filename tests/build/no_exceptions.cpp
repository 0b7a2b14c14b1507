// The core, and JSON, in a program without exceptions and RTTI.
#include <cdi/core.hpp>
#include <cdi/oci/json_editor.hpp>

int main() {
  const cdi::ContainerEdits edits{.env = {"A=1"}};
  auto document = nlohmann::json::object();
  cdi::oci::Spec model;
  const bool good = edits.apply(document) && edits.apply(model) && !cdi::parse_json("{");
  return good && document["process"]["env"][0] == "A=1" && model.process->env[0] == "A=1" ? 0 : 1;
}
