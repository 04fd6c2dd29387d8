#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs one case of tools/gpu_proof.
#   gpu_proof_test.sh TANDEM FAKE_STEP_BENCH CASE TOOLS BUILD
# Most cases have programs that stand in for the real ones, and --gpus for GPUs; the command line that measures
# sweeps is the real one, with a fake step_bench.
# shellcheck source=tests/tools/cases.sh
source "$(dirname "$0")/cases.sh"
# shellcheck source=tests/tools/proof_stand_ins.sh
source "$(dirname "$0")/proof_stand_ins.sh"
proof=$tools/gpu_proof

# python-without-torch answers nothing: rows of PyTorch are not run, and sweeps go on without it.
proved() { "$proof" --programs built --out result --python python-without-torch "$@"; }
proved_with_torch() { "$proof" --programs built --out result --python python-with-torch "$@"; }

case_no_gpu() {
  compgen -G '/dev/nvidia[0-9]*' && { echo "there is a GPU here"; exit 77; }
  expect 3 "$proof" --programs "$build" --out result
  is device 'not run' 'no GPU$'
  is cuda_contract_test 'not run' 'no GPU$'
  is corners 'not run' 'no GPU$'
  grep -qx '0 passed, 0 failed, 0 not resolved, [0-9]* not run' result/table.txt || die "something ran"
  grep -qx 'no report: nothing was measured' out || die "does not say that there is no report"
  [ "$(grep -c 'not run' out)" -gt 20 ] || die "the table is not printed"
  [ ! -e result/results.json ] || die "a document of nothing"
}

case_one_gpu() {
  make_stand_ins
  expect 0 proved --gpus 1
  is device passed
  is cuda_parity_test passed '4 cases, 1 skipped'
  is memcheck passed 'ERROR SUMMARY: 0 errors'
  is racecheck passed '0 hazards'
  is wrapper-tax passed '1.0010 .*95 % interval 0.9990 to 1.0030.; at least 0.9950 is asked for'
  is wrapper-tax-copy passed '1.0010'
  is trace-gpt2 passed '2 kernels, attention: cuDNN 9.19.0, fused$'
  is marks passed 'phases=off .*; at least 0.9901 is asked for'
  is counters passed '1 kernels profiled$'
  is trace passed '2 kernels$'
  is steps passed "[0-9]+ launches measured, none of PyTorch's: python-without-torch has no torch that loads"
  for row in numbers-dp numbers-dp-allreduce numbers-ddp numbers-replicate numbers-bf16 numbers-gpt2 numbers-resnet nccl-ddp dp-doubled calibrate; do
    is $row passed
  done
  # What moves nothing at one rank says so, or waits for two GPUs.
  is nccl-ddp passed 'moves nothing'
  for row in nccl-collectives nccl-dp nccl-dp-allreduce nccl-replicate trace-ddp corners; do is $row 'not run' 'needs 2 GPUs$'; done
  for words in '--strategy=dp' '--strategy=dp-allreduce' '--strategy=ddp' '--strategy=ddp-replicate' '--strategy=dp --precision=bf16'; do
    grep -q "^step_bench verify .*--model=mlp-tiny .*--oversubscribe --gpus=0 $words$" starts || die "no numbers by $words"
  done
  grep -q "^step_bench verify .*--model=resnet-tiny .* --conv-fp32=on$" starts || die "the ResNet is held to tf32's bounds"
  grep -q "^step_bench .*--strategy=ddp .*--grads=views" starts || die "no ddp with views"
  for file in results.json report.html report.md log.txt machine.txt logs/steps.log; do
    [ -s result/$file ] || die "$file is missing"
  done
  for row in device wrapper-tax dp-doubled; do
    grep -q "\"tandem_source\": \"$row\"" result/results.json || die "the figures of $row are not in the one document"
    grep -q "^| $row " result/report.md || die "the figures of $row are not in the report"
  done
  grep -q 'gpt2-124m' result/report.md || die "the report has no steps"
  grep -q '^===== racecheck: passed' result/log.txt || die "the logs are not joined"
  if grep -q 'common_test' starts; then die "a test that needs no GPU was run"; fi
  expect 2 proved --gpus 1
  one_line 'holds an earlier proof'
}

case_one_file_to_send() {
  make_stand_ins
  expect 0 proved --gpus 1 --rows=device,steps
  local file=result/results-to-send.json
  grep -q '"name": *"device/passed"' $file || die "what was proved is not in $file"
  if grep -qF "$PWD" $file; then die "$file names a folder"; fi
  grep -q '"tandem_removed": *"names of hosts' $file || die "$file does not say what was removed"
  grep -q "^to send, for everyone's table: .*/results-to-send.json" result/table.txt || die "the table does not name $file"
  expect 0 "$tandem" report $file --out=reported
  [ ! -e reported/results-to-send.json ] || die "what was sent is written to be sent again"
  mkdir received
  cp $file received/
  expect 0 "$tandem" report received/results-to-send.json
  cmp -s $file received/results-to-send.json || die "the source was written over"
  expect 0 "$tandem" report received/results-to-send.json
  cp result/results.json before
  expect 2 "$tandem" report $file
  one_line 'holds another run'
  cmp -s before result/results.json || die "results were written over by those without facts"
}

case_four_gpus() {
  make_stand_ins
  expect 0 proved --gpus 4 --rows device,nccl-collectives,corners
  is corners passed '[0-9]+ launches measured'
  grep -q '"devices": \[2, 4\]' result/sweeps/corners.json || die "not on 2 and 4 GPUs"
  grep -q '"bind":"none"' result/sweeps/corners/journal.jsonl || die "no dp that is not bound"
  grep -qx '3 passed, 0 failed, 0 not resolved, 0 not run' result/table.txt || die "other rows were run"
}

# No step, no document: what else was measured is still named.
case_figures_alone() {
  make_stand_ins
  FAKE_NO_SWEEPS=1 expect 1 proved --gpus 1 --rows device,steps
  is device passed
  is steps failed
  [ ! -e result/results.json ] || die "a document without steps"
  grep -qx "no report of steps; the figures of other rows lie in .*/result/figures" result/table.txt ||
    die "does not say where the figures lie: $(cat result/table.txt)"
  [ -s result/figures/device.json ] || die "no figures"
}

# On which side of its bar an interval lies decides; where the bar lies in it, nothing does, and that is no pass.
case_judged() {
  local interval state status
  make_stand_ins
  while read -r interval status state; do
    FAKE_INTERVAL=$interval expect "$status" proved --gpus 1 --rows wrapper-tax
    is wrapper-tax "$state"
    rm -r result
  done <<'BAR'
0.9949..1.0000 3 not resolved
0.9949..0.9950 3 not resolved
0.9900..0.9949 1 failed
0.9950..1.0100 0 passed
10.0000..11.0000 0 passed
few..fewer 3 not resolved
BAR
  FAKE_PROOF="step_bench=fails" expect 1 proved --gpus 1 --rows wrapper-tax
  is wrapper-tax failed 'step_bench: it cannot be had'
}

# Of a model that the back end has not, the table says why.
case_lacking() {
  make_stand_ins
  FAKE_PROOF="step_bench=lacks" expect 0 proved --gpus 1 --rows numbers-resnet,numbers-gpt2
  is numbers-resnet 'not run' 'no cuDNN was found: libcudnn.so.9$'
  is numbers-gpt2 passed
}

# The same numbers through the host would prove nothing of NCCL.
case_nccl() {
  local rows=nccl-ddp,nccl-dp,nccl-dp-allreduce,nccl-replicate row
  make_stand_ins
  expect 0 proved --gpus 2 --rows $rows
  grep -q '^4 passed' result/table.txt || die "not all passed"
  if grep 'strategy=dp' starts | grep -q -- '--comm='; then die "--comm is no option of dp and dp-allreduce"; fi
  rm -r result
  FAKE_PROOF=step_bench=staged expect 1 proved --gpus 2 --rows $rows
  for row in ${rows//,/ }; do is "$row" failed 'no communicator of NCCL'; done
}

# A timeline of events, or with kernels out of place, is no proof of CUPTI's.
case_traces() {
  make_stand_ins
  expect 0 proved --gpus 2 --rows trace,trace-ddp
  is trace-ddp passed '2 kernels$'
  [ -s result/logs/trace-ddp.trace.json ] || die "no trace is kept"
  local how words
  while read -r how words; do
    rm -r result
    FAKE_PROOF=step_bench=$how expect 1 proved --gpus 2 --rows trace-ddp
    is trace-ddp failed "$words"
  done <<'HOW'
events events, since run as root
late gemm is not within its step 1
idle device 0 of rank 0 ran no kernel
alone ncclDevKernel_AllReduce is in no collective
HOW
}

case_failing() {
  make_stand_ins
  FAKE_PROOF="step_bench=fails cuda_parity_test=fails" expect 1 proved --gpus 1
  is dp-doubled failed 'exit status 3: step_bench: it cannot be had'
  is cuda_parity_test failed 'exit status 3'
  is steps passed
  is memcheck passed
  if grep -q '"tandem_source": "dp-doubled"' result/results.json; then die "figures of a program that failed"; fi
}

case_dying() {
  make_stand_ins
  FAKE_PROOF="step_bench=dies" expect 1 proved --gpus 1 --rows device,dp-doubled
  is dp-doubled failed 'killed .status 137.: was it out of memory.$'
}

case_gate() {
  make_stand_ins
  FAKE_PROOF="collective_bench=fails" expect 1 proved --gpus 1
  is device failed 'collective_bench: it cannot be had'
  is steps 'not run' 'the row device failed'
  is corners 'not run' 'needs 2 GPUs'
  [ "$(wc -l <starts)" = 1 ] || die "something ran behind the gate"
}

case_skipping() {
  make_stand_ins
  FAKE_PROOF="cuda_contract_test=skips compute-sanitizer=unsupported" expect 3 proved --gpus 1 --rows cuda_contract_test,memcheck
  is cuda_contract_test 'not run' 'all skipped: nothing to be seen'
  is memcheck 'not run' 'device not supported'
  rm -r result
  FAKE_PROOF="compute-sanitizer=hazards" expect 1 proved --gpus 1 --rows racecheck
  is racecheck failed '2 hazards'
  rm -r result
  FAKE_PROOF="ncu=silent" expect 1 proved --gpus 1 --rows counters
  is counters failed 'profiled no kernel'
  rm -r result
  FAKE_PROOF="compute-sanitizer=silent" expect 1 proved --gpus 1 --rows racecheck
  is racecheck failed 'no summary'
}

case_absent() {
  make_stand_ins
  rm built/tests/bin/cuda_parity_test toolkit/bin/compute-sanitizer
  export CUDA_HOME=$folder/elsewhere
  expect 3 proved --gpus 1 --rows cuda_parity_test,memcheck
  is cuda_parity_test 'not run' 'no cuda_parity_test here'
  command -v compute-sanitizer >/dev/null || [ -n "$(echo /usr/local/cuda*/bin/compute-sanitizer*)" ] || is memcheck 'not run' 'no compute-sanitizer'
}

case_hanging() {
  make_stand_ins
  cp -r "$tools" tools  # a table with a limit that a test can wait for
  sed -i 's/row device device 5 40/row device device 1 1/' tools/lib/gpu_proof_rows.sh
  proof=$folder/tools/gpu_proof
  FAKE_PROOF="collective_bench=hangs" expect 1 proved --gpus 1 --rows device
  is device failed 'no end within its limit of 1 s'
  if pgrep -f "$folder/built/bin/collective_bench" >left; then die "processes are left: $(cat left)"; fi
  # Where it is the minutes that end a row, nothing failed, but the proof is not whole either.
  sed -i 's/row device device 1 1 /row device device 1 60 /' tools/lib/gpu_proof_rows.sh
  sed -i 's/^  limit=.*/  limit=1/' tools/lib/gpu_proof_run.sh
  rm -r result
  FAKE_PROOF="collective_bench=hangs" expect 3 proved --gpus 1 --rows device
  is device 'not run' 'cut short: the 9 minutes are spent'
  grep -q '^cut short: 9 minutes were not enough' result/table.txt || die "does not say that it was cut short"
}

# A row that would end behind the minutes is not started, and named; shorter ones behind it are run.
case_late() {
  make_stand_ins
  expect 3 proved --gpus 1 --minutes 0.5 --rows device,steps,numbers-dp
  is device passed
  is steps 'not run' 'late: it takes about 210 s, and the 0.5 minutes end in [0-9]* s$'
  is numbers-dp passed
  grep -q '^cut short: 0.5 minutes' result/table.txt || die "does not say that it was cut short"
}

# Behind every row the table, the log and the document are there: a kill loses the row that runs and no other.
case_killed() {
  make_stand_ins
  FAKE_PROOF="cuda_module_test=hangs" setsid "$proof" --programs built --out result --python python-without-torch --gpus 1 --rows device,steps,cuda_module_test,numbers-dp >out 2>err &
  local pid=$!
  await_hanging_row
  kill -KILL -- -$pid || die "nothing was killed"
  wait $pid 2>/dev/null
  pkill -KILL -f "$folder/built/tests/bin/cuda_module_test"
  is device passed
  is steps passed '[0-9]+ launches measured'
  is cuda_module_test 'not run' 'not reached$'
  is numbers-dp 'not run' 'not reached$'
  grep -q '^2 passed, 0 failed, 0 not resolved, 2 not run' result/table.txt || die "the table has no sum"
  grep -q '^===== steps: passed' result/log.txt || die "the log has no row"
  grep -q '"name": *"steps/passed"' result/results.json || die "the document does not know its rows"
  expect 0 "$tandem" report result/results.json --out=reported
}

# PyTorch's cells: found, of another kind, without an answer.
case_torch() {
  make_stand_ins
  expect 0 proved_with_torch --gpus 1 --rows device,steps
  is steps passed '[0-9]+ launches measured$'
  rm -r result
  FAKE_PROOF="python-with-torch=unfit" expect 0 proved_with_torch --gpus 1 --rows device,steps
  is steps passed "none of PyTorch's: its torch 2.11.0 is built without CUDA"
  rm -r result
  FAKE_PROOF="python-with-torch=fails" expect 0 proved_with_torch --gpus 1 --rows device,steps
  is steps passed "none of PyTorch's: python-with-torch has no torch that loads"
}

# An empty list hides the GPUs that there are.
case_hidden() {
  make_stand_ins
  printf '#!/bin/sh\necho "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-1)"\n' >path/nvidia-smi
  chmod +x path/nvidia-smi
  CUDA_VISIBLE_DEVICES='' expect 3 proved --rows device,steps
  is device 'not run' "CUDA_VISIBLE_DEVICES='' hides every GPU: unset it"
  rm -r result
  CUDA_VISIBLE_DEVICES=0 expect 0 proved --rows device
  is device passed
}

# On a disk that is full, what can be said still is.
case_full_disk() {
  make_stand_ins
  mkdir result
  with_own_mounts bash -c 'mount -t tmpfs -o size=64k tmpfs result && exec "$@"' bash bash -c \
    'head -c 49152 /dev/zero >result/filler; "$@"' bash "$proof" --programs built --out result --python python-without-torch --gpus 1 --rows device,steps,numbers-dp >out 2>err
  [ $? = 1 ] || die "did not end with 1"
  for row in device steps numbers-dp; do grep -q "^$row " out || die "no line on $row"; done
  grep -q 'is the disk full?' out || die "does not say that the disk is full"
}

case_interrupt() {
  make_stand_ins
  FAKE_PROOF="cuda_module_test=hangs" "$proof" --programs built --out result --python python-without-torch --gpus 1 >out 2>err &
  local pid=$!
  await_hanging_row
  kill -TERM $pid
  wait $pid
  [ $? = 130 ] || die "did not end with 130"
  is device passed
  is numbers-gpt2 passed
  is trace 'not run' 'stopped by Ctrl-C'
  is wrapper-tax-copy 'not run' 'stopped by Ctrl-C'
  if pgrep -f "$folder/built/tests/bin/cuda_module_test" >left; then die "processes are left: $(cat left)"; fi
}

case_bad_input() {
  make_stand_ins
  expect 2 proved --frobnicate
  one_line "'--frobnicate'"
  expect 2 proved --rows steps,nosuch
  one_line "'nosuch' is no row; there are device"
  expect 2 "$proof" --programs built --out result --python nosuch
  one_line "there is no program 'nosuch'; name a python3 with torch, or leave it out"
  expect 2 proved --gpus many
  one_line "'many' is no whole number"
  expect 2 proved --minutes
  one_line "--minutes needs a value"
  expect 2 "$proof" --programs absent --out result
  one_line 'absent/bin/tandem: there is no such program'
  touch file
  expect 2 "$proof" --programs built --out file/result
  one_line 'cannot be written'
  [ ! -e result ] || die "something was written"
  expect 0 proved --help
  grep -q -- '--rehearse' out || die "no help"
  expect 0 "$proof" --programs built --list
  grep -qE '^corners +gpus:2 ' out || die "the list does not say what a row needs"
  expect 0 "$proof" --programs "$build" --list
  [ ! -e out/gpu-proof-1 ] || die "the list made a folder"
  [ ! -e starts ] || die "the list ran something"
}

"case_$3" || exit 1
