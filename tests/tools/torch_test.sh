#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs one case of PyTorch's cells, beside Tandem's or alone, against a fake step_bench.
#   torch_test.sh TANDEM FAKE_STEP_BENCH CASE
# shellcheck source=tests/tools/cases.sh
source "$(dirname "$0")/cases.sh"
export OMP_NUM_THREADS=7 BENCHMARK_OUT=/nowhere OPENBLAS_CORETYPE=Haswell

# PyTorch's cells stand beside ours, in an order of their own launches, as another series.
case_beside() {
  sweep 64 processes
  with_torch torch-9.9.9
  export FAKE_COUNT=$folder/count
  expect 0 run --with-torch="$folder/python"
  grep -q 'not measured: 2 cells: torch.s DataParallel is between GPUs' out || die "dp on a CPU is not printed"
  [ "$(launches)" = 24 ] || die "not (5 + 3) cells x 3 launches"
  head -8 count | grep -q -- --implementation=torch-9.9.9 || die "not interleaved"
  if grep -- --implementation count | grep -q -e --peak-gflops -e --flight-dir; then die "torch was asked for what it does not do"; fi
  grep -q 'Beside PyTorch' out || die "no table"
  grep -q "torch-9.9.9 single, over Tandem's .* 1.99x" out || die "no ratio"
  grep -q 'torch-9.9.9 ddp on one device, over single .* 1.0*x' out || die "no wrapper cost"
  grep -q 'ddp is faster than dp in the one comparison' out || die "torch's cells are in the verdict"
  grep -q 'implementation:torch-9.9.9' result/journal.jsonl result/cells.csv result/results.json || die "not in the results"
  with_torch torch-9.9.10
  expect 2 run --with-torch="$folder/python"
  one_line 'it belongs to another sweep or other options'
}

# Without torch a sweep says so in one line, and goes on.
case_missing() {
  sweep 64 processes
  with_torch ""
  expect 0 run --with-torch="$folder/python"
  [ "$(grep -c '^without torch: ' err)" = 1 ] || die "it does not say so once"
  [ "$(launches)" = 15 ] || die "the sweep did not go on"
  mkdir bin && ln -s "$folder/python" bin/python3
  rm -r result
  PATH=$folder/bin:$PATH expect 0 run --with-torch
  grep -q '^without torch: python3 has none' err || die "without a name it is not python3"
  expect 2 run --with-torch="$folder/no-such-python"
  one_line "there is no program '.*no-such-python'"
}

# with_module CHECKSUM [UNUSED]: a python whose torch describes a module of that content, prints as a user's code does,
# and measures
with_module() {
  cat >python <<SH
#!/bin/sh
case " \$* " in
  *" --name "*) echo torch-9.9.9; exit 0 ;;
  *" --about "*)
    echo "\$*" >>"$folder/asked"
    echo '{"epoch": 1}'
    echo '{"module": "own.py:build#$1", "unused": "${2:-}", "own_optimizer": false}'
    echo '{"epoch": 2}'
    exit 0 ;;
esac
shift 2
exec "$fake" "\$@"
SH
  chmod +x python
}

module() {
  "$tandem" run --module=own.py:build --batch-per-device=32 --devices=2 --backend=host --details --out result \
    --step-bench "$fake" --with-torch="$folder/python" --launches=3 --oversubscribe "$@"
}

# A user's module is PyTorch's alone to train, and what the verdict is about; another content of its file is another run.
case_module() {
  export FAKE_COUNT=$folder/count
  with_module 0123456789abcdef
  expect 0 module --cell="ddp grads=views"
  tr '\n' ' ' <out | grep -q 'PyTorch 9.9.9: own.py:build, batch 64 (32 per device), 2 devices[^:]*: DistributedDataParallel takes .* a step, [0-9.]*x' || die "no verdict"
  grep -q 'not measured: 2 cells: torch.s DataParallel is between GPUs' out || die "dp on a CPU is not printed"
  grep -q -- '--batch=32 ' asked || die "not asked with the smallest share"
  [ "$(wc -l <asked)" = 1 ] || die "asked more than once"
  [ "$(launches)" = 21 ] || die "not 7 cells x 3 launches"
  if grep -vq -- "--module=$folder/own.py:build " count; then die "a launch without the module"; fi
  grep -q '^# CPU only' result/report.md || die "no page"
  grep -q 'own.py:build#0123456789abcdef' result/cells.csv result/results.json || die "not in the results"
  with_module fedcba9876543210
  expect 2 module --cell="ddp grads=views"
  one_line 'it belongs to another sweep or other options'
  rm -r result
  with_module 0123456789abcdef head.weight
  expect 0 module
  grep -qx "own.py:build#0123456789abcdef: a step gives head.weight no gradient: torch's ddp runs with find-unused-parameters=on" err ||
    die "not said"
  tr '\n' ' ' <out | grep -q '2 devices[^:]*: DistributedDataParallel (find-unused-parameters=on) takes .* a step, [0-9.]*x' || die "no verdict"
  rm -r result
  printf '#!/bin/sh\ncase $3 in --name) echo "unfit: torch multiplies with 2.5 GFLOP/s";; esac\n' >python
  expect 2 module
  one_line 'a module needs torch: torch multiplies with 2.5 GFLOP/s'
  expect 2 "$tandem" run --module=own.py:build --batch-per-device=32 --out result --with-torch=off
  one_line '--with-torch=off: a module needs torch; leave the option out'
  printf '#!/bin/sh\ncase $3 in --name) echo torch-9.9.9;; *) echo "step_twin: in forward of layer head: no" >&2; exit 1;; esac\n' >python
  expect 1 module
  one_line '^tandem: in forward of layer head: no'
}

# A torch with a reference BLAS is not measured beside Tandem, and no ratio to it is shown.
case_unfit() {
  sweep 64 processes
  with_torch '"unfit: torch multiplies with 2.5 GFLOP/s, as a reference BLAS does"'
  expect 0 run --with-torch="$folder/python"
  grep -q '^without torch: torch multiplies with 2.5 GFLOP/s, as a reference BLAS does; the sweep goes on' err || die "not said"
  if grep -q 'Beside PyTorch' out; then die "a ratio is shown"; fi
}

"case_$3" || exit 1
