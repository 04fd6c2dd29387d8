# SPDX-License-Identifier: Apache-2.0
"""What torch's profiler says of a step's operations on one device; started by pretended_against_cpu.

    pretended_operations.py DEVICE

The module is a stack of linear layers of one number with ReLUs and norms, whose kernels have next to nothing to do, so that
on a CPU too an operation's time is the host's. Prints a line of JSON: by operation how often a step has it, and its own time
in us, without the operations that it calls.
"""
import json
import sys

import torch
from torch import nn, profiler

LAYERS, STEPS, WARMUP = 32, 40, 10


def main():
    torch.set_num_threads(1)
    device = sys.argv[1]
    layers = [part for _ in range(LAYERS) for part in (nn.Linear(1, 1), nn.LayerNorm(1), nn.ReLU())]
    module, inputs = nn.Sequential(*layers).to(device), torch.ones(1, 1, device=device)

    def step():
        module.zero_grad()
        module(inputs).sum().backward()
    for _ in range(WARMUP):
        step()
    with profiler.profile(activities=[profiler.ProfilerActivity.CPU]) as recorded:
        for _ in range(STEPS):
            step()
    found = {event.key: (event.count / STEPS, event.self_cpu_time_total / event.count)
             for event in recorded.key_averages() if event.key.startswith("aten::")}
    print(json.dumps(found))


main()
