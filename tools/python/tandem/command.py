# SPDX-License-Identifier: Apache-2.0
"""The command `tandem` of an installed wheel: becomes the program, so that exit status and signals are the program's."""
from __future__ import annotations

import contextlib
import os
import pathlib
import sys
from collections.abc import Iterator
from typing import NoReturn

from .errors import TandemError
from .place import own_program

NOT_EXECUTABLE = "its file system is mounted noexec, or it was not unpacked by pip: install the wheel with pip into a folder that allows programs"


@contextlib.contextmanager
def starting(path: pathlib.Path) -> Iterator[None]:
    """What the system says of a program that cannot be started becomes a TandemError."""
    try:
        yield
    except PermissionError as error:
        raise TandemError(f"starting {path}: {error.strerror}: {NOT_EXECUTABLE}") from error
    except OSError as error:
        raise TandemError(f"starting {path}: {error.strerror}; it needs bash, which this system may lack") from error


def environment() -> dict[str, str]:
    """In a virtual environment that is not activated the programs' python3, which has torch, is that of the environment."""
    variables = dict(os.environ)
    if sys.prefix != sys.base_prefix:
        variables["PATH"] = os.pathsep.join([str(pathlib.Path(sys.prefix) / "bin"), *filter(None, [variables.get("PATH")])])
    return variables


def start(arguments: list[str]) -> NoReturn:
    path = own_program()  # the variable may name the very command that this is
    with starting(path):
        os.execve(path, [str(path), *arguments], environment())
    raise AssertionError("execv returns only by an exception")


def main() -> int:
    try:
        start(sys.argv[1:])
    except TandemError as error:
        print(f"tandem: {error}", file=sys.stderr)
        return error.exit_status
