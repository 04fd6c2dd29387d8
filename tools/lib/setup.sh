# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What quickstart, test, bundle, cuda-from-pip and gpu_proof share: a clean environment, timed steps with a log each, one
# build folder.
# Sourced with `set -euo pipefail` on and `top` (the checkout) and `name` (the script) set.

say() { printf '%s: %s\n' "${name:?}" "$*"; }
die() { printf '%s: %s\n' "$name" "$*" >&2; exit 1; }
usage_error() { printf '%s: %s (see --help)\n' "$name" "$*" >&2; exit 2; }

# The comment block at the head of the script is its help. Without awk, which the nodes of an archive may lack.
print_help() { sed -n '3,/^[^#]/{s/^# \{0,1\}//p;}' "$0"; }

# Variables that change what is built, which tests run, or how fast the libraries are. nproc obeys
# OMP_NUM_THREADS too, so this comes before anything is counted. The first line is that of
# common/base/this_process.h.
clean_environment() {
  local variable
  while read -r variable; do
    case $variable in
      OMP_* | GOMP_* | KMP_* | OPENBLAS_* | MKL_* | DNNL_* | ONEDNN_* | BENCHMARK_* | \
        LIBRARY_PATH | GTEST_* | CTEST_*)
        unset "$variable" ;;
    esac
  done < <(compgen -e)
  # Open MPI refuses root without both. They are set for the children of this script alone.
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
}

# step TITLE LOG COMMAND...: runs the command into LOG; says how long it took, or what went wrong. Ends the script where LOG
# cannot be written.
step() {
  local title=$1 log=$2 start=$SECONDS
  shift 2
  { mkdir -p "$(dirname "$log")" && : >"$log"; } 2>/dev/null ||
    die "$title: cannot write the log $log; if another user has built here, use a clone of your own"
  if "$@" >"$log" 2>&1 </dev/null; then
    say "$title: done in $((SECONDS - start)) s"
    return 0
  fi
  printf '%s: %s failed after %d s; from %s:\n' "$name" "$title" $((SECONDS - start)) "$log" >&2
  # The errors themselves where the log has some: a compiler's are far above the end.
  grep -m 12 -E '([Ee]rror:|undefined reference|^CMake Error)' "$log" >&2 || tail -n 25 "$log" >&2
  return 1
}

# cuda_environment MAJOR: where tools/cuda-from-pip puts the wheels of that CUDA.
cuda_environment() {
  local folder=${top:?}/build/cuda-from-pip
  if [ "$1" = 12 ]; then folder=$top/build/cuda-12-from-pip; fi
  printf '%s\n' "$folder"
}

# cuda_from_pip [MAJOR]: the toolkit that tools/cuda-from-pip has made, of that CUDA or of the newest; nothing where it
# has not.
cuda_from_pip() {
  local major compiler
  for major in ${1:-13 12}; do
    for compiler in "$(cuda_environment "$major")"/{cu12,lib/python3*/site-packages/nvidia/cu13}/bin/nvcc; do
      if [ -x "$compiler" ]; then printf '%s\n' "${compiler%/bin/nvcc}"; return 0; fi
    done
  done
  return 1
}

# toolkit_compilers [ROOT]: every nvcc that there may be, a line each, what CMake would take first. ROOT is usually empty.
toolkit_compilers() {
  local root=${1:-} file toolkit
  if toolkit=$(cuda_from_pip); then printf '%s\n' "$toolkit/bin/nvcc"; fi
  for file in "${CUDACXX:-}" "$(command -v nvcc || true)" "${CUDAToolkit_ROOT:-}/bin/nvcc" "$root"/usr/local/cuda/bin/nvcc "$root"/usr/local/cuda-*/bin/nvcc "$root"/opt/cuda/bin/nvcc; do
    if [ -x "$file" ]; then printf '%s\n' "$file"; fi
  done
}

# toolkit_of MAJOR [ROOT]: the folder of a CUDA toolkit of that major version; nothing where there is none.
toolkit_of() {
  local file
  if cuda_from_pip "$1"; then return 0; fi
  while read -r file; do
    if [[ "$("$file" --version 2>/dev/null)" == *" release $1."* ]]; then printf '%s\n' "${file%/bin/nvcc}"; return 0; fi
  done < <(toolkit_compilers "${2:-}")
  return 1
}

# configure PRESET [-DNAME=VALUE...]: makes build/PRESET, or brings it up to date. PRESET-cuda12 is a second folder of that
# preset, for another toolkit: CMake knows one compiler a folder.
configure() {
  local preset=${1%-cuda*} build=${top:?}/build/$1 arguments toolkit
  shift
  if [ -z "${CUDACXX:-}" ] && toolkit=$(cuda_from_pip); then export CUDACXX=$toolkit/bin/nvcc CUDAToolkit_ROOT=$toolkit; fi
  command -v cmake >/dev/null || die "cmake is missing: tools/install-deps --print lists what is needed"
  if grep -qsxF "CMAKE_HOME_DIRECTORY:INTERNAL=$top" "$build/CMakeCache.txt"; then
    # Not through the preset: it would undo what was chosen in this folder, and rebuild everything.
    arguments=("$build")
  else
    arguments=(--fresh --preset "$preset" -S "$top" -B "$build")
    # Warnings of a compiler that nobody has tried are no reason to stop a newcomer; in CI they are.
    if [ -n "${CI:-}" ] && [ "$preset" = release ]; then arguments+=(-DTANDEM_WERROR=ON); fi
  fi
  # Not in a subshell, which step could not end the script from.
  step "configure ${build##*/}" "$build/configure.log" cmake "${arguments[@]}" "$@" ||
    die "CMake could not configure $build (3.25 or newer is needed, this is $(cmake --version | sed -n 1p))"
}

# build PRESET TARGET...
build() {
  local preset=$1 log=$top/build/$1/build.log title
  shift
  title="build $preset ($(nproc) cores)"
  say "$title: some minutes the first time; log ${log#"$PWD"/}"
  step "$title" "$log" cmake --build "$top/build/$preset" --parallel "$(nproc)" --target "$@" ||
    die "the build failed; the whole log is $log"
}
