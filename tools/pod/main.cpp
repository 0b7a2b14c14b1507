// `cdi-pod`: shows what the systems around a pod do with its devices and its size.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include <cdi/result.hpp>

#include "../kit/base/options.hpp"
#include "../kit/base/release.hpp"
#include "../kit/completion/describing_commands.hpp"
#include "../kit/help/page.hpp"
#include "../kit/help/usage.hpp"
#include "../kit/host/standard_streams.hpp"
#include "answer.hpp"
#include "guest.hpp"
#include "inner.hpp"
#include "input.hpp"
#include "instance.hpp"
#include "kubelet_devices.hpp"
#include "manual.hpp"
#include "peerpod.hpp"
#include "requests.hpp"
#include "size.hpp"
#include "slices.hpp"
#include "strategy.hpp"
#include <CLI/CLI.hpp>

namespace {

using pod::ExitCode;

/// The options of all commands.
struct CommandLine {
  pod::RequestsOptions requests{};
  std::string cdi = "on";
  std::string visible{};
  std::string inner_runtime = "rs";
  pod::GuestOptions guest{};
  pod::PeerpodOptions peerpod{};
  bool compatible = false;
  pod::SizeOptions size{};
  pod::SlicesOptions slices{};
  pod::PodResourcesOptions podresources{};
  std::function<void()> command{};
};

using tools::not_empty;

void print_warnings(const std::vector<std::string>& warnings) {
  for (const auto& warning : warnings) pod::print_message("warning", warning);
}

void print_result(std::string_view text) {
  if (!tools::print_text(text)) throw pod::Rejection{"cannot write to standard output"};
}

void print(const pod::Answer& answer) {
  print_warnings(answer.warnings);
  pod::Json result{{"version", 1}};  // of the form of answers
  result.update(answer.value);
  print_result(result.dump(2, ' ', true, pod::Json::error_handler_t::replace) + "\n");
}

void print(const pod::GuestAnswer& answer) {
  print_warnings(answer.warnings);
  print_result(answer.config);
}

/// Adds the argument for the file with the input of a command.
std::shared_ptr<std::string> add_input(CLI::App& app) {
  auto file = std::make_shared<std::string>("-");
  app.add_option("FILE", *file, "The input, JSON or YAML; - for standard input")
      ->capture_default_str()
      ->check(not_empty);
  return file;
}

/// Adds a command that answers a question about its input.
template <class Answer>
CLI::App& add_question(CLI::App& app, CommandLine& line, const char* name, const char* help,
                       Answer answer) {
  auto* const sub = app.add_subcommand(name, help);
  sub->callback([&line, answer, file = add_input(*sub)] {
    line.command = [answer, file] {
      const auto input = pod::read_object(*file);
      print(answer(input.root()));
    };
  });
  return *sub;
}

void add_requests(CLI::App& app, CommandLine& line) {
  auto& sub = add_question(app, line, "requests", "The devices that a container runtime injects",
                           [&line](const pod::Member& input) {
                             line.requests.cdi = line.cdi == "on";
                             return pod::answer_requests(input, line.requests);
                           });
  sub.add_option("--runtime", line.requests.runtime, "The container runtime")
      ->required()
      ->check(CLI::IsMember({"containerd", "crio"}));
  tools::add_repeated(sub, "--prefix", line.requests.prefixes,
                      "Also read annotations whose keys begin with PREFIX, such as "
                      "nvidia.cdi.k8s.io/, as NVIDIA's runtime can; may be repeated")
      ->type_name("PREFIX")
      ->check(not_empty);
  sub.add_option("--cdi", line.cdi, "enable_cdi of containerd")
      ->capture_default_str()
      ->check(CLI::IsMember({"on", "off"}));
  sub.add_flag("-v,--verbose", line.requests.origins, "Also print where each name comes from");
  tools::add_example(sub,
                     "echo '{\"cri\": [\"v.com/c=0\"], \"annotations\": {\"cdi.k8s.io/x\": "
                     "\"v.com/c=0,v.com/c=1\"}}' |\n"
                     "    cdi-pod requests --runtime containerd");
}

void add_visible(CLI::App& app, CommandLine& line) {
  auto* const sub =
      app.add_subcommand("visible", "The devices that a VISIBLE_CDI_DEVICES value selects");
  sub->add_option("VALUE", line.visible, "The value; no input is read")->required();
  sub->callback([&line] {
    line.command = [&line] {
      print(pod::answer_visible(line.visible));
    };
  });
  tools::add_example(*sub, "cdi-pod visible 'nvidia.com/gpu=all : nvidia.com/ib=0,1'");
}

void add_inner(CLI::App& app, CommandLine& line) {
  auto& sub = add_question(app, line, "inner",
                           "The annotations that Kata gives to the guest for VFIO devices",
                           [&line](const pod::Member& input) {
                             return pod::answer_inner(input, line.inner_runtime == "go");
                           });
  sub.add_option("--runtime", line.inner_runtime, "The runtime of Kata: runtime-rs or runtime-go")
      ->capture_default_str()
      ->check(CLI::IsMember({"rs", "go"}));
  tools::add_example(
      sub,
      "echo '{\"devices\": [{\"vendorId\": \"0x10de\", \"classId\": \"0x030200\",\n"
      "    \"options\": [\"0000:41:00.0=01/00\"], \"containerPath\": \"/dev/vfio/12\"}]}' |\n"
      "    cdi-pod inner --runtime rs");
}

void add_guest(CLI::App& app, CommandLine& line) {
  auto& guest = line.guest;
  auto* const sub = app.add_subcommand(
      "guest", "Injects devices into a config.json as the Kata agent does, and prints it");
  sub->add_option("CONFIG", guest.config, "The config.json, or - for standard input")
      ->required()
      ->check(not_empty);
  tools::add_repeated(*sub, "--spec-dir", guest.spec_dirs,
                      "Read specs from DIR; may be repeated, the last has the highest priority")
      ->type_name("DIR")
      ->check(not_empty)
      ->capture_default_str();
  constexpr int max_seconds = 1'000'000;
  sub->add_option("--timeout", guest.timeout, "Wait at most SECONDS for specs")
      ->type_name("SECONDS")
      ->capture_default_str()
      ->check(CLI::Range(0, max_seconds));
  sub->add_flag("--visible", guest.visible,
                "Also inject the devices of VISIBLE_CDI_DEVICES, as with "
                "agent.visible_cdi_devices, which Kata has off by default");
  sub->add_flag("--compatible", guest.compatible,
                "Check once a second, fail on any bad file, and inject repeated names again, as "
                "the agent does");
  sub->callback([&line] {
    line.command = [&line] {
      print(pod::answer_guest(line.guest));
    };
  });
  tools::add_example(*sub, "cdi-pod guest config.json --spec-dir /var/run/cdi --timeout 100");
}

/// Why a word is not `CLASS=RESOURCE`; empty if it is.
std::string class_error(const std::string& word) {
  const auto equals = word.find('=');
  const bool good = equals != std::string::npos && equals != 0 && equals + 1 != word.size();
  return good ? std::string{} : cdi::quoted(word) + " is not CLASS=RESOURCE";
}

void add_peerpod(CLI::App& app, CommandLine& line) {
  auto& sub = add_question(
      app, line, "peerpod", "The annotations that cloud-api-adaptor writes for a pod",
      [&line](const pod::Member& input) { return pod::answer_peerpod(input, line.peerpod); });
  sub.add_option("--runtime-class", line.peerpod.runtime_class,
                 "TARGET_RUNTIMECLASS of the webhook")
      ->type_name("NAME")
      ->capture_default_str();
  sub.add_flag("--defaults", line.peerpod.set_defaults,
               "First set requests from limits, as the API server does");
  tools::add_repeated(sub, "--claim", line.peerpod.claims,
                      "Also read FILE with ResourceClaims, and DeviceClasses; may be "
                      "repeated")
      ->type_name("FILE")
      ->check(not_empty);
  tools::add_repeated(sub, "--class", line.peerpod.classes,
                      "The resource for which a DeviceClass stands, as extendedResourceName does; "
                      "may be repeated")
      ->type_name("CLASS=RESOURCE")
      ->check(class_error);
  sub.add_option("--types", line.peerpod.types,
                 "Choose an instance type from FILE, which has types as the input of instance")
      ->type_name("FILE")
      ->check(not_empty);
  tools::add_example(sub,
                     "kubectl get resourceclaims -o json > claims.json\n"
                     "  kubectl get pod p -o json | jq '{pod: .}' |\n"
                     "    cdi-pod peerpod --claim claims.json --types types.json");
}

void add_instance(CLI::App& app, CommandLine& line) {
  auto& sub = add_question(
      app, line, "instance", "The cloud instance type that fits a request",
      [&line](const pod::Member& input) { return pod::answer_instance(input, line.compatible); });
  sub.add_flag("--compatible", line.compatible,
               "Search as cloud-api-adaptor does, which misses types that fit");
  sub.footer(
      "The input may also have validTypes, a list of names, and default, a name; the request may "
      "have gpus and machineType.\n\n" +
      pod::exit_code_help());
  tools::add_example(
      sub,
      "echo '{\"types\": [{\"name\": \"small\", \"vcpus\": 2, \"memoryMiB\": 4096, \"gpus\": "
      "0}],\n"
      "    \"request\": {\"vcpus\": 1, \"memoryMiB\": 2048}}' | cdi-pod instance");
}

void add_slices(CLI::App& app, CommandLine& line) {
  auto* const sub = app.add_subcommand(
      "slices", "ResourceSlices whose devices are the instance types of a cloud");
  sub->callback([&line, file = add_input(*sub)] {
    line.command = [&line, file] {
      const auto input = pod::read_object(*file);
      const auto slices = pod::answer_slices(input.root(), line.slices);
      print_result(slices.dump(2, ' ', true, pod::Json::error_handler_t::replace) + "\n");
    };
  });
  sub->add_option("--pool", line.slices.pool, "The name of the pool")
      ->type_name("NAME")
      ->capture_default_str()
      ->check(not_empty);
  constexpr int max_generation = 1'000'000'000;
  sub->add_option("--generation", line.slices.generation,
                  "The generation of the pool; a larger one replaces all older slices")
      ->type_name("NUMBER")
      ->capture_default_str()
      ->check(CLI::Range(1, max_generation));
  tools::add_example(*sub,
                     "echo '{\"types\": [{\"name\": \"g5.xlarge\", \"vcpus\": 4, \"memoryMiB\": "
                     "16384,\n    \"gpus\": 1}]}' | cdi-pod slices | kubectl apply -f -");
}

void add_podresources(CLI::App& app, CommandLine& line) {
  auto& options = line.podresources;
  auto& sub = add_question(
      app, line, "podresources", "The CDI devices in an answer of kubelet's PodResources service",
      [&options](const pod::Member& input) { return pod::answer_podresources(input, options); });
  sub.add_option("--pod", options.pod, "Only this pod")->type_name("NAMESPACE/NAME");
  sub.add_option("--container", options.container, "Only containers of this name")
      ->type_name("NAME");
  sub.add_flag("--plugins-only", options.plugins_only,
               "Leave out the devices of ResourceClaims, as Kata does");
  sub.add_flag("-v,--verbose", options.origins, "Also print where each name comes from");
  tools::add_example(
      sub,
      "echo '{\"podResources\": [{\"name\": \"p\", \"containers\": [{\"devices\": [\n"
      "    {\"resourceName\": \"nvidia.com/pgpu\", \"deviceIds\": [\"0\"]}]}]}]}' |\n"
      "    cdi-pod podresources");
}

void add_size(CLI::App& app, CommandLine& line) {
  auto& size = line.size;
  auto& sub =
      add_question(app, line, "size", "The vCPUs and MiB of the VM that Kata boots",
                   [&size](const pod::Member& input) { return pod::answer_size(input, size); });
  sub.add_option("--formula", size.formula, "Who computes the size")
      ->required()
      ->check(CLI::IsMember({"rfc", "runtime-go", "runtime-rs"}));
  std::vector<std::string> names;
  for (const auto& row : pod::profiles) names.emplace_back(row.name);
  sub.add_option("--profile", size.profile, "The configuration of Kata")
      ->capture_default_str()
      ->check(CLI::IsMember(names));
  sub.add_option("--engine", size.engine, "The runtime that starts Kata for a pod")
      ->capture_default_str()
      ->check(CLI::IsMember({"containerd", "crio"}));
  sub.add_flag("--static-cpu-manager", size.static_cpu_manager,
               "kubelet gives whole CPUs to containers of Guaranteed pods");
  sub.add_flag("-v,--verbose", size.verbose, "Also print each term of the sums");
  tools::add_example(
      sub,
      "echo '{\"annotations\": {\"io.kubernetes.cri.sandbox-cpu-period\": \"100000\",\n"
      "    \"io.kubernetes.cri.sandbox-cpu-quota\": \"220000\"}}' |\n"
      "    cdi-pod size --formula runtime-rs --profile tee\n"
      "  kubectl get pod p -o yaml | cdi-pod size --formula runtime-go -v");
}

void add_strategy(CLI::App& app, CommandLine& line) {
  auto& sub = add_question(app, line, "strategy",
                           "What gpu-operator configures, and whether it reaches a GPU",
                           pod::answer_strategy);
  tools::add_example(
      sub,
      "echo '{\"operator\": \"25.10\", \"nodes\": [\"containerd://2.1.4\"], \"openshift\": "
      "false,\n"
      "    \"cdi\": {\"enabled\": null, \"nri\": false}, \"toolkit\": true}' | cdi-pod strategy");
}

void add_commands(CLI::App& app, CommandLine& line) {
  add_requests(app, line);
  add_visible(app, line);
  add_inner(app, line);
  add_guest(app, line);
  add_podresources(app, line);
  add_peerpod(app, line);
  add_instance(app, line);
  add_slices(app, line);
  add_size(app, line);
  add_strategy(app, line);
}

/// Prints help, the version or an error.
ExitCode report_usage(const CLI::App& app, const CLI::ParseError& error) {
  if (!tools::is_answer(error)) {
    pod::print_message("error", to_string(tools::usage_error(app, error)));
    return pod::exit_usage;
  }
  if (tools::print_text(tools::usage_answer(app, error))) return pod::exit_done;
  pod::print_message("error", "cannot write to standard output");
  return pod::exit_failed;
}

ExitCode run(int argc, char** argv, tools::Describe describe) {
  CLI::App app{
      "Shows what the systems around a pod do with its devices and its size: container runtimes, "
      "Kata, cloud-api-adaptor and gpu-operator. Reads JSON or YAML, prints JSON.",
      "cdi-pod"};
  app.set_version_flag("--version", "cdi-pod " + tools::release_version());
  app.require_subcommand(1);
  app.footer(pod::exit_code_help());
  CommandLine line;
  add_commands(app, line);
  if (describe == tools::Describe::yes) {
    tools::add_example(app, "cdi-pod visible nvidia.com/gpu=0,1");
    tools::add_describing_commands(app, pod::pod_manual(), [&line](const std::string& text) {
      line.command = [text] {
        print_result(text);
      };
    });
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (describe == tools::Describe::no) return run(argc, argv, tools::Describe::yes);
    return report_usage(app, error);
  }
  line.command();
  return pod::exit_done;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv, tools::Describe::no);
  } catch (const std::exception& error) {
    pod::print_message("error", error.what());
    return pod::exit_failed;
  }
}
