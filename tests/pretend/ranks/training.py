# SPDX-License-Identifier: Apache-2.0
"""Ranks that disagree in a loop of training: what DDP, FSDP2 and others call for them."""
import contextlib
import os
import signal
import sys

import torch
import torch.distributed as dist
from program import batches, ddp, disagree, perceptron
from torch import nn
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
from torch.distributed.fsdp import fully_shard
from torch.distributed.optim import ZeroRedundancyOptimizer


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


@disagree("ended", ended={1: "exit status 0"})
def steps_of_two_epochs_meet(job):
    """The shorter rank begins its second epoch in the other's first: sizes match, and the last step has no partner."""
    model = ddp(perceptron(), job)
    for _ in range(2):
        for x in batches(4 if job.rank == 0 else 3):
            loss = model(x.to(job.device)).sum()
            loss.backward()  #: 0 all-reduce 676
            print(loss.item())  #: 0 all-reduce 676


@disagree("differs")
def validation_comes_a_step_early(job):
    model, correct = ddp(perceptron(), job), torch.zeros(2, device=job.device)
    for x in batches(5 if job.rank == 0 else 4):
        model(x.to(job.device)).sum().backward()  #: 0 all-reduce 676
    dist.all_reduce(correct)  #: 1 all-reduce 2
    print("accuracy", correct.tolist())


@disagree("ended", ended={1: "exit status 0"})
def broken_batch_is_skipped(job):
    model = ddp(perceptron(), job)
    for step, x in enumerate(batches(5)):
        if step == 3 and job.rank == 1:
            x[0, 0] = float("nan")
        if not x.isfinite().all():
            continue
        model(x.to(job.device)).sum().backward()  #: 0 all-reduce 676
    torch.cuda.synchronize()  #: 0 all-reduce 676


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


@disagree("ended", ended={1: "exit status 1"})
def out_of_memory_on_one_rank(job):
    model = ddp(perceptron(), job)
    size = 128 if job.rank == 0 else 1 << 36
    activations = torch.empty(size, device=job.device)
    model(activations[:128].view(8, 16)).sum().backward()  #: 0 all-reduce 676
    torch.cuda.synchronize()  #: 0 all-reduce 676


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
def buckets_of_two_sizes(job):
    """With find_unused_parameters DDP keeps the buckets that each rank has made."""
    model = nn.Sequential(nn.Linear(16, 256), nn.Linear(256, 256), nn.Linear(256, 4))
    model = ddp(model, job, bucket_cap_mb=[25, 0.01][job.rank], find_unused_parameters=True)
    for x in batches(2):
        model(x.to(job.device)).sum().backward()  #: 0 all-reduce, 1 all-reduce
    torch.cuda.synchronize()


@disagree("ended", ended={1: "exit status 0"})
def one_rank_accumulates(job):
    """Rank 1 reduces after each second batch, rank 0 after each."""
    model = ddp(perceptron(), job)
    for step, x in enumerate(batches(4)):
        keeps = job.rank == 1 and step % 2 == 0
        with model.no_sync() if keeps else contextlib.nullcontext():
            model(x.to(job.device)).sum().backward()  #: 0 any
    torch.cuda.synchronize()  #: 0 any


@disagree("differs")
def gradients_are_clipped_on_one_rank(job):
    model, largest = ddp(perceptron(), job), [0.5, 2.0][job.rank]
    for x in batches(3):
        model(x.to(job.device)).sum().backward()  #: 0 all-reduce|broadcast
        if largest > 1:
            norms = torch.stack([parameter.grad.norm() for parameter in model.parameters()])
            dist.all_reduce(norms)  #: 1 all-reduce 4
    torch.cuda.synchronize()


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
def metrics_of_rank_0_are_collective(job):
    model = ddp(perceptron(), job)
    for step, x in enumerate(batches(4)):
        model(x.to(job.device)).sum().backward()  #: 1 all-reduce 676
        if job.rank == 0 and step == 2:
            predictions = model.module(torch.zeros(4, 16, device=job.device))
            every = [torch.empty_like(predictions) for _ in range(job.ranks)]
            dist.all_gather(every, predictions)  #: 0 all-gather 16
    torch.cuda.synchronize()


@disagree("differs")
def batch_norm_is_converted_on_one_rank(job):
    model = nn.Sequential(nn.Linear(16, 8), nn.BatchNorm1d(8))
    if job.rank == 0:
        model = nn.SyncBatchNorm.convert_sync_batchnorm(model)
    model = ddp(model, job, broadcast_buffers=False)
    for x in batches(2):
        loss = model(x.to(job.device)).sum()  #: 0 all-gather
        loss.backward()  #: 1 all-reduce
    torch.cuda.synchronize()


@disagree("differs")
def gradients_are_halved_on_one_rank(job):
    model = ddp(perceptron(), job)
    if job.rank == 1:
        model.register_comm_hook(None, default_hooks.bf16_compress_hook)
    for x in batches(2):
        model(x.to(job.device)).sum().backward()  #: 0 all-reduce 676, 1 all-reduce 676
    torch.cuda.synchronize()


@disagree("ended", ended={1: "exit status 1"})
def one_rank_is_wider(job):
    """DDP compares shapes with rank 0's: the others raise, rank 0 goes on."""
    model = ddp(perceptron(32 + job.rank), job)  #: 0 any
    for x in batches(2):
        model(x.to(job.device)).sum().backward()  #: 0 any
    torch.cuda.synchronize()  #: 0 any


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


@disagree("differs")
def whole_tensor_for_rank_0(job):
    """full_tensor() gathers from all ranks."""
    model = nn.Linear(16, 4, bias=False).to(job.device)
    fully_shard(model)
    for x in batches(2):
        model(x.to(job.device)).sum().backward()
    if job.rank == 0:
        print(model.weight.full_tensor().shape)  #: 0 all-gather 32
    dist.barrier()  #: 1 all-reduce 1


@disagree("differs")
def optimizer_is_consolidated_on_rank_0(job):
    model = ddp(perceptron(), job)
    optimizer = ZeroRedundancyOptimizer(model.parameters(), optimizer_class=torch.optim.SGD, lr=0.1)
    for x in batches(1):
        model(x.to(job.device)).sum().backward()
        optimizer.step()
    if job.rank == 0:
        optimizer.consolidate_state_dict(to=0)  #: 0 broadcast
    dist.barrier()  #: 1 all-reduce 1
