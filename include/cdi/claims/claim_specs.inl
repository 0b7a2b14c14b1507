// The bodies of <cdi/claims/claim_specs.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_CLAIMS_CLAIM_SPECS_INL
#define CDI_CLAIMS_CLAIM_SPECS_INL

#include <cerrno>
#include <cstddef>
#include <string_view>
#include <vector>

#include <cdi/base/path.hpp>
#include <cdi/claims/claim_json.hpp>
#include <cdi/claims/claim_specs.hpp>
#include <cdi/files/descriptor.hpp>
#include <cdi/files/spec_text.hpp>
#include <cdi/files/text_file.hpp>
#include <cdi/rules/name.hpp>
#include <cdi/text/document.hpp>

namespace cdi::inline CDI_ABI::detail {

/// Checks that the names that `Claim::device_id` gives are in the spec.
inline Result<void> check_names(const Claim& claim, const Spec& spec) {
  const auto reject = [&](const std::string& what) {
    return Error{.code = Errc::invalid,
                 .message = "claim " + claim.uid + ": the driver made a spec " + what,
                 .advice = "use the kind and the device_name of the claim"};
  };
  if (spec.kind != claim.kind) {
    return reject("of the kind " + cdi::quoted(spec.kind) + " instead of " +
                  cdi::quoted(claim.kind));
  }
  std::set<std::string_view> names;
  for (const auto& device : spec.devices) names.insert(device.name);
  for (std::size_t i = 0; i < claim.devices.size(); ++i) {
    const auto name = claim.device_name(i);
    if (!names.contains(name)) return reject("without the device " + cdi::quoted(name));
  }
  return {};
}

CDI_INLINE std::string ClaimSpecs::directory_of(const Claim& claim) const {
  return claim.spec_dir.empty() ? spec_dir_ : claim.spec_dir;
}

CDI_INLINE Result<Spec> ClaimSpecs::read(const Claim& claim) const {
  const auto directory = driver_->open_spec_dir(directory_of(claim), MissingDirectory::stays);
  if (!directory) return directory.error();
  const auto name = claim.file_name();
  const auto path = directory->path_of(name);
  errno = ENOENT;
  if (!directory->descriptor) return file_error(path, "cannot open the file");
  const auto file = read_file_at(directory->number(), name, path, Limits{}.bytes);
  if (!file) return file.error();
  auto loaded = parse_spec(file->text, path, Format::json);
  if (!loaded) return std::move(loaded).error();
  return std::move(loaded->spec);
}

CDI_INLINE Result<void> ClaimSpecs::check_writable(const Claim& claim, const Spec& spec) const {
  const auto written = write(claim, spec, MissingDirectory::stays, DryRun::yes);
  return written ? Result<void>{} : written.error();
}

CDI_INLINE Result<Publication> ClaimSpecs::write(const Claim& claim, const Spec& spec) const {
  return write(claim, spec, MissingDirectory::made, DryRun::no);
}

CDI_INLINE Result<Publication> ClaimSpecs::write(const Claim& claim, const Spec& spec,
                                                 MissingDirectory missing, DryRun dry_run) const {
  if (auto good = check_names(claim, spec); !good) return std::move(good).error();
  const auto directory = driver_->open_spec_dir(directory_of(claim), missing);
  if (!directory) return directory.error();
  if (auto apart = journal_->check_apart(*directory); !apart) return std::move(apart).error();
  // After a crash of the system, `Claims::repair` makes the specs of recorded claims again. A claim
  // that is not recorded as prepared would leave an empty file, without an owner.
  const auto durable = driver_->makes_ready() ? Durable::yes : Durable::no;
  return publisher(*directory).write(claim.file_name(), spec, dry_run, Replace::own, durable);
}

CDI_INLINE Result<void> ClaimSpecs::remove(const Claim& claim) const {
  const auto directory = driver_->open_spec_dir(directory_of(claim), MissingDirectory::stays);
  if (!directory) return directory.error();
  const auto removed = publisher(*directory).remove(claim.file_name());
  return removed ? Result<void>{} : removed.error();
}

CDI_INLINE Result<Reconciled> ClaimSpecs::prune(const std::string& path, std::set<std::string> keep,
                                                const std::set<std::string>& unreadable) const {
  const auto directory = driver_->open_spec_dir(path, MissingDirectory::stays);
  if (!directory) return directory.error();
  const auto its_publisher = publisher(*directory);
  if (unreadable.empty()) return its_publisher.prune(keep);
  const auto files = its_publisher.files();
  if (!files) return files.error();  // without `keep` complete, nothing may be removed
  for (const auto& file : *files) {
    for (const auto& uid : unreadable) {
      if (is_spec_of_claim(uid, file)) keep.insert(file);
    }
  }
  return its_publisher.prune(keep);
}

}  // namespace cdi::detail

#endif  // CDI_CLAIMS_CLAIM_SPECS_INL
