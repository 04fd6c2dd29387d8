# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# shellcheck disable=SC2154  # options are set by who sources this
# The rows of tools/gpu_proof, beside the tests labelled gpu: a row for each thing that only GPUs can show. The words are
# explained in gpu_proof_run.sh. Rows that matter most stand first: the minutes may end before the last. Sourced, with
# `programs`, `backend`, `gpus` set.

declare_rows() {
  local test model=mlp-base all=$gpus shared=--oversubscribe fp32=''
  # In tf32, cuDNN's default, a whole tensor may be off by an eighth: fp32 shows a mistake of a thousandth.
  if [ "$backend" = host ]; then model=mlp-tiny; else shared+=' --gpus=0' fp32=--conv-fp32=on; fi
  if [ "$all" = 0 ]; then all=1; fi
  local on="--backend=$backend" tiny="--backend=$backend --model=mlp-tiny --batch=64"
  local two="$tiny --devices=2 $shared" several="--backend=$backend --devices=$all"
  local each="$several --model=mlp-tiny --batch-per-device=32" tax="$on --model=$model --batch=512 --strategy=ddp --ab=strategy=single"

  # shellcheck disable=SC2086  # words of an option list
  {
    # The first row is the gate: where it fails, the others are not run.
    row device device 60 'memory and copies, checked, between all GPUs' figures program copy_bench $several --sizes=1MiB,16MiB --samples=10

    # Tests labelled gpu, by CMake's own list: a new one needs no line here.
    for test in $(gpu_tests); do
      row "$test" "gpu,test:$test" 90 'tests labelled gpu' gtest "$test"
    done
    row cuda_module_test gpu,test:cuda_module_test 60 'the module as programs load it' gtest cuda_module_test

    row memcheck gpu,tool:compute-sanitizer 60 'dp, two devices on a GPU: no wrong access, by compute-sanitizer' sanitizer memcheck program step_bench $two --strategy=dp --verify
    row racecheck gpu,tool:compute-sanitizer 60 'a tiny model: no race in shared memory, by compute-sanitizer' sanitizer racecheck program step_bench $tiny --verify

    row numbers-dp device 30 'dp, devices doubled up: numbers as single' program step_bench $two --strategy=dp --verify
    row numbers-dp-allreduce device 30 'dp-allreduce, devices doubled up: numbers as single' program step_bench $two --strategy=dp-allreduce --verify
    row numbers-ddp device 30 'ddp, 2 ranks doubled up, through the host: numbers as single' ranks 2 step_bench $two --strategy=ddp --verify
    row numbers-replicate device 30 'ddp-replicate, 2 ranks doubled up, through the host: numbers as single' ranks 2 step_bench $two --strategy=ddp-replicate --verify
    row numbers-bf16 gpu 30 'dp in bf16, devices doubled up: numbers as single' program step_bench $two --strategy=dp --precision=bf16 --verify
    row numbers-gpt2 device 30 'gpt2-nano by dp, devices doubled up: numbers as single' program step_bench $on --model=gpt2-nano --batch=8 --strategy=dp --devices=2 $shared --verify
    row numbers-resnet device,model:resnet-tiny 30 'resnet-tiny by dp, devices doubled up, in fp32: numbers as single, shard by shard' program step_bench $on --model=resnet-tiny --batch=8 --strategy=dp --devices=2 $shared $fp32 --verify

    row nccl-ddp gpu 60 'ddp over NCCL, a rank per GPU: numbers as single' over_nccl ranks $all step_bench $each --strategy=ddp --comm=nccl --verify
    row nccl-collectives gpu 120 'all collectives of NCCL, a rank per GPU' figures ranks $all collective_bench $several --comm=nccl --collective=all --sizes=1KiB:256MiB:16 --samples=20
    row graph gpu 60 'the step as a replayed CUDA graph: numbers as single' program step_bench $tiny --cuda-graph=on --verify
    row graph-ddp gpu 60 'ddp over NCCL, replayed: numbers as single' over_nccl ranks $all step_bench $each --strategy=ddp --comm=nccl --cuda-graph=on --verify
    row trace gpu 60 'a timeline of dp, devices doubled up: kernels by CUPTI, each in its step' traced '' program step_bench $two --strategy=dp

    # 1 / 1.005: single takes no less than that of what ddp takes.
    row wrapper-tax device 90 'ddp of one rank, gradients as views: at most 0.5 % slower than single' \
      at_least 0.9950 'step time with strategy=single over step time without' figures ranks 1 step_bench $tax --grads=views
    row wrapper-tax-copy device 60 'ddp of one rank as torch has it, gradients copied: no bar, the copies are work' pairs figures ranks 1 step_bench $tax --grads=copy --pairs=50
    row wrapper-tax-unmarked device 60 'the same without marks between phases' pairs figures ranks 1 step_bench $tax --grads=copy --pairs=50 --phases=off
    # 1 / 1.01, the bar of what observing costs.
    row marks device 90 'ddp of one rank, gradients copied: marks between phases cost 1 % at most' \
      at_least 0.9901 'step time with phases=off over step time without' figures ranks 1 step_bench $on --model=$model --batch=512 --strategy=ddp --ab=phases=off
    row steps device 180 'steps of one device, achieved FLOP/s' sweep steps

    row nccl-dp gpus:2 60 'dp, NCCL broadcasts and reduces: numbers as single' over_nccl program step_bench $each --strategy=dp --broadcast=collective --reduce=collective --verify
    row nccl-dp-allreduce gpus:2 60 'dp-allreduce over NCCL, registered memory, high priority: numbers as single' \
      over_nccl program step_bench $each --strategy=dp-allreduce --comm-memory=registered --comm-priority=high --verify
    row nccl-replicate gpus:2 60 'ddp-replicate over NCCL: numbers as single' over_nccl ranks $all step_bench $each --strategy=ddp-replicate --comm=nccl --verify
    row trace-ddp gpus:2 60 'a timeline of ddp over NCCL: its kernels by CUPTI, in their collectives' traced nccl ranks $all step_bench $each --strategy=ddp --comm=nccl
    row corners gpus:2 400 'the four corners and their bounds, a device per GPU' sweep corners
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
# time, too few for a verdict: that is what the named sweeps are for.
sweep_steps() {
  local workloads='{"model": "mlp-base", "batch": 512, "precision": ["fp32", "tf32", "bf16"]}, {"model": "gpt2-124m", "batch": 8, "precision": ["tf32", "bf16"]}'
  if [ "$backend" = host ]; then workloads='{"model": "mlp-tiny", "batch": 64}'; fi  # not every CPU has bf16
  printf '{"name": "gpu-proof-steps", "workloads": [%s], "devices": [1], "strategies": ["single"], ' "$workloads"
  printf '"launches": 2, "min_time": "300ms", "min_samples": 10}\n'
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
