#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""clang-format would change nothing. Exit code 77 (skipped) without clang-format 14, Debian 12's:
other versions lay out the same style differently."""
import pathlib
import re
import shutil
import subprocess
import sys

VERSION = 14
TOPS = ["common", "dp", "ddp", "simulate", "bench", "reports", "tools", "tests"]
SUFFIXES = {".h", ".cc", ".cu", ".cuh"}


def find_clang_format():
    for name in (f"clang-format-{VERSION}", "clang-format"):
        path = shutil.which(name)
        if path:
            text = subprocess.run([path, "--version"], capture_output=True, text=True).stdout
            if re.search(rf"version {VERSION}\.", text):
                return path
    return None


def main():
    clang_format = find_clang_format()
    if not clang_format:
        print(f"skipped: no clang-format {VERSION} here")
        return 77
    files = [str(file) for top in TOPS for file in sorted(pathlib.Path(top).rglob("*"))
             if file.suffix in SUFFIXES]
    result = subprocess.run([clang_format, "--dry-run", "-Werror", *files], capture_output=True, text=True)
    changed = sorted(set(re.findall(r"^(\S+?):\d+:\d+: error", result.stderr, re.MULTILINE)))
    if changed:
        print(f"clang-format would change these; run: {clang_format} -i " + " ".join(changed))
    return 1 if result.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
