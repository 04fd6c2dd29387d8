# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Which folder a quickstart measures into. Sourced.

# run_folder PARENT KEY: makes and prints PARENT/run-N. The last one is taken up again where it was left
# unfinished by the same KEY (`tandem run` keeps a file `unfinished` in it; before its start there are no
# results either); else a new one begins.
run_folder() {
  local parent=$1 key=$2 number=0 folder
  while [ -e "$parent/run-$((number + 1))" ]; do number=$((number + 1)); done
  folder=$parent/run-$number
  if [ "$number" -gt 0 ] && [ "$(cat "$folder/.measured-by" 2>/dev/null)" = "$key" ] &&
    { [ -e "$folder/unfinished" ] || [ ! -e "$folder/results.json" ]; }; then
    printf '%s\n' "$folder"
    return 0
  fi
  folder=$parent/run-$((number + 1))
  mkdir -p "$folder" && printf '%s\n' "$key" >"$folder/.measured-by" && printf '%s\n' "$folder"
}
