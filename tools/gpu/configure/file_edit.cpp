// Changes of configuration files: shown as a difference, or made.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "file_edit.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include <cdi/files/replace_file.hpp>
#include <cdi/files/temporary.hpp>
#include <cdi/files/text_file.hpp>

#include "../base/one_line.hpp"
#include "../host/directories.hpp"

namespace prepare::configure {

namespace {

/// The lines that differ, from `begin` up to the ends.
struct DifferentLines {
  std::size_t begin = 0;
  std::size_t old_end = 0;
  std::size_t new_end = 0;
};

DifferentLines different_lines(const std::vector<std::string_view>& before,
                               const std::vector<std::string_view>& after) {
  DifferentLines out{0, before.size(), after.size()};
  while (out.begin < before.size() && out.begin < after.size() &&
         before[out.begin] == after[out.begin]) {
    ++out.begin;
  }
  while (out.old_end > out.begin && out.new_end > out.begin &&
         before[out.old_end - 1] == after[out.new_end - 1]) {
    --out.old_end;
    --out.new_end;
  }
  return out;
}

/// A line of a difference. Tabs stay, so that `patch` finds the line.
std::string marked(char mark, std::string_view line) {
  const bool has_end = line.ends_with('\n');
  if (has_end) line.remove_suffix(1);
  std::string out{mark};
  for (auto tab = line.find('\t'); tab != std::string_view::npos; tab = line.find('\t')) {
    out.append(one_line(line.substr(0, tab))).append("\t");
    line.remove_prefix(tab + 1);
  }
  out += as_line(line);
  return has_end ? out : out + "\\ No newline at end of file\n";
}

/// The position of lines as in `@@ -1,2 +1,3 @@`.
std::string range(std::size_t begin, std::size_t end) {
  const auto count = end - begin;
  return fmt::format("{},{}", count == 0 ? begin : begin + 1, count);
}

/// Opens the directory of a file.
cdi::Result<Directory> directory_of(const HostOptions& options, const std::string& path) {
  const auto slash = path.rfind('/');
  return open_directory(options, slash == 0 ? "/" : path.substr(0, slash), Missing::made);
}

/// The mode, owner and group of a file. For a missing file, the values of a new file.
cdi::Result<cdi::FileAttributes> attributes_of(const HostOptions& options,
                                               const std::string& path) {
  if (path.empty()) return cdi::FileAttributes{};
  const auto directory = directory_of(options, path);
  if (!directory) return directory.error();
  const auto name = path.substr(path.rfind('/') + 1);
  struct stat status = {};
  if (::fstatat(directory->number(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) {
    return cdi::FileAttributes{
        .mode = status.st_mode & 0777U, .owner = status.st_uid, .group = status.st_gid};
  }
  if (errno == ENOENT) return cdi::FileAttributes{};
  return cdi::file_error(directory->path_of(name), "cannot read the mode and owner");
}

/// Creates a file. Fails if another program has created it since it was missing.
cdi::Result<void> create(const HostOptions& options, const FileEdit& edit,
                         const Directory& directory, const std::string& name) {
  const auto attributes = attributes_of(options, edit.like);
  if (!attributes) return attributes.error();
  const auto shown = directory.path_of(name);
  cdi::detail::Temporary temporary{directory.number(), name};
  if (auto filled = temporary.fill(shown, *edit.after, *attributes); !filled) return filled;
  if (temporary.create(name)) return cdi::sync_directory(directory.number(), directory.path);
  if (errno != EEXIST) return cdi::file_error(shown, "cannot rename the temporary file");
  return cdi::Error{.code = cdi::Errc::conflict,
                    .message = "another program has just created the file; try again",
                    .position = {.file = shown}};
}

/// Makes a change to a file of an open directory.
cdi::Result<void> make_in(const HostOptions& options, const FileEdit& edit,
                          const Directory& directory, const std::string& name) {
  const auto shown = directory.path_of(name);
  if (!edit.before) return create(options, edit, directory, name);
  const auto now = cdi::read_file_at(directory.number(), name, shown, edit.before->size() + 1);
  if (!now || now->text != *edit.before) {
    return cdi::Error{.code = cdi::Errc::conflict,
                      .message = "another program has just changed the file; try again",
                      .position = {.file = shown}};
  }
  if (edit.after) {
    return cdi::rewrite_file_at(directory.number(), name, *edit.after, shown, now->signature);
  }
  if (::unlinkat(directory.number(), name.c_str(), 0) != 0) {
    return cdi::file_error(shown, "cannot remove the file");
  }
  return cdi::sync_directory(directory.number(), directory.path);
}

}  // namespace

std::string with_path_here(const HostOptions& options, const std::string& text) {
  return text.starts_with('/') ? options.below_root(text) : text;
}

cdi::Result<FileEdit> read_to_edit(const tools::HostTree& tree, const std::string& path) {
  const HostOptions host{.root = tree.root()};
  auto text = tree.read(path);
  if (text) {
    const auto real = tree.real_path(path).value_or(path);
    return FileEdit{.path = with_path_here(host, real), .before = *text, .after = *text};
  }
  const bool missing = text.error().system == ENOENT || text.error().system == ENOTDIR;
  if (missing && !tree.exists(path)) return FileEdit{.path = with_path_here(host, path)};
  text.error().message = with_path_here(host, text.error().message);
  return std::move(text).error();
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

std::string diff_of(const FileEdit& edit) {
  if (!edit.changes()) return {};
  const auto before = lines_of(edit.before ? std::string_view{*edit.before} : std::string_view{});
  const auto after = lines_of(edit.after ? std::string_view{*edit.after} : std::string_view{});
  if (before.empty() && after.empty()) return {};
  const auto lines = different_lines(before, after);
  constexpr std::size_t context = 3;
  const auto begin = lines.begin - std::min(lines.begin, context);
  const auto old_end = std::min(lines.old_end + context, before.size());
  const auto new_end = lines.new_end + (old_end - lines.old_end);
  auto out = as_line("--- " + (edit.before ? edit.path : std::string{"/dev/null"})) +
             as_line("+++ " + (edit.after ? edit.path : std::string{"/dev/null"})) +
             fmt::format("@@ -{} +{} @@\n", range(begin, old_end), range(begin, new_end));
  for (auto i = begin; i < lines.begin; ++i) out += marked(' ', before[i]);
  for (auto i = lines.begin; i < lines.old_end; ++i) out += marked('-', before[i]);
  for (auto i = lines.begin; i < lines.new_end; ++i) out += marked('+', after[i]);
  for (auto i = lines.old_end; i < old_end; ++i) out += marked(' ', before[i]);
  return out;
}

std::string_view action_of(const FileEdit& edit) {
  if (!edit.after) return "removed";
  return edit.before ? "changed" : "created";
}

cdi::Result<void> make(const HostOptions& options, const FileEdit& edit) {
  const auto name = edit.path.substr(edit.path.rfind('/') + 1);
  const auto directory = directory_of(options, edit.path);
  if (!directory) return directory.error();
  auto done = make_in(options, edit, *directory, name);
  if (done) cdi::remove_temporaries_of(directory->number(), name);
  return done;
}

}  // namespace prepare::configure
