#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times training steps of PyTorch in eager mode, on the model that step_bench calls by the same name.

    eager_step.py --model=NAME --batch=N --precision=fp32|tf32|bf16 --device=cuda|cpu [--min-seconds=S]

A step is what `single` does with --input=device: forward, the model's loss, backward, SGD with momentum as torch
has it by default (fused over parameters by foreach on a GPU). bf16 is torch.autocast with fp32 parameters, tf32
torch's switch for matrix products; a GPU's convolutions in fp32 are tf32, as torch has them by default. On the CPU denormal numbers are flushed, as step_bench's threads do. Models of
images run on a CPU in both layouts of memory that users choose from, of which the faster one counts and is named, on a
GPU with their channels first, as step_bench's do.
Prints one JSON object: seconds by the host's clock and, on a GPU, by CUDA's events, per step; the layout, where there
are several, and each one's median; parameters; versions. Needs torch.
"""
import argparse
import json
import pathlib
import statistics
import sys
import time

WARM_UP = 10  # steps
WARM_UP_SECONDS = 5  # enough, if it comes earlier: large models on a CPU
MIN_SAMPLES = 10


def make_step(torch, models, options, layout):
    torch.manual_seed(1)
    torch.backends.cuda.matmul.allow_tf32 = options.precision == "tf32"
    workload = models.build(options.model, layout)
    module = workload.module.to(options.device)
    optimizer = torch.optim.SGD(module.parameters(), lr=0.01, momentum=0.9)
    inputs = models.draw(workload.input, options.batch, options.device)
    targets = models.draw(workload.target, options.batch, options.device)

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(options.device, dtype=torch.bfloat16, enabled=options.precision == "bf16"):
            outputs = module(inputs)
        workload.loss(outputs.float(), targets).backward()
        optimizer.step()

    return step, sum(parameter.numel() for parameter in module.parameters())


def sample(torch, step, options):
    """Seconds of one step by the host's clock, and by the GPU's."""
    events = [torch.cuda.Event(enable_timing=True) for _ in range(2)] if options.device == "cuda" else []
    if events:
        torch.cuda.synchronize()
    start = time.perf_counter()
    if events:
        events[0].record()
    step()
    if events:
        events[1].record()
        torch.cuda.synchronize()
    host = time.perf_counter() - start
    return host, events[0].elapsed_time(events[1]) / 1e3 if events else None


def measure(torch, models, options, layout):
    step, parameters = make_step(torch, models, options, layout)
    warm_until = time.perf_counter() + WARM_UP_SECONDS
    for done in range(WARM_UP):
        if done >= 2 and time.perf_counter() > warm_until:
            break
        sample(torch, step, options)
    samples = []
    until = time.perf_counter() + options.min_seconds
    while len(samples) < MIN_SAMPLES or time.perf_counter() < until:
        samples.append(sample(torch, step, options))
    return {
        "seconds": [host for host, _ in samples],
        "device_seconds": [gpu for _, gpu in samples if gpu is not None],
        "parameters": parameters,
    }


def measure_layouts(torch, options):
    """Of the layout whose median step is the fastest."""
    sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tools" / "torch"))
    import models  # needs torch

    found = {layout: measure(torch, models, options, layout) for layout in models.layouts(options.model, options.device)}
    medians = {layout: statistics.median(figures["seconds"]) for layout, figures in found.items()}
    fastest = min(medians, key=medians.get)
    return found[fastest] | {
        "layout": fastest,
        "median_seconds_by_layout": medians,
        "torch": torch.__version__,
        "device": torch.cuda.get_device_name() if options.device == "cuda" else "cpu",
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--batch", type=int, required=True)
    parser.add_argument("--precision", choices=["fp32", "tf32", "bf16"], default="fp32")
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--min-seconds", type=float, default=0.5)
    options = parser.parse_args()
    import torch  # here, so that --help needs none

    if options.device == "cpu":
        torch.set_num_threads(1)  # a host device is a core
        torch.set_flush_denormal(True)
    print(json.dumps(measure_layouts(torch, options)))


if __name__ == "__main__":
    main()
