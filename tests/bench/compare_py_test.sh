#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# compare.py matches two outputs of step_bench by name, whatever number of samples each took.
#   compare_py_test.sh COMPARE_PY STEP_BENCH
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for samples in 5 7; do
  "$2" --backend=host --model=mlp-tiny --batch=8 --min-time=1us --min-samples=$samples \
    --warmup-time=1ms --benchmark_out="$folder/$samples.json" >/dev/null
done
"$1" "$folder/5.json" "$folder/7.json" >"$folder/out" || { code=$?; cat "$folder/out"; exit $code; }
cat "$folder/out"
grep -q '^single/threads/mlp-tiny/devices:1/batch:8 .*[+-][0-9]' "$folder/out"
