#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs one case of `tandem explain` against a fake step_bench whose times are exact.
#   explain_test.sh TANDEM FAKE_STEP_BENCH CASE
# shellcheck source=tests/tools/cases.sh
source "$(dirname "$0")/cases.sh"
export FAKE_COSTS="threads=300 transfers=500 loss=200 replication=2000 input=400 bucket=250 nooverlap=150 onelaunch=100 copies=900"

# explain ARGUMENT...: of the usual point
explain() {
  "$tandem" explain --model=${model:-mlp-tiny} --batch=${batch:-64} --launches 2 --details --step-bench "$fake" --oversubscribe "$@"
}

launches() { grep -c '"launch_index"' "$1/journal.jsonl"; }

# saves RUNG MS: the ladder says that the rung saves so much
saves() {
  grep -q "^+ $1  .* $2 \[$2 .. $2\]  " out || die "'$1' does not save $2"
}

sweep() {
  cat >sweep.json <<JSON
{"name": "test", "workloads": [{"model": "mlp-tiny", "batch": 64}], "devices": [1, 2],
 "strategies": ["single", "dp", {"strategy": "dp", "options": {"threads": "kept"}}, "ddp"],
 "launches": 2, "min_time": "10ms", "min_samples": 3}
JSON
  expect 0 "$tandem" run ./sweep.json --out result --step-bench "$fake" --oversubscribe
}

case_causes() {
  expect 0 explain --out result
  saves 'threads kept' 0.300
  saves 'transfers flat, as a tree' 0.500
  saves 'loss in the replicas' 0.200
  saves 'no replication, reduction, root update' 2.000
  saves 'input local' 0.400
  saves 'buckets' 0.250
  saves 'overlap' 0.150
  saves 'processes' 0.100
  grep -q "^dp to the ladder's end .* 3.900 \[3.900 .. 3.900\]" out || die "not the whole gap"
  grep -q 'measured apart: 0.900 \[0.900 .. 0.900\]' out || die "not what stock ddp costs more"
  grep -q '^CPU only: 2 cores of Fake CPU, says nothing about GPUs' out || die "the hardware is not first"
  [ "$(tail -1 out)" = "$folder/result/explain.md" ] || die "the last line is not the file"
  grep -q '^# CPU only: 2 cores of Fake CPU' result/explain.md || die "no explain.md"
  [ "$(launches result)" = 40 ] || die "not 20 rungs x 2 launches"
  [ ! -e result/unfinished ] || die "marked unfinished"
}

kinds="operation:4us,replica-module:9us,replica-parameter:5us,replica-buffer:5us,scatter:9us,gather:9us,optimizer:1us,autograd:9us,ddp-hook:2us"

# with_torch: a python whose torch takes 1 ms more alone and 3 ms more in ddp
with_torch() {
  cat >python <<SH
#!/bin/sh
[ "\$3" != --name ] || { echo torch-9.9.9; exit 0; }
shift 2
FAKE_COSTS="onelaunch=1100 copies=3900" exec "$fake" "\$@"
SH
  chmod +x python
}

# How far torch's ends and ours agree; the modelled interpreter takes the costs that are given.
case_torch() {
  with_torch
  expect 0 explain --out result --with-torch="$folder/python" --dispatch-cost="call:7.25us,$kinds"
  grep -q '^How far torch-9.9.9 and Tandem agree' out || die "no section"
  grep -q '^ddp  .* 1.[0-9]*x \[' out || die "not ddp against ddp"
  grep -q '^single, a share  .* 1.[0-9]*x \[' out || die "not single against single"
  grep -q "work on the host that takes call:7.25us,$kinds" out || die "not torch's costs"
  [ "$(launches result)" = 50 ] || die "not 25 rungs x 2 launches"
}

# with_module CHECKSUM [UNUSED [OPTIMIZER]]: a python whose torch exports a module of that content, takes 1 ms more alone
# and 3 ms more in ddp
with_module() {
  cat >python <<SH
#!/bin/sh
case \$3 in
  --name) echo torch-9.9.9; exit 0 ;;
esac
case " \$* " in *" --about "*)
  echo "\$*" >>"$folder/asked"
  for word; do case \$word in --export=*) date +%N >"\${word#*=}" ;; esac done
  echo '{"module": "own.py:build#$1", "unused": "${2:-}", "own_optimizer": true, "optimizer": "${3:-adamw}"}'
  exit 0 ;;
esac
shift 2
FAKE_COSTS="onelaunch=1100 copies=3900" exec "$fake" "\$@"
SH
  chmod +x python
}

module() {
  "$tandem" explain --module=own.py:build --batch=64 --backend=host --details --launches 2 --step-bench "$fake" --oversubscribe \
    --with-torch="$folder/python" "$@"
}

# torch trains the module, Tandem its export, which is made once and lies beside the journal.
case_module() {
  with_module 0123456789abcdef
  FAKE_COUNT=$folder/count expect 0 module --out result
  grep -qx "own.workload.json: Tandem's rungs train it in place of own.py:build" err || die "not said"
  grep -q -- "--module=$folder/own.py:build --batch=32 --backend=host --export=" asked || die "not exported with a share"
  [ "$(launches result)" = 46 ] || die "not 23 rungs x 2 launches"
  [ "$(grep -c -- "--model=own.py:build#0123456789abcdef --module=$folder/own.py:build " count)" = 4 ] || die "not torch's cells"
  [ "$(grep -c -- "--model=$folder/result/own.workload.json#[0-9a-f]* .*--optimizer=adamw" count)" = 42 ] || die "not Tandem's"
  if grep -- --module= count | grep -q -- --optimizer; then die "torch was given an optimizer beside its own"; fi
  grep -q 'own.py:build#0123456789abcdef, of which Tandem trains the export own.workload.json#' out || die "not what is trained"
  grep -q "^How far torch-9.9.9 and Tandem on the module's export agree" out || die "no section"
  grep -q '^ddp  .* 1.28x \[1.28 .. 1.28\]' out || die "not ddp against ddp"
  grep -q '^single, a share  .* 1.10x \[1.10 .. 1.10\]' out || die "not single against single"
  grep -q 'All ends agree within a factor of 1.28' out || die "not the farthest end"
  saves 'threads kept' 0.300
  grep -q 'How far torch-9.9.9' result/explain.md || die "not in explain.md"
}

case_module_resumed() {
  with_module 0123456789abcdef
  expect 0 module --out result
  cp out whole && cp result/own.workload.json kept
  head -8 result/journal.jsonl >part && cp part result/journal.jsonl
  FAKE_COUNT=$folder/count expect 0 module --out result
  [ "$(wc -l <count)" = 39 ] || die "not the 39 missing launches were run"
  [ "$(grep -c -- --export= asked)" = 1 ] || die "exported again"
  cmp -s kept result/own.workload.json && cmp -s out whole || die "the export or the explanation changed"
  with_module fedcba9876543210
  expect 2 module --out result
  one_line 'it belongs to another sweep or other options'
  with_module 0123456789abcdef
  rm result/own.workload.json
  expect 2 module --out result
  one_line 'it has no own.workload.json, the export'
  mkdir other && echo mine >other/own.workload.json
  expect 2 module --out other
  one_line 'other holds own.workload.json of another run'
  [ "$(cat other/own.workload.json)" = mine ] || die "overwritten"
}

case_module_refused() {
  with_module 0123456789abcdef
  expect 2 module --out result --model=mlp-tiny
  one_line '--model=mlp-tiny and --module=own.py:build are both given; give the one'
  mkdir given
  expect 2 module given
  one_line 'FOLDER and --module are both given'
  expect 2 module --out result --plant=replicate:2ms
  one_line '--plant=replicate:2ms: '
  FAKE_USAGE=1 expect 2 module --out result
  [ "$(tail -1 err)" = "tandem: step_bench: no such back end here" ] || die "not step_bench's own words"
  printf '#!/bin/sh\ncase $3 in --name) echo torch-9.9.9;; *) echo "step_twin: exporting own.py:build: no" >&2; exit 1;; esac\n' >python
  expect 1 module --out result
  one_line '^tandem: exporting own.py:build: no'
  printf '#!/bin/sh\ncase $3 in --name) echo "unfit: torch multiplies with 2.5 GFLOP/s";; esac\n' >python
  expect 2 module --out result
  one_line 'a module needs torch: torch multiplies with 2.5 GFLOP/s'
  [ ! -e result ] || die "something was written"
}

case_module_interrupted() {
  for at in named asked; do
    printf '#!/bin/sh\ncase $3 in --name) %s; echo torch-9.9.9; exit;; esac\ntouch asked; exec sleep 60\n' \
      "$([ $at = asked ] && echo : || echo 'touch named; sleep 3')" >python
    chmod +x python
    "$tandem" explain --module=own.py:build --batch=64 --backend=host --details --with-torch="$folder/python" \
      --step-bench "$fake" --oversubscribe --out result >out 2>err &
    local pid=$!
    for _ in $(seq 300); do [ ! -e $at ] || break; sleep 0.1; done
    kill -INT $pid
    wait $pid
    [ $? = 130 ] || die "not the exit code of an interrupt"
    case $at in
      named) one_line '^tandem: interrupted; what launches have measured is kept, run the same command again$' ;;
      *) one_line '^tandem: trying .*own.py:build: interrupted, and left nothing; run the same command again$' ;;
    esac
  done
}

# An optimizer that Tandem lacks leaves its rungs with the usual one, and is named; torch's ddp looks for unused parameters.
case_module_optimizer() {
  with_module 0123456789abcdef head.weight RMSprop
  FAKE_COUNT=$folder/count expect 0 module --out result
  grep -q "a step gives head.weight no gradient: torch's ddp runs with find-unused-parameters=on" err || die "not said"
  [ "$(grep -c -- --find-unused-parameters=on count)" = 2 ] || die "not torch's ddp alone"
  FAKE_COUNT=$folder/count expect 0 module --out result
  grep -q '^ddp  .* 1.28x ' out || die "not the same question again"
  if grep -q -- --optimizer count; then die "an optimizer that Tandem lacks"; fi
  grep -q "The module's optimizer is RMSprop, which Tandem lacks: its rungs take sgd" out || die "not named"
}

case_planted() {
  # A cause is in its own step, with its size, and in no other.
  FAKE_COSTS="input=777" expect 0 explain --out result
  saves 'input local' 0.777
  for other in 'threads kept' 'transfers flat, as a tree' 'loss in the replicas' \
    'no replication, reduction, root update' 'buckets' 'overlap' 'processes'; do
    saves "$other" 0.000
  done
  grep -q '^input dealt out by device 0 .* 0.777 \[0.777 .. 0.777\] .* 0.777' out || die "not the range"
}

case_resume() {
  expect 0 explain --out result
  cp out whole
  head -8 result/journal.jsonl >part && cp part result/journal.jsonl
  FAKE_COUNT=$folder/count expect 0 explain --out result
  [ "$(wc -l <count)" = 33 ] || die "not the 33 missing launches were run"
  cmp -s out whole || die "the explanation changed"
  FAKE_COUNT=$folder/again expect 0 explain --out result
  [ ! -e again ] || die "a complete ladder ran again"
  batch=128 expect 2 explain --out result
  one_line 'belongs to another sweep or other options'
}

case_file() {
  sweep
  FAKE_COUNT=$folder/count expect 0 explain result
  [ "$(wc -l <count)" = 34 ] || die "not the 17 missing rungs were run"
  grep -q -- '--min-time=10ms --min-samples=3' count || die "not measured as FILE was"
  saves 'threads kept' 0.300
  grep -q "not interleaved: 3 of 20 rungs were there from the sweep 'test'" out || die "not said: interleaving"
  expect 0 "$tandem" report result
  if grep -q unfinished out; then die "explained rungs count as missing ones"; fi
  if grep -q 'ddp.*is.*as fast as dp, ' out; then die "variants of dp decide"; fi
  FAKE_COUNT=$folder/again expect 0 "$tandem" run ./sweep.json --out result --step-bench "$fake" --oversubscribe
  [ ! -e again ] || die "the sweep ran again"
  for file in result/journal.jsonl result/results.json; do
    FAKE_COUNT=$folder/again expect 0 explain $file
    [ ! -e again ] || die "ran again for $file"
    grep -q 'not interleaved: 3 of 20' out || die "forgotten on the next look"
  done
}

case_unfinished_file() {
  sweep
  head -4 result/journal.jsonl >part && cp part result/journal.jsonl
  touch result/unfinished
  expect 0 explain result
  [ -e result/unfinished ] || die "the sweep's missing launches are forgotten"
  expect 0 "$tandem" report result
  grep -q 'unfinished: 8 of 48 planned launches' out || die "missing launches are not counted"
  expect 0 "$tandem" run ./sweep.json --out result --step-bench "$fake" --oversubscribe
  [ ! -e result/unfinished ] || die "still marked unfinished"
  if grep -q unfinished out; then die "still counted as missing"; fi
}

case_results_alone() {
  expect 0 explain --out result
  mkdir copy && cp result/results.json copy
  expect 0 explain copy
  saves 'threads kept' 0.300
  batch=128 expect 2 explain copy
  one_line '40 launches are missing and there is no journal.jsonl'
}

case_modelled() {
  export FAKE_COSTS="$FAKE_COSTS cost=50 lock=70"
  expect 0 explain --out result --dispatch-cost=8us --interpreter-lock
  grep -q 'Modelled, no part of the measured gap: an interpreter that takes 8us' out || die "no such chart"
  grep -q '^dispatch cost in dp  *0.050' out || die "not the cost in dp"
  grep -q '^interpreter lock in dp.* 0.070' out || die "not the lock"
  grep -q 'dp with the dispatch cost: 40.0 dispatches per step' out || die "no dispatches"
  grep -q "^dp to the ladder's end .* 3.900 \[" out || die "the model is in the measured gap"
  [ "$(launches result)" = 46 ] || die "not 23 cells x 2 launches"
}

case_input() {
  expect 0 explain --out result --input=device
  [ "$(grep -c '"input":"device"' result/journal.jsonl)" = 32 ] || die "not on all rungs but the scattered ones"
  [ "$(grep -c '"input":"scatter"' result/journal.jsonl)" = 8 ] || die "not the scattered ones"
  grep -q 'whose batch starts in host memory' out || die "the difference is not said"
}

case_failing() {
  FAKE_FAIL=dp-allreduce expect 1 explain --out result
  saves 'threads kept' 0.300
  grep -q '^+ no replication.* no figure .*no replication, reduction, root update failed' out || die "the hole is not there"
  grep -q 'failed: step_bench: dp-allreduce cannot be had' out || die "the reason is not there"
  expect 0 explain --out result
  saves 'no replication, reduction, root update' 2.000
}

case_interrupt() {
  FAKE_HANG=dp-allreduce "$tandem" explain --model=mlp-tiny --batch=64 --launches 2 --step-bench "$fake" \
    --oversubscribe --out result >out 2>err &
  interrupt $!
  [ -e result/unfinished ] && [ -s result/explain.md ] || die "no state is left"
  expect 0 explain --out result
  [ "$(launches result)" = 40 ] || die "not whole after resuming"
}

# The same command would measure into the next new folder.
case_interrupt_without_folder() {
  FAKE_HANG=dp-allreduce "$tandem" explain --model=mlp-tiny --batch=64 --launches 2 --step-bench "$fake" \
    --oversubscribe >said 2>err &
  interrupt $! out 'the same command with --out=out/explain-1 goes on'
}

case_new_folder() {
  mkdir here
  for _ in 1 2; do (cd here && explain >../out 2>../err) || die "ended with $?"; done
  for number in 1 2; do
    [ "$(launches "here/out/explain-$number")" = 40 ] || die "explain-$number is not whole"
  done
}

case_bad_input() {
  local plain="$tandem explain --model=mlp-tiny --step-bench $fake"
  expect 2 $plain --out result
  one_line '--batch'
  expect 2 "$tandem" explain --batch=64 --out result
  one_line '--model'
  expect 2 $plain --batch=64 absent
  one_line 'reading absent: there is no such file'
  touch odd.txt && mkdir empty
  expect 2 $plain --batch=64 odd.txt
  one_line 'reading odd.txt: it is not valid JSON'
  echo '{"tandem": {"schema_version": "9.0.0", "launches": []}}' >newer.json
  expect 2 $plain --batch=64 newer.json
  one_line 'its schema version 9.0.0 is newer than'
  expect 2 $plain --batch=64 empty
  one_line 'neither journal.jsonl nor results.json'
  expect 2 $plain --batch=64 empty --out result
  one_line 'give either FOLDER'
  expect 2 $plain --batch=64 --devices=1 --out result
  one_line 'on 1 device there is nothing to exchange, so no gap to explain'
  expect 2 $plain --batch=65 --out result
  one_line '2 devices do not divide 65 samples evenly, which ddp refuses; use 64 or 66'
  expect 2 $plain --batch=0 --out result
  one_line '--batch: 0 holds no sample'
  expect 2 $plain --batch=64 --input=tape --out result
  one_line "'tape' is unknown; known are host, pageable, device"
  expect 2 $plain --batch=64 --precision=fp16 --out result
  one_line "--precision: 'fp16' is not known: use one of fp32, tf32, bf16"
  expect 2 $plain --batch=64 --dispatch-cost=8 --out result
  one_line '--dispatch-cost'
  expect 2 $plain --batch=64 --interpreter-lock --out result
  one_line 'without a --dispatch-cost'
  expect 2 $plain --batch=64 --backend tpu --out result
  one_line "'tpu' is unknown"
  expect 2 $plain --batch=64 --min-time=long --out result
  one_line '--min-time'
  expect 2 $plain --batch=64 --launch-timeout=1ms --out result
  one_line 'in which no launch ends'
  expect 2 "$tandem" explain --model=mlp-tiny --batch=64 --out result --step-bench /absent --oversubscribe
  one_line 'there is no such program'
  expect 2 taskset -c 0 $plain --batch=64 --backend=host --out result
  one_line '2 devices, but only 1 core to run on; --oversubscribe'
  [ ! -e result ] || die "something was written"
}

case_refused() {
  FAKE_USAGE=1 expect 2 explain --out result
  [ "$(tail -1 err)" = "tandem: step_bench: no such back end here" ] || die "not step_bench's own words"
  [ ! -e result ] || die "something was written"
  sweep
  cp result/journal.jsonl before
  FAKE_USAGE=1 model=mlp-nix expect 2 explain result
  cmp -s before result/journal.jsonl || die "the journal was touched"
  [ ! -e result/unfinished ] || die "marked unfinished"
}

case_other_machine() {
  sweep
  sed -i '1s/"tandem_cores":"[0-9]*"/"tandem_cores":"999"/' result/journal.jsonl
  cp result/journal.jsonl before
  expect 2 explain result
  one_line "its cores is '999'"
  cmp -s before result/journal.jsonl || die "the journal was touched"
  expect 0 explain --out own
  sed -i '3s/"backend":"host"/"backend":"cuda"/' own/journal.jsonl
  expect 2 explain own
  one_line 'explain each in a folder of its own'
}

# Launches of two builds are no sample of one.
case_other_build() {
  fake_copy="$folder/bin/step_bench"
  mkdir bin
  printf '#!/bin/sh\nexec "%s" "$@"\n' "$fake" >"$fake_copy"
  chmod +x "$fake_copy"
  fake=$fake_copy
  sweep
  cp result/journal.jsonl before
  mkdir modules
  echo another >modules/libtandem_cuda.so
  TANDEM_MODULE_PATH=$folder/modules expect 2 explain result
  one_line 'its step_bench, or the CUDA module, was built anew since'
  echo '# built anew' >>"$fake"
  expect 2 explain result
  one_line 'its step_bench, or the CUDA module, was built anew since'
  cmp -s before result/journal.jsonl || die "the journal was touched"
}

"case_$3" || exit 1
