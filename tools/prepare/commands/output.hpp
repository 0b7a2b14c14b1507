// Writing to standard output and standard error.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/result.hpp>

#include "../../gpu/base/one_line.hpp"
#include "../../kit/base/alike.hpp"
#include "../../kit/base/error_record.hpp"
#include "../../kit/base/result_text.hpp"
#include "../../kit/help/terminal_text.hpp"
#include "../../kit/host/standard_streams.hpp"
#include "exit_codes.hpp"

namespace prepare {

/// The output of a command, or the error.
using Output = cdi::Result<std::string>;

/// A message for standard error.
struct Message {
  enum class Kind : std::uint8_t { error, not_ready, warning, left_out, note };

  Kind kind;
  cdi::Error what;

  static Message error(cdi::Error what) { return {Kind::error, std::move(what)}; }
  static Message error(std::string text) { return of(Kind::error, std::move(text)); }
  static Message not_ready(std::string text) { return of(Kind::not_ready, std::move(text)); }
  static Message warning(std::string text) { return of(Kind::warning, std::move(text)); }
  static Message left_out(std::string text) { return of(Kind::left_out, std::move(text)); }
  static Message note(std::string text) { return of(Kind::note, std::move(text)); }

  /// A message that is only text.
  static Message of(Kind kind, std::string text) { return {kind, {.message = std::move(text)}}; }

  bool operator==(const Message& other) const {
    return kind == other.kind && cdi::to_string(what) == cdi::to_string(other.what);
  }
};

using Messages = std::vector<Message>;

inline void append(Messages& all, const Messages& more) {
  all.insert(all.end(), more.begin(), more.end());
}

/// How messages are printed. `-o json` selects JSON for the whole run.
enum class MessageFormat : std::uint8_t { text, json };

inline MessageFormat& message_format() {
  static MessageFormat format = MessageFormat::text;
  return format;
}

/// A message as a line of text, such as `cdi-prepare: error: ...`; `end` is added to it.
inline std::string message_text(const Message& message, std::string_view end = {}) {
  constexpr std::string_view labels[] = {"error: ", "not ready: ", "warning: ", "left out: ", ""};
  return as_line(fmt::format("cdi-prepare: {}{}{}", labels[static_cast<std::size_t>(message.kind)],
                             cdi::to_string(message.what), end));
}

/// A message as a JSON record on a line. `level` is error, warning or note; the reasons for the
/// exit codes `not ready` and `partial` begin as in the text.
inline std::string message_json(const Message& message) {
  using Kind = Message::Kind;
  const auto record = [&](std::string_view level, std::string_view begin = {}) {
    auto out = tools::error_record(level, message.what);
    out.message.insert(0, begin);
    return tools::json_line(out);
  };
  switch (message.kind) {
    case Kind::error: return record("error");
    case Kind::not_ready: return record("error", "not ready: ");
    case Kind::warning: return record("warning");
    case Kind::left_out: return record("warning", "left out: ");
    case Kind::note: break;
  }
  return record("note");
}

/// Prints messages on standard error. Unlike `fmt::print`, which throws, ignores failures: a closed
/// standard error must not change the program's behaviour.
inline void report(const Messages& messages) {
  const auto print = [](const std::string& line) {
    static_cast<void>(std::fwrite(line.data(), 1, line.size(), stderr));
  };
  if (message_format() == MessageFormat::json) {
    for (const auto& one : messages) print(message_json(one));
    return;
  }
  const auto key_of = [](const Message& one) {
    const bool is_alike = one.kind == Message::Kind::left_out;
    return is_alike ? tools::without_numbers(cdi::to_string(one.what)) : std::string{};
  };
  for (const auto& [one, more] : tools::shown_of_alike(messages, key_of)) {
    print(tools::text_for(STDERR_FILENO, message_text(*one, tools::and_more_alike(more))));
  }
}

inline void report(const Message& message) {
  report(Messages{message});
}

/// Prints an output; an error is printed only on standard error.
inline ExitCode finish(const Output& output, ExitCode code) {
  if (!output) {
    report(Message::error(output.error()));
    return ExitCode::failed;
  }
  if (tools::print_text(*output)) return code;
  report(Message::error("cannot write to standard output"));
  return ExitCode::failed;
}

}  // namespace prepare
