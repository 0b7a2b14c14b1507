// The functions of cdi/cdi.h, for programs in C. No function throws an exception.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/annotations.hpp>
#include <cdi/cache.hpp>
#include <cdi/cdi.h>
#include <cdi/config_json.hpp>
#include <cdi/files/text_file.hpp>
#include <cdi/host.hpp>
#include <cdi/plan.hpp>
#include <cdi/policy.hpp>
#include <cdi/publish.hpp>
#include <cdi/requests.hpp>
#include <cdi/sandbox.hpp>
#include <cdi/spec_text.hpp>

#include "edits.hpp"
#include "objects.hpp"

using namespace c_library;

namespace {

constexpr int done = 0;

cdi::Error empty_path(std::string what) {
  return {.code = cdi::Errc::invalid, .message = std::move(what.append(" has an empty path"))};
}

cdi::Error missing(std::string what) {
  return {.code = cdi::Errc::invalid, .message = std::move(what.append(" must not be NULL"))};
}

cdi::Result<cdi::CacheOptions> options_of(std::uint32_t flags) {
  constexpr std::uint32_t known =
      CDI_QUARANTINE | CDI_REFUSE_WRITABLE | CDI_WATCHED | CDI_FORGET_INVALID;
  if ((flags & ~known) != 0) {
    return cdi::Error{.code = cdi::Errc::unsupported,
                      .message = "unknown cache flags " + std::to_string(flags & ~known)};
  }
  cdi::CacheOptions options;
  options.read.quarantine_devices = (flags & CDI_QUARANTINE) != 0;
  options.read.reject_writable = (flags & CDI_REFUSE_WRITABLE) != 0;
  options.read.keep_last_good = (flags & CDI_FORGET_INVALID) == 0;
  if ((flags & CDI_WATCHED) != 0) options.freshness = cdi::Freshness::watched;
  return options;
}

cdi::Error given_twice(std::string_view file) {
  return {.code = cdi::Errc::invalid,
          .message = "the file " + cdi::quoted(file) + " is listed twice"};
}

/// Returns the texts of the array `name`, none of which may be NULL.
cdi::Result<std::vector<std::string_view>> views(cdi_texts texts, std::size_t count,
                                                 std::string name) {
  std::vector<std::string_view> out;
  if (texts == nullptr && count != 0) return missing(std::move(name));
  for (std::size_t i = 0; i < count; ++i) {
    if (texts[i] == nullptr) return missing(name.append("[" + std::to_string(i) + "]"));
    out.emplace_back(texts[i]);
  }
  return out;
}

/// Parses a spec from text. If `path` ends in .json, YAML text gets a warning.
cdi::Result<cdi::LoadedSpec> parse(const char* text, const char* path) {
  const std::string_view name = path == nullptr ? "" : path;
  if (text == nullptr) {
    auto error = missing("the text");
    error.position.file = name;
    return error;
  }
  return cdi::parse_spec(text, name, cdi::format_of(name).value_or(cdi::Format::yaml));
}

/// Marks an error as an error in the config, unless it concerns a spec file.
cdi::Error of_config(cdi::Error error) {
  if (error.position.file.empty()) error.message.insert(0, "the config is invalid: ");
  return error;
}

/// The source of requests; nullopt when the source is unknown.
using Source = std::optional<cdi::RequestOrigin>;

cdi::Result<Source> source_of(const char* name) {
  if (name == nullptr) return Source{};
  for (std::size_t i = 0; i < cdi::request_origin_names.size(); ++i) {
    if (cdi::request_origin_names[i] == name) return Source{static_cast<cdi::RequestOrigin>(i)};
  }
  return cdi::Error{.code = cdi::Errc::invalid,
                    .message = "unknown source " + cdi::quoted(name),
                    .advice = "use field, annotation, variable or commandLine, or NULL"};
}

}  // namespace

struct cdi_policy {
  std::shared_ptr<const cdi::Policy> policy{};
};

struct cdi_cache {
  std::shared_ptr<cdi::Cache> cache{};
  std::shared_ptr<const cdi::Policy> policy{};  // null without a policy
  Source source{};
};

struct cdi_publisher {
  std::unique_ptr<cdi::Publisher> publisher{};
};

namespace {

/// Returns all reasons why a cache's policy denies devices.
std::vector<cdi::Error> denials(const cdi_cache& cache,
                                std::span<const cdi::ResolvedDevice> devices,
                                std::span<const cdi::RequestedDevice> requested = {}) {
  std::vector<cdi::Error> out;
  if (cache.policy == nullptr) return out;
  auto decisions = cache.source ? cdi::decide(*cache.policy, devices, *cache.source)
                                : cdi::decide(*cache.policy, devices, requested);
  for (auto& decision : decisions) {
    for (auto& reason : std::exchange(decision.reasons, {})) {
      decision.reasons = {std::move(reason)};
      auto allowed = cdi::require_allowed({&decision, 1});
      if (!allowed) out.push_back(std::move(allowed).error());
    }
  }
  return out;
}

/// Returns the host for an injection from a cache. With a policy, hooks get an environment of their
/// own, because runc before 1.3 passes the container's environment to hooks without one.
cdi::HostWithOptions<> host_of(const cdi_cache& cache) {
  if (cache.policy == nullptr) return {};
  return {.options = {.hook_env = {std::string{cdi::explicit_hook_path}}}};
}

/// The devices that names resolve to, or a failure for each unresolved name.
struct Found {
  std::vector<cdi::ResolvedDevice> devices{};
  std::vector<Failure> missing{};
};
template <class Names>
Found find(const cdi::Registry& registry, const Names& names) {
  Found found;
  auto devices = registry.resolve_all(names);
  if (devices) {
    found.devices = *std::move(devices);
  } else {
    for (const auto& one : registry.unresolved(names)) found.missing.emplace_back(one);
  }
  return found;
}

/// The registry that resolves the names in time, or a failure for each name without a device.
struct Waited {
  std::shared_ptr<const cdi::Registry> registry{};
  std::vector<Failure> missing{};
};
template <class Names>
Waited wait(cdi_cache& cache, const Names& names, std::uint32_t milliseconds) {
  Waited out;
  auto found = cache.cache->wait_for(
      names, std::chrono::steady_clock::now() + std::chrono::milliseconds{milliseconds});
  if (found) {
    out.registry = *std::move(found);
    return out;
  }
  out.missing = find(*cache.cache->snapshot(), names).missing;
  if (out.missing.empty()) {  // another thread has found the devices since
    out.missing.emplace_back(std::move(found).error());
  } else if (found.error().code == cdi::Errc::timeout) {
    for (auto& failure : out.missing) failure.set_late();
  }
  return out;
}

/// Injects devices into the text of a config.json.
Answer<char*> inject(const cdi_cache& cache, const char* config,
                     const std::vector<cdi::ResolvedDevice>& devices,
                     std::span<const cdi::RequestedDevice> requested = {}) {
  if (auto denied = denials(cache, devices, requested); !denied.empty()) return denied;
  cdi::ConfigJson json{config};
  auto injected = cdi::Registry::inject_resolved(json, devices, host_of(cache));
  if (!injected) return of_config(std::move(injected).error());
  return text(json.text);
}

/// Returns the devices that the text of a config.json requests.
cdi::Result<std::vector<cdi::RequestedDevice>> requests_of(const char* config, const char* prefix,
                                                           const char* variable) {
  if (config == nullptr) return missing("the config");
  cdi::RequestOptions options;
  if (prefix != nullptr) options.prefix = prefix;
  if (variable != nullptr) options.variable = variable;
  auto requested = cdi::gather_requests(cdi::ConfigJson{config}, options);
  if (!requested) return of_config(std::move(requested).error());
  return requested;
}

cdi_policy* policy_of(cdi::Policy policy) {
  auto box = std::make_unique<Box<cdi_policy>>();
  box->object.policy = std::make_shared<const cdi::Policy>(std::move(policy));
  return release(std::move(box));
}

/// Plans devices, unless a name does not resolve or the policy denies one.
Answer<cdi::Plan> plan_of(cdi_cache* cache, cdi_texts names, std::size_t count) {
  if (cache == nullptr) return missing("the cache");
  const auto requested = views(names, count, "names");
  if (!requested) return requested.error();
  const auto registry = cache->cache->registry();
  auto found = find(*registry, *requested);
  if (!found.missing.empty()) return std::move(found.missing);
  if (auto denied = denials(*cache, found.devices); !denied.empty()) return denied;
  auto plan = cdi::plan(*registry, *requested, host_of(*cache));
  if (!plan) return std::move(plan).error();
  return *std::move(plan);
}

/// Makes the structs of a plan that `keep` puts into the storage.
template <class Keep>
Answer<cdi_edits*> edits_of(Answer<cdi::Plan> plan, const Keep& keep) {
  if (!plan.errors.empty()) return std::move(plan.errors);
  auto box = std::make_unique<EditsBox>();
  if (auto kept = keep(std::move(plan.value), box->storage); !kept) {
    return std::move(kept).error();
  }
  fill(*box);
  return release(std::move(box));
}

}  // namespace

extern "C" {

void cdi_free(const void* object) {
  if (object == nullptr) return;
  const NoCancellation guard;
  const SameErrno same_errno;
  auto* const header = static_cast<Header*>(const_cast<void*>(object)) - 1;
  header->destroy(header);
}

#define CDI_TEXT_OF(number) #number
#define CDI_RELEASE(major, minor, patch) \
  CDI_TEXT_OF(major) "." CDI_TEXT_OF(minor) "." CDI_TEXT_OF(patch)

const char* cdi_version(void) {
  return CDI_RELEASE(CDI_VERSION_MAJOR, CDI_VERSION_MINOR, CDI_VERSION_PATCH);
}

cdi_cache* cdi_cache_open(cdi_texts dirs, size_t count, cdi_error** error) {
  return cdi_cache_open_with(dirs, count, 0, error);
}

cdi_cache* cdi_cache_open_with(cdi_texts dirs, size_t count, uint32_t flags, cdi_error** error) {
  return guarded(error, [&]() -> Answer<cdi_cache*> {
    auto options = options_of(flags);
    if (!options) return std::move(options).error();
    const auto given = views(dirs, count, "dirs");
    if (!given) return given.error();
    const std::vector<std::string> paths{given->begin(), given->end()};
    for (const auto& path : paths) {
      if (path.empty()) return empty_path("a directory");
    }
    auto box = std::make_unique<Box<cdi_cache>>();
    box->object.cache =
        std::make_shared<cdi::Cache>(paths.empty() ? cdi::default_spec_dirs() : paths, *options);
    return release(std::move(box));
  });
}

int cdi_cache_descriptor(cdi_cache* cache, cdi_error** error) {
  return guarded(error, [&]() -> Answer<int> {
    if (cache == nullptr) return missing("the cache");
    const int descriptor = cache->cache->descriptor();
    if (descriptor >= 0) return descriptor;
    if (const auto& why = cache->cache->watch_error()) return *why;
    return cdi::Error{.code = cdi::Errc::invalid,
                      .message = "the cache is not watched",
                      .advice = "open it with CDI_WATCHED"};
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

cdi_reasons* cdi_cache_why(cdi_cache* cache, cdi_texts names, size_t count, cdi_error** error) {
  return guarded(error, [&]() -> Answer<cdi_reasons*> {
    if (cache == nullptr) return missing("the cache");
    const auto requested = views(names, count, "names");
    if (!requested) return requested.error();
    return reasons(cache->cache->registry()->unresolved(*requested));
  });
}

int cdi_cache_wait(cdi_cache* cache, cdi_texts names, size_t count, uint32_t milliseconds,
                   cdi_error** error) {
  return guarded(error, [&]() -> Answer<int> {
    if (cache == nullptr) return missing("the cache");
    const auto requested = views(names, count, "names");
    if (!requested) return requested.error();
    auto waited = wait(*cache, *requested, milliseconds);
    if (!waited.missing.empty()) return std::move(waited.missing);
    return done;
  });
}

char* cdi_cache_inject_json(cdi_cache* cache, const char* config, cdi_texts names, size_t count,
                            cdi_error** error) {
  return guarded(error, [&]() -> Answer<char*> {
    if (cache == nullptr) return missing("the cache");
    if (config == nullptr) return missing("the config");
    const auto requested = views(names, count, "names");
    if (!requested) return requested.error();
    const auto registry = cache->cache->registry();
    auto found = find(*registry, *requested);
    if (!found.missing.empty()) return std::move(found.missing);
    return inject(*cache, config, found.devices);
  });
}

char* cdi_cache_inject_resolvable(cdi_cache* cache, const char* config, cdi_texts names,
                                  size_t count, cdi_reasons** rest, cdi_error** error) {
  if (rest != nullptr) *rest = nullptr;
  return guarded(error, [&]() -> Answer<char*> {
    if (cache == nullptr) return missing("the cache");
    if (config == nullptr) return missing("the config");
    const auto requested = views(names, count, "names");
    if (!requested) return requested.error();
    const auto registry = cache->cache->registry();
    auto injected = inject(*cache, config, registry->resolvable(*requested));
    std::unique_ptr<char, void (*)(const void*)> kept{injected.value, cdi_free};
    if (injected.errors.empty() && rest != nullptr) {
      *rest = reasons(registry->unresolved(*requested));
    }
    kept.release();
    return injected;
  });
}

char* cdi_cache_inject_requested(cdi_cache* cache, const char* config, const char* prefix,
                                 const char* variable, uint32_t milliseconds, cdi_error** error) {
  return guarded(error, [&]() -> Answer<char*> {
    if (cache == nullptr) return missing("the cache");
    const auto requested = requests_of(config, prefix, variable);
    if (!requested) return requested.error();
    if (requested->empty()) return text(config);
    Waited waited;
    if (milliseconds == 0) {
      waited.registry = cache->cache->registry();
    } else {
      waited = wait(*cache, *requested, milliseconds);
      if (!waited.missing.empty()) return std::move(waited.missing);
    }
    auto found = find(*waited.registry, *requested);
    if (!found.missing.empty()) return std::move(found.missing);
    return inject(*cache, config, found.devices, *requested);
  });
}

cdi_edits* cdi_cache_edits(cdi_cache* cache, cdi_texts names, size_t count, cdi_error** error) {
  return guarded(error, [&] {
    auto plan = plan_of(cache, names, count);
    return edits_of(std::move(plan), [](cdi::Plan&& made, EditsStorage& to) -> cdi::Result<void> {
      to.plan = std::move(made);
      return {};
    });
  });
}

cdi_edits* cdi_cache_hookless_edits(cdi_cache* cache, cdi_texts names, size_t count,
                                    const char* image_root, const char* state_dir,
                                    cdi_texts environment, cdi_error** error) {
  return guarded(error, [&] {
    cdi::HooklessOptions options;
    if (image_root != nullptr) options.image_root = image_root;
    if (state_dir != nullptr) options.state_dir = state_dir;
    for (auto at = environment; at != nullptr && *at != nullptr; ++at) {
      options.environment.emplace_back(*at);
    }
    auto plan = plan_of(cache, names, count);
    return edits_of(std::move(plan), [&](cdi::Plan&& made, EditsStorage& to) -> cdi::Result<void> {
      auto hookless = cdi::without_hooks(made, options);
      if (!hookless) return std::move(hookless).error();
      to.plan = std::move(hookless->plan);
      to.hook_notes = std::move(hookless->notes);
      return {};
    });
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

cdi_strings* cdi_annotated_devices(cdi_texts keys, cdi_texts values, size_t count,
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

cdi_strings* cdi_requested_devices(const char* config, const char* prefix, const char* variable,
                                   cdi_error** error) {
  return guarded(error, [&]() -> Answer<cdi_strings*> {
    const auto requested = requests_of(config, prefix, variable);
    if (!requested) return requested.error();
    std::vector<std::string> names;
    for (const auto& one : *requested) names.push_back(one.name);
    return strings(std::move(names));
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

int cdi_publisher_reconcile(cdi_publisher* publisher, cdi_texts names, cdi_texts texts,
                            size_t count, cdi_errors** unread, cdi_error** error) {
  if (unread != nullptr) *unread = nullptr;
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
    if (unread != nullptr) *unread = errors(reconciled->unreadable);
    return done;
  });
}

}  // extern "C"
