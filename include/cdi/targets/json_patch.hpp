// `JsonPatch`: changes objects and lists in a JSON text, and keeps all other bytes.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TARGETS_JSON_PATCH_HPP
#define CDI_TARGETS_JSON_PATCH_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/model/type.hpp>
#include <cdi/text/document.hpp>
#include <cdi/text/json.hpp>
#include <cdi/text/json_layout.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// A value of a described type, text or number that becomes part of a JSON text.
struct JsonRecord {
  const void* value;
  const Type& type;
};

/// Changes to a JSON document whose root is an object. Keys and document must outlive the changes.
class JsonPatch {
 public:
  /// Identifies an object or list that changes.
  using Id = std::size_t;
  /// The outermost object.
  static constexpr Id root = 0;

  explicit JsonPatch(const Document& document);

  /// Returns the object at a key of another; creates a missing or null object.
  Id object(Id outer, std::string_view key) { return part(outer, key, /*is_list=*/false); }
  /// Returns the list at a key of an object; creates a missing or null list.
  Id list(Id outer, std::string_view key) { return part(outer, key, /*is_list=*/true); }
  /// Returns whether an object has no members.
  bool is_empty(Id object) const;
  /// Replaces or adds a member of an object; if called again for a key, the last call wins.
  void set(Id object, std::string_view key, const JsonRecord& record);

  /// Returns the number of items in a list, including appended items.
  std::size_t size(Id list) const { return parts_[list].items.size(); }
  /// Returns an item that the list had before any change.
  Document::Value item(Id list, std::size_t i) const { return *parts_[list].items[i].old; }
  /// Returns an object's member before any change; nothing if it was missing or null.
  std::optional<Document::Value> member(Id object, std::string_view key) const;
  /// A member of the document that is not null.
  struct Member {
    std::string_view key;
    Document::Value value;
  };
  /// Returns the members of an object before any change, sorted by key.
  std::vector<Member> sorted_members(Id object) const;
  /// Returns the text of a value in the document.
  std::string_view source_of(const Document::Value& value) const;
  /// Adds an item to a list.
  void append(Id list, const JsonRecord& record);
  /// Replaces an item of a list.
  void assign(Id list, std::size_t i, const JsonRecord& record);
  /// Keeps the items with these indices, in this order.
  void rearrange(Id list, std::span<const std::size_t> order);

  /// Returns the changed text. Costs one pass over the old text and the new values.
  std::string text() const;

 private:
  static constexpr Id none = ~Id{0};

  /// An item of a list, or a member of an object, either kept or new.
  struct Child {
    std::string_view key{};                // only for a member
    std::optional<Document::Value> old{};  // value in the document, possibly null
    std::size_t place = 0;                 // index of an old item in its list
    Id part = none;                        // the member as an object or list that changes
    std::size_t begin = 0;                 // start of a new value in `added_`
    std::size_t size = 0;                  // size of a new value; 0 if the old value is kept

    /// Returns whether an item of a list is as it was; no item is a part.
    bool is_kept() const { return old && size == 0; }
    /// Returns whether an item directly follows another item in the document.
    bool follows(const Child& other) const { return old && other.old && place == other.place + 1; }
  };

  /// An object or a list.
  struct Part {
    std::optional<Document::Value> old{};
    std::string lead{};  // the blanks before each child
    bool is_list = false;
    std::vector<Child> items{};    // only for a list
    std::vector<Child> members{};  // only for an object: changed members, without `old`
  };

  Id part(Id outer, std::string_view key, bool is_list);
  void add_text(Child& child, std::string_view lead, const JsonRecord& record);

  void append_source(std::string& out, std::size_t begin, std::size_t end) const;
  std::vector<Child> changed_members(const Part& part) const;
  void write(std::string& out, const Part& part, std::string_view outer) const;
  void write_children(std::string& out, const Part& part) const;
  void write_items(std::string& out, const Part& part) const;
  void write_members(std::string& out, const Part& part) const;
  void write_child(std::string& out, const Child& child, std::string_view lead) const;

  const Document& document_;
  JsonLayout layout_;
  std::vector<Part> parts_{};
  JsonTextSink added_{-1};  // the new values, with blanks as in the document
};

}  // namespace cdi::detail

#if CDI_BODIES
#include <cdi/targets/json_patch.inl>
#endif

#endif  // CDI_TARGETS_JSON_PATCH_HPP
