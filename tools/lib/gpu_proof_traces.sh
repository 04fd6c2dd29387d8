# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154  # what judges set is read, and what they read is set, by who sources this
# How rows of tools/gpu_proof judge a timeline of step_bench trace, which has an event a line. Sourced, with `out`,
# `row_name`, `kernels_of` and judge_exit set.

# nanoseconds TIME: of microseconds as JSON has them, such as 12 or 3.5.
nanoseconds() {
  local fraction=
  if [[ $1 == *.* ]]; then fraction=${1#*.}; fi
  fraction=${fraction}000
  printf '%s\n' $((10#${1%%.*} * 1000 + 10#${fraction:0:3}))
}

# slices_in FILE CATEGORY: "PID TID STEP BEGIN END NAME" of each, in nanoseconds.
slices_in() {
  local line name pid tid begin dur step
  while read -r line; do
    [[ $line =~ \"name\":\"([^\"]*)\",\"pid\":([0-9]+),\"tid\":([0-9]+),\"cat\":\"$2\",\"ts\":([0-9.]+),\"dur\":([0-9.]+),\"args\":\{(.*)\} ]] || continue
    name=${BASH_REMATCH[1]} pid=${BASH_REMATCH[2]} tid=${BASH_REMATCH[3]}
    begin=$(nanoseconds "${BASH_REMATCH[4]}") dur=$(nanoseconds "${BASH_REMATCH[5]}") step=0
    if [[ ${BASH_REMATCH[6]} =~ \"step\":([0-9]+) ]]; then step=${BASH_REMATCH[1]}; fi
    printf '%s %s %s %s %s %s\n' "$pid" "$tid" "$step" "$begin" "$((begin + dur))" "$name"
  done < <(grep -a "\"cat\":\"$2\"" "$1" || true)
}

# why_no_trace_by_cupti FILE: what is wrong with it; nothing where CUPTI reported kernels on every device, each within
# its step, and of those whose name begins with `kernels_of`, if that is set, in a collective each.
why_no_trace_by_cupti() {
  local line pid tid step begin end name source seen=0
  local -A device=() step_begin=() step_end=() kernels=() collectives=()
  [ -s "$1" ] || { printf 'there is no trace\n'; return; }
  source=$(grep -am 1 '"otherData":' "$1" | grep -o '"cuda_times":"[^"]*"') || source='no cuda_times'
  [ "$source" = '"cuda_times":"cupti"' ] || { printf '%s\n' "$source"; return; }
  while read -r line; do
    [[ $line =~ \"pid\":([0-9]+),\"tid\":([0-9]+),.*\"device\":(-?[0-9]+) ]] || continue
    device[${BASH_REMATCH[1]}.${BASH_REMATCH[2]}]=${BASH_REMATCH[1]}.${BASH_REMATCH[3]}
  done < <(grep -a '"name":"thread_name"' "$1")
  while read -r pid tid step begin end name; do
    line=${device[$pid.$tid]}
    step_begin[$line.$step]=$begin step_end[$line.$step]=$end kernels[$line]=0
  done < <(slices_in "$1" step)
  while read -r pid tid step begin end name; do
    collectives[$pid.$tid]+=" $begin:$end"
  done < <(slices_in "$1" collective)
  while read -r pid tid step begin end name; do
    line=${device[$pid.$tid]}
    if [ "$step" = 0 ]; then continue; fi
    kernels[$line]=$((kernels[$line] + 1))
    if [ "$begin" -lt "${step_begin[$line.$step]:-$end}" ] || [ "$end" -gt "${step_end[$line.$step]:-0}" ]; then
      printf '%s is not within its step %s\n' "$name" "$step"
      return
    fi
    if [ -z "$kernels_of" ] || [[ $name != "$kernels_of"* ]]; then continue; fi
    seen=1
    if ! is_in_any "$begin" "$end" "${collectives[$pid.$tid]:-}"; then printf '%s is in no collective\n' "$name"; return; fi
  done < <(slices_in "$1" kernel)
  if [ "${#kernels[@]}" = 0 ]; then printf 'no device has a step\n'; fi
  for line in "${!kernels[@]}"; do
    if [ "${kernels[$line]}" = 0 ]; then printf 'device %s of rank %s ran no kernel\n' "${line#*.}" "$((${line%.*} - 1))"; return; fi
  done
  if [ -n "$kernels_of" ] && [ "$seen" = 0 ]; then printf 'no kernel of %s\n' "$kernels_of"; fi
}

# is_in_any BEGIN END "BEGIN:END ...": whether one of these holds it.
is_in_any() {
  local one
  for one in $3; do
    if [ "${one%:*}" -le "$1" ] && [ "$2" -le "${one#*:}" ]; then return 0; fi
  done
  return 1
}

judge_trace() {
  local why trace=$out/logs/$row_name.trace.json
  judge_exit "$1" "$2"
  if [ "$state" != passed ]; then return 0; fi
  why=$(why_no_trace_by_cupti "$trace")
  if [ -n "$why" ]; then state=failed detail=$why; else detail="$(grep -ac '"cat":"kernel"' "$trace") kernels"; fi
}
