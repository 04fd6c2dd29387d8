# SPDX-License-Identifier: Apache-2.0
"""The module that a command line names as FILE.py:FUNCTION or MODULE:FUNCTION, with an example batch."""
from __future__ import annotations

from typing import Any

from ..errors import TandemError, UsageError, trying
from ..user_function import load
from .example import Example


def numbers(text: str, flag: str, such_as: str = "8,3,224,224") -> list[int]:
    try:
        values = [int(word) for word in text.split(",")]
    except ValueError:
        values = []
    if not values or min(values) < 1:
        raise UsageError(f"{flag}={text}: use whole numbers from 1, such as {such_as}")
    return values


def example_of_ours(torch: Any, source: str, made: Any, shape: list[int]) -> Example:
    """Of one of Tandem's own models (tools/torch/models.py)."""
    if len(shape) > 1:
        raise UsageError(f"--shape: of {source} it is the samples of a batch; use one number")
    values = made.input
    loss = "cross-entropy" if made.target.classes else "squared-error"
    if values.classes:
        batch = torch.randint(values.classes, (*shape, *values.shape))
    else:
        batch = torch.rand(*shape, *values.shape) * 2 - 1
    return Example(torch, source, made.module, (batch,), loss)


def example_of(torch: Any, options: Any) -> Example:
    source = " ".join((options.source, *options.words))
    shape = numbers(options.shape, "--shape") if options.shape else None
    function = load(options.source)
    with trying(f"calling {source}", "mend the function, or the words behind it"):
        made = function(*options.words)
    if hasattr(made, "module") and hasattr(made, "input"):
        return example_of_ours(torch, source, made, shape or [1])
    if isinstance(made, torch.nn.Module):
        if shape is None:
            raise UsageError(f"{source} returns no example batch: give its --shape, such as --shape=8,3,224,224")
        return Example(torch, source, made, (torch.rand(*shape) * 2 - 1,), options.loss)
    if isinstance(made, (tuple, list)) and len(made) == 2 and isinstance(made[0], torch.nn.Module):
        if shape:
            raise UsageError(f"--shape: {source} returns an example batch of its own; leave it out")
        module, batch = made
        return Example(torch, source, module, tuple(batch) if isinstance(batch, (tuple, list)) else (batch,), options.loss)
    raise TandemError(f"{source} returns what is no torch module, but a {type(made).__name__}: return a module and an "
                      "example batch (a tensor, or a tuple of them), or the module alone")
