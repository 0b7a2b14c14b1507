#!/bin/sh
# Compares this library with the other implementations that can be built on this machine:
#
#     bench/peer/run.sh [ROUNDS]     # 5 rounds by default
#
#   Go 1.1.1   the Go reference; needs Go and its modules
#   Go 0.5.2   the Go reference as Debian 12 packages it; needs Go
#   Rust 1.1.1 the crate; needs cargo. CARGO_TARGET_DIR keeps the build
#
# Writes the specs to a temporary directory, builds all programs, runs them in turns on the same
# files, and prints our medians, and the ratio of the others to ours: the median of the rounds, with
# the minimum and the maximum.
set -eu
cd "$(dirname "$0")"
rounds=${1:-5}
gopath=/usr/share/gocode
debian=golang-github-container-orchestrated-devices-container-device-interface-dev

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
mkdir "$work/bin" "$work/data" "$work/out"

programs=
build() {  # NAME COMMAND...: adds a program to the comparison, or prints why it is missing
  name=$1
  shift
  if "$@" >"$work/log" 2>&1; then
    programs="$programs $name"
  else
    echo "skipped $name: $(tail -n 1 "$work/log")" >&2
  fi
}
go_module() (
  cd go && GOFLAGS=-mod=readonly GOTOOLCHAIN=local GOWORK=off go build -o "$work/bin/go-1.1.1" .
)
go_debian() (
  test -d "$gopath/src/github.com/container-orchestrated-devices" ||
    { echo "missing: $debian"; exit 1; }
  cd go && GO111MODULE=off GOPATH=$gopath GOFLAGS= \
    go build -o "$work/bin/go-0.5.2" main.go debian.go
)
rust() {
  cp -r rust "$work/rust"
  cargo build --release --manifest-path "$work/rust/Cargo.toml" \
    --target-dir "${CARGO_TARGET_DIR:-$work/target}" &&
    cp "${CARGO_TARGET_DIR:-$work/target}/release/peer" "$work/bin/rust-1.1.1"
}
g++ -std=c++20 -O2 -DNDEBUG -I../../include ours.cpp -pthread -o "$work/bin/ours"
build go-1.1.1 go_module
build go-0.5.2 go_debian
build rust-1.1.1 rust

"$work/bin/ours" make "$work/data"
cp ../data/pod.json "$work/data"
round=0
while [ "$round" -lt "$rounds" ]; do
  "$work/bin/ours" measure "$work/data" >"$work/out/ours.$round"
  for program in $programs; do
    "$work/bin/$program" "$work/data" >"$work/out/$program.$round"
  done
  round=$((round + 1))
done
echo "$(g++ --version | head -n 1); $(go version 2>/dev/null); $(rustc --version 2>/dev/null)"
# shellcheck disable=SC2086  # one word for each program
python3 table.py "$work/out" ours $programs
