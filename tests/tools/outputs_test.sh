#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What tandem writes, and what it never writes over.
#   outputs_test.sh TANDEM FAKE_STEP_BENCH CASE
# shellcheck source=tests/tools/cases.sh
source "$(dirname "$0")/cases.sh"

# measure FOLDER: a small sweep
measure() {
  "$tandem" run ./sweep.json --out "$1" --step-bench "$fake" --oversubscribe
}

# two_runs: in result, and in other with all times longer
two_runs() {
  cat >sweep.json <<JSON
{"name": "test", "workloads": [{"model": "mlp-tiny", "batch": 64}], "devices": [1, 2],
 "strategies": ["single", "dp"], "launches": 3, "min_time": "10ms", "min_samples": 3}
JSON
  expect 0 measure result
  FAKE_SLOWER=1 expect 0 measure other
}

all_files() { find . -type f ! -path ./out ! -path ./err -exec sha256sum {} + | sort; }

# refused WORDS COMMAND...: one line, exit status 2, and all files as they were
refused() {
  local words=$1 before
  shift
  before=$(all_files)
  expect 2 "$@"
  one_line "$words"
  [ "$(all_files)" = "$before" ] || die "'$*' wrote something"
}

case_keeps_inputs() {
  two_runs
  mkdir alone && cp other/results.json alone/mine.json
  ln -s ../result/journal.jsonl alone/link
  for output in result/journal.jsonl ./result/results.json alone/mine.json alone/link; do
    refused 'what is read, and would be overwritten' "$tandem" compare result alone/mine.json --json=$output
  done
  expect 0 "$tandem" compare result other --json=result/changes.json
  mv alone/mine.json alone/results.json
  refused 'whose launches would be listed twice' "$tandem" report alone/results.json --figures alone/results.json
  echo '{"benchmarks": []}' >alone/samples.csv
  refused 'what is read, and would be overwritten' "$tandem" report alone/results.json --figures alone/samples.csv
  rm alone/samples.csv
  mkdir in && cp sweep.json in/unfinished
  refused 'what is read, and would be overwritten' "$tandem" run ./in/unfinished --out in --step-bench "$fake"
  # A newer minor version has fields that this program would lose.
  sed -i 's/"schema_version": *"[^"]*"/"schema_version": "2.99.0", "new": {"a": 1}/' alone/results.json
  cp alone/results.json before
  expect 0 "$tandem" report alone/results.json
  cmp -s before alone/results.json || die "what is only read was written anew"
  [ -s alone/report.html ] || die "no page"
}

case_keeps_others() {
  two_runs
  mkdir alone && cp other/results.json alone
  refused 'holds a results.json that is not of this run' measure alone
  mkdir page && echo mine >page/report.html
  refused 'holds a report.html that is not of this run' measure page
  refused "holds a report.html that is not Tandem's" "$tandem" report result --out page
  refused 'holds another run' "$tandem" report result --out alone
  refused 'holds another run' "$tandem" report result --out other
  refused 'holds a results.json that is not of this run' \
    "$tandem" explain --model=mlp-tiny --batch=64 --oversubscribe --step-bench "$fake" --out alone
  mkdir circle && ln -s journal.jsonl circle/journal.jsonl
  refused 'reading .*circle/journal.jsonl: Too many levels of symbolic links; check the path' \
    "$tandem" run ./sweep.json --dry-run --out circle --step-bench "$fake" --oversubscribe
  # A report of the same launches may be made again.
  for _ in 1 2; do expect 0 "$tandem" report result --out again; done
}

case_full_output() {
  [ -c /dev/full ] || exit 77
  two_runs
  for command in "compare result other" "report result" "list sweeps" "doctor --json" "--help" "compare --help"; do
    read -ra words <<<"$command"
    "$tandem" "${words[@]}" >/dev/full 2>err
    code=$?
    [ $code = 1 ] || die "'$command' ended with $code instead of 1"
    one_line 'writing to standard output: No space left on device'
  done
  # A reader that goes away, as head does, is no error, and the answer keeps its status.
  for command in "list sweeps" "report result --details" "compare result other --threshold=0% --fail-on=unsure"; do
    read -ra words <<<"$command"
    { sleep 0.3; "$tandem" "${words[@]}" 2>err; echo $? >ended; } | true
    [ "$(cat ended)" = "$([[ $command = compare* ]] && echo 3 || echo 0)" ] || die "'$command' | true: $(cat ended)"
    [ ! -s err ] || die "'$command' | true: $(cat err)"
  done
  expect 1 "$tandem" compare result other --json=/dev/full
  one_line 'writing /dev/full: No space left on device'
  [ -c /dev/full ] || die "the device is gone"
  "$tandem" compare result other --json=/dev/stdout >both || die "no JSON on standard output"
  grep -q '"cells"' both || die "the JSON is missing"
  grep -q '^A  result' both || die "the words are missing"
}

"case_$3" || exit 1
