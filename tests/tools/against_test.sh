#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs one case of a run against a reference, on a fake step_bench.
#   against_test.sh TANDEM FAKE_STEP_BENCH CASE
tools=$(cd "$(dirname "$0")/../../tools" && pwd)
# shellcheck source=tests/tools/cases.sh
source "$(dirname "$0")/cases.sh"

# into FOLDER OPTION...: a run into another folder
into() {
  "$tandem" run ./sweep.json --out "$1" --step-bench "$fake" --oversubscribe "${@:2}"
}

references() { grep -c '"launch_index"' result/against/journal.jsonl; }

# another [VARIABLE=VALUE...]: a build folder whose step_bench has these variables
another() {
  mkdir -p other/bin
  printf '#!/bin/sh\nexec env %s "%s" "$@"\n' "$*" "$fake" >other/bin/step_bench
  chmod +x other/bin/step_bench
}

# version TEXT: what that build's tandem says of itself
version() {
  printf '#!/bin/sh\necho "%s"\n' "$1" >other/bin/tandem
  chmod +x other/bin/tandem
}

# compared: what the run said last is what `tandem compare` says of the folders
compared() {
  cp out said
  "$tandem" compare result/against result >again
  tail -n "$(wc -l <again)" said | diff - again || die "compare says something else"
}

case_variable() {
  sweep 64 processes
  FAKE_COUNT=$folder/count expect 0 run --against-env FAKE_SLOWER=64000
  [ "$(launches)" = 15 ] && [ "$(references)" = 15 ] || die "not 5 cells x 3 launches on both sides"
  grep -q '^5 cells: 0 SLOWER, 5 FASTER, 0 SAME, 0 UNSURE\.$' out || die "the reference is slower, and that is not found"
  grep -q '^A is the reference (the same build, with FAKE_SLOWER=64000)\. B is the run itself\.$' out || die "the sides are not told"
  grep -q ' 3 rounds ' out || die "no rounds"
  compared
  for file in results.json report.html report.md against.txt against/results.json against/report.html; do
    [ -s result/$file ] || die "$file is missing"
  done
  [ ! -e result/unfinished ] && [ ! -e result/against/unfinished ] || die "a complete run is marked unfinished"
  tail -n "$(wc -l <result/against.txt)" said | diff - result/against.txt || die "against.txt says something else"
  # Both launches of a cell follow each other, and neither side always goes first.
  awk '{ side = index($0, "/against/logs/") > 0; sub(/--record=.*/, ""); sub(/--peak-gflops=[a-z0-9]* /, "")
         if (NR % 2) { cell = $0; first = side } else { if (cell != $0 || first == side) exit 1; begins[first]++ } }
       END { exit !(begins[0] && begins[1]) }' count || die "the sides do not take turns"
  expect 0 "$tandem" report result/against --out alone
  grep -q '^CPU only' out || die "the reference alone has no report"
}

case_slower() {
  sweep 64
  FAKE_SLOWER=6400 expect 3 run --against-env FAKE_SLOWER=0
  [ "$(tail -1 out)" = 'B fails: 5 cells slower.' ] || die "the last line is not the verdict"
  compared
}

# Cells that do not take an option are left out, and the reference's cells meet those without it.
case_option() {
  sweep 64 processes
  FAKE_COSTS="copies=5000" expect 3 run --against-option --grads=views
  grep -q '^2 cells: 2 SLOWER,' out || die "not slower than without copies"
  grep -q 'not measured: 3 cells: --against-option: --grads is an option of ddp and dp-allreduce' out || die "what is left out is not told"
  grep -q 'with --grads=views' out || die "the option is not told"
  if grep -q 'only [AB] measured' out; then die "cells did not meet"; fi
  compared
  if grep -q 'grads=views' result/cells.csv; then die "the run itself has the option"; fi
  [ "$(grep -c 'grads=views' result/against/cells.csv)" = 2 ] || die "the reference does not have it"
  sed -i 's/"launch": "processes"/"launch": "processes", "options": {"grads": "views"}/' sweep.json
  expect 2 into other --against-option --grads=views
  one_line 'no cell of the sweep takes it: '
}

case_build() {
  sweep 64
  another FAKE_SLOWER=64000
  expect 0 run --against=other
  grep -q "^A is the reference (the build $folder/other)" out || die "the build is not told"
  compared
  expect 2 run
  one_line "it was begun against the build $folder/other, and now it is against nothing"
  version 'tandem 9.8.7 (results schema 2.999.0)'
  expect 0 into later --against=other
  grep -q 'version of tandem 9.8.7 against [0-9]' out || die "the versions are not told"
  another FAKE_SLOWER=64001
  for word in --no-links --dry-run; do
    expect 2 into later --against=other $word
    one_line '^tandem: resuming .*/later/against/journal.jsonl: its step_bench, or the CUDA module, was built anew since (checksum [0-9a-f]\{16\} there, [0-9a-f]\{16\} here)'
  done
  [ ! -e later/unfinished ] || die "a refused command changed the folder"
  another FAKE_SLOWER=64000
  expect 0 into later --against=other
  version 'tandem 9.8.8'
  expect 2 into later --against=other
  one_line "its version is '9.8.7', here it is '9.8.8'; choose another --out"
  version 'tandem 9.8.7 (results schema 1.8.0)'
  expect 2 into newer --against=other
  one_line '--against: the build other writes results of schema 1.8.0, and this one reads 2\.'
  mkdir empty
  expect 2 into newer --against=empty
  one_line '--against: empty has no bin/step_bench: give a build folder'
  [ ! -e newer ] || die "something was written"
}

# archive FOLDER: as tools/bundle makes one, with its starters, around fake programs
archive() {
  local programs=$1/programs
  mkdir -p "$programs"/{elf,lib/glibc,tools/lib,share/tandem}
  mv other/bin/* "$programs/elf/"
  cp "$tools/lib/cuda_libraries.sh" "$programs/tools/lib/"
  cp /bin/true "$programs/lib/glibc/ld-linux-none.so.2"
  printf "bundle_version=9.8.7 bundle_glibc=2.0 bundle_kernel=2.6 bundle_machine='%s'\n" "$(uname -m)" >"$programs/share/tandem/bundle.conf"
  # shellcheck source=tools/lib/bundle_starters.sh
  (. "$tools/lib/bundle_starters.sh"; write_starters "$1" "$tools/bundled")
}

case_archive() {
  sweep 64
  another FAKE_SLOWER=64000
  version 'tandem 9.8.7 (results schema 2.999.0)'
  archive unpacked
  [ ! -e unpacked/step_bench ] && [ -x unpacked/tandem ] || die "no layout of an archive"
  expect 0 run --against=unpacked
  grep -q '^5 cells: 0 SLOWER, 5 FASTER' out || die "the archive's step_bench did not measure"
  grep -q "^A is the reference (the build $folder/unpacked)" out || die "the archive is not told"
  grep -q 'version of tandem 9.8.7 against [0-9]' out || die "the archive's version is not told"
  expect 0 run --against=unpacked
  # The starters stay as they are where an archive is unpacked over another.
  sed -i 's/64000/64001/' unpacked/programs/elf/step_bench
  expect 2 run --against=unpacked
  one_line '/result/against/journal.jsonl: its step_bench, or the CUDA module, was built anew since'
}

# Said once, and before any launch.
case_refusals() {
  local words said
  sweep 64
  while IFS='>' read -r words said; do
    # shellcheck disable=SC2086  # words of a command line
    FAKE_COUNT=$folder/count expect 2 run $words
    one_line "$said"
  done <<'LINES'
--against-env NAME>'NAME' is no NAME=VALUE
--against-env 1A=2>'1A=2' is no NAME=VALUE
--against-env A=1 --against-env A=2>--against-env: A is given twice
--against-option --gradz=views>'--gradz=views' is no option that a sweep's strategies have (did you mean 'grads'?)
--against-option --devices=1>'--devices=1' is no option that a sweep's strategies have
--against-option --bucket-mb>--bucket-mb needs a value, such as --bucket-mb=
--against-option --grads=view>'view' is not known: use one of copy, views
--against-option --grads=copy>--grads=copy is the default, so that both sides would be the same
--against-option --grads=views --against-option grads=views>--against-option: --grads is given twice
--against-option --dispatch-cost=8us>what is modelled is never compared with what is measured
--against-option --free-running=3>free-running steps are never compared with others
--against-option --grads=views --with-torch=/bin/true>--against-option is of Tandem's own programs, and PyTorch's cells run none of them
LINES
  another FAKE_REFUSE=ddp
  FAKE_COUNT=$folder/count expect 2 run --against=other
  one_line "the reference's cell ddp.*: step_bench: --frobs is no option of ddp"
  FAKE_COUNT=$folder/count expect 2 run --against=other --dry-run
  one_line "the reference's cell ddp"
  another FAKE_NO_BACKEND=1
  FAKE_COUNT=$folder/count expect 2 run --against=other
  one_line '^tandem: the reference: step_bench: --backend=cuda: no NVIDIA GPU in this machine$'
  [ ! -e count ] && [ ! -e result ] || die "a cell was launched"
  another FAKE_USAGE=1
  expect 2 run --against=other
  [ "$(tail -1 err)" = 'tandem: the reference: step_bench: no such back end here' ] || die "the line is not the last"
  [ "$(launches)" = 2 ] || die "what was measured is gone"
}

# sized PARAMETERS FOLDER: a step_bench to which a model has so many
sized() {
  mkdir -p "$2/bin"
  cat >"$2/bin/step_bench" <<SH
#!/bin/sh
case "\$*" in *--check=model*) echo '{"flops_per_sample": 8, "parameters": $1}'; exit 0 ;; esac
exec "$fake" "\$@"
SH
  chmod +x "$2/bin/step_bench"
}

case_other_model() {
  sweep 64
  sized 7 own
  sized 9 other
  fake=$folder/own/bin/step_bench
  expect 2 run --against=other
  one_line 'mlp-tiny is another model to the reference: 9 parameters and 8 operations per sample there, 7 and 8 here'
  [ ! -e result ] || die "something was written"
  expect 0 run --against=own
}

case_other_backend() {
  sweep 64
  mkdir -p other/bin
  cat >other/bin/step_bench <<SH
#!/bin/sh
"$fake" "\$@" || exit
for word in "\$@"; do
  case \$word in --record=*) sed -i 's/"backend": "host"/"backend": "cuda"/' "\${word#*=}" ;; esac
done
SH
  chmod +x other/bin/step_bench
  expect 2 run --against=other
  [ "$(tail -1 err)" = 'tandem: the reference measures on cuda and the run itself on host: give both the same --backend' ] ||
    die "two back ends were compared"
}

case_resume() {
  sweep 64
  expect 0 run --against-env A=1
  # Half a round is measured again as a whole, and so is a whole one.
  sed -i '$d' result/journal.jsonl
  FAKE_COUNT=$folder/count expect 0 run --against-env A=1
  [ "$(wc -l <count)" = 2 ] || die "not both sides of the round"
  [ "$(launches)" = 15 ] && [ "$(references)" -ge 15 ] || die "the journals are not whole"
  grep -q 'resuming: 28 launches' err || die "does not say that it resumes"
  grep -q ' 3 rounds ' out || die "rounds are missing"
  compared
  expect 2 run --against-env A=2
  one_line 'it was begun against the same build, with A=1, and now it is against the same build, with A=2; repeat the former'
  expect 2 run --dry-run --against-env A=2
  one_line 'it was begun against the same build, with A=1'
  expect 0 run --dry-run --against-env A=1
  grep -q '^5 cells, 0 launches to go' out || die "the journal was not read"
  mv result/journal.jsonl result/results.json .
  expect 2 run --against-env A=1
  one_line 'is of a run that is not there'
}

case_interrupt() {
  sweep 64 processes
  FAKE_HANG=ddp FAKE_RANK_SLEEP=297 "$tandem" run ./sweep.json --out result --step-bench "$fake" --oversubscribe \
    --against-env A=1 >out 2>err &
  interrupt $!
  [ -e result/unfinished ] && [ -e result/against/unfinished ] || die "not marked unfinished"
  expect 0 run --against-env A=1
  [ "$(launches)" = 15 ] && [ "$(references)" = 15 ] || die "the resumed run is not whole"
  [ ! -e result/unfinished ] && [ ! -e result/against/unfinished ] || die "still marked unfinished"
  compared
}

# A round with a disturbed launch is replaced as a whole.
case_disturbed() {
  sweep 64
  FAKE_DISTURBED=1 expect 0 run --against-env FAKE_DISTURBED=0
  [ "$(launches)" = 17 ] && [ "$(references)" = 17 ] || die "not one round more for each of the two cells of dp"
  [ "$(grep -c '3 rounds .*1\.000x' out)" = 5 ] || die "a disturbed round is in the figures"
}

case_failing() {
  sweep 64
  expect 1 run --against-env FAKE_FAIL=ddp
  grep -q '^  ! only B measured 2 cells: .*(A: failed: step_bench: ddp cannot be had' out || die "the reference's failure is not told"
  [ "$(launches)" = 13 ] && [ "$(references)" = 13 ] || die "not two rounds of cells that fail"
  FAKE_FAIL=ddp expect 3 into own --against-env FAKE_FAIL=none
  grep -q '^B fails: 2 cells failed\.$' out || die "the run's own failure is no bad answer"
}

case_dry_run() {
  sweep 64
  expect 0 run --dry-run --against-env A=1
  grep -q '^5 cells, 30 launches to go' out || die "not the launches of both sides"
  grep -q '^half of the launches are those of the reference: the same build, with A=1$' out || die "the reference is not told"
  [ ! -e result ] || die "something was written"
}

# PyTorch's cells have the variable too.
case_torch() {
  sweep 64 processes
  with_torch torch-9.9.9
  FAKE_COUNT=$folder/count expect 0 run --with-torch="$folder/python" --against-env FAKE_SLEEP=0
  [ "$(launches)" = 24 ] && [ "$(references)" = 24 ] || die "not (5 + 3) cells x 3 launches on both sides"
  compared
  another
  expect 2 into more --with-torch="$folder/python" --against=other
  one_line '--against is of Tandem.s own programs'
}

"case_$3" || exit 1
