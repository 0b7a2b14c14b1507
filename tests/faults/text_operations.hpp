// The operations on texts and models.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string>

#include <cdi/cdi.hpp>
#include <cdi/publish.hpp>

#include "operation.hpp"
#include "world.hpp"

inline const cdi::ReadOptions quarantine{.quarantine_devices = true};

inline const Operation text_operations[] = {
    {"parse_json", CDI_CALL(cdi::parse_json(json_spec).has_value())},
    {"parse_json, a wrong text", CDI_CALL(cdi::parse_json("{\"a\": [1,\n x]}", "f").error())},
    {"parse_yaml", CDI_CALL(cdi::parse_yaml(yaml_spec).has_value())},
    {"parse_yaml, a wrong text",
     [](W) {
       return shown(cdi::parse_yaml("a: [1,\n b: }", "f").error());
     }},
    {"read_json", CDI_CALL(cdi::read_json<cdi::Spec>(json_spec))},
    {"read_json, an OCI spec", CDI_CALL(cdi::read_json<cdi::oci::Spec>(config_text))},
    {"read_yaml", CDI_CALL(cdi::read_yaml<cdi::Spec>(yaml_spec))},
    {"write_json", CDI_CALL(cdi::write_json(w.oci))},
    {"write_yaml", CDI_CALL(cdi::write_yaml(w.spec))},
    {"parse_spec, JSON", CDI_CALL(cdi::parse_spec(json_spec, "v.json", cdi::Format::json))},
    {"parse_spec, YAML", CDI_CALL(cdi::parse_spec(yaml_spec, "w.yaml", cdi::Format::yaml))},
    {"parse_spec, YAML in a file for JSON",
     CDI_CALL(cdi::parse_spec(yaml_spec, "w.json", cdi::Format::json))},
    {"parse_spec, without invalid devices",
     CDI_CALL(cdi::parse_spec(bad_device, "b", cdi::Format::yaml, quarantine))},
    {"spec_errors", CDI_CALL(cdi::spec_errors(bad_device, "b.yaml", cdi::Format::yaml))},
    {"write_spec", CDI_CALL(cdi::write_spec(w.spec, cdi::Format::yaml))},
    {"write_spec, with an owner", CDI_CALL(cdi::write_spec(w.spec, cdi::Format::json, "an-owner"))},
    {"copy_as", CDI_CALL(cdi::copy_as<cdi::Spec>(cdi::copy_as<cdi::SpecView>(w.spec)))},
    {"validate", CDI_CALL(cdi::validate(w.spec))},
    {"every_error", CDI_CALL(cdi::every_error(cdi::Spec{.devices = {{}}}))},
    {"minimum_need", CDI_CALL(cdi::minimum_need(w.spec))},
    {"minimum_version", CDI_CALL(cdi::minimum_version(w.spec))},
    {"spec_name", CDI_CALL(cdi::spec_name("a-long-vendor.com/a-class"))},
    {"transient_spec_name", CDI_CALL(cdi::transient_spec_name("vendor.com/class", "a/container"))},
    {"qualified_name", CDI_CALL(cdi::qualified_name("vendor.com/class", "device"))},
    {"qualified_name_error", CDI_CALL(cdi::qualified_name_error("vendor.com/c ass"))},
    {"name_error", CDI_CALL(cdi::name_error(cdi::NamePart::vendor, "a very long vendor"))},
    {"kind_error", CDI_CALL(cdi::kind_error("vendor.com/a very long class"))},
    {"check_annotation_key", CDI_CALL(cdi::check_annotation_key("a/b c with a long name"))},
    {"annotation_key_error", CDI_CALL(cdi::annotation_key_error("a/b c with a long name"))},
    {"clean_path", CDI_CALL(cdi::clean_path("/a/long/path/../with/./dots//and/slashes"))},
    {"escaped", CDI_CALL(cdi::escaped("a text with\n a line end"))},
    {"quoted", CDI_CALL(cdi::quoted("a text with\n a line end"))},
    {"to_string",
     CDI_CALL(to_string(
         cdi::Error{.message = "a message", .where = "a.member"}.under("an.outer.place")))},
    {"Document::position, positions_of",
     [](W) {
       const auto document = cdi::parse_json(json_spec, "a/file/with/a/long/name.json");
       const auto root = document->root();
       return shown(root.position().file) + shown(document->positions_of(root).size());
     }},
};
