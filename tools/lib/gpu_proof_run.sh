# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154  # judges read what rows set; options are set by who sources this
# How tools/gpu_proof runs its rows: what each needs, its time limit, how its end is judged, and the table of
# all, written anew behind each. Sourced, with `programs`, `out`, `gpus`, `minutes`, `budget`, `backend`, `python` set, and
# say, usage_error, die defined.

row_names=() row_needs=() row_expected=() row_limits=() row_titles=() row_commands=()
# A state is passed, failed, not run, or not resolved: noise hides on which side of its bar a figure lies, which is
# no pass.
states=() details=() seconds=()

# row NAME NEEDS EXPECTED LIMIT TITLE KIND ARGUMENT...: one row, with the seconds that it usually takes and those behind
# which it is ended. NEEDS are words with commas between them:
#   gpu           a GPU                     gpus:N   so many
#   device        a device: any GPU, or the CPU in a rehearsal
#   test:NAME     the test program          tool:NAME   a program in PATH or in a CUDA toolkit
#   model:NAME    a model that the back end has
# KIND is one of the functions below, which sets `command` and `judge`.
row() {
  row_names+=("$1") row_needs+=("$2") row_expected+=("$3") row_limits+=("$4") row_titles+=("$5")
  shift 5
  row_commands+=("$(printf '%q ' "$@")")
}

command=() judge='' bar='' bar_words='' kernels_of='' lacks_torch=''
program() { command=("$programs/bin/$1" "${@:2}") judge=judge_exit; }
ranks() { command=(mpirun -np "$1" --bind-to none --oversubscribe --mca btl "vader,self" "$programs/bin/$2" "${@:3}") judge=judge_exit; }
gtest() { command=("$programs/tests/bin/$1" "${@:2}") judge=judge_gtest; }
# pairs of step_bench, whose figure is shown and not judged
pairs() { "${@}"; judge=judge_pairs; }
# figures KIND ARGUMENT...: its figures join the one results document too.
figures() {
  "$@"
  command+=("--benchmark_out=$out/figures/$row_name.json")
}
# traced PREFIX KIND ARGUMENT...: a timeline beside the log, of the kernels that GPUs ran; those whose names begin with
# PREFIX, unless it is empty, are collectives'.
traced() {
  "${@:2}"
  command+=(trace "--file=$out/logs/$row_name.trace.json" --steps=3 --min-time=10ms)
  judge=judge_trace kernels_of=$1
}
# fused KIND ARGUMENT...: of a traced step, whose record has to say that attention is one fused kernel.
fused() {
  "$@"
  command+=("--record=$out/logs/$row_name.record.json")
  judge=judge_fused
}
# counted KIND ARGUMENT...: own kernels by Nsight Compute, whose metrics are in the log.
counted() {
  "$@"
  # By default ncu compares names without their namespaces.
  command=("$(tool_path ncu)" --clock-control none --kernel-name-base demangled --kernel-name regex:tandem --launch-count 120
    --metrics "gpu__time_duration.sum,dram__bytes.sum,dram__throughput.avg.pct_of_peak_sustained_elapsed,l1tex__throughput.avg.pct_of_peak_sustained_elapsed"
    "${command[@]}")
  judge=judge_counted
}
# at_least BAR WORDS KIND ARGUMENT...: the figure of the line with WORDS, with four decimals and its 95 % interval,
# is held against BAR.
at_least() {
  bar=$1 bar_words=$2
  "${@:3}"
  judge=judge_at_least
}
# over_nccl KIND ARGUMENT...: NCCL has to have met: what stands in for it would give the same numbers.
over_nccl() {
  "$@"
  command=(env NCCL_DEBUG=INFO "${command[@]}") judge=judge_over_nccl
}
sanitizer() {
  local tool=$1
  shift
  "$@"
  # The libraries' kernels are NVIDIA's to check, and take most of the time.
  command=("$(tool_path compute-sanitizer)" --tool "$tool" --target-processes all --error-exitcode 99 --kernel-name kns=tandem "${command[@]}")
  judge=judge_sanitizer
}
# sweep NAME OPTION...: its launches join the one results document.
sweep() {
  local folder=$out/sweeps/$1
  mkdir -p "$folder" || return 1
  "sweep_$1" >"$folder.json" || return 1
  command=("$programs/bin/tandem" run "$folder.json" --out "$folder" "--backend=$backend" "${@:2}")
  judge=judge_sweep
}

# within SECONDS: so many, or what is left of the minutes; at least one, since 0 is no limit to `timeout`.
within() {
  local left=$((budget - SECONDS))
  if [ "$left" -gt "$1" ]; then left=$1; fi
  if [ "$left" -lt 1 ]; then left=1; fi
  printf '%s\n' "$left"
}

# run_row INDEX: runs it within its limit and what is left of the minutes.
whole_figures=()  # files of rows whose program ended well: others may be cut off
child='' stopped='' cut_short='' row_name=
run_row() {
  local index=$1 log limit status=0 start=$SECONDS
  row_name=${row_names[index]} lacks_torch=''
  log=$out/logs/$row_name.log
  limit=$(within "${row_limits[index]}")
  if ! { eval "${row_commands[index]}" && printf '$ %s\n' "${command[*]}" >"$log"; } 2>/dev/null; then
    states[index]=failed details[index]="nothing can be written into $out: is the disk full?" seconds[index]=0
    return 0
  fi
  timeout --kill-after=3 "$limit" "${command[@]}" >>"$log" 2>&1 </dev/null &
  child=$!
  while :; do  # a trapped signal ends `wait`, not the child
    status=0
    wait "$child" || status=$?
    kill -0 "$child" 2>/dev/null || break
  done
  child=
  if [ -n "$stopped" ]; then
    state='not run' detail='stopped by Ctrl-C'
  elif [ "$status" = 137 ] && [ $((SECONDS - start)) -lt "$limit" ]; then
    state=failed detail='killed (status 137): was it out of memory?'
  elif [ "$status" = 124 ] || [ "$status" = 137 ]; then
    state=failed detail="no end within its limit of $limit s"
    if [ "$limit" -lt "${row_limits[index]}" ]; then
      state='not run' detail="cut short: the $minutes minutes are spent" cut_short=1
    fi
  else
    $judge "$status" "$log"
    if [ "$status" = 0 ]; then whole_figures+=("$out/figures/$row_name".*json); fi
  fi
  states[index]=$state details[index]=$detail seconds[index]=$((SECONDS - start))
}

# Why a row is not even started; nothing where it is.
gate=
why_not() {
  local why
  if [ -n "$stopped" ]; then printf 'stopped by Ctrl-C\n'; return; fi
  why=$(missing_for "${row_needs[$1]}")
  if [ -n "$why" ]; then
    printf '%s\n' "$why"
  elif [ -n "$gate" ] && [[ ,${row_needs[$1]}, != *,torch,* ]]; then
    printf '%s\n' "$gate"
  elif [ "$SECONDS" -ge "$budget" ]; then
    minutes_spent
  elif [ $((SECONDS + row_expected[$1])) -gt "$budget" ]; then
    printf 'late: it takes about %s s, and the %s minutes end in %s s\n' "${row_expected[$1]}" "$minutes" $((budget - SECONDS))
  elif [[ ,${row_needs[$1]}, =~ ,model:([^,]+), ]]; then
    lack_of_model "${BASH_REMATCH[1]}"
  fi
}

minutes_spent() { printf 'the %s minutes are spent\n' "$minutes"; }

# prove: all rows; table, log and document are written anew behind each, so that a kill loses the row that runs and no
# other; ends the script. The first row is the gate: where CUDA cannot even copy, the others would only repeat why.
prove() {
  local index why
  trap 'stopped=1; kill -TERM $child $asked 2>/dev/null || true' INT TERM HUP
  for index in "${!row_names[@]}"; do states[index]='not run' details[index]='not reached' seconds[index]=0; done
  write_table
  if [[ " ${row_commands[*]} " == *torch* ]]; then ask_torch; fi
  { describe_machine >"$out/machine.txt" 2>&1 && cat "$out/machine.txt" >"$out/log.txt"; } 2>/dev/null || true
  say "${#row_names[@]} rows, $gpus GPUs, into $out"
  for index in "${!row_names[@]}"; do
    prove_row "$index"
    if [ "${row_names[index]}" = device ] && [ "${states[index]}" = failed ]; then gate='the row device failed'; fi
  done
  printf '\n'
  if ! cat "$out/table.txt" 2>/dev/null; then say "the table could not be written into $out: is the disk full?"; fi
  if [ -n "$stopped" ]; then exit 130; fi
  if [ "$(count_of failed)" != 0 ]; then exit 1; fi
  if [ -n "$cut_short" ] || [ "$(count_of 'not resolved')" != 0 ] || [ "$(count_of passed)" = 0 ]; then exit 3; fi
  exit 0
}

# prove_row INDEX: one row, and what is saved of it.
prove_row() {
  local index=$1 why
  why=$(why_not "$index")
  case $why in "$(minutes_spent)" | late:*) cut_short=1 ;; esac
  if [ -n "$why" ]; then
    details[index]=$why
  else
    run_row "$index"
  fi
  print_row "$index"
  write_table
  append_log "$index"
  write_report
  write_table
}

# In one piece or not at all. On a full disk the terminal still has the rows.
write_table() {
  local index
  if { table_head; for index in "${!row_names[@]}"; do print_row "$index"; done; summary; } >"$out/table.part"; then mv "$out/table.part" "$out/table.txt" || true; fi
} 2>/dev/null

# What is odd here is a line of the log, and no reason to stop.
describe_machine() {
  local words
  date -u
  uname -a
  printf 'driver %s\n' "$(driver_version "" || echo 'none is loaded')"
  while read -r words; do
    # shellcheck disable=SC2086  # words of a command
    if command -v ${words%% *} >/dev/null; then timeout --kill-after=2 "$(within 20)" $words || true; fi
  done <<COMMANDS
nvidia-smi -L
nvidia-smi topo -m
nvidia-smi -q -d CLOCK,POWER,PERFORMANCE
df -h /dev/shm
$programs/bin/tandem doctor
COMMANDS
}

table_head() {
  if [ "$backend" = host ]; then printf 'A rehearsal on the CPU: it shows that the commands run, and nothing of GPUs.\n'; fi
  printf '%-29s %-12s %5s  %s\n' row state s 'what it shows: result'
}

print_row() {
  local text=${row_titles[$1]}
  if [ -n "${details[$1]}" ]; then text="$text: ${details[$1]}"; fi
  printf '%-29s %-12s %5s  %s\n' "${row_names[$1]}" "${states[$1]}" "${seconds[$1]}" "$text"
}

count_of() {
  local state count=0
  if [ "$1" = failed ] && [ -n "$report_trouble" ]; then count=1; fi
  for state in "${states[@]}"; do if [ "$state" = "$1" ]; then count=$((count + 1)); fi; done
  printf '%s\n' "$count"
}

summary() {
  printf '\n%s passed, %s failed, %s not resolved, %s not run\n' "$(count_of passed)" "$(count_of failed)" \
    "$(count_of 'not resolved')" "$(count_of 'not run')"
  if [ -n "$cut_short" ]; then printf 'cut short: %s minutes were not enough for all rows\n' "$minutes"; fi
  if [ -n "$report_trouble" ]; then printf 'one document and report of all that was measured: failed: %s\n' "$report_trouble"; fi
  if [ -e "$out/report.html" ]; then
    printf 'report: %s\n' "$out/report.html"
    if [ -e "$out/results-to-send.json" ]; then
      printf 'to send, for everyone'"'"'s table: %s (names of hosts, folders and serials taken out: docs/results.md)\n' "$out/results-to-send.json"
    fi
  elif [ -n "$(measured_figures)" ]; then
    printf 'no report of steps; the figures of other rows lie in %s\n' "$out/figures"
  else
    printf 'no report: nothing was measured\n'
  fi
}

# Files with figures of rows whose program ended well.
measured_figures() {
  local file
  for file in "${whole_figures[@]}"; do
    if [ -s "$file" ]; then printf '%s\n' "$file"; fi
  done
}

# The rows as entries of Google Benchmark's output, by which results show the proof: NAME/STATE, the seconds, and why
# a row did not pass.
write_rows() {
  local index detail separator=
  printf '{"context":{},"benchmarks":['
  for index in "${!row_names[@]}"; do
    detail=${details[index]//\\/\\\\}
    printf '%s\n{"name":"%s/%s","run_type":"iteration","iterations":1,"real_time":%s,"cpu_time":0,"time_unit":"s"' "$separator" "${row_names[index]}" "${states[index]}" "${seconds[index]}"
    if [ "${states[index]}" != passed ]; then printf ',"error_occurred":true,"error_message":"%s"' "$(tr -d '\000-\037' <<<"${detail//\"/\\\"}")"; fi
    printf '}'
    separator=,
  done
  printf ']}\n'
}

# One document of the steps, or of the corners where no step was measured, with all figures. Where it cannot be written, the
# table says so: measured steps without it would be lost to sight.
report_trouble=
write_report() {
  local folder file source='' files=()
  for folder in "$out"/sweeps/{corners,steps}; do
    if grep -aqs '"status":"ok"' "$folder/journal.jsonl"; then source=$folder; fi
  done
  if [ -z "$source" ]; then return 0; fi  # a document is one of steps; the summary says where figures lie
  while read -r file; do files+=("--figures=$file"); done < <(measured_figures)
  if [ "$backend" != host ]; then  # a rehearsal proves nothing
    write_rows >"$out/figures/proof.json" || return 0
    files+=("--figures=$out/figures/proof.json")
  fi
  report_trouble=
  if timeout --kill-after=2 "$(within 60)" "$programs/bin/tandem" report "$source" "${files[@]}" --out "$out" >"$out/logs/report.log" 2>&1; then return 0; fi
  report_trouble=$(reason_in "$out/logs/report.log")
}

# append_log INDEX: its log behind those of the rows before it.
append_log() {
  local index=$1 log=$out/logs/${row_names[$1]}.log
  {
    printf '\n===== %s: %s (%s s) %s\n' "${row_names[index]}" "${states[index]}" "${seconds[index]}" "${details[index]}"
    if [ -e "$log" ]; then cat "$log"; fi
  } >>"$out/log.txt" || true
} 2>/dev/null

# choose_rows NAME,...: keeps these, in the table's order.
choose_rows() {
  local wanted index kept=()
  for wanted in ${1//,/ }; do
    [[ " ${row_names[*]} " == *" $wanted "* ]] || usage_error "--rows: '$wanted' is no row; there are ${row_names[*]}"
    kept+=("$wanted")
  done
  for index in "${!row_names[@]}"; do
    if [[ " ${kept[*]} " != *" ${row_names[index]} "* ]]; then unset "row_names[index]" "row_commands[index]"; fi
  done
}

list_rows() {
  local index
  printf '%-29s %-32s %5s %5s  %s\n' row needs 's' 's <=' 'what it shows'
  for index in "${!row_names[@]}"; do
    printf '%-29s %-32s %5s %5s  %s\n' "${row_names[index]}" "${row_needs[index]}" "${row_expected[index]}" "${row_limits[index]}" "${row_titles[index]}"
  done
}

# new_folder PATH: the first of PATH-1, PATH-2, ... that does not exist.
new_folder() {
  local number=1
  while [ -e "$1-$number" ]; do number=$((number + 1)); done
  printf '%s\n' "$1-$number"
}
