# SPDX-License-Identifier: Apache-2.0
"""What one piece of work costs, from two sizes of it: what both sizes cost alike cancels out."""
import gc
import math
import time
import typing

REPEATS = 51
WARM_UPS = 5


class Estimate(typing.NamedTuple):
    """Seconds: the median, and its interval of 95 % by order statistics."""
    median: float
    low: float
    high: float

    def is_seen(self):
        """Whether the cost is above the noise."""
        return self.low > 0


def estimate(values):
    ordered, count = sorted(values), len(values)
    # The binomial rank below which 2.5 % lie, by the normal approximation, no further than the ends.
    rank = max(0, math.floor(count / 2 - 0.98 * math.sqrt(count)))
    middle = (ordered[(count - 1) // 2] + ordered[count // 2]) / 2
    return Estimate(middle, ordered[rank], ordered[count - 1 - rank])


def seconds_of(prepare, clock):
    """How long the work takes that `prepare` returns; preparing is not timed."""
    work = prepare()
    start = clock()
    work()
    return clock() - start


def weighed(trials, weights, repeats=REPEATS, clock=time.process_time):
    """The sum of weight x seconds over the trials, estimated from repeats in which all trials take turns, so that a slow
    spell meets all. The clock is the processor's time of all threads, so that waiting for a core does not count."""
    for _ in range(WARM_UPS):
        for trial in trials:
            seconds_of(trial, clock)
    found = []
    gc.disable()
    try:
        for _ in range(repeats):
            found.append(math.fsum(weight * seconds_of(trial, clock) for trial, weight in zip(trials, weights)))
            gc.collect(0)
    finally:
        gc.enable()
    return estimate(found)


def slope(trial_of, sizes, pieces=1, **how):
    """Seconds per piece, of so many pieces for one of size. `trial_of(size)` returns a function that prepares one trial and
    returns the work to be timed."""
    small, large = sizes
    share = 1 / ((large - small) * pieces)
    return weighed([trial_of(small), trial_of(large)], [-share, share], **how)


def slope_beyond(trial_of, plain_of, sizes, pieces=1, **how):
    """As slope: what a piece costs in one kind of trial more than in the other."""
    small, large = sizes
    share = 1 / ((large - small) * pieces)
    trials = [trial_of(small), plain_of(small), trial_of(large), plain_of(large)]
    return weighed(trials, [-share, share, share, -share], **how)


def text_of(costs):
    """As --dispatch-cost takes them: "call:3.21us,gather:9.87us". A cost that the noise covers is 0."""
    return ",".join(f"{kind}:{cost.median * 1e6 if cost.is_seen() else 0.0:.3g}us" for kind, cost in costs.items())


def lines_of(costs):
    """For people: each cost with its interval, and that the noise covers one."""
    for kind, cost in costs.items():
        covered = "" if cost.is_seen() else ": below the noise, taken as 0"
        yield f"{kind}: {cost.median * 1e6:.3g} us [{cost.low * 1e6:.3g} .. {cost.high * 1e6:.3g}]{covered}"
