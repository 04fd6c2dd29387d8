# SPDX-License-Identifier: Apache-2.0
"""What DistributedDataParallel's own C++ takes of a backward, from the ranges that PyTorch's profiler records there.

Hooks run behind the node that keeps a parameter's gradient, within the engine's range for this node; what the node itself,
bucket copies and launches take of this range is no hook's. The profiler slows each operation down, so that the steps are
extra ones, and a part's name says so.
"""
from torch import profiler

STEPS = 5  # of the profiler's lists, which take long to read
KEEPS = "torch::autograd::AccumulateGrad"
ENGINE = f"autograd::engine::evaluate_function: {KEEPS}"
# By the end of a range's name, as its beginning differs between versions.
PARTS = {"reducer::mul_out": "bucket copies", "reducer::copy_": "bucket copies", "c10d::allreduce_": "launches",
         "reducer::copy_bucket_to_grad": "copies back", "reducer::copy_bucket_to_grad_batched": "copies back",
         "reducer::search_unused_parameters": "unused parameters"}


def part_of(name):
    return next((part for end, part in PARTS.items() if name.endswith(end)), None)


def part_and_time(event):
    """The part that the event's range names, and its µs; no part where it names none."""
    if event.name == ENGINE:
        others = [child.cpu_time_total for child in event.cpu_children if child.name == KEEPS or part_of(child.name)]
        return "hooks", event.cpu_time_total - sum(others)
    return part_of(event.name), event.cpu_time_total


def sums_of(events):
    """By part and thread: how often, and µs."""
    main = next((event.thread for event in events if event.name == "DistributedDataParallel.forward"), None)
    sums = {}
    for event in events:
        part, time = part_and_time(event)
        if part:
            key = part, "main" if event.thread == main else "autograd"
            count, total = sums.get(key, (0, 0))
            sums[key] = count + 1, total + time
    return sums


def rows(step):
    """As host_work's rows, of STEPS steps."""
    with profiler.profile(activities=[profiler.ProfilerActivity.CPU]) as recorded:
        for _ in range(STEPS):
            step()
    return [{"part": f"{part} (profiled)", "thread": thread, "per_step": count / STEPS, "wall_seconds": time * 1e-6 / STEPS}
            for (part, thread), (count, time) in sorted(sums_of(recorded.events()).items())]
