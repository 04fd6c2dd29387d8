# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154  # what rows set and read is set and read by who sources this
# PyTorch beside Tandem in tools/gpu_proof: whether the python has one, its rows, and what they compile beforehand. Sourced
# with `out`, `backend`, `python`, `here` and what gpu_proof_run.sh has.

# beside_torch sweep ARGUMENT...: PyTorch's cells join those of the sweep, where there is a PyTorch.
beside_torch() {
  local with=off
  await_torch
  if [[ $torch_answer = torch-* ]]; then with=$python; else lacks_torch=$torch_answer; fi
  "$@" "--with-torch=$with"
}
# torch_ways OPTION...: PyTorch's own ways to take a step, one after the other in one process.
torch_ways() {
  figures torch_script step_ways "$@" "--warmup-time=1s"
  judge=judge_torch_ways
}
torch_script() { command=(env "TORCHINDUCTOR_CACHE_DIR=$out/inductor" "$python" -B "$here/torch/$1" "${@:2}") judge=judge_exit; }

# The python's torch is asked once, while the first rows run, since its import may take half a minute.
asked='' torch_answer=
ask_torch() {
  local fit=cuda
  if [ "$backend" = host ]; then fit=any; fi
  timeout --kill-after=3 "$(within 120)" "$python" -B "$here/torch/step_twin" "--name=$fit" >"$out/logs/torch.txt" 2>"$out/logs/torch-errors.txt" </dev/null &
  asked=$!
}

# Sets torch_answer: "torch-2.11.0", or why there is none that fits.
await_torch() {
  [ -n "$asked" ] || return 0
  wait "$asked" || true
  asked=
  torch_answer=$(tail -n 1 "$out/logs/torch.txt")
  case $torch_answer in
    torch-*) ;;
    unfit:*) torch_answer=${torch_answer#unfit: } ;;
    *) torch_answer="$python has no torch that loads: $(tail -n 1 "$out/logs/torch-errors.txt" | sed 's/^timeout: //')" ;;
  esac
}

# PyTorch compiles the steps of those rows torch-* that the minutes will hold, beside rows that measure no time. Once.
compiling=() has_compiled=
start_compiling() {
  local index due=0
  if [ -n "$has_compiled$stopped" ]; then return 0; fi
  await_torch
  has_compiled=1
  [[ $torch_answer = torch-* ]] || return 0
  for index in "${!row_names[@]}"; do
    due=$((due + row_expected[index]))
    if [[ ${row_commands[index]} != torch_ways* ]] || [ "$due" -gt "$budget" ]; then continue; fi
    row_name=${row_names[index]}
    eval "${row_commands[index]}"
    timeout --kill-after=3 "$(within 150)" "${command[@]}" --prepare >"$out/logs/compile-$row_name.log" 2>&1 </dev/null &
    compiling+=("$!")
  done
}

# Waits for what compiles; its own limit ends it.
await_compiling() {
  local one
  for one in "${compiling[@]}"; do
    if [ -n "$stopped" ]; then kill -TERM "$one" 2>/dev/null || true; fi
    wait "$one" || true
  done
  compiling=()
}
