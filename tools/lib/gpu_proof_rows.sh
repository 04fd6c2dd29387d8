# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# shellcheck disable=SC2154  # options are set by who sources this
# The rows of tools/gpu_proof. What is new on GPUs gets its line here; the words are explained in
# gpu_proof_run.sh, the sweeps are in gpu_proof_sweeps.sh. Of
# one GPU's rows those that matter most stand first: the minutes may end before the last. Sourced, with `programs`,
# `backend`, `gpus` set.

declare_rows() {
  local test precision tiny="--backend=$backend --model=mlp-tiny --batch=64" shared=--oversubscribe
  local several="--backend=$backend --devices=$gpus" per_gpu='--model=mlp-tiny --batch-per-device=32'
  local gpt2="--backend=$backend --model=gpt2-nano --batch=8" resnet="--backend=$backend --model=resnet-tiny --batch=8"

  local tax step='--model=mlp-large --batch=1024' pairs=100
  tax="--backend=$backend --model=$(proof_model) --batch=512 --strategy=ddp --ab=strategy=single"
  if [ "$backend" = host ]; then step='--model=mlp-tiny --batch=64' pairs=20; fi

  # The first row is the gate: where it fails, the others are not run.
  row device device 60 'memory and copies, checked' figures program copy_bench "--backend=$backend" --sizes=1MiB,16MiB --samples=10

  # Tests labelled gpu, by CMake's own list: a new one needs no line here.
  for test in $(gpu_tests); do
    row "$test" "gpu,test:$test" 90 'tests labelled gpu' gtest "$test"
  done
  row cuda_module_test gpu,test:cuda_module_test 60 'the module as programs load it' gtest cuda_module_test

  # shellcheck disable=SC2086  # words of an option list
  {
    row memcheck gpu,tool:compute-sanitizer 60 'a tiny model: no wrong access, by compute-sanitizer' sanitizer memcheck program step_bench $tiny --verify
    row racecheck gpu,tool:compute-sanitizer 60 'a tiny model: no race in shared memory, by compute-sanitizer' sanitizer racecheck program step_bench $tiny --verify
    row memcheck-gpt2 gpu,tool:compute-sanitizer 60 'gpt2-nano: no wrong access, by compute-sanitizer' sanitizer memcheck program step_bench $gpt2 --verify
    row racecheck-gpt2 gpu,tool:compute-sanitizer 60 'gpt2-nano: no race in shared memory, by compute-sanitizer' sanitizer racecheck program step_bench $gpt2 --verify
    row memcheck-dp gpu,tool:compute-sanitizer 60 'dp, two devices on a GPU: no wrong access, by compute-sanitizer' sanitizer memcheck program step_bench $tiny --strategy=dp --devices=2 $shared --verify

    row numbers-dp device 30 'dp, devices doubled up: numbers as single' program step_bench $tiny --strategy=dp --devices=2 $shared --verify
    row numbers-dp-allreduce device 30 'dp-allreduce, devices doubled up: numbers as single' program step_bench $tiny --strategy=dp-allreduce --devices=2 $shared --verify
    row numbers-gpt2 device 30 'gpt2-nano by dp, devices doubled up: numbers as single' program step_bench $gpt2 --strategy=dp --devices=2 $shared --verify
    row numbers-gpt2-allreduce device 30 'gpt2-nano by dp-allreduce, devices doubled up: numbers as single' program step_bench $gpt2 --strategy=dp-allreduce --devices=2 $shared --verify
    row numbers-gpt2-ddp device 30 'gpt2-nano by ddp, 2 ranks through mpi: numbers as single' ranks 2 step_bench $gpt2 --strategy=ddp --devices=2 $shared --comm=mpi --verify
    row numbers-gpt2-replicate device 30 'gpt2-nano by ddp-replicate, 2 ranks through mpi: numbers as single' ranks 2 step_bench $gpt2 --strategy=ddp-replicate --devices=2 $shared --comm=mpi --verify
    resnet_rows device ''
    row numbers-ddp-2 device 30 'ddp, 2 ranks staged through mpi: numbers as single' ranks 2 step_bench $tiny --strategy=ddp --devices=2 $shared --comm=mpi --verify
    row numbers-ddp-4 device 30 'ddp, 4 ranks staged through mpi: numbers as single' ranks 4 step_bench $tiny --strategy=ddp --devices=4 $shared --comm=mpi --verify
    row numbers-replicate device 30 'ddp-replicate, 2 ranks through mpi: numbers as single' ranks 2 step_bench $tiny --strategy=ddp-replicate --devices=2 $shared --comm=mpi --verify
    # Fused attention is in bf16 alone, and not of every cuDNN and GPU: which way it went belongs beside the numbers.
    row attention gpu 30 'gpt2-nano in bf16: how attention is computed, no bar' means attention step_bench $gpt2 --precision=bf16 --min-time=100ms
    row numbers-gpt2-single-bf16 gpu 30 'gpt2-nano by single in bf16, trained twice: numbers agree' program step_bench $gpt2 --precision=bf16 --verify
    row numbers-gpt2-ddp-bf16 gpu 30 'gpt2-nano by ddp in bf16, 2 ranks through mpi: numbers as single' ranks 2 step_bench $gpt2 --strategy=ddp --devices=2 $shared --comm=mpi --precision=bf16 --verify
    row numbers-adam device 30 'dp with adam, devices doubled up: numbers as single' program step_bench $tiny --strategy=dp --devices=2 $shared --optimizer=adam --verify
    row numbers-adamw device 30 'dp with adamw, devices doubled up: numbers as single' program step_bench $tiny --strategy=dp --devices=2 $shared --optimizer=adamw --verify
    row numbers-workload device,workload:by-flops.json 30 'a workload file by dp, devices doubled up: numbers as single' program step_bench "--backend=$backend" "--model=$programs/tests/workloads/by-flops.json" --batch=8 --strategy=dp --devices=2 $shared --verify
    for precision in tf32 bf16; do
      row numbers-gpt2-$precision gpu 30 "gpt2-nano by dp in $precision, devices doubled up: numbers as single" program step_bench $gpt2 --strategy=dp --devices=2 $shared --precision=$precision --verify
      row numbers-dp-$precision gpu 30 "dp in $precision, devices doubled up: numbers as single" program step_bench $tiny --strategy=dp --devices=2 $shared --precision=$precision --verify
      row numbers-allreduce-$precision gpu 30 "dp-allreduce in $precision, devices doubled up: numbers as single" program step_bench $tiny --strategy=dp-allreduce --devices=2 $shared --precision=$precision --verify
      row numbers-ddp-$precision gpu 30 "ddp in $precision, 2 ranks through mpi: numbers as single" ranks 2 step_bench $tiny --strategy=ddp --devices=2 $shared --comm=mpi --precision=$precision --verify
      row numbers-replicate-$precision gpu 30 "ddp-replicate in $precision, 2 ranks through mpi: numbers as single" ranks 2 step_bench $tiny --strategy=ddp-replicate --devices=2 $shared --comm=mpi --precision=$precision --verify
    done
    row nccl-world-1 gpu 60 'the flow of NCCL calls, one rank' over_nccl ranks 1 step_bench $tiny --strategy=ddp --comm=nccl --verify
    row nccl-collectives-1 gpu 60 'all collectives of NCCL, one rank' figures ranks 1 collective_bench --backend=$backend --comm=nccl --collective=all --sizes=1KiB:64MiB:64 --samples=10
    row graph gpu 60 'the step as a replayed CUDA graph: numbers as single' program step_bench $tiny --cuda-graph=on --verify
    row graph-resnet gpu,model:resnet-tiny 60 'a step of resnet-tiny as a replayed CUDA graph: numbers as single' program step_bench $resnet --cuda-graph=on --verify
    row graph-pairs gpu 90 'a replayed step against an enqueued one, pair by pair' pairs figures program step_bench "--backend=$backend" "--model=$(proof_model)" --batch=64 --ab=cuda-graph=on --pairs=50
    row trace-cupti gpu 60 'a timeline of dp, devices doubled up: kernels by CUPTI, each in its step' traced '' program step_bench $tiny --strategy=dp --devices=2 $shared
    row trace-cupti-graph gpu 60 'a timeline of replayed steps: kernels by CUPTI, each in its step' traced '' program step_bench $tiny --cuda-graph=on
    row trace-cupti-ddp-1 gpu 60 'a timeline of ddp over NCCL, one rank: kernels by CUPTI, each in its step' traced '' ranks 1 step_bench $tiny --strategy=ddp --comm=nccl
    row nvtx-ranges device,recorder,tool:python3 60 'dp and ddp, devices doubled up: NVTX ranges by name, nesting, payload and count' nvtx_ranges
    row graph-ddp-1 gpu 60 'ddp of one rank over NCCL, replayed: numbers as single' over_nccl ranks 1 step_bench $tiny --strategy=ddp --comm=nccl --cuda-graph=on --verify
    row graph-ddp-1-pairs gpu 90 'the same against an enqueued one, pair by pair' pairs figures ranks 1 step_bench "--backend=$backend" "--model=$(proof_model)" --batch=64 --strategy=ddp --comm=nccl --ab=cuda-graph=on --pairs=50
  }

  row steps device 180 'steps of one device, achieved FLOP/s' sweep steps
  row steps-gpt2 device 120 'steps of GPT-2, achieved FLOP/s' sweep steps-gpt2
  row steps-resnet device,model:resnet50 90 'steps of ResNet-50, achieved FLOP/s' sweep steps-resnet
  row doubled device 150 'dp, dp-allreduce and ddp on doubled-up devices' sweep doubled "$shared"

  row peak device 60 'the measured peak of matrix products' figures program kernel_bench "--backend=$backend" --peak
  # shellcheck disable=SC2086
  {
    # 1 / 1.005: single takes no less than that of what ddp takes.
    row wrapper-tax device 90 'ddp of one rank, gradients as views: at most 0.5 % slower than single' \
      at_least 0.9950 'step time with strategy=single over step time without' figures ranks 1 step_bench $tax --grads=views
    row wrapper-tax-copy device 60 'ddp of one rank as torch has it, gradients copied: no bar, the copies are work' pairs figures ranks 1 step_bench $tax --grads=copy --pairs=50
    for precision in $(share_precisions); do
      row products-$precision device 90 "${step//--/}, $precision: forward and backward at 85 % of the FLOP/s of bare products" \
        at_least 0.8500 'forward and backward at' figures program kernel_bench --backend=$backend --step-of=${step#--model=} --precision=$precision --input=device --pairs=$pairs
    done
    for precision in $(share_precisions); do
      row torch-$precision device,torch 120 "${step//--/}, $precision: single at least as fast as PyTorch eager" \
        at_least 1.0000 'speed of single over PyTorch eager' figures torch_pairs $step --precision=$precision
    done
  }

  row doubled-resnet device,model:resnet-tiny 60 'resnet-tiny in every strategy, devices doubled up' sweep doubled-resnet "$shared"
  resnet_rows gpu tf32
  resnet_rows gpu bf16
  # shellcheck disable=SC2086
  {
    row memcheck-resnet gpu,model:resnet-tiny,tool:compute-sanitizer 60 'resnet-tiny: no wrong access, by compute-sanitizer' sanitizer memcheck program step_bench $resnet --verify
    row racecheck-resnet gpu,model:resnet-tiny,tool:compute-sanitizer 60 'resnet-tiny: no race in shared memory, by compute-sanitizer' sanitizer racecheck program step_bench $resnet --verify
  }

  # shellcheck disable=SC2086
  {
    row peers gpus:2 60 'copies between all pairs of GPUs' figures program copy_bench $several --sizes=1MiB,256MiB --samples=20
    row nccl-collectives gpus:2 120 'all collectives of NCCL, a rank per GPU' figures ranks "$gpus" collective_bench $several --comm=nccl --collective=all --sizes=1KiB:256MiB:16 --samples=20
    for precision in '' tf32 bf16; do
      row "nccl-ddp${precision:+-$precision}" gpus:2 60 "ddp over NCCL${precision:+, $precision}: numbers as single" over_nccl ranks "$gpus" step_bench $several $per_gpu --strategy=ddp --comm=nccl ${precision:+--precision=$precision} --verify
      row "nccl-allreduce${precision:+-$precision}" gpus:2 60 "dp-allreduce over NCCL${precision:+, $precision}: numbers as single" over_nccl program step_bench $several $per_gpu --strategy=dp-allreduce ${precision:+--precision=$precision} --verify
      row "nccl-replicate${precision:+-$precision}" gpus:2 60 "ddp-replicate over NCCL${precision:+, $precision}: numbers as single" over_nccl ranks "$gpus" step_bench $several $per_gpu --strategy=ddp-replicate --comm=nccl ${precision:+--precision=$precision} --verify
      row "nccl-dp${precision:+-$precision}" gpus:2 60 "dp, NCCL broadcasts and reduces${precision:+, $precision}: numbers as single" over_nccl program step_bench $several $per_gpu --strategy=dp --broadcast=collective --reduce=collective ${precision:+--precision=$precision} --verify
    done
    row nccl-gpt2-ddp gpus:2 60 'gpt2-nano by ddp over NCCL: numbers as single' over_nccl ranks "$gpus" step_bench $several --model=gpt2-nano --batch-per-device=4 --strategy=ddp --comm=nccl --verify
    row nccl-gpt2-allreduce gpus:2 60 'gpt2-nano by dp-allreduce over NCCL: numbers as single' over_nccl program step_bench $several --model=gpt2-nano --batch-per-device=4 --strategy=dp-allreduce --verify
    resnet_nccl_rows ''
    row trace-cupti-ddp gpus:2 60 'a timeline of ddp over NCCL: its kernels by CUPTI, in their collectives' traced nccl ranks "$gpus" step_bench $several $per_gpu --strategy=ddp --comm=nccl
    row graph-ddp gpus:2 60 'ddp over NCCL, replayed: numbers as single' over_nccl ranks "$gpus" step_bench $several $per_gpu --strategy=ddp --comm=nccl --cuda-graph=on --verify
    row graph-ddp-pairs gpus:2 90 'a replayed step of ddp against an enqueued one, pair by pair' pairs figures ranks "$gpus" step_bench $several "--model=$(proof_model)" --batch-per-device=64 --strategy=ddp --comm=nccl --ab=cuda-graph=on
    row numbers-dp-gpus gpus:2 60 'dp, a device per GPU: numbers as single' program step_bench $several $per_gpu --strategy=dp --verify
    row p2p-off gpus:2 60 'dp without peer access: numbers as single' program step_bench $several $per_gpu --strategy=dp --p2p=off --verify
    row p2p-off-copies gpus:2 90 'copies with and without peer access: traffic leaves it' p2p_off copy_bench $several --sizes=256MiB --ways=one --samples=20
    row p2p-off-nccl gpus:2 60 'NCCL without peer access, by its own word' nccl_p2p_off figures ranks "$gpus" collective_bench $several --comm=nccl --p2p=off --collective=all_reduce --sizes=64MiB --samples=10
    row corners gpus:2 400 'the four corners and their bounds, a device per GPU' sweep corners
    resnet_nccl_rows tf32
    resnet_nccl_rows bf16
  }
}

# resnet_rows NEED PRECISION: ResNet in every strategy, two devices on a GPU; no PRECISION is fp32. Each shard is
# normalised by itself, so --verify has single take the shards in turn. Called in declare_rows, whose variables it reads.
# shellcheck disable=SC2086
resnet_rows() {
  local suffix=${2:+-$2} words=${2:+ in $2} narrow=${2:+--precision=$2} needs=$1,model:resnet-tiny
  local two="$resnet --devices=2 $shared" as='numbers as single, shard by shard'
  row numbers-resnet-dp$suffix $needs 30 "resnet-tiny by dp$words, devices doubled up: $as" program step_bench $two --strategy=dp $narrow --verify
  row numbers-resnet-ddp$suffix $needs 30 "resnet-tiny by ddp$words, 2 ranks through mpi: $as" ranks 2 step_bench $two --strategy=ddp --comm=mpi $narrow --verify
  row numbers-resnet-allreduce$suffix $needs 30 "resnet-tiny by dp-allreduce$words, devices doubled up: $as" program step_bench $two --strategy=dp-allreduce $narrow --verify
  row numbers-resnet-replicate$suffix $needs 30 "resnet-tiny by ddp-replicate$words, 2 ranks through mpi: $as" ranks 2 step_bench $two --strategy=ddp-replicate --comm=mpi $narrow --verify
}

# resnet_nccl_rows PRECISION: the same over NCCL, a device per GPU.
# shellcheck disable=SC2086
resnet_nccl_rows() {
  local suffix=${1:+-$1} words=${1:+, $1} needs=gpus:2,model:resnet-tiny
  local all="$several --model=resnet-tiny --batch-per-device=4 ${1:+--precision=$1}" as='numbers as single, shard by shard'
  row nccl-resnet-ddp$suffix $needs 60 "resnet-tiny by ddp over NCCL$words: $as" over_nccl ranks "$gpus" step_bench $all --strategy=ddp --comm=nccl --verify
  row nccl-resnet-dp$suffix $needs 60 "resnet-tiny by dp, NCCL broadcasts and reduces$words: $as" over_nccl program step_bench $all --strategy=dp --broadcast=collective --reduce=collective --verify
  row nccl-resnet-allreduce$suffix $needs 60 "resnet-tiny by dp-allreduce over NCCL$words: $as" over_nccl program step_bench $all --strategy=dp-allreduce --verify
  row nccl-resnet-replicate$suffix $needs 60 "resnet-tiny by ddp-replicate over NCCL$words: $as" over_nccl ranks "$gpus" step_bench $all --strategy=ddp-replicate --comm=nccl --verify
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

# What the step is held against bare products and PyTorch in.
share_precisions() { if [ "$backend" = host ]; then printf 'fp32\n'; else printf 'bf16\ntf32\n'; fi; }
