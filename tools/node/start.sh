#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Proves the CUDA half of Tandem on this node, within minutes, from the archive that lies beside this script.
#
#   bash start.sh [--out DIR] [--minutes N] [OPTION OF gpu_proof...]
#
#   --out DIR      default: out, beside this script
#   --minutes N    end within so many minutes, unpacking included, from 0.1 to 99.9 (default: 9; all rows take 13 on one
#                  GPU, 17 on several)
#   --rehearse     on the CPU, with tiny models; --rows NAME,... only these rows; ./gpu_proof --help lists the others
#
# DIR gets at most seven files, the newest state every 15 s: table.txt, log.txt, results.json, results-to-send.json,
# report.html, all.tar.gz (every log, trace and record) and, where something is odd, notes.txt. A kill loses 15 s. Needs
# bash, coreutils, tar, gzip, and xz or python3. Exit status: that of gpu_proof; 1 where it cannot start; 2 for wrong usage.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
archive=$here/tandem.tar.xz
least_mib=700  # unpacked, with logs and what PyTorch compiles

say() { printf 'start: %s\n' "$*"; }
die() { printf 'start: %s\n' "$2" >&2; exit "$1"; }

out=$here/out minutes=9 options=()
while [ $# -gt 0 ]; do
  case $1 in
    --out | --minutes) [ $# -ge 2 ] || die 2 "$1 needs a value"; set -- "$1=$2" "${@:3}" ;;
    --out=*) out=${1#*=}; [ -n "$out" ] || die 2 "--out needs a folder"; shift ;;
    --minutes=*) minutes=${1#*=}; shift ;;
    -h | --help) sed -n '3,/^[^#]/{s/^# \{0,1\}//p;}' "$0"; exit 0 ;;
    *) options+=("$1"); shift ;;
  esac
done
[[ $minutes =~ ^([1-9][0-9]?)(\.[0-9])?$|^0\.[1-9]$ ]] || die 2 "--minutes: '$minutes' is no number from 0.1 to 99.9, such as 9 or 8.5"
if [[ $minutes == *.* ]]; then limit=$((${minutes%.*} * 60 + ${minutes#*.} * 6)); else limit=$((minutes * 60)); fi
{ mkdir -p "$out" && [ -w "$out" ]; } 2>/dev/null || die 1 "--out: '$out' cannot be written; choose another folder"
out=$(cd "$out" && pwd -P)
[ ! -e "$out/table.txt" ] || die 2 "--out: '$out' holds an earlier proof; choose another folder"
[ -f "$archive" ] || die 1 "$archive is not there; keep it beside this script"

note() { say "$1"; { printf '%s\n' "$1" >>"$out/notes.txt"; } 2>/dev/null || true; }

# An empty list hides every GPU; whoever starts this wants them seen.
if [ -n "${CUDA_VISIBLE_DEVICES+set}" ] && [ -z "$CUDA_VISIBLE_DEVICES" ]; then
  unset CUDA_VISIBLE_DEVICES
  note 'CUDA_VISIBLE_DEVICES was set and empty, which hides every GPU: it is unset here'
fi

# Where ranks of one node meet; containers often have 64 MiB.
shared=$(df -Pm /dev/shm 2>/dev/null | tail -n 1 | tr -s ' ' | cut -d ' ' -f 2) || shared=
if [[ $shared =~ ^[0-9]+$ ]] && [ "$shared" -lt 256 ]; then
  note "/dev/shm has $shared MiB: rows of several processes may fail; start a container with --shm-size=1g"
fi

# runs_programs FOLDER: whether programs start from there; many nodes mount /tmp noexec.
runs_programs() {
  printf '#!/bin/sh\n' >"$1/tried" && chmod +x "$1/tried" && "$1/tried"
} 2>/dev/null

# Sets `work`: a new folder on the first disk with room.
make_work() {
  local place free
  for place in "${TMPDIR:-/tmp}" /tmp /var/tmp "$out" /dev/shm; do
    free=$(df -Pm "$place" 2>/dev/null | tail -n 1 | tr -s ' ' | cut -d ' ' -f 4) || continue
    if [[ $free =~ ^[0-9]+$ ]] && [ "$free" -ge "$least_mib" ] && work=$(mktemp -d "$place/tandem-proof.XXXXXX" 2>/dev/null); then
      if ! runs_programs "$work"; then rm -r "$work"; continue; fi
      [ "$place" = "${TMPDIR:-/tmp}" ] || note "${TMPDIR:-/tmp} has no room or starts no programs: working in $place"
      return 0
    fi
  done
  die 1 "no disk here has $least_mib MiB free and starts programs (tried ${TMPDIR:-/tmp}, /tmp, /var/tmp, $out, /dev/shm); free some, or set TMPDIR to a disk with room"
}

unpack() {
  if command -v xz >/dev/null; then
    xz -dc "$archive" | tar -C "$work" -xf -
  else
    python3 -c 'import sys, tarfile; tarfile.open(sys.argv[1], "r:xz").extractall(sys.argv[2])' "$archive" "$work"
  fi
}

# What there is so far; each file in one piece, or as it was before. Fails where one could not be written.
save() {
  local file status=0
  for file in table.txt log.txt results.json results-to-send.json report.html; do
    [ -s "$work/proof/$file" ] || continue
    if sed "$lasting" "$work/proof/$file" >"$out/.part" && mv "$out/.part" "$out/$file"; then :; else status=1; fi
  done
  if [ -d "$work/proof" ]; then
    # A file may grow while it is packed (tar's status 1), which is no loss.
    if { nice -n 19 tar -C "$work" -cf - proof || [ $? = 1 ]; } | nice -n 19 gzip >"$out/.part" && mv "$out/.part" "$out/all.tar.gz"; then :; else status=1; fi
  fi
  rm -f "$out/.part"
  return $status
} 2>/dev/null

proof='' status=0
stop() {
  if [ -n "$proof" ]; then kill -"$1" "$proof" 2>/dev/null || true; fi
}
# shellcheck disable=SC2317  # the trap calls it
leave() {
  stop KILL
  save || true
  rm -rf "$work"
}

make_work
# What is named in the work folder lasts in --out.
escaped() { printf '%s' "$1" | sed 's/[]&|\\.*^$[]/\\&/g'; }
from=$(escaped "$work/proof") to=$(escaped "$out")
lasting="s|$from/\(report.html\|results-to-send.json\)|$to/\1|; s|in $from/figures|in $to/all.tar.gz: proof/figures|; s|$from|$to|"
trap leave EXIT
trap 'if [ -n "$proof" ]; then stop TERM; else exit 143; fi' INT TERM HUP
unpack 2>/dev/null || die 1 "$archive cannot be unpacked into $work: the file is cut off, or the disk is full; copy it again, or free some room"
starter=$(echo "$work"/tandem-*/gpu_proof)
[ -x "$starter" ] || die 1 "$archive has no gpu_proof; pack it again with tools/gpu_node pack"
# The last report and the last copy take some seconds.
tenths=$(((limit - SECONDS - 12) / 6))
[ "$tenths" -gt 0 ] || die 1 "unpacking took $SECONDS s, and $minutes minutes leave no time for a row"
exec 3> >(sed -u "$lasting")
words=$!
"$starter" --out "$work/proof" --minutes "$((tenths / 10)).$((tenths % 10))" "${options[@]}" </dev/null >&3 &
proof=$!
exec 3>&-
saved=$SECONDS
while kill -0 "$proof" 2>/dev/null; do
  sleep 1
  if [ "$SECONDS" -ge "$((limit - 3))" ]; then stop KILL; elif [ "$SECONDS" -ge "$((limit - 7))" ]; then stop TERM; fi
  if [ "$((SECONDS - saved))" -ge 15 ]; then
    save || note 'the newest state could not be saved: is the disk of --out full?'
    saved=$SECONDS
  fi
done
wait "$proof" || status=$?
proof=
if [ "$status" != 137 ]; then wait "$words" || true; fi  # else what is left of a row may hold it open
if ! save; then
  note "saving in $out: not everything could be written; is the disk full? Free some, or give another --out"
  [ "$status" != 0 ] || status=1
fi
say "ended with $status after $SECONDS s; $out has $(cd "$out" && shopt -s nullglob && files=(*) && echo "${files[*]:-nothing}")"
exit "$status"
