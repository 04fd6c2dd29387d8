#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What tools/lib/cuda_libraries.sh finds on nodes of several kinds, which folders stand in for.
#   where_test.sh TOOLS CASE
# shellcheck source=tests/tools/cases.sh
source "$(dirname "$0")/cases.sh" '' '' "$2"
tools=$1
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

# a_loader COMMAND: `loader` is a stand-in then, which runs it for --version; --list and a library as Debian 11's do.
a_loader() {
  # shellcheck disable=SC2016  # the stand-in's
  printf '#!/bin/sh\ncase $1 in\n--version) %s ;;\n' "$1" >ld.so
  cat >>ld.so <<'EOF'
--list) printf '\tlinux-vdso.so.1 (0x1)\n\tlibc.so.6 => /lib/some/libc.so.6 (0x2)\n' ;;
/lib/some/libc.so.6) echo 'GNU C Library (Debian GLIBC 2.31-13+deb11u11) stable release version 2.31.
Copyright (C) 2020 Free Software Foundation, Inc.
Compiled by GNU CC version 10.2.1 20210110.' ;;
esac
EOF
  chmod +x ld.so
  loader() { printf '%s\n' "$folder/ld.so"; }
}

case_glibc() {
  [ "$(glibc_version)" = "$(getconf GNU_LIBC_VERSION | cut -d ' ' -f 2)" ] || die "not this system's: $(glibc_version)"
  a_loader 'echo "ld.so (Ubuntu GLIBC 2.39-0ubuntu8.4) stable release version 2.39."'
  [ "$(glibc_version)" = 2.39 ] || die "not a new loader's: $(glibc_version)"
  a_loader 'exit 127'
  [ "$(glibc_version)" = 2.31 ] || die "not an old loader's library's: $(glibc_version)"
  printf '#!/bin/sh\necho "musl libc (x86_64) Version 1.2.4"\n' >ld.so
  glibc_version && die "a version of glibc from another library"
  loader() { return 1; }
  glibc_version && die "a version without a loader"
  return 0
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

# Installed among Python's packages, an archive takes what lies beside it, with no python at all.
case_around() {
  local packages="$folder/a venv/lib/python3.11/site-packages"
  mkdir -p "$packages/tandem/archive" "$folder/bin"
  a_library "$packages/nvidia/cu13/lib"
  cp "$tools/lib/cuda_libraries.sh" "$packages/tandem/archive/"
  for program in uname readlink; do ln -s "$(command -v $program)" "$folder/bin/$program"; done
  # shellcheck source=/dev/null
  . "$packages/tandem/archive/cuda_libraries.sh"
  PATH=$folder/bin find_library $soname "$folder/node"
  is "$packages/nvidia/cu13/lib/$soname" python
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
  is_at_least 4.18 3.2.0 || die "4.18 is below 3.2.0"
  is_at_least 3.2 3.2.0 || die "3.2 is below 3.2.0"
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
