// A spec of one kind, written in every way that JSON and YAML have for the text of the kind.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string>
#include <string_view>
#include <vector>

/// A way to write the member `kind` of a spec, and the text of the whole spec around it.
struct KindText {
  const char* what;
  const char* format;  // the end of the file name
  std::string text;
};

/// Each ASCII character as two bytes, after a byte order mark.
inline std::string as_utf16(std::string_view text, bool big_endian) {
  std::string out{big_endian ? "\xFE\xFF" : "\xFF\xFE"};
  for (const char c : text) {
    out.append(1, big_endian ? '\0' : c);
    out.append(1, big_endian ? c : '\0');
  }
  return out;
}

/// Valid specs of a kind, whose first character is written in many ways. `device` sets an
/// environment variable.
inline std::vector<KindText> kind_texts(const std::string& kind, const std::string& device,
                                        const std::string& env) {
  const std::string rest = kind.substr(1);
  const std::string first = kind.substr(0, 1);
  constexpr const char* digits = "0123456789abcdef";
  const auto code = static_cast<unsigned char>(kind.front());
  const std::string hex{digits[code >> 4], digits[code & 15]};
  const std::string json_rest =
      R"("devices":[{"name":")" + device + R"(","containerEdits":{"env":[")" + env + R"("]}}])";
  const std::string yaml_rest =
      "devices:\n- {name: " + device + ", containerEdits: {env: [\"" + env + "\"]}}\n";
  const std::string version = "cdiVersion: 1.0.0\n";
  const auto json = [&](const std::string& member) {
    return "{" + member + R"(,"cdiVersion":"1.0.0",)" + json_rest + "}";
  };
  const auto yaml = [&](const std::string& value) {
    return version + "kind: " + value + "\n" + yaml_rest;
  };
  const auto plain = yaml(kind);
  return {
      {"JSON", ".json", json(R"("kind":")" + kind + '"')},
      {"JSON in YAML", ".yaml", json(R"("kind":")" + kind + '"')},
      {"a key in another case", ".json", json(R"("KIND":")" + kind + '"')},
      {"an escape in JSON", ".json", json(R"("kind":"\u00)" + hex + rest + '"')},
      {"an escaped key", ".json", json(R"("\u006bind":")" + kind + '"')},
      {"a plain scalar", ".yaml", plain},
      {"a byte order mark", ".yaml", "\xEF\xBB\xBF" + plain},
      {"YAML in .json", ".json", plain},
      {"the kind last", ".yaml", version + yaml_rest + "kind: " + kind + "\n"},
      {"lines that end in CR LF", ".yaml", version + "kind: " + kind + "\r\n" + yaml_rest},
      {"single quotes", ".yaml", yaml("'" + kind + "'")},
      {"double quotes", ".yaml", yaml("\"" + kind + "\"")},
      {"an escape in YAML", ".yaml", yaml("\"\\x" + hex + rest + "\"")},
      {"an escaped line break", ".yaml", yaml("\"" + first + "\\\n   " + rest + "\"")},
      {"a literal block", ".yaml", yaml("|-\n  " + kind)},
      {"a folded block", ".yaml", yaml(">-\n  " + kind)},
      {"a scalar on the next line", ".yaml", yaml("\n  " + kind)},
      {"a quoted key", ".yaml", version + "\"\\x6bind\": " + kind + "\n" + yaml_rest},
      {"an explicit key", ".yaml", version + "? kind\n: " + kind + "\n" + yaml_rest},
      {"a tag", ".yaml", yaml("!!str " + kind)},
      {"a whole tag", ".yaml", yaml("!<tag:yaml.org,2002:str> \"" + kind + "\"")},
      {"an alias", ".yaml",
       version + "annotations: {a/b: &k " + kind + "}\nkind: *k\n" + yaml_rest},
      {"a merge key", ".yaml", "<<: {kind: " + kind + "}\n" + version + yaml_rest},
      {"a directive", ".yaml", "%YAML 1.1\n---\n" + plain},
      {"two documents", ".yaml", "---\n" + plain + "---\nkind: x.org/y\n"},
      {"UTF-16, little endian", ".yaml", as_utf16(plain, false)},
      {"UTF-16, big endian", ".yaml", as_utf16(plain, true)},
  };
}
