# SPDX-License-Identifier: Apache-2.0
# Sourced: the distribution's Slurm as a cluster of this one machine, in a scratch folder, on ports of
# its own, without systemd. Whatever happens, its daemons end and the folder goes.
#
#   slurm_start   from then on sbatch, srun and all others talk to it; skips (77) where it is absent
set -euo pipefail
slurm_daemons=()

slurm_skip() {
  echo "skipped: $*"
  exit 77
}

slurm_stop() {
  local pid
  for pid in "${slurm_daemons[@]}"; do kill "$pid" 2>/dev/null || true; done
  for pid in "${slurm_daemons[@]}"; do wait "$pid" 2>/dev/null || true; done
  slurm_daemons=()
  [[ -z ${slurm_folder:-} ]] || rm -rf "$slurm_folder"
}

# slurm_daemon NAME COMMAND...: in the foreground of this shell's child, so that its number is known.
slurm_daemon() {
  local log=$slurm_folder/$1.out
  shift
  "$@" >"$log" 2>&1 </dev/null &
  slurm_daemons+=($!)
}

slurm_configure() {
  local port=$((20000 + BASHPID % 20000)) node
  node=$(hostname -s)
  cat >"$slurm_folder/slurm.conf" <<CONF
ClusterName=tandem
SlurmctldHost=$node(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=$slurm_folder/munge.socket
StateSaveLocation=$slurm_folder/state
SlurmdSpoolDir=$slurm_folder/spool
SlurmctldPidFile=$slurm_folder/slurmctld.pid
SlurmdPidFile=$slurm_folder/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SwitchType=switch/none
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
JobCompType=jobcomp/none
KillWait=2
SlurmdParameters=config_overrides
NodeName=$node NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=YES
CONF
}

slurm_is_up() { [[ $(sinfo --noheader --format=%T 2>/dev/null) == idle ]]; }

slurm_start() {
  [[ $(id -u) == 0 ]] || slurm_skip "Slurm's daemons need root"
  local program
  for program in munged slurmctld slurmd srun; do
    PATH=$PATH:/usr/sbin command -v $program >/dev/null || slurm_skip "$program is missing (package slurm-wlm)"
  done
  (($(nproc) > 1)) || slurm_skip "one core is too few for two ranks"
  trap slurm_stop EXIT
  trap 'exit 129' HUP INT TERM
  slurm_folder=$(mktemp -d)
  chmod 755 "$slurm_folder" # munge wants its socket to be reached by all
  mkdir "$slurm_folder/state" "$slurm_folder/spool"
  (umask 077 && head -c 1024 /dev/urandom >"$slurm_folder/munge.key")
  slurm_configure
  export SLURM_CONF=$slurm_folder/slurm.conf PATH=$PATH:/usr/sbin
  slurm_daemon munged munged --foreground --force --key-file="$slurm_folder/munge.key" \
    --socket="$slurm_folder/munge.socket" --pid-file="$slurm_folder/munged.pid" \
    --log-file="$slurm_folder/munged.log" --seed-file="$slurm_folder/munged.seed" --num-threads=2
  local left
  for ((left = 100; left > 0; --left)); do [[ -S $slurm_folder/munge.socket ]] && break; sleep 0.1; done
  slurm_daemon slurmctld slurmctld -D
  slurm_daemon slurmd slurmd -D
  for ((left = 300; left > 0; --left)); do slurm_is_up && return; sleep 0.1; done
  tail -n 20 "$slurm_folder"/*.out
  echo "the cluster does not come up"
  exit 1
}
