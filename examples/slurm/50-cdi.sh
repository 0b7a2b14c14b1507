#!/usr/bin/env bash
# A hook of enroot for /etc/enroot/hooks.d/: a container of a Slurm job gets its GPUs by CDI.
# It needs jq. See docs/slurm.md.
# SPDX-License-Identifier: Apache-2.0 OR MIT
set -euo pipefail

[ -n "${SLURM_JOB_ID-}" ] || exit 0
names=$(cdi names --from slurm)
[ -n "${names}" ] || exit 0
# shellcheck disable=SC2086  # one word for each name
edits=$(cdi resolve -o json ${names})

used() {  # the edits of a kind that no later edit replaces
    jq -r ".$1[] | select(.overridden | not) | .edit | $2" <<< "${edits}"
}
field='def field: gsub("\\\\"; "\\134") | gsub(" "; "\\040") | gsub("\t"; "\\011") | gsub("\n"; "\\012");'

if [ "$(jq '.env | map(select(.edit | contains("\n"))) | length' <<< "${edits}")" != 0 ]; then
    echo "50-cdi.sh: a variable has a line end, which enroot's file cannot hold" >&2
    exit 1
fi
used env . >> "${ENROOT_ENVIRON}"
used deviceNodes "${field}"' [(.hostPath // .path), .path] | map(field) | join(" ")' |
    sed 's/$/ none x-create=file,bind,rw,nosuid,noexec,private/' >> "${ENROOT_MOUNTS}"
used mounts "${field}"' [.hostPath, (.hostPath | field), (.containerPath | field), (.type // "none"),
    ((.options // ["bind"]) | join(","))] | @tsv' |
    while IFS=$'\t' read -r host source target type options; do
        kind=file
        [ ! -d "${host}" ] || kind=dir
        [ "${type}" != bind ] || type=none
        printf '%s %s %s x-create=%s,%s\n' "${source//\\\\/\\}" "${target//\\\\/\\}" "${type}" "${kind}" "${options}"
    done >> "${ENROOT_MOUNTS}"

if [ "$(jq '[.hooks, .netDevices, .intelRdt] | map(length) | add' <<< "${edits}")" != 0 ]; then
    echo "50-cdi.sh: enroot runs no OCI hooks, and moves no network devices: these edits are left out" >&2
fi
