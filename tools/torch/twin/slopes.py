# SPDX-License-Identifier: Apache-2.0
"""What one piece of work costs, from two sizes of it: what both sizes cost alike cancels out."""
import gc
import statistics
import time

REPEATS = 51
WARM_UPS = 5


def seconds_of(prepare, clock):
    """How long the work takes that `prepare` returns; preparing is not timed."""
    work = prepare()
    start = clock()
    work()
    return clock() - start


def slope(trial_of, sizes, repeats=REPEATS, clock=time.process_time):
    """Seconds per piece: the median over repeats of (large - small) / (pieces more). The sizes take turns, so that a slow
    spell meets both; the clock is the processor's time of all threads, so that waiting for a core does not count.
    `trial_of(size)` returns a function that prepares one trial and returns the work to be timed."""
    small, large = sizes
    trials = trial_of(small), trial_of(large)
    for _ in range(WARM_UPS):
        for trial in trials:
            seconds_of(trial, clock)
    found = []
    gc.disable()
    try:
        for _ in range(repeats):
            took = [seconds_of(trial, clock) for trial in trials]
            found.append((took[1] - took[0]) / (large - small))
            gc.collect(0)
    finally:
        gc.enable()
    return statistics.median(found)


def text_of(costs):
    """As --dispatch-cost takes them: "call:3.21us,gather:9.87us". A cost below the noise is 0."""
    return ",".join(f"{kind}:{max(0.0, seconds) * 1e6:.3g}us" for kind, seconds in costs.items())
