# SPDX-License-Identifier: Apache-2.0
"""PyTorch's ways to run a step on one device, each as its users write it, and what one of them takes."""
import copy
import gc
import os
import statistics

import torch
from torch import distributed, nn

from twin import launch, place as places, ranks as joined, sampling, strategies


class Doubled(strategies.DataParallel):
    """Two replicas on the one GPU: what DataParallel's own work costs, without a second GPU."""

    def wrap(self, options):
        return nn.DataParallel(self.module, device_ids=[0, 0])


class Compiled(strategies.Strategy):
    MODE = None

    def wrap(self, options):
        return torch.compile(self.module, mode=self.MODE)


class CompiledToGraphs(Compiled):
    MODE = "reduce-overhead"


class OneRank(strategies.DistributedDataParallel):
    def __init__(self, options, training):
        if not distributed.is_initialized():
            os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
            distributed.init_process_group("gloo" if options.backend == "host" else "nccl", store=distributed.HashStore(),
                                           rank=0, world_size=1, timeout=joined.PATIENCE)
        super().__init__(options, training)


KINDS = {"eager": strategies.Strategy, "eager-again": strategies.Strategy, "fused": strategies.Strategy, "ddp": OneRank,
         "dp": strategies.DataParallel, "dp-doubled": Doubled, "compile": Compiled, "compile-graphs": CompiledToGraphs}


def options_of(options, way):
    """A copy, as the way has them."""
    theirs = copy.copy(options)
    theirs.strategy = "dp" if way.startswith("dp") else "single"
    theirs.fused = "on" if way == "fused" else options.fused
    return theirs


def strategy_of(options, training, way):
    """On a copy of the module, so that each way starts from the first weights."""
    theirs = options_of(options, way)
    if reason := launch.unavailable(torch, theirs):
        raise places.UsageError(reason)
    fresh = copy.copy(training)
    fresh.module = copy.deepcopy(training.module)
    return KINDS[way](theirs, fresh)


def take_steps(options, training, way, count):
    strategy = strategy_of(options, training, way)
    for _ in range(count):
        strategy.step(sampling.Clock())
        strategy.synchronize()


def measure(options, training, way, sm_clock):
    """The figures of an entry. The first two steps, which may compile, come before the warm-up: a GPU idles meanwhile."""
    sampler = sampling.Sampler(strategy_of(options, training, way), joined.Ranks(), options.backend.startswith(places.PRETENDED))
    first, second = (sampler.sample()[0] for _ in range(2))
    least = launch.least_warmup(options)[0], options.warmup_time
    warmup = launch.warm_up(sampler, options, sampler.ranks, least)
    samples, host = [], []
    for _ in range(sampling.sample_count(options.min_samples, options.min_time, warmup[-1])):
        samples.append(1e3 * sampler.sample()[0])
        host.append(1e-6 * sum(sampler.clock.phases.values()))
    found = figures(samples, host)
    found |= {"first_step_seconds": first, "second_step_seconds": second, "warmup_seconds": warmup[2],
              "samples_per_second": 1e3 * options.batch / found["mean_ms"]}
    if options.backend != "host":
        found["peak_memory_bytes"] = torch.cuda.max_memory_allocated()
    if mhz := sm_clock():
        found["sm_mhz"] = mhz
    return found


def nearest_rank(ordered, percent):
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]


def figures(samples, host):
    """All in ms. `host`: until a step was queued."""
    ordered = sorted(samples)
    median, host_ms = statistics.median(ordered), statistics.median(host)
    return {"iterations": len(ordered), "real_time": median, "cpu_time": host_ms, "time_unit": "ms", "median_ms": median,
            "mean_ms": statistics.fmean(ordered), "min_ms": ordered[0], "p10_ms": nearest_rank(ordered, 10),
            "p90_ms": nearest_rank(ordered, 90), "max_ms": ordered[-1], "host_ms": host_ms}


def free(options):
    """What a way has left, so that the next one has the device's memory to itself: DistributedDataParallel's process group holds
    buckets, cuBLAS its workspaces. After a failure of the device this may fail as well, and the next way tells why."""
    gc.collect()
    torch.compiler.reset()
    if options.backend == "host":
        return
    try:
        if distributed.is_initialized():
            distributed.destroy_process_group()
        torch._C._cuda_clearCublasWorkspaces()
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    except RuntimeError:
        pass
