# SPDX-License-Identifier: Apache-2.0
"""Published tables as cells, and the rules by which a row is used: README.md has them in words.

The rules look at a row's conditions and at its figure of one device, never at what a prediction of the others would err.
"""
import collections
import dataclasses
import json
import re

import host_model
import machines
import workloads

FAMILIES = {"resnet": "resnets", "resnext": "resnets", "wide_resnet": "resnets", "vgg": "vggs", "densenet": "densenets",
            "mobilenet": "mobile", "mnasnet": "mobile", "squeezenet": "squeezenet", "alexnet": "alexnet", "shufflenet": "shufflenet",
            "googlenet": "inception", "inception": "inception", "efficientnet": "efficientnets", "regnet": "regnets"}

BATCH_OF_STEPS = 12  # a device's, in a table of steps that does not say
STRATEGIES = ("dp", "dp-allreduce", "ddp", "ddp-replicate")


@dataclasses.dataclass(frozen=True)
class Cell:
    """A figure of a table on several devices, with that of one."""
    column: str  # system and precision, or model and system: what constants are fitted by
    machine: machines.Machine
    model: str
    family: str
    strategy: str
    batch: int
    devices: int
    seconds: float
    single: float
    counts: tuple  # items of a dict
    elements: float = 1.0
    is_bound: bool = False
    judges: bool = False  # README.md, "Rows that judge DDP"
    is_fitted: bool = False  # what DDP costs is fitted to it
    software: str = ""
    older_python: float = 1.0  # what an older Python multiplies the interpreter's costs by
    is_batch_assumed: bool = False
    least_of_work: float = host_model.MOST_LEAST  # of all steps of one device of the machine (host_model.of_work), or of a usual one

    @property
    def of(self):
        return dict(self.counts)

    @property
    def nodes(self):
        return -(-self.devices // self.machine.gpus_of_node)

    @property
    def gradient_bytes(self):
        return 4 * self.of["parameters"] * self.elements

    @property
    def items(self):
        return self.of["modules"] + self.of["parameter_tensors"] + self.of["buffers"]


def family_of(model):
    stem = next((stem for stem in sorted(FAMILIES, key=len, reverse=True) if model.startswith(stem)), None)
    return FAMILIES[stem] if stem else re.split(r"[\d_ ]", model)[0]


def devices_of(figures):
    """Figures by their numbers of devices; others, such as "note", are no figures."""
    return {int(devices): float(figure) for devices, figure in figures.items() if str(devices).isdigit() and isinstance(figure, (int, float)) and figure > 0}


def dataparallel_cells(document):
    for system in document["measured"]:
        precision = system.get("precision", "float")
        name = f"{system['system']} {precision}"
        words = f"{system['system']} {system.get('hardware', '')}".split(";")[0]
        for model, steps in system["median_step_ms"].items():
            yield from cells_of_steps(document, system, name, words, model, devices_of(steps))


def cells_of_steps(document, system, name, words, model, steps):
    """The cells of one model on one system, or a line on why there is none."""
    try:
        counts = workloads.counts_of(model, document.get("models", {}))
        if counts is None or 1 not in steps:
            raise ValueError("no counts" if counts is None else "no step of one device")
        machine = machines.machine_meant(words, max(steps))
    except ValueError as reason:
        yield f"{name}, {model}: {reason}"
        return
    stated = system.get("batch_per_device", document.get("batch_per_device"))
    batch = stated or BATCH_OF_STEPS
    for devices, step in steps.items():
        if devices == 1 or (system["system"] == "titan-xp" and devices == 4):
            continue  # the table itself says that the four TITAN Xp are at fault
        yield Cell(column=name, machine=machine, model=model, family=family_of(model), strategy="dp", batch=batch, devices=devices, seconds=step * 1e-3,
                   single=steps[1] * 1e-3, counts=tuple(counts.items()), elements=0.5 if is_half(name) else 1.0, older_python=older_python(system),
                   is_batch_assumed=stated is None)


def older_python(row):
    """By "python": "3.12" of a system or row; where it does not say, older than 3.11."""
    version = re.match(r"(\d+)\.(\d+)", str(row.get("python", "")))
    return 1.0 if version and tuple(map(int, version.groups())) >= (3, 11) else host_model.OLDER_PYTHON


def is_half(words):
    return re.search(r"\b(half|fp16|bf16)\b", words) is not None and "amp" not in words


BATCH = re.compile(r"\bbatch (\d+)")
BATCH_OF_BOUNDS = 128  # a device's, where a table has none


UNITS = re.compile(r"(images|img|samples|sequences|sequence|seq|sentences|items|tokens|tok)/(s|sec)\b")


def seconds_of(row, unit, batch, devices, figure):
    """The step. `unit`: what one sample of the batch counts, such as its tokens."""
    per_step = re.match(r"(s|ms)/(?:step|iter)", row["unit"])
    if per_step:
        return figure * (1e-3 if per_step.group(1) == "ms" else 1.0)
    return devices * batch * unit / figure


def unit_of(row, counts):
    """How much of the row's unit a sample holds; throws ValueError where that is not known."""
    counted = UNITS.match(row["unit"])
    if not counted and not re.match(r"(s|ms)/(step|iter)", row["unit"]):
        raise ValueError(f"'{row['unit']}' is no unit of a step's time")
    if not counted or not counted.group(1).startswith("tok"):
        return 1
    unit = row.get("tokens_per_sample", counts["unit"] if counts["unit"] != 1 else None)
    if unit is None:
        raise ValueError("tokens/s, and how many tokens a sample has is not known (tokens_per_sample)")
    return unit


def without_wrapper(row):
    """The step of one device without DDP if the row has both."""
    found = re.search(r"without DDP on one GPU (\d+(?:\.\d+)?)", row.get("note") or "")
    return float(found.group(1)) if found else None


@dataclasses.dataclass(frozen=True)
class Change:
    """By how many per cent throughput changed from one bucket size, in MiB, to another."""
    cell: Cell
    first: str
    second: str
    percent: float


def bucket_changes(document):
    """Changes that rows report, on the machine and at the batch of the row of the same source and model."""
    for row in document.get("rows", []):
        stated = re.search(r"^([^,]+),.* bucket_cap_mb (\d+) to (\d+)", row.get("what", ""))
        if not stated:
            continue
        bases = [one for one in document["rows"] if one.get("model") == stated.group(1) and one["source"] == row["source"]]
        known = next((cell for cell in throughput_cells({"rows": bases[:1]}) if isinstance(cell, Cell)), None)
        if known is None:
            continue
        for devices, percent in row["by_devices"].items():
            yield Change(dataclasses.replace(known, devices=int(devices)), stated.group(2), stated.group(3), percent)


def throughput_cells(document):
    for row in document["rows"]:
        if "unit" not in row or "by_devices" not in row:
            continue  # a row of changes, not of figures
        words = f"{row['model']} on {row['hardware']}, {row.get('precision', 'fp32')}"
        try:
            yield from cells_of_row(document, row, words)
        except ValueError as reason:
            yield f"{words}: {reason}"


LEGIBLE = 0.04 / 3  # a third of what the mean error of DDP's steps on one node should be


def half_digit(figure):
    """How far, of itself, a printed figure may lie from what it was rounded from."""
    return 0.5 * 10.0 ** -len(f"{figure:g}".partition(".")[2]) / figure


def legible(figures, steps, single):
    """The numbers of devices whose figure is printed exactly enough, and whose step no step on more devices undercuts by too much."""
    of_single = half_digit(single)
    return {devices for devices, figure in figures.items() if half_digit(figure) + of_single <= LEGIBLE
            and all(steps[devices] <= (1 + LEGIBLE) * step for more, step in steps.items() if more > devices)}


def cells_of_row(document, row, words):
    figures = devices_of(row["by_devices"])
    own = {row["model"]: row["counts"]} if "counts" in row else document.get("models", {})
    counts = workloads.counts_of(row["model"], own)
    if counts is None or 1 not in figures:
        raise ValueError("no counts of the model" if counts is None else "no figure of one device")
    strategy = row.get("strategy", "ddp")
    if strategy not in STRATEGIES:
        raise ValueError(f"'{strategy}' is none of {', '.join(STRATEGIES)}")
    unit, machine = unit_of(row, counts), machines.machine_meant(row["hardware"], max(figures))
    given, software, precision = BATCH.search(row["hardware"]), row.get("software", ""), row.get("precision", "fp32")
    batch = row.get("batch_per_device") or (int(given.group(1)) if given else None)
    is_bound = batch is None or "real data" in software
    batch = batch or BATCH_OF_BOUNDS
    steps = {devices: seconds_of(row, unit, batch, devices, figure) for devices, figure in figures.items()}
    single = without_wrapper(row) or steps[1]
    of_nvidia = row["source"].startswith("NVIDIA/DeepLearningExamples")
    judging = legible(figures, steps, without_wrapper(row) or figures[1]) if strategy == "ddp" and not is_bound else ()
    for devices, step in steps.items():
        if devices > 1:
            yield Cell(column=f"{words}, {batch}", machine=machine, model=row["model"], family=machine.kind, strategy=strategy, batch=batch,
                       devices=devices, seconds=step, single=single, judges=devices in judging,
                       is_fitted=of_nvidia and devices in judging and devices <= machine.gpus_of_node,
                       elements=0.5 if is_half(precision) else 1.0, counts=tuple(counts.items()), is_bound=is_bound, software=software,
                       older_python=older_python(row))


def read_json(path):
    """The document; throws ValueError for what is none."""
    with open(path, encoding="utf-8") as file:
        try:
            document = json.load(file)
        except ValueError as error:
            raise ValueError(f"{path}: no JSON: {error}") from error
    if not isinstance(document, dict):
        raise ValueError(f"{path}: no table (research/README.md)")
    return document


def read(path):
    """(cells, lines on what is left out, the document) of a table in one of the forms; throws ValueError for another one."""
    document = read_json(path)
    try:
        return read_form(path, document)
    except KeyError as missing:
        raise ValueError(f"{path}: a row or system has no {missing} (research/README.md)") from missing
    except (AttributeError, TypeError) as wrong:
        raise ValueError(f"{path}: a row or system is not as research/README.md says: {wrong}") from wrong


def with_least_of_work(cells):
    least = collections.defaultdict(lambda: host_model.MOST_LEAST)
    for cell in cells:
        least[cell.machine.kind] = min(least[cell.machine.kind], host_model.of_work(cell))
    return [dataclasses.replace(cell, least_of_work=least[cell.machine.kind]) for cell in cells]


def read_form(path, document):
    if "measured" in document:
        found = list(dataparallel_cells(document))
    elif "rows" in document and any("by_devices" in row for row in document["rows"]):
        found = list(throughput_cells(document))
    else:
        raise ValueError(f"{path}: no table of steps, of throughput by devices or of collectives (research/README.md)")
    return with_least_of_work([cell for cell in found if isinstance(cell, Cell)]), [line for line in found if isinstance(line, str)], document
