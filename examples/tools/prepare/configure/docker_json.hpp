// Changes Docker's daemon.json.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_PREPARE_CONFIGURE_DOCKER_JSON_HPP
#define CDI_TOOLS_PREPARE_CONFIGURE_DOCKER_JSON_HPP

#include <cmath>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cdi/result.hpp>

#include "../../shared/base/text.hpp"
#include "../base/json_output.hpp"
#include "../base/one_line.hpp"
#include "file_edit.hpp"

// JSON has no comments, so a copy of the old file records what was there before.

namespace prepare::configure {

/// The settings that Docker needs; nullopt for those that are right.
struct DockerSettings {
  bool switch_on = false;
  std::optional<std::vector<std::string>> dirs{};
};

namespace detail {

inline cdi::Error not_editable(const std::string& path, std::string_view why) {
  return {.code = cdi::Errc::syntax,
          .message = std::string{why}.append(": correct it by hand; nothing was changed"),
          .position = {.file = path}};
}

/// Finds what would not be the same after the text is read and written again.
class Losses {
 public:
  bool operator()(int, Json::parse_event_t event, const Json& value) {
    if (event == Json::parse_event_t::object_start) keys_.emplace_back();
    if (event == Json::parse_event_t::object_end) keys_.pop_back();
    if (event == Json::parse_event_t::key && !keys_.back().insert(value).second) {
      reason = fmt::format("has the member {} twice", one_line(value.dump()));
    }
    constexpr double first_inexact = 0x1p63;  // from here on, an integer may be read as a double
    if (event == Json::parse_event_t::value && value.is_number_float() &&
        std::abs(value.get<double>()) >= first_inexact) {
      reason = "has a number with too many digits to keep";
    }
    return true;
  }

  std::string reason{};

 private:
  std::vector<std::set<std::string>> keys_{};
};

/// The object in a file; an empty one if there is no file or no text. An error if it cannot be
/// written again without a change.
inline cdi::Result<Json> parse_object(const Content& text, const std::string& path) {
  if (!text || tools::trim(*text).empty()) return Json(Json::object());
  Losses losses;
  auto value = Json::parse(*text, std::ref(losses), false);
  if (value.is_discarded()) return not_editable(path, "is not valid JSON");
  if (!value.is_object()) return not_editable(path, "is not a JSON object");
  if (!losses.reason.empty()) return not_editable(path, losses.reason);
  return value;
}

/// Writes an object with the indentation of another text: four spaces if that has none.
inline std::string write_like(const Json& value, const Content& other) {
  char with = ' ';
  int width = 4;
  for (const auto line : other ? lines_of(*other) : std::vector<std::string_view>{}) {
    const auto size = line.find_first_not_of(" \t");
    if (size == 0 || size == std::string_view::npos) continue;
    with = line.front();
    width = static_cast<int>(size);
    break;
  }
  return value.dump(width, with, false, Json::error_handler_t::replace) + "\n";
}

/// Gives a member the value that it has in another object; removes it if it is not there.
inline void restore(Json& value, const char* name, const Json* old) {
  if (old != nullptr && old->is_object() && old->contains(name)) {
    value[name] = (*old)[name];
  } else {
    value.erase(name);
  }
}

}  // namespace detail

/// The text of daemon.json with the settings; other members keep their order.
inline cdi::Result<std::string> with_docker_settings(const FileEdit& file,
                                                     const DockerSettings& wanted) {
  auto config = detail::parse_object(file.before, file.path);
  if (!config) return config.error();
  if (wanted.switch_on) {
    if (config->contains("features") && !(*config)["features"].is_object()) {
      return detail::not_editable(file.path, "\"features\" is not a JSON object");
    }
    (*config)["features"]["cdi"] = true;
  }
  if (wanted.dirs) (*config)["cdi-spec-dirs"] = *wanted.dirs;
  return detail::write_like(*config, file.before);
}

/// The content of daemon.json without the settings; `old` is the file before. If nothing else has
/// changed since then, this is the old file, byte by byte.
inline cdi::Result<Content> without_docker_settings(const FileEdit& file,
                                                    const std::string& old_text) {
  auto config = detail::parse_object(file.before, file.path);
  if (!config) return config.error();
  const auto old = detail::parse_object(old_text, file.path);
  if (!old) return old.error();
  const auto old_features = old->find("features");
  if (config->contains("features") && (*config)["features"].is_object()) {
    detail::restore((*config)["features"], "cdi",
                    old_features == old->end() ? nullptr : &*old_features);
    if ((*config)["features"].empty() && old_features == old->end()) config->erase("features");
  }
  detail::restore(*config, "cdi-spec-dirs", &*old);
  if (nlohmann::json(*config) != nlohmann::json(*old)) {
    return Content{detail::write_like(*config, file.before)};
  }
  return old_text.empty() ? Content{} : Content{old_text};
}

}  // namespace prepare::configure

#endif  // CDI_TOOLS_PREPARE_CONFIGURE_DOCKER_JSON_HPP
