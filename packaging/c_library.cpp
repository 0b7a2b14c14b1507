// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

// The library for programs in C: the functions of cdi/cdi.h. No exception leaves them.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <new>
#include <pthread.h>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <cdi/annotations.hpp>
#include <cdi/cache.hpp>
#include <cdi/cdi.h>
#include <cdi/hooks.hpp>
#include <cdi/oci/config_json.hpp>
#include <cdi/oci/editor.hpp>
#include <cdi/publish.hpp>
#include <cdi/spec_text.hpp>

namespace {

/// What precedes each object that the caller frees.
struct alignas(std::max_align_t) Header {
  void (*destroy)(Header*);
};

struct Nothing {};

/// An object for the caller, with the memory that it points into.
template <class Object, class Storage = Nothing>
struct Box {
  Header header{[](Header* self) {
    delete reinterpret_cast<Box*>(self);
  }};
  Object object{};
  Storage storage{};

  static_assert(alignof(Object) <= sizeof(Header), "the object follows the header");
};

/// Gives an object to the caller.
template <class Object, class Storage>
Object* release(std::unique_ptr<Box<Object, Storage>> box) {
  return &box.release()->object;
}

/// Texts at fixed addresses, and the pointers to them.
struct Texts {
  std::deque<std::string> texts{};
  std::vector<const char*> pointers{};

  const char* keep(std::string text) { return texts.emplace_back(std::move(text)).c_str(); }
};

struct ErrorStorage {
  cdi::Error error{};
  std::string text{};
};
using ErrorBox = Box<cdi_error, ErrorStorage>;

void fill(ErrorBox& box, cdi::Error error) {
  box.storage.text = to_string(error);
  box.storage.error = std::move(error);
  const auto& kept = box.storage.error;
  box.object = {.code = static_cast<cdi_code>(static_cast<int>(kept.code) + 1),
                .text = box.storage.text.c_str(),
                .message = kept.message.c_str(),
                .where = kept.where.c_str(),
                .file = kept.position.file.c_str(),
                .line = kept.position.line,
                .column = kept.position.column,
                .system = kept.system};
}
static_assert(static_cast<int>(cdi::Errc::system) + 1 == CDI_SYSTEM, "the codes are in one order");

/// The error where there is no memory for one.
struct NoMemory {
  Header header{[](Header*) {
  }};
  cdi_error error{.code = CDI_NO_MEMORY,
                  .text = "out of memory",
                  .message = "out of memory",
                  .where = "",
                  .file = "",
                  .line = 0,
                  .column = 0,
                  .system = 0};
};
NoMemory no_memory;

/// Fails with an error.
void report(cdi_error** to, cdi::Error error) {
  if (to == nullptr) return;
  auto box = std::make_unique<ErrorBox>();
  fill(*box, std::move(error));
  *to = release(std::move(box));
}

/// The value of a function that fails: NULL or -1.
template <class T>
T failure() {
  if constexpr (std::is_pointer_v<T>) {
    return nullptr;
  } else {
    return -1;
  }
}

/// No cancellation of the thread while it lives: that would unwind through `noexcept`, and abort.
class NoCancellation {
 public:
  NoCancellation() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  NoCancellation(const NoCancellation&) = delete;
  NoCancellation& operator=(const NoCancellation&) = delete;
  ~NoCancellation() { pthread_setcancelstate(before_, nullptr); }

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

/// Calls `work`, which returns a `cdi::Result`, and gives its value or its error.
template <class Work>
auto guarded(cdi_error** error, const Work& work) noexcept {
  const NoCancellation guard;
  using Value = std::remove_reference_t<decltype(*work())>;
  if (error != nullptr) *error = nullptr;
  try {
    auto result = work();
    if (result) return *result;
    report(error, std::move(result).error());
  } catch (...) {  // std::bad_alloc: the library throws no other
    if (error != nullptr) *error = &no_memory.error;
  }
  return failure<Value>();
}

constexpr int done = 0;

cdi::Error empty_directory() {
  return {.code = cdi::Errc::invalid, .message = "a directory has an empty path"};
}

cdi::Error missing(std::string what) {
  return {.code = cdi::Errc::invalid, .message = std::move(what.append(" may not be NULL"))};
}

/// The texts of an array. None may be NULL.
cdi::Result<std::vector<std::string_view>> views(const char* const* texts, std::size_t count) {
  std::vector<std::string_view> out;
  for (std::size_t i = 0; i < count; ++i) {
    if (texts == nullptr || texts[i] == nullptr) return missing("a text of an array");
    out.emplace_back(texts[i]);
  }
  return out;
}

template <class List>
cdi_strings* strings(List&& texts) {
  auto box = std::make_unique<Box<cdi_strings, Texts>>();
  for (auto& text : texts) box->storage.pointers.push_back(box->storage.keep(std::move(text)));
  box->object = {box->storage.pointers.data(), box->storage.pointers.size()};
  return release(std::move(box));
}

struct ErrorsStorage {
  std::deque<ErrorBox> boxes{};
  std::vector<const cdi_error*> pointers{};
};

cdi_errors* errors(const std::vector<cdi::Error>& all) {
  auto box = std::make_unique<Box<cdi_errors, ErrorsStorage>>();
  for (const auto& error : all) {
    fill(box->storage.boxes.emplace_back(), error);
    box->storage.pointers.push_back(&box->storage.boxes.back().object);
  }
  box->object = {box->storage.pointers.data(), box->storage.pointers.size()};
  return release(std::move(box));
}

/// A text for the caller.
char* text(const std::string& from) {
  void* const memory = ::operator new(sizeof(Header) + from.size() + 1);
  new (memory) Header{[](Header* self) {
    ::operator delete(self);
  }};
  return static_cast<char*>(
      std::memcpy(static_cast<char*>(memory) + sizeof(Header), from.c_str(), from.size() + 1));
}

struct ReasonsStorage : Texts {
  std::vector<cdi_reason> reasons{};
};

cdi_reasons* reasons(const std::vector<cdi::Unresolved>& unresolved) {
  auto box = std::make_unique<Box<cdi_reasons, ReasonsStorage>>();
  auto& to = box->storage;
  for (const auto& one : unresolved) {
    to.reasons.push_back({.name = to.keep(one.name),
                          .code = cdi::row_of(one.reason).code.data(),
                          .text = to.keep(to_string(one.why)),
                          .advice = to.keep(cdi::advice(one))});
  }
  box->object = {to.reasons.data(), to.reasons.size()};
  return release(std::move(box));
}

/// The edits of devices, and the OCI spec whose texts they point to.
struct EditsStorage {
  cdi::oci::Spec spec{};
  std::deque<std::vector<const char*>> lists{};
  std::vector<cdi_node> nodes{};
  std::vector<cdi_rule> rules{};
  std::vector<cdi_mount> mounts{};
  std::vector<cdi_hook> hooks{};
  std::vector<std::uint32_t> gids{};
  std::vector<cdi_net_device> net_devices{};
  cdi_intel_rdt intel_rdt{};

  cdi_strings strings(const std::vector<std::string>& texts) {
    auto& pointers = lists.emplace_back();
    for (const auto& text : texts) pointers.push_back(text.c_str());
    return {pointers.data(), pointers.size()};
  }
};
using EditsBox = Box<cdi_edits, EditsStorage>;

char type_of(const std::string& type) {
  return type.empty() ? 'c' : type.front();
}

cdi_node node_of(const cdi::oci::LinuxDevice& from) {
  return {.path = from.path.c_str(),
          .type = type_of(from.type),
          .major = from.major,
          .minor = from.minor,
          .has_file_mode = from.file_mode.has_value(),
          .has_uid = from.uid.has_value(),
          .has_gid = from.gid.has_value(),
          .file_mode = from.file_mode.value_or(0),
          .uid = from.uid.value_or(0),
          .gid = from.gid.value_or(0)};
}

cdi_rule rule_of(const cdi::oci::LinuxDeviceCgroup& from) {
  return {.type = type_of(from.type),
          .major = from.major.value_or(0),
          .minor = from.minor.value_or(0),
          .access = from.access.c_str()};
}

void fill_linux(const cdi::oci::Linux& part, EditsBox& box) {
  auto& to = box.storage;
  for (const auto& node : part.devices) to.nodes.push_back(node_of(node));
  if (part.resources) {
    for (const auto& rule : part.resources->devices) to.rules.push_back(rule_of(rule));
  }
  for (const auto& [host_name, device] : part.net_devices) {
    to.net_devices.push_back({host_name.c_str(), device.name.c_str()});
  }
  if (!part.intel_rdt) return;
  to.intel_rdt = {.clos_id = part.intel_rdt->clos_id.c_str(),
                  .schemata = to.strings(part.intel_rdt->schemata),
                  .l3_cache_schema = part.intel_rdt->l3_cache_schema.c_str(),
                  .mem_bw_schema = part.intel_rdt->mem_bw_schema.c_str(),
                  .enable_monitoring = part.intel_rdt->enable_monitoring};
  box.object.intel_rdt = &to.intel_rdt;
}

const char* class_of(const cdi::oci::Hook& hook) {
  return cdi::hook_class_name(cdi::classify_hook(cdi::command_of(hook))).data();  // a literal
}

void fill_hooks(cdi::oci::Hooks& hooks, EditsStorage& to) {
  for (std::size_t i = 0; i < cdi::oci::hook_point_names.size(); ++i) {
    for (const auto& hook : hooks.at(static_cast<cdi::oci::HookPoint>(i))) {
      to.hooks.push_back({.point = cdi::oci::hook_point_names[i].data(),
                          .path = hook.path.c_str(),
                          .args = to.strings(hook.args),
                          .env = to.strings(hook.env),
                          .has_timeout = hook.timeout.has_value(),
                          .timeout = hook.timeout.value_or(0),
                          .hook_class = class_of(hook)});
    }
  }
}

/// Lets two members of a struct describe a list.
template <class T>
void point_to(const std::vector<T>& list, const T*& items, std::size_t& count) {
  items = list.data();
  count = list.size();
}

/// Fills the structs from the OCI spec in the storage.
void fill(EditsBox& box) {
  auto& to = box.storage;
  auto& object = box.object;
  if (to.spec.process) object.env = to.strings(to.spec.process->env);
  if (to.spec.process) to.gids = to.spec.process->user.additional_gids;
  for (const auto& mount : to.spec.mounts) {
    to.mounts.push_back({mount.destination.c_str(), mount.source.c_str(), mount.type.c_str(),
                         to.strings(mount.options)});
  }
  if (to.spec.hooks) fill_hooks(*to.spec.hooks, to);
  if (to.spec.linux_) fill_linux(*to.spec.linux_, box);
  point_to(to.nodes, object.nodes, object.node_count);
  point_to(to.rules, object.rules, object.rule_count);
  point_to(to.mounts, object.mounts, object.mount_count);
  point_to(to.hooks, object.hooks, object.hook_count);
  point_to(to.gids, object.gids, object.gid_count);
  point_to(to.net_devices, object.net_devices, object.net_device_count);
}

/// A spec from text. A name in .json matters: YAML text under it gets a warning.
cdi::Result<cdi::LoadedSpec> parse(const char* text, const char* path) {
  if (text == nullptr) return missing("the text");
  const std::string_view name = path == nullptr ? "" : path;
  return cdi::parse_spec(text, name, cdi::format_of(name).value_or(cdi::Format::yaml));
}

}  // namespace

struct cdi_cache {
  std::unique_ptr<cdi::Cache> cache{};
};

struct cdi_publisher {
  std::unique_ptr<cdi::Publisher> publisher{};
};

extern "C" {

void cdi_free(const void* object) {
  if (object == nullptr) return;
  auto* const header = static_cast<Header*>(const_cast<void*>(object)) - 1;
  header->destroy(header);
}

#define CDI_TEXT_OF(number) #number
#define CDI_RELEASE(major, minor, patch) \
  CDI_TEXT_OF(major) "." CDI_TEXT_OF(minor) "." CDI_TEXT_OF(patch)

const char* cdi_version(void) {
  return CDI_RELEASE(CDI_VERSION_MAJOR, CDI_VERSION_MINOR, CDI_VERSION_PATCH);
}

cdi_cache* cdi_cache_open(const char* const* dirs, size_t count, cdi_error** error) {
  return guarded(error, [&]() -> cdi::Result<cdi_cache*> {
    const auto given = views(dirs, count);
    if (!given) return given.error();
    const std::vector<std::string> paths{given->begin(), given->end()};
    for (const auto& path : paths) {
      if (path.empty()) return empty_directory();
    }
    auto box = std::make_unique<Box<cdi_cache>>();
    box->object.cache =
        std::make_unique<cdi::Cache>(paths.empty() ? cdi::default_spec_dirs() : paths);
    return release(std::move(box));
  });
}

int cdi_cache_refresh(cdi_cache* cache, cdi_error** error) {
  return guarded(error, [&]() -> cdi::Result<int> {
    if (cache == nullptr) return missing("the cache");
    cache->cache->refresh();
    return done;
  });
}

cdi_strings* cdi_cache_devices(cdi_cache* cache, cdi_error** error) {
  return guarded(error, [&]() -> cdi::Result<cdi_strings*> {
    if (cache == nullptr) return missing("the cache");
    return strings(cache->cache->registry()->devices());
  });
}

cdi_errors* cdi_cache_errors(cdi_cache* cache, cdi_error** error) {
  return guarded(error, [&]() -> cdi::Result<cdi_errors*> {
    if (cache == nullptr) return missing("the cache");
    return errors(cache->cache->registry()->errors());
  });
}

cdi_reasons* cdi_cache_why(cdi_cache* cache, const char* const* names, size_t count,
                           cdi_error** error) {
  return guarded(error, [&]() -> cdi::Result<cdi_reasons*> {
    if (cache == nullptr) return missing("the cache");
    const auto asked = views(names, count);
    if (!asked) return asked.error();
    return reasons(cache->cache->registry()->unresolved(*asked));
  });
}

int cdi_cache_wait(cdi_cache* cache, const char* const* names, size_t count, uint32_t milliseconds,
                   cdi_error** error) {
  return guarded(error, [&]() -> cdi::Result<int> {
    if (cache == nullptr) return missing("the cache");
    const auto asked = views(names, count);
    if (!asked) return asked.error();
    const auto deadline =
        std::chrono::steady_clock::now() + std::chrono::milliseconds{milliseconds};
    const auto found = cache->cache->wait_for(*asked, deadline);
    if (!found) return found.error();
    return done;
  });
}

char* cdi_cache_inject_json(cdi_cache* cache, const char* config, const char* const* names,
                            size_t count, cdi_error** error) {
  return guarded(error, [&]() -> cdi::Result<char*> {
    if (cache == nullptr) return missing("the cache");
    if (config == nullptr) return missing("the config");
    const auto asked = views(names, count);
    if (!asked) return asked.error();
    cdi::ConfigJson json{config};
    if (auto injected = cache->cache->inject(json, *asked); !injected) {
      return std::move(injected).error();
    }
    return text(json.text);
  });
}

char* cdi_cache_inject_resolvable(cdi_cache* cache, const char* config, const char* const* names,
                                  size_t count, cdi_reasons** rest, cdi_error** error) {
  if (rest != nullptr) *rest = nullptr;
  return guarded(error, [&]() -> cdi::Result<char*> {
    if (cache == nullptr) return missing("the cache");
    if (config == nullptr) return missing("the config");
    const auto asked = views(names, count);
    if (!asked) return asked.error();
    cdi::ConfigJson json{config};
    const auto unresolved = cache->cache->inject_resolvable(json, *asked);
    if (!unresolved) return unresolved.error();
    std::unique_ptr<char, void (*)(const void*)> injected{text(json.text), cdi_free};
    if (rest != nullptr) *rest = reasons(*unresolved);
    return injected.release();
  });
}

cdi_edits* cdi_cache_edits(cdi_cache* cache, const char* const* names, size_t count,
                           cdi_error** error) {
  return guarded(error, [&]() -> cdi::Result<cdi_edits*> {
    if (cache == nullptr) return missing("the cache");
    const auto asked = views(names, count);
    if (!asked) return asked.error();
    auto box = std::make_unique<EditsBox>();
    if (auto injected = cache->cache->inject(box->storage.spec, *asked); !injected) {
      return std::move(injected).error();
    }
    fill(*box);
    return release(std::move(box));
  });
}

cdi_strings* cdi_annotated_devices(const char* const* keys, const char* const* values, size_t count,
                                   const char* prefix, cdi_error** error) {
  return guarded(error, [&]() -> cdi::Result<cdi_strings*> {
    const auto all_keys = views(keys, count);
    if (!all_keys) return all_keys.error();
    const auto all_values = views(values, count);
    if (!all_values) return all_values.error();
    std::vector<std::pair<std::string_view, std::string_view>> annotations;
    for (std::size_t i = 0; i < count; ++i) {
      annotations.emplace_back((*all_keys)[i], (*all_values)[i]);
    }
    auto parsed =
        cdi::parse_annotations(annotations, prefix == nullptr ? cdi::annotation_prefix : prefix);
    if (!parsed) return std::move(parsed).error();
    return strings(std::move(parsed->devices));
  });
}

cdi_errors* cdi_validate(const char* text, const char* path, cdi_error** error) {
  return guarded(error, [&]() -> cdi::Result<cdi_errors*> {
    auto loaded = parse(text, path);
    if (!loaded) return std::move(loaded).error();
    return errors(loaded->warnings);
  });
}

cdi_publisher* cdi_publisher_open(const char* owner, const char* dir, cdi_error** error) {
  return guarded(error, [&]() -> cdi::Result<cdi_publisher*> {
    if (owner == nullptr) return missing("the owner");
    if (auto good = cdi::check_owner(owner); !good) return std::move(good).error();
    if (dir != nullptr && *dir == '\0') return empty_directory();
    auto box = std::make_unique<Box<cdi_publisher>>();
    box->object.publisher =
        std::make_unique<cdi::Publisher>(owner, dir == nullptr ? "/var/run/cdi" : dir);
    return release(std::move(box));
  });
}

int cdi_publisher_write(cdi_publisher* publisher, const char* name, const char* text,
                        cdi_error** error) {
  return guarded(error, [&]() -> cdi::Result<int> {
    if (publisher == nullptr) return missing("the publisher");
    if (name == nullptr) return missing("the name");
    auto loaded = parse(text, name);
    if (!loaded) return std::move(loaded).error();
    auto written = publisher->publisher->write(name, loaded->spec);
    if (!written) return std::move(written).error();
    return done;
  });
}

int cdi_publisher_remove(cdi_publisher* publisher, const char* name, cdi_error** error) {
  return guarded(error, [&]() -> cdi::Result<int> {
    if (publisher == nullptr) return missing("the publisher");
    if (name == nullptr) return missing("the name");
    auto removed = publisher->publisher->remove(name);
    if (!removed) return std::move(removed).error();
    return done;
  });
}

int cdi_publisher_reconcile(cdi_publisher* publisher, const char* const* names,
                            const char* const* texts, size_t count, cdi_error** error) {
  return guarded(error, [&]() -> cdi::Result<int> {
    if (publisher == nullptr) return missing("the publisher");
    const auto all = views(names, count);
    if (!all) return all.error();
    std::map<std::string, cdi::Spec> expected;
    for (std::size_t i = 0; i < count; ++i) {
      auto loaded = parse(texts == nullptr ? nullptr : texts[i], names[i]);
      if (!loaded) return std::move(loaded).error();
      if (!expected.emplace((*all)[i], std::move(loaded->spec)).second) {
        return cdi::Error{.code = cdi::Errc::invalid,
                          .message = "the file " + cdi::quoted((*all)[i]) + " is given twice"};
      }
    }
    auto reconciled = publisher->publisher->reconcile(expected);
    if (!reconciled) return std::move(reconciled).error();
    if (!reconciled->errors.empty()) return std::move(reconciled->errors.front());
    return done;
  });
}

}  // extern "C"
