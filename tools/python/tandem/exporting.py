# SPDX-License-Identifier: Apache-2.0
"""From a torch module in this process to a workload file."""
from __future__ import annotations

import copy
import os
import pathlib
from typing import Any, Optional, Union

from .errors import UsageError, trying


def checked_path(path: Union[str, os.PathLike[str], None], default: str) -> pathlib.Path:
    out = pathlib.Path(path if path is not None else f"{default}.json").absolute()
    if out.suffix != ".json":
        raise UsageError(f"exporting to {out}: a workload file ends with .json; call it so")
    if not out.parent.is_dir():
        raise UsageError(f"exporting to {out}: there is no such folder; make it, or choose another")
    return out


def export(module: Any, example_inputs: Any, path: Union[str, os.PathLike[str], None] = None, *,
           loss: str = "squared-error", name: Optional[str] = None) -> pathlib.Path:
    """Writes a torch.nn.Module as a workload file, which tandem.run and tandem.explain train, and returns its path.

    module: left as it is; a copy of it runs a step. Frozen parameters are left out.
    example_inputs: what it is called with: a tensor, or a tuple of them, samples first: (batch, ...).
    path: the file, .json; default: the class's name in the current folder.
    loss: what the output, (batch, ...), is trained for: "squared-error", or "cross-entropy", of which the last
        dimension holds the classes.

    Raises TandemError where it cannot be exported, with the layer that fails. Needs torch 2.0 or newer.
    """
    with trying("importing torch", "tandem.export needs it, 2.0 or newer: pip install torch"):
        import torch
    from .workload.document import check_version, text_of, workload_of
    from .workload.example import LOSSES, Example
    check_version(torch)
    if not isinstance(module, torch.nn.Module):
        raise UsageError(f"exporting {type(module).__name__}: it is no torch.nn.Module; give one")
    if loss not in LOSSES:
        raise UsageError(f"loss='{loss}': use {' or '.join(LOSSES)}")
    source = type(module).__name__
    out = checked_path(path, source)
    inputs = tuple(example_inputs) if isinstance(example_inputs, (tuple, list)) else (example_inputs,)
    with trying(f"copying {source}", "give a module that copy.deepcopy can copy"):
        own = copy.deepcopy(module)
    with torch.random.fork_rng(devices=[]), torch.enable_grad():
        torch.manual_seed(1)
        content = workload_of(torch, Example(torch, source, own, inputs, loss), name or out.stem)
    with trying(f"writing {out}", "choose another path"):
        out.write_text(text_of(content), encoding="utf-8")
    return out
