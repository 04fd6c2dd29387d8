# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# shellcheck disable=SC2154  # set by cases.sh
# What the tests of tools/gpu_proof and tools/gpu_node share: programs in the place of real ones. Sourced behind cases.sh,
# with two more arguments, TOOLS BUILD.
tools=$4
build=$5
stand_in=$(dirname "$(readlink -f "$0")")/fake_proof_program
unset CUDA_VISIBLE_DEVICES CUDA_HOME CUDA_PATH

# A build folder of stand-ins, a toolkit with its sanitizer, and an mpirun.
make_stand_ins() {
  mkdir -p built/bin built/tests/bin toolkit/bin path
  local program
  for program in step_bench collective_bench; do cp "$stand_in" built/bin/$program; done
  for program in cuda_contract_test cuda_parity_test cuda_module_test; do cp "$stand_in" built/tests/bin/$program; done
  printf 'cuda_contract_test gpu\ncuda_parity_test gpu slow\ncommon_test unit tsan\n' >built/tests/programs.txt
  # `tandem` itself with a fake step_bench: the sweeps' documents are real ones.
  cat >built/bin/tandem <<SH
#!/bin/bash
if [ "\$1" = run ] && [ -z "\${FAKE_NO_SWEEPS:-}" ]; then
  exec "$tandem" "\${@/--backend=cuda/--backend=host}" --step-bench "$fake" --oversubscribe
fi
case "\$1" in report) exec "$tandem" "\$@" ;; esac
exit 4
SH
  chmod +x built/bin/tandem
  cp "$stand_in" toolkit/bin/compute-sanitizer
  cp "$stand_in" toolkit/bin/ncu
  cp "$stand_in" path/mpirun
  cp "$stand_in" path/python-with-torch
  printf '#!/bin/sh\nexit 1\n' >path/python-without-torch
  chmod +x path/python-without-torch
  export CUDA_HOME=$folder/toolkit PATH=$folder/path:$PATH FAKE_PROOF_STARTS=$folder/starts
}

# with_own_mounts COMMAND...: within a chroot there is no way but to leave their propagation as it is.
with_own_mounts() {
  local propagation=private
  unshare --mount --propagation private true 2>/dev/null || propagation=unchanged
  unshare --mount --propagation $propagation true 2>/dev/null || { echo "no mounts here"; exit 77; }
  unshare --mount --propagation $propagation "$@"
}

# Returns once a stand-in that hangs has started.
await_hanging_row() {
  local tries=0
  while [ ! -e starts.hanging ]; do
    tries=$((tries + 1))
    [ $tries -lt 300 ] || die "the row that hangs did not start"
    sleep 0.1
  done
}

# is ROW STATE [WORDS]: the table's line
is() {
  grep -E "^$1 +$2 .*${3:-}" result/table.txt >/dev/null || die "row $1 is not '$2 ... ${3:-}': $(cat result/table.txt)"
}
