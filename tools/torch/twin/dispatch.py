# SPDX-License-Identifier: Apache-2.0
"""What a call of PyTorch costs that Python dispatches, on this machine."""
import statistics
import time

import torch
from torch import nn

LAYERS = 64
REPEATS = 201


def cost():
    """Seconds per call of a forward whose kernels have next to nothing to do: 1 x 1 linear layers and their ReLUs, two calls
    a layer as common/model charges them, in training mode. From one call to the next as a user's module has it: the
    modules' own Python, the dispatcher, autograd's node and a kernel on one number. The median, for noise only slows."""
    torch.set_num_threads(1)
    module = nn.Sequential(*(part for _ in range(LAYERS) for part in (nn.Linear(1, 1), nn.ReLU())))
    inputs = torch.ones(1, 1)
    took = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        module(inputs)
        took.append(time.perf_counter() - start)
    return statistics.median(took) / (2 * LAYERS)
