# SPDX-License-Identifier: Apache-2.0
"""Runs the program, shows what it says, and turns how it ended into an exception."""
from __future__ import annotations

import pathlib
import signal
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn, Optional

from .command import starting
from .errors import TandemError, UsageError
from .place import program
from .progress import Progress

USAGE_STATUS = 2
INTERRUPTED_STATUS = 130


def options_of(options: Mapping[str, Any]) -> list[str]:
    """As the command line has them: what is None or False is left out, True is a flag."""
    words = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value is True:
            words.append(flag)
        elif value is not None and value is not False:
            words.append(f"{flag}={value}")
    return words


def started(words: Sequence[str]) -> subprocess.Popen[str]:
    path = program()
    with starting(path):
        return subprocess.Popen([str(path), *words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, encoding="utf-8", errors="replace")


def listen(child: subprocess.Popen[str], progress: Progress) -> int:
    assert child.stderr is not None  # it is a pipe
    for line in child.stderr:
        progress.add(line.rstrip("\n"))
    return child.wait()


def interrupt(child: subprocess.Popen[str], progress: Progress) -> None:
    """The program keeps what is measured and ends by itself; a second interrupt ends it at once."""
    try:
        if child.poll() is None:
            child.send_signal(signal.SIGINT)
        listen(child, progress)
    except KeyboardInterrupt:
        child.kill()
        child.wait()


def fail(status: int, words: Sequence[str], line: Optional[str], folder: Optional[pathlib.Path]) -> NoReturn:
    if status < 0:
        line = f"tandem {words[0]} was ended by {signal.Signals(-status).name}; the same call goes on from what is done"
    message = line or f"tandem {words[0]} ended with {status} and said nothing; run the same in a terminal"
    error = UsageError(message) if status == USAGE_STATUS else TandemError(message)
    error.folder = folder
    raise error


def call(words: Sequence[str], folder: Optional[pathlib.Path], is_shown: bool) -> None:
    """Runs `tandem WORDS...` to its end. `folder`: where what was measured lies, should it fail."""
    progress = Progress(is_shown)
    child = started(words)
    try:
        status = listen(child, progress)
    except KeyboardInterrupt:
        interrupt(child, progress)
        raise
    finally:
        if child.returncode in (0, INTERRUPTED_STATUS):
            progress.release()
        progress.end()
        if child.stderr is not None:
            child.stderr.close()
    if status == INTERRUPTED_STATUS:
        raise KeyboardInterrupt
    if status != 0:
        fail(status, words, progress.held, folder)
