// `Findings`: a spec's broken rules, as the first error or all errors, and the warnings.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_RULES_FINDINGS_HPP
#define CDI_RULES_FINDINGS_HPP

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/rules/rules.hpp>
#include <cdi/text/limits.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// Collects broken rules: the first error, and the warnings before it; or all errors.
class Findings {
 public:
  /// `warnings` may be null. If `every` is not null, it receives all errors, at most `max_errors`.
  Findings(std::vector<Error>* warnings, ValidateFor purpose, std::vector<Error>* every = nullptr)
      : warnings_{warnings}, every_{every}, purpose_{purpose} {}

  /// Whether there is an error after which no other counts; later notes are then ignored.
  bool stopped() const { return !error_; }

  /// Records a broken rule.
  void note(Rule rule, const MemberPath& at, Error error) {
    if (stopped()) return;
    const RuleRow& row = row_of(rule);
    const bool only_read =
        row.severity == Severity::write_error && purpose_ == ValidateFor::reading;
    const bool is_warning = row.severity == Severity::warning || only_read;
    if (is_warning && (warnings_ == nullptr || noted_ == max_warnings)) return;
    error.rule = row.code;
    error.where = at.text();
    if (!is_warning) return add(std::move(error));
    if (only_read) error.message.append("; such a spec can be read, but not written");
    warnings_->push_back(std::move(error));
    ++noted_;
  }
  /// Not inlined into the checks, since few specs break a rule.
  [[gnu::noinline]] void note(Rule rule, const MemberPath& at, std::string message,
                              std::string_view advice = {}) {
    note(
        rule, at,
        Error{.code = Errc::invalid, .message = std::move(message), .advice = std::string{advice}});
  }

  Result<void> take() && { return std::move(error_); }

 private:
  void add(Error error) {
    if (every_ != nullptr && every_->size() + 1 < max_errors) {
      every_->push_back(std::move(error));
    } else {
      error_ = std::move(error);
    }
  }

  std::vector<Error>* warnings_;
  std::vector<Error>* every_;
  ValidateFor purpose_;
  std::size_t noted_ = 0;
  Result<void> error_{};
};

/// Calls `check(item, path)` for each item of a list, until an error is found.
template <class List, class Check>
void check_each(std::string_view key, const List& list, const MemberPath& at, const Findings& out,
                Check&& check) {
  for (std::size_t i = 0; i < list.size() && !out.stopped(); ++i) {
    check(list[i], MemberPath{&at, key, i});
  }
}

}  // namespace cdi::detail

#endif  // CDI_RULES_FINDINGS_HPP
