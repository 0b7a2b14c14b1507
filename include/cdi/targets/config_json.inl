// The bodies of <cdi/targets/config_json.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TARGETS_CONFIG_JSON_INL
#define CDI_TARGETS_CONFIG_JSON_INL

#include <utility>

#include <cdi/base/order.hpp>
#include <cdi/targets/config_json.hpp>
#include <cdi/text/found_field.hpp>
#include <cdi/text/member_case.hpp>
#include <cdi/text/parse_json.hpp>
#include <cdi/text/read.inl>

namespace cdi::inline CDI_ABI {

namespace detail {

/// A view of a document's value, possibly empty, for `PartCheck`.
class DocumentView {
 public:
  DocumentView() = default;
  explicit DocumentView(const Document::Value& value) : value_{value} {}

  explicit operator bool() const { return value_.has_value(); }
  bool is_object() const { return is(Document::Kind::map); }
  bool is_array() const { return is(Document::Kind::list); }
  bool is_text() const { return is(Document::Kind::quoted); }
  bool is_any() const { return true; }
  bool is_id() const { return id().has_value(); }
  std::string_view text() const { return is_text() ? value_->text() : std::string_view{}; }
  std::optional<std::uint32_t> id() const {
    std::uint32_t number = 0;
    std::string_view digits = is(Document::Kind::plain) ? value_->text() : std::string_view{};
    if (digits == "-0") return 0;
    if (!detail::take_number(digits, number) || !digits.empty()) return std::nullopt;
    return number;
  }

  /// Returns the member of an object; empty if the member is missing or null, as in OCI.
  DocumentView member(std::string_view key) const {
    if (!value_) return {};
    for (const auto [name, value] : value_->members()) {
      if (name.text() == key) return value.is_null() ? DocumentView{} : DocumentView{value};
    }
    return {};
  }
  FoundMember<DocumentView> find(std::string_view key) const {
    FoundMember<DocumentView> found;
    for (const auto [name, value] : value_->members()) {
      const auto text = name.text();
      if (text == key) {
        if (!value.is_null()) found.value = DocumentView{value};
      } else if (is_in_other_case(text, key) && !found.odd) {
        found.odd = {std::string{text}, name.position()};
      }
    }
    return found;
  }
  template <class Visit>
  void each(Visit visit) const {
    if (!value_) return;
    for (const auto item : value_->items()) {
      if (!visit(DocumentView{item})) return;
    }
  }

  /// Returns whether an array contains exactly these texts; a missing array contains none.
  bool has_texts(const std::vector<std::string_view>& texts) const {
    if (!value_) return texts.empty();
    if (!is_array() || value_->size() != texts.size()) return false;
    const std::string_view* text = texts.data();
    for (const auto item : value_->items()) {
      if (DocumentView{item}.text() != *text++) return false;
    }
    return true;
  }

  std::string describe() const {
    switch (value_->kind()) {
      case Document::Kind::null: return "null";
      case Document::Kind::quoted: return "text";
      case Document::Kind::list: return "an array";
      case Document::Kind::map: return "an object";
      case Document::Kind::plain: break;
    }
    const auto text = value_->text();
    return text == "true" || text == "false" ? "true or false" : std::string{text};
  }
  Position position() const { return value_->position(); }

 private:
  bool is(Document::Kind kind) const { return value_ && value_->kind() == kind; }

  std::optional<Document::Value> value_{};
};

CDI_INLINE std::string_view ConfigJsonList::key(std::size_t i) const {
  if (!key_member_.empty()) return text_member(i, key_member_);
  return env_name(DocumentView{patch_->item(list_, i)}.text());
}

CDI_INLINE std::string_view ConfigJsonList::text_member(std::size_t i, std::string_view key) const {
  return DocumentView{patch_->item(list_, i)}.member(key).text();
}

CDI_INLINE bool ConfigJsonList::has_command_of(std::size_t i, const oci::HookView& hook) const {
  const DocumentView item{patch_->item(list_, i)};
  return item.member("path").text() == hook.path && item.member("args").has_texts(hook.args) &&
         item.member("env").has_texts(hook.env);
}

CDI_INLINE bool ConfigJsonList::has_other_members(std::size_t i, const Type& type) const {
  for (const auto [key, value] : patch_->item(list_, i).members()) {
    if (find_field(type, key.text()).index == type.field_count) return true;
  }
  return false;
}

CDI_INLINE std::string_view ConfigJsonList::record(std::size_t i) const {
  const auto item = patch_->item(list_, i);
  return key_member_.empty() ? item.text() : patch_->source_of(item);
}

CDI_INLINE std::uint32_t ConfigJsonList::id(std::size_t i) const {
  return DocumentView{patch_->item(list_, i)}.id().value_or(0);
}

CDI_INLINE std::optional<std::string_view> ConfigJsonInterfaces::find(std::string_view key) {
  if (!old_) old_ = patch_->sorted_members(object_);
  const auto end = count_first(old_->size(), [&](std::size_t i) { return (*old_)[i].key <= key; });
  if (end == 0 || (*old_)[end - 1].key != key) return std::nullopt;
  return patch_->source_of((*old_)[end - 1].value);
}

}  // namespace detail

CDI_INLINE Result<void> SpecEditor<ConfigJson>::check(const TouchedParts& touched) {
  auto document = cdi::parse_json(config_.text, config_.file, config_.limits);
  if (!document) return std::move(document).error();
  document_.emplace(*std::move(document));
  patch_.emplace(*document_);
  return detail::PartCheck<detail::DocumentView>{touched}.check(
      detail::DocumentView{document_->root()});
}

CDI_INLINE ProcessUser SpecEditor<ConfigJson>::process_user() const {
  const auto user = detail::DocumentView{document_->root()}.member("process").member("user");
  return {user.member("uid").id().value_or(0), user.member("gid").id().value_or(0)};
}

CDI_INLINE bool SpecEditor<ConfigJson>::has_id_mappings() const {
  const auto part = detail::DocumentView{document_->root()}.member("linux");
  const auto has_item = [&](std::string_view name, auto&& is_wanted) {
    bool found = false;
    part.member(name).each([&](const detail::DocumentView& item) {
      found = is_wanted(item);
      return !found;
    });
    return found;
  };
  const auto any = [](const detail::DocumentView&) {
    return true;
  };
  return has_item("uidMappings", any) && has_item("gidMappings", any) &&
         has_item("namespaces", [](const detail::DocumentView& item) {
           return item.member("type").text() == "user";
         });
}

CDI_INLINE void SpecEditor<ConfigJson>::finish() {
  std::string text = patch_->text();
  if (config_.text.starts_with(detail::utf8_mark)) text.insert(0, detail::utf8_mark);
  config_.text = std::move(text);
}

#ifdef CDI_SOURCE
template Result<void> detail::edit(ConfigJson& target, JoinedEdits& edits, const HostRef& host);
#endif

}  // namespace cdi

#endif  // CDI_TARGETS_CONFIG_JSON_INL
