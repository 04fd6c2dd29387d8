#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs one case of the command line against a fake step_bench.
#   tandem_test.sh TANDEM FAKE_STEP_BENCH CASE
# shellcheck source=tests/tools/cases.sh
source "$(dirname "$0")/cases.sh"
export OMP_NUM_THREADS=7 BENCHMARK_OUT=/nowhere OPENBLAS_CORETYPE=Haswell

case_happy() {
  sweep 64 processes
  expect 0 run
  for file in journal.jsonl results.json report.html report.md cells.csv comparisons.csv samples.csv; do
    [ -s result/$file ] || die "$file is missing"
  done
  [ "$(tail -1 out)" = "$folder/result/report.html" ] || die "the last line is not the page"
  grep -q '^CPU only: 2 cores of Fake CPU, says nothing about GPUs\.' out || die "no subject"
  grep -q 'ddp is faster than dp in the one comparison' out || die "no verdict"
  grep -q 'ddp is 2.00 times as fast as dp (95 % interval ' out || die "no ratio"
  [ "$(launches)" = 15 ] || die "not 5 cells x 3 launches"
  [ -z "$(find result -name '*.record.json')" ] || die "a record is left over"
  [ ! -e result/unfinished ] || die "a complete sweep is marked unfinished"
  [ -f result/logs/ddp_processes_mlp-tiny_devices_2_batch_64.2.log ] || die "no log"
}

# Launches that others disturbed are measured again, and are left out as long as half are undisturbed.
case_disturbed() {
  sweep 64
  FAKE_DISTURBED=1 expect 0 run
  [ "$(launches)" = 17 ] || die "not one launch more for each of the two cells of dp"
  grep -q 'disturbed: others took more than 2 % of the time from 2 launches (the last one: other programs had a core for 10.0 % of the time)' out ||
    die "the launches are not printed"
  grep -q 'ddp, threads is 2.00 times as fast as dp' out || die "disturbed launches are in the figures"
  grep -q ',2,.*,1$' result/cells.csv || die "the table has no count of them"
  if grep -q unfinished: out; then die "a launch is missing"; fi
  sed -i '$d' result/journal.jsonl
  FAKE_DISTURBED=1 expect 0 run
  [ "$(launches)" = 17 ] || die "resuming did not measure the one that was lost"
  rm -rf result
  FAKE_DISTURBED=9 expect 0 run
  [ "$(launches)" = 21 ] || die "not as many again at most"
  grep -q 'disturbed: 6 of 6 launches' out || die "no mark"
  grep -q 'ddp, threads is 4.00 times as fast as dp ([^)]*); most launches of dp were disturbed (others took their time)' out ||
    die "the verdict does not say that it is of disturbed launches"
  rm -rf result
  export -f run
  TERM=xterm SHELL=/bin/bash FAKE_DISTURBED=2 FAKE_FAIL_ONCE=dp tandem=$tandem fake=$fake expect 1 script -qec 'stty cols 90; run' screen
  tr '\r' '\n' <screen >lines
  grep -q '^\[16/18, .*] dp, mlp-tiny, batch 64, [12] devices*; in place of a disturbed launch' lines || die "why there are more launches is not said"
  sed -n 's,^\[\([0-9]*\)/\([0-9]*\)\, .*,\1 \2,p' lines | awk '$1 > $2 { exit 1 }' || die "more launches than all"
}

# The peak is measured once per precision, by a launch of one process, and shown against what was achieved.
case_one_peak() {
  cat >sweep.json <<JSON
{"name": "test", "workloads": [{"model": "mlp-tiny", "batch": 64}], "devices": [1, 2],
 "strategies": ["single", "dp", "ddp", {"strategy": "single", "options": {"precision": "bf16"}},
                {"strategy": "ddp", "options": {"precision": "bf16"}}],
 "launches": 3, "min_time": "10ms", "min_samples": 3}
JSON
  FAKE_COUNT=$folder/count FAKE_PEAK=158.5 expect 0 run
  [ "$(grep -c -- '--peak-gflops=measured ' count)" = 2 ] || die "not measured once per precision"
  if grep -- '--launch=processes' count | grep -q -- '--peak-gflops=measured'; then die "ranks waited for the peak"; fi
  grep -q -- '--precision=bf16 .*--peak-gflops=158.5 ' count || die "the peak was not handed on"
  # 64 samples of 0.08 GFLOP in 64 ms on one device are 80 GFLOP/s.
  grep -q '| 79\.[0-9]* (50 %) |' result/report.md || die "no share of the peak"
  grep -q 'mlp-tiny, batch 64, bf16: no step was measured under both dp and ddp' out || die "precisions were mixed"
  sed -i '$d' result/journal.jsonl
  rm -f count
  FAKE_COUNT=$folder/count FAKE_PEAK=80 expect 0 run
  if grep -q -- '--peak-gflops=measured' count; then die "the peak was measured again"; fi
}

case_resume() {
  sweep 64
  expect 0 run
  cp result/journal.jsonl whole
  head -4 whole >result/journal.jsonl
  FAKE_COUNT=$folder/count expect 0 run
  [ "$(wc -l <count)" = 12 ] || die "not the 12 missing launches were run"
  grep -q 'resuming: 3 launches' err || die "does not say that it resumes"
  rm -f count
  FAKE_COUNT=$folder/count expect 0 run
  [ ! -f count ] || die "a complete sweep ran again"
}

# A build that was made anew in its place.
case_rebuilt() {
  sweep 64
  cp "$fake" step_bench
  fake=$folder/step_bench
  expect 0 run
  expect 0 run
  echo '# another' >>step_bench
  for word in --launch-timeout=5m --launches=5 --dry-run; do
    expect 2 run $word
    one_line '/result/journal.jsonl: its step_bench, or the CUDA module, was built anew since (checksum [0-9a-f]* there, '
  done
  [ ! -e result/unfinished ] || die "a refused command changed the folder"
  sed -i 's/"tandem_programs_checksum":"[^"]*",\?//' result/journal.jsonl
  expect 0 run
}

case_torn() {
  sweep 64
  expect 0 run
  head -c -40 result/journal.jsonl >torn && cp torn result/journal.jsonl
  FAKE_COUNT=$folder/count expect 0 run
  [ "$(wc -l <count)" = 1 ] || die "not exactly the torn launch was run again"
  [ "$(launches)" = 15 ] || die "the journal is not whole"
}

case_other_sweep() {
  sweep 64
  expect 0 run
  sweep 32
  expect 2 run
  one_line 'belongs to another sweep'
  [ "$(launches)" = 15 ] || die "the journal was touched"
}

case_failing() {
  sweep 64 processes
  FAKE_FAIL=ddp expect 1 run
  grep -q 'ddp cannot be had' out || die "the reason is not in the table"
  grep -q '"stderr_tail":"some noise' result/journal.jsonl || die "no stderr tail"
  [ "$(launches)" = 13 ] || die "not 9 measured and 2 failures for each of 2 cells"
  FAKE_COUNT=$folder/count expect 0 run
  [ "$(wc -l <count)" = 6 ] || die "failed launches were not tried again"
  if grep -q failed out; then die "the failure outlived its cure"; fi
}

case_usage_error() {
  sweep 64
  FAKE_FAIL=dp FAKE_CODE=2 expect 1 run
  [ "$(launches)" = 11 ] || die "a usage error was repeated"
}

# An option that a cell does not take is found before anything is measured.
case_refused_option() {
  sweep 64
  FAKE_COUNT=$folder/count FAKE_REFUSE=single expect 2 run
  one_line "the sweep's cell single.*: step_bench: --frobs is no option of single"
  sed -i 's/{"strategy": "dp"}/{"strategy": "dp", "options": {"grads": "views"}}/' sweep.json
  FAKE_COUNT=$folder/count expect 2 run
  one_line "the sweep's cell dp.*: --grads is an option of ddp and dp-allreduce and does nothing here: leave it out"
  [ ! -e count ] || die "a cell was launched"
  sweep 64
  expect 0 run
  sed -i 's/{"strategy": "dp"}/{"strategy": "dp", "options": {"batch": 32}}/' sweep.json
  expect 2 run
  one_line "option 'batch' is none of a strategy's"
}

# Said once and before any launch; of other machines it is theirs to say.
case_no_backend() {
  sweep 64
  FAKE_COUNT=$folder/count FAKE_NO_BACKEND=1 expect 2 run
  one_line '^tandem: step_bench: --backend=cuda: no NVIDIA GPU in this machine$'
  [ ! -e count ] && [ ! -e result ] || die "a cell was launched"
}

# mpirun's words for a host that it cannot reach; it is not asked again.
case_unknown_host() {
  sweep 64
  mkdir path
  cat >path/mpirun <<MPIRUN
#!/bin/sh
echo "\$*" >>$folder/tries
echo "ssh: Could not resolve hostname nosuch: Name or service not known" >&2
echo "--------------------------------------------------------------------------" >&2
echo "ORTE was unable to reliably start one or more daemons." >&2
echo "This usually is caused by:" >&2
echo "--------------------------------------------------------------------------" >&2
exit 255
MPIRUN
  chmod +x path/mpirun
  FAKE_NO_BACKEND=1 PATH=$folder/path:$PATH expect 2 run --hosts=nosuch:2
  grep -q '^tandem: ssh: Could not resolve hostname nosuch: .*; nothing can be started on hosts nosuch:2: look at ' err || die "not the reason"
  [ "$(wc -l <tries)" = 1 ] || die "tried more than once"
  [ ! -e result ] || die "something was written"
}

case_crash() {
  sweep 64
  FAKE_CRASH=dp expect 1 run
  grep -q 'killed by signal 11' out || die "the signal is not named"
}

case_launcher_crash() {
  sweep 64 processes
  mkdir bin
  printf '#!/bin/sh\nmkdir crashed 2>/dev/null && kill -SEGV $$\nexec %s "$@"\n' "$(command -v mpirun)" >bin/mpirun
  chmod +x bin/mpirun
  PATH=$folder/bin:$PATH expect 0 run
  [ -d crashed ] && [ "$(grep -c 'mpirun itself crashed' err)" = 1 ] || die "the launch was not started once more"
}

case_wrong_cell() {
  sweep 64
  FAKE_WRONG_CELL=1 expect 1 run
  grep -q 'not that of the launch' out || die "a foreign record was taken"
  FAKE_NO_RECORD=1 expect 1 run
  grep -q 'left no record' out || die "a missing record was not seen"
}

case_timeout() {
  sweep 64
  FAKE_HANG=single expect 1 run --launch-timeout 1s
  grep -q 'stopped after 1 s without an end (--launch-timeout)$' out || die "the timeout is not named"
  if grep -q 'unrelated warning' out; then die "an unrelated line is the reason"; fi
  expect 2 run --launch-timeout 900ms
  one_line "'900ms' is under 1s"
  [ "$(launches)" = 13 ] || die "a launch that hangs was repeated"
}

# All that a launch has started ends with it: its group, ranks in groups of their own, and daemons.
case_orphans() {
  PATH=$real_path
  sweep 64 processes
  FAKE_HANG=ddp FAKE_DAEMON=1 FAKE_RANK_SLEEP=295 expect 1 run --launch-timeout 1s --launches 1
  grep -q 'stopped after 1 s' out || die "the timeout is not named"
  if pgrep -f "$folder/result|sleep 29[56]" >left; then die "processes are left: $(cat left)"; fi
}

case_interrupt() {
  PATH=$real_path
  sweep 64 processes
  # Not through run(): $! would be that of a subshell.
  FAKE_HANG=ddp FAKE_RANK_SLEEP=297 "$tandem" run ./sweep.json --out result --step-bench "$fake" --details \
    --oversubscribe >out 2>err &
  interrupt $!
  [ -s result/results.json ] && [ -s result/report.html ] || die "no results"
  [ -e result/unfinished ] || die "not marked unfinished"
  if pgrep -f "$folder/result|sleep 297" >left; then die "processes are left: $(cat left)"; fi
  expect 0 run
  [ "$(launches)" = 15 ] || die "the resumed sweep is not whole"
  [ ! -e result/unfinished ] || die "still marked unfinished"
}

case_out_of_memory() {
  sweep '[64, 128, 32]'
  FAKE_OOM=64 expect 0 run
  grep -q 'out of memory' out || die "out of memory is not shown"
  # 5 cells of batch 32 measure 3 times; 64 and 128 are recorded once each, whichever came first.
  [ "$(launches)" = 25 ] || die "skipped cells were repeated"
  FAKE_COUNT=$folder/count expect 0 run
  [ ! -f count ] || die "skipped cells were tried again"
}

case_cores() {
  sweep 64
  expect 0 taskset -c 0 "$tandem" run ./sweep.json --out result --step-bench "$fake" --backend host --details
  grep -q '2 devices, but only 1 core to run on' out || die "not skipped on one core"
  grep -q 'Only one device was measured' out || die "the verdict claims too much"
  [ "$(launches)" = 11 ] || die "not 9 launches and 2 skips"
}

case_budget() {
  sweep 64
  expect 2 run --budget 1ms
  one_line 'not even the first 2 cells fit into it'
  [ ! -e result ] || die "something was written"
  sed -i 's/"launches"/"budget": "0s", "launches"/' sweep.json
  expect 2 run
  one_line "the sweep's key 'budget': 0s is no time to end a launch in"
  # Time for dp and ddp on two devices by what is expected of a launch, 1.2 s; it takes far less, and more follow.
  sweep 64
  expect 0 "$tandem" run ./sweep.json --out first --step-bench "$fake" --oversubscribe --budget 8s
  [ "$(sed -n '2,7p' first/journal.jsonl | grep -c '"strategy":"dd*p".*"devices":2')" = 6 ] || die "not the most informative first"
  [ "$(grep -c '"launch_index"' first/journal.jsonl)" = 15 ] || die "time was left"
}

case_dry_run() {
  sweep 64
  expect 0 run --dry-run
  grep -q '^5 cells, 15 launches to go, about 18s' out || die "no estimate"
  grep -q '^  dp/threads/mlp-tiny/devices:2/batch:64: 3 launches, 4s$' out || die "a cell is missing"
  grep -q '^not measured: 1 cell: single is one device$' out || die "dropped without a word"
  [ ! -e result ] || die "something was written"
  FAKE_NO_BACKEND=1 expect 0 run --dry-run --backend=cuda
  grep -q '^this machine would refuse it: .*no NVIDIA GPU in this machine$' out || die "the back end it lacks is not named"
  expect 0 run --dry-run --budget 8s
  sed '/^left out/,$d' out >taken
  [ "$(grep -c '^  ' taken)" = 2 ] && grep -q '^  ddp/threads/mlp-tiny/devices:2' taken || die "not the most informative"
  sed '1,/^left out/d' out | grep -q '^  single/threads' || die "what is left out is not listed"
  expect 0 run
  grep -q 'not measured: 1 cell: single is one device$' out || die "dropped without a word"
  [ "$(grep -c ' left\] ' err)" = 1 ] || die "not a line in ten seconds where there is no terminal"
  TERM=xterm script -qec "'$tandem' run ./sweep.json --out typed --step-bench '$fake' --oversubscribe" session >/dev/null
  grep -q 'ms a step so far' session || die "no figure of the cell"
  ! grep -q $'\x1b' session || die "an escape code"
  grep -q '"dropped": \[' result/results.json || die "the document lacks the dropped cells"
  expect 0 run --dry-run
  grep -q '^5 cells, 0 launches to go' out || die "the journal was not read"
  FAKE_REFUSE=ddp expect 2 run --dry-run
  one_line 'frobs is no option of ddp'
}

case_list() {
  expect 0 "$tandem" list sweeps
  grep '^  [a-z]' out | awk '{ print $1 }' >names
  [ "$(wc -l <names)" = 12 ] || die "not every sweep is described"
  while read -r name; do
    expect 0 "$tandem" run "$name" --dry-run --devices 8 --oversubscribe --step-bench "$fake"
  done <names
  expect 2 "$tandem" run qiuck
  one_line "did you mean 'quick'?"
  expect 2 "$tandem" list sweps
  one_line "did you mean 'sweeps'?"
  expect 0 "$tandem" list hardware
  grep -q '^  dgx-h100 .*NVLS' out || die "a machine is not described"
  grep -q '^  ib-200g ' out || die "a network is not described"
  expect 0 "$tandem" list hardware dgx-a100x4@8xib-200g
  grep -q '"value": "192GBps"' out || die "eight links do not add up"
  expect 2 "$tandem" list hardware dgx-a10
  one_line "did you mean 'dgx-a100'?"
  expect 2 "$tandem" list sweeps dgx-a100
  one_line "one too many"
  expect 0 "$tandem" list strategies
  grep -q '^  ddp  *torch.s DistributedDataParallel' out || die "ddp is not described"
  expect 0 "$tandem" list options
  grep -q '^  --grads copy|views ' out || die "an option is missing"
}

# Without a sweep it is quick on a CPU, into a folder of its own; the next run has the next.
case_defaults() {
  expect 0 "$tandem"
  grep -q '^  explain  *say why' out && grep -q '^  tandem compare out/before out/after' out || die "no verbs or examples"
  mkdir alone
  run_alone() { (cd alone && "$tandem" run --backend=host --launches=2 --step-bench "$fake" "$@"); }
  expect 0 run_alone
  [ "$(tail -1 out)" = "$folder/alone/out/quick-1/report.html" ] || die "not quick into out/quick-1"
  expect 0 run_alone --devices=1
  [ "$(tail -1 out)" = "$folder/alone/out/quick-2/report.html" ] || die "not into the next folder"
  grep -q '^2 devices are left out: --devices=1$' err || die "two devices were not left out"
  grep -q '"with_torch": true' "$(dirname "$tandem")/../share/tandem/sweeps/torch.json" || die "torch without torch"
  with_torch ""
  expect 0 run_alone --with-torch="$folder/python" torch --dry-run
  mkdir bin && ln -s "$folder/python" bin/python3
  PATH=$folder/bin:$PATH expect 0 run_alone torch --dry-run
  grep -q '^without torch: python3 has none' err || die "the sweep torch did not look for torch"
}

# Every refusal is one line with the nearest valid word, or the new spelling.
case_refusals() {
  local words said
  while IFS='>' read -r words said; do
    # shellcheck disable=SC2086  # words of a command line
    expect 2 "$tandem" $words
    one_line "$said"
  done <<'LINES'
rn>there is no command 'rn' (did you mean 'run'?); use run, explain
help>use tandem --help, or tandem COMMAND --help
help run>use tandem --help, or tandem run --help
--bogus>option '--bogus' is none of tandem's
run --lauches=3>option '--lauches' is none of tandem run's (did you mean '--launches'?); see tandem run --help
run quick more>argument 'more' is none of tandem run's
run --launches=two>--launches: 'two' is no whole number from 1 to 1000
run --launches=2 --launches=3>--launches is given 2 times: give it once
run --launches>--launches needs a value: launches per cell
compare a>B is missing: after
explain --batch=8>--model is missing: what is trained
trace sumary x>command 'sumary' is none of tandem trace's (did you mean 'summary'?); see tandem trace --help
trace summary x y>argument 'y' is none of tandem trace summary's
verify --host=a:1>option '--host' is none of tandem verify's (did you mean '--hosts'?); see tandem verify --help
verify --mdoel=mlp-tiny>option '--mdoel' is none of tandem verify's (did you mean '--model'?)
explain --bach=64 --model=mlp-tiny>option '--bach' is none of tandem explain's (did you mean '--batch'?)
explain --batch=64 --model=mlp-tiny --backend=cdua>--backend: 'cdua' is unknown (did you mean 'cuda'?); known are auto, host, cuda
run --launcher=srn>--launcher: 'srn' is unknown (did you mean 'srun'?)
trace record --dry-run>batch
list opt>(did you mean 'options'?)
compare a b --fail-on=none,slower>--fail-on: 'none' stands alone
compare a b --fail-on=slow>--fail-on: 'slow' is unknown
LINES
}

case_unwritable() {
  sweep 64
  touch file
  expect 2 "$tandem" run ./sweep.json --out file/result --step-bench "$fake"
  one_line 'choose another --out'
  expect 2 "$tandem" run ./sweep.json --out /proc/result --step-bench "$fake"
  one_line 'choose another --out'
}

case_bad_input() {
  sweep 64
  sed -i 's/"devices"/"device"/' sweep.json
  expect 2 run
  one_line "unknown key 'device'"
  expect 2 "$tandem" run no-such-sweep --out result --step-bench "$fake"
  one_line "sweep 'no-such-sweep' is unknown; known are batch, buckets, common-questions, ddp-cost, full, model-size, node, overheads, quick, scaling, torch, two-by-two"
  expect 2 "$tandem" run ./absent.json --out result --step-bench "$fake"
  one_line 'no such file'
  sweep 0
  expect 2 run
  one_line '0: use a whole number from 1'
  sweep 64
  expect 2 run --backend tpu
  one_line "'tpu' is unknown"
  expect 2 run --budget soon
  one_line "'soon' is no duration"
  expect 2 "$tandem" run ./sweep.json --out result --step-bench /absent
  one_line 'there is no such program'
  expect 2 "$tandem" run ./sweep.json
  one_line '--out'
  expect 2 "$tandem" frobnicate
  expect 0 "$tandem" --help
  expect 0 "$tandem" --version
  grep -q '^tandem [0-9]' out || die "no version"
  [ ! -e result ] || die "something was written"
}

case_nothing_fits() {
  cat >sweep.json <<JSON
{"name": "test", "workloads": [{"model": "mlp-tiny", "batch": 64}], "devices": [2], "strategies": ["dp", "ddp"]}
JSON
  expect 2 taskset -c 0 "$tandem" run ./sweep.json --out result --step-bench "$fake" --backend host
  one_line 'more devices than there are cores to run on (1).*--oversubscribe'
  [ ! -e result ] || die "something was written"
}

case_nothing_measured() {
  sweep 64
  FAKE_OOM=1 expect 1 run
  grep -q 'Nothing was measured' out || die "no honest verdict"
}

case_hopeless() {
  sweep 64
  FAKE_USAGE=1 FAKE_COUNT=$folder/count expect 2 run
  [ "$(tail -1 err)" = "tandem: step_bench: no such back end here" ] || die "the line is not the last"
  [ "$(wc -l <count)" = 2 ] || die "went on after two cells were refused alike"
  [ ! -s out ] && [ ! -e result ] || die "something was written"
  mkdir -p result/logs && touch result/logs/own
  FAKE_USAGE=1 expect 2 run
  [ -z "$(find result -name journal.jsonl -o -name unfinished)" ] || die "the run left something"
  [ -e result/logs/own ] || die "a foreign file is gone"
  expect 0 run
  FAKE_USAGE=1 expect 0 run
  [ "$(launches)" = 15 ] || die "what was measured is gone"
}

"case_$3" || exit 1
