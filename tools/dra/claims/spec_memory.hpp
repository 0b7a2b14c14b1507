// Remembers the specs of claims as the driver last wrote or saw them.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <sys/stat.h>
#include <utility>

#include <cdi/claims.hpp>
#include <cdi/files/signature.hpp>

#include "../../gpu/claims/claim.hpp"
#include "../../gpu/claims/claims.hpp"

namespace dra {

/// The signatures of the specs of claims, and of their journal. Any thread may use it.
class SpecMemory {
 public:
  explicit SpecMemory(std::string state_dir) : state_dir_{std::move(state_dir)} {}

  /// The first time, sees the specs that another run has left: those that are good are not new.
  void see_once(const cdi::ClaimJournal& journal) {
    const std::lock_guard lock{mutex_};
    if (std::exchange(has_seen_, true)) return;
    const auto left = journal.load();
    if (!left) return;
    for (const auto& [uid, claim] : *left) {
      if (claim) specs_[path_of(*claim)] = signature_of(path_of(*claim));
    }
  }

  /// Sees the specs of all claims without a fault.
  void see(const prepare::Claims& claims) {
    const std::lock_guard lock{mutex_};
    journal_ = signature_of(state_dir_);
    specs_ = specs_of(claims);
  }

  /// Whether journal and specs are those that were seen last. Reads no file.
  bool are_those_seen() {
    const std::lock_guard lock{mutex_};
    return signature_of(state_dir_) == journal_ &&
           std::all_of(specs_.begin(), specs_.end(),
                       [](const auto& spec) { return signature_of(spec.first) == spec.second; });
  }

  /// The folders of specs that are not those seen last.
  std::set<std::string> folders_of_new(const prepare::Claims& claims) {
    const std::lock_guard lock{mutex_};
    std::set<std::string> out;
    for (const auto& [path, state] : specs_of(claims)) {
      const auto known = specs_.find(path);
      if (known != specs_.end() && known->second == state) continue;
      out.insert(path.substr(0, path.rfind('/')));
    }
    return out;
  }

 private:
  /// The signature of a file or directory; the default one if it cannot be looked at.
  static cdi::Signature signature_of(const std::string& path) {
    struct stat info = {};
    return ::stat(path.c_str(), &info) == 0 ? cdi::signature_of(info) : cdi::Signature{};
  }

  static std::string path_of(const prepare::Claim& claim) {
    return claim.spec_dir + "/" + claim.file_name();
  }

  /// The specs of claims by path. One that is gone already differs from `signature_of`.
  std::map<std::string, cdi::Signature> specs_of(const prepare::Claims& claims) const {
    std::map<std::string, cdi::Signature> out;
    for (const auto& [uid, claim] : claims.all()) {
      if (claims.faults().contains(uid)) continue;  // it may have no spec
      auto signature = signature_of(path_of(claim));
      if (signature.inode == 0) signature.inode = 1;
      out[path_of(claim)] = signature;
    }
    return out;
  }

  const std::string state_dir_;
  std::mutex mutex_{};
  bool has_seen_ = false;
  cdi::Signature journal_{};                       // of its directory
  std::map<std::string, cdi::Signature> specs_{};  // by path
};

}  // namespace dra
