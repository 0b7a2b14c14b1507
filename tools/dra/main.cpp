// `cdi-dra`: a driver for Dynamic Resource Allocation in Kubernetes.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstdio>
#include <exception>
#include <functional>
#include <string>
#include <sys/stat.h>
#include <utility>

#include <cdi/result.hpp>

#include "../gpu/vendors/nvml_library.hpp"
#include "../kit/base/release.hpp"
#include "../kit/base/result_text.hpp"
#include "../kit/completion/describing_commands.hpp"
#include "../kit/help/page.hpp"
#include "../kit/help/usage.hpp"
#include "../kit/host/standard_streams.hpp"
#include "inspect/call.hpp"
#include "inspect/node_check.hpp"
#include "inspect/pod_resources.hpp"
#include "inspect/status.hpp"
#include "manual.hpp"
#include "options.hpp"
#include "serve/serve.hpp"
#include "settings.hpp"
#include "socket_names.hpp"
#include <CLI/CLI.hpp>

namespace {

using dra::ExitCode;
using Run = std::function<int()>;

int report(const std::string& message) {
  std::fprintf(stderr, "cdi-dra: error: %s\n", message.c_str());
  return dra::exit_failed;
}
int report(const cdi::Error& error) {
  return report(to_string(error));
}

/// Prints an output. Returns the exit code, or another one if printing fails.
int finish(const std::string& output, ExitCode code) {
  return tools::print_text(output) ? int{code} : report("cannot write to standard output");
}

void add_serve(CLI::App& app, dra::Settings& settings, Run& chosen, tools::Describe describe) {
  auto& command = *app.add_subcommand("serve", "Prepare the claims that the kubelet names");
  dra::add_driver(command, settings);
  command.add_option("--node", settings.node, "The name of this node, and of its pool")
      ->type_name("NAME")
      ->required()
      ->check(dra::node_fault);
  auto* const claims =
      command
          .add_option("--claims", settings.claims,
                      "Folder with ResourceClaims as JSON files, in the place of an API server")
          ->type_name("DIR")
          ->check(CLI::ExistingDirectory);
  command
      .add_option("--kubeconfig", settings.kubeconfig,
                  "How to reach the API server (default: as a pod in its cluster)")
      ->type_name("FILE")
      ->check(CLI::ExistingFile)
      ->excludes(claims);
  dra::add_device_plugin(command, settings);
  dra::add_places(command, settings, "The form of the log");
  dra::add_survey(command, settings.host);
  dra::add_contents(command, settings.host);
  command.footer(dra::exit_code_help());
  command.callback([&] {
    chosen = [&settings] {
      const auto served = dra::serve(settings);
      return served ? int{dra::exit_done} : report(served.error());
    };
  });
  if (describe == tools::Describe::yes) {
    tools::add_example(command,
                       "cdi-dra serve --driver gpu.example.com --node node1 --claims claims");
  }
}

int show_status(dra::Settings settings, bool as_json) {
  complete(settings);
  if (const auto fault = prepare::nvml_fault(settings.host)) return report(*fault);
  const auto status = dra::read_status(settings);
  if (!status) return report(status.error());
  return finish(as_json ? tools::json_text<dra::StatusResult>(*status) : status_text(*status),
                status->is_good() ? dra::exit_done : dra::exit_failed);
}

int show_check(dra::Settings settings, bool as_json) {
  complete(settings);
  if (const auto fault = prepare::nvml_fault(settings.host)) return report(*fault);
  const auto findings = dra::check_node(settings);
  if (!findings) return report(findings.error());
  const auto text =
      as_json ? tools::json_text(dra::NodeCheckResult{.findings = prepare::shown(*findings)})
              : prepare::findings_as_text(*findings);
  return finish(text, prepare::has_fault(*findings) ? dra::exit_failed : dra::exit_done);
}

/// Adds `status` or `check`, which examine a driver and its node.
void add_look(CLI::App& app, const char* name, const char* help, dra::Settings& settings,
              Run& chosen, int (*show)(dra::Settings, bool), tools::Describe describe) {
  auto& command = *app.add_subcommand(name, help);
  dra::add_driver(command, settings);
  dra::add_places(command, settings, "The form of the output");
  dra::add_survey(command, settings.host);
  command.footer(dra::exit_code_help());
  command.callback([&settings, &chosen, show] {
    chosen = [&settings, show] {
      return show(settings, settings.output == "json");
    };
  });
  if (describe == tools::Describe::yes) {
    tools::add_example(command, std::string{"cdi-dra "} + name + " --driver gpu.example.com");
  }
}

int show_pod_resources(const dra::Settings& settings) {
  const auto socket = settings.kubelet_dir + "/pod-resources/kubelet.sock";
  const auto listed = dra::pod_resources(socket);
  if (!listed) return report(listed.error());
  return finish(tools::json_text(*listed), dra::exit_done);
}

void add_pod_resources(CLI::App& app, dra::Settings& settings, Run& chosen,
                       tools::Describe describe) {
  auto& command = *app.add_subcommand(
      "pod-resources", "Print the devices of pods that the kubelet lists, as JSON for cdi-pod");
  dra::add_kubelet_dir(command, settings);
  command.footer(dra::exit_code_help());
  command.callback([&settings, &chosen] {
    chosen = [&settings] {
      return show_pod_resources(settings);
    };
  });
  if (describe == tools::Describe::yes) {
    tools::add_example(command, "cdi-dra pod-resources | cdi-pod podresources");
  }
}

/// The action of `call`, and its claims.
struct CallOptions {
  std::string what{};
  std::string file{};
};

int call(dra::Settings settings, const CallOptions& own) {
  complete(settings);
  const auto sockets = dra::socket_names(settings.kubelet_dir, settings.driver, settings.instance);
  if (!sockets) return report(sockets.error());
  const auto answer = dra::call_driver(own.what, *sockets, settings.driver, own.file);
  if (!answer) return report(answer.error());
  return finish(tools::json_text(*answer), answer->is_good() ? dra::exit_done : dra::exit_failed);
}

void add_call(CLI::App& app, dra::Settings& settings, Run& chosen, tools::Describe describe) {
  auto& command =
      *app.add_subcommand("call", "Call a driver in the place of the kubelet, to try it");
  const auto own = std::make_shared<CallOptions>();
  command.add_option("WHAT", own->what, "What the driver does with the claims")
      ->required()
      ->check(CLI::IsMember({"prepare", "unprepare"}));
  command.add_option("FILE", own->file, "JSON of a ResourceClaim, or of a list of them")
      ->required();
  dra::add_driver(command, settings);
  command.footer(dra::exit_code_help());
  command.callback([&settings, &chosen, own] {
    chosen = [&settings, own] {
      return call(settings, *own);
    };
  });
  if (describe == tools::Describe::yes) {
    tools::add_example(command, "cdi-dra call prepare claim.json --driver gpu.example.com");
  }
}

int report_usage(const CLI::App& app, const CLI::ParseError& error) {
  if (tools::is_answer(error)) return finish(tools::usage_answer(app, error), dra::exit_done);
  report(tools::usage_error(app, error));
  return dra::exit_usage;
}

int run(int argc, char** argv, tools::Describe describe) {
  CLI::App app{"A driver for Dynamic Resource Allocation: prepares ResourceClaims by CDI.",
               "cdi-dra"};
  app.set_version_flag("--version", "cdi-dra " + tools::release_version());
  app.footer(dra::exit_code_help());
  app.require_subcommand(1);
  dra::Settings settings;
  Run command;
  add_serve(app, settings, command, describe);
  add_look(app, "status", "Show the sockets, claims and specs of a driver", settings, command,
           show_status, describe);
  app.get_subcommand("status")->add_flag(
      "--sockets", settings.only_sockets,
      "Look at the sockets only, as a probe of the driver's pod does");
  add_look(app, "check", "Check whether kubelet, engine and driver fit together", settings, command,
           show_check, describe);
  add_call(app, settings, command, describe);
  add_pod_resources(app, settings, command, describe);
  if (describe == tools::Describe::yes) {
    tools::add_describing_commands(app, dra::dra_manual(), [&command](const std::string& text) {
      command = [text] {
        return finish(text, dra::exit_done);
      };
    });
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (describe == tools::Describe::no) return run(argc, argv, tools::Describe::yes);
    return report_usage(app, error);
  }
  return command();
}

}  // namespace

int main(int argc, char** argv) {
  tools::reserve_standard_streams();
  ::umask(022);  // everything it creates has an explicit mode, directories from the first moment
  prepare::answer_nvml(argc, argv);
  try {
    return run(argc, argv, tools::Describe::no);
  } catch (const std::exception& error) {
    return report(error.what());
  }
}
