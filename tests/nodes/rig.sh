# SPDX-License-Identifier: Apache-2.0
# Sourced: network namespaces of this machine that stand in for nodes. Each has a name, an address
# and a loopback of its own, and is joined to the others by a veth pair on a bridge. They share the
# kernel, its cores and its files. Whatever happens, all is taken down at the end.
#
#   rig_start COUNT   nodes are then "${rig_nodes[@]}"; skips the test (77) without the rights
#   rig_hosts SLOTS   "nodea:2,nodeb:2", for --hosts or mpirun's --host
#   rig_on NODE COMMAND   there, under its name
#   rig_run COMMAND   on the first node, with Open MPI's launcher set up for the others
#   rig_cut NODE      its network is gone, for all others and for itself
#   rig_mend NODE     it is back
#   rig_until SECONDS COMMAND  until it is so; fails where it is not by then
#   rig_leaves_nothing  fails where a process still runs on a node
set -euo pipefail
rig_folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
rig_name=td$BASHPID
rig_nodes=()

rig_skip() {
  echo "skipped: $*"
  exit 77
}

rig_stop() {
  local node pids
  for node in "${rig_nodes[@]}"; do
    pids=$(ip netns pids "$node" 2>/dev/null || true)
    [[ -z $pids ]] || kill -KILL $pids 2>/dev/null || true
    ip link del "v$node" 2>/dev/null || true
    ip netns del "$node" 2>/dev/null || true
  done
  ip link del "$rig_name" 2>/dev/null || true
  rig_nodes=()
  [[ -z ${rig_scratch:-} ]] || rm -rf "$rig_scratch"
}

# `ip netns exec` and `ip -n` would mount, which a root that is no mount point does not let them.
rig_in() {
  local node=$1
  shift
  nsenter --net="/run/netns/$node" "$@"
}

rig_start() {
  [[ $(id -u) == 0 ]] || rig_skip "network namespaces need root"
  command -v ip nsenter unshare >/dev/null ||
    rig_skip "ip (iproute2), nsenter or unshare (util-linux) is missing"
  [[ $(trap -p EXIT) == *rig_stop* ]] || trap rig_stop EXIT
  trap 'exit 129' HUP INT TERM
  rig_scratch=$(mktemp -d) # for what daemons that are killed leave
  ip link add "$rig_name" type bridge 2>/dev/null || rig_skip "no bridge may be made here"
  ip link set "$rig_name" up
  local i node
  for ((i = 1; i <= $1; ++i)); do
    node=$rig_name$(printf "\\x$(printf %x $((96 + i)))")
    ip netns add "$node" 2>/dev/null || rig_skip "no network namespace may be made here"
    rig_nodes+=("$node")
    ip link add "v$node" type veth peer name eth0 netns "$node" 2>/dev/null ||
      rig_skip "no veth pair may be made here"
    ip link set "v$node" master "$rig_name" up
    rig_in "$node" ip address add "10.213.7.$i/24" dev eth0
    rig_in "$node" ip link set eth0 up
    rig_in "$node" ip link set lo up
  done
  "$rig_folder/namespace_agent" "${rig_nodes[0]}" true 2>/dev/null ||
    rig_skip "no namespace may be entered here"
}

rig_hosts() {
  local node list=
  for node in "${rig_nodes[@]}"; do list+=,$node:$1; done
  echo "${list#,}"
}

rig_on() { "$rig_folder/namespace_agent" "$1" "$(printf '%q ' "${@:2}")"; }

rig_run() {
  # What tests on one node say of transports does not hold here.
  env -u OMPI_MCA_btl OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
    OMPI_MCA_plm_rsh_agent="$rig_folder/namespace_agent" PRTE_MCA_plm_ssh_agent="$rig_folder/namespace_agent" \
    RIG_SCRATCH="$rig_scratch" TMPDIR="$rig_scratch" OMPI_MCA_btl_vader_backing_directory="$rig_scratch" \
    "$rig_folder/namespace_agent" "${rig_nodes[0]}" "$(printf '%q ' "$@")"
}

rig_cut() {
  : >"$rig_scratch/cut.$1"
  ip link set "v$1" down
}

# The first node answers it, if only that nobody listens there.
rig_is_joined() {
  [[ $(rig_in "$1" timeout 1 bash -c ': </dev/tcp/10.213.7.1/9' 2>&1) == *refused* ]]
}

rig_mend() {
  ip link set "v$1" up
  rig_until 10 rig_is_joined "$1" || return 1
  rm "$rig_scratch/cut.$1"
}

rig_until() {
  local left=$(($1 * 10))
  shift
  until "$@"; do
    ((left-- > 0)) || return 1
    sleep 0.1
  done
}

rig_leaves_nothing() {
  local node pids waited
  for node in "${rig_nodes[@]}"; do
    for ((waited = 0; waited < 150; ++waited)); do
      pids=$(ip netns pids "$node")
      [[ -z $pids ]] && break
      sleep 0.2 # the launcher gives up on a lost node after some ten seconds
    done
    [[ -z $pids ]] || {
      echo "still running on $node: $(ps -o pid=,args= -p ${pids//$'\n'/,})"
      return 1
    }
  done
}
