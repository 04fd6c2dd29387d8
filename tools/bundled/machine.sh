# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# shellcheck disable=SC2154  # set by who sources this
# Whether a machine can run an archive, and which C library starts its programs there. Sourced behind
# cuda_libraries.sh, with `top`, `own_loader`, what bundle.conf sets, and die at hand.

# check_machine ROOT: ends with one line where the archive cannot run. ROOT is usually empty: the system's.
check_machine() {
  check_folder
  check_kernel
  check_cpu "$1"
}

check_folder() {
  case $top in
    *[:\;]*) die "starting from the archive: its folder's path has ':' or ';' in it ($top), where lists of folders are split; move it to another" ;;
  esac
  [ -x "$own_loader" ] ||
    die "starting from the archive: $own_loader may not be executed; is the file system mounted noexec, or did a copy lose its permissions? Unpack the archive on another one"
}

check_kernel() {
  local machine release
  machine=$(uname -m) release=$(uname -r)
  [ "$machine" = "$bundle_machine" ] ||
    die "starting from the archive: its programs are for $bundle_machine, and this system says that it is $machine; build from source on it"
  [[ $release =~ ^[0-9]+(\.[0-9]+)* ]] || return 0
  is_at_least "${BASH_REMATCH[0]}" "$bundle_kernel" ||
    die "starting from the archive: its C library (glibc $bundle_glibc) needs Linux $bundle_kernel or newer, here is $release; use a newer system, or build from source on this one"
}

# The flags of the first CPU are those of all. Where /proc does not say, nothing is refused.
check_cpu() {
  local line model='of an unknown model' flag
  [ -r "$1/proc/cpuinfo" ] || return 0
  while IFS= read -r line; do
    case $line in
      model\ name*) model=${line#*: } ;;
      flags*)
        for flag in $bundle_cpu; do
          [[ " ${line#*: } " == *" $flag "* ]] ||
            die "starting from the archive: oneDNN, by which it computes, needs a CPU with ${flag/_/.}, and this one ($model) has it not; use a newer machine"
        done
        return 0 ;;
    esac
  done <"$1/proc/cpuinfo"
}

# The system's where it is as new as the archive's own: a library of such a system may ask for it. Else the own
# one, which loads what was built for any older one.
choose_c_library() {
  local here
  c_library=own
  if here=$(glibc_version) && is_at_least "$here" "$bundle_glibc"; then c_library=system; fi
}

# Which one it is, in words.
c_library_words() {
  local here
  here=$(glibc_version) || here=none
  if [ "$c_library" = system ]; then
    printf "the system's glibc %s (the archive's own: %s)\n" "$here" "$bundle_glibc"
  else
    printf "the archive's own glibc %s (the system's: %s)\n" "$bundle_glibc" "$here"
  fi
}
