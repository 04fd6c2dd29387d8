# SPDX-License-Identifier: Apache-2.0
"""What each rank of a launcher says of itself, and where it runs in a launch."""
from __future__ import annotations

import collections
import os
import socket
import sys
from typing import Any

from .errors import TandemError, UsageError
from .place import torch_tools


def about(source: str) -> dict[str, Any]:
    """What has to be alike on all ranks, and what this one may use: hardware threads by their core, and what decides which GPUs it sees."""
    sys.path.insert(0, str(torch_tools()))
    from twin import place, taken_time  # type: ignore[import-not-found]

    found: dict[str, Any] = {"host": socket.gethostname(), "machine": taken_time.machine(),
                             "cores": place.threads_by_core(), "limit": place.cpu_limit(), "gpu": os.environ.get("LOCAL_RANK"),
                             "visible": [os.environ.get(name) for name in ("CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES")]}
    import torch  # behind the cores, of which its threads may take some
    from twin import own_module  # type: ignore[import-not-found]

    found["torch"] = torch.__version__
    own_module.hide_tools()
    try:
        found["module"] = own_module.name_of(source)
    except TandemError as error:
        found["error"] = str(error)
    return found


def check_alike(ranks: list[dict[str, Any]]) -> None:
    """The first rank decides what is right."""
    for number, one in enumerate(ranks):
        if "error" in one:
            raise (TandemError if number else UsageError)(f"rank {number} on {one['host']}: {one['error']}")
        for what in ("module", "torch"):
            if one[what] != ranks[0][what]:
                raise TandemError(f"rank {number} on {one['host']} has {what} {one[what]}, and rank 0 {ranks[0][what]}: give all nodes the same "
                                  "file and the same torch")


def cores_of(ranks: list[dict[str, Any]]) -> list[int]:
    """The hardware thread of each rank, on a core of its own; -1 where none is left. Ranks that may use the fewest choose first."""
    threads, taken = [-1] * len(ranks), set()
    for number in sorted(range(len(ranks)), key=lambda number: len(ranks[number]["cores"])):
        one = ranks[number]
        for core, thread in one["cores"].items():
            if (one["machine"], core) not in taken:
                taken.add((one["machine"], core))
                threads[number] = thread
                break
    return threads


def lack_of(ranks: list[dict[str, Any]], threads: list[int]) -> str:
    """Why ranks have to share cores; empty where each has one."""
    for (_, host), count in collections.Counter((one["machine"], one["host"]) for one in ranks).items():
        limit = min(one["limit"] for one in ranks if one["host"] == host)
        if count > limit:
            return f"{count} of them on {host}, whose control group has the time of {limit:g} cores"
    return f"only {len(threads) - threads.count(-1)} cores to run on" if -1 in threads else ""


def place_in(ranks: list[dict[str, Any]], number: int, count: int) -> dict[str, Any]:
    """Where a rank is in a launch of the first `count`: twin/place.py's Launch, without its store and name."""
    ranks = ranks[:count]
    mine, threads = ranks[number], cores_of(ranks)
    beside = [rank for rank, other in enumerate(ranks) if other["machine"] == mine["machine"]]
    with_its_gpus = [rank for rank in beside if (ranks[rank]["host"], ranks[rank]["visible"]) == (mine["host"], mine["visible"])]
    allowed = list(mine["cores"].values())
    return {"rank": number, "ranks": count, "beside": len(beside), "lack": lack_of(ranks, threads),
            "core": threads[number] if threads[number] >= 0 else allowed[beside.index(number) % len(allowed)],
            "cores": len({(other["machine"], core) for other in ranks for core in other["cores"]}),
            "gpu": with_its_gpus.index(number) if mine["gpu"] is None else int(mine["gpu"]),
            "hosts": list(dict.fromkeys(other["host"] for other in ranks))}
