#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Google Benchmark's compare.py reads our documents and sees the factor between them. Skipped (77)
# where the tool or its scipy is missing.
#   compare_py_test.sh WRITE_EXAMPLE
set -u
tool=/usr/share/benchmark/compare.py
if [ ! -f "$tool" ]; then
  echo "skipped: $tool is missing (Debian: libbenchmark-tools)"
  exit 77
fi
python=
for candidate in python3 /usr/bin/python3; do
  if "$candidate" -c 'import scipy' 2>/dev/null; then
    python=$candidate
    break
  fi
done
if [ -z "$python" ]; then
  echo "skipped: compare.py needs scipy, which no python3 here has (Debian: python3-scipy)"
  exit 77
fi
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
"$1" "$folder/a.json" "$folder/b.json" || exit 1
"$python" "$tool" --no-color benchmarks "$folder/a.json" "$folder/b.json" >"$folder/out" || exit 1
cat "$folder/out"
# The documents hold different numbers of iterations; entries are matched by their names all the same.
for iterations in 3 7; do
  grep -q "\"iterations\": *$iterations\b" "$folder/a.json" "$folder/b.json" || exit 1
done
# Every entry of b takes twice as long: "+1.0000" beside its name.
grep -q '^dp/processes/mlp-small/devices:2/batch:64/grads:views .*+1\.0000' "$folder/out" || exit 1
grep -q '^ddp/processes/mlp-small/devices:2/batch:64/grads:views .*+1\.0000' "$folder/out" || exit 1
grep -q '_pvalue' "$folder/out" || exit 1
if grep -q '^single' "$folder/out"; then exit 1; fi
