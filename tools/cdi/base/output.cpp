// Output of results, errors and warnings as text, JSON or YAML.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "output.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <unistd.h>

#include <fmt/format.h>

#include <cdi/cdi.hpp>
#include <cdi/yaml.hpp>

#include "../../kit/base/alike.hpp"

namespace {

/// Writes any JSON value to a sink.
void write_json_value(const Json& value, cdi::YamlSink& sink) {
  switch (value.type()) {
    case Json::value_t::object:
      sink.begin_map();
      for (const auto& [key, member] : value.items()) {
        sink.key(key);
        write_json_value(member, sink);
      }
      return sink.end_map();
    case Json::value_t::array:
      sink.begin_list();
      for (const auto& item : value) write_json_value(item, sink);
      return sink.end_list();
    case Json::value_t::string: return sink.text(value.get_ref<const std::string&>());
    case Json::value_t::boolean: return sink.boolean(value.get<bool>());
    case Json::value_t::null: return sink.null();
    default: return sink.number(value.dump());
  }
}

}  // namespace

std::string to_json(const Json& value, int indent, char fill) {
  return value.dump(indent, fill, /*ensure_ascii=*/true, Json::error_handler_t::replace) + "\n";
}

std::string to_yaml(const Json& value) {
  cdi::YamlSink sink;
  write_json_value(Json::parse(to_json(value)), sink);
  return std::move(sink).take();
}

std::string printable(std::string_view path) {
  return cdi::escaped(path, std::string::npos);
}

void print_error(std::string_view text) {
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
}

void Output::error(const cdi::Error& error, const Json& more) const {
  print_message("error", error, more);
}

void Output::warning(const cdi::Error& warning) const {
  print_message("warning", warning, Json::object());
}

ExitCode Output::reject(const cdi::Error& why) const {
  error(why);
  return exit_failed;
}

bool Output::result(std::string_view text, const Json& value) const {
  switch (format_) {
    case OutputFormat::json: return print(to_json(value));
    case OutputFormat::yaml: return print(to_yaml(value));
    case OutputFormat::text: break;
  }
  return print(text);
}

bool Output::explanation(std::string_view text, const Json& value) const {
  if (format_ != OutputFormat::text) return result({}, value);
  return print(tools::text_for(STDOUT_FILENO, text));
}

bool Output::print(std::string_view text) const {
  while (!text.empty()) {
    const auto put = ::write(STDOUT_FILENO, text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) {
      error({.message = "cannot write to standard output"});
      return false;
    }
    text.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

void Output::print_messages(std::string_view level, const std::vector<cdi::Error>& list) const {
  if (format_ != OutputFormat::text) {
    for (const auto& one : list) print_message(level, one, Json::object());
    return;
  }
  const auto key_of = [](const cdi::Error& one) {
    return fmt::format("{}\n{}\n{}\n{}", one.position.file, one.rule,
                       tools::without_numbers(one.message), tools::without_numbers(one.advice));
  };
  for (const auto& [one, more] : tools::shown_of_alike(list, key_of)) {
    print_text(level, *one, tools::and_more_alike(more));
  }
}

void Output::print_text(std::string_view level, const cdi::Error& error, std::string_view end) {
  const auto rule = error.rule.empty() ? std::string{} : fmt::format(" [{}]", error.rule);
  print_error(tools::text_for(
      STDERR_FILENO, fmt::format("cdi: {}: {}{}{}\n", level, to_string(error), rule, end)));
}

void Output::print_message(std::string_view level, const cdi::Error& error,
                           const Json& more) const {
  if (format_ == OutputFormat::text) {
    print_text(level, error);
  } else {
    Json record = error_record(level, error);
    record.update(more);
    print_error(to_json(record, -1));
  }
}
