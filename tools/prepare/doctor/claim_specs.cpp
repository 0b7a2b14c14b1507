// Checks of claims: journals and specs.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "claim_specs.hpp"

#include <cerrno>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "../../gpu/claims/claim_edits.hpp"
#include "../../gpu/claims/claim_places.hpp"
#include "../../gpu/findings/our_specs.hpp"
#include "../../gpu/findings/spec_dirs.hpp"

namespace prepare::doctor {

namespace {

/// Checks the claims in journals. All paths are paths on the host under the root.
class ClaimCheck {
 public:
  /// Both arguments must outlive this object.
  ClaimCheck(const Survey& survey, Findings& findings)
      : survey_{survey},
        surveys_{survey, {{.root = survey.tree.root()}, {}}, JournalPlace::under_root},
        findings_{findings} {}

  /// Checks the claims in a journal, and the specs that record it as their owner.
  void check(const std::string& journal, const cdi::Registry& registry) {
    const auto names = tree().names(journal);
    if (!names && names.error().system != ENOENT) {
      add(Level::note, fmt::format("cannot read the journal: {}", cdi::to_string(names.error())),
          "Run doctor as root.");
      return;
    }
    std::set<std::string> uids;
    for (const auto& name : tree().list(journal)) {
      const std::string uid{cdi::uid_of_claim_file(name)};
      if (uid.empty()) continue;
      uids.insert(uid);
      check_claim(journal, uid);
    }
    for (const auto& loaded : registry.specs()) check_owner(journal, *loaded, uids);
  }

 private:
  const tools::HostTree& tree() const { return survey_.tree; }

  void add(Level level, std::string what, std::string advice) {
    findings_.push_back({level, "claims", std::move(what), std::move(advice)});
  }

  void check_claim(const std::string& journal, const std::string& uid) {
    const auto path = fmt::format("{}/{}.json", journal, uid);
    const auto text = tree().read(path);
    const auto claim = text ? cdi::parse_claim(*text, path) : text.error();
    if (!claim) {
      add(Level::fault, fmt::format("claim {}: {}", uid, cdi::to_string(claim.error())),
          fmt::format("Run {}, which removes the claim and its spec.",
                      claim_command(tree(), "unprepare --claim " + cdi::shell_word(uid), journal)));
    } else if (claim->phase != Claim::Phase::prepared) {
      add(Level::note,
          fmt::format("claim {}: a call for it was interrupted, or is still running", uid),
          fmt::format("If no call is running, run {}, which finishes it.",
                      claim_command(tree(), "list", journal)));
    } else if (const auto fault = fault_of(*claim)) {
      add(Level::fault, fmt::format("claim {}: {}", uid, *fault),
          fmt::format(
              "Run {}, which makes specs agree with claims, and reports what it cannot fix.",
              claim_command(tree(), "list", journal)));
    }
  }

  std::string spec_path(const Claim& claim) const {
    return on_host(tree(), claim.spec_dir) + "/" + claim.file_name();
  }

  /// Why a claim or its spec cannot be used; nullopt if both are usable.
  std::optional<std::string> fault_of(const Claim& claim) {
    const auto survey = surveys_.of(claim);
    if (!survey) return to_string(survey.error());
    const auto found = find_again(**survey, claim);
    if (!found) return to_string(found.error());
    const auto path = spec_path(claim);
    const auto text = tree().read(path, cdi::Limits{}.bytes);
    if (!text && text.error().system == ENOENT) return fmt::format("its spec {} is missing", path);
    if (!text) return cdi::to_string(text.error());
    const auto loaded = cdi::parse_spec(*text, path, cdi::Format::json);
    if (!loaded) return cdi::to_string(loaded.error());
    if (!owner_journal(tree(), *loaded))
      return fmt::format("another program wrote its spec {}", path);
    if (auto fault = fault_in(loaded->spec, claim, *found)) {
      return fmt::format("its spec {}: {}", path, *fault);
    }
    return std::nullopt;
  }

  /// Reports a spec of a journal that does not contain the claim.
  void check_owner(const std::string& journal, const cdi::LoadedSpec& loaded,
                   const std::set<std::string>& uids) {
    const auto owner = owner_journal(tree(), loaded);
    if (!owner || *owner != journal) return;
    for (const auto& uid : uids) {
      if (cdi::is_spec_of_claim(uid, loaded.path)) return;
    }
    const auto directory = loaded.path.substr(0, loaded.path.rfind('/'));
    const bool is_usual = place_of(tree(), directory) == place_of(tree(), "/var/run/cdi");
    const auto list =
        is_usual ? "list" : "list --output-dir " + cdi::shell_word(path_here(tree(), directory));
    add(Level::fault,
        fmt::format("{} belongs to no claim of the journal in {}", loaded.path, journal),
        fmt::format("Run {}, which removes it.", claim_command(tree(), list, journal)));
  }

  const Survey& survey_;
  ClaimSurveys surveys_;
  Findings& findings_;
};

}  // namespace

void check_claims(const Survey& survey, const std::string& state_dir,
                  const std::vector<std::string>& dirs, Findings& findings) {
  ClaimCheck check{survey, findings};
  const auto registry = read_specs(survey.tree, dirs);
  std::set<std::string> journals{place_of(survey.tree, state_dir)};
  for (const auto& loaded : registry.specs()) {
    if (const auto owner = owner_journal(survey.tree, *loaded)) journals.insert(*owner);
  }
  for (const auto& journal : journals) check.check(journal, registry);
}

}  // namespace prepare::doctor
