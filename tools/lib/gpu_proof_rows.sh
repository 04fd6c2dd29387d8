# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# shellcheck disable=SC2154  # options are set by who sources this
# The rows of tools/gpu_proof. What is new on GPUs gets its line here; the words are explained in
# gpu_proof_run.sh, the sweeps are in gpu_proof_sweeps.sh. A row for a flag that not every build has stands
# behind `has_flag`. Sourced, with `programs`, `backend`, `gpus` set.

declare_rows() {
  local test tiny="--backend=$backend --model=mlp-tiny --batch=64" shared=--oversubscribe
  local several="--backend=$backend --devices=$gpus"

  # The first row is the gate: where it fails, the others are not run.
  row device device 60 'memory and copies, checked' program copy_bench "--backend=$backend" --sizes=1MiB,16MiB --samples=10

  # Tests labelled gpu, by CMake's own list: a new one needs no line here.
  for test in $(gpu_tests); do
    row "$test" "gpu,test:$test" 90 'tests labelled gpu' gtest "$test"
  done
  row cuda_module_test gpu,test:cuda_module_test 60 'the module as programs load it' gtest cuda_module_test

  # shellcheck disable=SC2086  # words of an option list
  {
    row memcheck gpu,tool:compute-sanitizer 60 'a tiny model under compute-sanitizer' sanitizer memcheck program step_bench $tiny --verify
    row racecheck gpu,tool:compute-sanitizer 60 'a tiny model under compute-sanitizer' sanitizer racecheck program step_bench $tiny --verify
    row memcheck-dp gpu,tool:compute-sanitizer 60 'dp, two devices on a GPU, under compute-sanitizer' sanitizer memcheck program step_bench $tiny --strategy=dp --devices=2 $shared --verify

    row numbers-dp device 30 'dp, devices doubled up: numbers as single' program step_bench $tiny --strategy=dp --devices=2 $shared --verify
    row numbers-dp-allreduce device 30 'dp-allreduce, devices doubled up: numbers as single' program step_bench $tiny --strategy=dp-allreduce --devices=2 $shared --verify
    row numbers-ddp-2 device 30 'ddp, 2 ranks staged through mpi: numbers as single' ranks 2 step_bench $tiny --strategy=ddp --devices=2 $shared --comm=mpi --verify
    row numbers-ddp-4 device 30 'ddp, 4 ranks staged through mpi: numbers as single' ranks 4 step_bench $tiny --strategy=ddp --devices=4 $shared --comm=mpi --verify
    row numbers-replicate device 30 'ddp-replicate, 2 ranks through mpi: numbers as single' ranks 2 step_bench $tiny --strategy=ddp-replicate --devices=2 $shared --comm=mpi --verify
    if has_flag step_bench nccl; then
      row nccl-world-1 gpu 60 'the flow of NCCL calls, one rank' ranks 1 step_bench $tiny --strategy=ddp --comm=nccl --verify
      row nccl-collectives-1 gpu 60 'all collectives of NCCL, one rank' ranks 1 collective_bench --backend=$backend --comm=nccl --collective=all --sizes=1KiB:64MiB:64 --samples=10
    fi
    if has_flag step_bench --graph; then
      row graph gpu 60 'the step as a replayed CUDA graph: numbers as single' program step_bench $tiny --graph=on --verify
    fi
  }

  if has_flag kernel_bench --peak; then
    row peak device 60 'the measured peak of matrix products' program kernel_bench "--backend=$backend" --peak
  fi
  row wrapper-tax device 90 'ddp of one rank against single, pair by pair (to show: within 0.5 %)' pairs ranks 1 step_bench "--backend=$backend" "--model=$(proof_model)" --batch=512 --strategy=ddp --ab=strategy=single
  row steps device 180 'steps of one device, achieved FLOP/s' sweep steps
  row doubled device 150 'dp, dp-allreduce and ddp on doubled-up devices' sweep doubled "$shared"

  # shellcheck disable=SC2086
  {
    row peers gpus:2 60 'copies between all pairs of GPUs' program copy_bench $several --sizes=1MiB,256MiB --samples=20
    if has_flag step_bench nccl; then
      row nccl-collectives gpus:2 120 'all collectives of NCCL, a rank per GPU' ranks "$gpus" collective_bench $several --comm=nccl --collective=all --sizes=1KiB:256MiB:16 --samples=20
      row nccl-numbers-ddp gpus:2 60 'ddp over NCCL: numbers as single' ranks "$gpus" step_bench $several --model=mlp-tiny --batch-per-device=32 --strategy=ddp --comm=nccl --verify
    fi
    row numbers-dp-gpus gpus:2 60 'dp, a device per GPU: numbers as single' program step_bench $several --model=mlp-tiny --batch-per-device=32 --strategy=dp --verify
    if has_flag step_bench --p2p; then
      row p2p-off gpus:2 60 'dp without peer access: numbers as single' program step_bench $several --model=mlp-tiny --batch-per-device=32 --strategy=dp --p2p=off --verify
    fi
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

# What is large enough for a GPU and small enough for a minute; in a rehearsal, the smallest.
proof_model() { if [ "$backend" = host ]; then printf 'mlp-tiny\n'; else printf 'mlp-base\n'; fi; }
