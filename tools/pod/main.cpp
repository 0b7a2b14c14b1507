// `cdi-pod`: shows what the systems around a pod do with its devices and its size.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include <cdi/json.hpp>
#include <cdi/requests.hpp>

#include "../kit/base/options.hpp"
#include "../kit/base/release.hpp"
#include "../kit/completion/describing_commands.hpp"
#include "../kit/help/manual.hpp"
#include "../kit/help/page.hpp"
#include "../kit/help/terminal_text.hpp"
#include "../kit/help/usage.hpp"
#include "../kit/host/standard_streams.hpp"
#include "answer.hpp"
#include "guest.hpp"
#include "inner.hpp"
#include "input.hpp"
#include "instance.hpp"
#include "peerpod.hpp"
#include "requests.hpp"
#include "size.hpp"
#include "strategy.hpp"
#include <CLI/CLI.hpp>

namespace {

using tools::add_repeated;
using tools::not_empty;

enum ExitCode : int { exit_done = 0, exit_failed = 1, exit_usage = 2 };

constexpr const char* exit_codes =
    "Exit codes:\n"
    "  0  done\n"
    "  1  rejected; nothing is printed on standard output\n"
    "  2  wrong usage";

/// The options of all commands.
struct CommandLine {
  pod::RequestsOptions requests{};
  std::string visible{};
  std::string inner_runtime = "rs";
  pod::GuestOptions guest{};
  pod::PodResourcesOptions podresources{};
  pod::PeerpodOptions peerpod{};
  bool compatible = false;
  pod::SlicesOptions slices{};
  pod::SizeOptions size{};
};

/// Prints `cdi-pod: error: ...`, or a warning, on standard error.
void print_message(std::string_view level, std::string_view message) {
  const auto line = fmt::format("cdi-pod: {}: {}\n", level, message);
  const auto text = tools::text_for(STDERR_FILENO, line);
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
}

void print(std::string_view text, const std::vector<std::string>& warnings) {
  for (const auto& warning : warnings) print_message("warning", warning);
  if (!tools::print_text(text)) throw pod::Rejection{"cannot write to standard output"};
}

/// Adds an option that is one of several words, and required if it has no default.
void add_choice(CLI::App& app, const char* name, std::string& value, const char* help,
                const std::vector<std::string>& words) {
  auto* const option = app.add_option(name, value, help)->check(CLI::IsMember(words));
  value.empty() ? option->required() : option->capture_default_str();
}

/// Adds a command that answers a question about its input.
template <class Ask>
CLI::App& add_question(CLI::App& app, const char* name, const char* help, Ask ask) {
  auto* const sub = app.add_subcommand(name, help);
  const auto file = std::make_shared<std::string>("-");
  sub->add_option("FILE", *file, "The input, JSON or YAML; - for standard input")
      ->capture_default_str()
      ->check(not_empty);
  sub->callback([ask, file] {
    const auto input = pod::read_input(*file);
    const auto answer = ask(input);
    print(pod::value_or_throw(cdi::write_json(answer)) + "\n", answer.warnings);
  });
  return *sub;
}

void add_requests(CLI::App& app, pod::RequestsOptions& options) {
  auto& sub = add_question(app, "requests", "The devices that a container runtime injects",
                           [&](auto& input) { return answer_requests(input, options); });
  add_choice(sub, "--runtime", options.runtime, "The container runtime", {"containerd", "crio"});
  add_repeated(sub, "--prefix", options.prefixes,
               "Also read annotations whose keys begin with PREFIX, such as nvidia.cdi.k8s.io/, as "
               "NVIDIA's runtime can; may be repeated")
      ->type_name("PREFIX")
      ->check(not_empty);
  add_choice(sub, "--cdi", options.cdi, "enable_cdi of containerd", {"on", "off"});
  sub.add_flag("-v,--verbose", options.origins, "Also print where each name comes from");
  tools::add_example(sub, R"(echo '{"cri": ["v.com/c=0"], "annotations": {"cdi.k8s.io/x": )"
                          R"("v.com/c=0,v.com/c=1"}}' |
    cdi-pod requests --runtime containerd)");
}

void add_visible(CLI::App& app, std::string& value) {
  auto* const sub =
      app.add_subcommand("visible", "The devices that a VISIBLE_CDI_DEVICES value selects");
  sub->add_option("VALUE", value, "The value; no input is read")->required();
  sub->callback([&] {
    pod::Answer answer;
    answer.devices = pod::value_or_throw(cdi::parse_selector(value));
    print(pod::value_or_throw(cdi::write_json(answer)) + "\n", {});
  });
  tools::add_example(*sub, "cdi-pod visible 'nvidia.com/gpu=all : nvidia.com/ib=0,1'");
}

void add_inner(CLI::App& app, std::string& runtime) {
  auto& sub =
      add_question(app, "inner", "The annotations that Kata gives to the guest for VFIO devices",
                   [&](auto& input) { return pod::answer_inner(input, runtime == "go"); });
  add_choice(sub, "--runtime", runtime, "The runtime of Kata: runtime-rs or runtime-go",
             {"rs", "go"});
  tools::add_example(sub, R"(echo '{"devices": [{"vendorId": "0x10de", "classId": "0x030200",
    "options": ["0000:41:00.0=01/00"], "containerPath": "/dev/vfio/12"}]}' |
    cdi-pod inner --runtime rs)");
}

void add_guest(CLI::App& app, pod::GuestOptions& options) {
  auto* const sub = app.add_subcommand(
      "guest", "Injects devices into a config.json as the Kata agent does, and prints it");
  sub->add_option("CONFIG", options.config, "The config.json, or - for standard input")
      ->required()
      ->check(not_empty);
  add_repeated(*sub, "--spec-dir", options.spec_dirs,
               "Read specs from DIR; may be repeated, the last has the highest priority")
      ->type_name("DIR")
      ->check(not_empty)
      ->capture_default_str();
  sub->add_option("--timeout", options.timeout, "Wait at most SECONDS for specs")
      ->type_name("SECONDS")
      ->capture_default_str()
      ->check(CLI::Range(0, 1'000'000));
  sub->add_flag("--visible", options.visible,
                "Also inject the devices of VISIBLE_CDI_DEVICES, as with "
                "agent.visible_cdi_devices, which Kata has off by default");
  sub->add_flag("--compatible", options.compatible,
                "Check once a second, fail on any bad file, and inject repeated names again, as "
                "the agent does");
  sub->callback([&] {
    pod::Answer answer;
    const auto config = answer_guest(options, answer);
    print(config, answer.warnings);
  });
  tools::add_example(*sub, "cdi-pod guest config.json --spec-dir /var/run/cdi --timeout 100");
}

void add_podresources(CLI::App& app, pod::PodResourcesOptions& options) {
  auto& sub = add_question(app, "podresources",
                           "The CDI devices in an answer of kubelet's PodResources service",
                           [&](auto& input) { return answer_podresources(input, options); });
  sub.add_option("--pod", options.pod, "Only this pod")->type_name("NAMESPACE/NAME");
  sub.add_option("--container", options.container, "Only containers of this name")
      ->type_name("NAME");
  sub.add_flag("--plugins-only", options.plugins_only,
               "Leave out the devices of ResourceClaims, as Kata does");
  sub.add_flag("-v,--verbose", options.origins, "Also print where each name comes from");
  tools::add_example(sub, R"(echo '{"podResources": [{"name": "p", "containers": [{"devices": [
    {"resourceName": "nvidia.com/pgpu", "deviceIds": ["0"]}]}]}]}' |
    cdi-pod podresources)");
}

/// Why a word is not `CLASS=RESOURCE`; empty if it is.
std::string class_error(const std::string& word) {
  const auto equals = word.find('=');
  const bool good = equals != std::string::npos && equals != 0 && equals + 1 != word.size();
  return good ? std::string{} : cdi::quoted(word) + " is not CLASS=RESOURCE";
}

void add_peerpod(CLI::App& app, pod::PeerpodOptions& options) {
  auto& sub =
      add_question(app, "peerpod", "The annotations that cloud-api-adaptor writes for a pod",
                   [&](auto& input) { return answer_peerpod(input, options); });
  sub.add_option("--runtime-class", options.runtime_class, "TARGET_RUNTIMECLASS of the webhook")
      ->type_name("NAME")
      ->capture_default_str();
  sub.add_flag("--defaults", options.set_defaults,
               "First set requests from limits, as the API server does");
  add_repeated(sub, "--claim", options.claims,
               "Also read FILE with ResourceClaims, and DeviceClasses; may be repeated")
      ->type_name("FILE")
      ->check(not_empty);
  add_repeated(sub, "--class", options.classes,
               "The resource for which a DeviceClass stands, as extendedResourceName does; may be "
               "repeated")
      ->type_name("CLASS=RESOURCE")
      ->check(class_error);
  sub.add_option("--types", options.types,
                 "Choose an instance type from FILE, which has types as the input of instance")
      ->type_name("FILE")
      ->check(not_empty);
  tools::add_example(sub, R"(kubectl get resourceclaims -o json > claims.json
  kubectl get pod p -o json | jq '{pod: .}' |
    cdi-pod peerpod --claim claims.json --types types.json)");
}

void add_instance(CLI::App& app, bool& compatible) {
  auto& sub = add_question(app, "instance", "The cloud instance type that fits a request",
                           [&](auto& input) { return pod::answer_instance(input, compatible); });
  sub.add_flag("--compatible", compatible,
               "Search as cloud-api-adaptor does, which misses types that fit");
  sub.footer(fmt::format(
      "The input may also have validTypes, a list of names, and default, a name; the request may "
      "have gpus and machineType.\n\n{}",
      exit_codes));
  tools::add_example(
      sub, R"(echo '{"types": [{"name": "small", "vcpus": 2, "memoryMiB": 4096, "gpus": 0}],
    "request": {"vcpus": 1, "memoryMiB": 2048}}' | cdi-pod instance)");
}

void add_slices(CLI::App& app, pod::SlicesOptions& options) {
  auto& sub =
      add_question(app, "slices", "ResourceSlices whose devices are the instance types of a cloud",
                   [&](auto& input) { return answer_slices(input, options); });
  sub.add_option("--pool", options.pool, "The name of the pool")
      ->type_name("NAME")
      ->capture_default_str()
      ->check(not_empty);
  sub.add_option("--generation", options.generation,
                 "The generation of the pool; a larger one replaces all older slices")
      ->type_name("NUMBER")
      ->capture_default_str()
      ->check(CLI::Range(1, 1'000'000'000));
  tools::add_example(sub, R"(echo '{"types": [{"name": "g5.xlarge", "vcpus": 4, "memoryMiB": 16384,
    "gpus": 1}]}' | cdi-pod slices | kubectl apply -f -)");
}

void add_size(CLI::App& app, pod::SizeOptions& options) {
  auto& sub = add_question(app, "size", "The vCPUs and MiB of the VM that Kata boots",
                           [&](auto& input) { return answer_size(input, options); });
  add_choice(sub, "--formula", options.formula, "Who computes the size",
             {"rfc", "runtime-go", "runtime-rs"});
  std::vector<std::string> names;
  for (const auto& row : pod::profiles) names.emplace_back(row.name);
  add_choice(sub, "--profile", options.profile, "The configuration of Kata", names);
  add_choice(sub, "--engine", options.engine, "The runtime that starts Kata for a pod",
             {"containerd", "crio"});
  sub.add_flag("--static-cpu-manager", options.static_cpu_manager,
               "kubelet gives whole CPUs to containers of Guaranteed pods");
  sub.add_flag("-v,--verbose", options.verbose, "Also print each term of the sums");
  tools::add_example(sub,
                     R"(echo '{"annotations": {"io.kubernetes.cri.sandbox-cpu-period": "100000",
    "io.kubernetes.cri.sandbox-cpu-quota": "220000"}}' |
    cdi-pod size --formula runtime-rs --profile tee
  kubectl get pod p -o yaml | cdi-pod size --formula runtime-go -v)");
}

void add_commands(CLI::App& app, CommandLine& line) {
  add_requests(app, line.requests);
  add_visible(app, line.visible);
  add_inner(app, line.inner_runtime);
  add_guest(app, line.guest);
  add_podresources(app, line.podresources);
  add_peerpod(app, line.peerpod);
  add_instance(app, line.compatible);
  add_slices(app, line.slices);
  add_size(app, line.size);
  auto& strategy =
      add_question(app, "strategy", "What gpu-operator configures, and whether it reaches a GPU",
                   pod::answer_strategy);
  tools::add_example(strategy, R"(echo '{"operator": "25.10", "nodes": ["containerd://2.1.4"],
    "openshift": false, "cdi": {"enabled": null, "nri": false}, "toolkit": true}' |
    cdi-pod strategy)");
}

/// The parts of cdi-pod(1) that are not in the help of a command.
tools::Manual manual() {
  return {
      .section = "1",
      .summary = "show what the systems around a pod do with its devices and its size",
      .description =
          "`cdi-pod` answers questions about the devices and the size of a pod, as container "
          "runtimes, Kata Containers, cloud-api-adaptor and gpu-operator do. Most commands read "
          "JSON or YAML from a file or from standard input, and print JSON on standard output.",
      .exit_codes = exit_codes,
      .files = {{"/var/run/cdi", "The specs that `cdi-pod guest` reads, without --spec-dir"}},
      .see_also = "cdi(1), cdi-prepare(8), kubectl(1)",
  };
}

ExitCode run(int argc, char** argv, tools::Describe describe) {
  CLI::App app{
      "Shows what the systems around a pod do with its devices and its size: container runtimes, "
      "Kata, cloud-api-adaptor and gpu-operator. Reads JSON or YAML, prints JSON.",
      "cdi-pod"};
  app.set_version_flag("--version", "cdi-pod " + tools::release_version());
  app.require_subcommand(1);
  app.footer(exit_codes);
  CommandLine line;
  add_commands(app, line);
  if (describe == tools::Describe::yes) {
    tools::add_example(app, "cdi-pod visible nvidia.com/gpu=0,1");
    tools::add_describing_commands(app, manual(), [](const std::string& text) { print(text, {}); });
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (describe == tools::Describe::no) return run(argc, argv, tools::Describe::yes);
    if (!tools::is_answer(error)) {
      print_message("error", to_string(tools::usage_error(app, error)));
      return exit_usage;
    }
    print(tools::usage_answer(app, error), {});
  }
  return exit_done;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv, tools::Describe::no);
  } catch (const std::exception& error) {
    print_message("error", error.what());
    return exit_failed;
  }
}
