// The bodies of <cdi/dirs/publish.hpp>.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_DIRS_IMPL_PUBLISH_HPP
#define CDI_DIRS_IMPL_PUBLISH_HPP

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <fcntl.h>
#include <limits>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <cdi/base/path.hpp>
#include <cdi/dirs/publish.hpp>
#include <cdi/files/descriptor.hpp>
#include <cdi/files/directory.hpp>
#include <cdi/files/file.hpp>
#include <cdi/files/replace_file.hpp>
#include <cdi/files/salvage.hpp>
#include <cdi/rules/annotation_key.hpp>
#include <cdi/rules/minimum_version.hpp>
#include <cdi/rules/name.hpp>
#include <cdi/text/document.hpp>
#include <cdi/text/json_text.hpp>
#include <cdi/text/yaml.hpp>

namespace cdi {
inline namespace CDI_ABI {

static_assert(is_annotation_key(owner_annotation));

CDI_INLINE Result<void> check_owner(std::string_view owner) {
  constexpr std::size_t longest = 253;
  const bool printable =
      std::all_of(owner.begin(), owner.end(), [](char c) { return c >= ' ' && c <= '~'; });
  if (!owner.empty() && owner.size() <= longest && printable && owner.front() != ' ' &&
      owner.back() != ' ') {
    return {};
  }
  return Error{.code = Errc::invalid,
               .message = "owner " + detail::quoted(owner) + " cannot be recorded: use 1 to " +
                          std::to_string(longest) +
                          " printable characters of ASCII, without space at either end"};
}

CDI_INLINE Result<void> check_spec_file_name(std::string_view name) {
  std::string_view fault;
  if (name.find('/') != std::string_view::npos) {
    fault = " leaves the directory: leave out what is before the last slash, and the slash";
  } else if (name.find('\0') != std::string_view::npos) {
    fault = " holds NUL: leave it out";
  } else if (name.size() > NAME_MAX) {
    fault = " has more than 255 bytes: choose a shorter one";
  } else if (!format_of(name)) {
    fault = " does not end in .json or .yaml: no runtime would read the file";
  } else {
    return {};
  }
  return Error{.code = Errc::invalid,
               .message = ("file name " + detail::quoted(name)).append(fault)};
}

namespace detail {

/// Whose the file at a name of a directory is.
enum class Claim : std::uint8_t {
  absent,   // nothing is there
  ours,     // it records this owner
  other,    // it records another owner
  unowned,  // it is a spec, perhaps not a valid one, that records no owner
  none,     // no spec: empty, cut off, neither JSON nor YAML
  link,     // a link, unless it leads to a file of another owner or of none
  special,  // a directory, FIFO, device or socket
};

/// What stands at a name of a directory.
struct FoundFile {
  Claim claim = Claim::absent;
  std::string owner{};  // that is recorded
  std::string text{};
  mode_t mode = 0;
  bool is_link = false;  // that leads to the text
};

/// What the first line of a YAML file begins with when its spec has no place for an annotation.
inline constexpr std::string_view owner_comment = "# cdi-publisher/owner: ";
static_assert(owner_comment.substr(2, owner_annotation.size()) == owner_annotation);

/// The first line of files that cdi-prepare wrote before it used `owner_comment`. Such files still
/// belong to it, so that it can replace and remove them.
inline constexpr std::string_view former_comment =
    "# Written by cdi-prepare, which will replace or remove it.";
inline constexpr std::string_view former_owner = "cdi-prepare";

/// The owner that the first line of a text records; empty when it records none. A carriage return
/// at its end counts for nothing.
inline std::string_view owner_in_comment(std::string_view text) {
  auto line = text.substr(0, text.find('\n'));
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line == former_comment) return former_owner;
  if (!line.starts_with(owner_comment)) return {};
  return line.substr(owner_comment.size());
}

/// The owner that the annotations of a spec record; empty when they record none.
inline std::string owner_in_annotations(Document::Value spec) {
  const auto annotations = detail::find_member(spec, "annotations");
  if (!annotations) return {};
  for (const auto [key, value] : annotations->members()) {
    if (key.text() == owner_annotation) return std::string{value.text()};
  }
  return {};
}

/// Whether somebody may be about to make a spec of an object.
inline bool looks_like_spec(const Document::Value& value) {
  return detail::find_member(value, "cdiVersion") || detail::find_member(value, "kind") ||
         detail::find_member(value, "devices");
}

/// JSON has no comments: by its name such a file is none of the owner's, by its text it is.
inline Error owner_in_json_comment(std::string_view path, std::string_view owner) {
  return {.code = Errc::conflict,
          .message = "a comment in the first line records owner " + detail::quoted(owner) +
                     ", but JSON files have no comments: rename the file to end in .yaml, or "
                     "remove it by hand",
          .position = {.file = std::string{path}}};
}

/// Tells whose a text is. Also of specs that are not valid, or made for releases not known yet.
inline Result<void> judge_owner(FoundFile& found, std::string_view path, std::string_view owner) {
  auto document = cdi::parse_json(found.text, path);
  if (!document && document.error().code == Errc::syntax) {
    document = cdi::parse_yaml(found.text, path);
  }
  if (!document && document.error().code == Errc::limit) return std::move(document).error();
  found.claim = Claim::none;
  const bool is_map = document && document->root().kind() == Document::Kind::map;
  if (is_map) found.owner = owner_in_annotations(document->root());
  if (found.owner.empty()) {
    const auto commented = owner_in_comment(found.text);
    const bool is_json = format_of(path) == Format::json;
    if (is_json && commented == owner && is_map) return owner_in_json_comment(path, owner);
    if (!is_json) found.owner = commented;
  }
  if (!found.owner.empty()) {
    found.claim = found.owner == owner ? Claim::ours : Claim::other;
  } else if (is_map && looks_like_spec(document->root())) {
    found.claim = Claim::unowned;
  }
  return {};
}

/// Looks at a name of a directory, -1 for one that is missing: a regular file, or a link to one,
/// has `Claim::none` and its text. Reads a file once, never waits for the other side of a FIFO, and
/// opens no device.
inline Result<FoundFile> read_found(int directory, const std::string& name,
                                    const std::string& path) {
  FoundFile found;
  struct stat info = {};
  if (directory < 0) return found;
  if (::fstatat(directory, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return found;
    return file_error(path, "cannot look at the file");
  }
  const bool link = S_ISLNK(info.st_mode);
  found.claim = link ? Claim::link : Claim::special;
  if (link && ::fstatat(directory, name.c_str(), &info, 0) != 0) {
    if (errno == ENOENT || errno == ELOOP) return found;
    return file_error(path, "cannot look at what the link leads to");
  }
  if (!S_ISREG(info.st_mode)) return found;
  const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (link ? 0 : O_NOFOLLOW);
  const Descriptor file{::openat(directory, name.c_str(), flags)};
  if (!file && errno == ENOENT) return FoundFile{.claim = link ? Claim::link : Claim::absent};
  if (!file) return file_error(path, "cannot open the file");
  if (::fstat(file.get(), &info) != 0) return file_error(path, "cannot look at the file");
  if (!S_ISREG(info.st_mode)) return found;
  auto text = cdi::read_all(file.get(), path, Limits{}.bytes);
  if (!text) return std::move(text).error();
  found.text = std::move(*text);
  found.mode = info.st_mode & 07777;
  found.is_link = link;
  found.claim = Claim::none;
  return found;
}

/// As `read_found`, and tells whose a file is. One with the text `expected`, which records the
/// owner, is its own without more reading.
inline Result<FoundFile> look_at(int directory, const std::string& name, const std::string& path,
                                 std::string_view owner, std::string_view expected = {}) {
  auto found = read_found(directory, name, path);
  if (!found || found->claim != Claim::none) return found;
  if (!expected.empty() && found->text == expected) {
    found->claim = Claim::ours;
  } else if (auto judged = judge_owner(*found, path, owner); !judged) {
    return std::move(judged).error();
  }
  if (found->is_link && (found->claim == Claim::ours || found->claim == Claim::none)) {
    found->claim = Claim::link;
  }
  return found;
}

/// Whether a file is this owner's. Most of a directory are not, and lack even the annotation's
/// name, which the comment has, too: they are read, and not parsed.
inline Result<bool> is_own(int directory, const std::string& name, const std::string& path,
                           std::string_view owner) {
  auto found = read_found(directory, name, path);
  if (!found) return std::move(found).error();
  if (found->claim != Claim::none || found->is_link) return false;
  const bool may_record = found->text.find(owner_annotation) != std::string::npos ||
                          found->text.starts_with(former_comment);
  if (!may_record) return false;
  if (auto judged = judge_owner(*found, path, owner); !judged) return std::move(judged).error();
  return found->claim == Claim::ours;
}

/// Refuses a file that is not this owner's to replace or to remove. `advice` is what else to do.
inline Error ownership_conflict(const FoundFile& found, const std::string& path,
                                std::string_view advice) {
  Error error{.code = Errc::conflict, .position = {.file = path}};
  switch (found.claim) {
    case Claim::other:
      error.message = "the file records owner " + detail::quoted(found.owner);
      break;
    case Claim::unowned: error.message = "the file is a spec that records no owner"; break;
    case Claim::none: error.message = "the file is no spec, and records no owner"; break;
    case Claim::link: error.message = "a link, which no publisher makes"; break;
    case Claim::absent:
    case Claim::ours:
    case Claim::special: error.message = "not a regular file"; break;
  }
  const bool other = found.claim == Claim::other;
  error.message.append(": ").append(advice);
  error.message.append(other ? "remove it as that owner" : "remove it by hand");
  return error;
}

inline Result<void> check_replaceable(const FoundFile& found, const std::string& path,
                                      Replace replace = Replace::own) {
  const bool others = found.claim == Claim::other || found.claim == Claim::unowned;
  const bool refused = found.claim == Claim::special || (others && replace == Replace::own);
  if (!refused) return {};
  return ownership_conflict(found, path, "choose another name, or ");
}

/// Only what for sure is this owner's may be removed.
inline Result<void> check_removable(const FoundFile& found, const std::string& path) {
  if (found.claim == Claim::absent || found.claim == Claim::ours) return {};
  return ownership_conflict(found, path, "");
}

/// A spec file that is to be.
struct PlannedFile {
  std::string name{};
  std::string path{};
  std::string text{};
};

inline constexpr mode_t spec_file_mode = 0644;  // every runtime must be able to read it

/// What replacing what was found by `file` is called.
inline Publication::Action action_for(const FoundFile& found, const PlannedFile& file) {
  if (found.claim == Claim::absent) return Publication::Action::created;
  const bool same =
      found.claim == Claim::ours && found.text == file.text && found.mode == spec_file_mode;
  return same ? Publication::Action::unchanged : Publication::Action::replaced;
}

/// Writes a spec file unless it is there already, after a look at what is there. The directory is
/// not synced.
inline Result<Publication::Action> put_file(int directory, const PlannedFile& file,
                                            std::string_view owner, DryRun dry_run,
                                            Replace replace = Replace::own) {
  std::optional<Temporary> temporary;
  static constexpr int tries = 100;
  for (int i = 0; i < tries; ++i) {
    auto found = look_at(directory, file.name, file.path, owner, file.text);
    if (!found && replace == Replace::any) found = FoundFile{.claim = Claim::none};
    if (!found) return std::move(found).error();
    auto good = check_replaceable(*found, file.path, replace);
    if (!good) return std::move(good).error();
    const auto action = action_for(*found, file);
    if (action == Publication::Action::unchanged || dry_run == DryRun::yes) return action;
    if (!temporary) {
      temporary.emplace(directory, file.name);
      auto filled = temporary->fill(file.path, file.text, {.mode = spec_file_mode});
      if (!filled) return std::move(filled).error();
    }
    const bool absent = found->claim == Claim::absent;
    if (absent ? temporary->create(file.name) : temporary->replace(file.name)) return action;
    // Somebody else was faster: whose is it now?
    if (!absent || errno != EEXIST) return file_error(file.path, "cannot rename the new file");
  }
  return Error{.code = Errc::conflict,
               .message = "others make and remove the file all the time: choose another name",
               .position = {.file = file.path}};
}

/// Removes a spec file of this owner. The directory is not synced.
inline Result<Publication::Action> remove_file(int directory, const PlannedFile& file,
                                               std::string_view owner, DryRun dry_run) {
  const auto found = look_at(directory, file.name, file.path, owner);
  if (!found) return found.error();
  if (auto good = check_removable(*found, file.path); !good) return std::move(good).error();
  if (found->claim == Claim::absent) return Publication::Action::absent;
  if (dry_run == DryRun::yes || ::unlinkat(directory, file.name.c_str(), 0) == 0) {
    return Publication::Action::removed;
  }
  if (errno == ENOENT) return Publication::Action::absent;
  return file_error(file.path, "cannot remove the file");
}

/// The names of a directory that matter to a publisher, sorted by bytes.
struct DirectoryNames {
  std::vector<std::string> specs{};
  std::vector<std::string> temporaries{};
};

inline Result<DirectoryNames> list_names(int directory, const std::string& path) {
  DirectoryNames names;
  if (directory < 0) return names;
  const auto wanted = [](std::string_view name) {
    return format_of(name) || is_temporary_name(name);
  };
  constexpr auto no_limit = std::numeric_limits<std::size_t>::max();
  auto listing = detail::list_directory(directory, path, wanted, no_limit);
  if (!listing) return std::move(listing).error();
  for (auto& entry : listing->entries) {
    auto& list = format_of(entry.name) ? names.specs : names.temporaries;
    list.push_back(std::move(entry.name));
  }
  return names;
}

/// Opens a directory; makes it, and those above it, when they are missing: 0755, whatever the
/// umask.
inline Result<Descriptor> open_or_make_directory(const std::string& path) {
  constexpr int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
  Descriptor directory{::open(path.c_str(), flags)};
  if (directory) return directory;
  if (errno != ENOENT) return file_error(path, "cannot open the directory");
  const auto slash = path.rfind('/');
  const auto above = open_or_make_directory(slash == std::string::npos ? "."
                                            : slash == 0               ? "/"
                                                                       : path.substr(0, slash));
  if (!above) return above.error();
  const auto name = slash == std::string::npos ? path : path.substr(slash + 1);
  const bool made = ::mkdirat(above->get(), name.c_str(), 0755) == 0;
  if (!made && errno != EEXIST) return file_error(path, "cannot make the directory");
  directory = Descriptor{::openat(above->get(), name.c_str(), flags)};
  if (!directory) return file_error(path, "cannot open the directory");
  if (made && ::fchmod(directory.get(), 0755) != 0) {
    return file_error(path, "cannot set the mode of the directory");
  }
  if (made) ::fsync(above->get());
  return directory;
}

}  // namespace detail

/// What a publisher does, step by step; lives as long as one call.
class Publisher::Work {
 public:
  explicit Work(const Publisher& self)
      : owner_{self.owner_}, dir_{self.dir_}, directory_{self.directory_} {}

  using Action = Publication::Action;

  /// What becomes of a directory that is missing.
  enum class Missing : std::uint8_t { stays, made };

  std::string path_of(const std::string& name) const {
    return dir_ + (dir_.ends_with('/') ? "" : "/") + name;
  }

  Result<void> check_self() const {
    if (dir_.empty() || dir_.find('\0') != std::string::npos) {
      return Error{.code = Errc::invalid,
                   .message = "directory " + detail::quoted(dir_) +
                              " cannot be: name the one that holds the spec files"};
    }
    return check_owner(owner_);
  }

  static Error defined_twice(std::string_view device, std::string_view other,
                             const std::string& path) {
    return {.code = Errc::conflict,
            .message = "device " + detail::quoted(device) + " is also defined by " +
                       detail::quoted(other) + ": keep only one",
            .position = {.file = path}};
  }

  Result<void> check(const std::string& name) const {
    if (auto good = check_self(); !good) return good;
    return check_spec_file_name(name);
  }

  Result<void> check_all(const std::set<std::string>& names) const {
    for (const auto& name : names) {
      if (auto good = check(name); !good) return good;
    }
    return {};
  }

  /// The text of a spec with its owner in it. In JSON only an annotation can record one. A second
  /// file beside it could not be replaced at the same moment, so it might name another owner.
  Result<std::string> text_of(const std::string& name, Spec spec) const {
    constexpr Release first_with_annotations{0, 6, 0};
    const auto format = *format_of(name);
    spec.annotations.erase(std::string{owner_annotation});
    if (spec.version.empty()) {
      const auto oldest = minimum_version(spec);
      spec.version =
          to_string(format == Format::json ? std::max(oldest, first_with_annotations) : oldest);
    }
    const auto declared = parse_release(spec.version);
    const bool has_annotations = !declared || *declared >= first_with_annotations;
    if (!has_annotations && format == Format::json) {
      return Error{.code = Errc::unsupported,
                   .message = "a JSON file of version " + detail::quoted(spec.version) +
                              " cannot record its owner: choose a name that ends in .yaml, or "
                              "write version \"" +
                              to_string(first_with_annotations) + "\"",
                   .where = "cdiVersion"};
    }
    if (has_annotations) spec.annotations.emplace(owner_annotation, owner_);
    auto text = cdi::write_spec(spec, format);
    if (text && !has_annotations) {
      text->insert(0, std::string{detail::owner_comment}.append(owner_).append("\n"));
    }
    return text;
  }

  /// A spec as the file of this owner.
  Result<detail::PlannedFile> make_file(const std::string& name, Spec spec) const {
    if (auto good = check(name); !good) return std::move(good).error();
    auto text = text_of(name, std::move(spec));
    if (text && text->size() > Limits{}.bytes) {
      text = Error{.code = Errc::limit,
                   .message = "the spec has " + std::to_string(text->size()) +
                              " bytes as text, and readers take " + std::to_string(Limits{}.bytes) +
                              ": make several of it"};
    }
    if (!text) {
      text.error().position.file = path_of(name);
      return std::move(text).error();
    }
    return detail::PlannedFile{name, path_of(name), std::move(*text)};
  }

  /// The directory; -1 when it is missing and stays so.
  Result<Descriptor> open(Missing missing) const {
    if (directory_) return open_again(missing);
    if (missing == Missing::made) return detail::open_or_make_directory(dir_);
    Descriptor directory{::open(dir_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (!directory && errno != ENOENT) return file_error(dir_, "cannot open the directory");
    return directory;
  }

  Result<Descriptor> open_again(Missing missing) const {
    if (*directory_ < 0 && missing == Missing::stays) return Descriptor{-1};
    errno = ENOENT;
    Descriptor own{*directory_ < 0 ? -1 : ::fcntl(*directory_, F_DUPFD_CLOEXEC, 0)};
    if (!own) return file_error(dir_, "cannot use the directory");
    return own;
  }

  static Result<Publication> finish(Publication done, const Descriptor& directory, DryRun dry_run) {
    const bool changed = done.action != Action::unchanged && done.action != Action::absent;
    if (changed && dry_run == DryRun::no) {
      auto synced = detail::sync_directory(directory.get(), done.path);
      if (!synced) return std::move(synced).error();
    }
    return done;
  }

  /// The changes that make a directory what it is to be.
  struct Plan {
    Reconciled outcome{};  // what needs no change, and what cannot be read
    std::vector<const detail::PlannedFile*> writes{};
    std::vector<detail::PlannedFile> removals{};
    std::vector<std::string> temporaries{};
  };

  /// Makes the files of this owner `files`, and those of `keep` that are there.
  Result<Reconciled> settle(const std::vector<detail::PlannedFile>& files,
                            const std::set<std::string>& keep, DryRun dry_run) const {
    if (auto good = check_self(); !good) return std::move(good).error();
    auto directory = open(Missing::stays);
    if (!directory) return std::move(directory).error();
    auto plan = make_plan(directory->get(), files, keep);
    if (!plan) return std::move(plan).error();
    const bool changes = !plan->writes.empty() || !plan->removals.empty();
    if (dry_run == DryRun::no && changes && *directory &&
        ::faccessat(directory->get(), ".", W_OK | X_OK, AT_EACCESS) != 0) {
      return file_error(dir_, "cannot change the directory");
    }
    if (dry_run == DryRun::no && !plan->writes.empty() && !*directory) {
      directory = open(Missing::made);
      if (!directory) return std::move(directory).error();
    }
    return carry_out(std::move(*plan), directory->get(), dry_run);
  }

  Result<Plan> make_plan(int directory, const std::vector<detail::PlannedFile>& files,
                         const std::set<std::string>& keep) const {
    auto names = detail::list_names(directory, dir_);
    if (!names) return std::move(names).error();
    Plan plan{.temporaries = std::move(names->temporaries)};
    std::set<std::string_view> expected;
    for (const auto& file : files) {
      expected.insert(file.name);
      const auto found = detail::look_at(directory, file.name, file.path, owner_, file.text);
      if (!found) return found.error();
      auto good = detail::check_replaceable(*found, file.path);
      if (!good) return std::move(good).error();
      if (detail::action_for(*found, file) == Action::unchanged) {
        plan.outcome.files.push_back({file.path, Action::unchanged});
      } else {
        plan.writes.push_back(&file);
      }
    }
    for (const auto& name : names->specs) {
      if (expected.contains(name)) continue;
      const auto own = detail::is_own(directory, name, path_of(name), owner_);
      if (!own) {
        plan.outcome.unreadable.push_back(own.error());
      } else if (*own && keep.contains(name)) {
        plan.outcome.files.push_back({path_of(name), Action::unchanged});
      } else if (*own) {
        plan.removals.push_back({.name = name, .path = path_of(name)});
      }
    }
    return plan;
  }

  Result<Reconciled> carry_out(Plan plan, int directory, DryRun dry_run) const {
    auto& outcome = plan.outcome;
    const auto note = [&](const detail::PlannedFile& file, const Result<Action>& action) {
      if (action) {
        outcome.files.push_back({file.path, *action});
      } else {
        outcome.errors.push_back(action.error());
      }
    };
    // First the new, so that a writer killed here has lost nothing.
    for (const auto* file : plan.writes) {
      note(*file, detail::put_file(directory, *file, owner_, dry_run));
    }
    for (const auto& file : plan.removals) {
      note(file, detail::remove_file(directory, file, owner_, dry_run));
    }
    remove_temporaries(plan, directory, dry_run);
    const bool changed = !plan.writes.empty() || !plan.removals.empty();
    if (changed && dry_run == DryRun::no) {
      if (auto synced = detail::sync_directory(directory, dir_); !synced) {
        outcome.errors.push_back(std::move(synced).error());
      }
    }
    std::sort(outcome.files.begin(), outcome.files.end(),
              [](const Publication& a, const Publication& b) { return a.path < b.path; });
    return std::move(outcome);
  }

  void remove_temporaries(Plan& plan, int directory, DryRun dry_run) const {
    for (const auto& name : plan.temporaries) {
      const auto abandoned = detail::open_abandoned(directory, name);
      if (!abandoned) continue;
      if (dry_run == DryRun::yes || ::unlinkat(directory, name.c_str(), 0) == 0) {
        plan.outcome.temporaries.push_back(path_of(name));
      } else {
        plan.outcome.errors.push_back(file_error(path_of(name), "cannot remove the file"));
      }
    }
  }

 private:
  const std::string& owner_;
  const std::string& dir_;
  std::optional<int> directory_;
};

CDI_INLINE Publisher::Publisher(std::string owner, std::string dir)
    : owner_{std::move(owner)}, dir_{std::move(dir)} {
  if (!dir_.empty()) dir_ = clean_path(dir_);
}

CDI_INLINE Publisher::Publisher(std::string owner, int directory, std::string dir)
    : owner_{std::move(owner)}, dir_{std::move(dir)}, directory_{directory} {}

CDI_INLINE Result<Publication> Publisher::write(const std::string& name, const Spec& spec,
                                                DryRun dry_run, Replace replace) const {
  const Work work{*this};
  const auto file = work.make_file(name, spec);
  if (!file) return file.error();
  const auto directory =
      work.open(dry_run == DryRun::yes ? Work::Missing::stays : Work::Missing::made);
  if (!directory) return directory.error();
  const auto action = detail::put_file(directory->get(), *file, owner_, dry_run, replace);
  if (!action) return action.error();
  return Work::finish({file->path, *action}, *directory, dry_run);
}

CDI_INLINE Result<Publication> Publisher::remove(const std::string& name, DryRun dry_run) const {
  const Work work{*this};
  if (auto good = work.check(name); !good) return std::move(good).error();
  const auto directory = work.open(Work::Missing::stays);
  if (!directory) return directory.error();
  const detail::PlannedFile file{.name = name, .path = work.path_of(name)};
  const auto action = detail::remove_file(directory->get(), file, owner_, dry_run);
  if (!action) return action.error();
  return Work::finish({file.path, *action}, *directory, dry_run);
}

CDI_INLINE Result<Reconciled> Publisher::reconcile(const std::map<std::string, Spec>& expected,
                                                   DryRun dry_run,
                                                   const std::set<std::string>& keep) const {
  const Work work{*this};
  if (auto good = work.check_all(keep); !good) return std::move(good).error();
  std::vector<detail::PlannedFile> files;
  std::map<std::string, std::string_view> devices;  // and the file of each
  for (const auto& [name, spec] : expected) {
    auto file = work.make_file(name, spec);
    if (!file) return std::move(file).error();
    files.push_back(std::move(*file));
    for (const auto& device : spec.devices) {
      const auto qualified = qualified_name(spec.kind, device.name);
      const auto [first, is_new] = devices.emplace(qualified, name);
      if (!is_new) return Work::defined_twice(qualified, first->second, work.path_of(name));
    }
  }
  return work.settle(files, keep, dry_run);
}

CDI_INLINE Result<Reconciled> Publisher::prune(const std::set<std::string>& keep,
                                               DryRun dry_run) const {
  const Work work{*this};
  if (auto good = work.check_all(keep); !good) return std::move(good).error();
  return work.settle({}, keep, dry_run);
}

CDI_INLINE Result<std::vector<std::string>> Publisher::files() const {
  const Work work{*this};
  if (auto good = work.check_self(); !good) return std::move(good).error();
  const auto directory = work.open(Work::Missing::stays);
  if (!directory) return directory.error();
  auto names = detail::list_names(directory->get(), dir_);
  if (!names) return std::move(names).error();
  std::vector<std::string> ours;
  for (auto& name : names->specs) {
    const auto own = detail::is_own(directory->get(), name, work.path_of(name), owner_);
    if (own && *own) ours.push_back(std::move(name));
  }
  return ours;
}

}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_DIRS_IMPL_PUBLISH_HPP
