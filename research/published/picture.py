# SPDX-License-Identifier: Apache-2.0
"""Projected against measured seconds as a picture, both on logarithmic scales."""
import math

SIDE, EDGE = 520, 64
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#882255", "#999933")


def place(seconds, low, high):
    return EDGE + (SIDE - 2 * EDGE) * math.log(seconds / low) / math.log(high / low)


def drawn(points):
    """SVG of points (group, measured, projected), with the lines of equality and of a quarter more and less."""
    low = min(min(measured, projected) for _, measured, projected in points) / 1.2
    high = max(max(measured, projected) for _, measured, projected in points) * 1.2
    groups = sorted({group for group, _, _ in points})

    def line(factor, style):
        first, last = max(low, low / factor), min(high, high / factor)
        ends = [(place(seconds, low, high), SIDE - place(seconds * factor, low, high)) for seconds in (first, last)]
        return f'<line x1="{ends[0][0]:.1f}" y1="{ends[0][1]:.1f}" x2="{ends[1][0]:.1f}" y2="{ends[1][1]:.1f}" stroke="#888" {style}/>'

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SIDE} {SIDE}" font-family="sans-serif" font-size="12">',
             f'<rect width="{SIDE}" height="{SIDE}" fill="#fff"/>', line(1, ""), line(1.25, 'stroke-dasharray="3"'), line(0.8, 'stroke-dasharray="3"')]
    for exponent in range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1):
        at, text = place(10 ** exponent, low, high), f"{10 ** (exponent + 3):g} ms"
        parts.append(f'<text x="{at:.1f}" y="{SIDE - EDGE / 2:.1f}" text-anchor="middle">{text}</text>'
                     f'<text x="{EDGE - 4}" y="{SIDE - at:.1f}" text-anchor="end">{text}</text>')
    for group, measured, projected in points:
        colour = COLOURS[groups.index(group) % len(COLOURS)]
        parts.append(f'<circle cx="{place(measured, low, high):.1f}" cy="{SIDE - place(projected, low, high):.1f}" r="2" fill="{colour}" fill-opacity="0.6"/>')
    for index, group in enumerate(groups):
        parts.append(f'<text x="{EDGE + 8}" y="{EDGE + 16 * index}" fill="{COLOURS[index % len(COLOURS)]}">{group}</text>')
    parts.append(f'<text x="{SIDE / 2}" y="{SIDE - 6}" text-anchor="middle">measured step</text>'
                 f'<text x="12" y="{SIDE / 2}" text-anchor="middle" transform="rotate(-90 12 {SIDE / 2})">projected step</text></svg>')
    return "\n".join(parts) + "\n"
