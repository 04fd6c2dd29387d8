# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# shellcheck disable=SC2154  # options are set by who sources this
# The rows of tools/gpu_proof, beside the tests labelled gpu: a row for each thing that only GPUs can show. The words are
# explained in gpu_proof_run.sh. Rows that matter most stand first: the minutes may end before the last. Sourced, with
# `programs`, `backend`, `gpus` set.

declare_rows() {
  local test model=mlp-base all=$gpus shared=--oversubscribe fp32='' tax_batch=4096
  local gpt2='--model=gpt2-124m --batch=8 --precision=bf16' resnet='--model=resnet50 --batch=128 --precision=bf16'
  local calibrated='gpt2-124m --batches=4,8 --precision=bf16'
  # In tf32, cuDNN's default, a whole tensor may be off by an eighth: fp32 shows a mistake of a thousandth.
  if [ "$backend" = host ]; then
    model=mlp-tiny tax_batch=64 gpt2='--model=gpt2-nano --batch=8' resnet='--model=resnet-tiny --batch=8'
    calibrated='mlp-tiny --batches=16,32'
  else
    shared+=' --gpus=0' fp32=--conv-fp32=on
  fi
  if [ "$all" = 0 ]; then all=1; fi
  local on="--backend=$backend" tiny="--backend=$backend --model=mlp-tiny --batch=64"
  local two="$tiny --devices=2 $shared" several="--backend=$backend --devices=$all"
  local each="$several --model=mlp-tiny --batch-per-device=32" tax="$on --model=$model --batch=$tax_batch --strategy=ddp"
  local few="$on --strategy=single --warmup-time=1s" nccl='one rank of NCCL: starts, ends, moves nothing;'
  if [ "$all" -gt 1 ]; then nccl='a rank of NCCL per GPU:'; fi

  # shellcheck disable=SC2086  # words of an option list
  {
    # The first row is the gate: where it fails, the others of ours are not run.
    row device device 5 40 'memory of a device, written, read and checked' figures program collective_bench $on --launch=threads --in-place=both --sizes=1MiB,16MiB --samples=10

    # Numbers.
    row golden_gpu_test gpu,test:golden_gpu_test 5 60 "numbers as PyTorch's: outputs, losses, gradients, optimizers" gtest golden_gpu_test
    row numbers-gpt2 device 3 30 'gpt2-nano by dp, devices doubled up: numbers as single' program step_bench verify $on --model=gpt2-nano --batch=8 --strategy=dp --devices=2 $shared
    row numbers-bf16 gpu 3 30 'dp in bf16, devices doubled up: numbers as single' program step_bench verify $two --strategy=dp --precision=bf16
    row numbers-ddp device 3 30 'ddp, 2 ranks doubled up, through the host: numbers as single' ranks 2 step_bench verify $two --strategy=ddp
    row cuda_parity_test gpu,test:cuda_parity_test 20 150 'every kernel against the naive one' gtest cuda_parity_test

    # Steps, and PyTorch's own on the same GPU in the same minutes.
    row trace-gpt2 gpu 10 60 'kernels of a step of GPT-2, and attention in one of them' fused traced '' program step_bench $few $gpt2
    row steps device 210 290 "steps of one device and of ddp's one rank, beside PyTorch's" beside_torch sweep steps
    row trace-resnet gpu,model:resnet50 12 60 'kernels of a step of ResNet-50, channels last' traced '' program step_bench $few $resnet --channels-last=on
    row dp-doubled gpu 5 40 'dp with two devices on a GPU' figures program step_bench $on $gpt2 --strategy=dp --devices=2 $shared --warmup-time=1s
    row calibrate device 30 90 'what each operation takes, for projections' program step_bench calibrate $on --file=$out/figures/calibration.txt --model=$calibrated

    # 1 / 1.005: single takes no less than that of what ddp takes.
    row wrapper-tax device 10 60 'ddp of one rank, gradients as views: at most 0.5 % slower than single' \
      at_least 0.9950 'step time with strategy=single over step time without' figures ranks 1 step_bench pair $tax --ab=strategy=single --grads=views --pairs=60

    # Tests labelled gpu, by CMake's own list: a new one needs no line here.
    for test in $(gpu_tests); do
      case $test in golden_gpu_test | cuda_parity_test) continue ;; esac
      row "$test" "gpu,test:$test" 5 90 'tests labelled gpu' gtest "$test"
    done
    row cuda_module_test gpu,test:cuda_module_test 3 60 'the module as programs load it' gtest cuda_module_test
    row trace gpu 6 60 'a timeline of dp, devices doubled up: kernels by CUPTI, each in its step' traced '' program step_bench $two --strategy=dp
    row numbers-dp device 3 30 'dp, two devices on a GPU: numbers as single' program step_bench verify $two --strategy=dp
    row numbers-dp-allreduce device 3 30 'dp-allreduce, devices doubled up: numbers as single' program step_bench verify $two --strategy=dp-allreduce
    row numbers-replicate device 3 30 'ddp-replicate, 2 ranks doubled up, through the host: numbers as single' ranks 2 step_bench verify $two --strategy=ddp-replicate
    row numbers-resnet device,model:resnet-tiny 3 30 'resnet-tiny by dp, devices doubled up, in fp32: numbers as single, shard by shard' program step_bench verify $on --model=resnet-tiny --batch=8 --strategy=dp --devices=2 $shared $fp32
    row nccl-ddp gpu 5 60 "$nccl numbers as single" over_nccl ranks $all step_bench verify $each --strategy=ddp --comm=nccl
    # What the minutes on one GPU may not hold: again.sh of tools/gpu_node takes such rows in a second try.
    row counters gpu,tool:ncu 30 60 "own kernels of a step of GPT-2 by Nsight Compute: bytes and occupancy" counted program step_bench $on $gpt2 --min-samples=1 --min-time=1ms --warmup-steps=3 --warmup-time=1ms
    row memcheck gpu,tool:compute-sanitizer 25 90 'dp, two devices on a GPU: no wrong access by own kernels' sanitizer memcheck program step_bench verify $two --strategy=dp
    row racecheck gpu,tool:compute-sanitizer 25 90 'a tiny model: no race in shared memory of own kernels' sanitizer racecheck program step_bench verify $tiny
    row wrapper-tax-copy device 10 60 'ddp of one rank as torch has it, gradients copied: no bar, the copies are work' pairs figures ranks 1 step_bench pair $tax --ab=strategy=single --grads=copy --pairs=50
    # 1 / 1.01, the bar of what observing costs.
    row marks device 10 60 'ddp of one rank, gradients copied: marks between phases cost 1 % at most' \
      at_least 0.9901 'step time with phases=off over step time without' figures ranks 1 step_bench pair $tax --ab=phases=off --pairs=60

    row nccl-collectives gpus:2 60 120 'all collectives of NCCL, a rank per GPU' figures ranks $all collective_bench $several --comm=nccl --collective=all --sizes=1KiB:256MiB:16 --samples=20
    row nccl-dp gpus:2 8 60 'dp, NCCL broadcasts and reduces: numbers as single' over_nccl program step_bench verify $each --strategy=dp --broadcast=collective --reduce=collective
    row nccl-dp-allreduce gpus:2 8 60 'dp-allreduce over NCCL, high priority: numbers as single' \
      over_nccl program step_bench verify $each --strategy=dp-allreduce --comm-priority=high
    row nccl-replicate gpus:2 8 60 'ddp-replicate over NCCL: numbers as single' over_nccl ranks $all step_bench verify $each --strategy=ddp-replicate --comm=nccl
    row trace-ddp gpus:2 10 60 'a timeline of ddp over NCCL: its kernels by CUPTI, in their collectives' traced nccl ranks $all step_bench $each --strategy=ddp --comm=nccl
    row corners gpus:2 240 400 'the four corners and their bounds, a device per GPU' sweep corners
  }
}

# Names of the test programs labelled gpu.
gpu_tests() {
  local name labels
  if [ ! -r "$programs/tests/programs.txt" ]; then return 0; fi
  while read -r name labels; do
    if [[ " $labels " == *" gpu "* ]]; then printf '%s\n' "$name"; fi
  done <"$programs/tests/programs.txt"
}

# The sweeps, as `tandem run` reads them: sweep_NAME prints that of row NAME. A few launches are enough to see a step's
# time, too few for a verdict: that is what the named sweeps are for. A budget ends a sweep with what it has.
sweep_steps() {
  local workloads='{"model": "gpt2-124m", "batch": 8, "precision": "bf16"}, {"model": "resnet50", "batch": 128, "precision": "bf16"}, {"model": "mlp-base", "batch": 512, "precision": ["fp32", "tf32", "bf16"]}' layouts=''
  if [ "$backend" = host ]; then  # not every CPU has bf16, and cores know one layout
    workloads='{"model": "mlp-tiny", "batch": 64}'
  else
    layouts='"axes": {"channels-last": [null, "on"]}, "constraints": [{"drop": {"channels-last": "on", "model": ["gpt2-124m", "mlp-base"]}, "reason": "no images"}], '
  fi
  printf '{"name": "gpu-proof-steps", "budget": "240s", "workloads": [%s], "devices": [1], "strategies": ["single", "ddp"], %s' "$workloads" "$layouts"
  printf '"launches": 1, "min_time": "500ms", "min_samples": 10}\n'
}

# 2, 4, 8, ... and all GPUs; each count divides the batch. dp also as torch runs it, whose threads nobody binds.
sweep_corners() {
  local counts='' count
  for ((count = 2; count < gpus; count *= 2)); do counts+="$count, "; done
  printf '{"name": "gpu-proof-corners", "workloads": [{"model": "mlp-base", "batch": %s}], "devices": [%s%s],\n' $((256 * gpus)) "$counts" "$gpus"
  printf ' "strategies": ["single", {"strategy": "independent", "launch": "threads"}, {"strategy": "independent", "launch": "processes"},\n'
  printf '  "dp", {"strategy": "dp", "options": {"bind": "none"}}, "dp-allreduce", "ddp", "ddp-replicate"],\n'
  printf ' "launches": 3, "min_time": "300ms", "min_samples": 10}\n'
}
