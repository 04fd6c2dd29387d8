#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs one case of a run that goes on until comparisons are resolved, on a fake step_bench.
#   resolve_test.sh TANDEM FAKE_STEP_BENCH CASE
# shellcheck source=tests/tools/cases.sh
source "$(dirname "$0")/cases.sh"

# launches_of STRATEGY DEVICES: how many measured
launches_of() { grep '"status":"ok"' result/journal.jsonl | grep "\"strategy\":\"$1\"" | grep -c "\"devices\":$2"; }

# What is clear at the first look is not looked at again.
case_clear() {
  sweep 64
  sed -i 's/"launches": 3/"launches": 6/' sweep.json
  expect 0 run --resolve
  [ "$(launches)" = 20 ] || die "not 5 cells x 4 launches"
  grep -q 'ddp, threads is 2.00 times as fast as dp' out || die "no verdict"
  grep -q 'looked at after each round from 4 to 24, until resolved or equal within 3 %' result/report.md || die "the looks are not printed"
  grep -q '"resolving":{"ratio":0.03,"comparisons":1,"first_round":4,"last_round":24}' result/journal.jsonl || die "the looks are not kept"
}

case_equal() {
  sweep 64
  export -f run
  TERM=xterm SHELL=/bin/bash FAKE_COSTS=none=0 tandem=$tandem fake=$fake expect 0 script -qec 'stty cols 90; run --resolve=2%' screen
  tr '\r' '\n' <screen | sed -n 's,^\[\([0-9]*/[0-9]*\)\, .*,\1,p' >counts
  seq -f %g/15 15 | diff - counts || die "not each launch is counted once, in turn"
  [ "$(launches_of dp 2)" = 3 ] || die "it went on"
  grep -q 'dp and ddp, threads are equal within 2 %' out || die "not printed as equal"
}

# Only the cells of the open comparison go on, and not for ever.
case_open() {
  sweep 64
  # Slow enough for a second line, which comes ten seconds after the first.
  FAKE_SLEEP=0.4 FAKE_COSTS=none=0 FAKE_NOISE=20 expect 0 run --resolve
  [ "$(launches_of dp 2)" = 18 ] && [ "$(launches_of ddp 2)" = 18 ] || die "not to the sixfold"
  [ "$(launches_of dp 1)" = 3 ] && [ "$(launches_of single 1)" = 3 ] || die "cells that nothing is open about went on"
  grep -q '; open: mlp-tiny 64 (1 of 1 comparison, .* at most)' err || die "what is open is not printed"
  grep -q 'not resolved' out || die "a verdict by noise"
  [ ! -e result/unfinished ] || die "marked unfinished"
  cp result/journal.jsonl before
  FAKE_COSTS=none=0 FAKE_NOISE=20 expect 0 run --resolve
  cmp before result/journal.jsonl || die "a complete run went on"
  expect 2 run --resolve=5% --launches=8
  one_line '^tandem: --resolve: this folder was begun with 3%, here it is 5%; '
  [ ! -e result/unfinished ] || die "a refused command changed the folder"
}

case_later() {
  sweep 64
  FAKE_NOISE=60 expect 0 run --resolve
  [ "$(launches_of dp 2)" -gt 3 ] && [ "$(launches_of dp 2)" -lt 18 ] || die "resolved at once, or never"
  [ "$(launches_of dp 2)" = "$(launches_of ddp 2)" ] || die "the sides of a comparison have other rounds"
  grep -q 'times as fast as dp' out || die "not resolved"
}

# Launches that others disturbed do not count, and the next round takes their place.
case_disturbed() {
  sweep 64
  FAKE_DISTURBED=2 FAKE_NOISE=60 expect 0 run --resolve
  [ "$(launches_of dp 2)" -gt 5 ] || die "disturbed launches counted"
  grep -q 'times as fast as dp' out || die "not resolved"
}

# A comparison ends with a launch that fails, and the next run tries it again.
case_failed() {
  sweep 64
  FAKE_COSTS=none=0 FAKE_NOISE=20 FAKE_FAIL=dp expect 1 run --resolve
  grep -q '^ddp is faster\|^No step was measured under both dp and ddp' out || die "a verdict without dp"
  FAKE_COSTS=none=0 FAKE_NOISE=20 expect 0 run --resolve
  [ "$(launches_of dp 2)" = 18 ] || die "it did not go on"
}

case_budget() {
  sweep 64
  COLUMNS=100 FAKE_COSTS=none=0 FAKE_NOISE=20 FAKE_SLEEP=0.45 expect 0 run --resolve --budget=12s
  { tr '\n' ' ' <err | grep -q 'the budget is spent: .* cells: .*dp/threads/mlp-tiny/devices:2' && ! grep -q '.\{101\}' err; } ||
    die "what is left is not printed in lines of 100 columns"
  [ "$(launches_of dp 2)" -lt 18 ] || die "the budget was not kept"
  [ "$(launches_of single 1)" -gt 0 ] || die "no time was kept for cells outside comparisons"
  FAKE_COSTS=none=0 FAKE_NOISE=20 expect 0 run --resolve
  [ "$(launches_of dp 2)" = 18 ] || die "it did not go on"
}

case_dry_run() {
  sweep 64
  expect 0 run --resolve --dry-run
  grep -q '^5 cells, 15 launches to go' out || die "not what is planned"
  grep -q '^--resolve goes on where neither dp nor ddp is faster beyond doubt, up to 6 times as many launches of theirs$' out || die "the most is not printed"
  expect 0 run --resolve --dry-run --budget=90s
  grep -q ' of theirs, as far as the budget of 1m30s goes$' out || die "the budget is not printed"
  FAKE_COSTS=none=0 FAKE_NOISE=20 expect 0 run --resolve
  expect 0 run --resolve --dry-run
  grep -q '^5 cells, 0 launches to go' out || die "the journal was not read"
  expect 0 "$tandem" run ./sweep.json --dry-run --step-bench "$fake" --oversubscribe
  if grep -q -- --resolve out; then die "printed without --resolve"; fi
}

# A budget too short for two rounds of all cells goes to the comparison.
case_short_budget() {
  sweep 64
  sed -i 's/"batch": 64/"batch": [64, 65, 67, 69, 71, 73, 75, 77]/' sweep.json
  FAKE_SLEEP=0.45 expect 0 run --resolve --budget=20s
  grep -q 'times as fast as dp' out || die "nothing is decided"
}

# A cell that fails is not tried again by each part of the run.
case_failing_other() {
  sweep 64
  FAKE_FAIL=single expect 1 run --resolve
  [ "$(grep -c '"strategy":"single"' result/journal.jsonl)" -le 3 ] || die "a failing cell was launched again and again"
}

case_refusals() {
  sweep 64
  sed -i 's/, {"strategy": "ddp"[^}]*}//' sweep.json
  expect 2 run --resolve
  one_line '^tandem: --resolve: the sweep has no dp and ddp at the same point on two or more devices'
  sweep 64
  expect 2 run --resolve=much
  one_line "^tandem: --resolve is 'much': give a percentage"
  [ ! -e result ] || die "something was written"
}

# A folder grows by the same command with more launches, and never shrinks.
case_grow() {
  sweep 64
  expect 0 run
  [ "$(launches)" = 15 ] || die "not 15 launches"
  expect 0 run --launches=5 --dry-run
  grep -q '10 launches to go' out || die "what is to go is not printed"
  expect 0 run --launches=5
  grep -q '^the folder grows from 3 launches per cell to 5; ' err || die "the second look is not printed"
  [ "$(launches)" = 25 ] || die "not 25 launches"
  expect 2 run --launches=4
  one_line 'launches: 5 there, 4 here'
  sed -i 's/10ms/11ms/' sweep.json
  expect 2 run --launches=6
  one_line 'min_time: '
}

"case_$3" || exit 1
