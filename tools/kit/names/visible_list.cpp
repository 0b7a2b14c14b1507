// Reads the entries of an environment variable that selects GPUs, as its runtime does.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "visible_list.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "../base/text.hpp"

namespace tools {

namespace {

constexpr std::size_t max_visible_bytes = 64 * 1024;

constexpr std::size_t max_visible_entries = 1024;

/// An index: digits in a base, and nothing else.
std::optional<VisibleEntry> index_entry(std::string_view digits, int base = 10) {
  const auto number = parse_number<std::uint32_t>(digits, base);
  if (digits.starts_with('-') || !number) return std::nullopt;
  return VisibleEntry{.device = std::to_string(*number)};
}

/// `MIG-GPU-UUID/1/0`, as drivers before R470 write it; the UUID may be its beginning.
std::optional<VisibleEntry> old_mig_entry(std::string_view text) {
  const auto words = split(text.substr(4), "/");
  if (words.size() != 3 || std::count(text.begin(), text.end(), '/') != 2) return std::nullopt;
  if (!detail::is_decimal(words[1]) || !detail::is_decimal(words[2])) return std::nullopt;
  VisibleEntry out{.uuid = detail::lowered(words[0]),
                   .part = fmt::format(":gi{}:ci{}", words[1], words[2])};
  if (!detail::is_hex(std::string_view{out.uuid}.substr(4), "-")) return std::nullopt;
  out.device = words[0] + out.part;
  return out;
}

/// The UUID of a GPU or MIG instance, or its beginning.
std::optional<VisibleEntry> uuid_entry(std::string_view text) {
  if (text.starts_with("MIG-GPU-")) return old_mig_entry(text);
  VisibleEntry out{.device = std::string{text}, .uuid = detail::lowered(text)};
  if (!detail::is_hex(std::string_view{out.uuid}.substr(4), "-")) return std::nullopt;
  return out;
}

/// CUDA skips blanks before a number, and ignores what follows it.
std::optional<VisibleEntry> cuda_entry(std::string_view text) {
  if (text.starts_with("GPU-") || text.starts_with("MIG-")) return uuid_entry(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  return index_entry(text.substr(0, text.find_first_not_of("0123456789")));
}

/// ROCr reads capitals as small letters, numbers as C does, and 1 to 16 digits of a UUID.
std::optional<VisibleEntry> rocr_entry(std::string_view text) {
  const auto low = detail::lowered(text);
  if (low.starts_with("gpu-")) {
    return text.size() <= 20 && detail::is_hex(low.substr(4)) ? uuid_entry(text) : std::nullopt;
  }
  std::string_view digits = low;
  if (digits.starts_with('+')) digits.remove_prefix(1);
  if (digits.starts_with("0x")) return index_entry(digits.substr(2), 16);
  return index_entry(digits, digits.starts_with('0') ? 8 : 10);
}

/// HIP reads a number only as it would write it, and UUIDs of 16 digits.
std::optional<VisibleEntry> hip_entry(std::string_view text) {
  if (text.starts_with("GPU-")) {
    return text.size() == 20 && detail::is_hex(detail::lowered(text.substr(4))) ? uuid_entry(text)
                                                                                : std::nullopt;
  }
  auto out = index_entry(text);
  return out && out->device == text ? out : std::nullopt;
}

std::optional<VisibleEntry> entry_of(Dialect dialect, std::string_view text) {
  switch (dialect) {
    case Dialect::cuda: return cuda_entry(text);
    case Dialect::rocr: return rocr_entry(text);
    default: return hip_entry(text);
  }
}

/// What is wrong with an entry that is neither an index nor a UUID, and what to change.
std::pair<std::string, std::string> words_of_fault(std::string_view text) {
  const auto is_control = [](char c) {
    return !is_plain(c);
  };
  if (text.empty()) return {"is empty", "remove one comma, or write an index"};
  if (text.starts_with('-')) return {"is negative", "remove it to keep what follows"};
  if (std::any_of(text.begin(), text.end(), is_control)) {
    return {"has a character that is not printable ASCII", "write the entry again"};
  }
  if (text == "all") return {"is not known to it", "write the indices, or inject KIND=all"};
  if (detail::is_decimal(text) && text.size() > 9)
    return {"is too large", "write the index of a GPU"};
  if (text.find_first_of(" \t") != text.npos) return {"has blanks", "remove them"};
  return {"is neither an index nor a UUID", "write an index such as 0, or a UUID such as GPU-1a2b"};
}

/// Which of three kinds an entry is: CUDA reads only entries of the kind of the first one.
std::string kind_of_entry(const VisibleEntry& entry) {
  return entry.uuid.empty() ? "an index" : entry.text.starts_with("MIG-") ? "of MIG" : "a UUID";
}

/// Adds an entry. False: the list ends.
bool add_entry(const VisibleText& given, VisibleEntry entry, VisibleList& list) {
  const auto digits = entry.text.find_first_not_of("+0123456789");
  if (given.dialect == Dialect::cuda && entry.uuid.empty() && digits != entry.text.npos) {
    list.warnings.push_back(given.fault(entry.place, entry.text,
                                        "is read as " + entry.device + ", as by CUDA",
                                        "write each index, with a comma between two"));
  }
  if (given.dialect == Dialect::cuda && !list.entries.empty()) {
    const auto first = kind_of_entry(list.entries.front());
    if (kind_of_entry(entry) != first) {
      list.warnings.push_back(given.cut(entry.place, entry.text, "is not " + first + ", as entry 1",
                                        "write all entries in the same way"));
      return false;
    }
  }
  for (const auto& earlier : list.entries) {
    if (earlier.uuid + earlier.part == entry.uuid + entry.part &&
        (!entry.uuid.empty() || earlier.device == entry.device)) {
      return detail::keep_repeated(given, entry, list);
    }
  }
  list.entries.push_back(std::move(entry));
  return true;
}

/// Adds the numbers of `3` or `0-3`. Neither Slurm nor a user who starts a container expects a part
/// to be ignored, so any fault is an error.
cdi::Result<void> add_numbers(const VisibleText& given, std::size_t place, const std::string& text,
                              VisibleList& list) {
  const auto fault = [&](std::string_view what, std::string advice) {
    return given.fault(place, text, what, std::move(advice));
  };
  const auto dash = text.find('-');
  const auto first = text.substr(0, dash);
  const auto last = dash == text.npos ? first : text.substr(dash + 1);
  if (!detail::is_decimal(first) || !detail::is_decimal(last)) {
    return fault("is neither a number nor a range", "write numbers such as 0,1 or 0-3");
  }
  const auto begin = parse_number<std::uint32_t>(first);
  const auto end = parse_number<std::uint32_t>(last);
  if (!begin || !end || *end >= 1'000'000'000) {
    return fault("is too large", "write the number of a GPU");
  }
  if (*begin > *end) return fault("ends before it begins", fmt::format("write {}-{}", last, first));
  // Names may make the list longer than the limit.
  const auto before = std::min(list.entries.size(), max_visible_entries);
  if (*end - *begin >= max_visible_entries - before) {
    return fault(
        fmt::format("has, with those before it, more than {} numbers", max_visible_entries),
        "write only the GPUs of the job");
  }
  for (auto number = *begin; number <= *end; ++number) {
    auto device = std::to_string(number);
    const bool repeats =
        std::any_of(list.entries.begin(), list.entries.end(),
                    [&](const VisibleEntry& earlier) { return earlier.device == device; });
    if (repeats && given.dialect == Dialect::container) continue;
    if (repeats) return fault("repeats " + device, "name each GPU once");
    list.entries.push_back({.place = place, .text = text, .device = std::move(device)});
  }
  return {};
}

/// Adds the numbers of `3` or `0-3`, a UUID, `0x` and the 16 digits of an AMD GPU, or the name of
/// a device. An empty part adds nothing, as in NVIDIA's and AMD's runtimes.
cdi::Result<void> add_container_entry(const VisibleText& given, std::size_t place,
                                      const std::string& text, VisibleList& list) {
  if (text.empty()) return {};
  if (text.find_first_not_of("0123456789-") == text.npos) {
    return add_numbers(given, place, text, list);
  }
  const auto low = detail::lowered(text);
  const bool is_uuid = low.starts_with("gpu-") || low.starts_with("mig-");
  auto entry = is_uuid ? uuid_entry(text) : std::nullopt;
  if (!entry) entry = VisibleEntry{.device = text};
  if (low.starts_with("0x") && low.size() == 18 && detail::is_hex(low.substr(2))) {
    entry->uuid = "gpu-" + low.substr(2);
  }
  entry->place = place;
  entry->text = text;
  list.entries.push_back(*std::move(entry));
  return {};
}

/// Whether a text selects nothing: an empty text, `NoDevFiles`, which Slurm sets, and for
/// containers `none` and `void`.
bool selects_nothing(const VisibleText& given) {
  if (given.text.empty() || given.text == "NoDevFiles") return true;
  return given.dialect == Dialect::container && (given.text == "none" || given.text == "void");
}

}  // namespace

std::string_view VisibleText::runtime() const {
  constexpr std::string_view names[] = {"CUDA", "HIP", "ROCr", "Slurm", "the runtime"};
  return names[static_cast<std::size_t>(dialect)];
}

std::vector<std::string> VisibleText::parts() const {
  std::vector<std::string> out(1);
  for (const char c : text) {
    if (c == ',') {
      out.emplace_back();
    } else {
      out.back().append(1, c);
    }
  }
  if (dialect != Dialect::slurm && out.size() > 1 && out.back().empty()) out.pop_back();
  return out;
}

cdi::Error VisibleText::fault(std::size_t place, std::string_view entry, std::string_view what,
                              std::string advice) const {
  return {.code = cdi::Errc::invalid,
          .message = fmt::format("{}: entry {} {} {}", source, place, cdi::quoted(entry), what),
          .advice = std::move(advice)};
}

cdi::Error VisibleText::cut(std::size_t place, std::string_view entry, std::string_view what,
                            std::string advice) const {
  const auto after = parts().size() - place;
  auto error = fault(place, entry, what, std::move(advice));
  error.message += fmt::format("; {} ends the list there", runtime());
  if (after != 0) {
    error.message += after == 1 ? std::string{", and ignores the entry after it"}
                                : fmt::format(", and ignores the {} entries after it", after);
  }
  return error;
}

cdi::Result<VisibleList> read_visible(const VisibleText& given) {
  VisibleList list;
  if (selects_nothing(given)) return list;
  const auto parts = given.parts();
  if (given.text.size() > max_visible_bytes || parts.size() > max_visible_entries) {
    return cdi::Error{.code = cdi::Errc::limit,
                      .message = fmt::format("{}: it has more than {} bytes or {} entries",
                                             given.source, max_visible_bytes, max_visible_entries),
                      .advice = "write only the GPUs that are needed"};
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string text{given.dialect == Dialect::hip ? parts[i] : trim(parts[i])};
    if (given.dialect == Dialect::slurm || given.dialect == Dialect::container) {
      auto done = given.dialect == Dialect::slurm ? add_numbers(given, i + 1, parts[i], list)
                                                  : add_container_entry(given, i + 1, text, list);
      if (!done) return std::move(done).error();
      continue;
    }
    auto entry = entry_of(given.dialect, text);
    if (!entry) {
      auto [what, advice] = words_of_fault(text);
      list.warnings.push_back(given.cut(i + 1, parts[i], what, std::move(advice)));
      break;
    }
    entry->place = i + 1;
    entry->text = text;
    if (!add_entry(given, *std::move(entry), list)) break;
  }
  return list;
}

}  // namespace tools

namespace tools::detail {

std::string lowered(std::string_view text) {
  std::string out{text};
  for (char& c : out) c = cdi::detail::ascii_lower(c);
  return out;
}

bool is_hex(std::string_view text, std::string_view more) {
  const auto is_good = [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || more.find(c) != more.npos;
  };
  return !text.empty() && std::all_of(text.begin(), text.end(), is_good);
}

bool is_decimal(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

bool keep_repeated(const VisibleText& given, const VisibleEntry& entry, VisibleList& list) {
  constexpr std::string_view what = "names the same GPU as an entry before it";
  if (given.dialect == Dialect::hip) {
    list.warnings.push_back(
        given.fault(entry.place, entry.text, what, "HIP ignores it: remove it"));
    return true;
  }
  if (given.dialect == Dialect::rocr) {
    list.warnings.push_back(given.cut(entry.place, entry.text, what, "remove it"));
    return false;
  }
  list.entries.clear();
  auto warning = given.fault(entry.place, entry.text, what, "remove it");
  warning.message += "; CUDA then sees no device at all";
  list.warnings.push_back(std::move(warning));
  return false;
}

}  // namespace tools::detail
