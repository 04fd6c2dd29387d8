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
    import torch
    from twin import own_module, place, taken_time  # type: ignore[import-not-found]

    found: dict[str, Any] = {"host": socket.gethostname(), "machine": taken_time.machine(), "torch": torch.__version__,
                             "cores": place.threads_by_core(), "limits": place.cpu_limits(), "gpu": os.environ.get("LOCAL_RANK"),
                             "visible": [os.environ.get(name) for name in ("CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES")]}
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
    """The hardware thread of each rank, on a core of its own; -1 where none is left. As many ranks as can have one: by augmenting paths."""
    owners: dict[tuple[float, str], int] = {}

    def find_core(number: int, tried: set[tuple[float, str]]) -> bool:
        """A free core, else one whose owner finds another."""
        for core in sorted(((ranks[number]["machine"], name) for name in ranks[number]["cores"]), key=owners.__contains__):
            if core not in tried:
                tried.add(core)
                if core not in owners or find_core(owners[core], tried):
                    owners[core] = number
                    return True
        return False
    for number in range(len(ranks)):
        find_core(number, set())
    by_rank = {number: core for (_, core), number in owners.items()}
    return [one["cores"][by_rank[number]] if number in by_rank else -1 for number, one in enumerate(ranks)]


def lack_of(ranks: list[dict[str, Any]], threads: list[int]) -> str:
    """Why ranks have to share cores; empty where each has one."""
    groups = collections.defaultdict(list)
    for one in ranks:
        for group, limit in one["limits"].items():
            groups[one["machine"], group].append((limit, one["host"]))
    for members in groups.values():
        limit, host = min(members)
        if len(members) > limit:
            return f"{len(members)} of them are on {host}, whose control group has the time of {limit:g} core{'s' * (limit != 1)}"
    found = len(threads) - threads.count(-1)
    return f"only {found} core{'s' * (found != 1)} to run on" if -1 in threads else ""


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
