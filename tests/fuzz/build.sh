#!/bin/bash -eu
# Builds the fuzz targets as OSS-Fuzz asks, into $OUT: each program, its first inputs, and its
# dictionary. Works outside of OSS-Fuzz, too, with libFuzzer or AFL++:
#
#     OUT=/tmp/fuzz tests/fuzz/build.sh [TARGET...]
#     OUT=/tmp/afl CXX=afl-clang-fast++ tests/fuzz/build.sh [TARGET...]
#     afl-fuzz -i tests/fuzz/corpus/yaml -o /tmp/found -x /tmp/afl/yaml.dict -- /tmp/afl/yaml
#
# Needs nlohmann-json3-dev, libfmt-dev, libtomlplusplus-dev and zip. The targets named go_* need Go
# and the modules of tests/conformance/peer, and the target nri needs protobuf-compiler and
# libprotobuf-dev; they are left out without.
# SPDX-License-Identifier: Apache-2.0 OR MIT
project=$(cd "$(dirname "$0")/../.." && pwd)
: "${OUT:?OUT names the folder for the programs}"
: "${CXX:=clang++}"
: "${CXXFLAGS:=-O1 -g1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize=unreachable}"
: "${LIB_FUZZING_ENGINE:=-fsanitize=fuzzer}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$OUT"

compile() {
  # shellcheck disable=SC2086  # one word for each option
  $CXX $CXXFLAGS -std=c++20 -DCDI_COMPILED -DFMT_HEADER_ONLY "-I$project/include" \
    "-I$project/tools" "$@"
}

left_out=()
python3 "$project/tests/conformance/go_peer.py" "$OUT" || left_out+=(-e 'go_.*')
protocol=$project/tools/nri/protocol
protoc -I "$protocol" "--cpp_out=$work" "$protocol"/*.proto || left_out+=(-e nri)

cd "$project/tests/fuzz"
for source in "$project"/src/library.cpp "$project"/tools/{kit,gpu,pod}/{,*/}*.cpp \
  "$project"/tools/prepare/{commands/report,doctor/*}.cpp; do
  name=${source#"$project"/}
  case $name in *'*'* | */main.cpp) continue ;; esac
  compile -c "$source" -o "$work/${name//\//-}.o"
done
[ $# -gt 0 ] || set -- $(ls -- *_fuzz.cpp | sed 's/_fuzz\.cpp$//' | grep -vx -e '' "${left_out[@]}")
for target in "$@"; do
  extra=()
  [ "$target" != nri ] || extra=("-I$work" "$project"/tools/nri/{adjustment,injection,requests}.cpp \
    "$work"/*.pb.cc -lprotobuf-lite)
  # shellcheck disable=SC2086
  compile "${target}_fuzz.cpp" "$work"/*.o "${extra[@]}" $LIB_FUZZING_ENGINE -pthread \
    -o "$OUT/$target"
  corpus=corpus/${target#go_}
  [ "$target" != to_version ] || corpus=corpus/spec
  rm -f "$OUT/${target}_seed_corpus.zip"
  zip -q -j "$OUT/${target}_seed_corpus.zip" "$corpus"/*
  cp yaml.dict "$OUT/$target.dict"
done
