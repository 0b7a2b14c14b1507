#!/bin/sh
# Compares the speed of this library with other implementations, and with libraries that only parse:
#
#     bench/run.sh [--readme] [ROUNDS]     # 3 rounds by default, 8 minutes
#
#   --readme     also updates the tables of README.md and docs/speed.md, and the charts of docs/
#
#   Go 1.1.2     the Go reference; needs Go and its modules
#   Go 0.5.2     the Go reference as Debian 12 packages it; needs Go
#   Rust 1.1.1   the crate; needs cargo
#   libraries    nlohmann json, simdjson, rapidjson, libyaml, yaml-cpp; and rapidyaml, if RAPIDYAML
#                names the folder `cpp` of its source package on PyPI
#   by hand      programs for this one spec and this one config, without any check: what is the
#                least that a result costs
#
# Installs the Debian packages that are missing, builds all programs in build/bench, runs them in
# turns on the same files, and prints our medians, and the ratio of the others to ours: the median
# of the rounds, with the minimum and the maximum. What cannot be built is skipped, and the reason
# is printed. CXX and CC name the compilers.
# SPDX-License-Identifier: Apache-2.0 OR MIT
set -eu
cd "$(dirname "$0")/.."
rounds=3
readme=
while [ $# -gt 0 ]; do
  case $1 in
    --readme) readme=yes ;;
    *[!0-9]* | '' | 0) echo "usage: bench/run.sh [--readme] [ROUNDS]" >&2; exit 2 ;;
    *) rounds=$1 ;;
  esac
  shift
done
examples/setup.sh bench
CXX=${CXX:-g++}
CC=${CC:-gcc}
bin=build/bench/bin
mkdir -p "$bin"

data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT
trap 'exit 1' HUP INT TERM
mkdir "$data/out"

built=
build() {  # NAME COMMAND...: adds a program to the list in `built`, or prints why it is missing
  name=$1
  shift
  rm -f "$bin/$name"
  if "$@" >"$data/log" 2>&1; then
    built="$built $name"
  else
    echo "skipped $name: $(grep -m 1 -E 'error|missing' "$data/log" || tail -n 1 "$data/log")"
  fi
}
cxx() {  # NAME FLAGS...
  name=$1
  shift
  # shellcheck disable=SC2086  # CXX may have a launcher
  $CXX -std=c++20 -O2 -DNDEBUG -Iinclude "bench/compared/$name.cpp" "$@" -pthread -o "$bin/$name"
}
cdi() {  # the tool in a release build, and an empty program of the same linkage
  test -f build/bench/cdi/build.ninja || meson setup build/bench/cdi --buildtype=release \
    -Dtests=disabled -Dexamples=enabled
  ninja -C build/bench/cdi tools/cdi/cdi &&
    cp build/bench/cdi/tools/cdi/cdi "$bin/cdi" || return 1
  linkage=-static
  if readelf -l "$bin/cdi" | grep -q INTERP; then linkage=; fi
  # shellcheck disable=SC2086
  $CC -O2 $linkage bench/compared/empty.c -o "$bin/empty"
}
go_module() (
  cd bench/compared/go &&
    GOFLAGS=-mod=readonly GOTOOLCHAIN=local GOWORK=off go build -o "../../../$bin/go-1.1.2" .
)
go_debian() (
  gopath=/usr/share/gocode
  test -d "$gopath/src/github.com/container-orchestrated-devices" || {
    echo missing: golang-github-container-orchestrated-devices-container-device-interface-dev
    exit 1
  }
  cd bench/compared/go && GO111MODULE=off GOPATH=$gopath GOFLAGS="" \
    go build -o "../../../$bin/go-0.5.2" main.go debian.go
)
rust() {  # a copy, because cargo writes beside its manifest
  mkdir -p build/bench/rust
  cp bench/compared/rust/* build/bench/rust
  target=${CARGO_TARGET_DIR:-$PWD/build/bench/target}
  cargo build --release --manifest-path build/bench/rust/Cargo.toml --target-dir "$target" &&
    cp "$target/release/peer" "$bin/rust-1.1.1"
}

rapidyaml() {
  source=${RAPIDYAML:-}
  test -n "$source" || { echo "missing: RAPIDYAML, the folder of its sources"; return 1; }
  cxx rapidyaml "-I$source/src" "-I$source/ext/c4core/src" "$source"/src/c4/yml/*.cpp \
    "$source"/ext/c4core/src/c4/*.cpp
}

targets() {  # the messages of protobuf are left out if protoc is missing
  messages=
  if protoc --proto_path=examples/editors --cpp_out="$bin" examples/editors/oci.proto; then
    messages="-I$bin $bin/oci.pb.cc -lprotobuf"
  fi
  # shellcheck disable=SC2086
  cxx targets src/c/c_library.cpp $messages
}

echo "== building the programs to compare"
# shellcheck disable=SC2086
$CC -O2 -static bench/compared/spawn.c -o "$bin/spawn"
cxx make_data
cxx ours
build targets targets
has_targets=$built
built=
build cdi cdi
has_cdi=$built
built=
build go-1.1.2 go_module
build go-0.5.2 go_debian
build rust-1.1.1 rust
peers=$built
built=
build nlohmann cxx nlohmann
build simdjson cxx simdjson -lsimdjson
build rapidjson cxx rapidjson
build libyaml cxx libyaml -lyaml
build rapidyaml rapidyaml
# shellcheck disable=SC2046  # none without simdjson
build by_hand cxx by_hand $(pkg-config --libs simdjson 2>/dev/null)
build yaml_cpp cxx yaml_cpp -lyaml-cpp
libraries=$built

"$bin/make_data" "$data"
config=$data/pod.json
cp bench/data/pod.json "$config"
device=vendor.example.com/gpu=0

measure() {  # PROGRAM COMMAND...: appends to what the program printed in this round
  output=$data/out/$1.$round
  shift
  "$@" >>"$output"
}
cold() {  # PROGRAM ROW COMMAND...
  program=$1 row=$2
  shift 2
  measure "$program" "$bin/spawn" "cold_$row" 40 "$@"
}
measure_cold() {  # FORMAT
  cold ours "$1" "$bin/cdi" --spec-dir "$data/60kB.$1" inject "$config" $device
  cold empty "$1" "$bin/empty"
  for peer in $peers; do
    cold "$peer" "$1" "$bin/$peer" once "$data/60kB.$1" "$config" $device
  done
}
measure_peak() {  # ROW DIRECTORY
  for program in ours $peers; do
    case $program,$1 in rust-*,5MB*) continue ;; esac  # it needs over 20 GB of memory
    measure "$program" "$bin/spawn" "process_$1" 1 "$bin/$program" load "$data/$2"
  done
}

round=0
while [ "$round" -lt "$rounds" ]; do
  echo "== measuring: round $((round + 1)) of $rounds"
  for group in read refresh lookup names inject; do
    for program in ours $peers; do measure "$program" "$bin/$program" "$group" "$data"; done
  done
  if [ -n "$has_targets" ]; then measure ours "$bin/targets" "$data"; fi
  for library in $libraries; do measure "$library" "$bin/$library" "$data"; done
  case $libraries in
    *nlohmann*) measure nlohmann_ordered "$bin/nlohmann" "$data" ordered ;;
  esac
  if [ -n "$has_cdi" ]; then
    cold ours version "$bin/cdi" --version
    cold empty version "$bin/empty"
    measure_cold yaml
    measure_cold json
  fi
  measure_peak 5MB_yaml 5MB.yaml
  measure_peak 5MB_json 5MB.json
  measure_peak 1000 files-1000
  round=$((round + 1))
done

{
  # shellcheck disable=SC2086
  $CXX --version | head -n 1
  go version 2>/dev/null || true
  rustc --version 2>/dev/null || true
  echo "$(nproc) processors, load $(cut -d ' ' -f 1 /proc/loadavg)"
  sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | sort -u
} >"$data/out/versions"
python3 bench/table.py "$data/out" ${readme:+--readme}
if [ -n "$readme" ]; then python3 bench/charts.py --write; fi
