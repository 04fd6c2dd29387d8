#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every source and script names its licence, every header guards itself, no file grows past 600 lines, and kernels are
launched in one way."""
import pathlib
import re
import sys

TOPS = ["common", "dp", "ddp", "bench", "reports", "tools", "tests", ".ci"]
SOURCES = {".h", ".cc", ".cu", ".cuh", ".py", ".sh"}
HEADERS = {".h", ".cuh"}
LICENCE = "SPDX-License-Identifier: Apache-2.0"
MAX_LINES = 600
DEVICE_CODE = {".cu", ".cuh"}
LAUNCHER = "launch.cuh"  # knows every kernel that goes through it


def is_source(file):
    if not file.is_file() or "__pycache__" in file.parts:
        return False
    return file.suffix in SOURCES or (not file.suffix and file.read_bytes()[:2] == b"#!")


def faults(file):
    lines = file.read_text().splitlines()
    if LICENCE not in "\n".join(lines[:2]):
        yield "no SPDX line at the top"
    if file.suffix in HEADERS and "#pragma once" not in lines:
        yield "no #pragma once"
    if len(lines) > MAX_LINES:
        yield f"{len(lines)} lines, {MAX_LINES} at most"
    if file.suffix in DEVICE_CODE and file.name != LAUNCHER and any(re.search("<<<|cudaLaunchKernel", line) for line in lines):
        yield f"a kernel that {LAUNCHER} does not launch: it would not be loaded before"
    if any(re.match(r"\s*(//|#)\s*TODO\b", line) for line in lines):
        yield "a TODO: what is not done is said in the README's status table"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    files = [file for top in TOPS for file in sorted((root / top).rglob("*")) if is_source(file)]
    found = [f"{file.relative_to(root)}: {fault}" for file in files for fault in faults(file)]
    print("\n".join(found) if found else f"{len(files)} files are in order")
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main())
