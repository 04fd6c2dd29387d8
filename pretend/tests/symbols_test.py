#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every name of the lists is a function of its library; all functions are under the version that torch asks for, and the
libraries let no other name out.

    symbols_test.py SYMBOLS LIBRARIES
"""
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

SYMBOLS, LIBRARIES = map(pathlib.Path, sys.argv[1:3])
VERSIONED = {"libcudart.so.12": "cudart", "libcudart.so.13": "cudart", "libcublas.so.12": "cublas", "libcublas.so.13": "cublas",
             "libcublasLt.so.12": "cublaslt", "libcublasLt.so.13": "cublaslt", "libcudnn.so.9": "cudnn"}
PLAIN = {"libnccl.so.2": "nccl", "libcuda.so.1": "cuda"}
PREFIXES = {"cudart": r"(__)?cuda", "cublas": "cublas", "cublaslt": "cublasLt", "cudnn": "cudnn", "nccl": "nccl", "cuda": "cu[A-Z]"}


def listed(name):
    text = (SYMBOLS / f"{name}.inc").read_text()
    return set(re.findall(r"^(?:ACCEPTED|REFUSED)\((\w+)\)$", text, re.MULTILINE))


def exported(soname):
    """The functions of the library, with "@@version" where they have one."""
    told = subprocess.run(["nm", "-D", "--defined-only", LIBRARIES / soname], capture_output=True, text=True, check=True)
    return {line.split()[-1] for line in told.stdout.splitlines() if " T " in line}


class Symbols(unittest.TestCase):
    maxDiff = None

    def check(self, name, exported, version):
        self.assertLess({symbol + version for symbol in listed(name)}, exported)
        for symbol in exported:
            self.assertRegex(symbol, f"^{PREFIXES[name]}[A-Za-z0-9_]*{version}$")

    def test_versioned(self):
        for soname, name in VERSIONED.items():
            with self.subTest(soname):
                self.check(name, exported(soname), f"@@{soname}")

    def test_plain(self):
        for soname, name in PLAIN.items():
            with self.subTest(soname):
                self.check(name, exported(soname), "")

    def test_nvml(self):
        for symbol in exported("libnvidia-ml.so.1"):
            self.assertRegex(symbol, "^nvml[A-Z]")

    def test_sonames(self):
        for soname in [*VERSIONED, *PLAIN, "libnvidia-ml.so.1"]:
            told = subprocess.run(["readelf", "-d", LIBRARIES / soname], capture_output=True, text=True, check=True).stdout
            self.assertIn(f"soname: [{soname}]", told)

    def test_no_library_needs_a_cxx_library(self):
        for file in LIBRARIES.glob("*.so*"):
            told = subprocess.run(["readelf", "-d", file], capture_output=True, text=True, check=True).stdout
            self.assertNotIn("libstdc++", told, f"{file.name} would stand in front of torch's own")


if __name__ == "__main__":
    if not shutil.which("nm") or not shutil.which("readelf"):
        print("skipped: needs nm and readelf (package binutils)")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
