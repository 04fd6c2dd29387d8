# SPDX-License-Identifier: Apache-2.0
"""Host times of torch.nn.DataParallel's step on torchvision's models, on pretended GPUs; started by dataparallel_published.

    dataparallel_host_times.py PRECISION MOST_DEVICES MODEL...

A step is that of the published table: zero_grad, forward of 12 images a device, cross-entropy on GPU 0, backward; no
optimizer; on one device the bare module. Device counts take turns, so that a drift of the machine meets all alike. Prints a
line of JSON per model: by device count the median wall time of a step and the mean CPU time of the process, in ms.
"""
import json
import statistics
import sys
import time

import torch
import torchvision

BATCH, ROUNDS, STEPS, WARMUP = 12, 4, 4, 3


class Step:
    def __init__(self, network, devices, precision):
        self.module = network if devices == 1 else torch.nn.DataParallel(network, device_ids=list(range(devices)))
        self.images = torch.empty(BATCH * devices, 3, 224, 224, device="cuda:0", dtype=precision)
        self.labels = torch.zeros(BATCH * devices, dtype=torch.long, device="cuda:0")
        self.loss = torch.nn.CrossEntropyLoss()
        self.wall, self.cpu = [], []

    def take(self):
        self.module.zero_grad()
        self.loss(self.module(self.images), self.labels).backward()
        torch.cuda.synchronize()

    def measure(self):
        for _ in range(STEPS):
            wall, cpu = time.perf_counter(), time.process_time()
            self.take()
            self.wall.append(time.perf_counter() - wall)
            self.cpu.append(time.process_time() - cpu)


def times_of(name, most, precision):
    with torch.device("cuda:0"):
        network = getattr(torchvision.models, name)().to(precision)
    steps = [Step(network, devices, precision) for devices in range(1, most + 1)]
    for step in steps:
        for _ in range(WARMUP):
            step.take()
    for number in range(ROUNDS):
        for place in range(most):
            steps[(number + place) % most].measure()
    return {"wall": [1e3 * statistics.median(step.wall) for step in steps],
            "cpu": [1e3 * statistics.fmean(step.cpu) for step in steps]}


def main():
    precision, most, names = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    torch.backends.cudnn.benchmark = True
    for name in names:
        print(json.dumps({"model": name, **times_of(name, most, {"float": torch.float32, "half": torch.float16}[precision])}),
              flush=True)


main()
