// `cdi why`: prints where devices are defined, or why their names do not resolve.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "why.hpp"

#include <memory>
#include <string>

#include "../../kit/engines/engine_of_host.hpp"
#include "../why/bundle_file.hpp"
#include "../why/bundle_report.hpp"
#include "../why/host_view.hpp"
#include "../why/pod_facts.hpp"
#include "../why/pod_report.hpp"
#include "commands.hpp"

namespace {

/// Prints which devices a config contains, and whether specs and host still provide them.
ExitCode explain_bundle(const CommonOptions& common, const WhyOptions& options,
                        const Output& output) {
  const auto bundle = BundleFile::read(options.bundle);
  if (!bundle) return output.reject(bundle.error());
  if (bundle->requests_error) output.warning(*bundle->requests_error);
  const auto question = open_question(common, options);
  if (!question) return output.reject(question.error());
  const auto& host = question->host;
  const auto& dirs = question->spec_dirs;
  const auto registry =
      host ? host->scan(dirs, common.reading) : cdi::scan_spec_dirs(dirs, common.reading);
  const BundleReport report{bundle->config,          bundle->spec,
                            bundle->requests,        *registry,
                            host ? &*host : nullptr, common.dirs_named()};
  if (!output.explanation(report.text(), report.record())) return exit_failed;
  return report.holds() ? exit_done : exit_outdated;
}

/// Prints how the devices of a pod get from its claims to its containers, or where they are lost.
ExitCode explain_pod(const CommonOptions& common, const WhyOptions& options, const Output& output) {
  const auto tree = tools::HostTree::open(options.root);
  if (!tree) return output.reject(tree.error());
  const auto facts = read_pod(*tree, options);
  if (!facts) return output.reject(facts.error());
  auto with_names = options;
  with_names.names = facts->cdi_ids();
  auto question = open_question(common, with_names);
  if (!question) return output.reject(question.error());
  const auto specs = search_specs(*question);
  if (!specs) return output.reject(specs.error());
  if (facts->bundle && facts->bundle->requests_error) {
    output.warning(*facts->bundle->requests_error);
  }
  const auto answer = explain_pod(*facts, *tree, *question, *specs);
  return output.explanation(answer.text, answer.record) ? answer.code : exit_failed;
}

/// Why a name of a pod is not valid for `why --pod`; empty if it is.
std::string pod_name_error(const std::string& name) {
  const auto slash = name.find('/');
  const bool is_good = slash != std::string::npos && slash != 0 && slash + 1 != name.size() &&
                       name.find('/', slash + 1) == std::string::npos;
  return is_good ? std::string{} : cdi::quoted(name) + " is not NAMESPACE/NAME";
}

/// Rejects options that contradict each other.
void check_why_options(const WhyOptions& options, const CommonOptions& common) {
  const bool other = !options.bundle.empty() || !options.pod.empty();
  if (options.names.empty() && !other) throw CLI::RequiredError{"NAME"};
  const auto& reading = common.reading;
  if (options.engine.empty() || !(reading.quarantine_devices || reading.reject_writable)) return;
  throw CLI::ValidationError{"--for",
                             "cannot be combined with --quarantine or --refuse-writable, which "
                             "engines do not have"};
}

/// Adds the options that are about a pod.
void add_pod_options(CLI::App& app, WhyOptions& options, CLI::Option& names) {
  auto* const pod = app.add_option(
      "--pod", options.pod,
      "Instead of names: explain how the devices of a pod on this node get from its claims to its "
      "containers, or where they are lost; --bundle adds a container of the pod");
  pod->type_name("NAMESPACE/NAME")->check(pod_name_error)->excludes(&names);
  add_repeated(app, "--claim", options.claims,
               "With --pod: the ResourceClaims of the pod, as `kubectl get resourceclaims "
               "-o json` prints them; - for standard input; may be repeated")
      ->type_name("FILE")
      ->check(not_empty)
      ->needs(pod);
  app.add_option("--kubelet-dir", options.kubelet_dir, "With --pod: the directory of kubelet")
      ->type_name("DIR")
      ->capture_default_str()
      ->check(not_empty)
      ->needs(pod);
  app.add_option("--pod-logs-dir", options.logs_dir,
                 "With --pod: podLogsDir of kubelet, where the UID of the pod is found")
      ->type_name("DIR")
      ->capture_default_str()
      ->check(not_empty)
      ->needs(pod);
}

Run set_up_why(CLI::App& app, CommonOptions& common) {
  auto options = std::make_shared<WhyOptions>();
  auto* const names = add_names(app, options->names)->required(false);
  auto* const engine =
      app.add_option(
             "--for", options->engine,
             "Explain what this engine resolves: engines refuse files of newer CDI versions; "
             "podman@4.9 is podman 4.9.0, and podman is the version on this host")
          ->type_name("ENGINE[@VERSION]")
          ->transform(engine_of_word)
          ->check(tools::requested_engine_error);
  app.add_option("--bundle", options->bundle,
                 "Instead of names: explain which devices this config.json contains, and whether "
                 "specs and host still have what it needs; DIR/config.json for a directory")
      ->type_name("PATH")
      ->check(not_empty)
      ->excludes(names)
      ->excludes(engine);
  add_pod_options(app, *options, *names);
  auto* const root = app.add_option("--root", options->root,
                                    "Examine the host under DIR, and its spec directories "
                                    "unless -d selects others");
  root->type_name("DIR")->capture_default_str()->check(not_empty);
  app.add_flag("--no-host", options->no_host,
               "Do not examine the host: do not query its engines for their versions, nor check "
               "nodes, mounts and hooks")
      ->excludes(root);
  app.footer(exit_code_table("why") + why_exit_code_table());
  app.callback([options, &common] { check_why_options(*options, common); });
  return [options](const CommonOptions& given, const Output& output) {
    if (!options->pod.empty()) return explain_pod(given, *options, output);
    if (!options->bundle.empty()) return explain_bundle(given, *options, output);
    return explain_names(given, *options, output);
  };
}

}  // namespace

ExitCode explain_names(const CommonOptions& common, const WhyOptions& options,
                       const Output& output) {
  auto question = open_question(common, options);
  if (!question) return output.reject(question.error());
  const auto searched = search_specs(*question);
  if (!searched) return output.reject(searched.error());
  const auto answers = answer_names(*question, *searched);
  return output.explanation(answers.text, answers.list) ? answers.code : exit_failed;
}

constexpr Command why_command{
    "why", "Explain where devices are defined, or why their names do not resolve", set_up_why,
    "cdi why --for podman vendor.com/gpu=0"};
