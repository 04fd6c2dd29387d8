# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A machine with a GPU and no CUDA toolkit to build for it: what quickstart says, and whether it may measure the CPU in
# place of the GPU. Sourced, with setup.sh and cuda_libraries.sh at hand.

# toolkit_compiler [ROOT]: the nvcc that CMake would find; nothing where there is none. ROOT is usually empty.
toolkit_compiler() {
  local file
  read -r file < <(toolkit_compilers "${1:-}") && printf '%s\n' "$file"
}

# lacks_toolkit [ROOT]: whether there is a GPU, and nothing to build for it with.
lacks_toolkit() {
  [ "$(gpu_files "${1:-}")" -gt 0 ] && ! toolkit_compiler "${1:-}" >/dev/null
}

# The ways to measure the GPU, the shortest first.
say_ways_to_gpu() {
  say "there is an NVIDIA GPU here, but $1: what is built here cannot measure the GPU. Ways that can:"
  say "  the wheel, where PyTorch was installed by pip:  pip install tandem_bench-*.whl && tandem run node   (docs/python.md)"
  say "  the archive of another machine's tools/bundle:  unpack it, then ./tandem run node"
  say "  a compiler from the package index:  tools/cuda-from-pip (driver 580 or newer) or tools/cuda-from-pip --cuda=12, then this command again"
  say "  a CUDA toolkit 12 or newer of the system, then this command again"
}

# backend_in OPTION...: the back end that they name; nothing where they name none.
backend_in() {
  if [[ " $* " =~ " --backend"[=\ ]([^ ]+) ]]; then printf '%s\n' "${BASH_REMATCH[1]}"; fi
}

# allow_cpu REASON [BACKEND]: returns where a person at the terminal wants the CPU measured in place of the GPU; else, and
# where the options name another BACKEND, ends the script. A figure of the wrong hardware is worse than none.
allow_cpu() {
  local answer=
  say_ways_to_gpu "$1"
  [ -z "${2:-}" ] || die "--backend=$2 cannot be measured by what is built here: use one of the ways above, or measure the CPU by tools/quickstart -- --backend=host"
  [ -t 0 ] || die "the GPU cannot be measured, and there is no terminal to ask at: use one of the ways above, or measure the CPU by tools/quickstart -- --backend=host"
  printf '%s: measure the CPU instead, which says nothing about the GPU? [y/N] ' "${name:?}"
  read -r answer || true
  case $answer in
    y | Y | yes | Yes) ;;
    *) die "nothing was measured: use one of the ways above, or say yes, or give -- --backend=host" ;;
  esac
}
