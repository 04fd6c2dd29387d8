# SPDX-License-Identifier: Apache-2.0
"""The most memory that tensors have on a device at one time, from the first step on.

On GPUs it is what torch's allocator had given out. On a CPU it is the sum over the storages of what operations return: there the
strategy is made anew after all samples, as counting slows steps down, and takes a few steps of its own. What an operation
takes inside, and gloo's own buffers, have no part in that.
"""
import os
import weakref

import torch
from torch.utils import _pytree
from torch.utils._python_dispatch import TorchDispatchMode

from tandem.errors import words_of
from twin import sampling

STEPS = 3  # the optimizer's memory is made in the first, DistributedDataParallel's buckets anew in the second


def begin(devices):
    """Before the first step. `devices` are the GPUs of this process."""
    for device in devices:
        torch.cuda.reset_peak_memory_stats(device)


def of_gpus(devices):
    """(capacity, peak) in bytes of each."""
    return [(torch.cuda.get_device_properties(device).total_memory, torch.cuda.max_memory_allocated(device)) for device in devices]


class Held(TorchDispatchMode):
    """The storages that are alive, whichever thread or library drops the last reference, and the most bytes of them."""

    def __init__(self):
        super().__init__()
        self.storages, self.most = {}, 0

    def add(self, tensor):
        storage = getattr(tensor, "_local_tensor", tensor).untyped_storage()
        if storage._cdata not in self.storages:
            self.storages[storage._cdata] = weakref.ref(storage, lambda _, key=storage._cdata: self.storages.pop(key, None))

    def bytes(self):
        """Asked of each storage anew, as fully_shard resizes those that it gathers into."""
        alive = [reference() for reference in list(self.storages.values())]
        return sum(storage.nbytes() for storage in alive if storage is not None)

    def __torch_dispatch__(self, function, types, arguments=(), keywords=None):
        returned = function(*arguments, **keywords or {})
        for leaf in _pytree.tree_leaves(returned):
            if torch.is_tensor(leaf):
                self.add(leaf)
        self.most = max(self.most, self.bytes())
        return returned


def of_cpu(make):
    """(capacity, peak) of this process, whose capacity is the machine's, for all ranks."""
    with Held() as held:
        strategy = make()
        held.most = 0
        with strategy.all_steps():
            for _ in range(STEPS):
                strategy.step(sampling.NoClock())
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"), held.most


def of_cpu_or_reason(make):
    """Beside of_cpu's pair why there is none: a user's function may serve but once."""
    try:
        return of_cpu(make), ""
    except Exception as error:
        return (0, 0), f"memory is not known: {words_of(error)} in the steps that measure it"


def by_device(ranks, mine):
    """As records have it, of all ranks' (capacity, peak)."""
    pairs = [theirs[i:i + 2] for theirs in ranks.gather([number for pair in mine for number in pair]) for i in range(0, len(theirs), 2)]
    return [{"device": device, "capacity_bytes": int(capacity), "peak_bytes": int(peak)}
            for device, (capacity, peak) in enumerate(pairs) if peak > 0]
