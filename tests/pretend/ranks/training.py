# SPDX-License-Identifier: Apache-2.0
"""Ranks that disagree in a loop of training: what DDP, FSDP2 and others call for them."""
import os
import signal
import sys

import torch
import torch.distributed as dist
from program import batches, ddp, disagree, perceptron
from torch import nn
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
from torch.distributed.fsdp import fully_shard


@disagree("ended", ended={1: "exit status 0"})
def loader_has_one_batch_fewer(job):
    model = ddp(perceptron(), job)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in batches(6 - job.rank):
        optimizer.zero_grad()
        loss = model(x.to(job.device)).sum()
        loss.backward()  #: 0 all-reduce 676
        optimizer.step()
    print("last loss", loss.item())  #: 0 all-reduce 676
    dist.destroy_process_group()  #: 0 all-reduce 676


@disagree("differs", ranks=3, culprits=(1,))
def early_stop_by_local_loss(job):
    model, stopped = ddp(perceptron(), job), False
    losses = [[3, 2, 1, 1, 1, 1], [3, 2, 2, 2, 2, 2], [3, 2, 1, 1, 1, 1]][job.rank]
    for step, x in enumerate(batches(6)):
        model(x.to(job.device)).sum().backward()  #: 0 all-reduce 676, 2 all-reduce 676
        stopped = step > 3 and losses[step] >= losses[1]
        if stopped:
            break
    dist.barrier()  #: 1 all-reduce 1


@disagree("ended", ended={1: "exit status 1"})
def no_more_data(job):
    model = ddp(perceptron(), job)
    for step, x in enumerate(batches(4)):
        if job.rank == 1 and step == 3:
            sys.exit("rank 1 has no more data")
        model(x.to(job.device)).sum().backward()  #: 0 all-reduce 676
    torch.cuda.synchronize()  #: 0 all-reduce 676


@disagree("ended", ended={2: "exit status 1"}, ranks=3, culprits=(2,))
def exception_in_the_loader(job):
    model, shards = ddp(perceptron(), job), ["a", "b"]
    for x in batches(3):
        model(x.to(job.device)).sum().backward()
    print(f"reading {shards[job.rank]}")
    dist.barrier()  #: 0 all-reduce 1, 1 all-reduce 1


@disagree("ended", ended={1: "signal 9"})
def killed_by_the_system(job):
    """As the kernel does to the rank that takes the last memory."""
    model = ddp(perceptron(), job)
    for step, x in enumerate(batches(4)):
        if job.rank == 1 and step == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        loss = model(x.to(job.device)).sum()
        loss.backward()  #: 0 all-reduce 676
        loss.item()  #: 0 all-reduce 676


@disagree("differs")
def batch_beyond_memory_is_skipped(job):
    model = ddp(perceptron(), job)
    try:
        torch.empty(8 if job.rank == 0 else 1 << 36, device=job.device)
        for x in batches(1):
            model(x.to(job.device)).sum().backward()  #: 0 all-reduce 676
    except torch.OutOfMemoryError:
        print("skipping a batch")
    dist.barrier()  #: 1 all-reduce 1


class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.one, self.other = nn.Linear(16, 8), nn.Linear(8, 4), nn.Linear(8, 4)

    def forward(self, x, task):
        return (self.one if task == 0 else self.other)(self.body(x)) + (self.other(self.body(x)) if task == 0 else 0)


@disagree("ended", ended={1: "exit status 1"})
def head_is_unused_on_one_rank(job):
    """Without find_unused_parameters torch raises at the next forward, on that rank alone."""
    model = ddp(TwoHeads(), job)
    for x in batches(3):
        model(x.to(job.device), task=job.rank).sum().backward()  #: 0 any
    torch.cuda.synchronize()  #: 0 any


@disagree("differs")
def evaluation_on_rank_0_synchronises_buffers(job):
    """A forward of DDP broadcasts the buffers of batch normalisation in eval() too."""
    model = ddp(nn.Sequential(nn.Linear(16, 8), nn.BatchNorm1d(8)), job)
    for x in batches(2):
        model(x.to(job.device)).sum().backward()
    if job.rank == 0:
        model.eval()
        with torch.no_grad():
            model(torch.zeros(4, 16, device=job.device))  #: 0 broadcast
    dist.barrier()  #: 1 all-reduce 1


@disagree("differs")
def gradients_are_halved_on_one_rank(job):
    model = ddp(perceptron(), job)
    if job.rank == 1:
        model.register_comm_hook(None, default_hooks.bf16_compress_hook)
    for x in batches(2):
        model(x.to(job.device)).sum().backward()  #: 0 all-reduce 676, 1 all-reduce 676
    torch.cuda.synchronize()


@disagree("differs")
def shards_of_two_widths(job):
    model = perceptron(32 + 2 * job.rank).to(job.device)
    fully_shard(model)
    for x in batches(1):
        model(x.to(job.device)).sum().backward()  #: 0 all-gather, 1 all-gather
    torch.cuda.synchronize()


@disagree("differs")
def backward_is_skipped_under_fsdp(job):
    model = perceptron().to(job.device)
    for layer in model:
        fully_shard(layer)
    fully_shard(model)
    for step, x in enumerate(batches(3)):
        loss = model(x.to(job.device)).sum()  #: 1 all-gather
        if job.rank == 1 and step == 1:
            continue
        loss.backward()  #: 0 reduce-scatter|all-gather
    torch.cuda.synchronize()
