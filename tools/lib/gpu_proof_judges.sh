# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# shellcheck disable=SC2154  # set by who sources this
# How the rows of tools/gpu_proof are judged. Sourced, with `out`, `backend`, `row_name`, `bar`, `bar_words` set.

# reason_in LOG: what a program said last in its own name, or its last line.
reason_in() {
  local line
  line=$(grep -aE '^(tandem|step_bench|collective_bench|lessons): ' "$1" | tail -n 1) ||
    line=$(tail -n +2 "$1" | grep -av '^[[:space:]]*$' | tail -n 1) || line='it printed nothing'
  printf '%s\n' "$line"
}

# Each judge sets `state` and `detail` from the exit status and the log.
judge_exit() {
  if [ "$1" = 0 ]; then state=passed detail=; else state=failed detail="exit status $1: $(reason_in "$2")"; fi
}

judge_gtest() {
  local passed skipped
  passed=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) tests\{0,1\}\.$/\1/p' "$2")
  skipped=$(sed -n 's/^\[  SKIPPED \] \([0-9]*\) tests\{0,1\}, listed below:$/\1/p' "$2")
  if [ "$1" != 0 ] || [ -z "$passed" ]; then
    state=failed detail="exit status $1: $(grep -am 1 '^\[  FAILED  \]' "$2" || reason_in "$2")"
  elif [ "$passed" = 0 ]; then
    state='not run' detail="all skipped: $(grep -aA1 -m 1 ': Skipped$' "$2" | sed -n 2p || true)"
  else
    state=passed detail="$passed cases${skipped:+, $skipped skipped}"
  fi
}

# Racecheck counts hazards, the others errors. A device that the tool does not know is no fault of the program.
judge_sanitizer() {
  local summary
  summary=$(grep -aE 'ERROR SUMMARY|RACECHECK SUMMARY' "$2" | tail -n 1 | sed 's/^=* *//' || true)
  if grep -aqi 'device not supported' "$2"; then
    state='not run' detail='device not supported'
  elif [ "$1" = 0 ] && [[ $summary =~ 'SUMMARY: 0 ' ]]; then
    state=passed detail=$summary
  elif [ "$1" = 0 ]; then
    state=failed detail="${summary:-no summary in the log}"
  else
    state=failed detail="exit status $1: ${summary:-$(reason_in "$2")}"
  fi
}

judge_sweep() {
  local journal=$out/sweeps/$row_name/journal.jsonl measured skipped
  measured=$(grep -ac '"status":"ok"' "$journal" 2>/dev/null || true)
  skipped=$(grep -ac '"status":"skipped"' "$journal" 2>/dev/null || true)
  judge_exit "$1" "$2"
  if [ "$state" = passed ] && [ "${measured:-0}" = 0 ]; then
    state=failed detail='no launch was measured'
  elif [ "$state" = passed ]; then
    detail="$measured launches measured"
    if [ -n "$lacks_torch" ]; then detail+=", none of PyTorch's: $lacks_torch"; fi
    if [ "${skipped:-0}" != 0 ]; then detail+=", $skipped skipped: the report says why"; fi
  fi
}

# What step_bench pair prints of the ratio.
judge_pairs() {
  judge_exit "$1" "$2"
  if [ "$state" = passed ]; then detail=$(grep -aom 1 'step time with .* over step time without: [^)]*)' "$2" || true); fi
}

# ten_thousandths FIGURE: of a decimal with four places, such as 0.9950, as a whole number; fails for any other text.
ten_thousandths() {
  [[ $1 =~ ^([0-9]+)\.([0-9]{4})$ ]] || return 1
  printf '%s\n' $((10#${BASH_REMATCH[1]}${BASH_REMATCH[2]}))
}

# A bar holds where the whole interval lies on its right side, and is missed where all of it lies on the other.
judge_at_least() {
  local line low high least
  judge_exit "$1" "$2"
  if [ "$state" != passed ]; then return 0; fi
  line=$(grep -aom 1 "$bar_words.*" "$2") || line='it printed no such figure'
  detail=$line
  if [ "$backend" = host ]; then detail="$line; not judged: a rehearsal"; return 0; fi
  state='not resolved'
  if ! [[ $line =~ '95 % interval '([0-9.]+)' to '([0-9.]+) ]]; then return 0; fi
  low=$(ten_thousandths "${BASH_REMATCH[1]}") && high=$(ten_thousandths "${BASH_REMATCH[2]}") && least=$(ten_thousandths "$bar") || return 0
  if [ "$low" -ge "$least" ]; then state=passed; elif [ "$high" -lt "$least" ]; then state=failed; fi
  detail+="; at least $bar is asked for"
}

# Where PyTorch has one kernel for attention and Tandem several, every step of a transformer is too slow.
judge_fused() {
  local attention
  judge_trace "$1" "$2"
  if [ "$state" != passed ]; then return 0; fi
  attention=$(grep -ao '"attention": *"[^"]*"' "$out/logs/$row_name.record.json" | sed -n '1{s/.*: *"//;s/"$//;p}') || attention=
  detail+=", attention: ${attention:-not said}"
  if [[ $attention != *', fused'* ]]; then state=failed; fi
}

# ncu ends with 0 where it profiled nothing.
judge_counted() {
  local kernels
  judge_exit "$1" "$2"
  if [ "$state" != passed ]; then return 0; fi
  kernels=$(grep -ac '^ *dram__bytes.sum ' "$2") || { state=failed detail='Nsight Compute profiled no kernel'; return 0; }
  detail="$kernels kernels profiled"
}

judge_over_nccl() {
  judge_exit "$1" "$2"
  if [ "$state" = passed ] && ! grep -aq 'NCCL INFO.* Init COMPLETE' "$2"; then
    state=failed detail='the log has no communicator of NCCL'
  fi
}
