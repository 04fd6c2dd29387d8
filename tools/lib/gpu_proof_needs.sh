# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# shellcheck disable=SC2154  # options are set by who sources this
# What rows of tools/gpu_proof need, and whether it is here. Sourced, with `programs`, `gpus`, `backend` set, and die
# defined.

# tool_path NAME: of a program of the CUDA toolkit.
tool_path() {
  local folder
  command -v "$1" && return 0
  for folder in "${CUDA_HOME:-}" "${CUDA_PATH:-}" /usr/local/cuda /usr/local/cuda-*; do
    if [ -n "$folder" ] && [ -x "$folder/bin/$1" ]; then printf '%s\n' "$folder/bin/$1"; return 0; fi
  done
  return 1
}

# GPUs that CUDA will show: nvidia-smi knows what the job system allows; without it the device files count.
count_gpus() {
  local count=0 visible
  if command -v nvidia-smi >/dev/null; then count=$(timeout --kill-after=2 20 nvidia-smi -L 2>/dev/null | devices_listed) || true; fi
  count=${count:-0}  # of a listing that failed or hung
  if [ "$count" = 0 ]; then count=$(gpu_files ""); fi
  if [ -n "${CUDA_VISIBLE_DEVICES+set}" ]; then
    IFS=, read -r -a visible <<<"$CUDA_VISIBLE_DEVICES"
    if [ "${visible[0]:-}" = -1 ]; then visible=(); fi
    if [ "${#visible[@]}" -lt "$count" ]; then count=${#visible[@]}; fi
  fi
  printf '%s\n' "$count"
}

# no_gpu: that there is none, or what hides it.
no_gpu() {
  if [ -n "${CUDA_VISIBLE_DEVICES+set}" ] && [ "$(unset CUDA_VISIBLE_DEVICES; count_gpus)" != 0 ]; then
    printf "CUDA_VISIBLE_DEVICES='%s' hides every GPU: unset it\n" "$CUDA_VISIBLE_DEVICES"
  else
    printf 'no GPU\n'
  fi
}

# missing_for NEEDS: the first thing that a row needs and that is not here; nothing where all is.
missing_for() {
  local need
  for need in ${1//,/ }; do
    case $need in
      gpu | gpus:*)
        if [ "$need" = gpu ]; then need=gpus:1; fi
        if [ "$backend" = host ]; then printf 'a rehearsal on the CPU\n'; return; fi
        if [ "$gpus" = 0 ]; then no_gpu; return; fi
        if [ "$gpus" -lt "${need#*:}" ]; then printf 'needs %s GPUs\n' "${need#*:}"; return; fi ;;
      device) if [ "$backend" = cuda ] && [ "$gpus" = 0 ]; then no_gpu; return; fi ;;
      test:*) if [ ! -x "$programs/tests/bin/${need#*:}" ]; then printf 'no %s here: it was not built\n' "${need#*:}"; return; fi ;;
      tool:*) if ! tool_path "${need#*:}" >/dev/null; then printf 'no %s in PATH or a CUDA toolkit\n' "${need#*:}"; return; fi ;;
      model:*) ;;  # a model is asked for last, see why_not
      *) die "row needs '$need', which is no known need" ;;
    esac
  done
}

# lack_of_model NAME: why the back end has it not, in step_bench's words; nothing where it has.
lack_of_model() {
  timeout 60 "$programs/bin/step_bench" list 2>/dev/null | paste -sd ' ' |
    sed -n "s/.*Unavailable with --backend=$backend: \([^:]*, \)\{0,1\}$1\(, [^:]*\)\{0,1\}: \(.*[^.]\)\.\{0,1\}$/\3/p" || true
}
