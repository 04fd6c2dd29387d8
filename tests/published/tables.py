# SPDX-License-Identifier: Apache-2.0
"""Published tables as cells, and the rules by which a row is used: docs/method/published.md has them in words.

The rules look at a row's conditions and at its figure of one device, never at what a prediction of the others would err.
"""
import dataclasses
import json
import re

import workloads

FAMILIES = {"resnet": "resnets", "resnext": "resnets", "wide_resnet": "resnets", "vgg": "vggs", "densenet": "densenets",
            "mobilenet": "mobile", "mnasnet": "mobile", "squeezenet": "squeezenet", "alexnet": "alexnet", "shufflenet": "shufflenet",
            "googlenet": "inception", "inception": "inception", "efficientnet": "efficientnets", "regnet": "regnets"}

# The hardware of a system, by what its table calls it; the first that matches.
HARDWARE = [(r"dgx.a100|A100.SXM4?", "dgx-a100"), (r"DGX-2", "dgx-2-v100"), (r"[VP]100.PCIe", None), (r"V100", "dgx-1-v100"),
            (r"titan.rtx", "titan-rtx-pcie-4"), (r"titan.xp", "titan-xp-pcie-4"), (r"2080.?ti", "rtx-2080ti-pcie-4"),
            (r"P100", "dgx-1-p100"), (r"H100.SXM", "dgx-h100"), (r"H100.PCIe", "h100-pcie-8"), (r"3090", "rtx-3090-pcie-4"),
            (r"DGX-1", "dgx-1-v100")]
BATCH_OF_STEPS = 12  # a device's, in a table of steps that does not say
THROUGH_HOST = re.compile("pcie")  # hardware on which GPUs exchange through the host


@dataclasses.dataclass(frozen=True)
class Cell:
    """A figure of a table on several devices, with that of one."""
    column: str  # system and precision, or model and system: what constants are fitted by
    hardware: str
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
    software: str = ""

    @property
    def of(self):
        return dict(self.counts)

    @property
    def gradient_bytes(self):
        return 4 * self.of["parameters"] * self.elements

    @property
    def items(self):
        return self.of["modules"] + self.of["parameter_tensors"] + self.of["buffers"]


def hardware_of(text):
    """None: no description; PCIe boxes of V100 and P100 are no DGX-1."""
    return next((name for pattern, name in HARDWARE if re.search(pattern, text, re.IGNORECASE)), None)


def family_of(model):
    stem = next((stem for stem in sorted(FAMILIES, key=len, reverse=True) if model.startswith(stem)), None)
    return FAMILIES[stem] if stem else re.split(r"[\d_ ]", model)[0]


def dataparallel_cells(document):
    batch = document.get("batch_per_device", BATCH_OF_STEPS)
    for system in document["measured"]:
        name = f"{system['system']} {system['precision']}"
        hardware = hardware_of(f"{system['system']} {system['hardware']}")
        if hardware is None:
            yield f"{name}: no description of '{system['hardware']}'"
            continue
        elements = 0.5 if system["precision"] == "half" else 1.0
        for model, steps in system["median_step_ms"].items():
            if model not in document["models"] or "1" not in steps:
                yield f"{name}, {model}: no counts, or no step of one device"
                continue
            for devices, step in steps.items():
                if int(devices) == 1:
                    continue
                if system["system"] == "titan-xp" and int(devices) == 4:
                    continue  # the table itself says that these are a fault of the machine
                yield Cell(column=name, hardware=hardware, model=model, family=family_of(model), strategy="dp", batch=batch, devices=int(devices),
                           seconds=step * 1e-3, single=steps["1"] * 1e-3, counts=tuple(document["models"][model].items()), elements=elements)


BATCH = re.compile(r"\bbatch (\d+)")


def seconds_of(row, counts, batch, devices, figure):
    if row["unit"].startswith("s/step"):
        return figure
    return devices * batch * counts["unit"] / figure


def without_wrapper(row):
    """The step of one device without DDP where the row tells both."""
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
    """Changes that rows tell, on the machine and at the batch of the row of the same source and model."""
    for row in document.get("rows", []):
        told = re.search(r"^([^,]+),.* bucket_cap_mb (\d+) to (\d+)", row.get("what", ""))
        if not told:
            continue
        bases = [one for one in document["rows"] if one.get("model") == told.group(1) and one["source"] == row["source"]]
        known = next((cell for cell in throughput_cells({"rows": bases[:1]}) if isinstance(cell, Cell)), None)
        if known is None:
            continue
        for devices, percent in row["by_devices"].items():
            yield Change(dataclasses.replace(known, devices=int(devices)), told.group(2), told.group(3), percent)


def throughput_cells(document):
    for row in document["rows"]:
        if "unit" not in row:
            continue  # a row of changes, not of figures
        words = f"{row['model']} on {row['hardware']}, {row['precision']}"
        counts, hardware = workloads.named(row["model"]), hardware_of(row["hardware"])
        given = BATCH.search(row["hardware"])
        batch = row["batch_per_device"] or (int(given.group(1)) if given else None)
        if counts is None or counts["unit"] is None or hardware is None or "1" not in row["by_devices"]:
            yield f"{words}: no counts of the model, no description of the machine, or no step of one device"
            continue
        software = row.get("software", "")
        is_bound = batch is None or "real data" in software
        batch = batch or 128
        single = without_wrapper(row) or seconds_of(row, counts, batch, 1, row["by_devices"]["1"])
        for devices, figure in row["by_devices"].items():
            if int(devices) == 1:
                continue
            yield Cell(column=f"{row['model']} on {row['hardware']}, {row['precision']}, {batch}", hardware=hardware, model=row["model"],
                       family=hardware, strategy=row["strategy"], batch=batch, devices=int(devices),
                       seconds=seconds_of(row, counts, batch, int(devices), figure), single=single,
                       elements=0.5 if row["precision"] == "half" else 1.0,
                       counts=tuple(counts.items()), is_bound=is_bound, software=software)


def read(path):
    """(cells, lines on what is left out, the document) of a table in one of the forms; throws ValueError for another one."""
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    try:
        return read_form(path, document)
    except KeyError as missing:
        raise ValueError(f"{path}: a row or system has no {missing} (docs/method/published.md)") from missing


def read_form(path, document):
    if "measured" in document and "models" in document:
        found = list(dataparallel_cells(document))
    elif "rows" in document and any("by_devices" in row for row in document["rows"]):
        found = list(throughput_cells(document))
    else:
        raise ValueError(f"{path}: no table of steps or of throughput by devices (docs/method/published.md)")
    return [cell for cell in found if isinstance(cell, Cell)], [line for line in found if isinstance(line, str)], document
