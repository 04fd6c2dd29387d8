# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What the tests of the command line share: a scratch folder to run in, and ways to fail. Sourced, with the
# arguments TANDEM FAKE_STEP_BENCH CASE.
set -u
tandem=$1
fake=$2
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
export COLUMNS=10000  # so that no line is broken and every table stands whole
real_path=$PATH  # with this system's launcher, which took half of the time of a case with ranks
case $fake in
  */fake_step_bench) PATH=$(dirname "$fake")/launcher:$PATH ;;
esac

die() {
  echo "FAILED: $*"
  for file in err out; do
    [ -f $file ] && { echo "--- $file"; cat $file; }
  done
  exit 1
}

# expect CODE COMMAND...: runs it, stdout to out, stderr to err
expect() {
  local want=$1 got
  shift
  "$@" >out 2>err
  got=$?
  [ $got = "$want" ] || die "'$*' ended with $got instead of $want"
}

# one_line WORDS: stderr is one line that holds them
one_line() {
  [ "$(wc -l <err)" = 1 ] || die "stderr is not one line"
  grep -q -- "$1" err || die "stderr does not say '$1'"
}

# interrupt PID [FOLDER [HOW]]: sends Ctrl-C to a run once the launch that hangs has started; it must say how to go on
interrupt() {
  local pid=$1 folder=${2:-result} how=${3:-run the same command again} tries=0
  while [ -z "$(find "$folder" -name '*.started' 2>/dev/null)" ]; do
    tries=$((tries + 1))
    [ $tries -lt 300 ] || die "the launch that hangs did not start"
    sleep 0.1
  done
  kill -INT "$pid"
  wait "$pid"
  local code=$?
  [ $code = 130 ] || die "ended with $code instead of 130"
  grep -q -- "what is done is kept; $how" err || die "does not say how to resume"
}

# sweep BATCHES: dp and ddp on one and two devices, in threads, so that the test is quick
sweep() {
  cat >sweep.json <<JSON
{"name": "test", "workloads": [{"model": "mlp-tiny", "batch": $1}], "devices": [1, 2],
 "strategies": ["single", {"strategy": "dp"}, {"strategy": "ddp", "launch": "${2:-threads}"}],
 "launches": 3, "min_time": "10ms", "min_samples": 3}
JSON
}

run() {
  "$tandem" run ./sweep.json --out result --step-bench "$fake" --oversubscribe --details "$@"
}

launches() { grep -c '"launch_index"' result/journal.jsonl; }

# with_torch NAME: a python whose torch is of that name, and takes twice as long
with_torch() {
  cat >python <<SH
#!/bin/sh
[ "\$3" != --name ] || { ${1:+echo $1; exit 0}; exit 1; }
shift 2
FAKE_SLOWER=64000 exec "$fake" "\$@"
SH
  chmod +x python
}
