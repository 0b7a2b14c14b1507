// Tests for include/cdi/base/shell_word.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstdio>
#include <memory>
#include <string>

#include <doctest/doctest.h>

#include <cdi/base/shell_word.hpp>

namespace {

/// What a shell makes of a word.
std::string read_by_shell(const std::string& word) {
  const auto command = "printf %s " + word;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe{::popen(command.c_str(), "r"),
                                                             &::pclose};
  REQUIRE(pipe);
  std::string out;
  for (int c = std::fgetc(pipe.get()); c != EOF; c = std::fgetc(pipe.get())) {
    out += static_cast<char>(c);
  }
  return out;
}

}  // namespace

TEST_CASE("A shell reads the word as the path") {
  struct {
    std::string path;
    std::string word;
  } const rows[] = {
      {"/etc/cdi/v.com-gpu_1.yaml", "/etc/cdi/v.com-gpu_1.yaml"},
      {"a,b:c@d+e=f", "a,b:c@d+e=f"},
      {"", "''"},
      {"=a/b", "'=a/b'"},
      {"/a/my spec.yaml", "'/a/my spec.yaml'"},
      {"/a/it's.yaml", "'/a/it'\\''s.yaml'"},
      {"~/x; rm -rf $HOME $(y) & | > < * ? [a] {b,c} # !", {}},
      {"100%s", "'100%s'"},
      {"a\"b\\c\\n", "'a\"b\\c\\n'"},
      {"\xc3\xa9t\xc3\xa9.yaml", "'\xc3\xa9t\xc3\xa9.yaml'"},
      {"a`b", "\"$(printf 'a\\140b')\""},
      {"a\nb c", "\"$(printf 'a\\012b\\040c')\""},
      {"\x1b[31m%d'\"\\\x7f\xff\t", {}},
      {"\n\n.yaml", {}},
      {"\xe2\x80\xae"
       "deceptive",
       {}},
  };
  for (const auto& row : rows) {
    CAPTURE(row.path);
    const auto word = cdi::shell_word(row.path);
    if (!row.word.empty()) CHECK(word == row.word);
    CHECK(read_by_shell(word) == row.path);
    CHECK(word.find_first_of("\n`") == std::string::npos);
  }
}

TEST_CASE("A path is not an option of the command, and keeps a newline at its end") {
  CHECK(cdi::shell_word("-rf") == "./-rf");
  CHECK(cdi::shell_word("--root=/x y") == "'./--root=/x y'");
  CHECK(cdi::shell_word("./-rf") == "./-rf");
  CHECK(read_by_shell(cdi::shell_word("/a\n")) == "/a\n/");
}
