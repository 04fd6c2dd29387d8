# SPDX-License-Identifier: Apache-2.0
"""The median step of each strategy as bars with 95 % intervals, a group for each workload, as SVG. The figures are the
report's; each group has a scale of its own, from zero."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import cast

from .tables import Row, Value

MOST_GROUPS = 12
LABELS, BARS, FIGURES, ROW = 250, 330, 180, 20  # pixels
MOST_LETTERS = 38  # in LABELS
NOT_AS_IT_RUNS = ("simulated", "modelled", "planted", "oversubscribed")  # as cells.csv begins its marks
COLOURS = {"single": "#6b7280", "dp": "#d2691e", "ddp": "#1f6fd1", "dp-allreduce": "#b58900", "ddp-replicate": "#b0317a",
           "independent": "#0f8f7a"}
Group = tuple[str, Sequence[Row]]


def duration(seconds: float) -> str:
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if seconds * factor >= 1:
            break
    return f"{seconds * factor:.3g} {unit}" if seconds * factor < 1000 else f"{seconds * factor:.0f} {unit}"


def name_of(cell: Row) -> str:
    """With the marks of what was not measured as it would run; all others are remarks, which the page has."""
    name = str(cell["strategy"])
    if name == "independent":
        name = f"no communication (bound), {cell['launch']}"
    if cell["strategy"] == "single":
        name += ", 1 device"
    marks = [mark for mark in str(cell["marks"]).split("; ") if mark.startswith(NOT_AS_IT_RUNS)]
    return ", ".join(str(part) for part in (name, cell["options"], *marks) if part)


def shortened(text: str) -> str:
    return text if len(text) <= MOST_LETTERS else text[:MOST_LETTERS - 3] + "..."


def is_of(cell: Row, comparison: Row) -> bool:
    """On as many devices, or `single` on one: of what is compared."""
    is_measured = cell["status"] == "ok" and cell["median_step_s"] is not None
    same = all(cell[name] == comparison[name] for name in ("model", "global_batch", "backend", "mode"))
    devices = cell["devices"] == comparison["devices"] or cell["strategy"] == "single"
    return is_measured and same and devices


def title_of(comparisons: Sequence[Row]) -> str:
    """With the verdict where the point has one alone; of several options the bars tell them apart."""
    first = comparisons[0]
    text = f"{first['model']}, batch {first['global_batch']}, {first['devices']} devices"
    if len(comparisons) > 1 or not first["ddp_is"]:
        return text
    if first["ddp_is"] != "not resolved":
        return f"{text}: ddp is {first['ddp_is']} than dp"
    within = first.get("equal_within")  # older files have no such column
    return f"{text}: " + (f"dp and ddp are equal within {100 * float(within):g} %" if within else "ddp against dp is not resolved")


def groups_of(cells: Sequence[Row], comparisons: Iterable[Row]) -> list[Group]:
    """A group for each point of dp and ddp on several devices, else one of all cells."""
    points: dict[tuple[Value, ...], list[Row]] = {}
    for comparison in comparisons:
        if cast(int, comparison["devices"]) > 1:
            key = tuple(comparison[name] for name in ("model", "global_batch", "devices", "backend", "mode"))
            points.setdefault(key, []).append(comparison)
    if points:
        return [(title_of(point), [cell for cell in cells if is_of(cell, point[0])]) for point in points.values()]
    workloads: dict[str, list[Row]] = {}
    for cell in cells:
        if cell["status"] == "ok" and cell["median_step_s"] is not None:
            title = f"{cell['model']}, batch {cell['global_batch']}, {cell['devices']} devices"
            workloads.setdefault(title, []).append(cell)
    return list(workloads.items())


def text_at(x: float, y: float, text: str, more: str = "") -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}"{more}>{escape(text)}</text>'


def bar(cell: Row, y: float, longest: float) -> str:
    """Filled where it was measured, hollow where anything of it is modelled; the interval as a line."""
    median, low, high = (cast(float, cell[name] or 0) for name in ("median_step_s", "median_step_low_s", "median_step_high_s"))
    scale = BARS / longest
    colour = COLOURS.get(str(cell["strategy"]), "#6b7280")
    fill = f'fill="none" stroke="{colour}" stroke-dasharray="3 2"' if "modelled" in str(cell["marks"]) else f'fill="{colour}"'
    name = name_of(cell)
    parts = [f"<g><title>{escape(name)}</title>", text_at(LABELS - 8, y + 14, shortened(name), ' text-anchor="end"'), "</g>",
             f'<rect x="{LABELS}" y="{y + 3:.0f}" width="{median * scale:.1f}" height="{ROW - 6}" {fill}/>']
    figure = duration(median)
    if low and high:
        parts.append(f'<path d="M{LABELS + low * scale:.1f} {y + ROW / 2:.0f}H{LABELS + min(high, longest) * scale:.1f}" '
                     'stroke="currentColor" stroke-width="2"/>')
        figure += f" [{duration(low)} .. {duration(high)}]"
    parts.append(text_at(LABELS + BARS + 8, y + 14, figure))
    return "".join(parts)


def svg_of(cells: Sequence[Row], comparisons: Iterable[Row]) -> str:
    """Nothing where nothing was measured."""
    groups = [group for group in groups_of(cells, comparisons) if group[1]]
    if not groups:
        return ""
    y, parts = 0.0, []
    for title, rows in groups[:MOST_GROUPS]:
        parts.append(text_at(0, y + 16, title, ' font-weight="bold"'))
        y += ROW + 2
        longest = max(cast(float, row["median_step_high_s"] or row["median_step_s"]) for row in rows)
        longest = min(longest, 2 * max(cast(float, row["median_step_s"]) for row in rows))  # however wide an interval is
        for row in rows:
            parts.append(bar(row, y, longest))
            y += ROW
        y += ROW / 2
    if len(groups) > MOST_GROUPS:
        parts.append(text_at(0, y + 14, f"and {len(groups) - MOST_GROUPS} more: see the page"))
        y += ROW
    words = "Median step of each strategy, bars from zero, with 95 % intervals; a scale for each workload"
    return (f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {LABELS + BARS + FIGURES + 20} {y:.0f}" '
            f'width="100%" style="max-width: 60em" font-family="sans-serif" font-size="12" fill="currentColor">'
            f"<title>{words}</title>{''.join(parts)}</svg>")
