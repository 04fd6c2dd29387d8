# SPDX-License-Identifier: Apache-2.0
"""Ranks that disagree in collectives which a script calls itself."""
import torch
import torch.distributed as dist
from program import disagree


@disagree("differs")
def average_is_skipped_on_one_rank(job):
    """The rank without samples goes on to the barrier."""
    loss = torch.ones(4, device=job.device)
    samples = [3, 0][job.rank]
    if samples > 0:
        dist.all_reduce(loss)  #: 0 all-reduce 4
    dist.barrier()  #: 1 all-reduce 1
    dist.destroy_process_group()


@disagree("ended", ended={1: "exit status 0"})
def one_average_more(job):
    loss = torch.ones(3, device=job.device)
    dist.all_reduce(loss)
    if job.rank == 0:
        dist.all_reduce(loss)  #: 0 all-reduce 3
        print("loss", loss.sum().item())  #: 0 all-reduce 3


@disagree("differs")
def last_batch_is_smaller(job):
    """drop_last was forgotten: predictions of the last batch are gathered in two sizes."""
    sizes = [[8, 8, 8], [8, 8, 5]][job.rank]
    for size in sizes:
        predictions = torch.zeros(size, 10, device=job.device)
        every = torch.empty(job.ranks * size, 10, device=job.device)
        dist.all_gather_into_tensor(every, predictions)  #: 0 all-gather 80, 1 all-gather 50
    dist.barrier()


@disagree("differs")
def metric_in_double_on_one_rank(job):
    total = torch.tensor([1.5, 2.5, 3.5])
    if job.rank == 1:
        total = total.double() / 3  # NumPy's type, from another code path
    total = total.to(job.device)
    dist.all_reduce(total)  #: 0 all-reduce 3, 1 all-reduce 3
    print(total.tolist())


@disagree("differs")
def best_by_sum_and_by_maximum(job):
    best = torch.zeros(2, device=job.device)
    settings = [{"reduction": dist.ReduceOp.SUM}, {"reduction": dist.ReduceOp.MAX}][job.rank]
    dist.all_reduce(best, op=settings["reduction"])  #: 0 all-reduce 2, 1 all-reduce 2
    dist.barrier()


@disagree("differs")
def everyone_broadcasts_its_own(job):
    """src is the sender, not this rank."""
    weights = torch.zeros(16, device=job.device)
    dist.broadcast(weights, src=job.rank)  #: 0 broadcast 16, 1 broadcast 16
    torch.cuda.synchronize()


@disagree("differs", ranks=3, culprits=(2,))
def reduced_to_another_rank(job):
    loss = torch.zeros(5, device=job.device)
    logger = 0 if job.rank < 2 else 2
    dist.reduce(loss, dst=logger)  #: 0 reduce 5, 1 reduce 5, 2 reduce 5
    torch.cuda.synchronize()


@disagree("ended", ended={1: "exit status 0"})
def loss_of_rank_0_meets_a_barrier(job):
    """A barrier is an all-reduce of one float too, so the first calls match."""
    loss = torch.zeros(1, device=job.device)
    dist.all_reduce(torch.zeros(7, device=job.device))
    if job.rank == 0:
        dist.all_reduce(loss)
    dist.barrier()  #: 0 all-reduce 1


@disagree("ended", ended={1: "exit status 0"})
def one_rank_has_nothing_to_do(job):
    """No communicator is made: the other rank waits for it in its first call."""
    files = ["shard-0"] if job.rank == 0 else []
    if not files:
        return
    counts = torch.zeros(4, device=job.device)
    dist.all_reduce(counts)  #: 0 any
    print(counts.tolist())  #: 0 any


@disagree("differs")
def lists_of_objects_differ_in_length(job):
    settings = [{"lr": 0.1}, {"seed": 3}] if job.rank == 0 else [None]
    dist.broadcast_object_list(settings, src=0)  #: 0 broadcast 2, 1 broadcast 1


@disagree("ended", ended={1: "exit status 0"})
def gathered_in_rank_0_alone(job):
    """gather_object is a call of all ranks, and not of the receiver alone."""
    dist.barrier()
    if job.rank == 0:
        results = [None] * job.ranks
        dist.gather_object({"accuracy": 0.5}, results, dst=0)  #: 0 all-gather 1
        print(results)


@disagree("differs")
def split_sizes_do_not_pair(job):
    """Rank 1 gets 3 rows where rank 0 sends 2: experts' counts were not exchanged."""
    sent, received = [([2, 2], [2, 1]), ([1, 3], [3, 3])][job.rank]
    rows = torch.zeros(sum(sent), 4, device=job.device)
    routed = torch.empty(sum(received), 4, device=job.device)
    dist.all_to_all_single(routed, rows, received, sent)  #: 0 send|receive|all-to-all, 1 send|receive|all-to-all
    torch.cuda.synchronize()


@disagree("ended", ended={0: "exit status 0"})
def checkpoint_lacks_a_head(job):
    """Rank 0 broadcasts what its file has; rank 1 has built one layer more."""
    layers = [torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)] + [torch.nn.Linear(4, 2)] * job.rank
    with torch.no_grad():
        for parameter in torch.nn.Sequential(*layers).to(job.device).parameters():
            dist.broadcast(parameter, src=0)  #: 1 broadcast 8
    torch.cuda.synchronize()  #: 1 broadcast 8
    print("loaded")


@disagree("differs")
def error_is_shared_by_one_rank(job):
    """The handler of an exception calls what the others do not."""
    try:
        if job.rank == 1:
            raise OSError("a broken record")
        dist.all_reduce(torch.zeros(6, device=job.device))  #: 0 all-reduce 6
    except OSError as error:
        seen = [None] * job.ranks
        dist.all_gather_object(seen, str(error))  #: 1 all-gather 1
    dist.barrier()
