#!/bin/sh
# Installs the missing dependencies of the project: setup.sh demo|tests|bench
#
# Searches for the programs and files, not for packages, so that they may be installed in any way.
# Installs with apt-get as root or through sudo. If it cannot, it prints what is missing and exits
# with 1.
# SPDX-License-Identifier: Apache-2.0 OR MIT
set -eu

# Debian package | a command, a header in < >, /a/file, or python3:MODULE | purposes
needs='
g++                  | g++                       | demo tests bench
meson                | meson                     | demo tests bench
ninja-build          | ninja                     | demo tests bench
pkg-config           | pkg-config                | demo tests bench
nlohmann-json3-dev   | <nlohmann/json.hpp>       | demo tests bench
libfmt-dev           | <fmt/format.h>            | demo tests bench
libcli11-dev         | <CLI/CLI.hpp>             | demo tests bench
libtomlplusplus-dev  | <toml++/toml.h>           | demo tests bench
python3              | python3                   | demo tests bench
diffutils            | diff                      | demo
clang                | clang++                   | tests
cmake                | cmake                     | tests
git                  | git                       | tests
doctest-dev          | <doctest/doctest.h>       | tests
libbenchmark-dev     | <benchmark/benchmark.h>   | tests
'
# Without these, the steps that start containers and the tests of JSON schemas, documentation,
# completion, man pages, protobuf, gRPC, format, sandboxes, the C interface, other libraries, other
# machines and other compilers are skipped, and the rows of other programs in bench/run.sh.
wishes='
runc                 | runc                      | demo tests
crun                 | crun                      | tests
busybox-static       | busybox                   | demo tests
python3-jsonschema   | python3:jsonschema        | tests
python3-yaml         | python3:yaml              | tests
doxygen              | doxygen                   | tests
protobuf-compiler    | protoc                    | tests bench
libprotobuf-dev      | <google/protobuf/message.h> | tests bench
libgrpc++-dev        | <grpcpp/server.h>         | tests
python3-grpcio       | /usr/lib/python3/dist-packages/grpc | tests
libcurl4-openssl-dev | <curl/curl.h>             | tests
libclang-rt-dev      | /usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.asan-*.a | tests
lld                  | ld.lld                    | tests
libc++-dev           | /usr/lib/llvm-*/include/c++/v1/string    | tests
libc++abi-dev        | /usr/lib/llvm-*/include/c++/v1/cxxabi.h  | tests
musl-tools           | musl-gcc                  | tests
g++-i686-linux-gnu   | i686-linux-gnu-g++        | tests
g++-s390x-linux-gnu  | s390x-linux-gnu-g++       | tests
qemu-user            | qemu-s390x                | tests
g++-11               | g++-11                    | tests
clang-13             | clang++-13                | tests
clang-22             | clang++-22                | tests
valgrind             | valgrind                  | tests
abigail-tools        | abidiff                   | tests
bubblewrap           | bwrap                     | tests
systemd-container    | systemd-nspawn            | tests
zsh                  | zsh                       | tests
fish                 | fish                      | tests
man-db               | man                       | tests
mandoc               | mandoc                    | tests
clang-format-14      | clang-format-14           | tests
debhelper            | dh                        | tests
lintian              | lintian                   | tests
debootstrap          | debootstrap               | tests
rpm                  | rpmbuild                  | tests
python3-markdown     | /usr/lib/python3/dist-packages/markdown | tests
golang-go            | go                        | bench
cargo                | cargo                     | bench
golang-github-container-orchestrated-devices-container-device-interface-dev | /usr/share/gocode/src/github.com/container-orchestrated-devices | bench
libsimdjson-dev      | <simdjson.h>              | bench
rapidjson-dev        | <rapidjson/document.h>    | bench
libyaml-dev          | <yaml.h>                  | bench
libyaml-cpp-dev      | <yaml-cpp/yaml.h>         | tests bench
'

found() {
  case $1 in
    '<'*) command -v g++ >/dev/null && echo "#include $1" | g++ -E -x c++ - >/dev/null 2>&1 ;;
    /*)
      # shellcheck disable=SC2086  # a pattern
      ls $1 >/dev/null 2>&1
      ;;
    python3:*) python3 -c "import ${1#*:}" 2>/dev/null ;;
    *) PATH=$PATH:/usr/sbin:/sbin command -v "$1" >/dev/null ;;
  esac
}

# Prints the packages of a table that are needed for $1 and not found.
missing_from() {
  echo "$2" | while IFS='|' read -r package thing uses; do
    case " $uses " in
      *" $1 "*)
        # shellcheck disable=SC2086  # trims the blanks
        set -- "$1" $package
        thing=$(echo "$thing" | tr -d ' ')
        found "$thing" || echo "$2"
        ;;
    esac
  done
}

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

purpose=${1:?usage: setup.sh demo|tests|bench}
missing=$(missing_from "$purpose" "$needs")
wished=$(missing_from "$purpose" "$wishes")
if [ -z "$missing$wished" ]; then
  :
elif command -v apt-get >/dev/null && as_root true 2>/dev/null; then
  # shellcheck disable=SC2086  # one word for each package
  echo "installing:" $missing $wished
  as_root apt-get update -qq || true
  # shellcheck disable=SC2086
  if [ -n "$missing" ]; then
    as_root env DEBIAN_FRONTEND=noninteractive \
      apt-get install -y -qq --no-install-recommends $missing >/dev/null || true
  fi
  for package in $wished; do
    as_root env DEBIAN_FRONTEND=noninteractive \
      apt-get install -y -qq --no-install-recommends "$package" >/dev/null ||
      echo "cannot install $package: the steps that need it will be skipped"
  done
  missing=$(missing_from "$purpose" "$needs")
elif [ -n "$wished" ]; then
  # shellcheck disable=SC2086
  echo "not installed:" $wished "- the steps that need them will be skipped"
fi

if [ -n "$missing" ]; then
  {
    echo "missing Debian packages:"
    echo "$missing" | sed 's/^/  /'
    # shellcheck disable=SC2086
    echo "on Debian or Ubuntu, run: sudo apt-get install" $missing
  } >&2
  exit 1
fi

meson=$(meson --version)
if [ "${meson%%.*}" = 0 ]; then
  echo "meson $meson is too old: 1.0 or newer is needed, as in Debian 12 and Ubuntu 24.04" >&2
  exit 1
fi
