# SPDX-License-Identifier: Apache-2.0
"""Whether this torch multiplies matrices as fast as what users run. With a reference BLAS, as Debian's package has it
without libopenblas0, a step takes ten times as long, and its ratio to anything says nothing."""
import pathlib
import re
import time

import torch

SIZE = 384
SAMPLES = 8
SHAPE = 64, 2048  # a batch, and a layer's inputs and outputs: mlp-base's
# In GFLOP/s, fp32, on one core. The reference BLAS, whose loops are the compiler's, reaches 1 to 3; the libraries that are
# written for a core's vectors reach 15 on an old core without AVX, and 40 to 150 on today's.
LEAST = 6.0


def rate(multiply=torch.mm):
    """GFLOP/s of the fastest of some products, since others on the core only slow them."""
    a, b = torch.rand(SIZE, SIZE), torch.rand(SIZE, SIZE)
    took = []
    for _ in range(SAMPLES):
        start = time.perf_counter()
        multiply(a, b)
        took.append(time.perf_counter() - start)
    return 2 * SIZE**3 / min(took) / 1e9


def beside_best():
    """How fast linear layers multiply here, beside oneDNN, which this torch also holds: "95.1 GFLOP/s, 150.2 at best"; empty where
    it holds none. In turn, and the fastest of each counts, since others on the core only slow them."""
    rows, width = SHAPE
    x, weight = torch.rand(rows, width), torch.rand(width, width)
    took = [], []
    try:
        packed = x.to_mkldnn(), weight.to_mkldnn()
        for _ in range(1 + 3 * SAMPLES):
            for times, multiply, factors in zip(took, (torch.nn.functional.linear, torch._C._nn.mkldnn_linear), ((x, weight), packed)):
                start = time.perf_counter()
                multiply(*factors)
                times.append(time.perf_counter() - start)
    except (AttributeError, RuntimeError):
        return ""
    own, other = (2 * rows * width**2 / min(times) / 1e9 for times in took)
    return f"{own:.1f} GFLOP/s, {max(own, other):.1f} at best"


def library():
    """The BLAS that is loaded, as the system names its file; empty where torch holds its own."""
    try:
        maps = pathlib.Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    found = re.search(r"(/\S*/lib(?:open|c|sat)?blas\S*\.so\S*)$", maps, re.MULTILINE)
    return found[1] if found else ""


def refusal(multiply=torch.mm):
    """Why this torch is not to be measured; empty where it is fit."""
    torch.set_num_threads(1)
    found = rate(multiply)
    if found >= LEAST:
        return ""
    name = library()
    return (f"torch {torch.__version__} multiplies matrices with {found:.1f} GFLOP/s on a core{f' by {name}' if name else ''}, as a "
            "reference BLAS does: install libopenblas0 (Debian), or PyTorch's own wheel (pip install torch)")
