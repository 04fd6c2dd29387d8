# SPDX-License-Identifier: Apache-2.0
"""Programs that are right, or that end by an error of their own with no rank left waiting: none of them may be reported.

A rank that is late for longer than the patience is suspected, whatever it does: where one is late, its patience covers it.
"""
import contextlib
import os
import subprocess
import sys
import tempfile
import time

import torch
import torch.distributed as dist
from program import batches, ddp, perceptron, right
from torch import nn
from torch.distributed.fsdp import fully_shard
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

LATE = float(os.environ.get("TANDEM_LATE_SECONDS", "2"))  # of a slow rank; a minute where there is time for it


@right(ranks=4)
def training_as_usual(job):
    model = ddp(perceptron(), job)
    optimizer = torch.optim.AdamW(model.parameters())
    for x in batches(4):
        optimizer.zero_grad()
        loss = model(x.to(job.device)).sum()
        loss.backward()
        optimizer.step()
        dist.all_reduce(loss.detach(), op=dist.ReduceOp.AVG)
    dist.destroy_process_group()


@right(patience=1.5 * LATE + 1)
def loader_of_one_rank_is_slow(job):
    model = ddp(perceptron(), job)
    for step, x in enumerate(batches(3)):
        if job.rank == 1 and step == 1:
            time.sleep(LATE)
        model(x.to(job.device)).sum().backward()
        torch.cuda.synchronize()


@right(patience=1.5 * LATE + 1)
def checkpoint_of_rank_0(job):
    """The others wait in the barrier."""
    model = ddp(perceptron(), job)
    for x in batches(2):
        model(x.to(job.device)).sum().backward()
    if job.rank == 0:
        with tempfile.TemporaryDirectory() as folder:
            torch.save(model.state_dict(), os.path.join(folder, "last.pt"))
            time.sleep(LATE)
    dist.barrier()
    dist.destroy_process_group()


@right()
def uneven_batches_joined(job):
    model = ddp(perceptron(), job)
    with model.join():
        for x in batches(5 + job.rank):
            model(x.to(job.device)).sum().backward()
    dist.destroy_process_group()


@right()
def gradients_accumulated(job):
    model = ddp(perceptron(), job)
    for step, x in enumerate(batches(6)):
        with contextlib.nullcontext() if step % 3 == 2 else model.no_sync():
            model(x.to(job.device)).sum().backward()
    torch.cuda.synchronize()


@right(ranks=4, is_eager=True)
def rows_and_columns_of_four(job):
    """Tensor parallel in rows, data parallel in columns; the groups that a rank is not of are made by it too."""
    rows, columns = [dist.new_group([0, 1]), dist.new_group([2, 3])], [dist.new_group([0, 2]), dist.new_group([1, 3])]
    x = torch.zeros(8, device=job.device)
    for _ in range(3):
        dist.all_reduce(x, group=rows[job.rank // 2])
        dist.all_reduce(x, group=columns[job.rank % 2])
        x.sum().item()
    dist.barrier()
    dist.destroy_process_group()


@right()
def barriers_with_a_device(job):
    for _ in range(3):
        dist.barrier(device_ids=[job.rank])
    dist.barrier(async_op=True).wait()


@right()
def objects_of_all_kinds(job):
    every, chosen = [None] * job.ranks, [{"seed": job.rank}, "words"]
    dist.all_gather_object(every, {"rank": job.rank, "text": "x" * (10 + 100 * job.rank)})
    dist.broadcast_object_list(chosen, src=0)
    results = [None] * job.ranks if job.rank == 0 else None
    dist.gather_object((job.rank, 0.5), results, dst=0)
    assert [one["rank"] for one in every] == [0, 1] and chosen[0] == {"seed": 0}, (every, chosen)
    assert job.rank or results == [(0, 0.5), (1, 0.5)], results


@right()
def batch_norm_of_all_ranks(job):
    model = ddp(nn.SyncBatchNorm.convert_sync_batchnorm(nn.Sequential(nn.Linear(16, 8), nn.BatchNorm1d(8))), job)
    for x in batches(3):
        model(x.to(job.device)).sum().backward()
    torch.cuda.synchronize()


@right(ranks=3)
def ring_of_pairs_in_one_batch(job):
    x, y = torch.zeros(2, 1000, device=job.device)
    for _ in range(3):
        for work in dist.batch_isend_irecv([dist.P2POp(dist.isend, x, (job.rank + 1) % 3), dist.P2POp(dist.irecv, y, (job.rank + 2) % 3)]):
            work.wait()
        x, y = y, x
    torch.cuda.synchronize()


@right(ranks=4)
def pipeline_of_four(job):
    """Activations go down one by one, a gradient comes back."""
    x = torch.zeros(16, device=job.device)
    for _ in range(3):
        if job.rank > 0:
            dist.recv(x, src=job.rank - 1)
        if job.rank < 3:
            dist.send(x, dst=job.rank + 1)
    if job.rank < 3:
        dist.recv(x, src=job.rank + 1)
    if job.rank > 0:
        dist.send(x, dst=job.rank - 1)
    torch.cuda.synchronize()


@right()
def handles_waited_in_another_order(job):
    parts = [torch.zeros(8 * (number + 1), device=job.device) for number in range(4)]
    works = [dist.all_reduce(part, async_op=True) for part in parts]
    for work in works if job.rank == 0 else reversed(works):
        work.wait()
    torch.cuda.synchronize()


@right(ranks=3)
def ranks_end_one_after_the_other(job):
    dist.all_reduce(torch.zeros(4, device=job.device))
    torch.cuda.synchronize()
    time.sleep(0.4 * job.rank)  # rank 2 exports the model


@right(ranks=3, is_eager=True)
def groups_left_in_odd_order(job):
    pair, world = dist.new_group([0, 1]), dist.new_group([0, 1, 2])
    x = torch.zeros(4, device=job.device)
    dist.all_reduce(x, group=world)
    if job.rank < 2:
        dist.all_reduce(x, group=pair)
    torch.cuda.synchronize()
    if job.rank == 0:
        dist.destroy_process_group(pair)
    elif job.rank == 1:
        dist.destroy_process_group(world)
    if job.rank < 2:
        dist.destroy_process_group()


class ByTask(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.heads = nn.Linear(16, 8), nn.ModuleList([nn.Linear(8, 4), nn.Linear(8, 4)])

    def forward(self, x, task):
        return self.heads[task](self.body(x))


@right()
def each_rank_its_head(job):
    """With find_unused_parameters every rank reduces what it has not used as well."""
    model = ddp(ByTask(), job, find_unused_parameters=True)
    for x in batches(3):
        model(x.to(job.device), task=job.rank).sum().backward()
    torch.cuda.synchronize()


@right()
def shards_of_fsdp(job):
    model = perceptron().to(job.device)
    for layer in (model[0], model[2]):
        fully_shard(layer)
    fully_shard(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in batches(3):
        model(x.to(job.device)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    print(model[0].weight.full_tensor().shape)
    dist.destroy_process_group()


@right()
def gathered_in_sizes_that_all_know(job):
    """torch makes a group of broadcasts of it, and of the exchange a group of messages."""
    every = [torch.empty(3, device=job.device), torch.empty(5, device=job.device)]
    dist.all_gather(every, torch.zeros(3 + 2 * job.rank, device=job.device))
    sent, received = [([1, 2], [1, 4]), ([4, 3], [2, 3])][job.rank]
    dist.all_to_all_single(torch.empty(sum(received), device=job.device), torch.zeros(sum(sent), device=job.device), received, sent)
    torch.cuda.synchronize()


@right()
def stop_that_all_know_of(job):
    """Rank 0 decides, and broadcasts its decision."""
    model, step = ddp(perceptron(), job), 0
    for step, x in enumerate(batches(9)):
        model(x.to(job.device)).sum().backward()
        stop = torch.tensor([int(job.rank == 0 and step == 4)]).to(job.device)
        dist.broadcast(stop, src=0)
        if stop.item():
            break
    assert step == 4, step
    dist.barrier()


@right(ranks=2)
def workers_and_helpers_end(job):
    """Processes that are no ranks: the workers of a loader, and a program that one rank starts."""
    data = TensorDataset(torch.randn(64, 16))
    loader = DataLoader(data, batch_size=8, num_workers=2, sampler=DistributedSampler(data, job.ranks, job.rank))
    model = ddp(perceptron(), job)
    for (x,) in loader:
        model(x.to(job.device)).sum().backward()
    if job.rank == 0:
        subprocess.run([sys.executable, "-c", "raise SystemExit(3)"], check=False)
    dist.barrier()


@right(status=1)
def error_after_the_last_call(job):
    """Nobody waits for the rank that fails."""
    dist.all_reduce(torch.zeros(4, device=job.device))
    torch.cuda.synchronize()
    if job.rank == 1:
        raise OSError("no space left for the model")


@right(status=1)
def parameters_that_torch_counts(job):
    """DDP compares the counts on all ranks, and every one raises."""
    ddp(nn.Linear(16, 4, bias=job.rank == 0), job)


@right(status=1)
def mismatch_that_torch_detects(job):
    """With TORCH_DISTRIBUTED_DEBUG=DETAIL torch compares the calls over gloo first, and every rank raises."""
    dist.set_debug_level(dist.DebugLevel.DETAIL)
    dist.all_reduce(torch.zeros(4 + job.rank, device=job.device), group=dist.new_group())
