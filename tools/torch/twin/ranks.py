# SPDX-License-Identifier: Apache-2.0
"""What ranks do together outside of the step: a barrier, and each one's numbers to all."""
import datetime
import os

import torch
from torch import distributed

from twin.place import launch, meeting_point

PATIENCE = datetime.timedelta(seconds=60)


class Ranks:
    """One process alone, which waits for nobody."""
    rank, size = 0, 1

    def barrier(self):
        pass

    def gather(self, numbers):
        """By rank: these numbers, as many on each."""
        return [list(numbers)]

    def leave(self):
        pass


def meeting():
    """Keywords of init_process_group: the launcher's store, or a file of this node."""
    ours = launch()
    if ours:
        store = distributed.TCPStore(*ours.store, is_master=False, timeout=PATIENCE)
        return {"store": distributed.PrefixStore(ours.name, store)}
    # A node's ranks meet on its loopback: by the host's name gloo may find an interface that leads nowhere.
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    return {"init_method": f"file://{meeting_point()}"}


class JoinedRanks(Ranks):
    """Over gloo, whatever the gradients travel by, so that a barrier never waits for a GPU."""

    def __init__(self, place, backend):
        self.rank, self.size = place.rank, place.ranks
        distributed.init_process_group(backend, rank=place.rank, world_size=place.ranks, timeout=PATIENCE, **meeting())
        self.group = None if backend == "gloo" else distributed.new_group(backend="gloo", timeout=PATIENCE)

    def barrier(self):
        distributed.barrier(group=self.group)

    def gather(self, numbers):
        mine = torch.tensor(list(numbers), dtype=torch.float64)
        all_of_them = [torch.empty_like(mine) for _ in range(self.size)]
        distributed.all_gather(all_of_them, mine, group=self.group)
        return [theirs.tolist() for theirs in all_of_them]

    def leave(self):
        """Together, and without taking the group down: that of gloo in torch 1.13 may wait for ever for its own threads."""
        self.barrier()
