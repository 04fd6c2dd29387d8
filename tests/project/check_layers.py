#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when an include runs against the arrows, a foreign header leaves its home, or code is
compiled by condition outside the registries.

    check_layers.py [ROOT]

Reads text, not what the compiler saw: a CUDA file is checked on a machine without CUDA too.
"""
import pathlib
import re
import sys

# What each folder may include besides itself; whatever those may include is allowed too.
ARROWS = {
    "common/base": [],
    "common/json": ["common/base"],
    "common/options": ["common/base"],
    "common/command_line": ["common/options"],
    "common/flight": ["common/base"],
    "common/runtime": ["common/base"],
    "common/tensor": ["common/runtime"],
    "common/kernels": ["common/tensor"],
    "common/model": ["common/kernels", "common/json", "common/options"],
    "common/optim": ["common/model"],
    "common/data": ["common/kernels"],
    "common/comm": ["common/runtime"],
    "common/timeline": ["common/json"],
    "common/trace": ["common/runtime", "common/timeline"],
    "common/parallel": ["common/options", "common/comm", "common/optim", "common/data", "common/trace"],
    "common/stats": ["common/base"],
    "common/results": ["common/stats", "common/json"],
    "simulate/catalogue": ["common/json"],
    "simulate/cost": ["simulate/catalogue", "common/comm", "common/kernels", "common/stats"],
    "simulate/engine": ["simulate/cost", "common/parallel"],
    "pretend": [],
    "reports": ["common/options", "common/results", "common/stats"],
    "tools": ["reports", "common/command_line", "common/flight", "common/timeline", "simulate/engine"],
}
COMMON = sorted(folder for folder in ARROWS if folder.startswith("common/"))
ARROWS["dp"] = COMMON
ARROWS["ddp"] = COMMON
ARROWS["bench"] = ["dp", "ddp", "simulate/engine"]
ARROWS["tests"] = ["bench", "tools", "pretend"]

# Where a foreign header may be included: paths, each the beginning of a file's path.
HOMES = [
    (r"(cuda|device_launch_parameters|cooperative_groups|math_constants|nvml)[\w/]*\.h(pp)?$|cuda/",
     ["common/runtime/cuda/", "common/kernels/cuda/", "common/comm/nccl/"]),
    (r"cu(blas|dnn)\w*\.h$", ["common/kernels/cuda/"]),
    (r"(oneapi/)?dnnl", ["common/kernels/host/"]),
    (r"omp\.h$", []),  # common/runtime/host/openmp_threads.h says why
    (r"nccl", ["common/comm/nccl"]),
    (r"mpi\.h$", ["common/comm/mpi", "bench/"]),
    (r"(nvtx3/|cupti)", ["common/trace/"]),
    (r"hwloc", ["common/runtime/host/"]),
    (r"benchmark/", ["bench/"]),
    (r"CLI/", ["common/command_line/", "bench/", "tools/"]),
    (r"nlohmann/", ["common/json/", "reports/"]),
    (r"g(test|mock)/", []),
]

# Conditions that say what the compiler does, not which back end there is; and where they may stand.
SANITIZERS = r"__SANITIZE_(THREAD|ADDRESS)__|__has_feature|thread_sanitizer|address_sanitizer"
COMPILER = r"__(x86_64|aarch64|SSE\w*|GNUC|clang)__"
CONDITIONS = [
    (SANITIZERS, ""),
    (COMPILER, "common/runtime/host/"),
    (COMPILER, "common/kernels/host/"),
    (COMPILER, "common/base/"),
    (r"\bNDEBUG\b", "common/results/"),
    (r"\bTANDEM_CUDA_MODULE\b", "tests/"),
    (r"__CUDA(CC|_ARCH)__|CUDART_VERSION", "common/runtime/cuda/"),
    (r"__CUDA(CC|_ARCH)__|CUDART_VERSION", "common/kernels/cuda/"),
    (r"NCCL_VERSION_CODE", "common/comm/nccl"),
    (r"DNNL_VERSION_MAJOR", "common/kernels/host/library_calls.h"),
]

SUFFIXES = {".h", ".cc", ".cu", ".cuh"}
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')
CONDITION = re.compile(r"^\s*#\s*(?:if|ifdef|ifndef|elif)\b(.*)")
CUDA_FOLDER = re.compile(r"/cuda/|^common/comm/nccl/")


def reach(folder):
    """The folder and all that lie along its arrows."""
    found, waiting = set(), [folder]
    while waiting:
        at = waiting.pop()
        if at not in found:
            found.add(at)
            waiting += ARROWS[at]
    return found


REACH = {folder: reach(folder) for folder in ARROWS}


def folder_of(path):
    """The folder of the arrows that a path of the project lies in, or None."""
    parts = path.split("/")
    name = "/".join(parts[:2]) if parts[0] in {"common", "simulate"} else parts[0]
    return name if name in ARROWS and len(parts) > len(name.split("/")) else None


def check_project_include(path, target):
    here, there = folder_of(path), folder_of(target)
    if there is None:
        return f'"{target}" is not a path from the top of the project'
    if there not in REACH[here]:
        return f"{here} may not include {there}: {target}"
    if CUDA_FOLDER.search(target) and not CUDA_FOLDER.search(path) and here != "tests":
        return f"the CUDA back end is loaded at run time, nothing outside it includes {target}"
    return None


def check_foreign_include(path, target):
    if path.startswith(("tests/", "pretend/tests/")):
        return None
    for pattern, homes in HOMES:
        if re.match(pattern, target) and not path.startswith(tuple(homes)):
            return f"<{target}> belongs to {', '.join(homes) or 'tests/'}"
    return None


def check_condition(path, condition):
    if "registry" in path.rsplit("/", 1)[-1]:
        return None
    if any(path.startswith(home) and re.search(text, condition) for text, home in CONDITIONS):
        return None
    return f"conditional compilation outside a registry: {condition.strip()}"


def is_own(target):
    return target.split("/")[0] in {"common", "dp", "ddp", "simulate", "bench", "pretend", "reports", "tools", "tests"}


def check_line(path, line):
    include = INCLUDE.match(line)
    if include:
        quoted, angled = include.groups()
        if quoted or is_own(angled):
            # A foreign header in quotes is a mistake too: it is no path of the project.
            return check_foreign_include(path, quoted or "") or check_project_include(
                path, quoted or angled)
        return check_foreign_include(path, angled)
    condition = CONDITION.match(line)
    return check_condition(path, condition.group(1)) if condition else None


def sources(root):
    tops = sorted({folder.split("/")[0] for folder in ARROWS})
    files = [file for top in tops for file in sorted((root / top).rglob("*"))]
    return [file for file in files if file.suffix in SUFFIXES and file.is_file()]


def check_tree(root):
    """All violations below root, as "path:line: what is wrong"."""
    found = []
    for file in sources(root):
        path = file.relative_to(root).as_posix()
        if folder_of(path) is None:
            found.append(f"{path}:1: lies in no folder of the arrows")
            continue
        for number, line in enumerate(file.read_text().splitlines(), start=1):
            wrong = check_line(path, line)
            if wrong:
                found.append(f"{path}:{number}: {wrong}")
    return found


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    if not sources(root):
        print(f"check_layers: no source files below {root}", file=sys.stderr)
        return 2
    found = check_tree(root)
    print("\n".join(found) if found else f"{len(sources(root))} files follow the arrows")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
