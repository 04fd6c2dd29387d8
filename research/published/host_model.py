# SPDX-License-Identifier: Apache-2.0
"""What the host of a step of DataParallel does, by measurements on pretended devices (host_work.json) alone.

Costs per kind were measured on small modules, as processor's time of one thread. Whole steps of torchvision's models on the same
kind of devices take longer: their modules hold more than empty ones, and a step has what no kind is charged for. So the kinds
have factors here, and each step of several devices a time of its own, by least squares over those whole steps. No published step
has a part in it.
"""
import functools
import json
import pathlib

import errors
import workloads

HERE = pathlib.Path(__file__).resolve().parent
WORK = json.loads((HERE / "host_work.json").read_text(encoding="utf-8"))
COSTS = WORK["costs_us"]
# The kinds that DataParallel is charged for, by the group that has one factor.
GROUPS = {"replica": ("replica-module", "replica-parameter", "replica-buffer"), "call": ("call", "operation", "scatter", "gather"),
          "autograd": ("autograd",)}
MODELS_OF_STEPS = json.loads((HERE / "dataparallel_torchvision.json").read_text(encoding="utf-8"))["models"]  # their counts
# Without cuDNN, as on pretended devices, torch convolves a group at a time: these steps are no host's work on GPUs.
GROUPED = ("resnext50_32x4d",)
# CPython 3.11 is 25 % faster than 3.10 on average (docs.python.org, What's New in Python 3.11), and the tables are older than
# 3.11, with which the costs were measured. Processors are not in it: nobody says which the tables' machines had.
OLDER_PYTHON = 1.25
# Pretended devices leave out what CUDA's own libraries take of the host, and hosts differ in speed: of the committed tables' machines
# the steps of one device that take least for their measured work take 2.1 to 2.9 times it. Up to twice as much the host decides a step
# of the machine: on A100 in half precision all but VGGs, whatever their FLOPs, wide_resnet101_2 as long as resnet101.
MOST_LEAST = 2.9
MOST_OF_LEAST = 2.0


def terms(counts, devices):
    """Seconds, by the costs of COSTS, of replicas, calls and autograd's nodes; and of several devices once, and bytes."""
    several = devices > 1
    replica = COSTS["replica-module"] * counts["modules"] + COSTS["replica-parameter"] * counts["parameter_tensors"] + COSTS["replica-buffer"] * counts["buffers"]
    calls = workloads.CALLS * counts["leaf_modules"]
    return [1e-6 * several * devices * replica, 1e-6 * devices * calls * COSTS["call"], 1e-6 * COSTS["autograd"] * (calls + counts["parameter_tensors"]),
            1.0 * several, 1e-9 * several * 4 * counts["parameters"]]


@functools.cache
def fitted():
    """(factor by group, seconds once a step of several devices). What pretended devices take per byte is fitted beside, and left out."""
    rows, values = [], []
    for model, steps in WORK["steps_ms"].items():
        for devices, step in enumerate(steps, start=1):
            if model not in GROUPED:
                rows.append([term / (1e-3 * step) for term in terms(MODELS_OF_STEPS[model], devices)])
                values.append(1.0)
    *factors, once, _ = errors.least_squares_above_zero(rows, values)
    return dict(zip(GROUPS, factors)), once


def of_one(counts):
    """Seconds that calls and autograd's nodes of a step of one device take."""
    factors, _ = fitted()
    _, calls, nodes, *_ = terms(counts, 1)
    return factors["call"] * calls + factors["autograd"] * nodes


def of_work(cell):
    """The published step of one device, in its host's measured work."""
    return cell.single / (cell.older_python * of_one(cell.of))


def decides(cell):
    """Whether the host decides the published step of one device, rather than the device."""
    return of_work(cell) < MOST_OF_LEAST * cell.least_of_work


def costs(scale=1.0):
    """The value of --dispatch-cost."""
    factors, _ = fitted()
    return ",".join(f"{kind}:{scale * factors[group] * COSTS[kind]:.4f}us" for group, kinds in GROUPS.items() for kind in kinds)


def once(scale=1.0):
    """Seconds of a step of several devices that no kind is charged for: threads that start, checks, what torch does once."""
    return scale * fitted()[1]
