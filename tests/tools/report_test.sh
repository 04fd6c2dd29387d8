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
  cmp -s result/report.md third/report.md || die "results.json tells less than the journal"
  FAKE_SLOWER=1 expect 0 "$tandem" run ./sweep.json --out other --step-bench "$fake" --oversubscribe
  expect 0 "$tandem" merge result other --out merged
  grep -q '6 launches each' merged/report.md || die "launches were not merged"
  grep -q '^    tandem run ./sweep.json .*--out again$' other/report.md || die "its command is not told"
  grep -q 'tandem merge again-1 again-2 --out again' merged/report.md ||
    die "the commands of both are not told"
  sed 's/"load_avg":\[[^]]*\]/"load_avg":[0,0,0]/' result/journal.jsonl >idle.jsonl
  sed 's/"load_avg":\[[^]]*\]/"load_avg":[999,9,9]/' other/journal.jsonl >busy.jsonl
  expect 0 "$tandem" merge idle.jsonl busy.jsonl --out loaded
  grep -q 'load average at the start of the busiest part was 999' loaded/report.md ||
    die "the second part's load is not told"
  echo '{' >broken.json
  expect 2 "$tandem" report broken.json --out fourth
  one_line 'not valid JSON'
  expect 2 "$tandem" report result/cells.csv
  one_line 'reading result/cells.csv: it is not valid JSON'
  ln -s loop loop
  expect 2 "$tandem" report loop --out fourth
  one_line 'reading loop: Too many levels of symbolic links; check the path'
  expect 2 "$tandem" report result --out fourth --threshold=abc
  one_line "--threshold is 'abc'"
  expect 2 "$tandem" report result --out fourth --threshold=3%
  one_line 'do nothing with one document'
  [ ! -e fourth ] || die "something was written"
}

case_other_launches() {
  sweep 64
  expect 0 run
  expect 2 "$tandem" run ./sweep.json --launches=2 --out result --step-bench "$fake" --oversubscribe
  one_line 'launches: 3 there, 2 here'
}

case_same_launches() {
  sweep 64
  expect 0 run
  expect 0 "$tandem" report result --out copy
  FAKE_SLOWER=1 expect 0 "$tandem" run ./sweep.json --out other --step-bench "$fake" --oversubscribe
  for again in result result/ copy copy/results.json; do
    expect 2 "$tandem" merge result $again --out merged
    one_line "result and $again hold the same launches: give each once"
  done
  expect 0 "$tandem" merge other result --out merged
  expect 2 "$tandem" merge result merged --out twice
  one_line 'result and merged hold the same launches'
  [ ! -e twice ] || die "something was written"
  cp result/results.json before
  expect 2 "$tandem" merge result other --out result
  one_line 'would overwrite that of result; choose another folder with --out'
  expect 2 "$tandem" report result other --out ./other
  one_line 'would overwrite that of other'
  cmp -s before result/results.json || die "a source was overwritten"
}

# other_run FOLDER [MICROSECONDS]: the sweep again, all times so much longer
other_run() {
  FAKE_SLOWER=${2:-1} expect 0 "$tandem" run ./sweep.json --out "$1" --step-bench "$fake" --oversubscribe
}

case_side_by_side() {
  sweep 64
  expect 0 run
  other_run other 9000
  rm out
  "$tandem" report result other >told || die "two runs are not reported"
  [ "$(tail -1 told)" = "$folder/out/report-1/report.html" ] || die "no folder of its own: $(tail -1 told)"
  grep -q '^# 2 documents side by side' out/report-1/report.md || die "no heading"
  [ "$(ls out/report-1)" = "$(printf 'report.html\nreport.md')" ] || die "files that are of no one document"
  "$tandem" compare result other >compared
  [ $? = 3 ] || die "compare sees no cell that is SLOWER"
  count=$(grep '^[0-9]* cells\{0,1\}: ' compared)
  grep -qF -- "- B against A: $count" out/report-1/report.md || die "other counts than compare's"
  grep -oE '[0-9.]+x \[[0-9.]+ \.\. [0-9.]+\]' compared >ratios
  [ "$(wc -l <ratios)" = 5 ] || die "not a ratio per cell"
  while read -r ratio; do
    tr -d '\\' <out/report-1/report.md | grep -qF -- "$ratio" || die "compare's $ratio is not told"
  done <ratios
  mv out reports
  other_run third
  expect 0 "$tandem" report result other third --out three --threshold=10%
  grep -q '^- C against A: 5 cells: .* 5 SAME' three/report.md || die "the third is not judged by its threshold"
}

case_side_by_side_refused() {
  sweep 64
  expect 0 run
  expect 2 "$tandem" report result result/journal.jsonl --out same
  one_line 'result and result/journal.jsonl hold the same launches: give each once'
  sweep 128
  other_run wider
  expect 2 "$tandem" report result wider --out none
  one_line 'reporting wider beside result: no cell was measured in both'
  expect 2 "$tandem" report result wider --out wider
  one_line 'would overwrite that of wider'
  expect 2 "$tandem" report result wider --out none --threshold=lots
  one_line '--threshold is .lots.'
  expect 2 "$tandem" report result wider --out none --figures=result/results.json
  one_line '--figures belong to one document'
  sed 's/"schema_version": *"[^"]*"/"schema_version": "9.0.0"/' wider/results.json >newer.json
  expect 2 "$tandem" report result newer.json --out none
  one_line '9.0.0'
  [ ! -e none ] && [ ! -e same ] || die "something was written"
}

"case_$3" || exit 1
