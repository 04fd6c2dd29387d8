#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# How an archive starts its programs: by an archive whose programs are copies of this system's cat and bash, and
# whose own loader and C library are copies of the system's.
#   launch_test.sh TOOLS CASE
# shellcheck source=tests/tools/cases.sh
source "$(dirname "$0")/cases.sh" '' '' "$2"
tools=$1
# shellcheck source=tools/lib/cuda_libraries.sh
. "$tools/lib/cuda_libraries.sh"
# shellcheck source=tools/lib/bundle_starters.sh
. "$tools/lib/bundle_starters.sh"
unset CUDA_HOME CUDA_PATH NCCL_HOME CUDNN_HOME LD_LIBRARY_PATH TANDEM_ARCHIVE
here=$(loader) || { echo "no glibc here"; exit 77; }
libc=$(loaded_from libc.so.6)
archive="$folder/an archive"
programs=$archive/programs

# facts NAME=VALUE...: what bundle.conf says; what is not named fits this machine, and its own glibc is newer.
facts() {
  printf '%s\n' bundle_version=0 bundle_glibc=99.0 "bundle_machine=$(uname -m)" bundle_kernel=2.6 "$@" >"$programs/share/tandem/bundle.conf"
}

make_archive() {
  mkdir -p "$programs"/{elf,tests/elf,lib/glibc,share/tandem,tools/lib}
  cp "$here" "$libc" "$programs/lib/glibc/"
  cp "$tools/lib/cuda_libraries.sh" "$programs/tools/lib/"
  cp "$(command -v cat)" "$programs/elf/step_bench"
  cp "$(command -v cat)" "$programs/tests/elf/some_test"
  cp "$(command -v bash)" "$programs/elf/tandem"
  cp "$(command -v cat)" "$programs/elf/orterun"
  cp "$(command -v bash)" "$programs/elf/orted"
  write_starters "$archive" "$tools/bundled"
  facts
}

# libc_of COMMAND...: the file of the C library that the command, which prints its mappings, has.
libc_of() { "$@" /proc/self/maps | grep -o '/.*/libc[.-].*' | sort -u; }

# starts_with LIBC STARTER: the program of that starter does.
starts_with() {
  local found
  found=$(libc_of "$2")
  [ "$found" = "$1" ] || die "$2 started with '$found', not '$1'"
}

# refused WORDS: the archive starts nothing, and says so in one line.
refused() {
  local status=0
  "$archive/bin/step_bench" /dev/null >"$folder/log" 2>&1 || status=$?
  [ $status = 1 ] || die "ended with $status: $(cat "$folder/log")"
  [ "$(wc -l <"$folder/log")" = 1 ] || die "not one line: $(cat "$folder/log")"
  grep -q -- "$1" "$folder/log" || die "does not say '$1': $(cat "$folder/log")"
}

case_own() {
  local starter
  for starter in "$archive/bin/step_bench" "$programs/bin/step_bench" "$programs/tests/bin/some_test" "$archive/bin/mpirun"; do
    starts_with "$programs/lib/glibc/${libc##*/}" "$starter"
  done
  (cd "$archive/bin" && starts_with "$programs/lib/glibc/${libc##*/}" ../programs/bin/step_bench) || exit 1
  ln -s "$archive/bin/step_bench" "$folder/a link"
  starts_with "$programs/lib/glibc/${libc##*/}" "$folder/a link"
  "$archive/tandem" --where >"$folder/log"
  grep -q "^C library: programs start with the archive's own glibc 99.0 (the system's: $(glibc_version))$" "$folder/log" || die "$(cat "$folder/log")"
}

case_system() {
  facts bundle_glibc=2.0
  starts_with "$(readlink -f "$libc")" "$archive/bin/step_bench"
  "$archive/tandem" --where >"$folder/log"
  grep -q "^C library: programs start with the system's glibc $(glibc_version) (the archive's own: 2.0)$" "$folder/log" || die "$(cat "$folder/log")"
}

# Programs of the system that a program starts have the system's C library, and no search path to the other one; a
# program of the archive that it starts is started as it was itself.
case_children() {
  local own=$programs/lib/glibc/${libc##*/}
  mkdir "$folder/a module"
  # shellcheck disable=SC2016  # the inner shell's
  LD_LIBRARY_PATH="$folder/a module" "$archive/tandem" -c 'cat /proc/$$/maps >own
    cat /proc/self/maps >child
    step_bench /proc/self/maps >within
    printf "%s\n" "$LD_LIBRARY_PATH" >path
    printf "%s\n" "$0" "${PATH%%:*}" "$OPAL_PREFIX" >names'
  grep -qF "$own" own || die "the program has another C library"
  grep -qF "$programs" child && die "a child of the system has a library of the archive"
  grep -qF "$own" within || die "a program started within has another C library"
  [ "$(cat path)" = "$folder/a module" ] || die "LD_LIBRARY_PATH of children: $(cat path)"
  [ "$(cat names)" = "$(printf '%s\n' "$archive/tandem" "$archive/bin" "$archive")" ] || die "names: $(cat names)"
}

# Options, words with spaces, the exit status, and standard input are the program's.
case_arguments() {
  local status=0
  # shellcheck disable=SC2016
  [ "$(echo input | "$archive/tandem" -c 'cat; printf "<%s>" "$@"; exit 0' x '' 'two words' --list)" = "$(printf 'input\n<><two words><--list>')" ] || die "not the words that were given"
  "$archive/tandem" -c 'exit 7' || status=$?
  [ $status = 7 ] || die "exit status $status"
  status=0
  "$archive/tandem" --exec bash -c 'exit 5' || status=$?
  [ $status = 5 ] || die "exit status $status of --exec"
  status=0
  "$archive/tandem" --exec nope >"$folder/log" 2>&1 || status=$?
  [ $status = 127 ] || die "exit status $status of what is no program"
  [ "$(cat "$folder/log")" = "tandem: --exec nope: there is no such program; give one of $archive/bin, one in PATH, or a path" ] || die "$(cat "$folder/log")"
}

# Under a path in bin/, by which Open MPI finds its prefix, also where a name is a link's.
case_names() {
  # shellcheck disable=SC2016
  [ "$("$programs/bin/orted" -c 'echo "$0"')" = "$archive/bin/orted" ] || die "orted starts under another path"
}

# What another copy, or another machine, has set up is set up again.
case_again() {
  local other="$folder/other"
  cp -a "$archive" "$other"
  # shellcheck disable=SC2016
  [ "$("$archive/tandem" -c '"$1" -c "echo \$OPAL_PREFIX"' x "$other/tandem")" = "$other" ] || die "a copy within another takes that one's settings"
  printf '%s\n' bundle_glibc=2.0 >>"$other/programs/share/tandem/bundle.conf"
  TANDEM_ARCHIVE="own:another-machine:$other" starts_with "$(readlink -f "$libc")" "$other/bin/step_bench"
}

# Everything of it may be read-only, and so may the home and the temporary folder be.
case_read_only() {
  local before
  before=$(find "$archive" | sort)
  chmod -R a-w "$archive"
  HOME=/nowhere TMPDIR=/nowhere starts_with "$programs/lib/glibc/${libc##*/}" "$archive/bin/step_bench"
  [ "$(find "$archive" | sort)" = "$before" ] || die "something was written"
  chmod -R u+w "$archive"
}

case_refusals() {
  facts bundle_machine=vax
  refused "its programs are for vax, and this system says that it is $(uname -m); build from source"
  facts bundle_kernel=99.1
  refused "its C library (glibc 99.0) needs Linux 99.1 or newer, here is $(uname -r); use a newer system"
  facts
  chmod a-x "$programs/lib/glibc/${here##*/}"
  refused 'may not be executed; is the file system mounted noexec'
  chmod a+x "$programs/lib/glibc/${here##*/}"
  rm "$programs/elf/step_bench"
  refused "starting step_bench: the archive has no such program; it has those of $archive/bin"
  mv "$archive" "$folder/a:b"
  archive=$folder/a:b
  refused "its folder's path has ':' or ';' in it ($folder/a:b)"
}

case_cpu() {
  local bundle_cpu=sse4_1
  # shellcheck source=tools/bundled/machine.sh
  . "$tools/bundled/machine.sh"
  mkdir -p old/proc new/proc
  printf 'processor\t: 0\nmodel name\t: An Old CPU @ 2.0GHz\nflags\t\t: fpu sse2 ssse3\n' >old/proc/cpuinfo
  printf 'processor\t: 0\nmodel name\t: A CPU\nflags\t\t: fpu sse2 sse4_1 sse4_2\n' >new/proc/cpuinfo
  (die() { echo "$*" >said; exit 1; }; check_cpu old) && die "an old CPU was taken"
  grep -q 'needs a CPU with sse4.1, and this one (An Old CPU @ 2.0GHz) has it not; use a newer machine' said || die "$(cat said)"
  check_cpu new
  check_cpu nothing
}

make_archive
"case_$2" || exit 1
