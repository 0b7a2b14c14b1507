#!/bin/sh
# Compares the cache with that of the Go implementation that the distribution packages:
#
#     bench/peer/run.sh [ROUNDS]     # 5 rounds if not said
#
# Writes the specs to a temporary directory, builds both sides, lets them run in turns on the same
# files, and prints the medians with their ratio: how many times less time or memory we take.
set -eu
cd "$(dirname "$0")"
rounds=${1:-5}
peer=github.com/container-orchestrated-devices/container-device-interface
gopath=/usr/share/gocode

missing=
need() {  # PACKAGE COMMAND...: asks for the package when the command fails
  package=$1
  shift
  "$@" >/dev/null 2>&1 || missing="$missing $package"
}
header() { echo "#include <$1>" | g++ -E -x c++ - ; }
need g++ command -v g++
need nlohmann-json3-dev header nlohmann/json.hpp
need golang-go command -v go
need golang-github-container-orchestrated-devices-container-device-interface-dev \
  test -d "$gopath/src/$peer"
if [ -n "$missing" ]; then
  echo "missing, by the names of Debian's packages:$missing" >&2
  echo "on Debian or Ubuntu: sudo apt-get install$missing" >&2
  exit 1
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

g++ -std=c++20 -O2 -DNDEBUG -I../../include ours.cpp -pthread -o "$work/ours"
GO111MODULE=off GOPATH=$gopath GOCACHE=$work/gocache GOFLAGS='' go build -o "$work/peer" main.go

# The middle of the values of a name in a file of `NAME NUMBER` lines; nothing when it is not there.
median() {
  awk -v name="$2" '$1 == name { print $2 }' "$1" | sort -n |
    awk '{ value[NR] = $1 } END { if (NR) print value[int((NR + 1) / 2)] }'
}

compare() {  # FILES DEVICES CHANGES
  specs=$work/specs
  rm -rf "$specs" "$work"/*.out
  mkdir "$specs"
  bytes=$("$work/ours" make "$specs" "$1" "$2")
  round=0
  while [ "$round" -lt "$rounds" ]; do
    "$work/ours" measure "$specs" "$3" >>"$work/ours.out"
    "$work/peer" "$specs" "$3" >>"$work/peer.out"
    round=$((round + 1))
  done
  echo
  echo "files: $1, devices in each: $2, bytes of text: $bytes"
  printf '%-16s %14s %14s %10s\n' '' ours Go 'Go / ours'
  for name in load_us unchanged_us one_changed_us hit_ns miss_ns resident_kB peak_kB; do
    ours=$(median "$work/ours.out" "$name")
    theirs=$(median "$work/peer.out" "$name")
    [ -n "$ours" ] || continue
    awk -v name="$name" -v ours="$ours" -v theirs="$theirs" \
      'BEGIN { printf "%-16s %14.1f %14.1f %10.1f\n", name, ours, theirs, theirs / ours }'
  done
}

echo "$(go version), $(g++ -dumpfullversion); medians of $rounds rounds"
compare 1000 4 5
compare 1000 100 0
compare 1 10000 0
