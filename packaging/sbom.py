#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Writes what a release consists of, as SPDX 2.3: sbom.py FOLDER TIME >OUT

FOLDER holds the files of the release, TIME is the commit's, in seconds. The libraries of the static
tools are those of this machine, with the versions that their headers and the compiler report.
"""
import datetime
import hashlib
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
NAME = "container-device-interface"
OURS = "Apache-2.0 OR MIT"

# Library, its licence, a header that defines its version, and the macros of the version.
LINKED = (
    ("fmt", "MIT", "fmt/core.h", ("FMT_VERSION",)),
    ("CLI11", "BSD-3-Clause", "CLI/Version.hpp", ("CLI11_VERSION",)),
    ("toml++", "MIT", "toml++/toml.h",
     ("TOML_LIB_MAJOR", "TOML_LIB_MINOR", "TOML_LIB_PATCH")),
    ("nlohmann_json", "MIT", "nlohmann/json.hpp",
     tuple(f"NLOHMANN_JSON_VERSION_{part}" for part in ("MAJOR", "MINOR", "PATCH"))),
    ("glibc", "LGPL-2.1-or-later", "features.h", ("__GLIBC__", "__GLIBC_MINOR__")),
    ("libstdc++", "GPL-3.0-or-later WITH GCC-exception-3.1", "version",
     ("__GNUC__", "__GNUC_MINOR__", "__GNUC_PATCHLEVEL__")),
)


def version_of(header, macros):
    """The version that a header's macros give."""
    text = subprocess.run(["c++", "-std=c++20", "-E", "-dM", "-x", "c++", "-"], text=True,
                          input=f"#include <{header}>\n", check=True, stdout=subprocess.PIPE).stdout
    found = []
    for macro in macros:
        value = re.search(rf"^#define {macro} (.*)$", text, re.M)
        if not value:
            sys.exit(f"sbom.py: <{header}> does not define {macro}")
        found.append(value[1].strip('"'))
    if macros == ("FMT_VERSION",):  # 90100 is 9.1.0
        number = int(found[0])
        found = [str(number // 10000), str(number // 100 % 100), str(number % 100)]
    return ".".join(found)


def package(name, version, licence, **more):
    """A package of the document."""
    spdx_id = "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)
    return {"SPDXID": spdx_id, "name": name, "versionInfo": version, "licenseConcluded": licence,
            "licenseDeclared": licence, "copyrightText": "NOASSERTION",
            "downloadLocation": "NOASSERTION", "filesAnalyzed": False, **more}


def file_package(path, version):
    """The package of a file of the release."""
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return package(path.name, version, OURS, packageFileName=path.name,
                   checksums=[{"algorithm": "SHA256", "checksumValue": digest}])


def has_static_tools(name):
    return "tools" in name


def document(folder, time):
    """The document of the files in a folder."""
    header = (ROOT / "include/cdi/version.hpp").read_text(encoding="utf-8")
    version = ".".join(re.findall(r"define CDI_VERSION_\w+ (\d+)", header))
    files = [file_package(path, version) for path in sorted(folder.iterdir()) if path.is_file()]
    linked = [package(name, version_of(header, macros), licence)
              for name, licence, header, macros in LINKED]
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", one["SPDXID"]) for one in files]
    relations += [(one["SPDXID"], "STATIC_LINK", library["SPDXID"]) for one in files
                  if has_static_tools(one["name"]) for library in linked]
    digests = "".join(one["checksums"][0]["checksumValue"] for one in files)
    created = datetime.datetime.fromtimestamp(time, datetime.timezone.utc)
    return {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"{NAME}-{version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/{NAME}-{version}-"
                             + hashlib.sha256(digests.encode()).hexdigest(),
        "creationInfo": {"created": created.strftime("%Y-%m-%dT%H:%M:%SZ"),
                         "creators": [f"Tool: {NAME}-sbom.py-{version}"]},
        "packages": files + linked,
        "relationships": [{"spdxElementId": left, "relationshipType": kind,
                           "relatedSpdxElement": right} for left, kind, right in relations],
    }


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    print(json.dumps(document(pathlib.Path(sys.argv[1]), int(sys.argv[2])), indent=2))
