#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Measures what cdi-runtime adds to the start of a container.

usage: runtime_bench.py CDI_RUNTIME [--peer NVIDIA_CONTAINER_RUNTIME] [--runs N]

The real runtime is `true`, which exits at once, so that only the time before it counts, and then
runc, which only prints its version. All commands take turns. The table has the median and the least
time of N (500) runs and the median of the processor time, each with its difference from the runtime
alone. The smallest program that starts another one shows what any program in between costs. The
peer is NVIDIA's runtime in its mode `cdi`, built with `go install
github.com/NVIDIA/nvidia-container-toolkit/cmd/nvidia-container-runtime@latest`.
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import time

CONFIG = pathlib.Path(__file__).resolve().parent / "data/pod.json"
KIND = "nvidia.com/gpu"


def spec():
    """A spec as NVIDIA's tool writes it for eight GPUs: 12 kB of YAML."""
    def node(path):
        return f"    - {{path: {path}, type: c, major: 195, minor: 0}}\n"
    text = f"cdiVersion: 0.5.0\nkind: {KIND}\ndevices:\n"
    for number in [*range(8), "all"]:
        text += (f'- name: "{number}"\n  containerEdits:\n    deviceNodes:\n'
                 + node(f"/dev/nvidia{number}") + node(f"/dev/dri/card{number}"))
    text += "containerEdits:\n  env: [NVIDIA_VISIBLE_DEVICES=void]\n  deviceNodes:\n"
    text += "".join(node(f"/dev/nvidia{name}")[2:] for name in ("ctl", "-uvm", "-modeset"))
    text += "  hooks:\n"
    for name in ("create-symlinks", "update-ldcache"):
        text += (f"  - hookName: createContainer\n    path: /usr/bin/nvidia-cdi-hook\n"
                 f"    args: [nvidia-cdi-hook, {name}, --folder, /usr/lib64]\n")
    text += "  mounts:\n"
    for number in range(50):
        path = f"/usr/lib/x86_64-linux-gnu/libnvidia-{number}.so.550.54.15"
        text += (f"  - hostPath: {path}\n    containerPath: {path}\n"
                 "    options: [ro, nosuid, nodev, rbind, rprivate]\n")
    return text


def settings(place, runtime):
    """The settings of both runtimes for a real runtime; returns the environment."""
    folder = place / pathlib.Path(runtime).name
    (folder / "nvidia-container-runtime").mkdir(parents=True)
    (folder / "config.toml").write_text(
        f'runtime = "{runtime}"\nspec-dirs = ["{place}/cdi"]\n'
        f'[variables]\nNVIDIA_VISIBLE_DEVICES = "{KIND}"\n')
    (folder / "nvidia-container-runtime/config.toml").write_text(
        f'[nvidia-container-runtime]\nmode = "cdi"\nruntimes = ["{runtime}"]\n'
        f'[nvidia-container-runtime.modes.cdi]\ndefault-kind = "{KIND}"\n'
        f'spec-dirs = ["{place}/cdi"]\nannotation-prefixes = ["cdi.k8s.io/"]\n')
    return {"PATH": os.environ["PATH"], "CDI_RUNTIME_CONFIG": f"{folder}/config.toml",
            "XDG_CONFIG_HOME": str(folder)}


def configs(device):
    """The texts of three configs: without a request, with one by annotation, by variable."""
    config = json.loads(CONFIG.read_text(encoding="utf-8"))
    config["process"]["env"] = [text for text in config["process"]["env"]
                                if not text.startswith("NVIDIA_")]
    config["annotations"] = {key: text for key, text in config.get("annotations", {}).items()
                             if not key.startswith("cdi.k8s.io/")}
    plain = json.dumps(config)
    config["annotations"]["cdi.k8s.io/gpu"] = f"{KIND}={device}"
    annotated = json.dumps(config)
    del config["annotations"]["cdi.k8s.io/gpu"]
    config["process"]["env"].append(f"NVIDIA_VISIBLE_DEVICES={device}")
    return plain, annotated, json.dumps(config)


def milliseconds_of(command, environment, quiet):
    begin = time.perf_counter()
    child = os.posix_spawn(command[0], command, environment, file_actions=quiet)
    _, status, used = os.wait4(child, 0)
    elapsed = 1000 * (time.perf_counter() - begin)
    if status != 0:
        raise SystemExit(f"{' '.join(command)}: status {status}")
    return elapsed, 1000 * (used.ru_utime + used.ru_stime)


def smallest(place):
    """A static program in C that only starts `true`; nothing without a compiler."""
    program = str(place / "smallest")
    code = '#include <unistd.h>\nint main(int c, char** v) { return execv("/bin/true", v); }'
    done = subprocess.run(["cc", "-O2", "-static", "-x", "c", "-", "-o", program], text=True,
                          input=code, check=False) if shutil.which("cc") else None
    return program if done and done.returncode == 0 else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("runtime", type=os.path.abspath)
    parser.add_argument("--peer", type=os.path.abspath)
    parser.add_argument("--runs", type=int, default=500)
    options = parser.parse_args()
    programs = {"cdi-runtime": options.runtime}
    if options.peer:
        programs["nvidia-container-runtime"] = options.peer
    with tempfile.TemporaryDirectory(prefix="cdi-runtime-bench-") as folder:
        place = pathlib.Path(folder)
        (place / "cdi").mkdir()
        (place / "bundle").mkdir()
        (place / "cdi/nvidia.yaml").write_text(spec(), encoding="utf-8")
        true, runc = shutil.which("true"), shutil.which("runc")
        alone, version = settings(place, true), settings(place, runc)
        plain, annotated, with_variable = configs("0")
        create = ["create", "--bundle", f"{folder}/bundle", "id"]
        rows = {("the runtime alone", "true"): ([true, *create], alone, plain),
                ("the runtime alone", "runc --version"): ([runc, "--version"], version, plain)}
        if program := smallest(place):
            rows["the smallest program", "create"] = ([program, *create], alone, plain)
        for name, program in programs.items():
            rows[name, "delete"] = ([program, "delete", "id"], alone, plain)
            rows[name, "create, no request"] = ([program, *create], alone, plain)
            rows[name, "create, an annotation"] = ([program, *create], alone, annotated)
            rows[name, "create, a variable"] = ([program, *create], alone, with_variable)
            rows[name, "runc --version"] = ([program, "--version"], version, plain)
        times = {row: [] for row in rows}
        null = os.open("/dev/null", os.O_RDWR)
        quiet = [(os.POSIX_SPAWN_DUP2, null, 1), (os.POSIX_SPAWN_DUP2, null, 2)]
        for _ in range(options.runs):
            for row, (command, environment, config) in rows.items():
                (place / "bundle/config.json").write_text(config)
                times[row].append(milliseconds_of(command, environment, quiet))
    results = {row: (statistics.median(wall for wall, _ in values), min(values)[0],
                     statistics.median(used for _, used in values))
               for row, values in times.items()}
    print(f"{'milliseconds':25} {'':22} median adds   least adds   processor adds")
    for (program, what), values in results.items():
        base = results["the runtime alone", "runc --version" if what.startswith("runc") else "true"]
        columns = (f"{value:6.2f} {value - zero:5.2f}" for value, zero in zip(values, base))
        print(f"{program:25} {what:22} {' '.join(columns)}")


if __name__ == "__main__":
    main()
