# SPDX-License-Identifier: Apache-2.0
"""What a notebook shows of results: the verdict, and the median steps of each workload as bars."""
from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from .picture import svg_of

if TYPE_CHECKING:
    from .results import Results


def paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>" if text else ""


def items(lines: tuple[str, ...]) -> str:
    return f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</ul>" if lines else ""


def html_of(results: Results) -> str:
    verdict = results.verdict
    notes = f"<p>Warnings:</p>{items(verdict.notes)}" if verdict.notes else ""
    picture = svg_of(results.records("cells"), results.records("comparisons"))
    page = results.folder / "report.html"
    place = f"<p>The whole page: <code>{escape(str(page))}</code></p>" if page.is_file() else ""
    return (f"<div class=\"tandem\"><p><strong>{escape(verdict.overall)}</strong></p>{paragraph(verdict.subject + '.')}"
            f"{paragraph(verdict.tested)}{items(verdict.sentences)}{picture}{notes}{place}</div>")
