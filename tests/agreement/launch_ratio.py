# SPDX-License-Identifier: Apache-2.0
"""Ratios of two sides whose launches took turns: geometric mean, and Student's t interval on the logarithms."""
import math
import statistics

# Student's t of 95 %, two-sided, by degrees of freedom.
T_QUANTILE = [math.nan, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
              2.131, 2.120, 2.110, 2.101, 2.093]
LAUNCHES = range(1, len(T_QUANTILE) + 1)  # of which an interval is known


def estimate(ratios):
    """Geometric mean, and the ends of its interval; of one ratio, the mean alone."""
    logs = [math.log(ratio) for ratio in ratios]
    centre = statistics.fmean(logs)
    if len(logs) < 2:
        return [math.exp(centre)]
    half = T_QUANTILE[len(logs) - 1] * statistics.stdev(logs) / math.sqrt(len(logs))
    return [math.exp(value) for value in (centre, centre - half, centre + half)]


def ratio_text(ratios):
    """The mean, the number of launches and the interval."""
    figures = estimate(ratios)
    if len(figures) == 1:
        return f"{figures[0]:.4f} (1 launch each, too few for an interval)"
    centre, low, high = figures
    return f"{centre:.4f} ({len(ratios)} launches each, 95 % interval {low:.4f} to {high:.4f})"
