#!/bin/sh
# The main job, end to end: finds the GPUs of this host, writes a CDI spec for them, injects one
# into an OCI config, and starts a container with it. All files are in build/demo.
# SPDX-License-Identifier: Apache-2.0 OR MIT
set -eu
cd "$(dirname "$0")/.."
PATH=$PATH:/usr/sbin:/sbin

heading() { printf '\n== %s\n' "$*"; }
finish() { heading "done; all files are in $out, and the tool is $out/bin/tools/cdi/cdi"; }

examples/setup.sh demo

heading "building"
out=build/demo
if [ ! -f $out/bin/build.ninja ]; then
  rm -rf build/demo/bin
  meson setup $out/bin -Dbuildtype=release -Dtests=disabled -Dexamples=enabled >/dev/null ||
    { tail -n 20 $out/bin/meson-logs/meson-log.txt; exit 1; }
fi
ninja -C $out/bin --quiet tools/cdi/cdi tools/prepare/cdi-prepare
cdi=$PWD/$out/bin/tools/cdi/cdi
prepare=$PWD/$out/bin/tools/prepare/cdi-prepare
rm -rf build/demo/run
mkdir -p $out/run/bundle/rootfs/bin
cd $out/run

heading "finding the GPUs of this host"
root=/
code=0
$prepare detect >gpus.txt || code=$?
cat gpus.txt
# 3: some GPUs are not usable; 1 and 4: none is, for example in a container on a node with GPUs.
case $code in 0 | 1 | 3 | 4) ;; *) exit 1 ;; esac
if [ ! -s gpus.txt ] || [ "$code" = 1 ] || [ "$code" = 4 ]; then
  echo "continuing with a sample node with two GPUs, without the libraries of their driver"
  ../../../tools/prepare/sample-node sample
  root=sample
  $prepare detect --root sample
fi

heading "writing a CDI spec for them"
$prepare write --root $root --output-dir cdi >/dev/null || [ $? = 3 ]
ls cdi

heading "listing the devices of the spec"
$cdi devices --spec-dir cdi
device=$($cdi devices --spec-dir cdi | grep '/gpu=[0-9]*$' | head -n 1)

heading "showing where $device comes from, and why another device is not resolved"
$cdi why --spec-dir cdi "$device" "${device}9" || [ $? -ge 10 ]

heading "injecting $device into an OCI config, and showing the changes"
if command -v runc >/dev/null; then
  (cd bundle && runc spec)
else
  echo "(runc is not installed: using a small config of our own)"
  cat >bundle/config.json <<'CONFIG'
{
	"ociVersion": "1.0.2",
	"process": {
		"user": {
			"uid": 0,
			"gid": 0
		},
		"args": [
			"sh"
		],
		"env": [
			"PATH=/bin"
		],
		"cwd": "/"
	},
	"root": {
		"path": "rootfs"
	}
}
CONFIG
fi
$cdi inject --spec-dir cdi bundle/config.json "$device" >injected.json
diff -U 2 --label before --label after bundle/config.json injected.json && exit 1

heading "starting a container with it"
skip() {
  echo "skipped: $*"
  finish
  exit 0
}
[ "$(id -u)" = 0 ] || skip "starting a container needs root"
command -v runc >/dev/null || skip "runc is not installed"
command -v busybox >/dev/null || skip "busybox is not installed (Debian: busybox-static)"
cp "$(command -v busybox)" bundle/rootfs/bin/busybox

# start SCRIPT CONFIG: runs a shell script in a container with the config.
start() {
  python3 - "$1" "$2" >bundle/config.json <<'PYTHON'
import json, sys
config = json.load(open(sys.argv[2]))
config["process"].update(terminal=False, args=["/bin/busybox", "sh", "-c", sys.argv[1]])
json.dump(config, sys.stdout)
PYTHON
  (cd bundle && runc run "cdi-demo-$$" </dev/null)
}

cp bundle/config.json plain.json
start true plain.json 2>why.txt ||
  skip "runc cannot start containers on this machine: $(tail -n 1 why.txt)"
# shellcheck disable=SC2016  # the shell of the container expands it
start '
cd /dev
for node in nvidia[0-9]* nvidiactl dri/*; do
  [ ! -e "$node" ] || /bin/busybox ls -l "/dev/$node"
done
/bin/busybox env | /bin/busybox grep -i nvidia' injected.json

finish
