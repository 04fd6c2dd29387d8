# SPDX-License-Identifier: Apache-2.0
"""What a program of ranks is, and the verdict of `tandem pretend --check` that it must get.

A program is a function of Job, decorated with `disagree` or `right`. Its verdict stands in the decorator, and at the lines that a
report may name a comment says whose call it is about: `#: 0 all-reduce 676, 1 broadcast`. A report names one of the lines with
its rank, and the operation there; the count too where the comment has one. Two operations with | between them: either is right.
"""
import dataclasses
import inspect
import re
import typing

import torch
import torch.distributed as dist
from torch import nn

LONG = 60  # seconds of patience for a verdict that may not be a suspicion
MARK = re.compile(r"(\d) ([a-z|-]+)(?: (\d+))?")

PROGRAMS = {}


@dataclasses.dataclass
class Job:
    rank: int
    ranks: int
    device: torch.device


@dataclasses.dataclass
class Program:
    function: typing.Callable
    kinds: tuple  # of reports, each right; none: no report
    ranks: int = 2
    ended: dict = dataclasses.field(default_factory=dict)  # rank: how its line says that it ended
    culprits: tuple = ()  # ranks that a report names whatever others it names; none: all that have a comment
    patience: float = LONG
    status: int = 0  # of the command, where there is no report
    is_eager: bool = False  # makes the communicator in init_process_group

    def marks(self):
        """The comments, as {rank: {line: (operations, count)}}."""
        lines, first = inspect.getsourcelines(self.function)
        found = {}
        for number, line in enumerate(lines, first):
            for rank, operations, count in MARK.findall(line.partition("#: ")[2]):
                found.setdefault(int(rank), {})[number] = (operations.split("|"), int(count or 0))
        return found


def register(function, **facts):
    assert function.__name__ not in PROGRAMS
    PROGRAMS[function.__name__] = Program(function, **facts)
    return function


def disagree(kinds, **facts):
    return lambda function: register(function, kinds=tuple(kinds.split("|")), **facts)


def right(**facts):
    return lambda function: register(function, kinds=(), **facts)


def perceptron(width=32):
    """676 parameters at the default width."""
    return nn.Sequential(nn.Linear(16, width), nn.ReLU(), nn.Linear(width, 4))


def ddp(model, job, **options):
    return nn.parallel.DistributedDataParallel(model.to(job.device), device_ids=[job.device], **options)


def batches(count, size=8):
    for _ in range(count):
        yield torch.randn(size, 16)


def begin(job, is_eager):
    torch.cuda.set_device(job.device)
    dist.init_process_group("nccl", device_id=job.device if is_eager else None)
