#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints what a step of torch and a step of Tandem ask of pretended GPUs, side by side, and in what the two differ.

    conformance.py [--build=FOLDER] [--python=PYTHON] [--devices=N] [--batch=N] [--step=N] [--torch-alone=NAME=VALUE]...
                   MODEL dp|ddp [NAME=VALUE...]

NAME=VALUE are options that both sides have, such as grads=views or bucket-mb=10; --torch-alone gives one that Tandem lacks. Needs
a build with the CUDA module and a torch that is built with CUDA; no GPU. Exit status: 0 alike but for the known differences, 1 not
alike or not compared, 2 wrong usage.
"""
import argparse
import copy
import dataclasses
import difflib
import itertools
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

import known_differences
import launch_kinds
import step_calls

HERE = pathlib.Path(__file__).resolve().parent
PROJECT = HERE.parents[1]
STEPS = 4
BATCHES = {"gpt2-nano": 8, "resnet-tiny": 16, "resnet50": 8}  # over all devices; of other models 64
ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


class Failed(Exception):
    """A side that did not take its steps."""

    @classmethod
    def saying(cls, program, done):
        """With the program's own line, which mpirun's words may surround."""
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        own = [line for line in lines if line.startswith(("marked_steps: ", "tandem: "))]
        return cls(f"{program} ended with status {done.returncode}: {(own or lines[-1:] or ['it said nothing'])[0]}")


def end(process):
    """With its ranks, which mpirun ends where it is asked to."""
    os.killpg(process.pid, signal.SIGTERM)
    try:
        process.communicate(timeout=10)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)


@dataclasses.dataclass
class Case:
    model: str
    strategy: str
    devices: int = 4
    options: tuple = ()  # NAME=VALUE
    batch: int = 0
    torch_alone: tuple = ()  # NAME=VALUE

    def samples(self):
        return self.batch or BATCHES.get(self.model, 64)

    def words(self):
        return [f"--strategy={self.strategy}", f"--model={self.model}", f"--devices={self.devices}",
                f"--batch={self.samples()}", *(f"--{option}" for option in self.options)]

    def of_torch(self):
        return dataclasses.replace(self, options=self.options + self.torch_alone)

    def module(self, said):
        """What known differences depend on. A ResNet ends with the average pool and a linear layer."""
        given = dict(option.partition("=")[::2] for option in self.options)
        pieces, width = int(given.get("accumulate", 1)), 2 if given.get("precision") in ("bf16", "fp16") else 4
        pooled = []
        if self.model.startswith("resnet"):
            (weight, _), (classes, _) = said["parameters"][-2:]
            share = -(-self.samples() // self.devices)
            shares = [min(share, self.samples() - share * device) // pieces for device in range(self.devices)]
            pooled = [samples * (weight // classes) * width for samples in shares]
        return known_differences.Module(said["parameters"], said["buffers"], said["order"], pooled, pieces, self.strategy == "ddp",
                                        width)


@dataclasses.dataclass
class Sides:
    """Where the programs of both sides lie."""
    build: pathlib.Path
    python: str
    mpirun: str = "mpirun"
    timeout: float = 300.0  # seconds, of a side

    def run(self, case, folder, program, *command):
        """On pretended GPUs; what the program printed, whose command this is."""
        words = [self.build / "bin" / "tandem", "pretend", f"--gpus={case.devices}", f"--log={folder}/calls",
                 f"--python={self.python}", "--", *command, *case.words()]
        environment = os.environ | ROOT | {"TANDEM_MODULE_PATH": str(self.build / "tests" / "lib")}
        with subprocess.Popen(list(map(str, words)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
                              start_new_session=True) as process:
            try:
                done = subprocess.CompletedProcess(words, 0, *process.communicate(timeout=self.timeout))
            except subprocess.TimeoutExpired:
                end(process)
                raise Failed(f"{program} took no {STEPS} steps in {self.timeout:g} s, and was ended; "
                             "is the machine busy?") from None
        done.returncode = process.returncode
        if done.returncode != 0:
            raise Failed.saying(program, done)
        return done.stdout

    def ours(self, case, folder):
        before = [self.mpirun, "--oversubscribe", "--bind-to", "none", "-np", str(case.devices)] if case.strategy == "ddp" else []
        self.run(case, folder, "marked_steps", *before, self.build / "tests" / "torch" / "marked_steps", str(STEPS), "--backend=cuda",
                 "--phases=off")

    def torch(self, case, folder):
        """What marked_steps.py says of the module. gloo may write lines of its own around it."""
        said = self.run(case, folder, "marked_steps.py", self.python, "-B", HERE / "marked_steps.py", PROJECT / "tools", str(STEPS),
                        "--backend=pretended-a100")
        lines = [line for line in said.splitlines() if line.startswith("{")]
        if not lines:
            raise Failed("marked_steps.py took its steps and said nothing of the module; has a line on standard output been cut off?")
        return json.loads(lines[0])


class Comparison:
    """The steps of both sides, as they were logged."""

    def __init__(self, sides, case):
        with tempfile.TemporaryDirectory() as theirs, tempfile.TemporaryDirectory() as ours:
            said = sides.torch(case.of_torch(), theirs)
            self.version, self.module = said["torch"], case.module(said)
            sides.ours(case, ours)
            self.torch, self.ours = step_calls.read(theirs), step_calls.read(ours)

    def step(self, number):
        return step_calls.step_calls(self.torch, number), step_calls.step_calls(self.ours, number)

    def differences(self, number, collectives_alone=False):
        """(calls that each known difference explains, lines of what is left)."""
        torch, ours = copy.deepcopy(self.step(number))
        if collectives_alone:
            for side in (torch, ours):
                side.moves.clear()
                side.local.clear()
                side.work.clear()
        explained = known_differences.settle(torch, ours, self.module)
        return explained, list(left_over(torch, ours))


def lists_of(torch, ours):
    """(title, torch's, ours) of what is compared in its order."""
    yield "collectives", torch.collectives, ours.collectives
    yield "copies between devices", torch.moves, ours.moves
    for device in sorted(torch.local.keys() | ours.local.keys()):
        yield f"copies within GPU {device}", torch.local[device], ours.local[device]


def left_over(torch, ours):
    work = ("products and convolutions", *(sorted(side.work.elements()) for side in (torch, ours)))
    for title, theirs, mine in itertools.chain(lists_of(torch, ours), [work]):
        lines = list(difflib.unified_diff(list(map(str, theirs)), list(map(str, mine)), "torch", "Tandem", lineterm="", n=0))
        if lines:
            yield f"{title}:"
            yield from lines


def print_side_by_side(torch, ours):
    for title, theirs, mine in lists_of(torch, ours):
        print(f"\n{title}: torch {len(theirs)}, Tandem {len(mine)}")
        for left, right in itertools.zip_longest(map(str, theirs), map(str, mine), fillvalue="-"):
            print(f"  {left:<70} {right}")
    for title, rows in (("launches", launch_kinds.table(torch, ours)),
                        ("calls", {kind: [torch.counts[kind], ours.counts[kind]] for kind in sorted(torch.counts | ours.counts)})):
        print(f"\n{title} by kind, of all processes")
        for kind, (theirs, mine) in rows.items():
            print(f"  {kind:<21} torch {theirs:>6}, Tandem {mine:>6}")


def make_parser():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=PROJECT / "build" / "release")
    parser.add_argument("--python", default=os.environ.get("TANDEM_TORCH_PYTHON", sys.executable))
    parser.add_argument("--devices", type=int, default=4)
    parser.add_argument("--batch", type=int, default=0)
    parser.add_argument("--step", type=int, default=STEPS - 1, choices=range(STEPS), help="0 is the first one")
    parser.add_argument("--torch-alone", action="append", default=[], metavar="NAME=VALUE", help="an option that Tandem lacks")
    parser.add_argument("model")
    parser.add_argument("strategy", choices=["dp", "ddp"])
    parser.add_argument("options", nargs="*", metavar="NAME=VALUE")
    return parser


def compare(given):
    """0 where the two steps are alike."""
    case = Case(given.model, given.strategy, given.devices, tuple(given.options), given.batch, tuple(given.torch_alone))
    comparison = Comparison(Sides(given.build.resolve(), given.python), case)
    print_side_by_side(*comparison.step(given.step))
    explained, left = comparison.differences(given.step, collectives_alone=given.step == 0)
    print("\nknown differences, in calls of all GPUs: " + (", ".join(f"{name} {count}" for name, count in explained.items()) or "none"))
    print("\n".join(["not known:", *left]) if left else "other differences: none")
    return 1 if left else 0


def main():
    parser = make_parser()
    given = parser.parse_args()
    steps = given.build / "tests" / "torch" / "marked_steps"
    if not steps.is_file():
        parser.error(f"there is no {steps}: build the target marked_steps where the CUDA toolkit is found, and name the folder with --build")
    try:
        return compare(given)
    except (Failed, OSError, ValueError) as error:
        print(f"conformance: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
