// Runs conformance vectors: inputs, with the results of the Go reference.
//
//   conformance FILE...                  prints the results of this library, one JSON line each
//   conformance --check DEVIATIONS FILE...
//       compares with `expected`; a vector must match or be listed in DEVIATIONS (name: reason)
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <vector>

#include <cdi/cdi.hpp>
#include <cdi/nlohmann.hpp>

namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

std::string read_text(const std::string& path) {
  std::ifstream in{path, std::ios::binary};
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

/// A JSON value with `from` replaced by `to` in every text.
template <class J>
J replaced_in(J value, std::string_view from, std::string_view to) {
  if (value.is_string()) return replaced(value.template get<std::string>(), from, to);
  if (value.is_structured()) {
    for (auto& item : value) item = replaced_in(item, from, to);
  }
  return value;
}

std::string decode_base64(std::string_view text) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  unsigned bits = 0;
  int have = 0;
  for (const char c : text) {
    const auto digit = digits.find(c);
    if (digit == std::string_view::npos) continue;
    bits = bits << 6 | static_cast<unsigned>(digit);
    have += 6;
    if (have < 8) continue;
    have -= 8;
    out.append(1, static_cast<char>(bits >> have & 0xff));
  }
  return out;
}

/// A new directory, removed by the destructor.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = std::filesystem::temp_directory_path() / "cdi-conformance-XXXXXX";
    path_ = ::mkdtemp(name.data());
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

void make_file(const Json& file, const std::string& root) {
  const auto text = [&](const char* key) {
    return replaced(file[key].get<std::string>(), "$TMP", root);
  };
  const std::string folder = root + "/dir" + std::to_string(file.value("dir", 0));
  const std::string path = folder + "/" + file["name"].get<std::string>();
  std::filesystem::create_directories(std::filesystem::path{path}.parent_path());
  if (file.contains("symlink")) {
    std::filesystem::create_symlink(text("symlink"), path);
  } else if (file.contains("fifo")) {
    ::mkfifo(path.c_str(), 0600);
    ::chmod(path.c_str(), 0640);  // the mode in the vectors, for any umask
  } else if (file.contains("mkdir")) {
    std::filesystem::create_directories(path);
  } else {
    std::ofstream out{path, std::ios::binary};
    out << (file.contains("content") ? text("content")
                                     : decode_base64(file["content_b64"].get<std::string>()));
  }
}

std::vector<std::string> make_spec_dirs(const Json& vector, const std::string& root) {
  int count = vector.value("dirs", 0);
  for (const auto& file : vector.value("files", Json::array())) {
    make_file(file, root);
    count = std::max(count, file.value("dir", 0) + 1);
  }
  std::vector<std::string> dirs;
  for (int i = 0; i < count; ++i) {
    dirs.push_back(root + "/dir" + std::to_string(i));
    if (i < vector.value("dirs", count)) std::filesystem::create_directories(dirs.back());
  }
  if (!vector.contains("specDirs")) return dirs;
  dirs.clear();
  for (const auto& dir : vector["specDirs"]) {
    dirs.push_back(replaced(dir.get<std::string>(), "$TMP", root));
  }
  return dirs;
}

/// The result of an injection into our OCI model, or why it fails.
Json inject_into_model(const cdi::Registry& registry, const Json& oci,
                       const std::vector<std::string>& names) {
  auto model = cdi::read_json<cdi::oci::Spec>(oci.dump());
  if (!model) return "cannot read: " + to_string(model.error());
  const auto before = *model;
  const auto done = registry.inject(*model, names);
  if (!done) return *model == before ? Json("refused") : Json("refused, but changed");
  return cdi::to_json_value<Json>(*model);
}

/// The result of an injection into the text of the OCI spec.
Json inject_into_text(const cdi::Registry& registry, const Json& oci,
                      const std::vector<std::string>& names) {
  cdi::ConfigJson config{oci.dump(1)};
  const auto before = config;
  const auto done = registry.inject(config, names);
  if (!done) return config == before ? Json("refused") : Json("refused, but changed");
  return Json::parse(config.text);
}

Json run(const Json& vector) {
  const TemporaryDirectory root;
  cdi::Cache cache{make_spec_dirs(vector, root.path()), {.read = {.retry_window = {}}}};
  const auto registry = cache.registry();

  Json result{{"name", vector["name"]},
              {"devices", registry->devices()},
              {"vendors", registry->vendors()},
              {"classes", registry->classes()}};
  std::map<std::string, std::vector<std::string>> errors;
  for (const auto& error : registry->errors()) {
    const auto name = std::filesystem::path{error.position.file}.filename().string();
    errors[name].push_back(replaced(to_string(error), root.path(), "$TMP"));
  }
  for (auto& [name, messages] : errors) std::sort(messages.begin(), messages.end());
  result["spec_errors"] = errors;

  std::vector<std::string> names;
  for (const auto& name : vector.value("devices", Json::array())) {
    names.push_back(replaced(name.get<std::string>(), "$TMP", root.path()));
  }
  const Json before = replaced_in(vector.value("oci", Json{}), "$TMP", root.path());
  OrderedJson oci = OrderedJson::parse(before.dump());

  Json inject{{"unresolved", Json::array()}};
  for (const auto& missing : registry->unresolved(names))
    inject["unresolved"].push_back(missing.name);
  if (before.is_null()) inject["unresolved"] = names;  // without an OCI spec, no name is resolved
  const auto done = before.is_null() ? cdi::Result<void>{cdi::Error{.message = "no OCI spec"}}
                                     : registry->inject(oci, names);
  inject["ok"] = done.has_value();
  const Json after = replaced_in(Json::parse(oci.dump()), root.path(), "$TMP");
  if (done) {
    inject["oci"] = after;
  } else {
    inject["error"] = replaced(to_string(done.error()), root.path(), "$TMP");
    if (after != replaced_in(before, root.path(), "$TMP")) inject["oci_after_error"] = after;
  }
  if (!before.is_null()) {
    inject["model"] = replaced_in(inject_into_model(*registry, before, names), root.path(), "$TMP");
    inject["text"] = replaced_in(inject_into_text(*registry, before, names), root.path(), "$TMP");
  }
  result["inject"] = inject;
  return result;
}

std::string dump(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// The first difference between the expected and the actual results; empty if there is none.
std::string difference(const Json& expected, const Json& actual) {
  if (expected.contains("load_panic")) return "the reference crashes";
  for (const char* key : {"devices", "vendors", "classes"}) {
    if (expected[key] != actual[key]) return std::string{key} + ": " + dump(actual[key]);
  }
  std::vector<std::string> files[2];
  for (const auto& [name, unused] : expected["spec_errors"].items()) files[0].push_back(name);
  for (const auto& [name, unused] : actual["spec_errors"].items()) files[1].push_back(name);
  if (files[0] != files[1]) return "spec_errors: " + dump(actual["spec_errors"]);
  const Json& want = expected["inject"];
  const Json& got = actual["inject"];
  for (const char* key : {"ok", "unresolved"}) {
    if (want.value(key, Json{}) != got[key]) return std::string{key} + ": " + dump(got);
  }
  if (want.value("oci", Json{}) != got.value("oci", Json{})) return "oci: " + dump(got["oci"]);
  if (got.contains("oci_after_error")) return "changed by a failed injection";
  for (const char* key : {"model", "text"}) {
    const Json wanted = want.value("oci", Json("refused"));
    if (got.value(key, wanted) != wanted) return std::string{key} + ": " + dump(got[key]);
  }
  return {};
}

int check(const std::string& list, const std::vector<std::string>& paths) {
  const Json listed = Json::parse(read_text(list));
  int matching = 0;
  int deviating = 0;
  int wrong = 0;
  for (const auto& path : paths) {
    const Json vector = Json::parse(read_text(path));
    const auto name = vector["name"].get<std::string>();
    const auto found = difference(vector["expected"], run(vector));
    if (found.empty() == !listed.contains(name)) {
      ++(found.empty() ? matching : deviating);
      continue;
    }
    ++wrong;
    std::cout << name << ": " << (found.empty() ? "matches, but is listed as a deviation" : found)
              << '\n';
  }
  std::cout << paths.size() << " vectors: " << matching << " match, " << deviating
            << " deviate as listed, " << wrong << " wrong\n";
  return wrong == 0 && !paths.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try {
  std::vector<std::string> paths{argv + 1, argv + argc};
  if (paths.size() >= 2 && paths[0] == "--check") {
    return check(paths[1], {paths.begin() + 2, paths.end()});
  }
  for (const auto& path : paths) {
    auto result = run(Json::parse(read_text(path)));
    for (const char* key : {"model", "text"}) result["inject"].erase(key);
    std::cout << dump(result) << std::endl;
  }
} catch (const std::exception& error) {  // of nlohmann, for a file that is not a vector
  std::cerr << "conformance: " << error.what() << '\n';
  return 2;
}
