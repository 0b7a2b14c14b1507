// Reads texts as JSON and as YAML, here, with nlohmann_json and with yaml-cpp, and compares whether
// they are accepted, and the values.
//
//   second_opinions FOLDER...    the files of the folders; a file with a record separator (0x1E)
//                                holds two texts
//
// Exits with 1 if a reader differs and none of the rows below explains it. Prints how many texts
// each row explains.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>
#include <yaml-cpp/yaml.h>

#include <nlohmann/json.hpp>

#include <cdi/text/parse_json.hpp>
#include <cdi/text/yaml/parse_yaml.hpp>

#include "../support/known_difference.hpp"

namespace {

using Json = nlohmann::ordered_json;
using cdi::Document;

/// What two readers make of the same text. Of an accepted text, `ours` and `theirs` are the value.
struct Opinions {
  std::string_view text;
  const cdi::Result<Document>& document;  ///< what we read
  bool accepted;                          ///< whether the other reader accepts the text
  std::string ours = {};
  std::string theirs = {};  ///< the value, or why the other reader rejects the text

  bool rejected_here_for(std::string_view part) const {
    return !document && to_string(document.error()).find(part) != std::string::npos;
  }
  bool rejected_there_for(std::string_view part) const {
    return !accepted && theirs.find(part) != std::string::npos;
  }
  bool has(std::string_view part) const { return text.find(part) != text.npos; }
};

using KnownOpinion = Known<Opinions>;

bool exceeds_limit(const Opinions& opinions) {
  return !opinions.document && opinions.document.error().code == cdi::Errc::limit;
}

bool has_single_return(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\r' && text.substr(at + 1, 1) != "\n") return true;
  }
  return false;
}

/// A value on one line, without what shows quotes and null.
std::string without_quotes(std::string text) {
  std::erase(text, '"');
  for (auto at = text.find("null"); at != text.npos; at = text.find("null", at)) text.erase(at, 4);
  return text;
}

// clang-format off
constexpr KnownOpinion json_opinions[] = {
    {"limit", exceeds_limit, "nesting is limited"},
    {"duplicate", [](const Opinions& o) { return o.rejected_here_for("is a duplicate"); },
     "nlohmann keeps the last of the members with one name"},
    {"number", [](const Opinions& o) {
       return o.document && o.rejected_there_for("out_of_range.406"); },
     "nlohmann stores a number as a double, and refuses 1e999; we keep its digits"},
};
constexpr KnownOpinion yaml_opinions[] = {
    {"limit", exceeds_limit, "nesting and aliases are limited"},
    {"empty", [](const Opinions& o) { return o.rejected_here_for("the text is empty"); },
     "a spec or config is not empty: a file without a value is refused"},
    {"utf-8", [](const Opinions& o) { return o.rejected_here_for("save the text as UTF-8"); },
     "yaml-cpp replaces bytes that are not UTF-8"},
    {"control", [](const Opinions& o) { return o.rejected_here_for("control character"); },
     "yaml-cpp keeps control characters, which YAML forbids"},
    {"duplicate", [](const Opinions& o) { return o.rejected_here_for("is a duplicate"); },
     "yaml-cpp keeps both members with one name, which YAML forbids"},
    {"key", [](const Opinions& o) { return o.rejected_here_for("a key must be text"); },
     "no key of a spec or config is a list or null"},
    {"explicit-key", [](const Opinions& o) {
       return o.rejected_here_for("the key must be on the same line as its '?'"); },
     "no key of a spec or config is null or has several lines"},
    {"directive", [](const Opinions& o) {
       return o.rejected_here_for("'%' may begin a line only before a document"); },
     "yaml-cpp takes a directive as the end of a document"},
    {"binary", [](const Opinions& o) { return o.rejected_here_for("!!binary"); },
     "no member of a spec or config holds bytes"},
    {"merge", [](const Opinions& o) { return o.has("<<"); },
     "yaml-cpp keeps << as a member; YAML 1.1 merges it, as the Go reference does"},
    {"return", [](const Opinions& o) { return has_single_return(o.text); },
     "a return without a line feed ends a line, but not in yaml-cpp"},
    {"quotes", [](const Opinions& o) {
       return o.document && o.accepted && without_quotes(o.ours) == without_quotes(o.theirs); },
     "yaml-cpp forgets whether a value with a tag is in quotes"},
    {"tag", [](const Opinions& o) { return o.rejected_there_for("tag handle with no suffix"); },
     "yaml-cpp refuses the tag !!!, which the Go reference reads"},
    {"rest", [](const Opinions& o) { return o.document && o.document->rest(); },
     "yaml-cpp looks at text after the document"},
    {"escape", [](const Opinions& o) { return o.has("\\N") || o.has("\\_"); },
     "yaml-cpp writes the escapes \\N and \\_ as bytes that are not UTF-8"},
    {"question", [](const Opinions& o) {
       return o.rejected_there_for("unknown token") && o.has("?"); },
     "yaml-cpp refuses ? in plain text in brackets, which YAML 1.2 allows"},
};
// clang-format on

/// A value on one line, which shows what is quoted.
void show(const Document::Value& value, std::string& out) {
  switch (value.kind()) {
    case Document::Kind::null: out.append("null"); return;
    case Document::Kind::plain: out.append(value.text()); return;
    case Document::Kind::quoted: out.append("\"").append(value.text()).append("\""); return;
    case Document::Kind::list:
      out.append("[");
      for (const auto item : value.items()) show(item, out), out.append(",");
      out.append("]");
      return;
    case Document::Kind::map:
      out.append("{");
      for (const auto [key, member] : value.members()) {
        out.append(key.text()).append(":");
        show(member, out), out.append(",");
      }
      out.append("}");
  }
}

void show(const YAML::Node& node, std::string& out) {
  constexpr std::size_t enough = 1 << 20;  // of aliases
  if (out.size() > enough) return;
  if (!node || node.IsNull()) {
    out.append("null");
  } else if (node.IsScalar()) {
    const bool plain = node.Tag() == "?";
    out.append(plain ? "" : "\"").append(node.Scalar()).append(plain ? "" : "\"");
  } else if (node.IsSequence()) {
    out.append("[");
    for (const auto& item : node) show(item, out), out.append(",");
    out.append("]");
  } else {
    out.append("{");
    for (const auto& member : node) {
      if (member.first.IsScalar()) {
        out.append(member.first.Scalar());
      } else {
        show(member.first, out);
      }
      out.append(":"), show(member.second, out), out.append(",");
    }
    out.append("}");
  }
}

Json json_of(const Document::Value& value) {
  switch (value.kind()) {
    case Document::Kind::null: return nullptr;
    case Document::Kind::plain: return Json::parse(value.text());
    case Document::Kind::quoted: return std::string{value.text()};
    case Document::Kind::list: {
      Json out = Json::array();
      for (const auto item : value.items()) out.push_back(json_of(item));
      return out;
    }
    case Document::Kind::map: break;
  }
  Json out = Json::object();
  for (const auto [key, member] : value.members()) {
    out[std::string{key.text()}] = json_of(member);
  }
  return out;
}

/// Compares opinions, and counts what explains the differences.
class Comparison {
 public:
  template <std::size_t N>
  void compare(const std::string& file, std::string_view reader, const Opinions& opinions,
               const KnownOpinion (&known)[N]) {
    ++compared_;
    if (opinions.document && opinions.accepted) ++both_;
    const bool same_verdict = static_cast<bool>(opinions.document) == opinions.accepted;
    if (same_verdict && (!opinions.accepted || opinions.ours == opinions.theirs)) return;
    if (const auto* const row = find_known(known, opinions)) {
      ++explained_[std::string{reader} + " " + std::string{row->name}];
      return;
    }
    ++wrong_;
    std::cout << file << ": " << reader << " differs\n  here:  "
              << (opinions.document ? opinions.ours : to_string(opinions.document.error()))
              << "\n  there: " << opinions.theirs << '\n';
  }

  bool finish() const {
    for (const auto& [row, count] : explained_) std::cout << row << ": " << count << '\n';
    std::cout << compared_ << " comparisons: both accept " << both_ << ", unexplained " << wrong_
              << '\n';
    return wrong_ == 0 && both_ > 0;
  }

 private:
  std::map<std::string, int> explained_;
  int compared_ = 0;
  int both_ = 0;
  int wrong_ = 0;
};

void compare_json(Comparison& comparison, const std::string& file, std::string_view text) {
  const auto document = cdi::parse_json(text);
  Opinions opinions{.text = text, .document = document, .accepted = true};
  try {
    opinions.theirs = Json::parse(text).dump();
    if (document) opinions.ours = json_of(document->root()).dump();
  } catch (const Json::exception& error) {
    opinions.accepted = false;
    opinions.theirs = error.what();
  }
  comparison.compare(file, "json", opinions, json_opinions);
}

void compare_yaml(Comparison& comparison, const std::string& file, std::string_view text) {
  const auto document = cdi::parse_yaml(text);
  Opinions opinions{.text = text, .document = document, .accepted = true};
  if (document) show(document->root(), opinions.ours);
  try {
    show(YAML::Load(std::string{text}), opinions.theirs);
  } catch (const YAML::Exception& error) {
    opinions.accepted = false;
    opinions.theirs = error.what();
  }
  comparison.compare(file, "yaml", opinions, yaml_opinions);
}

std::string read_text(const std::filesystem::path& path) {
  std::ifstream in{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

}  // namespace

int main(int argc, char** argv) {
  Comparison comparison;
  for (int i = 1; i < argc; ++i) {
    for (const auto& entry : std::filesystem::directory_iterator{argv[i]}) {
      const std::string content = read_text(entry.path());
      for (std::string_view rest = content; !rest.empty();) {
        const auto size = std::min(rest.find('\x1E'), rest.size());
        compare_json(comparison, entry.path(), rest.substr(0, size));
        compare_yaml(comparison, entry.path(), rest.substr(0, size));
        rest.remove_prefix(std::min(size + 1, rest.size()));
      }
    }
  }
  return comparison.finish() ? 0 : 1;
}
