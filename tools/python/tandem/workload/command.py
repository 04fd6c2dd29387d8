# SPDX-License-Identifier: Apache-2.0
"""Writes a torch module as a workload file, which Tandem replays: step_bench --model=FILE.json.

    export_workload own.py:make --out=own.json
    export_workload torchvision.models:resnet18 --shape=8,3,224,224 --loss=cross-entropy --out=resnet18.json
    export_workload tools/torch/models.py:build gpt2-nano --shape=16 --out=nano.json

SOURCE is a function in a file or of a module on the path, called with the words behind it. It returns the module and an
example batch (a tensor, or a tuple of them); or the module alone, for which --shape says what its batch looks like; or
one of Tandem's own models (tools/torch/models.py), for which --shape is the samples of a batch.

A layer is a submodule that has parameters, with what is dispatched from its first call until the next layer's. FLOPs are
those of matrix products, convolutions and attention, counted as they are dispatched; norms, activations and what else
there is count as operations that move their layer's activations, which is less than they take. Calls are those from
Python into torch's library: one for a linear layer, and one for each view. Frozen parameters are left out. Needs torch
2.0 or newer.
"""
from __future__ import annotations

import argparse
import pathlib
import sys
from typing import Any, NoReturn

from ..errors import TandemError, UsageError, trying
from .document import check_version, text_of, workload_of
from .example import LOSSES
from .source import example_of


def counted(things: list[Any], noun: str) -> str:
    return f"{len(things)} {noun}{'' if len(things) == 1 else 's'}"


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        if "--measure" in message:
            message = "--measure was removed: layers are known by their FLOPs, and --single-step=TIME scales simulated ones"
        raise UsageError(f"{message}; --help says how it is called")


def parse() -> argparse.Namespace:
    parser = Parser(prog="export_workload", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", metavar="SOURCE", help="FILE.py:FUNCTION or MODULE:FUNCTION")
    parser.add_argument("words", metavar="WORD", nargs="*", help="what the function is called with")
    parser.add_argument("--out", required=True, help="the file that is written")
    parser.add_argument("--shape", default="", help="of the example batch, where the function returns none")
    parser.add_argument("--loss", choices=LOSSES, default=LOSSES[0],
                        help="what the output is trained for; classes are its last dimension")
    parser.add_argument("--name", default="", help="of the workload; default: the last WORD, or the function's")
    options = parser.parse_args()
    if not pathlib.Path(options.out).absolute().parent.is_dir():
        raise UsageError(f"--out={options.out}: there is no such folder; make it, or choose another")
    source = pathlib.Path(options.source.rpartition(":")[0])
    if source.is_file() and pathlib.Path(options.out).exists() and source.samefile(options.out):
        raise UsageError(f"--out={options.out}: it is what is read, and would be overwritten; choose another")
    return options


def export(options: argparse.Namespace) -> None:
    with trying("importing torch", "run this with a python that has torch 2.0 or newer"):
        import torch  # here, so that --help needs none
    check_version(torch)
    torch.manual_seed(1)
    example = example_of(torch, options)
    name = options.name or (options.words or [options.source.rpartition(":")[2]])[-1]
    content = workload_of(torch, example, name)
    with trying(f"writing {options.out}", "choose another --out"):
        pathlib.Path(options.out).write_text(text_of(content), encoding="utf-8")
    print(f"{options.out}: {counted(content['layers'], 'layer')}, {counted(content['tensors'], 'tensor')}")


def main() -> int:
    try:
        export(parse())
    except TandemError as failure:
        print(f"export_workload: {failure}", file=sys.stderr)
        return failure.exit_status
    return 0
