# SPDX-License-Identifier: Apache-2.0
"""What went wrong, in one line: what was tried, what happened, what to do."""
import contextlib


class Failure(Exception):
    exit_status = 1


class Usage(Failure):
    """The command line is wrong, and nothing was run."""
    exit_status = 2


def first_line(error):
    return (str(error).strip().splitlines() or ["without a word"])[0]


@contextlib.contextmanager
def trying(what, advice):
    """Whatever a user's own code throws."""
    try:
        yield
    except Failure as failure:
        raise type(failure)(f"{what}: {failure}") from failure
    except Exception as error:
        raise Failure(f"{what}: {type(error).__name__}: {first_line(error)}; {advice}") from error
