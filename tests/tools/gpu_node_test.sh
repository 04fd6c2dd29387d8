#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs one case of tools/gpu_node and of the scripts that it packs.
#   gpu_node_test.sh TANDEM FAKE_STEP_BENCH CASE TOOLS BUILD
# The archive of most cases holds gpu_proof itself over programs that stand in for the real ones. bundle.node starts a real
# archive in an empty root.
# shellcheck source=tests/tools/cases.sh
source "$(dirname "$0")/cases.sh"
# shellcheck source=tests/tools/proof_stand_ins.sh
source "$(dirname "$0")/proof_stand_ins.sh"

# A folder as gpu_node pack makes it.
make_packed() {
  command -v xz >/dev/null || { echo "no xz here"; exit 77; }
  make_stand_ins
  mkdir -p tandem-0 node work
  export TMPDIR=$folder/work
  printf '#!/bin/bash\nexec "%s" --programs "%s" --gpus 1 --python python-with-torch "$@"\n' "$tools/gpu_proof" "$folder/built" >tandem-0/gpu_proof
  chmod +x tandem-0/gpu_proof
  tar -cf - tandem-0 | xz -0 >node/tandem.tar.xz
  cp "$tools"/node/*.sh node/
}

started() { bash node/start.sh --out result "$@"; }

# All files are readable, and no more than seven.
check_files() {
  [ "$(ls -A result | wc -l)" -le 7 ] || die "too many files: $(ls -A result)"
  [ -s result/table.txt ] && [ -s result/log.txt ] || die "no table or log: $(ls -A result)"
  tar -tzf result/all.tar.gz >listing || die "all.tar.gz cannot be read"
  grep -q '^proof/logs/device.log$' listing || die "all.tar.gz has no logs"
}

case_whole() {
  make_packed
  expect 0 started --rows device,numbers-dp,steps
  grep -qx "report: $folder/result/report.html" out || die "names a folder that is gone"
  grep -q "^start: ended with 0 after [0-9]* s; .*/result has .*table.txt" out || die "does not say what there is"
  check_files
  is steps passed '[0-9]+ launches measured'
  expect 0 "$tandem" report result/results.json --out=reported
  for file in results-to-send.json report.html; do [ -s result/$file ] || die "$file is missing"; done
  [ -z "$(ls -A work)" ] || die "the work folder is left: $(ls work)"
  expect 2 started
  one_line 'holds an earlier proof'
}

# Every row hangs: the minutes end it, and all that there is can be read.
case_hanging() {
  make_packed
  export FAKE_PROOF="collective_bench=hangs step_bench=hangs cuda_contract_test=hangs cuda_parity_test=hangs cuda_module_test=hangs mpirun=hangs ncu=hangs compute-sanitizer=hangs python-with-torch=hangs"
  SECONDS=0
  expect 3 started --minutes 0.5
  [ $SECONDS -le 31 ] || die "took $SECONDS s of 30"
  check_files
  is device 'not run' 'cut short: the 0.[0-9] minutes are spent'
  is numbers-dp 'not run'
}

# The job system kills everything: at most the last 15 s are lost.
case_killed() {
  make_packed
  FAKE_PROOF="cuda_module_test=hangs" setsid bash node/start.sh --out result --rows device,steps,cuda_module_test >out 2>err &
  local pid=$! tries=0
  while [ ! -e result/all.tar.gz ] || ! grep -q '^steps  *passed' result/table.txt; do
    tries=$((tries + 1))
    [ $tries -lt 400 ] || die "the state was not saved"
    sleep 0.1
  done
  kill -KILL -- -$pid || die "nothing was killed"
  wait $pid 2>/dev/null
  pkill -KILL -f "$folder/built/tests/bin/cuda_module_test"
  check_files
  is steps passed '[0-9]+ launches measured'
  is cuda_module_test 'not run' 'not reached$'
  expect 0 "$tandem" report result/results.json --out=reported
}

# A row that ignores the end of its time is killed, and the table is there.
case_deaf() {
  make_packed
  FAKE_PROOF="collective_bench=deaf" expect 3 started --minutes 0.4 --rows device,numbers-dp
  check_files
  is device 'not run' 'cut short'
  if pgrep -f "$folder/built/bin/collective_bench" >left; then die "processes are left: $(cat left)"; fi
}

case_terminated() {
  make_packed
  FAKE_PROOF="cuda_module_test=hangs" bash node/start.sh --out result --rows device,cuda_module_test,numbers-dp >out 2>err &
  local pid=$!
  await_hanging_row
  kill -TERM $pid
  wait $pid
  [ $? = 130 ] || die "did not end with 130"
  check_files
  is device passed
  is numbers-dp 'not run' 'stopped by Ctrl-C'
}

case_again() {
  make_packed
  expect 0 bash node/again.sh device,numbers-dp --out result
  [ "$(grep -c ' passed ' result/table.txt)" = 2 ] || die "not the two rows: $(cat result/table.txt)"
  expect 2 bash node/again.sh
  one_line 'it needs rows'
  expect 2 bash node/again.sh device --rows steps
  one_line 'the rows come first, once: leave --rows out'
  expect 2 bash node/again.sh --out other
  one_line "'--out' stands where rows have to"
}

case_empty_devices() {
  make_packed
  CUDA_VISIBLE_DEVICES='' expect 0 started --rows device
  is device passed
  grep -q 'CUDA_VISIBLE_DEVICES was set and empty, which hides every GPU: it is unset here' result/notes.txt || die "no note"
}

# What is saved lasts where a later save finds no room, and the end says so.
case_full_out() {
  make_packed
  mkdir result
  with_own_mounts bash -c 'mount -t tmpfs -o size=12k tmpfs result && bash node/start.sh --out result --rows device,steps; code=$?; ls -A result >left; exit $code' >out 2>err
  [ $? = 1 ] || die "did not end with 1"
  grep -q 'start: saving in .*/result: not everything could be written; is the disk full? Free some, or give another --out' out || die "does not say that the disk is full"
  grep -qx table.txt left || die "the table is not there: $(cat left)"
}

# df says what is free.
df_says() { printf '#!/bin/bash\nprintf "Filesystem 1M-blocks Used Available Capacity Mounted\\nx 1 1 %%s 1%%%% /\\n" "$(case $* in *%s) echo 9000 ;; *) echo 5 ;; esac)"\n' "$1" >path/df; chmod +x path/df; }

case_full_disk() {
  make_packed
  df_says nowhere
  expect 1 started --rows device
  one_line 'no disk here has 700 MiB free and starts programs (tried .*); free some, or set TMPDIR to a disk with room'
  df_says /dev/shm
  expect 0 started --rows device
  is device passed
  grep -q 'has no room or starts no programs: working in /dev/shm' result/notes.txt || die "does not say where it works"
}

case_bad_input() {
  make_packed
  expect 2 started --minutes soon
  one_line "'soon' is no number from 0.1 to 99.9"
  expect 2 started --minutes
  one_line '--minutes needs a value'
  touch file
  expect 1 bash node/start.sh --out file/result
  one_line 'cannot be written'
  expect 2 started --rows nosuch
  grep -q "'nosuch' is no row; there are device" err || die "gpu_proof's word is lost"
  head -c 100 node/tandem.tar.xz >cut && mv cut node/tandem.tar.xz
  rm -rf result
  expect 1 started
  one_line 'cannot be unpacked into .*: the file is cut off, or the disk is full; copy it again, or free some room'
  rm node/tandem.tar.xz
  expect 1 started
  one_line 'tandem.tar.xz is not there; keep it beside this script'
}

# pack, with a bundle that writes its arguments.
case_pack() {
  command -v xz >/dev/null || { echo "no xz here"; exit 77; }
  cp -r "$tools" tools
  printf '#!/bin/bash\necho "$*" >bundled\nwhile [ "$1" != --out ]; do shift; done\nhead -c "${FAKE_BYTES:-1000}" /dev/zero >"$2"\n' >tools/bundle
  expect 0 tools/gpu_node pack --out packed --architecture 90
  [ "$(ls packed | tr '\n' ' ')" = 'again.sh start.sh tandem.tar.xz ' ] || die "packed $(ls packed)"
  [ "$(cat bundled)" = '--out packed/tandem.tar.xz --cuda=13 --architecture=90' ] || die "bundle got $(cat bundled)"
  grep -q '1 MiB; take it to the node, and there: bash start.sh --out DIR' out || die "does not say what to do"
  expect 2 tools/gpu_node pack --out packed
  one_line 'no empty folder'
  FAKE_BYTES=3000000 expect 1 tools/gpu_node pack --out large --most-mib 2
  one_line 'has 3 MiB, 2 at most'
  expect 2 tools/gpu_node pack --architecture h100
  one_line 'no compute capability such as 90'
  expect 2 tools/gpu_node
  one_line 'it needs the verb pack'
  expect 2 tools/gpu_node send
  one_line "unknown verb 'send'"
}

"case_$3" || exit 1
