# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Which shared libraries an archive of the programs brings: all that they and Open MPI's components need,
# directly or not, and glibc. Sourced by tools/bundle, with `die` and cuda_libraries.sh at hand.

# Of glibc: packed apart, for no search path may lead to it. A program with one glibc's libc.so.6 and another one's
# loader does not start.
is_glibc() {
  case $1 in
    ld-linux*.so.* | libc.so.* | libm.so.* | libmvec.so.* | libdl.so.* | libpthread.so.* | librt.so.* | libutil.so.* | \
      libresolv.so.* | libnsl.so.1 | libanl.so.* | libnss_*.so.* | libthread_db.so.* | libBrokenLocale.so.* | libc_malloc_debug.so.*) return 0 ;;
  esac
  return 1
}

# NVIDIA's, and to be found on the node: they fit its driver, and are larger than all the rest together.
is_cuda() {
  case $1 in
    libcuda.so.* | libnvidia-*.so.* | libcudart.so.* | libcublas*.so.* | libcudnn*.so.* | libnccl.so.* | \
      libnvJitLink.so.* | libnvrtc*.so.* | libcupti.so.*) return 0 ;;
  esac
  return 1
}

# needs_of FILE: the sonames that an ELF file asks for itself.
needs_of() { objdump -p "$1" | awk '$1 == "NEEDED" { print $2 }'; }

# libraries_of FILE...: "soname<TAB>path" of all that they need, directly or not, and that is packed.
libraries_of() {
  local file soname path
  for file in "$@"; do
    while read -r soname path; do
      [ "$path" != "not" ] || die "packing ${file##*/}: it needs $soname, which is not on this machine; install it"
      is_glibc "$soname" || is_cuda "$soname" || printf '%s\t%s\n' "$soname" "$path"
    done < <("$(loader)" --list "$file" | awk '$2 == "=>" { print $1, $3 }')
  done | sort -u
}

# copy_glibc FOLDER: the loader of this machine, and every library of its package: what the programs ask for, what a
# driver's or the system's own libraries may (name services, for instance), which fit no other glibc.
copy_glibc() {
  local file package
  package=$(package_of "$(loader)")
  mkdir -p "$1"
  while IFS= read -r file; do
    if is_glibc "${file##*/}" && [ -f "$file" ]; then cp -L "$file" "$1/"; fi
  done < <(dpkg-query -L "$package")
  chmod 644 "$1"/*
  chmod 755 "$1/$(basename "$(loader)")"
  [ -e "$1/libc.so.6" ] || die "packing $package: it has no libc.so.6"
}

# kernel_of FILE: the oldest Linux that a library of glibc runs on.
kernel_of() { readelf -n "$1" | sed -n 's/.*OS: Linux, ABI: //p'; }

# component_folder NAME: where Debian's Open MPI (openmpi) or PMIx (pmix) keeps what it opens by itself.
component_folder() {
  local multiarch folder
  multiarch=/usr/lib/$(uname -m)-linux-gnu
  case $1 in
    openmpi) folder=$(ompi_info --parsable --path pkglibdir | cut -d: -f3-) ;;
    pmix) folder=$multiarch/pmix2/lib/pmix ;;
    hwloc) folder=$multiarch/hwloc ;;
  esac
  [ -d "$folder" ] || die "packing $1: its components are not in $folder; install Debian's packages (tools/install-deps)"
  printf '%s\n' "$folder"
}

# is_left_out FILE: components that speak to InfiniBand and the like through libraries that belong to a
# node's drivers (Debian's Open MPI has most of them switched off), OpenSHMEM's, and hwloc's for displays.
is_left_out() {
  case ${1##*/} in
    *_ofi.so | *_ucx.so | *_openib.so | mca_mtl_psm*.so) return 0 ;;
    mca_memheap_*.so | mca_scoll_*.so | mca_spml_*.so | mca_sshmem_*.so | mca_atomic_*.so) return 0 ;;
    hwloc_gl.so | hwloc_opencl.so | hwloc_xml_libxml.so | libompi_dbg_msgq.so) return 0 ;;
  esac
  return 1
}

# elf_files FOLDER: all programs and libraries below it but glibc's own.
elf_files() {
  local file magic
  while IFS= read -r -d '' file; do
    magic=
    IFS= LC_ALL=C read -r -N 4 magic <"$file" || true
    if [ "$magic" = $'\177ELF' ]; then printf '%s\n' "$file"; fi
  done < <(find "$1" -path '*/lib/glibc' -prune -o -type f -print0)
}

# check_closed PROGRAMS: nothing in it asks for what is neither in it, nor glibc, nor NVIDIA's. Prints what
# the CUDA module asks for of NVIDIA's; anything else must start without.
check_closed() {
  local file soname
  while IFS= read -r file; do
    while read -r soname; do
      if is_glibc "$soname" || [ -e "$1/lib/$soname" ]; then continue; fi
      if is_cuda "$soname" && [ "${file##*/}" = libtandem_cuda.so ]; then printf '%s\n' "$soname"; continue; fi
      die "packing: ${file#"$1"/} needs $soname, which the archive does not have"
    done < <(needs_of "$file")
  done < <(elf_files "$1")
}

# package_of FILE: the installed Debian package that owns it.
package_of() {
  local file found
  for file in "$1" "$(readlink -f "$1")" "/usr$1" "/usr$(readlink -f "$1")"; do
    if found=$(dpkg-query -S "$file" 2>/dev/null); then printf '%s\n' "${found%%: *}"; return 0; fi
  done
  die "packing $1: no installed package owns it, so its licence is unknown"
}
