#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs programs of ranks, one after the other: torch is loaded once, and each rank is a fork.

    run.py NAME...      on GPUs, pretended or not; a line "NAME: status N" each; the exit status is the last program's
    run.py --verdicts   what each program is and the report that it must get, as JSON

A launcher that sets RANK, as torchrun does, starts one rank of one program with the first form.
"""
import dataclasses
import json
import os
import socket
import sys

import torch
from program import PROGRAMS, Job, begin

import calls  # noqa: F401 - the programs are known once their files are loaded
import groups  # noqa: F401
import right  # noqa: F401
import training  # noqa: F401


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def fork_ranks(ranks):
    """In a rank its number; in the parent, once all have ended, None and the largest of their statuses."""
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(free_port()), WORLD_SIZE=str(ranks))
    sys.stdout.flush()
    children = []
    for rank in range(ranks):
        child = os.fork()
        if child == 0:
            os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank))
            return rank, 0
        children.append(child)
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    return None, max(abs(code) for code in codes)


def run_rank(program, rank):
    job = Job(rank, int(os.environ["WORLD_SIZE"]), torch.device("cuda", rank))
    begin(job, program.is_eager)
    program.function(job)


def verdicts():
    fields = [field.name for field in dataclasses.fields(next(iter(PROGRAMS.values()))) if field.name != "function"]
    return {name: {"file": f"{program.function.__module__}.py", "marks": program.marks(),
                   **{field: getattr(program, field) for field in fields}} for name, program in PROGRAMS.items()}


def main():
    if sys.argv[1:] == ["--verdicts"]:
        json.dump(verdicts(), sys.stdout)
        return 0
    import torch._dynamo  # noqa: F401 - by most programs used, and loaded here once for all ranks
    status = 0
    for name in sys.argv[1:]:
        program = PROGRAMS[name]
        rank, status = (int(os.environ["RANK"]), 0) if "RANK" in os.environ else fork_ranks(program.ranks)
        if rank is not None:
            run_rank(program, rank)
            break
        print(f"{name}: status {status}", flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
