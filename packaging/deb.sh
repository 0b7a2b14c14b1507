#!/bin/sh
# Builds the Debian packages of the current commit: deb.sh OUT
#
# The same commit, compilers and libraries produce the same bytes. Needs what the field
# Build-Depends of packaging/debian/control names, and dpkg-dev.
# SPDX-License-Identifier: Apache-2.0 OR MIT
set -eu
unset CDPATH
cd "$(dirname "$(readlink -f "$0")")/.."

fail() {
  echo "deb.sh: $*" >&2
  exit 1
}

case $#${1-} in
  1-* | [!1]*) echo "usage: deb.sh OUT" >&2 && exit 2 ;;
  1/*) out=$1 ;;
  *) out=$OLDPWD/$1 ;;
esac
command -v dh >/dev/null && command -v dpkg-buildpackage >/dev/null ||
  fail "dpkg-buildpackage or dh is missing; on Debian, run: sudo apt-get install dpkg-dev debhelper"

version=$(sed -n "s/^  version: '\(.*\)',/\1/p" meson.build)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
tree=$made/container-device-interface-$version
git archive --format=tar --prefix="container-device-interface-$version/" HEAD | tar -x -C "$made"
cp -r "$tree/packaging/debian" "$tree/debian"
cat >"$tree/debian/changelog" <<END
container-device-interface ($version-1) unstable; urgency=medium

  * Release $version; CHANGELOG.md describes it.

 -- the authors of cdi <cdi@users.noreply.github.com>  $(date -u -R -d "@$SOURCE_DATE_EPOCH")
END
echo "deb.sh: building the packages, which takes some minutes" >&2
(umask 022 && cd "$tree" && DEB_BUILD_OPTIONS="noautodbgsym parallel=$(nproc)" \
  dpkg-buildpackage --build=binary --no-sign >"$made/log" 2>&1) ||
  fail "dpkg-buildpackage failed:
$(tail -n 30 "$made/log")"
mkdir -p "$out"
cp "$made"/*.deb "$out"
