// The man page of a tool, from its command line.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "man_page.hpp"

#include <cstddef>
#include <vector>

#include <fmt/format.h>

#include "../base/release.hpp"
#include "notes.hpp"
#include "page.hpp"
#include "wrapped.hpp"

namespace tools {

namespace {

/// `text` with escapes for roff, so that it is shown as it is, and can be copied.
std::string roff_plain(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '\\': out += "\\e"; break;
      case '-': out += "\\-"; break;
      case '\'': out += "\\(aq"; break;
      case '`': out += "\\(ga"; break;
      case '^': out += "\\(ha"; break;
      case '~': out += "\\(ti"; break;
      case '"': out += "\\(dq"; break;
      default: out += c;
    }
  }
  return out.starts_with('.') ? "\\&" + out : out;
}

/// `text` in one font: B or I.
std::string roff_font(char font, std::string_view text) {
  return fmt::format("\\f{}{}\\fR", font, roff_plain(text));
}

/// A paragraph for roff in lines of at most 80 columns, with the words between backquotes in bold.
std::string roff_prose(std::string_view text) {
  std::string out;
  bool is_bold = false;
  while (!text.empty()) {
    const auto end = text.find('`');
    const auto part = text.substr(0, end);
    if (!part.empty()) out += is_bold ? roff_font('B', part) : roff_plain(part);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
    is_bold = !is_bold;
  }
  // A line that begins with a point would be a request.
  std::string lines = wrapped(out, 80);
  for (std::size_t at = 0; (at = lines.find("\n.", at)) != std::string::npos;) {
    lines.insert(at + 1, "\\&");
  }
  lines.pop_back();
  return lines;
}

/// A row of a list: a term that is already roff, and its meaning.
std::string roff_row(std::string_view term, std::string_view meaning) {
  return fmt::format(".TP\n{}\n{}\n", term, roff_prose(meaning));
}

/// The notes of a command. Examples are lines as they are.
std::string roff_notes(const std::vector<Note>& notes) {
  std::string out;
  for (std::size_t i = 0; i < notes.size(); ++i) {
    const auto& [kind, text, term] = notes[i];
    switch (kind) {
      case Note::Kind::space: break;
      case Note::Kind::paragraph:
        out.append(i == 0 ? "" : ".PP\n").append(roff_prose(text)).append("\n");
        break;
      case Note::Kind::row:
        out += term.empty() ? ".PP\n" + roff_prose(text) + "\n" : roff_row(roff_plain(term), text);
        break;
      case Note::Kind::literal:
        if (notes[i - 1].kind != kind) out += ".PP\n.nf\n";
        out.append(roff_plain(text)).append("\n");
        if (i + 1 == notes.size() || notes[i + 1].kind != kind) out += ".fi\n";
        break;
    }
  }
  return out;
}

/// The names and the value of an option, or an argument.
std::string roff_term(const PageOption& option) {
  std::string out;
  for (const auto& name : option.names) {
    out.append(out.empty() ? "" : ", ").append(roff_font('B', name));
  }
  if (option.value.empty()) return out;
  return out.append(out.empty() ? "" : " ").append(roff_font('I', option.value));
}

/// The arguments and options of a command, without the common options.
std::string roff_options(const CommandPage& page) {
  std::string out;
  for (const auto& argument : page.arguments) out += roff_row(roff_term(argument), argument.help);
  for (const auto& group : page.groups) {
    if (group.title == shared_options_title) continue;
    if (!group.help.empty()) out.append(".PP\n").append(roff_prose(group.help)).append("\n");
    for (const auto& option : group.options) {
      if (option.names.back() != "--help") out += roff_row(roff_term(option), option.help);
    }
  }
  return out;
}

/// The notes of a command without its table of exit codes: its title, and the rows below.
std::string without_exit_codes(std::string_view notes) {
  std::string out;
  bool in_table = false;
  while (!notes.empty()) {
    const auto line = detail::take_line(notes);
    in_table = line == "Exit codes:" || (in_table && line.starts_with(' '));
    if (!in_table) out.append(line).append("\n");
  }
  return out;
}

/// The part of the page for a command, and the commands below it.
std::string roff_command(const CLI::App& command) {
  const auto page = read_page(command);
  const auto notes = roff_notes(read_notes(without_exit_codes(page.notes)));
  auto out =
      fmt::format(".SS {}\n{}\n.PP\nUsage: {}\n{}{}{}", roff_plain(page.words),
                  roff_prose(page.help + "."), roff_font('B', page.usage), roff_options(page),
                  notes.empty() || notes.starts_with('.') ? "" : ".PP\n", notes);
  for (const auto* below : visible_commands(command)) out += roff_command(*below);
  return out;
}

std::string roff_rows(std::string_view title, const std::vector<ManualRow>& rows) {
  if (rows.empty()) return {};
  auto out = fmt::format(".SH {}\n", title);
  for (const auto& [term, meaning] : rows) out += roff_row(roff_font('B', term), meaning);
  return out;
}

/// The name of the tool in capital letters.
std::string roff_title(std::string_view name) {
  std::string out;
  for (const char c : name) out += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return roff_plain(out);
}

}  // namespace

std::string man_page(const CLI::App& tool, const Manual& manual, std::string_view date) {
  const auto page = read_page(tool);
  const bool is_for_administrators = manual.section == "8";
  auto out = fmt::format(
      ".\\\" Written by `{0} man-page`. SPDX-License-Identifier: Apache-2.0 OR MIT\n"
      ".TH {1} {2} {3} \"{0} {4}\" \"{5}\"\n.SH NAME\n{6} \\- {7}\n.SH SYNOPSIS\n{8}\n"
      ".SH DESCRIPTION\n",
      page.name, roff_title(page.name), manual.section,
      date.empty() ? std::string_view{"\"\""} : date, release_version(),
      is_for_administrators ? "System Manager's Manual" : "User Commands", roff_plain(page.name),
      roff_plain(manual.summary), roff_font('B', page.usage));
  out += roff_notes(read_notes(manual.description));
  out.append(".SH OPTIONS\n").append(roff_options(page)).append(".SH COMMANDS\n");
  for (const auto* command : visible_commands(tool)) {
    out += roff_command(*command);
  }
  out.append(".SH EXIT STATUS\n");
  for (const auto& note : read_notes(manual.exit_codes)) {
    if (note.kind == Note::Kind::row) out += roff_row(note.term, note.text);
  }
  if (const auto more = read_notes(manual.more_exit_codes); !more.empty()) {
    out.append(".PP\n").append(roff_notes(more));
  }
  std::vector<ManualRow> environment{
      {"COLUMNS", "The width of the help, from 40 to 100; by default, the terminal's"}};
  environment.insert(environment.end(), manual.environment.begin(), manual.environment.end());
  out += roff_rows("ENVIRONMENT", environment);
  out += roff_rows("FILES", manual.files);
  return out + fmt::format(".SH SEE ALSO\n{}\n", roff_plain(manual.see_also));
}

}  // namespace tools
