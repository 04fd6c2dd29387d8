# SPDX-License-Identifier: Apache-2.0
"""Steps of a small model under torch's own DataParallel or DistributedDataParallel.

    step_on_gpus.py dp|ddp MODEL DEVICES STEPS

Each step is marked in the log.
"""
import ctypes
import os
import socket
import sys

import torch
from torch import nn


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.LSTM(8, 16, num_layers=2, batch_first=True, bidirectional=True)

    def forward(self, batch):
        self.layers.flatten_parameters()
        return self.layers(batch)[0]


class Attention(nn.Module):
    """One layer in half precision, which torch gives to whichever library it takes for the fastest on the card."""

    def __init__(self):
        super().__init__()
        self.project = nn.Linear(32, 96).half()

    def forward(self, batch):
        query, key, value = self.project(batch.half()).unflatten(-1, (3, 2, 16)).permute(2, 0, 3, 1, 4)
        return nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)


def make(name, rank):
    """The model and the shape of one sample. Ranks of `differing` have other shapes."""
    if name == "convolutions":
        return nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 4, 3)), (3, 16, 16)
    if name == "recurrent":
        return Recurrent(), (5, 8)
    if name == "attention":
        return Attention(), (8, 32)
    width = 32 + rank if name == "differing" else 32
    return nn.Sequential(nn.Linear(16, width), nn.ReLU(), nn.Linear(width, 4)), (16,)


def train(module, batch, steps):
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
    mark = ctypes.CDLL(None).tandem_pretend_mark
    for _ in range(steps):
        mark(b"step")
        optimizer.zero_grad()
        module(batch.cuda()).sum().backward()
        optimizer.step()
        torch.cuda.synchronize()
        mark(b"end")


def run_dp(name, devices, steps):
    module, shape = make(name, 0)
    module = nn.DataParallel(module.cuda(), device_ids=list(range(devices)))
    train(module, torch.zeros(2 * devices, *shape), steps)
    print(f"{devices} devices, {steps} steps")


def run_rank(rank, name, ranks, steps, port):
    torch.set_num_threads(1)
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.cuda.set_device(rank)
    torch.distributed.init_process_group("nccl", rank=rank, world_size=ranks)
    module, shape = make(name, rank)
    train(nn.parallel.DistributedDataParallel(module.cuda(), device_ids=[rank]), torch.zeros(2, *shape), steps)
    torch.distributed.barrier()
    if rank == 0:
        print(f"{ranks} ranks, {steps} steps")
    torch.distributed.destroy_process_group()


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def main():
    strategy, name, devices, steps = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    if strategy == "dp":
        run_dp(name, devices, steps)
    else:
        torch.multiprocessing.spawn(run_rank, args=(name, devices, steps, free_port()), nprocs=devices)


if __name__ == "__main__":
    main()
    # A thread of autograd's that asks for the interpreter's lock while the interpreter ends brings the process down
    # ("terminate called without an active exception"), with GPUs as without: the steps are done, and nothing is left to end.
    sys.stdout.flush()
    os._exit(0)
