// Tests for include/cdi/requests/requests.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cdi/oci/spec.hpp>
#include <cdi/requests/requests.hpp>

namespace {

using cdi::RequestOrigin;
using cdi::RequestRules;
using Map = std::map<std::string, std::string>;
using Texts = std::vector<std::string>;

Texts names_of(const cdi::Requests& requests) {
  Texts names;
  for (const std::string_view name : requests.devices()) names.emplace_back(name);
  return names;
}

/// The names that a field and annotations request; the message of the error, when there is one.
Texts gathered(RequestRules rules, const Texts& field, const Map& annotations) {
  cdi::Requests requests{rules};
  requests.add_field(field);
  const auto done = requests.add_annotations(annotations);
  return done ? names_of(requests) : Texts{done.error().message};
}

}  // namespace

TEST_CASE("Repeated names are dropped or kept as each runtime does") {
  struct Row {
    Texts field;
    Map annotations;
    Texts containerd;  // and by default
    Texts cri_o;
  };
  const Row rows[] = {
      {{}, {}, {}, {}},
      {{"v/c=a"}, {}, {"v/c=a"}, {"v/c=a"}},
      {{"v/c=a", "v/c=a"}, {}, {"v/c=a"}, {"v/c=a", "v/c=a"}},
      {{"v/c=a"}, {{"cdi.k8s.io/x", "v/c=a,v/c=b"}}, {"v/c=a", "v/c=b"}, {"v/c=a", "v/c=b"}},
      {{}, {{"cdi.k8s.io/x", "v/c=b,v/c=b"}}, {"v/c=b"}, {"v/c=b", "v/c=b"}},
      {{}, {{"cdi.k8s.io/x", "v/c=b"}, {"cdi.k8s.io/y", "v/c=b"}}, {"v/c=b"}, {"v/c=b", "v/c=b"}},
      {{"v/c=z", "v/c=a"},
       {{"cdi.k8s.io/y", "v/c=c,v/c=z"}, {"cdi.k8s.io/x", "v/c=b"}, {"other", "v/c=d"}},
       {"v/c=z", "v/c=a", "v/c=b", "v/c=c"},
       {"v/c=z", "v/c=a", "v/c=b", "v/c=c"}},
      {{"junk"}, {}, {"junk"}, {"junk"}},
  };
  for (const auto& row : rows) {
    CHECK(gathered(RequestRules::each_once, row.field, row.annotations) == row.containerd);
    CHECK(gathered(RequestRules::containerd, row.field, row.annotations) == row.containerd);
    CHECK(gathered(RequestRules::cri_o, row.field, row.annotations) == row.cri_o);
  }
}

TEST_CASE("A bad annotation is an error that names it, and adds nothing") {
  for (const auto rules :
       {RequestRules::each_once, RequestRules::containerd, RequestRules::cri_o}) {
    cdi::Requests requests{rules};
    const auto done =
        requests.add_annotations(Map{{"cdi.k8s.io/a", "v/c=a"}, {"cdi.k8s.io/b", "junk"}});
    REQUIRE_FALSE(done);
    CHECK(done.error().code == cdi::Errc::invalid_name);
    CHECK(to_string(done.error()) ==
          "annotation \"cdi.k8s.io/b\": \"junk\" is not a qualified device "
          "name: write vendor.com/class=device");
    CHECK(requests.devices().empty());
  }
}

TEST_CASE("An empty annotation requests nothing, but is an error in runtimes") {
  const Map empty{{"cdi.k8s.io/a", ""}};
  CHECK(gathered(RequestRules::each_once, {}, empty).empty());
  for (const auto rules : {RequestRules::containerd, RequestRules::cri_o}) {
    cdi::Requests requests{rules};
    CHECK_FALSE(requests.add_annotations(empty));
  }
}

TEST_CASE("Each name keeps the origin where it was found first") {
  cdi::Requests requests;
  requests.add_field(Texts{"v/c=a"});
  REQUIRE(requests.add_annotations(Map{{"cdi.k8s.io/p", "v/c=a,v/c=b"}}));
  REQUIRE(requests.add_annotations(Map{{"nvidia.cdi.k8s.io/q", "v/c=c"}}, "nvidia.cdi.k8s.io/"));
  REQUIRE(requests.add_variable("VISIBLE", "v/c=0,1 : v/d=all"));
  CHECK(requests.devices() == std::vector<cdi::RequestedDevice>{
                                  {"v/c=a", RequestOrigin::field, ""},
                                  {"v/c=b", RequestOrigin::annotation, "cdi.k8s.io/p"},
                                  {"v/c=c", RequestOrigin::annotation, "nvidia.cdi.k8s.io/q"},
                                  {"v/c=0", RequestOrigin::variable, "VISIBLE"},
                                  {"v/c=1", RequestOrigin::variable, "VISIBLE"},
                                  {"v/d=all", RequestOrigin::variable, "VISIBLE"},
                              });
}

TEST_CASE("A variable drops repeated names under all rules, and names itself in errors") {
  cdi::Requests requests{RequestRules::cri_o};
  requests.add_field(Texts{"v/c=1"});
  REQUIRE(requests.add_variable("VISIBLE", "v/c=1,0,0"));
  CHECK(names_of(requests) == Texts{"v/c=1", "v/c=0"});
  const auto done = requests.add_variable("VISIBLE", "v/d=2:all");
  REQUIRE_FALSE(done);
  CHECK(done.error().message.starts_with("VISIBLE: selector \"all\" has no ="));
  CHECK(requests.devices().size() == 2);
}

TEST_CASE("Annotations are read from any map of text, and from JSON") {
  const Texts expected{"v/c=a", "v/c=b"};
  const auto check = [&](const auto& annotations) {
    cdi::Requests requests;
    REQUIRE(requests.add_annotations(annotations));
    CHECK(names_of(requests) == expected);
  };
  cdi::oci::Spec spec;
  spec.annotations = {{"cdi.k8s.io/x", "v/c=a,v/c=b"}, {"other", "x"}};
  check(spec.annotations);
  check(std::unordered_map<std::string, std::string>{{"cdi.k8s.io/x", "v/c=a,v/c=b"}});
  check(std::map<std::string_view, std::string_view>{{"cdi.k8s.io/x", "v/c=a,v/c=b"},
                                                     {"cdi.k8s.io/y", {}}});
  check(nlohmann::json{{"cdi.k8s.io/x", "v/c=a,v/c=b"}, {"other", 1}});
  check(nlohmann::ordered_json{{"cdi.k8s.io/y", "v/c=b"}, {"cdi.k8s.io/x", "v/c=a"}});
}

TEST_CASE("JSON of a wrong kind is an error with its place; null is not") {
  cdi::Requests requests;
  CHECK(requests.add_annotations(nlohmann::json{}));
  const auto list = requests.add_annotations(nlohmann::json::array());
  REQUIRE_FALSE(list);
  CHECK(list.error().code == cdi::Errc::schema);
  CHECK(to_string(list.error()) == "annotations: expected an object");
  const auto number = requests.add_annotations(nlohmann::json{{"cdi.k8s.io/x", 1}});
  REQUIRE_FALSE(number);
  CHECK(to_string(number.error()) == "annotations.cdi.k8s.io/x: expected a string");
  CHECK(requests.devices().empty());
}

TEST_CASE("Many names are gathered in time that does not grow with their square") {
  std::string value;
  for (int i = 100'000; i > 0; --i) value += "v/c=d" + std::to_string(i) + ",";
  value += "v/c=d1";
  cdi::Requests requests;
  REQUIRE(requests.add_annotations(Map{{"cdi.k8s.io/x", value}}));
  CHECK(requests.devices().size() == 100'000);
  CHECK(requests.devices().front().name == "v/c=d100000");
}

TEST_CASE("A long key or kind that each name would repeat does not fill the memory") {
  const std::string key = "cdi.k8s.io/" + std::string(100'000, 'k');
  std::string value = "v/c=d0";
  for (int i = 1; i < 1000; ++i) value += ",v/c=d" + std::to_string(i);
  cdi::Requests requests;
  const auto refused = requests.add_annotations(Map{{key, value}});  // 107 kB, as 100 MB
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == cdi::Errc::limit);
  CHECK(requests.devices().empty());
  CHECK(requests.add_annotations(Map{{key, value.substr(0, value.find(",v/c=d100,"))}}));

  std::string most;
  for (int i = 0; i < 65'536; ++i) most += i == 0 ? "v/c=d" : ",v/c=d";
  const std::string wide = "cdi.k8s.io/" + std::string(65'525, 'k');  // 2^32 bytes for all names
  CHECK_FALSE(requests.add_annotations(Map{{wide, most}}));

  const std::string kind = "v/" + std::string(10'000, 'c');
  std::string selector = kind + "=0";
  for (int i = 1; i < 1000; ++i) selector += "," + std::to_string(i);
  CHECK(cdi::parse_selector(selector));
  const auto selected = cdi::parse_selector(selector + ":" + selector);  // 28 kB, as 20 MB
  REQUIRE_FALSE(selected);
  CHECK(selected.error().code == cdi::Errc::limit);
}

TEST_CASE("Each origin has a name") {
  CHECK(cdi::request_origin_name(RequestOrigin::field) == "field");
  CHECK(cdi::request_origin_name(RequestOrigin::annotation) == "annotation");
  CHECK(cdi::request_origin_name(RequestOrigin::variable) == "variable");
  CHECK(cdi::request_origin_name(RequestOrigin::command_line) == "commandLine");
}

TEST_CASE("A selector gives the names of its devices in order") {
  CHECK(cdi::visible_devices_variable == "VISIBLE_CDI_DEVICES");
  const struct {
    std::string_view text;
    Texts names;
  } rows[] = {
      {"", {}},
      {"none", {}},
      {"void", {}},
      {" \tvoid ", {}},
      {"v.com/gpu=all", {"v.com/gpu=all"}},
      {"v.com/gpu=0", {"v.com/gpu=0"}},
      {" v.com/gpu = 3 ,1 : v.com/ib=all ", {"v.com/gpu=3", "v.com/gpu=1", "v.com/ib=all"}},
      {"v.com/gpu=4294967295", {"v.com/gpu=4294967295"}},
      {"v.com/gpu=007,+1,+00,00000000000",
       {"v.com/gpu=7", "v.com/gpu=1", "v.com/gpu=0", "v.com/gpu=0"}},
      {"v.com/gpu=0:v.com/gpu=0", {"v.com/gpu=0", "v.com/gpu=0"}},
  };
  for (const auto& row : rows) {
    CAPTURE(row.text);
    const auto names = cdi::parse_selector(row.text);
    REQUIRE(names);
    CHECK(*names == row.names);
  }
}

TEST_CASE("What is not a selector is refused with a reason") {
  const struct {
    std::string_view text;
    cdi::Errc code;
    std::string_view reason;
  } rows[] = {
      {"all", cdi::Errc::invalid, "has no ="},
      {"0,1", cdi::Errc::invalid, "has no ="},
      {"None", cdi::Errc::invalid, "has no ="},
      {"=all", cdi::Errc::invalid_name, "has no slash"},
      {"gpu=all", cdi::Errc::invalid_name, "has no slash"},
      {"0v/gpu=1", cdi::Errc::invalid_name, "must begin with a letter"},
      {"v.com/gpu=", cdi::Errc::invalid, "empty device"},
      {"v.com/gpu=0,,1", cdi::Errc::invalid, "empty device"},
      {"v.com/gpu=0,", cdi::Errc::invalid, "empty device"},
      {"v.com/gpu=0:", cdi::Errc::invalid, "has no ="},
      {":v.com/gpu=0", cdi::Errc::invalid, "has no ="},
      {"v.com/gpu=all,0", cdi::Errc::invalid, "combines all with other"},
      {"v.com/gpu=0,all", cdi::Errc::invalid, "combines all with other"},
      {"v.com/gpu=all,all", cdi::Errc::invalid, "combines all with other"},
      {"v.com/gpu=all : v.com/ib=0,all", cdi::Errc::invalid, "combines all with other"},
      {"v.com/gpu=-1", cdi::Errc::invalid, "neither all nor an index"},
      {"v.com/gpu=+", cdi::Errc::invalid, "neither all nor an index"},
      {"v.com/gpu=++1", cdi::Errc::invalid, "neither all nor an index"},
      {"v.com/gpu=+-1", cdi::Errc::invalid, "neither all nor an index"},
      {"v.com/gpu=+ 1", cdi::Errc::invalid, "neither all nor an index"},
      {"v.com/gpu=+all", cdi::Errc::invalid, "neither all nor an index"},
      {"v.com/gpu=1 2", cdi::Errc::invalid, "neither all nor an index"},
      {"v.com/gpu=ALL", cdi::Errc::invalid, "neither all nor an index"},
      {"v.com/gpu=4294967296", cdi::Errc::invalid, "neither all nor an index"},
      {"v.com/gpu=0=1", cdi::Errc::invalid, "neither all nor an index"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.text);
    const auto names = cdi::parse_selector(row.text);
    REQUIRE_FALSE(names);
    CHECK(names.error().code == row.code);
    CHECK(names.error().message.find(row.reason) != std::string::npos);
  }
}

TEST_CASE("A name in two fields counts twice for CRI-O, and once for others") {
  for (const auto rules : {RequestRules::cri_o, RequestRules::each_once}) {
    cdi::Requests requests{rules};
    requests.add_field(Texts{"v/c=a"});
    requests.add_field(Texts{"v/c=a"});
    CHECK(requests.devices().size() == (rules == RequestRules::cri_o ? 2 : 1));
  }
}

TEST_CASE("Devices that are added one by one are moved to other memory only a few times") {
  cdi::Requests requests;
  const cdi::RequestedDevice* place = nullptr;
  int moves = 0;
  for (int i = 0; i < 200; ++i) {
    requests.add_field(Texts{"v/c=" + std::to_string(i)});
    if (requests.devices().data() != place) ++moves;
    place = requests.devices().data();
  }
  CHECK(moves < 10);  // each time, there is room for twice as many
}
