#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The CUDA module built with the CUDA 12 that tools/cuda-from-pip makes, warnings as errors: it links, and has kernels for
# every GPU from a V100 on. Skips (77) where the package index cannot be reached.
#   cuda12_test.sh SOURCE
set -eu
source=$1
die() { echo "FAILED: $*"; exit 1; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

python3 -m pip download --quiet --no-deps --dest "$folder" nvidia-nvtx-cu12 >"$folder/log" 2>&1 || { tail -n 1 "$folder/log"; exit 77; }
# Beside a copy of the scripts: a toolkit in the checkout itself would change what tools/bundle takes.
cp -r "$source/tools" "$folder/tools"
"$folder/tools/cuda-from-pip" --cuda=12 || die "no toolkit"
toolkit=$folder/build/cuda-12-from-pip/cu12
build=$folder/build/release
CUDACXX=$toolkit/bin/nvcc CUDAToolkit_ROOT=$toolkit cmake --preset release -S "$source" -B "$build" \
  -DTANDEM_TESTS=OFF -DTANDEM_CUDA=ON -DTANDEM_WERROR=ON >"$folder/log" 2>&1 || { tail -n 20 "$folder/log"; die "CMake does not take it"; }
for part in 'CUDA module' 'NCCL communicator' 'Convolutions of cuDNN' 'Timelines by CUPTI'; do
  grep -q "^-- $part: \(ON\|TRUE\|1\)" "$folder/log" || die "$part: not ON"
done
cmake --build "$build" --target tandem_cuda tandem_trace >"$folder/log" 2>&1 || { grep -m 12 -i error "$folder/log"; die "it does not build"; }
kernels=$("$toolkit/bin/cuobjdump" --list-elf "$build/lib/libtandem_cuda.so")
for architecture in sm_70 sm_75 sm_80 sm_90; do
  grep -q "$architecture" <<<"$kernels" || die "no kernels for $architecture: $kernels"
done
if ldd "$build/lib/libtandem_cuda.so" | grep libcudart; then die "the runtime is not in the module"; fi
