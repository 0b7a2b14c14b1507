#!/bin/sh
# Makes the files of a release that need no compiler, reproducibly: source.sh [--trial] OUT
#
#   container-device-interface-VERSION.tar.gz   the files of the commit
#   container-device-interface.wrap             for Meson, beside the archive
#   cdi.hpp                                     the library in one file
#   SHA256SUMS
#
# Fails if a file is not committed, or if the project's files do not agree on the version.
# --trial makes a version that CHANGELOG.md calls not yet released.
# SPDX-License-Identifier: Apache-2.0 OR MIT
set -eu
unset CDPATH GZIP
cd "$(dirname "$(readlink -f "$0")")/.."

usage() {
  echo "usage: source.sh [--trial] OUT" >&2
  exit 2
}
fail() {
  echo "source.sh: $*" >&2
  exit 1
}

trial=no
[ "${1-}" != --trial ] || { trial=yes && shift; }
[ $# = 1 ] || usage
case $1 in
  -*) usage ;;
  /*) out=$1 ;;
  *) out=$OLDPWD/$1 ;;
esac

# Prints what the group of a pattern matches in a file, each text once.
value() {
  sed -n "s/$2.*/\1/p" "$1" | sort -u | paste -s -d ' '
}
part() {
  value include/cdi/version.hpp "^#define CDI_VERSION_$1 \([0-9]*\)"
}
version=$(part MAJOR).$(part MINOR).$(part PATCH)
abi=v$(part MAJOR)_$(part MINOR)_$(part PATCH)
agrees() {
  [ "$2" = "$3" ] || fail "$1 has version '$2', but include/cdi/version.hpp has '$3'"
}
# names FILE PATTERN: each match in the file is the version.
names() {
  agrees "$1" "$(value "$1" "$2")" "$version"
}
# Logs of changes begin with the newest version.
newest() {
  agrees "$1" "$(sed -n "s/$2.*/\1/p" "$1" | head -n 1)" "$version"
}
agrees CDI_ABI "$(value include/cdi/version.hpp '^#define CDI_ABI \([^ ]*\)')" "$abi"
for number in MAJOR MINOR PATCH; do
  agrees include/cdi/cdi.h "$(value include/cdi/cdi.h "^#define CDI_VERSION_$number \([0-9]*\)")" \
    "$(part $number)"
done
names meson.build "^  version: '\([^']*\)'"
names conanfile.py '^    version = "\([^"]*\)"'
names packaging/vcpkg/container-device-interface/vcpkg.json '^  "version": "\([^"]*\)"'
names packaging/container-device-interface.spec '^Version: *\([^ ]*\)'
newest packaging/container-device-interface.spec '^\* .* - \([0-9.]*\)-'
for tool in dra nri; do
  names tools/$tool/deploy/Containerfile ".*podman build .*cdi-$tool:\([^ ]*\)"
  names tools/$tool/deploy/cdi-$tool.yaml " *image: .*cdi-$tool:\([^ ]*\)"
done
names docs/cdi-dra.md '.*podman build .*cdi-dra:\([^ ]*\)'
names docs/install.md '.*container-device-interface-\([0-9.]*\)\.tar'
names docs/install.md '.*container-device-interface\/\([0-9][0-9.]*\)'
names docs/install.md '.*GIT_TAG v\([0-9.]*\)'
names docs/install.md '.*cdi-tools-\([0-9.]*\)-'
names docs/cdi.h.3 '^\.TH .*"container-device-interface \([0-9.]*\)"'
# shellcheck disable=SC2016  # backquotes of Markdown
agrees docs/abi.md "$(value docs/abi.md '.*`cdi::\(v[0-9_]*\)`')" "$abi"
newest CHANGELOG.md '^## \([0-9.]*\)'
[ $trial = yes ] || ! grep -q "^## $version, not yet released" CHANGELOG.md ||
  fail "CHANGELOG.md calls $version not yet released; use --trial to make its files anyway"
changed=$(git status --porcelain --untracked-files=all 2>/dev/null) ||
  fail "git status failed: run this in a git clone"
[ -z "$changed" ] || fail "some files are not committed:
$changed"

# Files are made elsewhere first, so that OUT gets the whole release or nothing.
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
name=container-device-interface-$version
git -c tar.umask=0022 -c core.autocrlf=false archive --format=tar --prefix="$name/" \
  -o "$made/$name.tar" HEAD
gzip -9n "$made/$name.tar"
python3 packaging/amalgamate.py "$made/cdi.hpp" \
  cdi/cdi.hpp cdi/annotations.hpp cdi/file.hpp cdi/host.hpp cdi/inject_json.hpp cdi/json.hpp \
  cdi/scan.hpp cdi/spec_text.hpp cdi/watch.hpp cdi/yaml.hpp cdi/nlohmann.hpp cdi/policy.hpp \
  cdi/plan.hpp cdi/requests.hpp cdi/versions.hpp cdi/publish.hpp cdi/claims.hpp cdi/nvidia.hpp \
  cdi/sandbox.hpp
cd "$made"
cat >container-device-interface.wrap <<END
[wrap-file]
directory = $name
source_filename = $name.tar.gz
source_hash = $(sha256sum "$name.tar.gz" | cut -d ' ' -f 1)

[provide]
dependency_names = container-device-interface, container-device-interface-c, container-device-interface-compiled, container-device-interface-core
END
sha256sum "$name.tar.gz" container-device-interface.wrap cdi.hpp >SHA256SUMS
mkdir -p "$out"
cp ./* "$out"
cat SHA256SUMS
