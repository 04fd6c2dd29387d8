# SPDX-License-Identifier: Apache-2.0
"""The answer in words, as the head of report.md has it."""
from __future__ import annotations

import dataclasses
import re

ESCAPED = re.compile(r"\\([^\w\s])|&(lt|gt|amp);")
ENTITIES = {"lt": "<", "gt": ">", "amp": "&"}
NOTES = "## Warnings"
CHOICES = "What to use\n"


def plain(markdown: str) -> str:
    return ESCAPED.sub(lambda found: found[1] or ENTITIES[found[2]], markdown)


@dataclasses.dataclass(frozen=True)
class Verdict:
    """Which strategy is faster, by how much, and how sure that is. str() gives it as lines, without the table."""

    subject: str
    """What was measured, such as "CPU only: 2 cores of ..., says nothing about GPUs"."""
    overall: str
    """All comparisons of dp and ddp, with the reasons; then where several devices are slower than one."""
    tested: str
    """The range within which that holds; empty without comparisons on several devices."""
    sentences: tuple[str, ...]
    """Where the winner changes; then one for each workload, with its 95 % interval."""
    notes: tuple[str, ...]
    """What has to be known beside it: unfinished, failed, oversubscribed, modelled, busy."""

    def __str__(self) -> str:
        lines = [f"{self.subject}.", self.overall, self.tested, *(f"  - {line}" for line in self.sentences),
                 *(f"  ! {line}" for line in self.notes)]
        return "\n".join(line for line in lines if line)


def verdict_of(report: str) -> Verdict:
    """Of the text of report.md."""
    head, _, rest = report.partition("\n## ")
    if rest.startswith(CHOICES):
        choices, _, rest = rest.partition("\n## ")
        head += "\n" + choices
    lines = head.splitlines()
    notes = ("## " + rest).split("\n## ", 1)[0].splitlines()

    def one(start: str) -> str:
        return next((plain(line[len(start):]) for line in lines if line.startswith(start)), "")

    def items(among: list[str]) -> tuple[str, ...]:
        return tuple(plain(line[2:]) for line in among if line.startswith("- "))

    tested = one("Tested: ")
    overall = " ".join(plain(line[2:-2]) for line in lines if line.startswith("**") and line.endswith("**"))
    return Verdict(subject=one("# "), overall=overall, tested="Tested: " + tested if tested else "",
                   sentences=items(lines), notes=items(notes) if notes[:1] == [NOTES] else ())
