// Files in a temporary directory.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <dirent.h>
#include <set>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

#include <doctest/doctest.h>

inline void put_file(const std::string& path, std::string_view text) {
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  REQUIRE(file != nullptr);
  CHECK(std::fwrite(text.data(), 1, text.size(), file) == text.size());
  CHECK(std::fclose(file) == 0);
}

inline std::string get_file(const std::string& path) {
  std::FILE* const file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return "not read";
  std::string text;
  char block[4096];
  for (std::size_t got = 1; got != 0; text.append(block, got)) {
    got = std::fread(block, 1, sizeof block, file);
  }
  std::fclose(file);
  return text;
}

/// Permission bits. Links are not followed.
inline mode_t mode_of(const std::string& path) {
  struct stat info = {};
  return ::lstat(path.c_str(), &info) == 0 ? info.st_mode & 07777U : 0;
}

/// The number of open descriptors of this process, including the one that this function opens.
inline std::size_t open_files() {
  std::size_t count = 0;
  DIR* const stream = ::opendir("/proc/self/fd");
  REQUIRE(stream != nullptr);
  while (::readdir(stream) != nullptr) ++count;
  ::closedir(stream);
  return count;
}

/// Changes the user from root to another for its lifetime, because root may read all files.
class UnprivilegedUser {
 public:
  UnprivilegedUser() {
    if (::geteuid() == 0 && ::seteuid(65534) != 0) {
      MESSAGE("skipped 'root cannot become another user here'");
    }
  }
  UnprivilegedUser(const UnprivilegedUser&) = delete;
  UnprivilegedUser& operator=(const UnprivilegedUser&) = delete;
  ~UnprivilegedUser() {
    if (::getuid() == 0) CHECK(::seteuid(0) == 0);
  }
  explicit operator bool() const { return ::geteuid() != 0; }
};

/// A directory tree, removed by the destructor.
class TempTree {
 public:
  TempTree() { REQUIRE(::mkdtemp(path_.data()) != nullptr); }
  /// Below `parent`, or below /tmp if that fails.
  explicit TempTree(std::string_view parent) : path_{std::string{parent} + "/cdi-test-XXXXXX"} {
    if (::mkdtemp(path_.data()) != nullptr) return;
    path_ = "/tmp/cdi-test-XXXXXX";
    REQUIRE(::mkdtemp(path_.data()) != nullptr);
  }
  TempTree(const TempTree&) = delete;
  TempTree& operator=(const TempTree&) = delete;
  ~TempTree() { remove_all(path_); }

  std::string operator/(std::string_view name) const { return path_ + "/" + std::string{name}; }

  const std::string& path() const { return path_; }

  /// The names in the top directory.
  std::set<std::string> names() const { return list(path_); }

  std::string make_dir(std::string_view name) const {
    auto path = *this / name;
    REQUIRE(::mkdir(path.c_str(), 0755) == 0);
    return path;
  }
  void link(const char* to, std::string_view name) const {
    REQUIRE(::symlink(to, (*this / name).c_str()) == 0);
  }
  void put(std::string_view name, std::string_view text) const { put_file(*this / name, text); }
  /// A spec of kind `v/c` with one device, which sets `FROM=<name>`.
  void put_spec(std::string_view name, std::string_view device) const {
    put(name, "cdiVersion: 1.0.0\nkind: v/c\ndevices:\n- name: " + std::string{device} +
                  "\n  containerEdits: {env: [FROM=" + std::string{name} + "]}\n");
  }

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

  std::string path_ = "/tmp/cdi-test-XXXXXX";
};
