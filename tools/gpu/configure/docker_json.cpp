// Changes Docker's daemon.json.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "docker_json.hpp"

#include <functional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "../../kit/base/one_line.hpp"
#include "../../kit/base/text.hpp"
#include "../../kit/engines/json_settings.hpp"

namespace prepare::configure {

namespace {

using Json = nlohmann::ordered_json;

cdi::Error not_editable(cdi::Error error) {
  error.advice = "correct it by hand; nothing was changed";
  return error;
}

cdi::Error not_editable(const std::string& path, std::string_view why) {
  return not_editable(
      {.code = cdi::Errc::syntax, .message = std::string{why}, .position = {.file = path}});
}

/// Finds what would change if the text were read and written again, or is nested too deeply to
/// write: the writer recurses, and indents each level.
class Losses {
 public:
  bool operator()(int depth, Json::parse_event_t event, const Json& value) {
    constexpr int max_levels = 64;
    const bool is_level =
        event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start;
    if (is_level && depth >= max_levels) {
      reason = fmt::format("is more than {} levels deep", max_levels);
    }
    if (event == Json::parse_event_t::object_start) keys_.emplace_back();
    if (event == Json::parse_event_t::object_end) keys_.pop_back();
    if (event == Json::parse_event_t::key && !keys_.back().insert(value).second) {
      reason = fmt::format("has the member {} twice", tools::one_line(value.dump()));
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
/// written again unchanged.
cdi::Result<Json> parse_object(const Content& text, const std::string& path) {
  if (!text || tools::trim(*text).empty()) return Json(Json::object());
  Losses losses;
  auto value = Json::parse(*text, std::ref(losses), false);
  if (!value.is_object()) return not_editable(tools::json_settings_error(*text, path));
  if (!losses.reason.empty()) return not_editable(path, losses.reason);
  return value;
}

/// Writes an object with the indentation of another text: four spaces if that has none.
std::string write_like(const Json& value, const Content& other) {
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

/// A member of an object; null if there is none.
const Json* member(const Json* object, const char* name) {
  if (object == nullptr || !object->is_object()) return nullptr;
  const auto found = object->find(name);
  return found == object->end() ? nullptr : &*found;
}

/// Gives a member its old value, or removes it if it had none. A value that we did not write stays;
/// returns whether there is one.
bool take_back(Json& object, const char* name, const Json* ours, const Json* old) {
  const auto* const now = member(&object, name);
  if (ours == nullptr || now == nullptr) return false;
  if (*now != *ours) return true;
  if (old != nullptr) {
    object[name] = *old;
  } else {
    object.erase(name);
  }
  return false;
}

/// Sets a member of an old object to its present value, unless we wrote that value. Returns whether
/// it changes.
bool follow(Json& old, const Json* now, const Json* ours, const char* name) {
  const auto* const value = member(now, name);
  const auto* const set = member(ours, name);
  const auto* const before = member(&old, name);
  const auto is_same = [](const Json* one, const Json* other) {
    return one == other || (one != nullptr && other != nullptr && *one == *other);
  };
  if ((set != nullptr && is_same(value, set)) || is_same(value, before)) return false;
  if (value != nullptr) {
    old[name] = *value;
  } else {
    old.erase(name);
  }
  return true;
}

}  // namespace

cdi::Result<std::string> with_docker_settings(const FileEdit& file, const DockerSettings& wanted) {
  auto config = parse_object(file.before, file.path);
  if (!config) return config.error();
  if (wanted.switch_on) {
    if (config->contains("features") && !(*config)["features"].is_object()) {
      return not_editable(file.path, "\"features\" is not a JSON object");
    }
    (*config)["features"]["cdi"] = true;
  }
  if (wanted.dirs) (*config)["cdi-spec-dirs"] = *wanted.dirs;
  return write_like(*config, file.before);
}

cdi::Result<std::string> record_of(const FileEdit& record, const DockerSettings& wanted) {
  auto set = parse_object(record.before, record.path);
  if (!set) return set.error();
  if (wanted.switch_on) (*set)["features"]["cdi"] = true;
  if (wanted.dirs) (*set)["cdi-spec-dirs"] = *wanted.dirs;
  return write_like(*set, record.before);
}

cdi::Result<void> keep_later_values(FileEdit& copy, const FileEdit& file, const FileEdit& record,
                                    const DockerSettings& wanted) {
  auto old = parse_object(copy.before, copy.path);
  if (!old) return old.error();
  const auto now = parse_object(file.before, file.path);
  if (!now) return now.error();
  const auto ours = parse_object(record.before, record.path);
  if (!ours) return ours.error();
  bool changed = false;
  if (wanted.dirs) changed = follow(*old, &*now, &*ours, "cdi-spec-dirs");
  if (wanted.switch_on) {
    auto features = old->value("features", Json(Json::object()));
    if (follow(features, member(&*now, "features"), member(&*ours, "features"), "cdi")) {
      (*old)["features"] = std::move(features);
      changed = true;
    }
  }
  if (changed) copy.after = write_like(*old, copy.before);
  return {};
}

cdi::Result<void> take_docker_settings_back(FileEdit& file, const Content& old_text,
                                            const FileEdit& record) {
  auto config = parse_object(file.before, file.path);
  if (!config) return config.error();
  const auto old = parse_object(old_text, file.path);
  if (!old) return old.error();
  const auto ours = parse_object(record.before, record.path);
  if (!ours) return ours.error();
  const auto* const old_features = member(&*old, "features");
  const auto take = [&](Json& object, const char* name, const Json* set, const Json* before) {
    if (!take_back(object, name, member(set, name), member(before, name))) return;
    file.notes.push_back(fmt::format("{}: \"{}\" was changed since, and stays", file.path, name));
  };
  if (const auto features = config->find("features"); features != config->end()) {
    take(*features, "cdi", member(&*ours, "features"), old_features);
    if (features->empty() && old_features == nullptr) config->erase("features");
  }
  take(*config, "cdi-spec-dirs", &*ours, &*old);
  if (nlohmann::json(*config) != nlohmann::json(*old)) {
    file.after = write_like(*config, file.before);
  } else {
    file.after = old_text;
  }
  return {};
}

}  // namespace prepare::configure
