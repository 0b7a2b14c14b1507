// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <cstdlib>
#include <dirent.h>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <type_traits>
#include <unistd.h>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/file.hpp>

namespace {

/// A directory that is removed with all that is in it, subdirectories of one level included.
class TempDir {
 public:
  TempDir() { REQUIRE(::mkdtemp(path_.data()) != nullptr); }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir() { remove_all(path_); }

  std::string operator/(std::string_view name) const { return path_ + "/" + std::string{name}; }

  std::set<std::string> names() const { return list(path_); }

 private:
  static std::set<std::string> list(const std::string& path) {
    std::set<std::string> names;
    DIR* const stream = ::opendir(path.c_str());
    if (stream == nullptr) return names;
    while (const dirent* entry = ::readdir(stream)) names.insert(entry->d_name);
    ::closedir(stream);
    names.erase(".");
    names.erase("..");
    return names;
  }
  static void remove_all(const std::string& path) {
    ::chmod(path.c_str(), 0700);
    for (const auto& name : list(path)) {
      const auto inner = path + "/" + name;
      if (::unlink(inner.c_str()) != 0) remove_all(inner);
    }
    ::rmdir(path.c_str());
  }

  std::string path_ = "/tmp/cdi-file-test-XXXXXX";
};

void put(const std::string& path, std::string_view text) {
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  REQUIRE(file != nullptr);
  CHECK(std::fwrite(text.data(), 1, text.size(), file) == text.size());
  std::fclose(file);
}

std::string get(const std::string& path) {
  const auto text = cdi::read_file(path);
  return text ? *text : "not read: " + to_string(text.error());
}

mode_t mode_of(const std::string& path) {
  struct stat info = {};
  return ::lstat(path.c_str(), &info) == 0 ? info.st_mode & 07777U : 0;
}

const std::string good_json =
    R"({"cdiVersion":"1.0.0","kind":"v.com/c","devices":[{"name":"d","containerEdits":{"env":["A=1"]}}]})";
const std::string good_yaml =
    "cdiVersion: 1.0.0\nkind: v.com/c\ndevices:\n- name: d\n  containerEdits:\n    env: [A=1]\n";

cdi::Spec good_spec() {
  return {.version = "1.0.0",
          .kind = "v.com/c",
          .devices = {{.name = "d", .container_edits = {.env = {"A=1"}}}}};
}

}  // namespace

static_assert(!std::is_copy_constructible_v<cdi::Descriptor>);
static_assert(std::is_nothrow_move_constructible_v<cdi::Descriptor>);

TEST_CASE("The format is told by the end of the name, in its exact case") {
  using cdi::Format;
  struct {
    std::string path;
    std::optional<Format> format;
  } const rows[] = {
      {"a.json", Format::json},      {"/x/a.yaml", Format::yaml},
      {".json", Format::json},       {"a.yaml.json", Format::json},
      {"a.json.yaml", Format::yaml}, {"a.yml", std::nullopt},
      {"a.JSON", std::nullopt},      {"a.json~", std::nullopt},
      {"json", std::nullopt},        {"", std::nullopt},
      {"a.json/", std::nullopt},     {"a.json.tmp", std::nullopt},
  };
  for (const auto& row : rows) {
    CAPTURE(row.path);
    CHECK(cdi::format_of(row.path) == row.format);
  }
}

TEST_CASE("A spec is read as its format says, and JSON that is not valid as YAML with a warning") {
  using cdi::Format;
  struct {
    std::string text;
    Format format;
    std::size_t warnings;
  } const rows[] = {
      {good_json, Format::json, 0},
      {"\xEF\xBB\xBF" + good_json, Format::json, 0},
      {" \n\t" + good_json, Format::json, 0},
      {good_yaml, Format::yaml, 0},
      {"# note\n---\n" + good_yaml, Format::yaml, 0},
      {good_json, Format::yaml, 0},  // JSON is nearly YAML; this is both
      {"{cdiVersion: 1.0.0, kind: v.com/c, devices: [{name: d, containerEdits: {env: [A=1]}}]}",
       Format::yaml, 0},
      {good_yaml, Format::json, 1},
      {"# note\n" + good_json, Format::json, 1},
      {good_json.substr(0, good_json.size() - 1) + ",}", Format::json, 1},
  };
  for (const auto& row : rows) {
    CAPTURE(row.text);
    const auto loaded = cdi::parse_spec(row.text, "dir/name", row.format);
    REQUIRE_MESSAGE(loaded, (loaded ? "" : to_string(loaded.error())));
    CHECK(loaded->spec == good_spec());
    CHECK(loaded->path == "dir/name");
    CHECK(loaded->warnings.size() == row.warnings);
    for (const auto& warning : loaded->warnings) {
      CHECK(warning.rule == "json-syntax");
      CHECK(warning.position.file == "dir/name");
      CHECK(warning.message.starts_with("not valid JSON: "));
      CHECK(warning.message.ends_with("; read as YAML"));
    }
  }
}

TEST_CASE("JSON in a YAML file has what YAML has not") {
  auto text = good_json;
  text.replace(text.find("A=1"), 3, R"(A=\/\ud83d\ude00)");
  const auto loaded = cdi::parse_spec(text, "x.yaml", cdi::Format::yaml);
  REQUIRE_MESSAGE(loaded, (loaded ? "" : to_string(loaded.error())));
  CHECK(loaded->spec.devices[0].container_edits.env[0] == "A=/\xF0\x9F\x98\x80");
}

TEST_CASE("Errors of shape and of rules carry path, line and column") {
  struct {
    std::string text;
    cdi::Errc code;
    std::string message;  // how it begins
  } const rows[] = {
      {"cdiVersion: 1.0.0\nkind: v.com/c\ndevices:\n- name: d\n  containerEdit: {}\n",
       cdi::Errc::schema, "f.yaml:5:3: devices[0].containerEdit: unknown field"},
      {"cdiVersion: 1.0.0\nkind: v.com/c\ndevices:\n- name: d\n  containerEdits:\n    env: 5\n",
       cdi::Errc::schema, "f.yaml:6:10: devices[0].containerEdits.env: expected a list, not 5"},
      {"cdiVersion: 1.0.0\nkind: v.com/c\ndevices:\n- \n", cdi::Errc::schema,
       "f.yaml:4:1: devices[0]: expected an object, not null"},
      {"cdiVersion: 1.0.0\nkind: v.com/c\ndevices:\n- name: d\n  containerEdits:\n    env: [A=1, "
       "B]\n",
       cdi::Errc::invalid, "f.yaml:6:16: devices[0].containerEdits.env[1]: invalid environment"},
      {"cdiVersion: 1.0.0\nkind: v.com\ndevices: []\n", cdi::Errc::invalid_name,
       "f.yaml:2:7: kind: kind \"v.com\" has no slash"},
      {"cdiVersion: 9.0.0\nkind: v.com/c\ndevices: []\n", cdi::Errc::invalid,
       "f.yaml:1:13: cdiVersion: unknown version \"9.0.0\""},
      {"cdiVersion: 1.0.0\nkind: v.com/c\ndevices: []\n", cdi::Errc::invalid,
       "f.yaml:3:10: devices: the spec has no devices"},
      {"{\n  \"cdiVersion\": \"1.0.0\",\n  \"kind\": 1,\n  \"devices\": {}\n}", cdi::Errc::schema,
       "f.yaml:4:14: devices: expected a list, not an object"},
      {"a: [\n", cdi::Errc::syntax, "f.yaml:"},
      {"", cdi::Errc::syntax, "f.yaml:1:1: the text is empty"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.text);
    const auto loaded = cdi::parse_spec(row.text, "f.yaml", cdi::Format::yaml);
    REQUIRE_FALSE(loaded);
    CHECK(loaded.error().code == row.code);
    const auto found = to_string(loaded.error());
    CAPTURE(found);
    CHECK(found.starts_with(row.message));
  }
}

TEST_CASE("A JSON file that is neither JSON nor YAML gets the error of JSON") {
  const auto loaded = cdi::parse_spec("{\"cdiVersion\": \"1.0.0\",\n", "f.json", cdi::Format::json);
  REQUIRE_FALSE(loaded);
  CHECK(loaded.error().code == cdi::Errc::syntax);
  CHECK(loaded.error().message.find("not valid JSON") != std::string::npos);
  CHECK(loaded.error().position.file == "f.json");
}

TEST_CASE("Spec files are read; links are followed") {
  const TempDir dir;
  put(dir / "a.json", good_json);
  put(dir / "b.yaml", good_yaml);
  put(dir / "plain", good_json);
  REQUIRE(::symlink("plain", (dir / "link.json").c_str()) == 0);
  for (const std::string name : {"a.json", "b.yaml", "link.json"}) {
    CAPTURE(name);
    const auto loaded = cdi::read_spec_file(dir / name);
    REQUIRE(loaded);
    CHECK(loaded->spec == good_spec());
    CHECK(loaded->path == dir / name);
  }
}

TEST_CASE("What is no readable spec file is refused with its path, and nothing waits for a FIFO") {
  const TempDir dir;
  put(dir / "a.txt", good_json);
  REQUIRE(::mkdir((dir / "dir.json").c_str(), 0700) == 0);
  REQUIRE(::mkfifo((dir / "fifo.json").c_str(), 0600) == 0);
  REQUIRE(::symlink("gone", (dir / "dangling.json").c_str()) == 0);
  REQUIRE(::symlink("loop.json", (dir / "loop.json").c_str()) == 0);
  REQUIRE(::symlink("/dev/zero", (dir / "endless.json").c_str()) == 0);
  struct {
    std::string name;
    cdi::Errc code;
    int system;
  } const rows[] = {
      {"missing.json", cdi::Errc::system, ENOENT},
      {"dir.json", cdi::Errc::system, EISDIR},
      {"fifo.json", cdi::Errc::system, EINVAL},
      {"dangling.json", cdi::Errc::system, ENOENT},
      {"loop.json", cdi::Errc::system, ELOOP},
      {"endless.json", cdi::Errc::system, EINVAL},
      {"a.txt", cdi::Errc::invalid, 0},
      {"no/dir.json", cdi::Errc::system, ENOENT},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    const auto loaded = cdi::read_spec_file(dir / row.name);
    REQUIRE_FALSE(loaded);
    CHECK(loaded.error().code == row.code);
    CHECK(loaded.error().system == row.system);
    CHECK(loaded.error().position.file == dir / row.name);
  }
}

TEST_CASE("A file without permission is refused") {
  if (::geteuid() == 0) {
    MESSAGE("skipped 'root may read and write everything'");
    return;
  }
  const TempDir dir;
  put(dir / "a.json", good_json);
  REQUIRE(::chmod((dir / "a.json").c_str(), 0) == 0);
  const auto loaded = cdi::read_spec_file(dir / "a.json");
  REQUIRE_FALSE(loaded);
  CHECK(loaded.error().system == EACCES);
}

TEST_CASE("A file over the limit is refused, one at the limit is read") {
  const TempDir dir;
  put(dir / "a.json", good_json);
  CHECK(cdi::read_spec_file(dir / "a.json", {.bytes = good_json.size()}));
  const auto loaded = cdi::read_spec_file(dir / "a.json", {.bytes = good_json.size() - 1});
  REQUIRE_FALSE(loaded);
  CHECK(loaded.error().code == cdi::Errc::limit);
  CHECK(loaded.error().position.file == dir / "a.json");

  put(dir / "big", std::string(100'000, 'x'));
  CHECK(cdi::read_file(dir / "big", 100'000)->size() == 100'000);
  CHECK_FALSE(cdi::read_file(dir / "big", 99'999));
  put(dir / "empty", "");
  CHECK(cdi::read_file(dir / "empty", 0)->empty());
}

TEST_CASE("A file is made or replaced with its mode whatever the umask, and nothing is left over") {
  const TempDir dir;
  const auto umask = ::umask(077);
  CHECK(cdi::replace_file(dir / "a", "one"));
  CHECK(get(dir / "a") == "one");
  CHECK(mode_of(dir / "a") == 0644);
  CHECK(::chmod((dir / "a").c_str(), 0400) == 0);
  CHECK(cdi::replace_file(dir / "a", std::string(200'000, 'x')));
  CHECK(get(dir / "a") == std::string(200'000, 'x'));
  CHECK(mode_of(dir / "a") == 0644);
  CHECK(cdi::replace_file(dir / "b", "", 0600));
  CHECK(mode_of(dir / "b") == 0600);
  CHECK(get(dir / "b").empty());
  ::umask(umask);
  CHECK(dir.names() == std::set<std::string>{"a", "b"});
}

TEST_CASE("A link is replaced, not followed; an old reader keeps the old text") {
  const TempDir dir;
  put(dir / "old", "old");
  REQUIRE(::symlink("old", (dir / "link").c_str()) == 0);
  REQUIRE(::link((dir / "old").c_str(), (dir / "hard").c_str()) == 0);
  CHECK(cdi::replace_file(dir / "link", "new"));
  CHECK(cdi::replace_file(dir / "hard", "new"));
  CHECK(get(dir / "old") == "old");
  CHECK(get(dir / "link") == "new");
  struct stat info = {};
  CHECK(::lstat((dir / "link").c_str(), &info) == 0);
  CHECK(S_ISREG(info.st_mode));
}

TEST_CASE("A write that fails leaves the old text and no temporary file") {
  const TempDir dir;
  put(dir / "file", "old");
  REQUIRE(::mkdir((dir / "dir").c_str(), 0700) == 0);
  struct {
    std::string path;
    int system;
  } const rows[] = {
      {dir / "missing/file", ENOENT},
      {dir / "file/file", ENOTDIR},
      {dir / "dir", EISDIR},
      {dir / std::string(256, 'n'), ENAMETOOLONG},
      {dir / "dir/", EINVAL},
      {dir / "file/", EINVAL},
      {dir / ".", EINVAL},
      {dir / "dir/..", EINVAL},
      {"", EINVAL},
      {"/", EINVAL},
  };
  for (const auto& row : rows) {
    CAPTURE(row.path);
    const auto done = cdi::replace_file(row.path, "new");
    REQUIRE_FALSE(done);
    CHECK(done.error().code == cdi::Errc::system);
    CHECK(done.error().system == row.system);
    CHECK(done.error().position.file == row.path);
    CHECK(dir.names() == std::set<std::string>{"dir", "file"});
  }
  CHECK(get(dir / "file") == "old");
}

TEST_CASE("The longest name that a file can have will do") {
  const TempDir dir;
  const std::string name(255, 'n');
  CHECK(cdi::replace_file(dir / name, "x"));
  CHECK(dir.names() == std::set<std::string>{name});
}

TEST_CASE("A directory that cannot be written leaves the old text") {
  if (::geteuid() == 0) {
    MESSAGE("skipped 'root may read and write everything'");
    return;
  }
  const TempDir dir;
  put(dir / "file", "old");
  REQUIRE(::chmod((dir / ".").c_str(), 0500) == 0);
  const auto done = cdi::replace_file(dir / "file", "new");
  REQUIRE_FALSE(done);
  CHECK(done.error().system == EACCES);
  CHECK(get(dir / "file") == "old");
}

TEST_CASE("A path without slash is in the current directory") {
  const TempDir dir;
  char before[4096];
  REQUIRE(::getcwd(before, sizeof before) != nullptr);
  REQUIRE(::chdir((dir / ".").c_str()) == 0);
  const auto done = cdi::replace_file("a", "text");
  const auto read = cdi::read_file("a");
  REQUIRE(::chdir(before) == 0);
  CHECK(done);
  CHECK(read);
  CHECK(dir.names() == std::set<std::string>{"a"});
}

TEST_CASE("A spec is written in the format of the name, and read back the same") {
  const TempDir dir;
  auto spec = good_spec();
  for (const auto* text : {"A=", "A=007", "A==", "A=yes: no # -", "A=\xC3\xA9\xF0\x9F\x98\x80",
                           "A=\t\n\r \x01\x1b", "A=\xC2\x85\xE2\x80\xA8\xEF\xBB\xBF", "A=\"'\\"}) {
    spec.devices[0].container_edits.env.emplace_back(text);
  }
  spec.devices[0].container_edits.env.emplace_back("A=\0B", 4);
  spec.devices[0].name = "007";
  spec.devices[0].container_edits.additional_gids = {std::numeric_limits<std::uint32_t>::max()};
  spec.devices[0].container_edits.device_nodes = {
      {.path = "/d", .major = std::numeric_limits<std::int64_t>::max(), .file_mode = 0}};
  for (const std::string name : {"a.json", "a.yaml"}) {
    CAPTURE(name);
    const auto done = cdi::write_spec_file(dir / name, spec);
    REQUIRE_MESSAGE(done, (done ? "" : to_string(done.error())));
    const auto loaded = cdi::read_spec_file(dir / name);
    REQUIRE_MESSAGE(loaded, (loaded ? "" : to_string(loaded.error())));
    CHECK(loaded->spec == spec);
    CHECK(loaded->warnings.empty());
    CHECK(get(dir / name).ends_with("\n"));
  }
  CHECK(get(dir / "a.json").starts_with("{"));
  CHECK(get(dir / "a.yaml").starts_with("---\n"));
}

TEST_CASE("A spec that is not valid is refused and nothing is written") {
  const TempDir dir;
  put(dir / "old.json", "old");
  auto empty = good_spec();
  empty.devices.clear();
  auto kind = good_spec();
  kind.kind = "v.com";
  auto bytes = good_spec();
  bytes.devices[0].container_edits.env = {"A=\xff"};
  struct {
    cdi::Spec spec;
    std::string path;
    cdi::Errc code;
  } const rows[] = {
      {empty, dir / "old.json", cdi::Errc::invalid},
      {kind, dir / "old.json", cdi::Errc::invalid_name},
      {bytes, dir / "old.json", cdi::Errc::invalid},
      {bytes, dir / "new.yaml", cdi::Errc::invalid},
      {empty, dir / "new.yaml", cdi::Errc::invalid},
      {good_spec(), dir / "new.yml", cdi::Errc::invalid},
      {good_spec(), dir / "new", cdi::Errc::invalid},
      {good_spec(), "", cdi::Errc::invalid},
  };
  for (const auto& row : rows) {
    CAPTURE(row.path);
    const auto done = cdi::write_spec_file(row.path, row.spec);
    REQUIRE_FALSE(done);
    CHECK(done.error().code == row.code);
    CHECK(done.error().position.file == row.path);
    CHECK(get(dir / "old.json") == "old");
    CHECK(dir.names() == std::set<std::string>{"old.json"});
  }
}

TEST_CASE("No descriptor is left open, whatever the outcome") {
  const TempDir dir;
  put(dir / "a.json", good_json);
  put(dir / "bad.json", "{");
  const auto open_files = [] {
    std::size_t count = 0;
    DIR* const stream = ::opendir("/proc/self/fd");
    REQUIRE(stream != nullptr);
    while (::readdir(stream) != nullptr) ++count;
    ::closedir(stream);
    return count;
  };
  const auto before = open_files();
  for (const std::string name : {"a.json", "bad.json", "missing.json", "."}) {
    CHECK(cdi::read_spec_file(dir / name).has_value() == (name == "a.json"));
    CHECK(cdi::replace_file(dir / name, good_json).has_value() == (name != "."));
  }
  CHECK_FALSE(cdi::replace_file(dir / std::string(256, 'n'), ""));
  CHECK(open_files() == before);
}

TEST_CASE("Control characters survive the way through either format") {
  for (const std::string text : {"A=\x7f", "A=\r"}) {
    auto spec = good_spec();
    spec.devices[0].container_edits.env = {text};
    for (const auto format : {cdi::Format::json, cdi::Format::yaml}) {
      const auto written = cdi::write_spec(spec, format);
      REQUIRE(written);
      const auto loaded = cdi::parse_spec(*written, "f", format);
      CHECK_MESSAGE(loaded, (loaded ? "" : to_string(loaded.error())));
      if (loaded) CHECK(loaded->spec == spec);
    }
  }
}
