// The cost of many devices and of unusual texts: memory compared with the text, and the allocations
// of a lookup.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/file.hpp>
#include <cdi/oci.hpp>
#include <cdi/requests.hpp>
#include <cdi/rules/owner.hpp>

#include "../../bench/nvidia_spec.hpp"
#include "../../bench/scale_data.hpp"
#include "../support/counted_memory.hpp"
#include "../support/temp_tree.hpp"

namespace {

#if defined(__SANITIZE_ADDRESS__) || !defined(__OPTIMIZE__)
constexpr int tenth = 10;  // such a build tests a tenth, which takes as long
#else
constexpr int tenth = 1;
#endif

/// Checks that all devices are found, and that lookups do not allocate.
void check_lookup(const cdi::Registry& registry, int files, int devices) {
  std::vector<std::string> names;
  for (int file = 0; file < files; ++file) {
    for (int device = 0; device < devices; ++device) {
      names.push_back(cdi::qualified_name(scale_kind(file), "dev" + std::to_string(device)));
    }
  }
  const std::size_t before = counted::allocations;
  std::size_t found = 0;
  for (const auto& name : names) {
    if (registry.find(name).device != nullptr) ++found;
  }
  CHECK(counted::allocations == before);
  CHECK(found == names.size());
}

constexpr std::size_t mebibyte = std::size_t{1} << 20;

std::string repeated(std::string_view unit, std::size_t bytes = mebibyte) {
  std::string out;
  while (out.size() < bytes) out.append(unit);
  return out;
}

/// Repeats `before`, a name of five letters, and `after`; the name is always a new one.
std::string names(std::string_view before, std::string_view after) {
  std::string out;
  for (std::uint32_t i = 0; out.size() < mebibyte; ++i) {
    out.append(before);
    for (const std::uint32_t shift : {0U, 4U, 8U, 12U, 16U}) {
      out.push_back(static_cast<char>('a' + (i >> shift & 15)));
    }
    out.append(after);
  }
  return out;
}

/// The same with names of three bytes. Their number uses most of the allowed memory.
std::string short_names(std::string_view before, std::string_view after) {
  constexpr std::string_view letters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string out;
  for (std::uint32_t i = 0; i < 180'000; ++i) {
    out.append(before);
    for (const std::uint32_t shift : {0U, 6U, 12U}) out.push_back(letters[i >> shift & 63]);
    out.append(after);
  }
  return out;
}

std::string utf16(std::string_view unit) {
  return "\xFF\xFE" + repeated(unit);
}

std::string deeper_and_deeper() {
  std::string out;
  for (std::size_t i = 0; i < 1400; ++i) out.append(i, ' ').append("a:\n");
  return out;
}

/// Escapes that are longer when they are decoded, and behind them texts with one escape.
std::string growing_escapes(std::size_t bytes) {
  return "- \"" + repeated("\\L", bytes * 7 / 10) + "\"\n- [" + repeated("\"\\t\",", bytes / 4) +
         "]";
}

struct Text {
  std::string name;
  std::string text;
};

std::vector<Text> costly_texts() {
  using namespace std::string_literals;
  return {
      {"lists", repeated("[")},
      {"lists in lists", repeated("[a,")},
      {"maps in maps", repeated("{a: ")},
      {"dashes on one line", repeated("- ")},
      {"empty items", repeated("-\n")},
      {"unterminated list", "[" + repeated("1,")},
      {"small maps",
       "[" + repeated("{a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t,u,v,w,x,y,z},") + "]"},
      {"quotes", repeated("\"")},
      {"escapes in one text", "\"" + repeated("\\n")},
      {"escapes in many texts", "[" + repeated("\"\\n\",")},
      {"escapes that grow", "\"" + repeated("\\L")},
      {"one text of escapes that grow", "\"" + repeated("\\L") + "\""},
      {"escapes that grow, and many texts", growing_escapes(mebibyte)},
      {"escapes that grow, and many values",
       "- \"" + repeated("\\P", mebibyte / 2) + "\"\n- [" + repeated("1,", mebibyte / 2) + "]"},
      {"quotes doubled", "'" + repeated("''")},
      {"lines of a block", "a: |\n" + repeated(" x\n")},
      {"one anchor", "[" + repeated("&a x,")},
      {"many anchors", "[" + names("&", " ,")},
      {"aliases", "[&a x," + repeated("*a,")},
      {"aliases of a long list", "- &a [" + repeated("x,") + "]\n" + repeated("- *a\n")},
      {"undefined aliases", repeated("- *a\n")},
      {"merge keys", "- &a {b: c}\n" + repeated("- <<: *a\n")},
      {"a merge key among many", "{<<: {}, " + names("", ",") + "}"},
      {"an invalid merge key", "{<<: x, " + names("", ",") + "}"},
      {"a merged list", "a: &a {b: c}\nd: {<<: [" + repeated("*a,") + "]}"},
      {"deep blocks", deeper_and_deeper()},
      {"one long key", std::string(mebibyte, 'k') + ": 1\n"},
      {"one long key in quotes", "{\"" + std::string(mebibyte, 'k') + "\": 1,}"},
      {"many keys", "{" + names("", ",") + "aaaaa}"},
      {"many keys in quotes", "{" + names("\"", "\":1,") + "\"aaaaa\":1}"},
      {"comments", repeated("#\n")},
      {"line ends", repeated("\r")},
      {"handles", names("%TAG !", "! x\n")},
      {"handles and anchors", short_names("%TAG ", "\n") + "---\n[" + short_names("&", " ,") + "]"},
      {"UTF-16", utf16("-\0\n\0"s)},
      {"UTF-16 of three bytes each", utf16("\xAC\x20")},
      {"lone surrogates of UTF-16", utf16("\0\xD8"s)},
      {"invalid UTF-8", repeated("\xFF")},
  };
}

}  // namespace

TEST_CASE("Reading or refusing a text takes at most ten times its size, plus `expansion`") {
  constexpr cdi::Limits limits{.expansion = mebibyte};
  for (const auto& costly : costly_texts()) {
    const auto& name = costly.name;
    const auto& text = costly.text;
    for (const bool yaml : {false, true}) {
      CAPTURE(name);
      CAPTURE(yaml);
      const counted::Peak peak;
      const auto document =
          yaml ? cdi::parse_yaml(text, "", limits) : cdi::parse_json(text, "", limits);
      const auto bytes = peak.bytes();
      CHECK(bytes <= 10 * text.size() + limits.expansion);
      CHECK(bytes >= text.size());  // the counter works
    }
  }
}

std::optional<cdi::Errc> error_of(const auto& result) {
  return result ? std::nullopt : std::optional{result.error().code};
}

/// A spec or an OCI config in JSON that repeats `item` in a list, or a member of an object.
std::string spec_of(const std::string& before, const std::string& item, const std::string& after) {
  std::string out = before;
  while (out.size() < 2 * mebibyte) out.append(item).append(",");
  return out.append(item).append(after);
}

// Once, the model of a spec took up to 83 times its bytes, since items were made before they were
// read.
TEST_CASE("Reading a text into a model takes at most ten times its size, plus 4 MiB") {
  const std::string head = R"({"cdiVersion":"0.6.0","kind":"v.com/c",)";
  const std::string edits = head + R"("devices":[{"name":"a","containerEdits":{"env":["A=1"]}}],)"
                                   R"("containerEdits":{)";
  std::string annotations = head + R"("devices":[{"name":"a","containerEdits":{"env":["A=1"]}}],)"
                                   R"("annotations":{"a/z":"")";
  for (int i = 0; annotations.size() < 2 * mebibyte; ++i) {
    annotations.append(",\"").append(std::to_string(i)).append("\":\"\"");
  }
  struct {
    std::string name;
    std::string text;
    bool fits;
  } const rows[] = {
      {"devices", spec_of(head + R"("devices":[)", "{}", "]}"), false},
      {"devices of one member", spec_of(head + R"("devices":[)", R"({"a":1})", "]}"), false},
      {"no nodes", spec_of(edits + R"("deviceNodes":[)", "{}", "]}}"), false},
      {"nodes", spec_of(edits + R"("deviceNodes":[)", R"({"path":"/"})", "]}}"), false},
      {"hooks", spec_of(edits + R"("hooks":[)", "{}", "]}}"), false},
      {"mounts", spec_of(edits + R"("mounts":[)", "{}", "]}}"), false},
      {"env", spec_of(edits + R"("env":[)", R"("")", "]}}"), false},
      {"groups", spec_of(edits + R"("additionalGids":[)", "1", "]}}"), true},
      {"options",
       spec_of(edits + R"("mounts":[{"hostPath":"/","containerPath":"/","options":[)", R"("")",
               "]}]}}"),
       false},
      {"many small lists",
       spec_of(edits + R"("hooks":[)", R"({"hookName":"a","path":"/","args":[""],"env":[""]})",
               "]}}"),
       true},
      {"small devices",
       spec_of(head + R"("devices":[)", R"({"name":"a","containerEdits":{"env":["a="]}})", "]}"),
       true},
      {"Intel RDT",
       spec_of(head + R"("devices":[)", R"({"name":"","containerEdits":{"intelRdt":{}}})", "]}"),
       true},
      {"annotations", annotations + "}}", false},
      {"unknown members of OCI", spec_of(R"({"ociVersion":"1","x":[)", "0", "]}"), false},
      {"unknown maps of OCI", spec_of(R"({"ociVersion":"1","x":[)", "{}", "]}"), false},
      {"credentials of OCI",
       spec_of(R"({"ociVersion":"1","windows":{"layerFolders":[],"credentialSpec":[)", "0", "]}}"),
       false},
      {"devices of OCI", spec_of(R"({"ociVersion":"1","linux":{"devices":[)", "{}", "]}}"), false},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    const counted::Peak peak;
    {
      const auto document = cdi::parse_json(row.text);
      REQUIRE(document);
      std::optional<cdi::Errc> error;
      if (row.name.ends_with("OCI")) {
        error = error_of(cdi::read<cdi::oci::Spec>(*document));
      } else {
        error = error_of(cdi::read<cdi::Spec>(*document));
      }
      CHECK(error == (row.fits ? std::nullopt : std::optional{cdi::Errc::limit}));
    }
    CHECK(peak.bytes() <= 10 * row.text.size() + 4 * mebibyte + 128 * 1024);
  }
}

TEST_CASE("A model that takes too much memory is refused with the place of its list") {
  const auto text = spec_of("{\"cdiVersion\":\"0.6.0\",\n \"devices\": [", "{}", "]}");
  const auto spec = cdi::parse_spec(text, "f.json", cdi::Format::json);
  REQUIRE_FALSE(spec);
  CHECK(to_string(spec.error()) ==
        "f.json:2:13: devices: the value takes too much memory: more than ten times the text's "
        "size plus 4 MiB: split the text into several files");
}

// Once, each decoded text was copied again for each text behind it.
TEST_CASE("Escapes that are longer when they are decoded cost a few allocations") {
  const std::string text = growing_escapes(mebibyte / 10);
  const std::size_t before = counted::allocations;
  CHECK(cdi::parse_yaml(text));
  CHECK(counted::allocations - before < 100);
}

TEST_CASE("An injection allocates little more than what the OCI spec keeps") {
  cdi::ContainerEdits edits{.env = {"A=1"}, .hooks = {{.hook_name = "prestart", .path = "/h"}}};
  std::size_t kept = 0;
  for (int i = 0; i < 100; ++i) {
    const std::string path = "/a/path/too/long/for/short/strings/" + std::to_string(i);
    edits.mounts.push_back({.host_path = path, .container_path = path, .options = {"ro", "bind"}});
    kept += 3;  // both paths, and the list of options
  }
  cdi::LoadedSpec loaded{.spec = {.version = "0.5.0", .kind = "v/c"}};
  loaded.spec.devices = {{.name = "d", .container_edits = edits}};
  const cdi::Registry registry{{std::make_shared<const cdi::LoadedSpec>(std::move(loaded))}};
  cdi::oci::Spec oci;
  const std::size_t before = counted::allocations;
  REQUIRE(registry.inject(oci, {"v/c=d"}));
  const std::size_t allocations = counted::allocations - before;
  CAPTURE(allocations);
  CHECK(allocations > kept);  // the counter works
  CHECK(allocations <= kept + 40);
}

// Once, each device scanned the whole line.
template <class Spec>
std::size_t allocations_to_read(const cdi::Document& document) {
  const std::size_t before = counted::allocations;
  CHECK(cdi::read<Spec>(document));
  return counted::allocations - before;
}

TEST_CASE("A view of a spec takes less than half the allocations of a spec") {
  const auto document = cdi::parse_json(scale_text(nvidia_spec()));
  REQUIRE(document);
  CHECK(allocations_to_read<cdi::SpecView>(*document) * 2 <
        allocations_to_read<cdi::Spec>(*document));
}

TEST_CASE("Devices on one line take no longer than on many lines") {
  std::string text = R"({"cdiVersion":"0.5.0","kind":"v/c","devices":[)";
  constexpr int devices = 200'000 / tenth;
  for (int i = 0; i < devices; ++i) {
    text.append(i == 0 ? "" : ",").append(R"({"name":"d)").append(std::to_string(i));
    text.append(R"(","containerEdits":{"env":["A=1"]}})");
  }
  const auto spec = cdi::parse_spec(text + "]}", "f", cdi::Format::json);
  REQUIRE(spec);
  REQUIRE(spec->device_positions.size() == devices);
  CHECK(spec->device_positions.back().line == 1);
  CHECK(spec->device_positions.back().column > text.size() - 60);
}

// Once, the search for the end of a line went on to the end of the text. It took minutes.
TEST_CASE("Lines that end in CR take no longer than those that end in LF") {
  const std::string blank(8'000'000 / tenth, '\r');
  const std::string text = R"({"cdiVersion":"0.5.0",)" + blank + R"("kind":"v/c","devices":[]})";
  for (const auto format : {cdi::Format::json, cdi::Format::yaml}) {
    const auto spec = cdi::parse_spec(text, "f", format);
    REQUIRE_FALSE(spec);
    CHECK(spec.error().position.line == blank.size() + 1);
  }
}

TEST_CASE("Many devices in one file use less memory than three times its text") {
  for (const auto format : {cdi::Format::json, cdi::Format::yaml}) {
    constexpr int devices = 10'000 / tenth;
    const auto text = scale_text(scale_spec(0, devices), format);
    const TempTree tree;
    const auto path = tree / (format == cdi::Format::json ? "x.json" : "x.yaml");
    put_file(path, text);
    const std::size_t before = counted::held;
    auto spec = cdi::read_spec_file(path);
    REQUIRE(spec);
    const cdi::Registry registry{{std::make_shared<const cdi::LoadedSpec>(std::move(*spec))}};
    const double ratio =
        static_cast<double>(counted::held - before) / static_cast<double>(text.size());
    CAPTURE(ratio);
    CHECK(ratio < 3);
    CHECK(ratio > 0.5);  // the counter works
    check_lookup(registry, 1, devices);
  }
}

TEST_CASE("Many devices in many files use less memory than three times their text") {
  constexpr int files = 1000 / tenth;
  constexpr int devices = 100;
  const TempTree tree;
  const auto bytes = write_scale_data(tree.make_dir("a"), files, devices);
  const std::size_t before = counted::held;
  cdi::Cache cache{{tree / "a"}};
  REQUIRE(cache.registry()->devices().size() == std::size_t{files} * devices);
  const double ratio = static_cast<double>(counted::held - before) / static_cast<double>(bytes);
  CAPTURE(ratio);
  CHECK(ratio < 3);
  check_lookup(*cache.registry(), files, devices);
  const auto again = cache.registry();
  CHECK(static_cast<double>(counted::held - before) / static_cast<double>(bytes) < 3);
}

// Once, each conflict searched its device in the spec that has all, and each name in all specs.
TEST_CASE("Many devices in conflict cost a sort") {
  constexpr int count = 100'000 / tenth;
  std::vector<std::shared_ptr<const cdi::LoadedSpec>> specs;
  cdi::LoadedSpec all{.spec = {.version = "0.5.0", .kind = "v.com/c"}, .path = "all"};
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) {
    const auto name = std::to_string(i);
    all.spec.devices.push_back({.name = name});
    names.push_back("v.com/c=" + name);
    cdi::LoadedSpec one{.spec = {.version = "0.5.0", .kind = "v.com/c"}, .path = name};
    one.spec.devices.push_back({.name = name});
    specs.push_back(std::make_shared<const cdi::LoadedSpec>(std::move(one)));
  }
  specs.push_back(std::make_shared<const cdi::LoadedSpec>(std::move(all)));
  const cdi::Registry registry{std::move(specs)};
  REQUIRE(registry.errors().size() == 2 * names.size());
  const auto unresolved = registry.unresolved(names);
  REQUIRE(unresolved.size() == names.size());
  for (const auto& one : unresolved) CHECK(one.causes.size() == 2);
  CHECK(unresolved.back().why.message.find("\"all\"") != std::string::npos);
}

// Once, each name had a copy of the error of each file: 2000 of both cost 991 MB.
TEST_CASE("Many unresolved names and many broken files cost their sum, not their product") {
  const auto cost = [](std::size_t count) {
    std::vector<std::shared_ptr<const cdi::RejectedFile>> broken;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < count; ++i) {
      broken.push_back(std::make_shared<const cdi::RejectedFile>(cdi::RejectedFile{
          .why = {.code = cdi::Errc::syntax,
                  .message = "unexpected end of the text",
                  .position = {.file = "/etc/cdi/" + std::to_string(i) + ".json"}}}));
      names.push_back("v.com/c=" + std::to_string(i));
    }
    const cdi::Registry registry{{}, std::move(broken)};
    const std::size_t before = counted::allocations;
    REQUIRE(registry.unresolved(names).size() == count);
    return counted::allocations - before;
  };
  CHECK(cost(1000) < 3 * cost(500));
}

TEST_CASE("The owner of a spec is found without an allocation") {
  cdi::LoadedSpec loaded;
  loaded.spec.annotations[std::string{cdi::owner_annotation}] = "an owner of many specs";
  const std::size_t before = counted::allocations;
  const auto owner = loaded.owner();
  CHECK(counted::allocations == before);
  CHECK(owner == "an owner of many specs");
}

TEST_CASE("Many requested names cost a sort, in any order") {
  constexpr int count =
      1'000'000 / tenth;  // with a cost for each pair, it would run into a timeout
  std::vector<std::string> names;
  for (int i = count; i > 0; --i) names.push_back("v.com/c=" + std::to_string(i));
  cdi::Requests requests;
  requests.add_field(names);
  requests.add_field(names);
  CHECK(requests.devices().size() == names.size());
  CHECK(requests.devices().front().name == names.front());
}
