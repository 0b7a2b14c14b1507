// The findings about files that engines ignore.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/prepare/doctor/ignored.hpp"

#include <doctest/doctest.h>

#include "diagnosis.hpp"

using namespace prepare;

TEST_CASE("files and directories that engines ignore are named with the remedy") {
  const Host host;
  host.put("etc/cdi/x.yml", "");
  CHECK(is_only(diagnose(host), "specs", Level::note,
                {"/etc/cdi/x.yml is ignored: its name ends neither in .json nor in .yaml",
                 "Rename it to \"x.yaml\"."}));
  host.put("etc/cdi/x.yaml.bak", "");
  host.make("etc/cdi/old");
  CHECK(about(diagnose(host), "specs").size() == 1);
  host.remove("etc/cdi/x.yml");
  host.put("run/cdi/more/y.JSON", "");
  host.link("/run/cdi", "etc/cdi/searched");
  CHECK(is_only(diagnose(host), "specs", Level::note,
                {"/run/cdi/more is ignored: subdirectories of a spec directory are not searched",
                 "Move \"y.JSON\" to \"/run/cdi\" as \"y.json\"."}));
  host.put("run/cdi/y.json", "");
  const auto advice = about(diagnose(host), "specs").back().advice;
  CHECK(advice ==
        "Move \"y.JSON\" to \"/run/cdi\" with an unused name that ends in .json or .yaml.");
}
