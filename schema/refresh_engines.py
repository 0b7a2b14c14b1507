#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Compares rows of schema/engines.json with the go.mod of versions of engines, by the `go` client.

  refresh_engines.py                      looks at the newest known version of each Go module
  refresh_engines.py MODULE@VERSION ...   looks at these versions, 40 at most
  refresh_engines.py --write ...          and writes what was found into engines.json

Each version costs one look-up of its go.mod (`go list -m`), no archive. `--vendor-mod` also fetches
the archive of versions that keep their requirements in vendor.mod (docker/docker to 28).

A row is changed only where the version asked for is the first of the row, or falls into it with the
same library. All else is printed as DIFFERS: it wants a new row, made by hand after the first
version with the new library was found by halving the versions between the two.
Exit status: 0, 1 when something differs, 2 for wrong use.
"""
import argparse
import datetime
import json
import os
import re
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
LIBRARY = ("tags.cncf.io/container-device-interface",
           "github.com/container-orchestrated-devices/container-device-interface")
ENGINES = {  # module path -> engine
    "github.com/containerd/containerd": "containerd",
    "github.com/containerd/containerd/v2": "containerd",
    "github.com/cri-o/cri-o": "cri-o",
    "github.com/containers/podman/v4": "podman",
    "github.com/containers/podman/v5": "podman",
    "go.podman.io/podman/v6": "podman",
    "github.com/containers/buildah": "buildah",
    "go.podman.io/buildah": "buildah",
    "github.com/docker/docker": "docker",
    "github.com/moby/buildkit": "buildkit",
    "github.com/containerd/nerdctl/v2": "nerdctl",
    "github.com/NVIDIA/nvidia-container-toolkit": "nvidia-container-runtime",
    "github.com/sylabs/singularity/v4": "singularity-ce",
    "github.com/apptainer/apptainer": "apptainer",
}
def default_versions(table):
    """The newest known version of each engine, by the newest of its modules."""
    newest = {}
    for row in table["rows"]:
        known = newest.get(row["engine"], row)["last_checked"]
        if number(row["last_checked"]) >= number(known):
            newest[row["engine"]] = row
    modules = {engine: module for module, engine in ENGINES.items()}  # the last one of each
    return [f"{module}@v{newest[engine]['last_checked']}" for engine, module in modules.items()]


def go(*args):
    """Runs the go client in an empty module; its standard output, or None with the reason."""
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "go.mod"), "w") as out:
            out.write("module refresh\n")
        done = subprocess.run(["go", *args], cwd=folder, capture_output=True, text=True,
                              env=dict(os.environ, GOFLAGS="-mod=mod"))
    return (done.stdout, None) if done.returncode == 0 else (None, last_line(done.stderr))


def last_line(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    # Without the address that the client asked.
    return re.sub(r"https?://\S+", "…", lines[-1]) if lines else "no reason given"


def requirements(mod_file):
    """(library, specs-go) of a go.mod or vendor.mod, after its replace directives; None each."""
    library = specs_go = None
    with open(mod_file) as lines:
        text = lines.read()
    for line in text.splitlines():
        line = line.split("//")[0]
        if "=>" in line:
            continue
        found = re.search(r"(\S+/container-device-interface)(/specs-go)?\s+v(\S+)", line)
        if not found or found[1] not in LIBRARY:
            continue
        if found[2]:
            specs_go = found[3]
        else:
            library = found[3]
    replaced = r"(\S+/container-device-interface)(/specs-go)?\s*(?:v\S+)?\s*=>\s*\S+\s+v(\S+)"
    for found in re.finditer(replaced, text):
        if found[2]:
            specs_go = found[3]
        else:
            library = found[3]
    return library, specs_go


def reads(library, specs_go, known):
    """The newest spec release of a library release. From 1.0.0 on the list of known versions is in
    the module specs-go, so that one decides; before, it is in the library."""
    decides = specs_go if specs_go and library.split(".")[0] != "0" else library
    if decides in known:
        return known[decides]
    if "-" in decides:
        return None  # a commit between two releases: look at its CurrentVersion
    major, minor = decides.split(".")[:2]
    return f"{major}.{minor}.0"


def number(text):
    return tuple(int(part) for part in re.findall(r"\d+", text)[:3])


def row_of(rows, engine, version):
    """The row whose series, and span within it, the version falls into. Distributions have none."""
    for row in rows:
        if row["engine"] != engine or not re.fullmatch(r"\d+(\.\d+)?(\.x)?", row["series"]):
            continue
        series = [int(part) for part in re.findall(r"\d+", row["series"])]
        if list(version[:len(series)]) != series or version < number(row["since"]):
            continue
        if row["until"] is None or version < number(row["until"]):
            return row
    return None


def text_of(data):
    """The JSON text of the data. A row is a line, so that a change of a row is that of a line."""
    parts = []
    for key, value in data.items():
        if isinstance(value, list):
            items = ",\n".join("  " + json.dumps(item, ensure_ascii=False) for item in value)
            parts.append(f" {json.dumps(key)}: [\n{items}\n ]")
        else:
            text = json.dumps(value, indent=1, ensure_ascii=False).replace("\n", "\n ")
            parts.append(f" {json.dumps(key)}: {text}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def requirements_of(each, vendor_mod):
    """Library and specs-go of a module version, or None with the reason."""
    text, why = go("list", "-m", "-json", each)
    if text is None:
        return None, f"not available: {why}"
    path = json.loads(text).get("GoMod")
    library, specs_go = requirements(path) if path else (None, None)
    if library is None and vendor_mod:
        text, why = go("mod", "download", "-json", each)
        path = text and os.path.join(json.loads(text)["Dir"], "vendor.mod")
        if path and os.path.exists(path):
            library, specs_go = requirements(path)
    return ((library, specs_go), None) if library else (None, "names no CDI library")


def look_at(each, options, table, known):
    """Compares a version with its row, and changes the row if asked to. Whether it differs."""
    found, why = requirements_of(each, options.vendor_mod)
    if found is None:
        print(f"{each}: {why}")
        return False
    library, specs_go = found
    module, version = each.split("@")
    version = version.lstrip("v").split("+")[0]
    engine = ENGINES.get(module, module)
    newest = reads(library, specs_go, known)
    row = row_of(table["rows"], engine, number(version))
    verdict = "no row"
    today = datetime.date.today().isoformat()
    if row and row["library"] == library:
        verdict = "as in the table"
        if options.write:
            row["checked"] = today
            if number(version) > number(row["last_checked"]):
                row["last_checked"] = version
    elif row and number(row["since"]) == number(version):
        verdict = f"DIFFERS: the table says {row['library']}"
        if options.write:
            row.update(library=library, specs_go=specs_go, reads=newest, source=f"{each} go.mod",
                       checked=today)
    elif row:
        verdict = f"DIFFERS: {row['since']} has {row['library']}; wants a row of its own"
    print(f"{engine} {version}: library {library}, specs-go {specs_go}, reads {newest}: {verdict}")
    return verdict.startswith("DIFFERS")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("versions", nargs="*", metavar="MODULE@VERSION")
    parser.add_argument("--table", default=os.path.join(HERE, "engines.json"))
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--vendor-mod", action="store_true", help="fetch archives for vendor.mod")
    options = parser.parse_args()
    with open(options.table, encoding="utf-8") as file:
        table = json.load(file)
    wanted = options.versions or default_versions(table)
    if len(wanted) > 40 or any("@" not in each for each in wanted):
        parser.error("at most 40 versions, each MODULE@VERSION")
    known = {each["library"]: each["reads"] for each in table["libraries"]}
    differs = 0
    for each in wanted:
        differs += look_at(each, options, table, known)
        time.sleep(0.3)
    if options.write:
        table["checked"] = max(row["checked"] for row in table["rows"])
        with open(options.table, "w", encoding="utf-8") as file:
            file.write(text_of(table))
    return 1 if differs else 0


if __name__ == "__main__":
    sys.exit(main())
