#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The folder that quickstart measures into: the unfinished one again, else a new one.
#   run_folder_test.sh TOOLS TANDEM FAKE_STEP_BENCH
set -u
tandem=$2
fake=$3
# shellcheck source=tools/lib/run_folder.sh
. "$1/lib/run_folder.sh" || exit 1
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT

die() {
  echo "FAILED: $*"
  exit 1
}

# chosen NUMBER KEY
chosen() {
  local got
  got=$(run_folder "$folder/out" "$2") || die "no folder"
  [ "$got" = "$folder/out/run-$1" ] || die "$got instead of run-$1"
}

# measure FOLDER OPTION...
measure() {
  local into=$1
  shift
  "$tandem" run "$folder/sweep.json" --out "$into" --step-bench "$fake" --oversubscribe "$@" >"$folder/said" 2>&1
}

cat >"$folder/sweep.json" <<JSON
{"name": "test", "workloads": [{"model": "mlp-tiny", "batch": 64}], "devices": [1], "strategies": ["single"],
 "launches": 2, "min_time": "10ms", "min_samples": 3}
JSON

chosen 1 first
chosen 1 first # stopped before tandem had begun

FAKE_HANG=single measure "$folder/out/run-1" &
pid=$!
tries=0
while [ -z "$(find "$folder/out/run-1" -name '*.started')" ]; do
  tries=$((tries + 1))
  [ $tries -lt 300 ] || die "the launch that hangs did not start"
  sleep 0.1
done
kill -INT "$(pgrep -P $pid -x tandem || echo $pid)"
wait $pid
[ -e "$folder/out/run-1/results.json" ] || die "no results after the interrupt"
chosen 1 first # stopped by Ctrl-C
measure "$folder/out/run-1" || die "the resumed run failed: $(cat "$folder/said")"
chosen 2 first # complete
chosen 3 second # the unfinished one belongs to other options
