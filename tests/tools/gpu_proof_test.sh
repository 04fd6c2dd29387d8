#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs one case of tools/gpu_proof.
#   gpu_proof_test.sh TANDEM FAKE_STEP_BENCH CASE TOOLS BUILD
# Most cases have programs that stand in for the real ones, and --gpus for GPUs; the command line that measures
# sweeps is the real one, with a fake step_bench.
# shellcheck source=tests/tools/cases.sh
source "$(dirname "$0")/cases.sh"
tools=$4
proof=$tools/gpu_proof
build=$5
stand_in=$(dirname "$(readlink -f "$0")")/fake_proof_program
unset CUDA_VISIBLE_DEVICES CUDA_HOME CUDA_PATH

# A build folder of stand-ins, a toolkit with its sanitizer, and an mpirun.
make_stand_ins() {
  mkdir -p built/bin built/tests/bin built/tests/lib built/tests/workloads toolkit/bin path
  touch built/tests/workloads/by-flops.json built/tests/lib/libtandem_nvtx_recorder.so
  local program
  for program in step_bench copy_bench collective_bench kernel_bench; do cp "$stand_in" built/bin/$program; done
  for program in cuda_contract_test cuda_parity_test cuda_module_test; do cp "$stand_in" built/tests/bin/$program; done
  printf 'cuda_contract_test gpu\ncuda_parity_test gpu slow\nstats_test unit tsan\n' >built/tests/programs.txt
  # `tandem` itself with a fake step_bench: the sweeps' documents are real ones.
  cat >built/bin/tandem <<SH
#!/bin/bash
if [ "\$1" = run ] && [ -z "\${FAKE_NO_SWEEPS:-}" ]; then
  exec "$tandem" "\${@/--backend=cuda/--backend=host}" --step-bench "$fake" --oversubscribe
fi
[ "\$1" = report ] && exec "$tandem" "\$@"
exit 4
SH
  chmod +x built/bin/tandem
  cp "$stand_in" toolkit/bin/compute-sanitizer
  cp "$stand_in" path/mpirun
  cp "$stand_in" path/python3
  export CUDA_HOME=$folder/toolkit PATH=$folder/path:$PATH FAKE_PROOF_STARTS=$folder/starts
}

# is ROW STATE [WORDS]: the table's line
is() {
  grep -E "^$1 +$2 .*${3:-}" result/table.txt >/dev/null || die "row $1 is not '$2 ... ${3:-}': $(cat result/table.txt)"
}

proved() { "$proof" --programs built --out result "$@"; }

case_no_gpu() {
  compgen -G '/dev/nvidia[0-9]*' && { echo "there is a GPU here"; exit 77; }
  expect 0 "$proof" --programs "$build" --out result
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
  is products-bf16 passed '0.9000 .*at least 0.8500 is asked for'
  is products-tf32 passed
  is torch-tf32 passed '1.2000 .*at least 1.0000 is asked for'
  is numbers-replicate-tf32 passed
  is p2p-off-copies 'not run' 'needs 2 GPUs$'
  is nccl-allreduce-bf16 'not run' 'needs 2 GPUs$'
  is graph passed
  is graph-resnet passed
  is memcheck-resnet passed
  for row in trace-cupti trace-cupti-graph trace-cupti-ddp-1; do is $row passed '2 kernels$'; done
  is trace-cupti-ddp 'not run' 'needs 2 GPUs$'
  is nvtx-ranges passed '21 cases$'
  grep -q "^python3 -B $(dirname "$tools")/tests/trace/nvtx_ranges_test.py $folder/built/bin/step_bench $folder/built/tests/lib/libtandem_nvtx_recorder.so mpirun cuda$" starts || die "no NVTX ranges"
  is graph-pairs passed '1.0010'
  is graph-ddp-1 passed
  is graph-ddp 'not run' 'needs 2 GPUs$'
  is nccl-world-1 passed
  is steps passed '[0-9]+ launches measured'
  is numbers-gpt2-replicate passed
  for row in numbers-resnet-dp numbers-resnet-replicate-tf32 numbers-resnet-ddp-bf16 numbers-gpt2-single-bf16 numbers-gpt2-ddp-bf16 numbers-adamw numbers-workload; do
    is $row passed
  done
  is attention passed 'no bar: cuDNN 9.19.0, fused$'
  is nccl-resnet-ddp 'not run' 'needs 2 GPUs$'
  is steps-gpt2 passed '[0-9]+ launches measured'
  is steps-resnet passed '[0-9]+ launches measured'
  is doubled-resnet passed '4 launches measured'
  is nccl-gpt2-ddp 'not run' 'needs 2 GPUs$'
  is corners 'not run' 'needs 2 GPUs$'
  is peers 'not run' 'needs 2 GPUs$'
  grep -q "^step_bench .*--strategy=ddp.*--comm=mpi" starts || die "no ddp through mpi"
  grep -q "^step_bench .*--strategy=ddp .*--grads=views" starts || die "no ddp with views"
  grep -q "^kernel_bench .*--step-of=mlp-large --batch=1024 --precision=bf16 --input=device" starts || die "no bare products in bf16"
  grep -q "^step_bench .*--strategy=dp-allreduce .*--precision=tf32 --verify" starts || die "no dp-allreduce in tf32"
  for words in dp dp-allreduce 'ddp --comm=mpi' 'ddp-replicate --comm=mpi'; do
    for precision in '' ' --precision=tf32' ' --precision=bf16'; do
      grep -q "^step_bench .*--model=resnet-tiny --batch=8 --devices=2 --oversubscribe --strategy=$words$precision --verify$" starts || die "no ResNet by $words$precision"
    done
  done
  grep -q "^step_bench .*--model=$folder/built/tests/workloads/by-flops.json .*--verify" starts || die "no workload file"
  for file in results.json report.html report.md log.txt machine.txt logs/steps.log; do
    [ -s result/$file ] || die "$file is missing"
  done
  for words in mlp-large dp-allreduce gpt2-124m resnet50; do
    grep -q $words result/report.md || die "not one report of all sweeps: no $words"
  done
  for row in device peak wrapper-tax products-bf16 torch-tf32 nccl-collectives-1; do
    grep -q "\"tandem_source\": \"$row\"" result/results.json || die "the figures of $row are not in the one document"
    grep -q "^| $row " result/report.md || die "the figures of $row are not in the report"
  done
  grep -q 'of/copy_bench' result/report.html || die "the page has no copies"
  grep -q '^===== racecheck: passed' result/log.txt || die "the logs are not joined"
  if grep -q 'stats_test' starts; then die "a test that needs no GPU was run"; fi
  expect 2 proved --gpus 1
  one_line 'holds an earlier proof'
}

case_four_gpus() {
  make_stand_ins
  expect 0 proved --gpus 4 --rows peers,nccl-collectives,corners
  is peers passed
  is corners passed '[0-9]+ launches measured'
  grep -q '"devices": \[2, 4\]' result/sweeps/corners.json || die "not on 2 and 4 GPUs"
  grep -q '"bind":"none"' result/sweeps/corners/journal.jsonl || die "no dp that is not bound"
  grep -q '^copy_bench .*--devices=4' starts || die "no matrix of four"
  [ "$(grep -c . <<<"$(grep -E 'passed|failed' result/table.txt | grep -v ' failed, ')")" = 3 ] || die "other rows were run"
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
  make_stand_ins
  FAKE_INTERVAL="kernel_bench=0.8400..0.8499 step_bench=0.9949..1.0000 python3=1.0000..1.0100" \
    expect 1 proved --gpus 1 --rows products-bf16,wrapper-tax,torch-bf16
  is products-bf16 failed 'at least 0.8500'
  is wrapper-tax 'not resolved' '0.9949 to 1.0000'
  is torch-bf16 passed
  grep -qx '1 passed, 1 failed, 1 not resolved, 0 not run' result/table.txt || die "not counted"
  rm -r result
  FAKE_INTERVAL="step_bench=0.9949..0.9950" expect 3 proved --gpus 1 --rows wrapper-tax
  rm -r result
  FAKE_INTERVAL="step_bench=10.0000..11.0000" expect 0 proved --gpus 1 --rows wrapper-tax
  rm -r result
  FAKE_INTERVAL="step_bench=few..fewer" expect 3 proved --gpus 1 --rows wrapper-tax
  is wrapper-tax 'not resolved'
  rm -r result
  FAKE_PROOF="kernel_bench=fails" expect 1 proved --gpus 1 --rows products-tf32
  is products-tf32 failed 'kernel_bench: it cannot be had'
}

case_torch() {
  make_stand_ins
  FAKE_NO_TORCH=1 expect 0 proved --gpus 1 --rows torch-bf16,torch-tf32
  is torch-bf16 'not run' 'no torch with CUDA in python3$'
  is torch-tf32 'not run' 'no torch with CUDA in python3$'
  [ "$(grep -c '^python3 -c' starts)" -le 2 ] || die "asked again and again"
  rm -r result
  FAKE_INTERVAL="python3=0.9000..0.9500" expect 1 proved --gpus 1 --rows torch-bf16
  is torch-bf16 failed '0.9000 to 0.9500'
  grep -q '^python3 .*single_against_eager.py --step-bench=.*/built/bin/step_bench --backend=cuda --model=mlp-large --batch=1024 --precision=bf16 ' starts || die "$(cat starts)"
}

# Of a model that the back end has not, the table says why.
case_lacking() {
  local rows=numbers-resnet-ddp,steps-resnet,memcheck-resnet,numbers-gpt2 row
  make_stand_ins
  FAKE_PROOF="step_bench=lacks" expect 0 proved --gpus 1 --rows $rows
  for row in numbers-resnet-ddp steps-resnet memcheck-resnet; do is $row 'not run' 'no cuDNN was found: libcudnn.so.9$'; done
  is numbers-gpt2 passed
  rm -r result
  expect 0 proved --gpus 1 --rows $rows
  for row in ${rows//,/ }; do is "$row" passed; done
}

# Traffic has to leave peer access, not only the command to run.
case_p2p() {
  make_stand_ins
  expect 0 proved --gpus 2 --rows p2p-off-copies,p2p-off-nccl
  is p2p-off-copies passed '0->1 240 GB/s with, 21 without'
  is p2p-off-nccl passed 'via SHM/direct/direct'
  for file in p2p-off-copies.with p2p-off-copies.without p2p-off-nccl; do
    [ -s result/figures/$file.json ] || die "no figures $file"
  done
  rm -r result
  FAKE_PROOF="copy_bench=alike collective_bench=peer" expect 1 proved --gpus 2 --rows p2p-off-copies,p2p-off-nccl
  is p2p-off-copies 'not resolved' 'about as fast without peer access: 0->1 1->0'
  is p2p-off-nccl failed 'NCCL took peer access: .*via P2P/CUMEM'
  rm -r result
  FAKE_PROOF="collective_bench=silent" expect 3 proved --gpus 2 --rows p2p-off-nccl
  is p2p-off-nccl 'not resolved' 'did not say'
}

# The same numbers through the host would prove nothing of NCCL.
case_nccl() {
  local rows=nccl-world-1,graph-ddp-1,nccl-ddp,nccl-allreduce,nccl-replicate-tf32,nccl-dp-bf16,graph-ddp,nccl-resnet-dp,nccl-resnet-ddp-bf16 row
  make_stand_ins
  expect 0 proved --gpus 2 --rows $rows
  grep -q '^9 passed' result/table.txt || die "not all passed"
  grep -q '^step_bench .*--strategy=ddp-replicate --comm=nccl --precision=tf32 --verify' starts || die "no ddp-replicate over NCCL"
  if grep 'strategy=dp' starts | grep -q -- '--comm'; then die "--comm is no option of dp and dp-allreduce"; fi
  rm -r result
  FAKE_PROOF=step_bench=staged expect 1 proved --gpus 2 --rows $rows
  for row in ${rows//,/ }; do is "$row" failed 'no communicator of NCCL'; done
}

# A timeline of events, or with kernels out of place, is no proof of CUPTI's.
case_traces() {
  make_stand_ins
  expect 0 proved --gpus 2 --rows trace-cupti,trace-cupti-ddp
  is trace-cupti-ddp passed '2 kernels$'
  [ -s result/logs/trace-cupti-ddp.trace.json ] || die "no trace is kept"
  local how words
  while read -r how words; do
    rm -r result
    FAKE_PROOF=step_bench=$how expect 1 proved --gpus 2 --rows trace-cupti-ddp
    is trace-cupti-ddp failed "$words"
  done <<'HOW'
events events, since run as root
late gemm is not within its step 1
idle device 0 of rank 0 ran no kernel
alone ncclDevKernel_AllReduce is in no collective
HOW
}

case_failing() {
  make_stand_ins
  FAKE_PROOF="collective_bench=fails cuda_parity_test=fails" expect 1 proved --gpus 1
  is nccl-collectives-1 failed 'exit status 3: collective_bench: it cannot be had'
  is cuda_parity_test failed 'exit status 3'
  is steps passed
  is memcheck passed
  if grep -q '"tandem_source": "nccl-collectives-1"' result/results.json; then die "figures of a program that failed"; fi
}

# Ranges in the wrong place, and a test that did not run.
case_ranges() {
  make_stand_ins
  FAKE_PROOF="python3=ranges" expect 1 proved --gpus 1 --rows nvtx-ranges
  is nvtx-ranges failed 'exit status 1: FAIL: test_phases_are_in_steps .__main__.DpTest.$'
  rm -r result
  FAKE_PROOF="python3=silent" expect 1 proved --gpus 1 --rows nvtx-ranges
  is nvtx-ranges failed 'it printed nothing'
  rm -r result built/tests/lib/libtandem_nvtx_recorder.so
  expect 0 proved --gpus 1 --rows nvtx-ranges
  is nvtx-ranges 'not run' 'built without NVTX, or without tests$'
}

case_sweep_failing() {
  make_stand_ins
  FAKE_FAIL=dp expect 1 proved --gpus 1 --rows steps,doubled
  is steps passed
  is doubled failed 'exit status 1'
  grep -q 'dp cannot be had' result/report.md || die "the report does not say why"
}

case_gate() {
  make_stand_ins
  FAKE_PROOF="copy_bench=fails" expect 1 proved --gpus 1
  is device failed 'copy_bench: it cannot be had'
  is steps 'not run' 'the row device failed'
  is corners 'not run' 'needs 2 GPUs'
  [ "$(wc -l <starts)" = 1 ] || die "something ran behind the gate"
}

case_skipping() {
  make_stand_ins
  FAKE_PROOF="cuda_contract_test=skips compute-sanitizer=unsupported" expect 0 proved --gpus 1 --rows cuda_contract_test,memcheck
  is cuda_contract_test 'not run' 'all skipped: nothing to be seen'
  is memcheck 'not run' 'device not supported'
  rm -r result
  FAKE_PROOF="compute-sanitizer=hazards" expect 1 proved --gpus 1 --rows racecheck
  is racecheck failed '2 hazards'
  rm -r result
  FAKE_PROOF="compute-sanitizer=silent" expect 1 proved --gpus 1 --rows racecheck
  is racecheck failed 'no summary'
  rm -r result
  FAKE_PROOF="step_bench=silent" expect 1 proved --gpus 1 --rows attention
  is attention failed 'its record names no attention'
}

case_absent() {
  make_stand_ins
  rm built/tests/bin/cuda_parity_test toolkit/bin/compute-sanitizer built/tests/workloads/by-flops.json
  export CUDA_HOME=$folder/elsewhere
  expect 0 proved --gpus 1 --rows cuda_parity_test,memcheck,numbers-workload
  is cuda_parity_test 'not run' 'no cuda_parity_test here'
  is numbers-workload 'not run' 'no tests/workloads/by-flops.json here: the tests were not built$'
  command -v compute-sanitizer >/dev/null || [ -n "$(echo /usr/local/cuda*/bin/compute-sanitizer*)" ] || is memcheck 'not run' 'no compute-sanitizer'
}

case_hanging() {
  make_stand_ins
  cp -r "$tools" tools  # a table with a limit that a test can wait for
  sed -i 's/^  row device device 60/  row device device 1/' tools/lib/gpu_proof_rows.sh
  proof=$folder/tools/gpu_proof
  FAKE_PROOF="copy_bench=hangs" expect 1 proved --gpus 1 --rows device
  is device failed 'no end within its limit of 1 s'
  if pgrep -f "$folder/built/bin/copy_bench" >left; then die "processes are left: $(cat left)"; fi
  # Where it is the minutes that end a row, nothing failed, but the proof is not whole either.
  sed -i 's/^  row device device 1/  row device device 60/' tools/lib/gpu_proof_rows.sh
  sed -i 's/  left=.* limit=/  left=1 limit=/' tools/lib/gpu_proof_run.sh
  rm -r result
  FAKE_PROOF="copy_bench=hangs" expect 3 proved --gpus 1 --rows device
  is device 'not run' 'cut short: the 8 minutes are spent'
  grep -q '^cut short: 8 minutes were not enough' result/table.txt || die "does not say that it was cut short"
}

case_minutes() {
  make_stand_ins
  expect 3 proved --gpus 1 --minutes 0
  is device 'not run' 'the 0 minutes are spent'
  grep -q '^cut short: 0 minutes' result/table.txt || die "does not say that it was cut short"
  [ ! -e starts ] || die "something ran"
}

case_interrupt() {
  make_stand_ins
  FAKE_PROOF="kernel_bench=hangs" "$proof" --programs built --out result --gpus 1 >out 2>err &
  local pid=$! tries=0
  while [ ! -e starts.hanging ]; do
    tries=$((tries + 1))
    [ $tries -lt 300 ] || die "the row that hangs did not start"
    sleep 0.1
  done
  kill -TERM $pid
  wait $pid
  [ $? = 130 ] || die "did not end with 130"
  is device passed
  is steps passed
  is peak 'not run' 'stopped by Ctrl-C'
  is wrapper-tax 'not run' 'stopped by Ctrl-C'
  if pgrep -f "$folder/built/bin/kernel_bench" >left; then die "processes are left: $(cat left)"; fi
}

case_bad_input() {
  make_stand_ins
  expect 2 proved --frobnicate
  one_line "'--frobnicate'"
  expect 2 proved --rows steps,nosuch
  one_line "'nosuch' is no row; there are device"
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

# The rows' own commands, as they are, on the CPU.
case_rehearsal() {
  expect 0 "$proof" --programs "$build" --out result --rehearse
  grep -q '^A rehearsal on the CPU' out || die "not marked"
  is device passed
  is numbers-ddp-4 passed
  is wrapper-tax passed 'step time with strategy=single .*not judged: a rehearsal'
  is products-fp32 passed 'forward and backward at [0-9.]+ of the FLOP/s of bare products .*not judged: a rehearsal'
  if python3 -c 'import torch' 2>/dev/null; then is torch-fp32 passed 'speed of single over PyTorch eager'; else is torch-fp32 'not run' 'no torch in python3$'; fi
  is steps passed
  is doubled passed
  is numbers-gpt2-ddp passed
  for row in dp ddp allreduce replicate; do is numbers-resnet-$row passed; done
  for row in adam adamw workload; do is numbers-$row passed; done
  is attention 'not run' 'a rehearsal on the CPU'
  if [ -e "$build/tests/lib/libtandem_nvtx_recorder.so" ]; then is nvtx-ranges passed '21 cases$'; fi
  is steps-gpt2 passed
  is steps-resnet passed
  is doubled-resnet passed
  is memcheck 'not run' 'a rehearsal on the CPU'
  grep -q '^# CPU only' result/report.md || die "the report claims more than the CPU"
}

"case_$3" || exit 1
