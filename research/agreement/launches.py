# SPDX-License-Identifier: Apache-2.0
"""What the programs here share: how they start others and end, and ratios of two sides whose launches took turns, as
geometric mean with Student's t interval on the logarithms."""
import math
import os
import pathlib
import statistics
import subprocess
import sys

AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

# Student's t of 95 %, two-sided, by degrees of freedom.
T_QUANTILE = [math.nan, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
              2.131, 2.120, 2.110, 2.101, 2.093]
LAUNCHES = range(1, len(T_QUANTILE) + 1)  # of which an interval is known


class Failure(Exception):
    """What a program says last, in a line."""


def run(command, environment=None):
    """What the command prints. Throws a Failure with its last line where it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False,
                          env=AS_ROOT | (os.environ if environment is None else environment))
    if done.returncode != 0:
        said = (done.stderr.strip() or done.stdout.strip() or "nothing").splitlines()[-1]
        raise Failure(f"{' '.join(map(str, command))} ended with status {done.returncode}: {said}")
    return done.stdout


def end(work, *arguments):
    """The exit status of the program that is work(arguments...): a failure of it is a line."""
    try:
        work(*arguments)
    except (Failure, OSError, ValueError, KeyError) as failure:
        print(f"{pathlib.Path(sys.argv[0]).name}: {failure}", file=sys.stderr)
        return 1
    return 0


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
