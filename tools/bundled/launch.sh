# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154  # read by what this sources, and set by who sources this
# Starts a program of an unpacked archive, wherever that lies. Sourced by every starter in it, with `self`, the
# starter's own path, set.
#
#   ./tandem run quick --out DIR     this and every other command of tandem (./tandem --help)
#   ./tandem --where                 what was found here of driver and CUDA libraries, and what is missing
#   ./tandem --exec COMMAND...       any command, with the archive's programs first in PATH
#   ./gpu_proof --help               proves the CUDA half on this machine's GPUs
#   bin/step_bench --help            the other programs of bin/ likewise
#
# Needs bash and coreutils. Nothing is written outside of the folders that the commands are given.
programs=$(cd "${BASH_SOURCE[0]%/*}" && pwd -P)
top=${programs%/*}
# shellcheck source=tools/lib/cuda_libraries.sh
. "$programs/tools/lib/cuda_libraries.sh"
# shellcheck source=tools/bundled/machine.sh
. "$programs/machine.sh"
# What tools/bundle wrote down of this archive.
bundle_glibc='' bundle_machine='' bundle_kernel='' bundle_cpu='' bundle_cuda='' bundle_needs='' bundle_wants=''
# shellcheck source=/dev/null
. "$programs/share/tandem/bundle.conf"

die() { printf 'tandem: %s\n' "$*" >&2; exit 1; }

# Open MPI and PMIx are built for fixed folders; these variables move them. Ranks inherit them, and on
# other nodes bin/orted sets them again. Another Open MPI's settings must not steer this one.
use_own_mpi() {
  export PATH=$top/bin:$PATH
  export OPAL_PREFIX=$top OPAL_EXEC_PREFIX=$top OPAL_BINDIR=$top/bin OPAL_SBINDIR=$top/bin
  export OPAL_LIBEXECDIR=$top/bin OPAL_LIBDIR=$programs/lib OPAL_PKGLIBDIR=$programs/lib/openmpi
  export OPAL_DATAROOTDIR=$programs/share OPAL_DATADIR=$programs/share OPAL_PKGDATADIR=$programs/share/openmpi
  export OPAL_SYSCONFDIR=$programs/etc/openmpi
  export PMIX_PREFIX=$programs PMIX_EXEC_PREFIX=$programs PMIX_LIBDIR=$programs/lib PMIX_PKGLIBDIR=$programs/lib/pmix
  export PMIX_DATADIR=$programs/share PMIX_PKGDATADIR=$programs/share/pmix PMIX_SYSCONFDIR=$programs/etc
  export HWLOC_PLUGINS_PATH=$programs/lib/hwloc
  # A node without ssh: Open MPI's way to other nodes by it would end even a job that needs none.
  if [ -z "${OMPI_MCA_plm+set}${OMPI_MCA_plm_rsh_agent+set}" ] && ! command -v ssh >/dev/null && ! command -v rsh >/dev/null; then
    export OMPI_MCA_plm=^rsh
  fi
}

# The archive's own loader, with its own C library before all others. LD_LIBRARY_PATH has no part of it: programs
# start bash, python3 or nvidia-smi, which are the system's, and whose loader takes no other C library.
use_own_loader() {
  loader_command=("$own_loader" --library-path "${own_loader%/*}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}")
  loaded_program=$programs/elf/tandem
}

# Only where a GPU shows itself: elsewhere nothing would load them.
use_cuda_libraries() {
  local soname library='' library_place=''
  if [ -z "$bundle_cuda" ] || [ "$(gpu_files "")" = 0 ]; then return 0; fi
  for soname in $bundle_needs $bundle_wants; do
    find_library "$soname"
    if [ -n "$library" ] && [ "$library_place" != loader ]; then
      use_library "$library"
      if [ "$c_library" = own ]; then use_own_loader; fi
    fi
    # Once, not by every rank of a job.
    if [ -z "$library" ] && [[ ${self##*/} =~ ^(tandem|gpu_proof)$ ]]; then
      printf 'tandem: there is a GPU here, and %s is missing: ./tandem --where says what to do\n' "$soname" >&2
    fi
  done
}

# become NAME FILE ARGUMENT...: this process goes on as the program of FILE, under that name.
become() {
  local as=$1 file=$2
  shift 2
  [ -x "$file" ] || die "starting ${as##*/}: the archive has no such program; it has those of $top/bin"
  if [ "$c_library" = system ]; then exec -a "$as" "$file" "$@"; fi
  exec "${loader_command[@]}" --argv0 "$as" "$file" "$@"
}

# What tandem's starter does beside tandem.
where_or_exec() {
  case ${1:-} in
    --where) [ $# -eq 1 ] || { printf 'tandem: --where takes nothing behind it\n' >&2; exit 2; }
      # shellcheck source=tools/bundled/where.sh
      . "$programs/where.sh"
      if say_where; then exit 0; else exit 1; fi ;;
    --exec) shift
      [ $# -gt 0 ] || { printf 'tandem: --exec needs a command behind it\n' >&2; exit 2; }
      type -P -- "$1" >/dev/null || {
        printf "tandem: --exec %s: there is no such program; give one of %s, one in PATH, or a path\n" "$1" "$top/bin" >&2
        exit 127
      }
      exec "$@" ;;
  esac
}

own_loader=$(echo "$programs"/lib/glibc/ld-linux*.so.*)
# What is started within has all of this from the first starter on this machine.
case ${TANDEM_ARCHIVE:-} in
  "own:$HOSTNAME:$top" | "system:$HOSTNAME:$top") c_library=${TANDEM_ARCHIVE%%:*} started_within=1 ;;
  *) check_machine ""
    choose_c_library
    started_within= ;;
esac
if [ "$c_library" = own ]; then use_own_loader; fi
if [ -z "$started_within" ]; then
  use_own_mpi
  [ "${1:-}" = --where ] || use_cuda_libraries
  export TANDEM_ARCHIVE=$c_library:$HOSTNAME:$top
fi

case ${self##*/} in
  # Under a path in bin/, by which Open MPI finds its prefix.
  mpirun | orterun) become "$top/bin/mpirun" "$programs/elf/orterun" "$@" ;;
  orted) become "$top/bin/orted" "$programs/elf/orted" "$@" ;;
  gpu_proof) exec "$programs/tools/gpu_proof" "$@" ;;
  tandem) where_or_exec "$@"
    become "$self" "$programs/elf/tandem" "$@" ;;
  *) case $self in
      "$programs"/tests/*) become "$self" "$programs/tests/elf/${self##*/}" "$@" ;;
      *) become "$self" "$programs/elf/${self##*/}" "$@" ;;
    esac ;;
esac
