# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What starts the programs of an archive. Sourced by tools/bundle.

# starters_in FOLDER PROGRAMS TEXT NAME...: a starter for each of these programs; PROGRAMS is the way from FOLDER to
# launch.sh. Copies: a wheel, which is a zip, holds no links.
starters_in() {
  local folder=$1 text=${3//@PROGRAMS@/$2} name
  mkdir -p "$folder"
  for name in "${@:4}"; do
    printf '%s\n' "$text" >"$folder/$name"
    chmod 755 "$folder/$name"
  done
}

# write_starters ROOT BUNDLED: all of the archive in ROOT whose programs lie in programs/elf; BUNDLED is tools/bundled.
write_starters() {
  local root=$1 programs=$1/programs text names
  text=$(<"$2/starter")
  cp "$2"/{launch,machine,where}.sh "$programs/"
  cp "$2/README.txt" "$root/"
  mapfile -t names < <(ls "$programs/elf")
  starters_in "$programs/bin" .. "$text" "${names[@]}" mpirun
  starters_in "$root/bin" ../programs "$text" "${names[@]}" mpirun
  starters_in "$root" programs "$text" tandem
  if [ -e "$programs/tools/gpu_proof" ]; then
    starters_in "$root/bin" ../programs "$text" gpu_proof
    starters_in "$root" programs "$text" gpu_proof
  fi
  if [ -d "$programs/tests/elf" ]; then
    mapfile -t names < <(ls "$programs/tests/elf")
    starters_in "$programs/tests/bin" ../.. "$text" "${names[@]}"
  fi
}
