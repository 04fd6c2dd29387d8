#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# compare.py reads our results documents and sees the factor between them.
#   compare_py_test.sh COMPARE_PY WRITE_EXAMPLE
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$2" "$folder/a.json" "$folder/b.json"
"$1" "$folder/a.json" "$folder/b.json" >"$folder/out" || { code=$?; cat "$folder/out"; exit $code; }
cat "$folder/out"
# Every entry of b takes twice as long: "+1.0000" beside its name.
grep -q '^ddp/processes/mlp-small/devices:2/batch:64/grads:views .*+1\.0000' "$folder/out"
grep -q '_pvalue' "$folder/out"
if grep -q '^single' "$folder/out"; then exit 1; fi
