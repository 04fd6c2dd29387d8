#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every function of the lists and of the sources is one of its library, under the version that torch asks for, and the
libraries let no other name out.

    symbols_test.py PRETEND LIBRARIES COMPILER
"""
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

PRETEND, LIBRARIES = map(pathlib.Path, sys.argv[1:3])
COMPILER = sys.argv[3]
VERSIONED = {"libcudart.so.12": "cudart", "libcudart.so.13": "cudart", "libcublas.so.12": "cublas", "libcublas.so.13": "cublas",
             "libcublasLt.so.12": "cublaslt", "libcublasLt.so.13": "cublaslt", "libcudnn.so.9": "cudnn",
             "libcupti.so.12": "cupti", "libcupti.so.13": "cupti"}
PLAIN = {"libnccl.so.2": "nccl", "libcuda.so.1": "cuda", "libnvidia-ml.so.1": "nvml"}
PREFIXES = {"cudart": "(?:__)?cuda", "cublas": "cublas", "cublaslt": "cublasLt", "cudnn": "cudnn", "cupti": "cupti", "nccl": "nccl", "cuda": "cu[A-Z]", "nvml": "nvml"}


def expanded(file, *definitions):
    """The text once its macros are expanded."""
    return subprocess.run([COMPILER, "-x", "c++", "-std=c++20", "-E", "-P", f"-I{PRETEND.parent}", *definitions, file], capture_output=True,
                          text=True, check=True).stdout


def listed(name):
    file = PRETEND / "symbols" / f"{name}.inc"
    if not file.exists():  # NVML's, which has an answer for each
        return set()
    return set(re.findall(r"listed\((\w+)\)", expanded(file, "-DACCEPTED(name)=listed(name)", "-DREFUSED(name)=listed(name)")))


def answered(name):
    """The functions that the library's sources define."""
    definition = rf"\b({PREFIXES[name]}\w*)\s*\((?:[^(){{}};]|\([^()]*\))*\)\s*{{"
    sources = sorted((PRETEND / {"cuda": "driver"}.get(name, name)).glob("*.cc"))
    return {found for source in sources for found in re.findall(definition, expanded(source, "-DTANDEM_PRETEND_CUDA=13"))}


def exported(soname):
    """The functions of the library, with "@@version" where they have one."""
    listing = subprocess.run(["nm", "-D", "--defined-only", LIBRARIES / soname], capture_output=True, text=True, check=True)
    return {line.split()[-1] for line in listing.stdout.splitlines() if " T " in line}


class Symbols(unittest.TestCase):
    maxDiff = None

    def test_versioned(self):
        for soname, name in VERSIONED.items():
            with self.subTest(soname):
                self.assertEqual(exported(soname), {f"{symbol}@@{soname}" for symbol in listed(name) | answered(name)})

    def test_plain(self):
        for soname, name in PLAIN.items():
            with self.subTest(soname):
                self.assertEqual(exported(soname), listed(name) | answered(name))

    def test_sonames(self):
        for soname in [*VERSIONED, *PLAIN]:
            listing = subprocess.run(["readelf", "-d", LIBRARIES / soname], capture_output=True, text=True, check=True).stdout
            self.assertIn(f"soname: [{soname}]", listing)

    def test_no_library_needs_a_cxx_library(self):
        for file in LIBRARIES.glob("*.so*"):
            listing = subprocess.run(["readelf", "-d", file], capture_output=True, text=True, check=True).stdout
            self.assertNotIn("libstdc++", listing, f"{file.name} would stand in front of torch's own")


if __name__ == "__main__":
    if not shutil.which("nm") or not shutil.which("readelf"):
        print("skipped: needs nm and readelf (package binutils)")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
