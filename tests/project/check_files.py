#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every source and script names its licence, every header guards itself, files and functions are short, and kernels are
launched in one way."""
import pathlib
import re
import sys

PRODUCT = ["common", "dp", "ddp", "simulate", "bench", "pretend", "reports", "tools"]
TOPS = [*PRODUCT, "research", "tests", ".ci"]
CPP = {".h", ".cc", ".cu", ".cuh"}
SOURCES = CPP | {".py", ".sh"}
HEADERS = {".h", ".cuh"}
LICENCE = "SPDX-License-Identifier: Apache-2.0"
MAX_LINES = 500
MAX_FUNCTION_LINES = 60
DEVICE_CODE = {".cu", ".cuh"}
LAUNCHER = "launch.cuh"  # knows every kernel that goes through it


def is_source(file):
    if not file.is_file() or "__pycache__" in file.parts:
        return False
    return file.suffix in SOURCES or file.name == "CMakeLists.txt" or (not file.suffix and file.read_bytes()[:2] == b"#!")


def without_raw_strings(text):
    """The text, with the lines of raw strings left empty."""
    return re.sub(r'R"(\w*)\(.*?\)\1"', lambda raw: "R" + "\n" * raw.group().count("\n"), text, flags=re.DOTALL)


def head_of(lines, last):
    """(first line, text) of the statement that opens a brace at the end of line `last`."""
    first = last
    while first and lines[first - 1] and not re.search(r"[;{}]$|^ *(//|#|public:|private:|protected:)", lines[first - 1]):
        first -= 1
    return first, " ".join(line.strip() for line in lines[first:last + 1])


NO_FUNCTION = re.compile(r"(template *<.*> *)?(namespace|class|struct|enum|union|if|for|while|switch|do|else|try|catch|return|case|})\b")


def functions(text):
    """(line, name and arguments, lines of the body) of each function of formatted C++: its signature ends with a brace,
    and the next line that is indented no further is the closing one alone."""
    lines = without_raw_strings(text).splitlines()
    for last, line in enumerate(lines):
        if not line.endswith("{"):
            continue
        first, head = head_of(lines, last)
        if "(" not in head or NO_FUNCTION.match(head):
            continue
        indent = len(lines[first]) - len(lines[first].lstrip())
        for end in range(last + 1, len(lines)):
            if lines[end] and not lines[end].startswith(("#", ")", " " * (indent + 1))):
                if lines[end] == " " * indent + "}":
                    yield last + 1, head.rstrip(" {"), end - last - 1
                break


def cpp_faults(text):
    for line, head, length in functions(text):
        if length > MAX_FUNCTION_LINES:
            yield f"line {line}: {length} lines of a function, {MAX_FUNCTION_LINES} at most: {head}"


def faults(file):
    if file.name == "CMakeLists.txt":
        lines = file.read_text().splitlines()
        if len(lines) > MAX_LINES:
            yield f"{len(lines)} lines, {MAX_LINES} at most"
        return
    text = file.read_text()
    lines = text.splitlines()
    if file.suffix in CPP:
        yield from cpp_faults(text)
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
