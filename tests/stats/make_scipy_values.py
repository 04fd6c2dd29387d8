#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes scipy_values.json: what SciPy makes of small samples, for common/stats to be held against.

    python3 tests/stats/make_scipy_values.py >tests/stats/scipy_values.json

Needs SciPy 1.10 (Debian 12: python3-scipy). The samples come from one seed and are rounded, so that both sides see the
same numbers; the file names the versions that made it.
"""
import json
import sys

import numpy
import scipy
from scipy import stats

LEVEL = 0.95


def rounded(values):
    return [float(f"{value:.6g}") for value in values]


def summary(values):
    return {"values": values, "median": float(numpy.median(values)),
            "p95": float(numpy.percentile(values, 95, method="inverted_cdf"))}


def summaries(random):
    cases = [summary(rounded(random.lognormal(-4, 0.3, count))) for count in (5, 6, 20, 41)]
    # Many values by a rule that both sides know.
    ruled = [(7919 * i) % 1013 + 1 for i in range(1200)]
    cases.append({**summary(ruled), "values": [], "p99": float(numpy.percentile(ruled, 99, method="inverted_cdf"))})
    return cases


def t_intervals(random):
    for count in (2, 6, 10, 19):
        values = rounded(random.lognormal(-4, 0.05, count))
        logs = numpy.log(values)
        low, high = stats.t.interval(LEVEL, count - 1, numpy.mean(logs), stats.sem(logs))
        yield {"values": values, "center": stats.gmean(values), "low": numpy.exp(low), "high": numpy.exp(high)}


def ratios(random):
    """By Welch's degrees of freedom, by Cochran's critical value where the numbers differ by more than a quarter."""
    for n, m, confidence in ((6, 6, LEVEL), (10, 4, LEVEL), (10, 10, 1 - 0.05 / 21), (8, 6, 1 - 0.05 / 21), (3, 25, 1 - 0.05 / 500)):
        a, b = rounded(random.lognormal(-4, 0.02, n)), rounded(random.lognormal(-3.9, 0.05, m))
        x, y = numpy.log(a), numpy.log(b)
        errors = stats.sem(x) ** 2, stats.sem(y) ** 2
        degrees = sum(errors) ** 2 / (errors[0] ** 2 / (n - 1) + errors[1] ** 2 / (m - 1))
        difference = numpy.mean(x) - numpy.mean(y)
        critical = stats.t.ppf((1 + confidence) / 2, degrees)
        if 4 * min(n, m) < 3 * max(n, m):
            each = stats.t.ppf((1 + confidence) / 2, numpy.array([n - 1, m - 1]))
            critical = numpy.dot(errors, each) / sum(errors)
        half = critical * numpy.sqrt(sum(errors))
        yield {"a": a, "b": b, "confidence": confidence, "center": numpy.exp(difference),
               "low": numpy.exp(difference - half), "high": numpy.exp(difference + half)}


def trends(random):
    for count, slope, method in ((2, 1, "exact"), (6, 0.0, "exact"), (10, 0.01, "exact"), (30, 0.002, "exact"),
                                 (60, 0.001, "asymptotic")):
        values = rounded(random.normal(1, 0.02, count) + slope * numpy.arange(count))
        found = stats.kendalltau(range(count), values, method=method)
        yield {"values": values, "tau": found.correlation, "p": found.pvalue,
               "slope": stats.theilslopes(values).slope}


def normals():
    return [{"z": z, "below": stats.norm.cdf(z)} for z in (-8, -3, -1.959963984540054, -0.1, 0, 0.5, 2, 3.5)]


def main():
    random = numpy.random.default_rng(20)
    found = {"scipy": scipy.__version__, "numpy": numpy.__version__, "summaries": summaries(random),
             "t": list(t_intervals(random)), "ratios": list(ratios(random)),
             "trends": list(trends(random)), "normal": normals()}
    lines = []
    for name, value in found.items():
        text = json.dumps(value)
        if isinstance(value, list):
            text = "[\n " + ",\n ".join(json.dumps(case) for case in value) + "]"
        lines.append(f"{json.dumps(name)}: {text}")
    sys.stdout.write("{" + ",\n".join(lines) + "}\n")


if __name__ == "__main__":
    main()
