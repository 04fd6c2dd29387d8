#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every operation that a back end has stands in kernel_bench, in each precision of the host.

    kernel_rows_test.py KERNEL_BENCH KERNELS

KERNELS is the folder whose operations.h lists the operations.
"""
import pathlib
import re
import subprocess
import sys

KERNEL_BENCH, KERNELS = sys.argv[1], pathlib.Path(sys.argv[2])
# Rows of an operation that has several under names of their own.
OTHER_NAMES = {"convert": {"to_bf16", "to_fp16", "from_bf16", "from_fp16"}}


def operations():
    """The names in the list of operations, which rows have."""
    return re.findall(r"^  X\(\w+, (\w+)\)", (KERNELS / "operations.h").read_text(), re.MULTILINE)


def rows(precision):
    """Names without their arguments."""
    command = [KERNEL_BENCH, "--backend=host", f"--precision={precision}", "--benchmark_list_tests=true"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if precision != "fp32" and done.returncode == 2:
        return None  # a CPU that the library has no such kernels for
    assert done.returncode == 0, done.stderr
    return {re.match(r"\w+", line).group() for line in done.stdout.splitlines()}


found = operations()
assert len(found) >= 32 and "batch_norm_backward" in found, found
for precision in ("fp32", "bf16"):
    listed = rows(precision)
    if listed is None:
        continue
    wanted = {row for name in found for row in OTHER_NAMES.get(name, {name})} | {"adamw_update", "linear_forward_gelu", "linear_backward_input_gelu"}
    missing = wanted - listed
    assert not missing, f"kernel_bench in {precision} lacks {sorted(missing)}"
