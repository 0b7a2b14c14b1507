#!/bin/sh
# Checks every vector of a directory: run.sh CONFORMANCE DIRECTORY
# SPDX-License-Identifier: Apache-2.0 OR MIT
set -eu
conformance=$(realpath "$1")
cd "$2"
set --
for vector in *.json; do
  [ "$vector" = deviations.json ] || set -- "$@" "$vector"
done
exec "$conformance" --check deviations.json "$@"
