# SPDX-License-Identifier: Apache-2.0
"""Whether the libraries have all functions that a torch needs, by the dynamic symbols of both: no library is loaded."""
import dataclasses
import pathlib
import re
import struct

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerDefSection, GNUVerNeedSection

from refusal import Failure, Usage

TRIED = "2.4.1 (CUDA 12.1), 2.5.1 (CUDA 12.4), 2.9.1 (CUDA 12.8), 2.11.0 (CUDA 13.0) and 2.15.0 (CUDA 13.2)"
# Libraries whose functions carry the soname as version, so that a report names their functions.
VERSIONED = ("libcudart.so.", "libcublas.so.", "libcublasLt.so.", "libcudnn.so.", "libcupti.so.")
BASE_VERSION = 1  # the flag of the entry that names the library itself
SYMBOL = struct.Struct("<IBBHQQ")


@dataclasses.dataclass
class Library:
    """What a shared library exports, and takes from others, as (name, version) with "" for none; the sonames it names."""
    exported: list
    imported: list
    needed: list


def versions_of(elf):
    """The names of versions by their index, the library's own and those of others."""
    found = {}
    for section in elf.iter_sections():
        if isinstance(section, GNUVerNeedSection):
            found.update((one["vna_other"], one.name) for _, names in section.iter_versions() for one in names)
        elif isinstance(section, GNUVerDefSection):
            found.update((version["vd_ndx"], next(names).name) for version, names in section.iter_versions()
                         if not version["vd_flags"] & BASE_VERSION)
    return found


def read(path):
    library = Library([], [], [])
    try:
        with pathlib.Path(path).open("rb") as file:
            elf = ELFFile(file)
            if elf.elfclass != 64 or not elf.little_endian:
                raise ELFError("of another machine")
            versions = versions_of(elf)
            symbols, indices = elf.get_section_by_name(".dynsym"), elf.get_section_by_name(".gnu.version")
            dynamic = elf.get_section_by_name(".dynamic")
            library.needed = [tag.needed for tag in dynamic.iter_tags("DT_NEEDED")] if dynamic else []
            if symbols is None:
                return library
            # Unpacked here: hundreds of thousands of symbols take pyelftools a minute.
            names = elf.get_section(symbols["sh_link"]).data()
            numbers = [number for number, in struct.iter_unpack("<H", indices.data())] if indices else []
            for at, (name, _, _, section, _, _) in enumerate(SYMBOL.iter_unpack(symbols.data())):
                if at == 0:
                    continue
                version = versions.get(numbers[at] & 0x7fff, "") if at < len(numbers) else ""
                text = names[name:names.index(b"\0", name)].decode(errors="replace")
                (library.exported if section else library.imported).append((text, version))
    except (ELFError, OSError, struct.error, ValueError) as error:
        raise Failure(f"reading the symbols of {path}: it is no shared library; repair it") from error
    return library


def pretended_sonames(cuda_major):
    """The libraries that a wheel of this CUDA version loads, in the order of LD_PRELOAD."""
    return [*(f"lib{name}.so.{cuda_major}" for name in ("cudart", "cublas", "cublasLt", "cupti")), "libcudnn.so.9", "libnccl.so.2", "libcuda.so.1",
            "libnvidia-ml.so.1"]


def library_of(user, name, version):
    """Which of CUDA's libraries the function is of; "" for those of others. Functions of NCCL and of the driver carry no version:
    they are known by the beginning of their names, the driver's in libraries that name the driver alone."""
    if version:
        return version if version.startswith(VERSIONED) else ""
    if name.startswith("nccl"):
        return "libnccl.so.2"
    is_of_driver = "libcuda.so.1" in user.needed and re.match("cu[A-Z]", name) and not name.startswith("cuFile")
    return "libcuda.so.1" if is_of_driver else ""


def missing_symbols(user, pretended):
    """The functions, as "cudaFoo (libcudart.so.13)", that `user` takes from one of CUDA's libraries and none of `pretended` exports."""
    known = {symbol for library in pretended for symbol in library.exported}
    return [f"{name} ({library_of(user, name, version)})" for name, version in user.imported
            if library_of(user, name, version) and (name, version) not in known]


def users_of(wheel):
    """torch's own libraries, and those of CUDA that stay as they are and call the replaced ones, but for NVBLAS: nobody loads it."""
    torch = pathlib.Path(wheel.folder)
    folders = [torch / "lib", *(folder / "lib" for folder in torch.parent.glob("nvidia/*") if folder.name not in ("cudnn", "nccl"))]
    return sorted(file for folder in folders for file in folder.glob("*.so*") if not file.name.startswith((*VERSIONED, "libnvblas.")))


def needs_replaced(user):
    return any(name.startswith(VERSIONED) or name in ("libnccl.so.2", "libcuda.so.1") for name in user.needed)


def check(wheel, folder):
    """Refuses a wheel that needs functions which the libraries in `folder` lack."""
    if not (folder / "libtandem_pretend.so").exists():
        raise Usage(f"pretending GPUs: there are no libraries in {folder}; build them, as pretend/README.md says, or use tandem-pretend")
    pretended = [read(folder / soname) for soname in pretended_sonames(wheel.cuda_major)]
    users = (read(path) for path in users_of(wheel))
    missing = sorted({symbol for user in users if needs_replaced(user) for symbol in missing_symbols(user, pretended)})
    if not missing:
        return
    some = ", ".join(missing[:5] + ["..."] * (len(missing) > 5))
    raise Usage(f"pretending GPUs for torch {wheel.version} of {wheel.python}: it needs {len(missing)} function{'s' * (len(missing) > 1)} that "
                f"Tandem does not know: {some}; torch {TRIED} are known to work, and pretend/README.md says how to add another one")
