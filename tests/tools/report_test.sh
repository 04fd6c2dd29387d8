#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs one case of `tandem report`, on what runs with a fake step_bench leave.
#   report_test.sh TANDEM FAKE_STEP_BENCH CASE
# shellcheck source=tests/tools/cases.sh
source "$(dirname "$0")/cases.sh"
export OMP_NUM_THREADS=7 BENCHMARK_OUT=/nowhere OPENBLAS_CORETYPE=Haswell

case_report() {
  sweep 64
  expect 0 run
  mkdir empty
  expect 2 "$tandem" report empty --out again
  one_line 'neither journal.jsonl nor results.json'
  expect 2 "$tandem" report absent --out again
  one_line 'no such file or folder'
  expect 0 "$tandem" report result --out again
  for file in results.json report.html report.md cells.csv comparisons.csv samples.csv; do
    cmp -s result/$file again/$file || die "$file differs when reported again"
  done
  expect 0 "$tandem" report again/results.json --out third
  cmp -s result/report.md third/report.md || die "results.json holds less than the journal"
  FAKE_SLOWER=1 expect 0 "$tandem" run ./sweep.json --out other --step-bench "$fake" --oversubscribe
  grep -q '^    tandem run ./sweep.json .*--out again$' other/report.md || die "its command is not printed"
  echo '{' >broken.json
  expect 2 "$tandem" report broken.json --out fourth
  one_line 'not valid JSON'
  expect 2 "$tandem" report result/cells.csv
  one_line 'reading result/cells.csv: it is not valid JSON'
  ln -s loop loop
  expect 2 "$tandem" report loop --out fourth
  one_line 'reading loop: Too many levels of symbolic links; check the path'
  [ ! -e fourth ] || die "something was written"
}

case_other_launches() {
  sweep 64
  expect 0 run
  expect 2 "$tandem" run ./sweep.json --launches=2 --out result --step-bench "$fake" --oversubscribe
  one_line 'launches: 3 there, 2 here'
}

# other_run FOLDER [MICROSECONDS]: the sweep again, all times so much longer
other_run() {
  FAKE_SLOWER=${2:-1} expect 0 "$tandem" run ./sweep.json --out "$1" --step-bench "$fake" --oversubscribe
}

case_several_refused() {
  sweep 64
  expect 0 run
  expect 2 "$tandem" report result result/journal.jsonl --out same
  one_line 'result and result/journal.jsonl hold the same launches: give each once'
  other_run other
  expect 2 "$tandem" report result other --out none
  one_line 'tandem compare judges one run against another'
  sed 's/"schema_version": *"[^"]*"/"schema_version": "9.0.0"/' other/results.json >newer.json
  expect 2 "$tandem" report result newer.json --out none
  one_line '9.0.0'
  [ ! -e none ] && [ ! -e same ] || die "something was written"
}

"case_$3" || exit 1
