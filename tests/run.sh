#!/bin/sh
# Sets up, builds and runs every test: with g++, with clang++, and with g++ under the address and
# undefined behaviour sanitizers; and those that start threads under the thread sanitizer. The last
# line is `N passed, N failed, N skipped`.
set -eu
cd "$(dirname "$0")/.."
PATH=$PATH:/usr/sbin:/sbin
examples/setup.sh tests

# The compilers of the floor where they are, else those of the system.
first_of() {
  for name in "$@"; do
    command -v "$name" >/dev/null && echo "$name" && return
  done
}
gxx=$(first_of g++-12 g++)
clangxx=$(first_of clang++-14 clang++)

builds=
failed=0
only=  # the tests to build and run; all when empty
build_and_test() {
  name=$1
  compiler=$2
  shift 2
  folder=build/tests-$name
  builds="$builds $folder"
  echo "== $name: $compiler $*"
  if [ ! -f "$folder/build.ninja" ]; then
    rm -rf "$folder"
    CXX=$compiler meson setup "$folder" -Dwerror=true -Dtests=enabled "$@" >/dev/null ||
      { tail -n 20 "$folder/meson-logs/meson-log.txt"; return 1; }
  fi
  programs=
  for test in $only; do programs="$programs tests/test-$test"; done
  # shellcheck disable=SC2086  # one word for each test
  ninja -C "$folder" --quiet $programs &&
    meson test -C "$folder" --no-rebuild --print-errorlogs --quiet $only
}

rm -f build/tests-*/meson-logs/testlog.json
# Optimised once, since some warnings need it; else what compiles fastest.
build_and_test gcc "$gxx" -Doptimization=2 -Ddebug=false || failed=1
build_and_test clang "$clangxx" -Doptimization=0 -Ddebug=false -Dbench=enabled || failed=1
build_and_test sanitize "$gxx" -Doptimization=0 -Ddebug=false -Dcpp_args=-g1 \
  -Db_sanitize=address,undefined -Db_lundef=false || failed=1
only='cache publish watch'
build_and_test threads "$gxx" -Doptimization=1 -Ddebug=false -Dcpp_args=-g1 \
  -Db_sanitize=thread -Db_lundef=false || failed=1

# shellcheck disable=SC2086  # one word for each build
python3 tests/summary.py "$failed" $builds
