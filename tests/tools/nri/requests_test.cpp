// The annotations that request devices for a container.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../tools/nri/requests.hpp"

#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "../../../tools/nri/ignored_requests.hpp"

namespace {

using Texts = std::vector<std::string>;
using Annotations = std::map<std::string, std::string>;

nri::PodSandbox pod_with(const Annotations& annotations) {
  nri::PodSandbox pod;
  for (const auto& [key, value] : annotations) (*pod.mutable_annotations())[key] = value;
  return pod;
}

nri::Container container_named(const std::string& name) {
  nri::Container container;
  container.set_name(name);
  return container;
}

/// The names that a pod requests for its container `main`, or the error.
Texts requested(const Annotations& annotations, const Texts& prefixes = {}) {
  const auto devices = nri::pod_requests(pod_with(annotations), container_named("main"),
                                         nri::annotation_families(prefixes));
  if (!devices) return {to_string(devices.error())};
  Texts names;
  for (const auto& device : *devices) names.push_back(device.name);
  return names;
}

/// The keys of ignored annotations.
Texts ignored(const nri::PodSandbox& pod, const nri::Container& container,
              const nri::AnnotationFamilies& families) {
  Texts keys;
  for (const auto& one : nri::ignored_requests(pod, container, families)) keys.push_back(one.key);
  return keys;
}

}  // namespace

TEST_CASE("nri: each prefix has three forms") {
  for (const auto* prefix :
       {"cdi.k8s.io", "cdi-devices.noderesource.dev", "cdi-devices.nri.io", "nvidia.cdi.k8s.io"}) {
    CAPTURE(prefix);
    for (const auto* form : {"/container.main", "/pod", ""}) {
      CHECK(requested({{std::string{prefix} + form, "v.com/c=0"}}) == Texts{"v.com/c=0"});
    }
    CHECK(requested({{std::string{prefix} + "/container.other", "v.com/c=0"}}).empty());
    CHECK(requested({{std::string{prefix} + "/gpu", "v.com/c=0"}}).empty());
  }
  CHECK(requested({{"example.com/pod", "v.com/c=0"}}).empty());
}

TEST_CASE("nri: the form for the container precedes that for the pod, and the bare one is last") {
  const std::string prefix = "cdi-devices.noderesource.dev";
  Annotations annotations{{prefix, "v.com/c=bare"}};
  CHECK(requested(annotations) == Texts{"v.com/c=bare"});
  annotations[prefix + "/pod"] = "v.com/c=pod";
  CHECK(requested(annotations) == Texts{"v.com/c=pod"});
  annotations[prefix + "/container.main"] = "v.com/c=container";
  CHECK(requested(annotations) == Texts{"v.com/c=container"});
  annotations[prefix + "/container.main"] = "";
  CHECK(requested(annotations).empty());
}

TEST_CASE("nri: the two prefixes of the device injector are one family") {
  CHECK(requested({{"cdi-devices.noderesource.dev/pod", "v.com/c=new"},
                   {"cdi-devices.nri.io/container.main", "v.com/c=old"}}) == Texts{"v.com/c=old"});
  CHECK(requested({{"cdi-devices.noderesource.dev/pod", "v.com/c=new"},
                   {"cdi-devices.nri.io/pod", "v.com/c=old"}}) == Texts{"v.com/c=new"});
}

TEST_CASE("nri: requests of several families are joined, each name once") {
  CHECK(requested({{"cdi.k8s.io/pod", "v.com/c=0"},
                   {"cdi-devices.nri.io/pod", "v.com/c=1,v.com/c=0"},
                   {"nvidia.cdi.k8s.io/container.main", "v.com/c=2,v.com/c=1"}}) ==
        Texts{"v.com/c=0", "v.com/c=1", "v.com/c=2"});
}

TEST_CASE("nri: further prefixes are read, with or without a slash at their end") {
  CHECK(requested({{"mine.com/pod", "v.com/c=0"}}, {"mine.com/"}) == Texts{"v.com/c=0"});
  CHECK(requested({{"mine.com/pod", "v.com/c=0"}}, {"mine.com"}) == Texts{"v.com/c=0"});
}

TEST_CASE("nri: a value is a list with commas or a YAML list") {
  const std::string key = "cdi-devices.nri.io/pod";
  const Texts both{"v.com/c=0", "v.com/c=1"};
  for (const auto* value :
       {"v.com/c=0,v.com/c=1", "- v.com/c=0\n- v.com/c=1\n", "  - v.com/c=0\n  - \"v.com/c=1\"\n",
        "[v.com/c=0, v.com/c=1]", "[\"v.com/c=0\", \"v.com/c=1\"]"}) {
    CAPTURE(value);
    CHECK(requested({{key, value}}) == both);
  }
  CHECK(requested({{key, " \n"}}).empty());
  CHECK(requested({{key, "[]"}}).empty());
}

TEST_CASE("nri: a value that is not a list of names is an error with its key") {
  const std::string key = "cdi-devices.nri.io/pod";
  CHECK(requested({{key, "junk"}}) ==
        Texts{"annotation \"cdi-devices.nri.io/pod\": \"junk\" is not a qualified device name: "
              "write vendor.com/class=device"});
  for (const auto* value :
       {"- {a: b}\n", "[v.com/c=0", "[junk]", "v.com/c=0,,v.com/c=1", "# note\nv.com/c=0\n",
        "-v.com/c=0\n-v.com/c=1\n", "# note\nv.com/c=0: 1\n", "[v.com/c=0], v.com/c=1",
        "- v.com/c=0\n---\n- v.com/c=1\n"}) {
    const auto error = requested({{key, value}});
    CAPTURE(value);
    REQUIRE(error.size() == 1);
    CHECK(error[0].find(key) != std::string::npos);
  }
}

TEST_CASE("nri: a container's own annotations are those that its pod does not have") {
  auto container = container_named("main");
  (*container.mutable_annotations())["cdi.k8s.io/vendor_0"] = "v.com/c=0";
  (*container.mutable_annotations())["cdi.k8s.io/pod"] = "v.com/c=1";
  (*container.mutable_annotations())["other"] = "junk";
  const auto own = nri::container_requests(pod_with({{"cdi.k8s.io/pod", "v.com/c=1"}}), container);
  REQUIRE(own);
  REQUIRE(own->size() == 1);
  CHECK(own->front().name == "v.com/c=0");
  const auto other =
      nri::container_requests(pod_with({{"cdi.k8s.io/pod", "v.com/c=2"}}), container);
  REQUIRE(other);
  CHECK(other->size() == 2);
}

TEST_CASE("nri: pods that request nothing are known by their annotations") {
  const auto families = nri::annotation_families({});
  CHECK(nri::is_request("cdi.k8s.io/container.x", families));
  CHECK(nri::is_request("cdi-devices.nri.io", families));
  CHECK_FALSE(nri::is_request("cdi.k8s.iox/pod", families));
  CHECK_FALSE(nri::is_request("app", families));
}

TEST_CASE("nri: an annotation with more names than any container has") {
  std::string names = "v.com/c=0";
  for (int i = 1; i < 1000; ++i) names += ",v.com/c=" + std::to_string(i);
  CHECK(requested({{"cdi.k8s.io/pod", names}}).size() == 1000);
  CHECK(
      requested({{"cdi.k8s.io/pod", names + ",v.com/c=1000"}}) ==
      Texts{"annotation \"cdi.k8s.io/pod\" has more than 1000 device names: request a device that "
            "stands for all, such as vendor.com/class=all"});
}

TEST_CASE("nri: annotations that look like requests and are none") {
  const auto pod = pod_with({{"cdi-devices.nri.io/containers.main", "v.com/c=0"},
                             {"cdi-devices.nri.io/container.main", "v.com/c=0"},
                             {"cdi-devices.nri.io/pod", "v.com/c=0"},
                             {"nvidia.cdi.k8s.io", "v.com/c=0"},
                             {"mine.com/gpu", "v.com/c=0"},
                             {"cdi.k8s.io/vendor_0", "v.com/c=0"},
                             {"app", "x"}});
  auto container = container_named("main");
  const auto families = nri::annotation_families({"mine.com"});
  CHECK(ignored(pod, container, families) ==
        Texts{"cdi-devices.nri.io/containers.main", "cdi.k8s.io/vendor_0", "mine.com/gpu"});
  (*container.mutable_annotations())["cdi.k8s.io/vendor_0"] = "v.com/c=0";
  CHECK(ignored(pod, container, families) ==
        Texts{"cdi-devices.nri.io/containers.main", "mine.com/gpu"});
}

TEST_CASE("nri: a misspelt prefix before the names of devices is reported") {
  const auto families = nri::annotation_families({});
  const auto of = [&](const std::string& key, const std::string& value) {
    const auto found =
        nri::ignored_requests(pod_with({{key, value}}), container_named("main"), families);
    return found.empty() ? std::string{} : found.front().advice;
  };
  CHECK(of("cdi.k8s.oi/pod", "v.com/c=0") == "did you mean cdi.k8s.io/pod?");
  CHECK(of("cdi-k8s.io/container.main", "- v.com/c=0\n- v.com/c=1") ==
        "did you mean cdi.k8s.io/container.main?");
  CHECK(of("CDI.k8s.io", "v.com/c=0, v.com/c=1") == "did you mean cdi.k8s.io?");
  CHECK(of("nvidia.cdi.k8s.i", "v.com/c=0") == "did you mean nvidia.cdi.k8s.io?");
  CHECK(of("csi.k8s.io/pod", "volume-1").empty());
  CHECK(of("csi.k8s.io/pod", "").empty());
  CHECK(of("csi.k8s.io/pod", "v.com/c=0,b").empty());
  CHECK(of("acme.com/pod", "v.com/c=0").empty());
}

TEST_CASE("nri: the misspelt name of a container is reported, but not another container's") {
  const auto families = nri::annotation_families({});
  const auto advised = [&](const std::string& name, const std::string& container) {
    const auto found =
        nri::ignored_requests(pod_with({{"cdi.k8s.io/container." + name, "v.com/c=0"}}),
                              container_named(container), families);
    return !found.empty() &&
           found.front().advice == "did you mean cdi.k8s.io/container." + container + "?";
  };
  CHECK(advised("mian", "main"));
  CHECK(advised("trainner", "trainer"));
  for (const auto* other : {"main", "side", "worker-2", "worker2", "worker-b", "worker-12"})
    CHECK_FALSE(advised(other, "worker-1"));
  CHECK_FALSE(advised("server", "servers"));
  CHECK_FALSE(advised("servers", "server"));
  CHECK_FALSE(advised("main", "main"));
  CHECK_FALSE(advised("ab", "ac"));
  const auto both = pod_with(
      {{"cdi.k8s.io/container.mian", "v.com/c=0"}, {"cdi.k8s.io/container.main", "v.com/c=0"}});
  CHECK(nri::ignored_requests(both, container_named("main"), families).empty());
}
