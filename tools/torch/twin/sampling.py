# SPDX-License-Identifier: Apache-2.0
"""Samples as step_bench takes them: bench/driver/sampler.cc.

Barrier (untimed), then the step and a wait for the device on every rank. Ranks of one node read one monotonic clock: a
sample is from the last rank's start to the last rank's end. On pretended GPUs no rank waits for another, and an early one
may end before the last starts; nodes have a clock each: there a sample is the longest of the ranks' own steps.
"""
import ctypes
import math
import time

MOST_SAMPLES = 1_000_000


class Clock:
    """Marks where a step is in which phase, by the host's clock."""

    def __init__(self):
        self.phases = {}
        self.last = 0

    def start(self):
        self.phases = {}
        self.last = time.monotonic_ns()
        return self.last

    def mark(self, phase):
        now = time.monotonic_ns()
        self.phases[phase] = self.phases.get(phase, 0) + now - self.last
        self.last = now


class NoClock:
    """A step's clock that keeps nothing."""

    def start(self):
        pass

    def mark(self, phase):
        pass


def marker():
    """What marks steps in the log of pretended GPUs; elsewhere nothing."""
    return getattr(ctypes.CDLL(None), "tandem_pretend_mark", lambda text: None)


class Sampler:
    def __init__(self, strategy, ranks, is_by_rank=False):
        self.strategy, self.ranks, self.is_by_rank, self.clock = strategy, ranks, is_by_rank, Clock()
        self.mark = marker()

    def sample(self):
        """(seconds of the step, [(seconds, phases by name in seconds) by rank])."""
        self.ranks.barrier()
        self.mark(b"step")
        start = self.clock.start()
        self.strategy.step(self.clock)
        self.strategy.synchronize()
        end = time.monotonic_ns()
        self.mark(b"end")
        names = self.strategy.phases
        all_of_them = self.ranks.gather([start, end, *(self.clock.phases.get(name, 0) for name in names)])
        if self.is_by_rank:
            whole = max(theirs[1] - theirs[0] for theirs in all_of_them)
        else:
            whole = max(theirs[1] for theirs in all_of_them) - max(theirs[0] for theirs in all_of_them)
        by_rank = [((theirs[1] - theirs[0]) * 1e-9, dict(zip(names, (part * 1e-9 for part in theirs[2:]))))
                   for theirs in all_of_them]
        return whole * 1e-9, by_rank

    def warm_up(self, least_steps, least_seconds, is_steady=None, most_seconds=0.0):
        """Discarded: (seconds of the first step, steps, seconds, mean seconds of the later half). Behind the least it goes on
        to the most, or until `is_steady`, asked after each sample, says so."""
        first = total = self.sample()[0]
        later, steps, steady = [], 1, True
        while not later or steps < least_steps or total < least_seconds or (not steady and total < most_seconds):
            later.append(self.sample()[0])
            total += later[-1]
            steps += 1
            if is_steady:
                steady = is_steady()
        half = later[len(later) // 2:]
        return first, steps, total, sum(half) / len(half)


def sample_count(min_samples, min_seconds, per_sample):
    return max(min_samples, math.ceil(min(min_seconds / per_sample, MOST_SAMPLES)))
