# SPDX-License-Identifier: Apache-2.0
"""What went wrong, in one line: what was tried, what happened, what to do."""
from __future__ import annotations

import contextlib
import os
import pathlib
import re
import sysconfig
import traceback
from collections.abc import Iterator
from typing import Any, Optional


class TandemError(Exception):
    """It failed. The message is one line, that of the program where a program ran.

    `folder` holds what had been measured until then, where there is any: `tandem.load(error.folder)`.
    """

    exit_status = 1
    folder: Optional[pathlib.Path] = None


class UsageError(TandemError):
    """It was asked for in a way that cannot be, and nothing was run."""

    exit_status = 2


def path_text(argument: str, value: Any) -> str:
    """The text of a path or name that a user gave."""
    try:
        text = os.fspath(value)
    except TypeError:
        raise UsageError(f"{argument} is {value!r}: give a path or a name as text") from None
    return os.fsdecode(text)


def first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or ["without a word"])[0]


def place_of(error: BaseException) -> str:
    """The innermost line of a user's own code that the error came through, in brackets; a syntax error says its own."""
    others = (str(pathlib.Path(__file__).resolve().parents[2]), sysconfig.get_path("stdlib"), "<")
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        is_own = not frame.filename.startswith(others) and "-packages" not in frame.filename
        if is_own and not isinstance(error, SyntaxError):
            return f" ({pathlib.Path(frame.filename).name}, line {frame.lineno})"
    return ""


def words_of(error: BaseException) -> str:
    return f"{type(error).__name__}: {first_line(error)}{place_of(error)}"


def advice_for(error: BaseException, usual: str) -> str:
    """`usual`, unless the error itself has better advice."""
    if re.search(r"cuFFT|cuSPARSE|cuSOLVER|CUFFT_|CUSPARSE_|CUSOLVER_", str(error)):
        return "pretended GPUs have no cuFFT, cuSPARSE and cuSOLVER: measure the module without what calls them, or on GPUs"
    if re.search("out of memory|can't allocate memory", str(error)):
        return "give a smaller batch"
    if "Expected more than 1 value per channel" in str(error):
        return "one sample has no variance: give each device, or each of its micro-batches, 2 samples or more"
    return usual


@contextlib.contextmanager
def trying(what: str, advice: str) -> Iterator[None]:
    """Whatever a user's own code throws."""
    try:
        yield
    except TandemError as failure:
        raise type(failure)(f"{what}: {failure}") from failure
    except SystemExit as end:
        raise TandemError(f"{what}: it ends the program by sys.exit({end.code!r}); {advice}") from end
    except Exception as error:
        raise TandemError(f"{what}: {words_of(error)}; {advice_for(error, advice)}") from error
