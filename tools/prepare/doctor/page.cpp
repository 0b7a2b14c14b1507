// The result of `doctor` as a static HTML page.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "page.hpp"

#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "../../gpu/base/one_line.hpp"
#include "../../kit/base/release.hpp"

namespace prepare::doctor {

namespace {

/// A text in HTML: valid UTF-8, with HTML's special characters escaped, and without characters that
/// HTML forbids or that disguise a text.
std::string escape_html(std::string_view text) {
  std::string out;
  for (const char c : one_line(text)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
  return out;
}

constexpr std::string_view page_style = R"(
:root { color-scheme: light dark; --line: #bbb; --soft: #f3f3f3; --good: #176d2d; --note: #7a5200;
  --fault: #a8071a; }
@media (prefers-color-scheme: dark) {
  :root { --line: #555; --soft: #222; --good: #6fcf85; --note: #e2b04a; --fault: #ff8f8f; }
}
body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; }
th, td { border: 1px solid var(--line); padding: .3rem .5rem; text-align: left;
  vertical-align: top; overflow-wrap: anywhere; }
th { background: var(--soft); white-space: nowrap; }
code { font-family: ui-monospace, monospace; font-size: .9em; }
.good { color: var(--good); } .note { color: var(--note); } .fault { color: var(--fault); }
td.good, td.note, td.fault { font-weight: bold; }
.whole { white-space: nowrap; }
p.advice { margin: .3rem 0 0; }
)";

/// The rows of findings; those that need a fix come first.
std::string findings_html(const std::vector<ShownFinding>& findings) {
  std::string out;
  for (const auto* level : {"fault", "note", "good"}) {
    for (const auto& finding : findings) {
      if (finding.level != level) continue;
      const auto advice = escape_html(finding.advice.value_or(""));
      out += fmt::format("<tr><td class=\"{0}\">{0}</td><td>{1}</td><td>{2}{3}</td></tr>\n", level,
                         escape_html(finding.about), escape_html(finding.what),
                         advice.empty() ? "" : "<p class=\"advice\">Advice: " + advice + "</p>");
    }
  }
  return out;
}

/// Paths, one below the other.
std::string paths_html(const Texts& paths) {
  std::string out;
  for (const auto& path : paths) {
    if (!out.empty()) out += "<br>";
    out += "<code>" + escape_html(path) + "</code>";
  }
  return out;
}

/// The paths of a list of nodes or files.
std::string paths_html(const auto& list, auto path) {
  Texts paths;
  for (const auto& one : list) paths.push_back(one.*path);
  return paths_html(paths);
}

/// Whether a device can be used, as the class and text of a cell.
std::string state_html(const std::optional<std::string>& left_out, bool is_divided) {
  if (left_out) return "<td class=\"note\">" + escape_html(*left_out) + "</td>";
  if (is_divided) return "<td>divided into the devices below</td>";
  return "<td class=\"good\">can be used</td>";
}

/// The row of a GPU, or of a partition, which has no place of its own.
std::string row_html(const auto& device, std::string_view model_or_size, std::string_view place,
                     std::string_view driver, bool is_divided) {
  return fmt::format(
      "<tr><td><code>{}</code></td><td>{}</td><td class=\"whole\">{}</td><td>{}</td><td>{}</td>{}"
      "</tr>\n",
      escape_html(device.name), escape_html(model_or_size), escape_html(place), escape_html(driver),
      paths_html(device.nodes, &ShownNode::path), state_html(device.left_out, is_divided));
}

/// The devices and files of a kind.
std::string kind_html(const ShownKind& kind) {
  auto out = fmt::format("<h2>{}</h2>\n<p>Driver version: {}</p>\n", escape_html(kind.kind),
                         escape_html(kind.driver_version.value_or("unknown")));
  out +=
      "<table>\n<tr><th>Device</th><th>Model or size</th><th>PCI address</th><th>Driver</th>"
      "<th>Nodes</th><th>State</th></tr>\n";
  for (const auto& gpu : kind.gpus) {
    out += row_html(gpu, gpu.model.value_or(""), gpu.pci_address.value_or(""),
                    gpu.driver.value_or(""), !gpu.partitions.empty());
    for (const auto& part : gpu.partitions) {
      out += row_html(part, part.size.value_or(""), "", "", false);
    }
  }
  out += "</table>\n";
  const auto shared = paths_html(kind.control_nodes, &ShownNode::path);
  if (!shared.empty()) out += "<p>Nodes of all containers:<br>" + shared + "</p>\n";
  if (kind.files.empty()) return out;
  return out +
         fmt::format("<details><summary>{} files of the driver</summary>\n<p>{}</p></details>\n",
                     kind.files.size(), paths_html(kind.files, &DriverFile::host_path));
}

/// The engines of the host, and the CDI versions that they read.
std::string engines_html(const std::vector<ShownEngine>& engines) {
  if (engines.empty()) return "<p>No container engine was found.</p>\n";
  std::string out =
      "<table>\n<tr><th>Engine</th><th>Version</th><th>CDI</th><th>Reads CDI up to</th>"
      "<th>Spec directories</th></tr>\n";
  for (const auto& engine : engines) {
    out +=
        fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                    escape_html(engine.name), escape_html(engine.version.value_or("")), engine.cdi,
                    escape_html(engine.reads.value_or("")), paths_html(engine.spec_dirs));
  }
  return out + "</table>\n";
}

}  // namespace

}  // namespace prepare::doctor

namespace prepare {

std::string diagnosis_page(const DoctorResult& result) {
  auto out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n"
      "<title>cdi-prepare doctor</title>\n<style>{}</style>\n</head>\n<body>\n"
      "<h1>cdi-prepare doctor</h1>\n<p>What cdi-prepare {} found on this host.</p>\n",
      doctor::page_style, tools::release_version());
  out +=
      "<h2>Findings</h2>\n<table>\n"
      "<tr><th>Level</th><th>About</th><th>Finding</th></tr>\n";
  out += doctor::findings_html(result.findings) + "</table>\n<h2>Engines</h2>\n";
  out += doctor::engines_html(result.engines);
  for (const auto& kind : result.vendors) out += doctor::kind_html(kind);
  return out + "</body>\n</html>\n";
}

}  // namespace prepare
