# SPDX-License-Identifier: Apache-2.0
"""The most memory that tensors have on a device at one time, from the first step on.

On GPUs it is what torch's allocator had given out. On a CPU it is the sum over the storages that operations take and return,
without the user's example batch: there the strategy is made anew after all samples, as counting slows steps down, and takes a
few steps of its own. What an operation takes inside, libraries and gloo's buffers have no part in that.
"""
import os
import weakref

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from tandem.errors import TandemError, words_of
from twin import launch, place, sampling, trees

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

    @staticmethod
    def storage_of(tensor):
        return getattr(tensor, "_local_tensor", tensor).untyped_storage()

    def add(self, tensor):
        storage = self.storage_of(tensor)
        if tensor.device.type == "cpu" and storage._cdata not in self.storages:
            self.storages[storage._cdata] = weakref.ref(storage, lambda _, key=storage._cdata: self.storages.pop(key, None))

    def forget(self, tree):
        for tensor in trees.tensors_of(tree):
            self.storages.pop(self.storage_of(tensor)._cdata, None)

    def bytes(self):
        """Asked of each storage anew, as fully_shard resizes those that it gathers into."""
        alive = [reference() for reference in list(self.storages.values())]
        return sum(storage.nbytes() for storage in alive if storage is not None)

    def __torch_dispatch__(self, function, types, arguments=(), keywords=None):
        returned = function(*arguments, **keywords or {})
        for tensor in trees.tensors_of((arguments, keywords, returned)):
            self.add(tensor)
        self.most = max(self.most, self.bytes())
        return returned


def attempt(ranks, what, work):
    """(what `work` returns, ""), or on all ranks why it failed on one: others may wait for that rank in a collective, which ends by
    its own patience. A user's function may serve but once."""
    try:
        done, mine = work(), ""
    except Exception as error:
        done, mine = None, str(error) if isinstance(error, TandemError) else words_of(error)
    reasons = [f"rank {rank}: {reason}" if ranks.size > 1 else reason for rank, reason in enumerate(ranks.agree(what, mine)) if reason]
    return done, next((reason for reason in reasons if not launch.OF_ANOTHER_RANK.search(reason)), next(iter(reasons), ""))


def most_of(held, strategy):
    held.most = 0
    with strategy.all_steps():
        for _ in range(STEPS):
            strategy.step(sampling.NoClock())
    if held.most == 0:
        raise TandemError(f"torch {torch.__version__} does not say when a storage is freed: use a newer one")
    return held.most


def of_cpu(ranks, make_training, make, warnings):
    """The record's list, and the warnings with the reason where it is empty. `make_training` calls the user's function, and `make`
    makes the strategy of its training; ranks meet in the second alone. The capacity is the machine's or the control group's,
    for all ranks."""
    with Held() as held:
        training, reason = attempt(ranks, "training", make_training)

        def steps():
            strategy = make(training)
            held.forget((training.parts.batch, training.parts.targets))
            return most_of(held, strategy)
        if not reason:
            most, reason = attempt(ranks, "memory", steps)
    if reason:
        return [], [*warnings, f"memory is not known: {reason}, in the steps that measure it"]
    return by_device(ranks, [(min(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"), place.memory_limit()), most)]), warnings


def by_device(ranks, mine):
    """As records have it, of all ranks' (capacity, peak)."""
    pairs = [theirs[i:i + 2] for theirs in ranks.gather([number for pair in mine for number in pair]) for i in range(0, len(theirs), 2)]
    return [{"device": device, "capacity_bytes": int(capacity), "peak_bytes": int(peak)}
            for device, (capacity, peak) in enumerate(pairs) if peak > 0]
