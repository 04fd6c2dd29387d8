#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# compare.py matches two outputs of a program by name, whatever number of samples each took.
#   compare_runs_test.sh COMPARE_PY NAME PROGRAM [ARG...]
set -eu
compare_py=$1 name=$2
shift 2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for samples in 5 7; do
  "$@" --samples=$samples --benchmark_out="$folder/$samples.json" >/dev/null
done
"$compare_py" "$folder/5.json" "$folder/7.json" >"$folder/out" || { code=$?; cat "$folder/out"; exit $code; }
cat "$folder/out"
grep -q "^$name .*[+-][0-9]" "$folder/out"
