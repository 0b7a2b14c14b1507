// Tests for include/cdi/requests/annotations.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cdi/requests/annotations.hpp>

namespace {

using namespace std::string_view_literals;

using Map = std::map<std::string, std::string>;
using Texts = std::vector<std::string>;

template <class T>
concept Updatable = requires(T& map) {
  cdi::update_annotations(map, "plugin", "id", {"v.com/c=d"});
};
static_assert(Updatable<Map> && Updatable<std::unordered_map<std::string, std::string>>);
static_assert(!Updatable<std::map<std::string_view, std::string_view>>);
static_assert(!Updatable<std::map<std::string_view, std::string>>);
static_assert(!Updatable<std::map<std::string, std::string_view>>);

TEST_CASE("a key is prefix, plugin and device id") {
  CHECK(cdi::annotation_prefix == "cdi.k8s.io/");
  CHECK(*cdi::annotation_key("vendor.class", "id") == "cdi.k8s.io/vendor.class_id");
  CHECK(*cdi::annotation_key("0", "0") == "cdi.k8s.io/0_0");
}

TEST_CASE("slashes of the device id become underscores, but the prefix keeps its slash") {
  CHECK(*cdi::annotation_key("vendor", "/a/b/c") == "cdi.k8s.io/vendor__a_b_c");
}

TEST_CASE("any prefix that makes a key will do, an empty one too") {
  CHECK(*cdi::annotation_key("vendor", "id", "nvidia.cdi.k8s.io/") ==
        "nvidia.cdi.k8s.io/vendor_id");
  CHECK(*cdi::annotation_key("vendor", "id", "k8s.io/container.") == "k8s.io/container.vendor_id");
  CHECK(*cdi::annotation_key("vendor", "id", "cdi-") == "cdi-vendor_id");
  CHECK(*cdi::annotation_key("vendor", "a/b", "") == "vendor_a_b");
}

TEST_CASE("the part after the prefix has at most 63 bytes") {
  const std::string half(31, 'a');
  CHECK(cdi::annotation_key(half, half));
  CHECK_FALSE(cdi::annotation_key(half, half + "b"));
}

TEST_CASE("what makes no key is refused, with a reason") {
  struct Row {
    std::string_view plugin;
    std::string_view device_id;
    std::string_view prefix;
    std::string_view message;
  };
  for (const auto& row : {
           Row{"", "id", "a.b/", R"(plugin "" is empty: use the name of the device plugin)"},
           Row{"p", "", "a.b/", R"(device id "" is empty: use the allocated device's id)"},
           Row{"a/b", "id", "", R"(plugin "a/b" must not contain a slash: write _ or . instead)"},
           Row{"-p", "id", "a.b/",
               R"(annotation key "a.b/-p_id": name "-p_id" must begin with a letter or digit)"},
           Row{"p", "id/", "a.b/",
               R"(annotation key "a.b/p_id_": name "p_id_" must end with a letter or digit)"},
           Row{"p", "i:d", "a.b/",
               R"(annotation key "a.b/p_i:d": name "p_i:d" may contain only letters, digits )"
               "and - _ .; byte 4 is \":\""},
           Row{"p", "id", "a..b/",
               R"(annotation key "a..b/p_id": domain "a..b" must be words of letters, digits )"
               "and inner -, separated by single dots"},
           Row{"p", "id", "a/b/",
               R"(annotation key "a/b/p_id" has more than one slash: write domain/name)"},
       }) {
    const auto key = cdi::annotation_key(row.plugin, row.device_id, row.prefix);
    REQUIRE_FALSE(key);
    CHECK(key.error().code == cdi::Errc::invalid);
    CHECK(to_string(key.error()) == row.message);
  }
}

TEST_CASE("a value is the names as given, with commas between") {
  CHECK(cdi::annotation_value({})->empty());
  CHECK(*cdi::annotation_value({"v.com/c=d"}) == "v.com/c=d");
  CHECK(*cdi::annotation_value({"v.com/c=e", "v.com/c=d", "v.com/c=e"}) ==
        "v.com/c=e,v.com/c=d,v.com/c=e");
}

TEST_CASE("names come in any range of text") {
  const char* array[] = {"v.com/c=d", "v.com/c=e"};
  CHECK(*cdi::annotation_value(array) == "v.com/c=d,v.com/c=e");
  CHECK(*cdi::annotation_value(Texts{"v.com/c=d"}) == "v.com/c=d");
  CHECK(*cdi::annotation_value(std::set<std::string_view>{"v.com/c=e", "v.com/c=d"}) ==
        "v.com/c=d,v.com/c=e");
}

TEST_CASE("a value is made of qualified names only") {
  struct Row {
    std::string_view name;
    std::string_view message;
  };
  for (const auto& [name, message] : {
           Row{"bad", R"("bad" is not a qualified device name: write vendor.com/class=device)"},
           Row{"", R"("" is not a qualified device name: write vendor.com/class=device)"},
           Row{"v/0=d", R"("v/0=d": class "0" must begin with a letter)"},
           Row{"v/c=d,v/c=e", R"("v/c=d,v/c=e": device name "d,v/c=e" may contain only letters, )"
                              "digits and _ - . :; byte 2 is \",\""},
       }) {
    const auto value = cdi::annotation_value({"v.com/c=d", name});
    REQUIRE_FALSE(value);
    CHECK(value.error().code == cdi::Errc::invalid_name);
    CHECK(to_string(value.error()) == message);
  }
}

TEST_CASE_TEMPLATE("an update adds one annotation", Annotations, Map,
                   std::unordered_map<std::string, std::string>,
                   std::map<std::string, std::string, std::less<>>) {
  Annotations annotations{{"k", "v"}};
  REQUIRE(cdi::update_annotations(annotations, "vendor", "id", {"v.com/c=d", "v.com/c=e"}));
  CHECK(annotations == Annotations{{"k", "v"}, {"cdi.k8s.io/vendor_id", "v.com/c=d,v.com/c=e"}});
  REQUIRE(cdi::update_annotations(annotations, "vendor", "id", Texts{"v.com/c=f"}, "x.io/"));
  CHECK(annotations.at("x.io/vendor_id") == "v.com/c=f");
}

TEST_CASE("an update that fails changes nothing") {
  const Map before{{"cdi.k8s.io/vendor_id", "v.com/c=d"}};
  Map annotations = before;
  CHECK_FALSE(cdi::update_annotations(annotations, "", "id", {"v.com/c=d"}));
  CHECK_FALSE(cdi::update_annotations(annotations, "vendor", "other", {"v.com/c=d", "bad"}));
  CHECK(annotations == before);

  const auto taken = cdi::update_annotations(annotations, "vendor", "id", {"v.com/c=e"});
  REQUIRE_FALSE(taken);
  CHECK(annotations == before);
  CHECK(taken.error().code == cdi::Errc::conflict);
  CHECK(to_string(taken.error()) ==
        R"(annotation "cdi.k8s.io/vendor_id" already exists: use another device id, )"
        "or remove the annotation first");
}

TEST_CASE("keys are read in order of bytes, whatever the order of the map") {
  const cdi::AnnotatedDevices expected{{"cdi.k8s.io/a", "cdi.k8s.io/b", "cdi.k8s.io/c"},
                                       {"v.com/c=9", "v.com/c=1", "v.com/c=5", "v.com/c=0"}};
  const Map sorted{{"cdi.k8s.io/c", "v.com/c=0"},
                   {"cdi.k8s.io/a", "v.com/c=9,v.com/c=1"},
                   {"cdi.k8s.io/b", "v.com/c=5"}};
  const std::map<std::string, std::string, std::greater<>> reversed{sorted.begin(), sorted.end()};
  const std::unordered_map<std::string, std::string> hashed{sorted.begin(), sorted.end()};
  const std::map<std::string_view, std::string_view> borrowed{sorted.begin(), sorted.end()};
  CHECK(*cdi::parse_annotations(sorted) == expected);
  CHECK(*cdi::parse_annotations(reversed) == expected);
  CHECK(*cdi::parse_annotations(hashed) == expected);
  CHECK(*cdi::parse_annotations(borrowed) == expected);
}

TEST_CASE("a device asked for again keeps its first place") {
  const Map annotations{{"cdi.k8s.io/a", "v.com/c=2,v.com/c=1,v.com/c=2"},
                        {"cdi.k8s.io/b", "v.com/c=3,v.com/c=1"}};
  CHECK(cdi::parse_annotations(annotations)->devices ==
        Texts{"v.com/c=2", "v.com/c=1", "v.com/c=3"});
}

TEST_CASE("only keys with the prefix count, in its case") {
  const Map annotations{{"cdi.k8s.io", "bad"},
                        {"CDI.k8s.io/a", "bad"},
                        {"x.cdi.k8s.io/a", "bad"},
                        {"cdi.k8s.io/", "v.com/c=d"}};
  CHECK(*cdi::parse_annotations(annotations) ==
        cdi::AnnotatedDevices{{"cdi.k8s.io/"}, {"v.com/c=d"}});
}

TEST_CASE("annotations may be JSON, of which nothing else is read") {
  const cdi::AnnotatedDevices expected{{"cdi.k8s.io/x", "cdi.k8s.io/y"}, {"v/c=a", "v/c=b"}};
  const nlohmann::json sorted{{"cdi.k8s.io/x", "v/c=a"}, {"cdi.k8s.io/y", "v/c=b"}, {"other", 1}};
  CHECK(*cdi::parse_annotations(sorted) == expected);
  const nlohmann::ordered_json ordered{{"cdi.k8s.io/y", "v/c=b"}, {"cdi.k8s.io/x", "v/c=a"}};
  CHECK(*cdi::parse_annotations(ordered) == expected);
  CHECK(*cdi::parse_annotations(nlohmann::json{}) == cdi::AnnotatedDevices{});
  const auto list = cdi::parse_annotations(nlohmann::json::array());
  REQUIRE_FALSE(list);
  CHECK(to_string(list.error()) == "annotations: expected an object");
  const auto number = cdi::parse_annotations(nlohmann::json{{"cdi.k8s.io/x", 1}});
  REQUIRE_FALSE(number);
  CHECK(number.error().code == cdi::Errc::schema);
  CHECK(to_string(number.error()) == "annotations.cdi.k8s.io/x: expected a string");
}

TEST_CASE("any prefix will do; every key has the empty one") {
  const Map annotations{{"nvidia.cdi.k8s.io/a", "v.com/c=d"}, {"plain", "v.com/c=e"}};
  CHECK(*cdi::parse_annotations(annotations) == cdi::AnnotatedDevices{});
  CHECK(*cdi::parse_annotations(annotations, "nvidia.cdi.k8s.io/") ==
        cdi::AnnotatedDevices{{"nvidia.cdi.k8s.io/a"}, {"v.com/c=d"}});
  CHECK(*cdi::parse_annotations(annotations, "") ==
        cdi::AnnotatedDevices{{"nvidia.cdi.k8s.io/a", "plain"}, {"v.com/c=d", "v.com/c=e"}});
}

TEST_CASE("what update writes, parse reads; an empty value asks for nothing") {
  Map annotations;
  REQUIRE(cdi::update_annotations(annotations, "p", "none", {}));
  REQUIRE(cdi::update_annotations(annotations, "p", "two", {"v.com/c=d", "v.com/c=e"}));
  CHECK(
      *cdi::parse_annotations(annotations) ==
      cdi::AnnotatedDevices{{"cdi.k8s.io/p_none", "cdi.k8s.io/p_two"}, {"v.com/c=d", "v.com/c=e"}});
}

TEST_CASE("one bad device is an error that names it and its key") {
  struct Row {
    std::string_view value;
    std::string_view message;
  };
  for (const auto& row : {
           Row{"v.com/c=d,bad",
               R"(annotation "cdi.k8s.io/a": "bad" is not a qualified device name: )"
               "write vendor.com/class=device"},
           Row{"v.com/c=d, v.com/c=e",
               R"(annotation "cdi.k8s.io/a": " v.com/c=e": vendor " v.com" )"
               "must begin with a letter"},
           Row{"v.com/c=d,", R"(annotation "cdi.k8s.io/a": "" is not a qualified device name: )"
                             "write vendor.com/class=device"},
           Row{",", R"(annotation "cdi.k8s.io/a": "" is not a qualified device name: )"
                    "write vendor.com/class=device"},
       }) {
    CAPTURE(row.value);
    const Map annotations{{"cdi.k8s.io/a", std::string{row.value}}, {"cdi.k8s.io/b", "v.com/c=d"}};
    const auto parsed = cdi::parse_annotations(annotations);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().code == cdi::Errc::invalid_name);
    CHECK(to_string(parsed.error()) == row.message);
  }
}

}  // namespace

TEST_CASE("Annotations with one key are taken in the order of their values") {
  const std::multimap<std::string, std::string> twice{{"cdi.k8s.io/x", "v/c=b"},
                                                      {"cdi.k8s.io/x", "v/c=a"}};
  const auto found = cdi::parse_annotations(twice);
  REQUIRE(found);
  CHECK(found->devices == Texts{"v/c=a", "v/c=b"});
}

TEST_CASE("The first of several wrong names is reported") {
  const auto value = cdi::annotation_value({"v/c=a", "first", "second"});
  REQUIRE_FALSE(value);
  CHECK(value.error().message.find("first") != std::string::npos);
}
