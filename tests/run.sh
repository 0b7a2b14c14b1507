#!/bin/sh
# Configures, builds and runs the tests, with the oldest g++: tests/run.sh [--all]
#
# Without --all, it leaves out the slow ones: packages, other compilers and machines, and costs. With
# it, all of them run; then those of the library and the tools again, with the oldest clang++ under
# the address and undefined behaviour sanitizers; and the folders with tests that start threads,
# header-only under the thread sanitizer, with the system's g++; the builds take 4 GB. Then it prints
# the lines of code by folder, beside their budgets. The last line is `N passed, N failed, N skipped`.
# SPDX-License-Identifier: Apache-2.0 OR MIT
set -eu
mode=${1-}
case "$#$mode" in
  0 | 1--all) ;;
  *) echo "usage: tests/run.sh [--all]" >&2 && exit 2 ;;
esac
cd "$(dirname "$0")/.."
PATH=$PATH:/usr/sbin:/sbin
examples/setup.sh tests

# The oldest supported compilers, if they are installed, else the system's.
first_of() {
  for name in "$@"; do
    command -v "$name" >/dev/null && echo "$name" && return
  done
}
gxx=$(first_of g++-11 g++-12 g++)
clangxx=$(first_of clang++-13 clang++-14 clang++)
# These take less than a third of the time of the usual linker.
linker=$(first_of ld.lld ld.gold) || linker=
linker=${linker#ld.}

builds=
failed=0
only=      # the tests to build and run; all if empty
run_with=  # a command before that which runs the tests
which=     # which of the built tests to run
goal=      # what to build for all tests; everything if empty
quiet=--quiet
[ ! -t 1 ] || quiet=  # a terminal shows the progress
optimised=-Doptimised_tools=true
[ "$mode" = --all ] || { which='--no-suite slow' && goal=meson-test-prereq && optimised=; }
configure() {  # NAME COMPILER OPTION...: in the folder that `folder` names then
  name=$1
  compiler=$2
  shift 2
  folder=build/tests-$name
  builds="$builds $folder"
  echo "== $name: $compiler $*"
  if [ ! -f "$folder/build.ninja" ]; then
    rm -rf "$folder"
    # shellcheck disable=SC2086  # two words, or none
    env CXX="$compiler" ${linker:+CXX_LD=$linker CC_LD=$linker} meson setup "$folder" \
      -Dwerror=true -Dtests=enabled -Dcompiled=disabled -Dunity=on "$@" >/dev/null ||
      { tail -n 20 "$folder/meson-logs/meson-log.txt"; return 1; }
  fi
}
# With `only`, meson builds what these tests need. A busy machine has three times their time.
run_tests() {
  rebuild=
  if [ -z "$only" ]; then
    # shellcheck disable=SC2086  # one word, or none
    ninja -C "$folder" $quiet $goal || return
    rebuild=--no-rebuild
  fi
  # shellcheck disable=SC2086  # one word for each test, and for each part of the command
  $run_with meson test -t 3 -C "$folder" $rebuild --print-errorlogs $quiet $which $only
}
build_and_test() {
  configure "$@" && run_tests
}

finish() {
  [ "$mode" != --all ] || python3 tests/build/table_of_lines.py || failed=1
  # shellcheck disable=SC2086  # one word for each build
  python3 tests/summary.py "$failed" $builds
  exit
}

rm -f build/tests-*/meson-logs/testlog.json
free=$(df -Pk . | awk 'NR == 2 { print int($4 / 1000000) }')
if [ "$mode" = --all ] && [ ! -d build/tests-threads ] && [ "$free" -lt 5 ]; then
  echo "== $free GB are free here; --all takes 4 GB for build/, and the tests write to ${TMPDIR-/tmp}"
fi
# Not optimised, for speed. With --all, the tools and the test users-builds see the warnings that
# need the optimiser.
# shellcheck disable=SC2086  # an option, or none
configure gcc "$gxx" -Ddebug=false -Doptimization=0 -Dbench=enabled $optimised || failed=1
[ $failed = 1 ] || run_tests || failed=1
[ "$mode" = --all ] || finish

# The sanitizers run with clang++, which takes half the time of g++ to compile for them, or with g++
# if the runtime of clang++ is missing.
# The programs take half the space without functions that they do not call.
sanitize='-Ddebug=false -Dcpp_args=-g1 -Db_lundef=false -Db_sanitize'
sanitize="-Dcpp_link_args=-Wl,--gc-sections,--compress-debug-sections=zlib $sanitize"
# Kernels with vm.mmap_rnd_bits above 28, as Ubuntu's, put memory where older sanitizers do not
# expect it, unless addresses are fixed. Some containers do not allow that.
run_with=$(setarch -R echo setarch -R 2>/dev/null) || run_with=
name=clang-sanitize
compiler=$clangxx
if ! echo 'int main() {}' |
  "$clangxx" -fsanitize=address,undefined -x c++ - -o /dev/null 2>/dev/null; then
  name=gcc-sanitize
  compiler=$gxx
fi
# cdi-dra takes two minutes of processor time to compile with the sanitizers, and as long to test.
dra=disabled
[ -z "${CDI_FULL-}" ] || dra=auto
# shellcheck disable=SC2086  # one word for each option
build_and_test $name "$compiler" -Doptimization=0 -Ddra=$dra $sanitize=address,undefined || failed=1
only=$(cd tests/cdi && grep -l std::thread ./*/*_test.cpp | cut -d/ -f2 | sort -u)
# shellcheck disable=SC2086  # one word for each option
build_and_test threads g++ -Dheader_only=true -Doptimization=1 -Ddra=disabled $sanitize=thread || failed=1
finish
