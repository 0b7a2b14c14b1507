#!/bin/sh
# Makes everything that a release page offers, reproducibly: release.sh [--trial] OUT
#
#   what source.sh makes                        the source archive, and the library in one file
#   *.deb                                       the packages of deb.sh
#   cdi-tools-VERSION-MACHINE.tar.gz            the tools of the packages, with what they install
#   container-device-interface-VERSION-docs.tar.gz   the documentation as a site: site.py
#   container-device-interface-VERSION.spdx.json     what all of these consist of: sbom.py
#   SHA256SUMS
#
# Run it on the oldest system that the binaries are for, such as Debian 12. It says what is missing.
# SPDX-License-Identifier: Apache-2.0 OR MIT
set -eu
unset CDPATH GZIP
here=$(dirname "$(readlink -f "$0")")

usage() {
  echo "usage: release.sh [--trial] OUT" >&2
  exit 2
}
trial=
[ "${1-}" != --trial ] || { trial=--trial && shift; }
[ $# = 1 ] || usage
case $1 in
  -*) usage ;;
  /*) out=$1 ;;
  *) out=$PWD/$1 ;;
esac

# Files are made elsewhere first, so that OUT gets the whole release or nothing.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
made=$work/made
time=$(git -C "$here" log -1 --format=%ct)
# The same bytes at each call: names sorted, no owners, the time of the commit.
pack() {
  find "$2" -exec touch -h -d "@$time" {} +
  chmod -R u=rwX,go=rX "$2"
  tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$time" -C "$(dirname "$2")" \
    -cf - "$(basename "$2")" | gzip -9n >"$1"
}

"$here/source.sh" ${trial:+"$trial"} "$made" >/dev/null
archive=$(cd "$made" && echo container-device-interface-*.tar.gz)
version=${archive#container-device-interface-}
version=${version%.tar.gz}
# The module of Debian's package is for Debian's Python.
python=python3
$python -c 'import markdown' 2>/dev/null || python=/usr/bin/python3
$python "$here/site.py" "$work/container-device-interface-$version-docs"
pack "$made/container-device-interface-$version-docs.tar.gz" \
  "$work/container-device-interface-$version-docs"

"$here/deb.sh" "$made"
tools=$work/cdi-tools-$version-$(uname -m)
dpkg-deb --extract "$made"/container-device-interface-tools_*.deb "$work/root"
mkdir -p "$work/root/usr/lib"
mv "$work/root/lib"/* "$work/root/usr/lib"
mv "$work/root/usr" "$tools"
pack "$tools.tar.gz" "$tools"
mv "$tools.tar.gz" "$made"

rm "$made/SHA256SUMS"
"$here/sbom.py" "$made" "$time" >"$work/sbom"
mv "$work/sbom" "$made/container-device-interface-$version.spdx.json"
(cd "$made" && sha256sum ./* | sed 's|\./||') >"$work/sums"
mv "$work/sums" "$made/SHA256SUMS"
mkdir -p "$out"
cp "$made"/* "$out"
cat "$out/SHA256SUMS"
