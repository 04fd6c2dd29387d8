# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Where a node keeps the CUDA libraries that no archive may bring: found by the dynamic loader, in a
# toolkit, or in the wheels of a PyTorch installation. Sourced. Needs bash and coreutils alone.

# How the dynamic loader is asked, and of which program: an archive that starts its programs by a loader of its own
# sets both.
loader_command=() loaded_program=$BASH

# loader: the dynamic loader of this machine; nothing where it has no glibc.
loader() {
  local file
  for file in /lib64/ld-linux-x86-64.so.2 /lib/ld-linux-aarch64.so.1; do
    if [ -x "$file" ]; then printf '%s\n' "$file"; return 0; fi
  done
  return 1
}

# glibc_version: such as 2.36; nothing where there is none. A loader before 2.33 does not say, its library does.
glibc_version() {
  local command text pattern='^(ld\.so|GNU C Library) .* version ([0-9]+\.[0-9]+)'
  command=$(loader) || return 1
  text=$("$command" --version 2>/dev/null) || {
    text=$("$command" --list "$BASH" 2>/dev/null) || return 1
    [[ $text =~ libc\.so\.6\ =\>\ (/[^[:space:]]+) ]] || return 1
    text=$("$command" "${BASH_REMATCH[1]}" 2>/dev/null) || return 1
  }
  # The first line: others name the compiler's version.
  [[ ${text%%$'\n'*} =~ $pattern ]] && printf '%s\n' "${BASH_REMATCH[2]}"
}

# is_at_least VERSION WANTED: compares numbers with dots; what a version lacks counts as 0.
is_at_least() {
  local version=$1. wanted=$2. one other
  while [ -n "$version$wanted" ]; do
    one=${version%%.*} other=${wanted%%.*}
    version=${version#*.} wanted=${wanted#*.}
    if ((10#${one:-0} != 10#${other:-0})); then ((10#${one:-0} > 10#${other:-0})); return; fi
  done
}

# loaded_from SONAME: the file that the dynamic loader takes, by LD_LIBRARY_PATH or its cache. It is
# asked itself, by a listing of what it would load: nothing runs.
loaded_from() {
  local line command=("${loader_command[@]:-}")
  if [ -z "${command[0]}" ]; then command=("$(loader)"); fi
  while read -r line; do
    if [[ $line =~ ^"$1 => "(/.*)" (0x" ]]; then printf '%s\n' "${BASH_REMATCH[1]}"; return 0; fi
  done < <("${command[@]}" --preload "$1" --list "$loaded_program" 2>/dev/null)
  return 1
}

# toolkit_folders ROOT: folders of libraries of the toolkits below ROOT (usually empty: the system's), and
# of those that the environment names.
toolkit_folders() {
  local root=$1 home folder
  for home in "${CUDA_HOME:-}" "${CUDA_PATH:-}" "${NCCL_HOME:-}" "${CUDNN_HOME:-}" "$root"/usr/local/cuda "$root"/usr/local/cuda-* "$root"/opt/cuda; do
    [ -n "$home" ] || continue
    for folder in "$home/lib64" "$home/lib" "$home/targets/$(uname -m)-linux/lib"; do
      if [ -d "$folder" ]; then printf '%s\n' "$folder"; fi
    done
  done
}

# packages_around PATH: the folder of Python packages that PATH lies in, if it does.
packages_around() {
  local name
  for name in site-packages dist-packages; do
    case $1 in */"$name"/*) printf '%s\n' "${1%/"$name"/*}/$name" ;; esac
  done
}

# wheel_folders: nvidia/*/lib, which a PyTorch uses, in the packages among which this file itself was installed, then
# in those of the python in PATH.
wheel_folders() {
  local python folder around
  around=$(packages_around "$(readlink -f "${BASH_SOURCE[0]}")")
  for folder in ${around:+"$around"/nvidia/*/lib}; do
    if [ -d "$folder" ]; then printf '%s\n' "$folder"; fi
  done
  python=$(command -v python3 || command -v python) || return 0
  while read -r folder; do
    for folder in "$folder"/nvidia/*/lib; do
      if [ -d "$folder" ]; then printf '%s\n' "$folder"; fi
    done
  done < <("$python" -c 'import site, sys, sysconfig
paths = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), *sys.path]
paths += site.getsitepackages() + [site.getusersitepackages()]
print(*dict.fromkeys(path for path in paths if path), sep="\n")' 2>/dev/null)
}

# find_library SONAME [ROOT]: sets `library` (its path; empty: missing) and `library_place` (loader, toolkit
# or python). A missing library is no error here.
# shellcheck disable=SC2034  # both are read by who sources this
find_library() {
  local soname=$1 root=${2:-} folder
  library_place=loader
  if library=$(loaded_from "$soname"); then return 0; fi
  library_place=toolkit
  while read -r folder; do
    if [ -e "$folder/$soname" ]; then library=$folder/$soname; return 0; fi
  done < <(toolkit_folders "$root")
  library_place=python
  while read -r folder; do
    if [ -e "$folder/$soname" ]; then library=$folder/$soname; return 0; fi
  done < <(wheel_folders)
  library_place='' library=''
}

# use_library PATH: makes the dynamic loader find it, and what lies beside it, after all that is found already.
use_library() {
  local folder=${1%/*}
  case ":${LD_LIBRARY_PATH:-}:" in
    *":$folder:"*) ;;
    *) export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$folder ;;
  esac
}

# driver_version [ROOT]: of the NVIDIA driver that is loaded, such as 580.65.06; nothing where there is none.
driver_version() {
  local file=${1:-}/proc/driver/nvidia/version text
  [ -r "$file" ] || return 1
  text=$(<"$file")
  [[ $text =~ [^0-9.]([0-9]{3,}\.[0-9]+(\.[0-9]+)?)[^0-9.] ]] && printf '%s\n' "${BASH_REMATCH[1]}"
}

# devices_listed <LISTING: how many devices CUDA shows a process of the GPUs that `nvidia-smi -L` lists. Of
# GPUs that are divided (MIG) that is their slices, and of all slices one; whole GPUs beside them are not shown.
devices_listed() {
  local line gpus=0 slices=0
  while IFS= read -r line; do
    if [[ $line == 'GPU '* ]]; then gpus=$((gpus + 1)); fi
    if [[ $line =~ ^' '+'MIG ' ]]; then slices=$((slices + 1)); fi
  done
  if [ "$slices" -gt 0 ]; then gpus=1; fi
  printf '%s\n' "$gpus"
}

# gpu_files [ROOT]: how many device files of GPUs there are; nvidiactl and others exist without one.
gpu_files() {
  local file count=0
  for file in "${1:-}"/dev/nvidia[0-9]*; do
    if [[ ${file##*/nvidia} =~ ^[0-9]+$ ]] && [ -e "$file" ]; then count=$((count + 1)); fi
  done
  if [ "$count" = 0 ] && [ -e "${1:-}/dev/dxg" ] && [ -e "${1:-}/usr/lib/wsl/lib/libcuda.so.1" ]; then count=1; fi
  printf '%s\n' "$count"
}
