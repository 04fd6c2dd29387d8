#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What tools/lib/cuda_libraries.sh finds on nodes of several kinds, which folders stand in for.
#   where_test.sh TOOLS CASE
# shellcheck source=tests/tools/cases.sh
source "$(dirname "$0")/cases.sh" '' '' "$2"
# shellcheck source=tools/lib/cuda_libraries.sh
. "$1/lib/cuda_libraries.sh"
unset CUDA_HOME CUDA_PATH NCCL_HOME CUDNN_HOME LD_LIBRARY_PATH
soname=libtandem_absent.so.7  # what no machine has

# is PATH PLACE: what find_library has found
is() {
  [ "$library|$library_place" = "$1|$2" ] || die "found '$library' ($library_place), not '$1' ($2)"
}

# a_library FOLDER: a real one, under a name that nothing else has
a_library() {
  mkdir -p "$1" && cp "$(loaded_from libm.so.6)" "$1/$soname"
}

case_loader() {
  find_library libc.so.6
  is "$(loaded_from libc.so.6)" loader
  [ -e "$library" ] || die "the loader's own libc was not found"
  find_library $soname "$folder/empty"
  is '' ''
}

case_library_path() {
  a_library "$folder/a module"
  LD_LIBRARY_PATH="$folder/a module" find_library $soname
  is "$folder/a module/$soname" loader
}

case_toolkit() {
  a_library "$folder/node/usr/local/cuda-13.1/targets/$(uname -m)-linux/lib"
  find_library $soname "$folder/node"
  is "$folder/node/usr/local/cuda-13.1/targets/$(uname -m)-linux/lib/$soname" toolkit
  a_library "$folder/home/lib64"
  CUDA_HOME=$folder/home find_library $soname "$folder/node"
  is "$folder/home/lib64/$soname" toolkit
}

case_wheels() {
  local python
  python=$(command -v python3) || { echo "no python3 here"; exit 77; }
  "$python" -m venv --without-pip "$folder/venv" 2>/dev/null || { echo "this python makes no venv"; exit 77; }
  a_library "$(echo "$folder"/venv/lib/python3*/site-packages)/nvidia/cu13/lib"
  PATH=$folder/venv/bin:$PATH find_library $soname "$folder/node"
  is "$(echo "$folder"/venv/lib/python3*/site-packages)/nvidia/cu13/lib/$soname" python
  PATH=$folder/venv/bin:$PATH
  use_library "$library"
  find_library $soname "$folder/node"
  [ "$library_place" = loader ] || die "what is used is not found by the loader"
  use_library "$library"
  [ "$LD_LIBRARY_PATH" = "${library%/*}" ] || die "a folder is named twice: $LD_LIBRARY_PATH"
}

case_driver() {
  mkdir -p node/proc/driver/nvidia
  driver_version "$folder/node" && die "a driver without a file"
  echo "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 01:15:15 UTC 2023" >node/proc/driver/nvidia/version
  [ "$(driver_version "$folder/node")" = 535.104.05 ] || die "not the closed driver's version"
  echo "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build  (dvs-builder@U22)" >node/proc/driver/nvidia/version
  [ "$(driver_version "$folder/node")" = 580.65.06 ] || die "not the open driver's version"
  is_at_least 580.65.06 580 || die "580.65.06 is below 580"
  is_at_least 2.36 2.36 || die "2.36 is below itself"
  is_at_least 2.4 2.36 && die "2.4 is not below 2.36"
  is_at_least 535.104.05 580 && die "535 is not below 580"
  return 0
}

case_gpus() {
  mkdir -p node/dev/nvidia-caps node/usr/lib/wsl/lib
  touch node/dev/nvidiactl node/dev/nvidia-uvm node/dev/dxg
  [ "$(gpu_files "$folder/node")" = 0 ] || die "control files count as GPUs"
  touch node/usr/lib/wsl/lib/libcuda.so.1
  [ "$(gpu_files "$folder/node")" = 1 ] || die "Windows' GPU was not seen"
  touch node/dev/nvidia0 node/dev/nvidia11
  [ "$(gpu_files "$folder/node")" = 2 ] || die "not two GPUs"
  local whole='GPU 0: NVIDIA H200 (UUID: GPU-1)' other='GPU 1: NVIDIA H200 (UUID: GPU-2)'
  local slice='  MIG 3g.71gb     Device  0: (UUID: MIG-3)'
  [ "$(devices_listed </dev/null)" = 0 ] || die "GPUs from nothing"
  [ "$(printf '%s\n' "$whole" | PATH='' devices_listed)" = 1 ] || die "needs a program that a node may lack"
  [ "$(printf '%s\n' "$whole" "$other" | devices_listed)" = 2 ] || die "two GPUs are not two devices"
  [ "$(printf '%s\n' "$whole" "$slice" "$slice" | devices_listed)" = 1 ] || die "CUDA shows one slice, whatever there are"
  [ "$(printf '%s\n' "$whole" "$slice" "$other" | devices_listed)" = 1 ] || die "a whole GPU is not shown beside a slice"
}

"case_$2" || exit 1
