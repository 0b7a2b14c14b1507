// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_TESTS_TEMP_TREE_HPP
#define CDI_TESTS_TEMP_TREE_HPP

#include <cstdio>
#include <cstdlib>
#include <dirent.h>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include <doctest/doctest.h>

/// A directory tree that is removed in the end.
class TempTree {
 public:
  TempTree() { REQUIRE(::mkdtemp(path_.data()) != nullptr); }
  TempTree(const TempTree&) = delete;
  TempTree& operator=(const TempTree&) = delete;
  ~TempTree() { remove_all(path_); }

  std::string operator/(std::string_view name) const { return path_ + "/" + std::string{name}; }

  std::string make_dir(std::string_view name) const {
    auto path = *this / name;
    REQUIRE(::mkdir(path.c_str(), 0755) == 0);
    return path;
  }
  void link(const char* to, std::string_view name) const {
    REQUIRE(::symlink(to, (*this / name).c_str()) == 0);
  }
  void put(std::string_view name, std::string_view text) const {
    std::FILE* const file = std::fopen((*this / name).c_str(), "wb");
    REQUIRE(file != nullptr);
    CHECK(std::fwrite(text.data(), 1, text.size(), file) == text.size());
    std::fclose(file);
  }
  /// A spec of kind `v/c` with one device, which sets `FROM=<name>`.
  void put_spec(std::string_view name, std::string_view device) const {
    put(name, "cdiVersion: 1.0.0\nkind: v/c\ndevices:\n- name: " + std::string{device} +
                  "\n  containerEdits: {env: [FROM=" + std::string{name} + "]}\n");
  }

 private:
  static void remove_all(const std::string& path) {
    ::chmod(path.c_str(), 0700);
    if (DIR* const stream = ::opendir(path.c_str())) {
      std::vector<std::string> names;
      while (const dirent* entry = ::readdir(stream)) names.emplace_back(entry->d_name);
      ::closedir(stream);
      for (const auto& name : names) {
        const auto inner = path + "/" + name;
        if (name != "." && name != ".." && ::unlink(inner.c_str()) != 0) remove_all(inner);
      }
    }
    ::rmdir(path.c_str());
  }

  std::string path_ = "/tmp/cdi-test-XXXXXX";
};

#endif  // CDI_TESTS_TEMP_TREE_HPP
