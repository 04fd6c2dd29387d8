# SPDX-License-Identifier: Apache-2.0
"""Errors, least squares, and intervals from errors."""
import itertools
import math
import statistics


def relative(predicted, seconds):
    return predicted / seconds - 1


def p90(sizes):
    """The nearest rank."""
    return sorted(sizes)[max(0, math.ceil(0.9 * len(sizes)) - 1)]


def summary(errors):
    """(mean, p90, max, bias) of relative errors, in %."""
    sizes = [abs(error) for error in errors]
    return tuple(100 * value for value in (statistics.fmean(sizes), p90(sizes), max(sizes), statistics.fmean(errors)))


def mean_size(errors):
    return statistics.fmean(abs(error) for error in errors)


def solved(equations):
    """The unknowns of linear equations, each with its right side behind its coefficients."""
    width = len(equations)
    for i in range(width):
        pivot = max(range(i, width), key=lambda j: abs(equations[j][i]))
        equations[i], equations[pivot] = equations[pivot], equations[i]
        for j in range(width):
            if j != i:
                factor = equations[j][i] / equations[i][i]
                equations[j] = [a - factor * b for a, b in zip(equations[j], equations[i])]
    return [equations[i][width] / equations[i][i] for i in range(width)]


def least_squares(rows, values):
    """The coefficients of least squares. Coefficients that the rows do not distinguish share what they explain."""
    width = len(rows[0])
    sizes = [max(abs(row[i]) for row in rows) or 1.0 for i in range(width)]
    rows = [[row[i] / sizes[i] for i in range(width)] for row in rows]
    normal = [[sum(row[i] * row[j] for row in rows) + (1e-9 if i == j else 0) for j in range(width)]
              + [sum(row[i] * value for row, value in zip(rows, values))] for i in range(width)]
    return [value / size for value, size in zip(solved(normal), sizes)]


def least_squares_above_zero(rows, values):
    """The same without coefficients below zero: of all choices of terms the one that is left with least."""
    width, best = len(rows[0]), None
    for chosen in itertools.chain.from_iterable(itertools.combinations(range(width), count) for count in range(width + 1)):
        found = least_squares([[row[i] for i in chosen] for row in rows], values) if chosen else []
        if any(value < 0 for value in found):
            continue
        left = sum((value - sum(found[k] * row[i] for k, i in enumerate(chosen))) ** 2 for row, value in zip(rows, values))
        if best is None or left < best[0]:
            best = left, [found[chosen.index(i)] if i in chosen else 0.0 for i in range(width)]
    return best[1]


def width_of(errors, promise=0.9):
    """The half width, on logs, that the next error stays below with this probability (split conformal), at least 3 %."""
    sizes = sorted(abs(math.log1p(error)) for error in errors)
    place = min(len(sizes), math.ceil(promise * (len(sizes) + 1)))
    return max(sizes[place - 1], math.log(1.03))


def figures(rows):
    """What stands in the catalogue's list of published errors, by (devices, error) of each step."""
    found = [error for _, error in rows]
    sizes = [abs(error) for error in found]
    return {"steps": len(sizes), "mean": round(statistics.fmean(sizes), 4), "most": round(max(sizes), 4),
            "half_width": round(width_of(found), 4), "most_devices": max(devices for devices, _ in rows)}


def coverage(errors_and_widths):
    """(share of errors within the half widths, on logs, that stand beside them; median of the widths in %)."""
    held = [abs(math.log1p(error)) <= width for error, width in errors_and_widths]
    return statistics.fmean(held), statistics.median([100 * math.expm1(width) for _, width in errors_and_widths])
