# SPDX-License-Identifier: Apache-2.0
"""What a program says while it runs: progress in one line that is written over, everything else kept."""
from __future__ import annotations

import re
import sys
from typing import Optional, TextIO

PROGRESS = re.compile(r"\[\d+/\d+, \S+ left\] ")  # of tandem run and tandem explain


def is_notebook() -> bool:
    return "ipykernel" in sys.modules


class Progress:
    """Holds the newest line back: where the program fails, it is the error, and is said once, by the exception."""

    def __init__(self, is_shown: bool) -> None:
        # A notebook paints standard error red.
        self.stream: TextIO = sys.stdout if is_notebook() else sys.stderr
        self.is_shown = is_shown
        self.is_in_place = is_notebook() or self.stream.isatty()
        self.width = 0  # of the line that will be written over
        self.held: Optional[str] = None

    def add(self, line: str) -> None:
        self.release()
        if PROGRESS.match(line) is None:
            self.held = line
        elif self.is_shown and self.is_in_place:
            self.write("\r" + line.ljust(self.width))
            self.width = len(line)
        else:
            self.write(line + "\n")

    def release(self) -> None:
        if self.held is not None:
            self.end()
            self.write(self.held + "\n")
        self.held = None

    def end(self) -> None:
        if self.width:
            self.write("\r" + " " * self.width + "\r")
        self.width = 0

    def write(self, text: str) -> None:
        if self.is_shown:
            self.stream.write(text)
            self.stream.flush()
