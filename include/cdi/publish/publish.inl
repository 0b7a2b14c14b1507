// The bodies of <cdi/publish/publish.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_PUBLISH_PUBLISH_INL
#define CDI_PUBLISH_PUBLISH_INL

#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

#include <cdi/base/path.hpp>
#include <cdi/files/descriptor.hpp>
#include <cdi/files/directory.hpp>
#include <cdi/files/replace_file.hpp>
#include <cdi/publish/owned_file.hpp>
#include <cdi/publish/owner_record.hpp>
#include <cdi/publish/ownership.hpp>
#include <cdi/publish/publish.hpp>
#include <cdi/publish/reconciliation.hpp>
#include <cdi/rules/name.hpp>
#include <cdi/text/document.hpp>

namespace cdi::inline CDI_ABI {

CDI_INLINE Result<void> check_spec_file_name(std::string_view name) {
  std::string_view problem;
  std::string_view advice;
  if (name.find('/') != std::string_view::npos) {
    problem = " contains a slash";
    advice = "use only the part after the last slash";
  } else if (name.find('\0') != std::string_view::npos) {
    problem = " contains a NUL byte";
    advice = "remove it";
  } else if (name.size() > NAME_MAX) {
    problem = " is longer than 255 bytes";
    advice = "choose a shorter name";
  } else if (!format_of(name)) {
    problem = " does not end in .json or .yaml: runtimes do not read such files";
    advice = "choose a name that does";
  } else {
    return {};
  }
  return Error{.code = Errc::invalid,
               .message = ("file name " + cdi::quoted(name)).append(problem),
               .advice = std::string{advice}};
}

/// Carries out one call of a publisher, step by step.
class Publisher::Impl {
 public:
  explicit Impl(const Publisher& self)
      : owner_{self.owner_}, dir_{self.dir_}, directory_{self.directory_} {}

  using Action = Publication::Action;

  /// What to do about a missing directory.
  enum class IfMissing : std::uint8_t { leave, create };

  std::string path_of(const std::string& name) const { return detail::path_in(dir_, name); }

  detail::PublishDir owner_dir(const Descriptor& directory) const {
    return {.directory = directory.get(), .path = dir_, .owner = owner_};
  }

  Result<void> check_self() const {
    if (dir_.empty() || dir_.find('\0') != std::string::npos) {
      return Error{.code = Errc::invalid,
                   .message = "directory " + cdi::quoted(dir_) + " is not usable",
                   .advice = "use the path of the directory with the spec files"};
    }
    return check_owner(owner_);
  }

  Result<void> check(const std::string& name) const {
    if (auto good = check_self(); !good) return good;
    return check_spec_file_name(name);
  }

  Result<void> check_all(const std::set<std::string>& names) const {
    if (auto good = check_self(); !good) return good;
    for (const auto& name : names) {
      if (auto good = check_spec_file_name(name); !good) return good;
    }
    return {};
  }

  /// Turns a spec into a file of this owner.
  Result<detail::PlannedFile> make_file(const std::string& name, Spec spec) const {
    if (auto good = check(name); !good) return std::move(good).error();
    auto text = detail::write_owned_spec(std::move(spec), *format_of(name), owner_);
    if (text && text->size() > Limits{}.bytes) {
      text = Error{.code = Errc::limit,
                   .message = "the spec takes " + std::to_string(text->size()) +
                              " bytes as text, but readers accept at most " +
                              std::to_string(Limits{}.bytes),
                   .advice = "split it into several specs"};
    }
    if (!text) {
      text.error().position.file = path_of(name);
      return std::move(text).error();
    }
    return detail::PlannedFile{name, std::move(*text)};
  }

  /// Turns several specs into files; no two specs may define the same device.
  Result<std::vector<detail::PlannedFile>> make_files(
      const std::map<std::string, Spec>& specs) const {
    std::vector<detail::PlannedFile> files;
    std::map<std::string, std::string_view> file_of_device;
    for (const auto& [name, spec] : specs) {
      auto file = make_file(name, spec);
      if (!file) return std::move(file).error();
      files.push_back(std::move(*file));
      for (const auto& device : spec.devices) {
        const auto qualified = qualified_name(spec.kind, device.name);
        const auto [first, is_new] = file_of_device.emplace(qualified, name);
        if (!is_new) return defined_twice(qualified, first->second, path_of(name));
      }
    }
    return files;
  }

  /// Opens the directory; returns -1 when the directory is missing and not created.
  Result<Descriptor> open(IfMissing if_missing) const {
    if (directory_) return duplicate_directory(if_missing);
    if (if_missing == IfMissing::create) return detail::open_or_make_directory(dir_);
    Descriptor directory{::open(dir_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (!directory && errno != ENOENT) return file_error(dir_, "cannot open the directory");
    return directory;
  }

  static Result<Publication> finish(Publication done, const Descriptor& directory, DryRun dry_run) {
    const bool changed = done.action != Action::unchanged && done.action != Action::absent;
    if (changed && dry_run == DryRun::no) {
      auto synced = cdi::sync_directory(directory.get(), done.path);
      if (!synced) return std::move(synced).error();
    }
    return done;
  }

  /// Changes the files of this owner to `files` and the existing files in `keep`.
  Result<Reconciled> reconcile(const std::vector<detail::PlannedFile>& files,
                               const std::set<std::string>& keep, DryRun dry_run) const {
    auto directory = open(IfMissing::leave);
    if (!directory) return std::move(directory).error();
    auto plan = detail::plan_reconciliation(owner_dir(*directory), files, keep);
    if (!plan) return std::move(plan).error();
    if (dry_run == DryRun::no && plan->has_changes() && *directory &&
        ::faccessat(directory->get(), ".", W_OK | X_OK, AT_EACCESS) != 0) {
      return file_error(dir_, "cannot write to the directory");
    }
    if (dry_run == DryRun::no && !plan->writes.empty() && !*directory) {
      directory = open(IfMissing::create);
      if (!directory) return std::move(directory).error();
    }
    return detail::carry_out(std::move(*plan), owner_dir(*directory), dry_run);
  }

 private:
  static Error defined_twice(std::string_view device, std::string_view other,
                             const std::string& path) {
    return {
        .code = Errc::conflict,
        .message = "device " + cdi::quoted(device) + " is also defined by " + cdi::quoted(other),
        .advice = "keep only one",
        .position = {.file = path}};
  }

  Result<Descriptor> duplicate_directory(IfMissing if_missing) const {
    if (*directory_ < 0 && if_missing == IfMissing::leave) return Descriptor{-1};
    errno = ENOENT;
    Descriptor own{*directory_ < 0 ? -1 : ::fcntl(*directory_, F_DUPFD_CLOEXEC, 0)};
    if (!own) return file_error(dir_, "cannot use the directory");
    return own;
  }

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
                                                DryRun dry_run, Replace replace,
                                                Durable durable) const {
  const Impl work{*this};
  const auto file = work.make_file(name, spec);
  if (!file) return file.error();
  const auto directory =
      work.open(dry_run == DryRun::yes ? Impl::IfMissing::leave : Impl::IfMissing::create);
  if (!directory) return directory.error();
  const auto action =
      detail::write_owned_file(work.owner_dir(*directory), *file, dry_run, replace, durable);
  if (!action) return action.error();
  Publication done{work.path_of(name), *action};
  if (durable == Durable::no) return done;
  return Impl::finish(std::move(done), *directory, dry_run);
}

CDI_INLINE Result<Publication> Publisher::remove(const std::string& name, DryRun dry_run,
                                                 Replace replace) const {
  const Impl work{*this};
  if (auto good = work.check(name); !good) return std::move(good).error();
  const auto directory = work.open(Impl::IfMissing::leave);
  if (!directory) return directory.error();
  const auto action = detail::remove_owned_file(work.owner_dir(*directory), name, dry_run, replace);
  if (!action) return action.error();
  return Impl::finish({work.path_of(name), *action}, *directory, dry_run);
}

CDI_INLINE Result<Reconciled> Publisher::reconcile(const std::map<std::string, Spec>& expected,
                                                   DryRun dry_run,
                                                   const std::set<std::string>& keep) const {
  const Impl work{*this};
  if (auto good = work.check_all(keep); !good) return std::move(good).error();
  const auto files = work.make_files(expected);
  if (!files) return files.error();
  return work.reconcile(*files, keep, dry_run);
}

CDI_INLINE Result<Reconciled> Publisher::prune(const std::set<std::string>& keep,
                                               DryRun dry_run) const {
  const Impl work{*this};
  if (auto good = work.check_all(keep); !good) return std::move(good).error();
  return work.reconcile({}, keep, dry_run);
}

CDI_INLINE Result<std::vector<std::string>> Publisher::files() const {
  const Impl work{*this};
  if (auto good = work.check_self(); !good) return std::move(good).error();
  const auto directory = work.open(Impl::IfMissing::leave);
  if (!directory) return directory.error();
  const auto dir = work.owner_dir(*directory);
  auto names = detail::list_names(dir);
  if (!names) return std::move(names).error();
  std::vector<std::string> own_files;
  for (auto& name : names->specs) {
    const auto own = detail::is_own_file(dir, name);
    if (own && *own) own_files.push_back(std::move(name));
  }
  return own_files;
}

}  // namespace cdi

#endif  // CDI_PUBLISH_PUBLISH_INL
