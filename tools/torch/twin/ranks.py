# SPDX-License-Identifier: Apache-2.0
"""What ranks do together outside of the step: a barrier, and each one's numbers to all."""
import datetime
import json
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

    def agree(self, what, mine):
        """By rank: what each says, as JSON has it; once of each name. By the store, which serves where a collective has failed."""
        return [mine]

    def leave(self):
        """Together, and without taking the group down: that of gloo in torch 1.13 may wait for ever for its own threads."""
        self.agree("left", "")


def meeting(ranks):
    """The launcher's store, or a file of this node."""
    ours = launch()
    if ours:
        return distributed.PrefixStore(ours.name, distributed.TCPStore(*ours.store, is_master=False, timeout=PATIENCE))
    # A node's ranks meet on its loopback: by the host's name gloo may find an interface that leads nowhere.
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    return distributed.FileStore(str(meeting_point()), ranks)


class JoinedRanks(Ranks):
    """Over gloo, whatever the gradients travel by, so that a barrier never waits for a GPU."""

    def __init__(self, place, backend):
        self.rank, self.size = place.rank, place.ranks
        self.store = meeting(place.ranks)
        distributed.init_process_group(backend, store=self.store, rank=place.rank, world_size=place.ranks, timeout=PATIENCE)
        self.group = None if backend == "gloo" else distributed.new_group(backend="gloo", timeout=PATIENCE)

    def barrier(self):
        distributed.barrier(group=self.group)

    def gather(self, numbers):
        mine = torch.tensor(list(numbers), dtype=torch.float64)
        all_of_them = [torch.empty_like(mine) for _ in range(self.size)]
        distributed.all_gather(all_of_them, mine, group=self.group)
        return [theirs.tolist() for theirs in all_of_them]

    def agree(self, what, mine):
        self.store.set(f"{what}/{self.rank}", json.dumps(mine))
        keys = [f"{what}/{rank}" for rank in range(self.size)]
        self.store.wait(keys, 2 * PATIENCE)  # another rank may first lose its patience with this one
        return [json.loads(self.store.get(key)) for key in keys]
