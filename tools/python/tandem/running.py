# SPDX-License-Identifier: Apache-2.0
"""Measuring: `tandem run` and `tandem explain`, with the results as objects."""
from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import pathlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Optional, Union

from .child import call, options_of
from .errors import TandemError, UsageError, first_line, path_text, trying
from .results import Results, load

StrPath = Union[str, "os.PathLike[str]"]
Numbers = Union[int, Sequence[int], None]
USUAL_SWEEP = "quick"
SWEEP = "sweep.json"  # what a mapping is kept as
EXAMPLE = "{'model': 'mlp-small', 'batch': 64}"


def new_folder(name: str) -> pathlib.Path:
    """out/NAME-1, or the first number that is free."""
    number = 1
    while pathlib.Path("out", f"{name}-{number}").exists():
        number += 1
    return pathlib.Path("out", f"{name}-{number}")


def with_absolute_models(sweep: Mapping[str, Any]) -> dict[str, Any]:
    """Files of models are named from here; in the sweep's file they would be sought beside it."""
    def absolute(model: Any, key: str) -> Any:
        if isinstance(model, (list, tuple)):
            return [absolute(each, key) for each in model]
        text = path_text(key, model)
        is_file = text.endswith(".json") or text.rpartition(":")[0].endswith(".py")
        return os.path.abspath(text) if is_file else text

    def checked(workload: Any, key: str) -> dict[str, Any]:
        if not isinstance(workload, Mapping):
            raise UsageError(f"{key} is {workload!r}: give a mapping, such as {EXAMPLE}")
        return {**workload, **{name: absolute(workload[name], f"{key}[{name!r}]") for name in ("model", "module") if name in workload}}

    workloads = sweep.get("workloads", [])
    if not isinstance(workloads, (list, tuple)):
        raise UsageError(f"run: sweep['workloads'] is {workloads!r}: give a list of mappings, such as [{EXAMPLE}]")
    return {**sweep, "workloads": [checked(workload, f"run: sweep['workloads'][{index}]") for index, workload in enumerate(workloads)]}


def text_of(sweep: Mapping[str, Any]) -> str:
    written = with_absolute_models(sweep)
    for key, value in written.items():
        try:
            json.dumps({key: value})
        except (TypeError, ValueError) as error:
            raise UsageError(f"run: sweep[{key!r}] cannot be written as JSON: {first_line(error)}; give text, numbers, lists and mappings") from error
    return json.dumps(written, indent=1) + "\n"


def file_of(sweep: Mapping[str, Any], out: pathlib.Path) -> pathlib.Path:
    """OUT/sweep.json: with it the same can be measured again by the command."""
    path = out / SWEEP
    text = text_of(sweep)
    with trying(f"writing {path}", "choose another out"):
        out.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return path


@contextlib.contextmanager
def removing_what_stayed_empty(out: pathlib.Path) -> Iterator[None]:
    """Folders that are made within, where they hold the sweep alone when it fails."""
    absent = [folder for folder in (out, *out.parents) if not folder.exists()]
    try:
        yield
    except TandemError as error:
        if absent and out.is_dir() and [path.name for path in out.iterdir()] == [SWEEP]:
            error.folder = None
            with contextlib.suppress(OSError):  # another call may have begun to use out/
                (out / SWEEP).unlink()
                for folder in absent:
                    folder.rmdir()
        raise


def python_of(with_torch: Union[bool, StrPath]) -> Union[bool, str]:
    return sys.executable if with_torch is True else os.fspath(with_torch) if with_torch else False


def checked_module(verb: str, module: str) -> str:
    if not isinstance(module, str):
        raise UsageError(f"{verb}: module is {module!r}: name the function that returns it, such as 'own.py:build', for each launch makes "
                         "the module anew")
    return module


def module_options(module: str, batch: Numbers, batch_per_device: Numbers, cells: Sequence[str]) -> list[str]:
    """Options of the command line; a user's module is named by the function that returns it."""
    return [*options_of({"module": checked_module("run", module), "batch": numbers_text("batch", batch),
                         "batch_per_device": numbers_text("batch_per_device", batch_per_device)}),
            *(f"--cell={cell}" for cell in ([cells] if isinstance(cells, str) else cells))]


def numbers_text(name: str, numbers: Numbers, verb: str = "run") -> Optional[str]:
    if numbers is None:
        return None
    every = [numbers] if isinstance(numbers, int) else list(numbers)
    if not every or not all(isinstance(number, int) and number > 0 for number in every):
        raise UsageError(f"{verb}: {name}={numbers!r}: give a whole number from 1, or several, such as [8, 32]")
    return ",".join(map(str, every))


def short_name(module: str) -> str:
    where = module.rpartition(":")[0] or module
    return pathlib.Path(where).stem if where.endswith(".py") else where.rpartition(".")[2]


def run(sweep: Optional[Union[StrPath, Mapping[str, Any]]] = None, out: Optional[StrPath] = None, *,
        module: Optional[str] = None, batch_per_device: Numbers = None, batch: Numbers = None, cells: Sequence[str] = (),
        pretend: Optional[int] = None, like: Optional[str] = None, beside_gpu: bool = False,
        devices: Optional[int] = None, launches: Optional[int] = None, budget: Optional[str] = None,
        backend: Optional[str] = None, with_torch: Union[bool, StrPath] = False, oversubscribe: bool = False,
        hosts: Optional[str] = None,
        launcher: Optional[str] = None, launch_timeout: Optional[str] = None, comm_timeout: Optional[str] = None,
        progress: bool = True) -> Results:
    """Measures a sweep, or PyTorch's own strategies on a module of yours, and returns the results. Called again with the same
    arguments and `out` it goes on where it stopped.

    sweep: a name such as "quick" (`tandem list sweeps`; the default), the path of a JSON file, or a mapping of the same
        form; a mapping is kept as OUT/sweep.json, and files of models in it are named from the current folder.
    module: the function that returns your module and an example batch, "own.py:build" or "package.part:build"; this
        python measures it unless with_torch names another one. With a sweep, it stands in place of the sweep's models.
    batch_per_device, batch: of a module: samples per step and device, or over all devices; a number or several.
    cells: of a module: strategies with options to compare as well, such as ["ddp grads=views", "fsdp", "zero1"].
    pretend, like, beside_gpu: of a module: so many pretended GPUs, on which the host's work is measured and nothing
        computed; which card they are like, such as "h100"; also on a machine with a real GPU.
    out: folder for journal, results, report and logs; default: a new one, out/NAME-1, out/NAME-2, ...
    devices: what "all" devices means in the sweep; default: the cores or GPUs found here.
    launches: launches (fresh groups of processes, the unit of statistics) per cell instead of the sweep's.
    budget: the most informative cells that fit into this time, such as "30m" or "90s".
    backend: "auto", "host" or "cuda".
    with_torch: PyTorch's own strategies beside, by this python (True) or by another one (its path). "off": not even dp
        and ddp, which are measured between GPUs unasked where the python3 in PATH has torch.
    oversubscribe: more devices than cores; results carry the mark.
    hosts, launcher: nodes, such as "node1:8,node2:8"; "mpirun" or, within Slurm, "srun".
    launch_timeout, comm_timeout: times such as "10m": give up on a launch; ranks give up on one that is late.
    progress: show a line of progress while it runs.

    Raises UsageError where nothing could be run, TandemError where it failed (a launch, or the whole), and
    KeyboardInterrupt when it is stopped; what was measured stays in `out`.
    """
    if module is None and (batch is not None or batch_per_device is not None or cells):
        raise UsageError("run: batch, batch_per_device and cells are of a module; a sweep has keys of its own for them")
    if module is None and (pretend is not None or like is not None or beside_gpu):
        raise UsageError("run: pretend, like and beside_gpu are of a module; give one")
    words = []
    if module is not None:
        words = module_options(module, batch, batch_per_device, cells)
        name = short_name(module)
    elif isinstance(sweep, Mapping):
        name = pathlib.Path(str(sweep.get("name", ""))).name
    else:
        sweep = path_text("run: sweep", USUAL_SWEEP if sweep is None else sweep)
        name = pathlib.Path(sweep).stem
    folder = pathlib.Path(path_text("run: out", out)) if out is not None else new_folder(name or "sweep")
    options = options_of({
        "out": folder, "devices": devices, "launches": launches, "budget": budget, "backend": backend,
        "with_torch": python_of(with_torch or module is not None), "oversubscribe": oversubscribe, "hosts": hosts,
        "launcher": launcher, "launch_timeout": launch_timeout, "comm_timeout": comm_timeout,
        "pretend": pretend, "like": like, "beside_gpu": beside_gpu})
    with removing_what_stayed_empty(folder):
        asked = [] if sweep is None else [str(file_of(sweep, folder)) if isinstance(sweep, Mapping) else path_text("run: sweep", sweep)]
        call(["run", *asked, *words, *options], folder, progress)
    return load(folder)


@dataclasses.dataclass(frozen=True)
class Answer:
    """What a command says beside its results."""

    folder: pathlib.Path
    """Where its launches, its report and its text lie."""
    text: str
    """Markdown."""

    @property
    def results(self) -> Results:
        """Every launch's cell, with its figures."""
        return load(self.folder)

    @classmethod
    def read(cls, folder: pathlib.Path, name: str, verb: str) -> Any:
        """What the verb wrote."""
        with trying(f"reading {folder / name}", f"run `tandem {verb}` at a terminal to see why it was not written"):
            return cls(folder, (folder / name).read_text(encoding="utf-8"))

    def __str__(self) -> str:
        return self.text

    def _repr_markdown_(self) -> str:
        return self.text


class Explanation(Answer):
    """Why dp and ddp differ, cause by cause: explain.md, milliseconds per step with 95 % intervals."""


def explain(model: Optional[StrPath] = None, batch: int = 0, devices: int = 2, *, module: Optional[str] = None,
            source: Union[StrPath, Results, None] = None, out: Optional[StrPath] = None, launches: Optional[int] = None, input: Optional[str] = None,
            precision: Optional[str] = None, dispatch_cost: Optional[str] = None,
            interpreter_lock: bool = False, with_torch: Union[bool, StrPath] = False, plant: Optional[str] = None,
            backend: Optional[str] = None, min_time: Optional[str] = None, oversubscribe: bool = False,
            hosts: Optional[str] = None, launcher: Optional[str] = None,
            launch_timeout: Optional[str] = None, comm_timeout: Optional[str] = None,
            progress: bool = True) -> Explanation:
    """Explains the gap between dp and ddp, cause by cause; measures what is missing for it first.

    model: a built-in one such as "mlp-small", or a workload file. batch: samples per step over all devices.
    module: in place of a model: the function that returns your module and an example batch, "own.py:build"; this python
        measures PyTorch's ends of the ladder on it, unless with_torch names another one, and Tandem's rungs train its export.
    source: results or a folder of tandem.run: its launches are used, missing ones are added to it.
    out: without `source`: folder for the launches; default: a new one, out/explain-1, ...
    launches: per rung. input: where a batch starts: "host", "pageable" or "device".
    precision: "fp32", "tf32" or "bf16". min_time: a launch measures at least so long, such as "500ms".
    dispatch_cost, interpreter_lock: beside it a modelled chart of an interpreter's cost per call, such as "8us".
    plant: a delay such as "replicate:2ms", to see it found.
    The others are those of tandem.run, errors too.
    """
    given = source.folder if isinstance(source, Results) else None
    if given is None and source is not None:
        given = pathlib.Path(path_text("explain: source", source))
    if given is not None and out is not None:
        raise UsageError("explain: source and out are both given, and launches would go into source; leave one out")
    if module is not None:
        with_torch = with_torch or True
    folder = given or (pathlib.Path(path_text("explain: out", out)) if out is not None else new_folder("explain"))
    options = options_of({
        "out": None if given else folder, "model": path_text("explain: model", model) if model is not None else None,
        "module": checked_module("explain", module) if module is not None else None, "batch": batch, "devices": devices,
        "launches": launches, "input": input, "precision": precision, "dispatch_cost": dispatch_cost,
        "interpreter_lock": interpreter_lock, "with_torch": python_of(with_torch), "plant": plant, "backend": backend,
        "min_time": min_time, "oversubscribe": oversubscribe, "hosts": hosts,
        "launcher": launcher, "launch_timeout": launch_timeout, "comm_timeout": comm_timeout})
    call(["explain", *([str(given)] if given else []), *options], folder, progress)
    return Explanation.read(folder.parent if folder.is_file() else folder, "explain.md", "explain")
