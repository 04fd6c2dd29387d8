# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# shellcheck disable=SC2154  # set by who sources this
# What `./tandem --where` says. Sourced by launch.sh.

# What a library is wanted for that the CUDA back end does not need as a whole.
purpose_of() {
  case $1 in
    libcudnn.so.*) printf 'convolutions on GPUs (resnet50, resnet-tiny) are its\n' ;;
    *) printf 'collectives between GPUs want it\n' ;;
  esac
}

say_library() {
  local soname=$1 purpose=$2 library='' library_place=''
  find_library "$soname"
  if [ -n "$library" ]; then
    printf '%s: %s (%s)\n' "$soname" "$library" "$library_place"
    return 0
  fi
  printf '%s: missing, and %s: load the CUDA module of this system, or put its folder into LD_LIBRARY_PATH, or set CUDA_HOME, or activate a python with PyTorch for CUDA %s\n' \
    "$soname" "$purpose" "${bundle_cuda%%.*}"
  return 1
}

say_driver() {
  local here
  if ! here=$(driver_version ""); then
    printf 'driver: none is loaded; CUDA %s needs NVIDIA driver %s or newer\n' "$bundle_cuda" "$bundle_driver"
    return 1
  fi
  if is_at_least "$here" "$bundle_driver"; then
    printf 'driver: %s; CUDA %s needs %s or newer\n' "$here" "$bundle_cuda" "$bundle_driver"
    return 0
  fi
  printf 'driver: %s is too old: CUDA %s needs %s or newer; ask for it to be updated\n' "$here" "$bundle_cuda" "$bundle_driver"
  return 1
}

# Exit status: 1 where a GPU is here and something that it needs is missing.
say_where() {
  local soname status=0 gpus
  printf 'tandem %s in %s\n' "$bundle_version" "$top"
  printf 'C library: programs start with %s\n' "$(c_library_words)"
  printf 'host back end: whole, nothing is needed\n'
  if [ -z "$bundle_cuda" ]; then
    printf 'CUDA back end: not in this archive (packed --without-cuda)\n'
    return 0
  fi
  gpus=$(gpu_files "")
  printf 'GPUs: %s\n' "$gpus"
  say_driver || status=1
  for soname in $bundle_needs; do say_library "$soname" 'the CUDA back end needs it' || status=1; done
  for soname in $bundle_wants; do say_library "$soname" "$(purpose_of "$soname")" || status=1; done
  [ "$gpus" != 0 ] || return 0
  return $status
}
