// A floor of run.sh: the events of libyaml, which makes no tree here.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <yaml.h>

#include "floor.hpp"

namespace {

int count_events(const std::string& text) {
  yaml_parser_t parser;
  yaml_parser_initialize(&parser);
  yaml_parser_set_input_string(&parser, reinterpret_cast<const unsigned char*>(text.data()),
                               text.size());
  int events = 0;
  for (bool more = true; more; ++events) {
    yaml_event_t event;
    if (yaml_parser_parse(&parser, &event) == 0) fail("libyaml does not parse a spec");
    more = event.type != YAML_STREAM_END_EVENT;
    yaml_event_delete(&event);
  }
  yaml_parser_delete(&parser);
  return events;
}

}  // namespace

int main(int, char** argv) {
  measure_floor(argv[1], "yaml", count_events);
}
