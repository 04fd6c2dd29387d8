# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154  # what rows set and read is set and read by who sources this
# PyTorch beside Tandem in tools/gpu_proof: whether the python has one, and its cells in a sweep. Sourced
# with `out`, `backend`, `python`, `here` and what gpu_proof_run.sh has.

# beside_torch sweep ARGUMENT...: PyTorch's cells join those of the sweep, where there is a PyTorch.
beside_torch() {
  local with=off
  await_torch
  if [[ $torch_answer = torch-* ]]; then with=$python; else lacks_torch=$torch_answer; fi
  "$@" "--with-torch=$with"
}

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
