# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# shellcheck disable=SC2154  # options are set by who sources this
# The sweeps of tools/gpu_proof, as `tandem run` reads them. sweep_NAME prints that of row NAME. Sourced, with
# `programs`, `backend`, `gpus` set.

# few_launches [N]: enough to see a step's time, too few for a verdict: that is what the named sweeps are for.
few_launches() { printf '"launches": %s, "min_time": "300ms", "min_samples": 10' "${1:-3}"; }

# precisions: the key of a workload for all that GPUs have. Not every CPU has bf16, so a rehearsal is in fp32.
precisions() {
  if [ "$backend" = host ]; then printf ', "precision": ["fp32"]'; else printf ', "precision": ["fp32", "tf32", "bf16"]'; fi
}

sweep_steps() {
  local workloads more
  more=$(precisions)
  workloads="{\"model\": \"mlp-base\", \"batch\": 512$more}, {\"model\": \"mlp-large\", \"batch\": 1024$more}"
  if [ "$backend" = host ]; then workloads="{\"model\": \"mlp-tiny\", \"batch\": 64$more}"; fi
  sweep_of_single gpu-proof-steps "$workloads"
}

# In fp32 only what is tiny: nobody trains the others in it.
sweep_steps-gpt2() {
  local workloads='{"model": "gpt2-nano", "batch": 64}, {"model": "gpt2-124m", "batch": 8, "precision": ["tf32", "bf16"]}'
  if [ "$backend" = host ]; then workloads='{"model": "gpt2-nano", "batch": 8}'; fi
  sweep_of_single gpu-proof-steps-gpt2 "$workloads"
}

sweep_steps-resnet() {
  local workloads='{"model": "resnet-tiny", "batch": 64}, {"model": "resnet50", "batch": 64, "precision": ["tf32", "bf16"]}'
  if [ "$backend" = host ]; then workloads='{"model": "resnet-tiny", "batch": 8}'; fi
  sweep_of_single gpu-proof-steps-resnet "$workloads"
}

# sweep_of_single NAME WORKLOADS
sweep_of_single() {
  printf '{"name": "%s", "workloads": [%s], "devices": [1], "strategies": ["single"], %s}\n' "$1" "$2" "$(few_launches 2)"
}

# Buffers travel too; that every strategy gets through is all that this shows.
sweep_doubled-resnet() {
  printf '{"name": "gpu-proof-doubled-resnet", "workloads": [{"model": "resnet-tiny", "batch": 32}], "devices": [2],\n'
  printf ' "strategies": ["dp", "dp-allreduce", {"strategy": "ddp", "options": {"comm": "mpi"}}, {"strategy": "ddp-replicate", "options": {"comm": "mpi"}}],\n'
  printf ' %s}\n' "$(few_launches 1)"
}

# Several devices on one GPU: how the strategies behave there, not what several GPUs would do.
sweep_doubled() {
  printf '{"name": "gpu-proof-doubled", "workloads": [{"model": "%s", "batch": 256}], "devices": [2, 4],\n' "$(proof_model)"
  printf ' "strategies": ["dp", "dp-allreduce", {"strategy": "ddp", "options": {"comm": "mpi"}}], %s}\n' "$(few_launches 1)"
}

# 2, 4, 8, ... and all GPUs; each count divides the batch. dp also as torch runs it, whose threads nobody binds.
sweep_corners() {
  local counts='' count
  for ((count = 2; count < gpus; count *= 2)); do counts+="$count, "; done
  printf '{"name": "gpu-proof-corners", "workloads": [{"model": "mlp-base", "batch": %s}], "devices": [%s%s],\n' $((256 * gpus)) "$counts" "$gpus"
  printf ' "strategies": ["single", {"strategy": "independent", "launch": "threads"}, {"strategy": "independent", "launch": "processes"},\n'
  printf '  "dp", {"strategy": "dp", "options": {"bind": "none"}}, "dp-allreduce", "ddp", "ddp-replicate"], %s}\n' "$(few_launches)"
}
