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
#include <optional>
#include <pthread.h>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <cdi/annotations.hpp>
#include <cdi/cache.hpp>
#include <cdi/cdi.h>
#include <cdi/hooks.hpp>
#include <cdi/host_options.hpp>
#include <cdi/oci/config_json.hpp>
#include <cdi/plan.hpp>
#include <cdi/policy.hpp>
#include <cdi/publish.hpp>
#include <cdi/spec_text.hpp>
#include <cdi/text_file.hpp>

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

/// An error for the caller, and the texts that it points to.
struct KeptError {
  cdi::Error error{};
  std::string text{};
  cdi_error object{};
};
using KeptErrors = std::deque<KeptError>;

void keep(KeptErrors& errors, cdi::Error error) {
  auto& [kept, text, object] = errors.emplace_back();
  kept = std::move(error);
  text = to_string(kept);
  object = {.code = static_cast<cdi_code>(static_cast<int>(kept.code) + 1),
            .text = text.c_str(),
            .message = kept.message.c_str(),
            .where = kept.where.c_str(),
            .file = kept.position.file.c_str(),
            .line = kept.position.line,
            .column = kept.position.column,
            .system = kept.system,
            .next = nullptr};
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
                  .system = 0,
                  .next = nullptr};
};
NoMemory no_memory;

/// Fails with errors, of which there is one at least.
void report(cdi_error** to, std::vector<cdi::Error> errors) {
  if (to == nullptr) return;
  auto box = std::make_unique<Box<cdi_error, KeptErrors>>();
  auto& kept = box->storage;
  for (auto& error : errors) keep(kept, std::move(error));
  for (std::size_t i = 1; i < kept.size(); ++i) kept[i - 1].object.next = &kept[i].object;
  box->object = kept.front().object;
  *to = release(std::move(box));
}

/// What a function of the library gives: a value, or errors.
template <class T>
struct Answer {
  Answer(T good) : value{good} {}
  Answer(cdi::Error error) { errors.push_back(std::move(error)); }
  Answer(std::vector<cdi::Error> all) : errors{std::move(all)} {}

  T value{};
  std::vector<cdi::Error> errors{};
};

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

/// Calls `work`, which returns an `Answer`, and gives its value or its errors.
template <class Work>
auto guarded(cdi_error** error, const Work& work) noexcept {
  const NoCancellation guard;
  using Value = decltype(work().value);
  if (error != nullptr) *error = nullptr;
  try {
    auto answer = work();
    if (answer.errors.empty()) return answer.value;
    report(error, std::move(answer.errors));
  } catch (...) {  // std::bad_alloc: the library throws no other
    if (error != nullptr) *error = &no_memory.error;
  }
  return failure<Value>();
}

constexpr int done = 0;

/// Errors and origins have the lines of members.
constexpr cdi::ReadOptions with_lines{.keep_places = true};

cdi::Error empty_path(std::string what) {
  return {.code = cdi::Errc::invalid, .message = std::move(what.append(" has an empty path"))};
}

cdi::Error missing(std::string what) {
  return {.code = cdi::Errc::invalid, .message = std::move(what.append(" may not be NULL"))};
}

cdi::Error given_twice(std::string_view file) {
  return {.code = cdi::Errc::invalid,
          .message = "the file " + cdi::quoted(file) + " is given twice"};
}

/// The texts of the array `name`. None may be NULL.
cdi::Result<std::vector<std::string_view>> views(const char* const* texts, std::size_t count,
                                                 std::string name) {
  std::vector<std::string_view> out;
  if (texts == nullptr && count != 0) return missing(std::move(name));
  for (std::size_t i = 0; i < count; ++i) {
    if (texts[i] == nullptr) return missing(name.append("[" + std::to_string(i) + "]"));
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
  KeptErrors kept{};
  std::vector<const cdi_error*> pointers{};
};

cdi_errors* errors(const std::vector<cdi::Error>& all) {
  auto box = std::make_unique<Box<cdi_errors, ErrorsStorage>>();
  for (const auto& error : all) {
    keep(box->storage.kept, error);
    box->storage.pointers.push_back(&box->storage.kept.back().object);
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

/// The edits of devices, and the plan whose texts they point to.
struct EditsStorage {
  cdi::Plan plan{};
  Texts origins{};
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

  /// Calls `add(edit, origin)` for each edit that a container gets.
  template <class Edit, class Add>
  void each(const std::vector<cdi::Planned<Edit>>& all, const Add& add) {
    for (const auto& one : all) {
      if (!one.overridden) add(one.edit, origins.keep(to_string(one.origin)));
    }
  }
};
using EditsBox = Box<cdi_edits, EditsStorage>;

cdi_node node_of(const cdi::DeviceNode& from, const char* origin) {
  return {.path = from.path.c_str(),
          .type = from.type.front(),
          .major = from.major,
          .minor = from.minor,
          .has_file_mode = from.file_mode.has_value(),
          .has_uid = from.uid.has_value(),
          .has_gid = from.gid.has_value(),
          .file_mode = from.file_mode.value_or(0),
          .uid = from.uid.value_or(0),
          .gid = from.gid.value_or(0),
          .origin = origin};
}

/// Adds a rule for each node of a plan, also for those that another replaces.
void fill_rules(EditsStorage& to) {
  for (const auto& [node, origin, overridden] : to.plan.device_nodes) {
    if (node.type != "b" && node.type != "c") continue;
    const bool none = node.permissions == "none";
    to.rules.push_back({.type = node.type.front(),
                        .major = node.major,
                        .minor = node.minor,
                        .access = none ? "" : node.permissions.c_str()});
  }
}

cdi_hook hook_of(const cdi::Hook& from, const char* origin, EditsStorage& to) {
  const auto hook_class = cdi::classify_hook(cdi::command_of(from));
  return {.point = from.hook_name.c_str(),
          .path = from.path.c_str(),
          .args = to.strings(from.args),
          .env = to.strings(from.env),
          .has_timeout = from.timeout.has_value(),
          .timeout = from.timeout.value_or(0),
          .hook_class = cdi::hook_class_name(hook_class).data(),  // a literal
          .origin = origin};
}

cdi_intel_rdt intel_rdt_of(const cdi::IntelRdt& from, const char* origin, EditsStorage& to) {
  const bool monitoring = from.enable_cmt.value_or(false) || from.enable_mbm.value_or(false);
  return {.clos_id = from.clos_id.c_str(),
          .schemata = from.schemata ? to.strings(*from.schemata) : cdi_strings{},
          .l3_cache_schema = from.l3_cache_schema.c_str(),
          .mem_bw_schema = from.mem_bw_schema.c_str(),
          .enable_monitoring = from.enable_monitoring || monitoring,
          .origin = origin};
}

/// Lets two members of a struct describe a list.
template <class T>
void point_to(const std::vector<T>& list, const T*& items, std::size_t& count) {
  items = list.data();
  count = list.size();
}

/// Fills the structs from the plan in the storage.
void fill(EditsBox& box) {
  auto& to = box.storage;
  auto& object = box.object;
  const auto& plan = to.plan;
  auto& env = to.lists.emplace_back();
  for (const auto& one : plan.env) {
    if (!one.overridden) env.push_back(one.edit.c_str());
  }
  object.env = {env.data(), env.size()};
  to.each(plan.device_nodes,
          [&](const auto& node, const char* origin) { to.nodes.push_back(node_of(node, origin)); });
  fill_rules(to);
  to.each(plan.mounts, [&](const cdi::Mount& mount, const char* origin) {
    to.mounts.push_back({mount.container_path.c_str(), mount.host_path.c_str(), mount.type.c_str(),
                         to.strings(mount.options), origin});
  });
  to.each(plan.hooks, [&](const cdi::Hook& hook, const char* origin) {
    to.hooks.push_back(hook_of(hook, origin, to));
  });
  for (const auto& one : plan.additional_gids) to.gids.push_back(one.edit);
  to.each(plan.net_devices, [&](const cdi::NetDevice& device, const char* origin) {
    to.net_devices.push_back({device.host_interface_name.c_str(), device.name.c_str(), origin});
  });
  to.each(plan.intel_rdt, [&](const cdi::IntelRdt& rdt, const char* origin) {
    to.intel_rdt = intel_rdt_of(rdt, origin, to);
    object.intel_rdt = &to.intel_rdt;
  });
  point_to(to.nodes, object.nodes, object.node_count);
  point_to(to.rules, object.rules, object.rule_count);
  point_to(to.mounts, object.mounts, object.mount_count);
  point_to(to.hooks, object.hooks, object.hook_count);
  point_to(to.gids, object.gids, object.gid_count);
  point_to(to.net_devices, object.net_devices, object.net_device_count);
}

/// A spec from text. A name in .json matters: YAML text under it gets a warning.
cdi::Result<cdi::LoadedSpec> parse(const char* text, const char* path) {
  const std::string_view name = path == nullptr ? "" : path;
  if (text == nullptr) {
    auto error = missing("the text");
    error.position.file = name;
    return error;
  }
  return cdi::parse_spec(text, name, cdi::format_of(name).value_or(cdi::Format::yaml));
}

/// Where requests come from; nothing when it is not known.
using Source = std::optional<cdi::RequestOrigin>;

cdi::Result<Source> source_of(const char* name) {
  if (name == nullptr) return Source{};
  for (std::size_t i = 0; i < cdi::request_origin_names.size(); ++i) {
    if (cdi::request_origin_names[i] == name) return Source{static_cast<cdi::RequestOrigin>(i)};
  }
  return cdi::Error{.code = cdi::Errc::invalid,
                    .message = "unknown source " + cdi::quoted(name) +
                               ": use field, annotation, variable or commandLine, or NULL"};
}

}  // namespace

struct cdi_policy {
  std::shared_ptr<const cdi::Policy> policy{};
};

struct cdi_cache {
  std::shared_ptr<cdi::Cache> cache{};
  std::shared_ptr<const cdi::Policy> policy{};  // null if there is none
  Source source{};
};

struct cdi_publisher {
  std::unique_ptr<cdi::Publisher> publisher{};
};

namespace {

/// Why the policy of a cache denies devices: all reasons, of all devices.
std::vector<cdi::Error> denials(const cdi_cache& cache,
                                std::span<const cdi::ResolvedDevice> devices) {
  std::vector<cdi::Error> out;
  if (cache.policy == nullptr) return out;
  auto decisions =
      cache.source ? cdi::decide(*cache.policy, devices, *cache.source)
                   : cdi::decide(*cache.policy, devices, std::span<const cdi::RequestedDevice>{});
  for (auto& decision : decisions) {
    for (auto& reason : std::exchange(decision.reasons, {})) {
      decision.reasons = {std::move(reason)};
      auto allowed = cdi::require_allowed({&decision, 1});
      if (!allowed) out.push_back(std::move(allowed).error());
    }
  }
  return out;
}

/// The host, as an injection from a cache sees it. With a policy, hooks get an environment: runc
/// would give them that of the container.
cdi::HostWithOptions<> host_of(const cdi_cache& cache) {
  if (cache.policy == nullptr) return {};
  return {.options = {.hook_env = {std::string{cdi::explicit_hook_path}}}};
}

/// Injects devices into the text of a config.json.
Answer<char*> inject(const cdi_cache& cache, const char* config,
                     const std::vector<cdi::ResolvedDevice>& devices) {
  if (auto denied = denials(cache, devices); !denied.empty()) return denied;
  cdi::ConfigJson json{config};
  auto injected = cdi::Registry::inject_resolved(json, devices, host_of(cache));
  if (!injected) return std::move(injected).error();
  return text(json.text);
}

cdi_policy* policy_of(cdi::Policy policy) {
  auto box = std::make_unique<Box<cdi_policy>>();
  box->object.policy = std::make_shared<const cdi::Policy>(std::move(policy));
  return release(std::move(box));
}

}  // namespace

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
  return guarded(error, [&]() -> Answer<cdi_cache*> {
    const auto given = views(dirs, count, "dirs");
    if (!given) return given.error();
    const std::vector<std::string> paths{given->begin(), given->end()};
    for (const auto& path : paths) {
      if (path.empty()) return empty_path("a directory");
    }
    auto box = std::make_unique<Box<cdi_cache>>();
    box->object.cache = std::make_shared<cdi::Cache>(
        paths.empty() ? cdi::default_spec_dirs() : paths, cdi::CacheOptions{.read = with_lines});
    return release(std::move(box));
  });
}

int cdi_cache_refresh(cdi_cache* cache, cdi_error** error) {
  return guarded(error, [&]() -> Answer<int> {
    if (cache == nullptr) return missing("the cache");
    cache->cache->refresh();
    return done;
  });
}

cdi_strings* cdi_cache_devices(cdi_cache* cache, cdi_error** error) {
  return guarded(error, [&]() -> Answer<cdi_strings*> {
    if (cache == nullptr) return missing("the cache");
    return strings(cache->cache->registry()->devices());
  });
}

cdi_errors* cdi_cache_errors(cdi_cache* cache, cdi_error** error) {
  return guarded(error, [&]() -> Answer<cdi_errors*> {
    if (cache == nullptr) return missing("the cache");
    return errors(cache->cache->registry()->errors());
  });
}

cdi_reasons* cdi_cache_why(cdi_cache* cache, const char* const* names, size_t count,
                           cdi_error** error) {
  return guarded(error, [&]() -> Answer<cdi_reasons*> {
    if (cache == nullptr) return missing("the cache");
    const auto asked = views(names, count, "names");
    if (!asked) return asked.error();
    return reasons(cache->cache->registry()->unresolved(*asked));
  });
}

int cdi_cache_wait(cdi_cache* cache, const char* const* names, size_t count, uint32_t milliseconds,
                   cdi_error** error) {
  return guarded(error, [&]() -> Answer<int> {
    if (cache == nullptr) return missing("the cache");
    const auto asked = views(names, count, "names");
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
  return guarded(error, [&]() -> Answer<char*> {
    if (cache == nullptr) return missing("the cache");
    if (config == nullptr) return missing("the config");
    const auto asked = views(names, count, "names");
    if (!asked) return asked.error();
    const auto registry = cache->cache->registry();
    const auto devices = registry->resolve_all(*asked);
    if (!devices) return devices.error();
    return inject(*cache, config, *devices);
  });
}

char* cdi_cache_inject_resolvable(cdi_cache* cache, const char* config, const char* const* names,
                                  size_t count, cdi_reasons** rest, cdi_error** error) {
  if (rest != nullptr) *rest = nullptr;
  return guarded(error, [&]() -> Answer<char*> {
    if (cache == nullptr) return missing("the cache");
    if (config == nullptr) return missing("the config");
    const auto asked = views(names, count, "names");
    if (!asked) return asked.error();
    const auto registry = cache->cache->registry();
    auto injected = inject(*cache, config, registry->resolvable(*asked));
    std::unique_ptr<char, void (*)(const void*)> kept{injected.value, cdi_free};
    if (injected.errors.empty() && rest != nullptr) {
      *rest = reasons(registry->unresolved(*asked));
    }
    kept.release();
    return injected;
  });
}

cdi_edits* cdi_cache_edits(cdi_cache* cache, const char* const* names, size_t count,
                           cdi_error** error) {
  return guarded(error, [&]() -> Answer<cdi_edits*> {
    if (cache == nullptr) return missing("the cache");
    const auto asked = views(names, count, "names");
    if (!asked) return asked.error();
    const auto registry = cache->cache->registry();
    const auto devices = registry->resolve_all(*asked);
    if (!devices) return devices.error();
    if (auto denied = denials(*cache, *devices); !denied.empty()) return denied;
    auto plan = cdi::plan(*registry, *asked, host_of(*cache));
    if (!plan) return std::move(plan).error();
    auto box = std::make_unique<EditsBox>();
    box->storage.plan = *std::move(plan);
    fill(*box);
    return release(std::move(box));
  });
}

cdi_policy* cdi_policy_open(const char* path, cdi_error** error) {
  return guarded(error, [&]() -> Answer<cdi_policy*> {
    if (path == nullptr) return missing("the path");
    if (*path == '\0') return empty_path("the policy");
    auto text = cdi::read_file(path);
    if (!text) return std::move(text).error();
    auto policy = cdi::read_policy(*text, path);
    if (!policy) return std::move(policy).error();
    return policy_of(*std::move(policy));
  });
}

cdi_policy* cdi_policy_parse(const char* text, const char* path, cdi_error** error) {
  return guarded(error, [&]() -> Answer<cdi_policy*> {
    if (text == nullptr) return missing("the text");
    auto policy = cdi::read_policy(text, path == nullptr ? "" : path);
    if (!policy) return std::move(policy).error();
    return policy_of(*std::move(policy));
  });
}

cdi_cache* cdi_cache_with_policy(cdi_cache* cache, const cdi_policy* policy, const char* source,
                                 cdi_error** error) {
  return guarded(error, [&]() -> Answer<cdi_cache*> {
    if (cache == nullptr) return missing("the cache");
    if (policy == nullptr) return missing("the policy");
    const auto from = source_of(source);
    if (!from) return from.error();
    auto box = std::make_unique<Box<cdi_cache>>();
    box->object = {cache->cache, policy->policy, *from};
    return release(std::move(box));
  });
}

cdi_strings* cdi_annotated_devices(const char* const* keys, const char* const* values, size_t count,
                                   const char* prefix, cdi_error** error) {
  return guarded(error, [&]() -> Answer<cdi_strings*> {
    const auto all_keys = views(keys, count, "keys");
    if (!all_keys) return all_keys.error();
    const auto all_values = views(values, count, "values");
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
  return guarded(error, [&]() -> Answer<cdi_errors*> {
    auto loaded = parse(text, path);
    if (!loaded) return std::move(loaded).error();
    return errors(loaded->warnings);
  });
}

cdi_publisher* cdi_publisher_open(const char* owner, const char* dir, cdi_error** error) {
  return guarded(error, [&]() -> Answer<cdi_publisher*> {
    if (owner == nullptr) return missing("the owner");
    if (auto good = cdi::check_owner(owner); !good) return std::move(good).error();
    if (dir != nullptr && *dir == '\0') return empty_path("a directory");
    auto box = std::make_unique<Box<cdi_publisher>>();
    box->object.publisher =
        std::make_unique<cdi::Publisher>(owner, dir == nullptr ? "/var/run/cdi" : dir);
    return release(std::move(box));
  });
}

int cdi_publisher_write(cdi_publisher* publisher, const char* name, const char* text,
                        cdi_error** error) {
  return guarded(error, [&]() -> Answer<int> {
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
  return guarded(error, [&]() -> Answer<int> {
    if (publisher == nullptr) return missing("the publisher");
    if (name == nullptr) return missing("the name");
    auto removed = publisher->publisher->remove(name);
    if (!removed) return std::move(removed).error();
    return done;
  });
}

int cdi_publisher_reconcile(cdi_publisher* publisher, const char* const* names,
                            const char* const* texts, size_t count, cdi_error** error) {
  return guarded(error, [&]() -> Answer<int> {
    if (publisher == nullptr) return missing("the publisher");
    const auto all = views(names, count, "names");
    if (!all) return all.error();
    std::map<std::string, cdi::Spec> expected;
    std::vector<cdi::Error> wrong;
    for (std::size_t i = 0; i < count; ++i) {
      auto loaded = parse(texts == nullptr ? nullptr : texts[i], names[i]);
      if (!loaded) {
        wrong.push_back(std::move(loaded).error());
      } else if (!expected.emplace((*all)[i], std::move(loaded->spec)).second) {
        wrong.push_back(given_twice((*all)[i]));
      }
    }
    if (!wrong.empty()) return wrong;
    auto reconciled = publisher->publisher->reconcile(expected);
    if (!reconciled) return std::move(reconciled).error();
    if (!reconciled->errors.empty()) return std::move(reconciled->errors);
    return done;
  });
}

}  // extern "C"
