// Prints the tree that the YAML reader makes from each text of the standard input, for
// trees_test.py. Each text and tree follows its size in four bytes. A tree is followed by " +" if
// the text continues after the document, and by " !" if the reference should refuse the text.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include <cdi/text/yaml/parse_yaml.hpp>

namespace {

using cdi::Document;

void append_scalar(std::string& out, std::string_view kind, std::string_view text) {
  out.append(kind).append(" ").append(std::to_string(text.size())).append(":").append(text);
}

void append_tree(std::string& out, const Document::Value& value) {
  switch (value.kind()) {
    case Document::Kind::null: out.append("null"); break;
    case Document::Kind::plain: append_scalar(out, "plain", value.text()); break;
    case Document::Kind::quoted: append_scalar(out, "text", value.text()); break;
    case Document::Kind::list:
      out.append("[");
      for (const auto item : value.items()) {
        append_tree(out, item);
        out.append(" ");
      }
      out.append("]");
      break;
    case Document::Kind::map:
      out.append("{");
      for (const auto member : value.members()) {
        append_tree(out, member.key);
        out.append(" ");
        append_tree(out, member.value);
        out.append(" ");
      }
      out.append("}");
      break;
  }
}

std::string tree_of(const std::string& text) {
  const auto document = cdi::parse_yaml(text);
  if (!document) return "error: " + to_string(document.error());
  std::string out;
  append_tree(out, document->root());
  if (document->unportable()) out += " !";
  return document->rest() ? out + " +" : out;
}

}  // namespace

int main() {
  std::uint32_t size = 0;
  while (std::fread(&size, sizeof size, 1, stdin) == 1) {
    std::string text(size, '\0');
    if (std::fread(text.data(), 1, size, stdin) != size) return 1;
    const std::string tree = tree_of(text);
    size = static_cast<std::uint32_t>(tree.size());
    std::fwrite(&size, sizeof size, 1, stdout);
    std::fwrite(tree.data(), 1, tree.size(), stdout);
  }
}
