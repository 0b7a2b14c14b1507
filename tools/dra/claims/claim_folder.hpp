// Reads ResourceClaims from a folder, for a node without a cluster.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <cdi/files/text_file.hpp>
#include <cdi/result.hpp>

#include "claim_source.hpp"
#include "resource_claim.hpp"

namespace dra {

/// The ResourceClaims in the JSON files of a folder, which is read again for each call. The names
/// of files end in `.json`, and do not begin with a dot. A file has one claim or a list of claims.
class ClaimFolder : public ClaimSource {
 public:
  ClaimFolder(std::string path, std::string driver)
      : path_{std::move(path)}, driver_{std::move(driver)} {}

  cdi::Result<ResourceClaim> get(const ClaimName& name, Deadline deadline) override {
    return std::move(get_all({name}, deadline).front());
  }

  /// A file that cannot be read is an error only for claims that no other file has.
  std::vector<cdi::Result<ResourceClaim>> get_all(const std::vector<ClaimName>& names,
                                                  Deadline deadline) override {
    Search search{names};
    const auto files = list_files();
    if (!files) return {names.size(), cdi::Result<ResourceClaim>{files.error()}};
    for (const auto& file : *files) {
      if (std::chrono::steady_clock::now() < deadline) {
        search.add(read(file), file);
      } else {
        search.fault = cdi::Error{.code = cdi::Errc::timeout,
                                  .message = "the deadline has passed",
                                  .position = {.file = path_}};
        break;
      }
    }
    return search.results(path_);
  }

 private:
  using ReadFile = cdi::Result<std::vector<ResourceClaim>>;

  /// The claims found so far.
  struct Search {
    explicit Search(const std::vector<ClaimName>& the_names)
        : names{the_names}, found(the_names.size()), files(the_names.size()) {}

    void add(ReadFile claims, const std::string& file) {
      if (!claims && !fault) fault = claims.error();
      if (!claims) return;
      for (auto& claim : *claims) {
        for (std::size_t i = 0; i < names.size(); ++i) {
          if (claim.name == names[i].name && claim.name_space == names[i].name_space) {
            add(i, claim, file);
          }
        }
      }
    }

    std::vector<cdi::Result<ResourceClaim>> results(const std::string& path) const {
      std::vector<cdi::Result<ResourceClaim>> out;
      for (std::size_t i = 0; i < names.size(); ++i) {
        if (found[i]) {
          out.push_back(*found[i]);
        } else if (fault) {
          out.push_back(*fault);
        } else {
          out.push_back(cdi::Error{.code = cdi::Errc::not_found,
                                   .message = "no file has the ResourceClaim " + text_of(names[i]),
                                   .position = {.file = path}});
        }
      }
      return out;
    }

    const std::vector<ClaimName>& names;
    std::vector<std::optional<cdi::Result<ResourceClaim>>> found;
    std::vector<std::string> files;  // of the found claims
    std::optional<cdi::Error> fault{};

   private:
    /// A claim with the right UID has priority over a claim with only the right names.
    void add(std::size_t i, const ResourceClaim& claim, const std::string& file) {
      auto checked = check_uid(claim, names[i]);
      const bool has_one = found[i] && (*found[i] || found[i]->error().code == cdi::Errc::conflict);
      if (has_one && checked) {
        found[i] = cdi::Error{.code = cdi::Errc::conflict,
                              .message = "the ResourceClaim " + text_of(names[i]) + " is also in " +
                                         cdi::quoted(files[i]),
                              .advice = "remove one of them",
                              .position = {.file = file}};
      } else if (!has_one) {
        found[i] = std::move(checked);
        files[i] = file;
      }
    }
  };

  /// The files in order of their names.
  cdi::Result<std::vector<std::string>> list_files() const {
    namespace fs = std::filesystem;
    std::vector<std::string> out;
    std::error_code failed;
    for (fs::directory_iterator at{path_, failed}, end; !failed && at != end;
         at.increment(failed)) {
      const auto name = at->path().filename().string();
      if (name.ends_with(".json") && !name.starts_with('.')) out.push_back(at->path().string());
    }
    std::sort(out.begin(), out.end());
    if (!failed) return out;
    return cdi::Error{.code = cdi::Errc::system,
                      .message = "cannot list the folder of claims: " + failed.message(),
                      .position = {.file = path_},
                      .system = failed.value()};
  }

  ReadFile read(const std::string& file) const {
    const auto text = cdi::read_file(file);
    if (!text) return text.error();
    return parse_resource_claims(*text, driver_, file);
  }

  std::string path_;
  std::string driver_;
};

}  // namespace dra
