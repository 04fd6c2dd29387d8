# SPDX-License-Identifier: Apache-2.0
"""What torch's own DataParallel and DistributedDataParallel hold on a device beyond what one device's step holds, by the allocator's
peaks in their steps on pretended GPUs."""
import argparse
import copy
import gc

import torch

from tandem.errors import words_of
from twin import sampling, strategies

FEWEST, MORE = 2, 3  # devices of DataParallel, whose first holds what all others return


def wrap(kind, strategy, options, **changed):
    """The same module with the same optimizer and its memory, trained in another way."""
    other = copy.copy(strategy)
    other.__class__ = kind
    options = argparse.Namespace(**{**vars(options), **changed})
    other.wrapped = other.wrap(options)
    other.training.take(0, options.batch)
    other.batches = [other.placed(options, piece) for piece in other.cut(options)]
    return other


def peaks_of(strategy, devices, steps=1):
    gc.collect()  # what was wrapped before
    for device in range(devices):
        torch.cuda.reset_peak_memory_stats(device)
    for _ in range(steps):
        strategy.step(sampling.NoClock())
    return [torch.cuda.max_memory_allocated(device) for device in range(devices)]


def of_dp(options, strategy, batch):
    fewest, more = (peaks_of(wrap(strategies.DataParallel, strategy, options, devices=count, batch=count * batch, forwards="in-turn"), count)
                    for count in (FEWEST, MORE))
    return {"root": fewest[0], "other": fewest[1], "device": more[0] - fewest[0]}


def of_ddp(options, strategy, batch, has_unused):
    """The peak of one rank, whose buckets are as large as those of many ranks. The second step makes them anew, beside the old ones."""
    torch.distributed.init_process_group("nccl", store=torch.distributed.HashStore(), rank=0, world_size=1)
    try:
        other = wrap(strategies.DistributedDataParallel, strategy, options, batch=batch,
                     find_unused_parameters="on" if has_unused else "off")
        return {"ddp": peaks_of(other, 1, steps=2)[0]}
    finally:
        torch.distributed.destroy_process_group()


def wrapped_peaks(options, strategy, batch, has_unused):
    """The peaks with so many samples of each device, or why torch does not train the module so."""
    found = {}
    for name, take in (("dp", lambda: of_dp(options, strategy, batch)),
                       ("ddp", lambda: of_ddp(options, strategy, batch, has_unused))):
        try:
            found |= take()
        except torch.cuda.OutOfMemoryError:
            raise
        except Exception as error:  # a user's module may fail with anything
            found["error"] = f"torch's {name} does not train it: {words_of(error)}"
    return found
