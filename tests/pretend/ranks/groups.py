# SPDX-License-Identifier: Apache-2.0
"""Ranks that disagree in groups, in messages between two, and in how far they get."""
import os
import tempfile
import time

import torch
import torch.distributed as dist
from program import batches, ddp, disagree, perceptron

SHORT = 3  # seconds of patience for a verdict that has to be a suspicion


@disagree("order")
def two_groups_in_crossed_order(job):
    """Each rank waits in the group that the other comes to next."""
    data, model = dist.new_group([0, 1]), dist.new_group([0, 1])
    x = torch.zeros(4, device=job.device)
    for group in (data, model):
        dist.all_reduce(x, group=group)
    for group in (data, model) if job.rank == 0 else (model, data):
        dist.all_reduce(x, group=group)  #: 0 all-reduce 4, 1 all-reduce 4
        print(x.sum().item())  #: 0 all-reduce 4, 1 all-reduce 4


@disagree("order")
def two_groups_crossed_on_the_device_alone(job):
    """The host calls all four; on each device the second one stands behind the first."""
    data, model = dist.new_group([0, 1]), dist.new_group([0, 1])
    x = torch.zeros(4, device=job.device)
    for group in (data, model):
        dist.all_reduce(x, group=group)
    torch.cuda.synchronize()
    for group in (data, model) if job.rank == 0 else (model, data):
        dist.all_reduce(x, group=group)  #: 0 all-reduce 4, 1 all-reduce 4
    torch.cuda.synchronize()  #: 0 all-reduce 4, 1 all-reduce 4


@disagree("order|waits")
def one_rank_forgets_the_group(job):
    """group=None is the whole world."""
    pair = dist.new_group([0, 1])
    loss = torch.zeros(1, device=job.device)
    dist.all_reduce(loss, group=pair)
    dist.all_reduce(loss)
    dist.all_reduce(loss, group=pair if job.rank == 0 else None)  #: 0 all-reduce 1, 1 all-reduce 1
    print(loss.item())  #: 0 all-reduce 1, 1 all-reduce 1


@disagree("order|waits", ranks=3)
def circle_of_pairs(job):
    """0 waits for 1, 1 for 2, and 2 for 0: three groups, each entered by one of its two ranks."""
    pairs = [dist.new_group([0, 1]), dist.new_group([1, 2]), dist.new_group([0, 2])]
    mine = [(0, 2), (1, 0), (2, 1)][job.rank]
    x = torch.zeros(2, device=job.device)
    for pair in sorted(mine):
        dist.all_reduce(x, group=pairs[pair])
    torch.cuda.synchronize()
    for pair in mine:
        dist.all_reduce(x, group=pairs[pair])  #: 0 all-reduce 2, 1 all-reduce 2, 2 all-reduce 2
        torch.cuda.synchronize()  #: 0 all-reduce 2, 1 all-reduce 2, 2 all-reduce 2


@disagree("suspected", patience=SHORT)
def groups_made_in_another_order(job):
    """A group's number is its place in the order: the two ranks look for each other in different groups."""
    members = [(0, 1), (0,)] if job.rank == 0 else [(0,), (0, 1)]
    groups = {ranks: dist.new_group(list(ranks)) for ranks in members}
    x = torch.zeros(4, device=job.device)
    dist.all_reduce(x, group=groups[0, 1])  #: 0 any, 1 any
    torch.cuda.synchronize()  #: 0 any, 1 any


@disagree("ended", ended={3: "exit status 0"}, ranks=4, culprits=(3,))
def pair_of_tensor_parallel_misses_a_layer(job):
    pairs = [dist.new_group([0, 1]), dist.new_group([2, 3])]
    x = torch.zeros(6, device=job.device)
    for layer in range(3):
        if job.rank == 3 and layer == 2:
            continue  # a cached activation
        dist.all_reduce(x, group=pairs[job.rank // 2])  #: 2 all-reduce 6
    torch.cuda.synchronize()  #: 2 all-reduce 6


@disagree("waits", is_eager=True)
def both_send_first(job):
    x, y = torch.zeros(2, 1 << 20, device=job.device)
    dist.send(x, dst=1 - job.rank)  #: 0 send, 1 send
    torch.cuda.synchronize()  #: 0 send, 1 send
    dist.recv(y, src=1 - job.rank)


@disagree("waits", ranks=3, is_eager=True)
def ring_where_all_receive_first(job):
    x = torch.zeros(8, device=job.device)
    dist.recv(x, src=(job.rank + 2) % 3)  #: 0 receive 8, 1 receive 8, 2 receive 8
    print(x.sum().item())  #: 0 receive 8, 1 receive 8, 2 receive 8
    dist.send(x, dst=(job.rank + 1) % 3)


@disagree("waits|differs", is_eager=True)
def stages_count_micro_batches_differently(job):
    """The first stage waits for a gradient after 2 micro-batches, the second one for a third micro-batch."""
    x = torch.zeros(16, device=job.device)
    if job.rank == 0:
        for _ in range(2):
            dist.send(x, dst=1)
        dist.recv(x, src=1)  #: 0 receive 16
    else:
        for _ in range(3):
            dist.recv(x, src=0)  #: 1 receive 16
            torch.cuda.synchronize()  #: 1 receive 16
        dist.send(x, dst=0)
    torch.cuda.synchronize()  #: 0 receive 16


@disagree("suspected", patience=SHORT)
def loader_is_stuck(job):
    model = ddp(perceptron(), job)
    for step, x in enumerate(batches(3)):
        while job.rank == 1 and step == 2:  # a server that does not answer
            time.sleep(0.05)  #: 1 any
        loss = model(x.to(job.device)).sum()
        loss.backward()  #: 0 all-reduce 676
        loss.item()  #: 0 all-reduce 676


@disagree("suspected", patience=SHORT)
def file_comes_after_the_barrier(job):
    """Rank 0 writes the vocabulary once all are there, and rank 1 comes once it is written."""
    dist.all_reduce(torch.zeros(2, device=job.device))
    path = os.path.join(tempfile.gettempdir(), f"vocabulary-{os.getppid()}")
    while job.rank == 1 and not os.path.exists(path):
        time.sleep(0.05)  #: 1 any
    dist.barrier()  #: 0 all-reduce 1
    if job.rank == 0:
        open(path, "w", encoding="utf-8").close()


@disagree("suspected", patience=SHORT)
def barrier_of_another_back_end(job):
    """gloo's calls are not seen: a rank in them is late."""
    on_host = dist.new_group(backend="gloo")
    dist.barrier()
    dist.barrier(group=on_host if job.rank == 1 else None)  #: 0 all-reduce 1, 1 any
