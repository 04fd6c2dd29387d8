# SPDX-License-Identifier: Apache-2.0
"""The torch that a Python would import: versions and place, without importing it."""
import dataclasses
import json
import os
import pathlib
import shutil
import subprocess

from refusal import Usage

# torch/version.py is a few assignments.
QUESTION = """
import importlib.metadata as m, importlib.util as u, json, os, runpy
s = u.find_spec("torch")
found = {}
if s and s.origin:
    f = os.path.dirname(s.origin)
    v = runpy.run_path(os.path.join(f, "version.py"))
    names = [(d.metadata["Name"] or "", d.version) for d in m.distributions()]
    found = {"folder": f, "version": v["__version__"], "cuda": v.get("cuda") or "",
             "packages": {n: w for n, w in names if n.startswith("nvidia-")}}
print(json.dumps(found))
"""


def numbers(version):
    """The first three numbers of "9.26.0.51"."""
    parts = [int(part) if part.isdigit() else 0 for part in version.split(".")[:3]]
    return parts + [0] * (3 - len(parts))


@dataclasses.dataclass
class TorchWheel:
    python: str
    version: str  # "2.15.0"
    cuda: str = ""  # "13.2"; empty: built without CUDA
    folder: str = ""  # .../site-packages/torch
    packages: dict = dataclasses.field(default_factory=dict)  # nvidia-cudnn-cu13 -> 9.26.0.51

    @property
    def cuda_major(self):
        return numbers(self.cuda)[0]

    @property
    def nvrtc_folders(self):
        """Folders of the library that NVRTC opens while it compiles: torch opens it first, but only beside a real libcudart.so."""
        found = pathlib.Path(self.folder).parent.glob("nvidia/*/lib/libnvrtc-builtins.so*") if self.folder else ()
        return sorted({str(library.parent) for library in found})

    def check(self):
        """Refuses a wheel that no libraries can stand in for."""
        if not self.cuda:
            raise Usage(f"pretending GPUs: torch {self.version} of {self.python} is built without CUDA; install the wheel of the "
                        f"package index there: {self.python} -m pip install torch")
        if self.cuda_major not in (12, 13):
            raise Usage(f"pretending GPUs: torch {self.version} of {self.python} is built for CUDA {self.cuda}, and the libraries are "
                        "those of CUDA 12 and 13; install a torch for one of them")

    def library_versions(self):
        """"runtime=13020,blas=130401,dnn=92600,nccl=23007": the answers of the wheel's own libraries."""
        major, minor, _ = numbers(self.cuda)
        told = [f"runtime={major * 1000 + minor * 10}"]
        for key, name in (("blas", "nvidia-cublas"), ("dnn", "nvidia-cudnn"), ("nccl", "nvidia-nccl")):
            # nvidia-cudnn-cu13, or without the version of CUDA
            found = [version for package, version in sorted(self.packages.items()) if package == name or package.startswith(f"{name}-cu")]
            if found:
                major, minor, patch = numbers(found[0])
                told.append(f"{key}={major * 10_000 + minor * 100 + patch}")
        return ",".join(told)


def parse(python, answer):
    """The answer of the Python as its wheel."""
    try:
        found = json.loads(answer.strip().splitlines()[-1])
    except (IndexError, ValueError):
        raise Usage(f"looking for torch: {python} is no Python that runs; name one with --python") from None
    if not found:
        raise Usage(f"looking for torch: {python} has none; install one there: {python} -m pip install torch")
    return TorchWheel(python, **found)


def find(python):
    try:
        asked = subprocess.run([python, "-B", "-c", QUESTION], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, errors="replace",
                               check=False)
    except OSError:
        return parse(python, "")
    return parse(python, asked.stdout)


def is_python_name(path):
    return os.path.basename(path).startswith("python")


def python_of(program):
    """The Python that a command is run by: the command itself, or what the first line of the script names."""
    path = shutil.which(program)
    if path is None and os.path.isfile(program):
        raise Usage(f"running {program}: it may not be executed; put python3 in front of it, or use chmod +x")
    if path is None:
        raise Usage(f"running {program}: there is no such program; check the command behind --")
    if is_python_name(program):
        return program
    with pathlib.Path(path).open("rb") as script:
        first = script.readline(4096).decode(errors="replace")
    if first.startswith("#!"):
        named = [word for word in first[2:].split() if is_python_name(word)]
        if named:
            return named[0]
    raise Usage(f"running {program}: the Python behind it is not known; name the one that has torch with --python")
