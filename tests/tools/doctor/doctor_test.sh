#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tandem doctor on a node that is made up: its files below a root, and programs that stand in.
#   doctor_test.sh TANDEM FOLDER_OF_STAND_INS CASE
set -eu
tandem=$1 here=$2 case=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/bin" "$work/path" "$work/root/dev/shm" "$work/root/proc/self"
for program in step_bench collective_bench; do ln -s "$here/fake_program" "$work/bin/$program"; done
ln -s "$here/fake_mpirun" "$work/path/mpirun"
export PATH="$work/path:$PATH"
export COLUMNS=10000  # so that no line is broken
unset CUDA_VISIBLE_DEVICES

status=0
doctor() { "$tandem" doctor --details --programs="$work/bin" --root="$work/root" "$@" >"$work/out" 2>"$work/err" || status=$?; }
two_gpus() {
  touch "$work/root/dev/nvidia0" "$work/root/dev/nvidia1"
  ln -s "$here/fake_nvidia_smi" "$work/path/nvidia-smi"
}
fail() { printf '%s\nexit status %s\n' "$1" "$status"; cat "$work/out" "$work/err"; exit 1; }
says() { grep -qE -- "$1" "$work/out" || fail "expected a line like: $1"; }
says_not() { ! grep -qE -- "$1" "$work/out" || fail "expected no line like: $1"; }
ends_with() { [ "$status" = "$1" ] || fail "expected exit status $1"; }

case_host() {
  doctor
  says '^ok +mpi: 2 ranks'
  says '^not checked +gpus: no NVIDIA GPU shows itself'
  says '^not checked +memory: /proc/meminfo does not report it'
  says '^[0-9]+ problems?, [0-9]+ warnings?, [0-9]+ ok, [0-9]+ not checked$'
  [ ! -s "$work/err" ] || fail "expected nothing on stderr"
}

case_gpus() {
  two_gpus
  doctor
  says '^ok +gpus: 2 x NVIDIA H200, driver 580.10'
  says '^ok +cuda: driver 580.10 runs'
  says '^ok +peer access: between all 1 pairs'
  says '^ok +nccl: 2 processes'
  says '^ok +nccl: 2 threads'
  DOCTOR_TEST_FAIL='the driver supports CUDA 12.4, this build needs 13.0' doctor
  ends_with 3
  says '^problem +cuda: .*supports CUDA 12.4'
  says '^not checked +nccl: no program runs'
}

case_busy_gpus() {
  two_gpus
  DOCTOR_TEST_BUSY=97 doctor
  ends_with 3
  says '^problem +busy GPUs: GPU 1 .* computed for 97 % of the time'
  CUDA_VISIBLE_DEVICES=0 DOCTOR_TEST_BUSY=97 doctor
  says '^ok +gpus: 1 x NVIDIA H200'
  says '^ok +busy GPUs: none'
  says '^not checked +nccl: it is for two GPUs'
}

case_hidden_gpus() {
  two_gpus
  CUDA_VISIBLE_DEVICES='' doctor
  says "^warning +variables: CUDA_VISIBLE_DEVICES='' hides all GPUs"
  says '^not checked +gpus: CUDA_VISIBLE_DEVICES hides all of them'
  says_not 'nccl'
}

case_isolated() {
  DOCTOR_TEST_ISOLATED=1 doctor
  ends_with 3
  says '^problem +mpi: ranks are isolated'
  says '^not checked +shared memory'
}

case_no_launcher() {
  rm "$work/path/mpirun"
  PATH="$work/path" doctor
  ends_with 3
  says '^problem +mpi: mpirun: No such file or directory'
}

case_json() {
  CUDA_LAUNCH_BLOCKING=1 doctor --json
  ends_with 3
  python3 - "$work/out" <<'END'
import json, sys
document = json.load(open(sys.argv[1], encoding="utf-8"))
found = {(finding["subject"], finding["level"]) for finding in document["findings"]}
assert ("variables", "problem") in found and ("gpus", "not checked") in found, found
levels = [finding["level"] for finding in document["findings"]]
assert document["problems"] == levels.count("problem") and document["ok"] == levels.count("ok"), document
assert all(finding["advice"] for finding in document["findings"] if finding["level"] in ("problem", "warning"))
END
}

case_bad_input() {
  rm "$work/bin/step_bench"
  doctor
  ends_with 2
  ln -s "$here/fake_program" "$work/bin/step_bench"
  status=0
  doctor surplus
  ends_with 2
  status=0
  OMPI_COMM_WORLD_SIZE=2 doctor
  ends_with 2
  grep -q 'tandem doctor was started by mpirun; start it alone' "$work/err" || fail "expected the reason"
}

"case_$case"
