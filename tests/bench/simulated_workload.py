#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Workload files on simulated devices, and a single step that scales their operations.

    simulated_workload.py STEP_BENCH HARDWARE WORKLOAD
"""
import json
import pathlib
import subprocess
import sys
import tempfile

PROGRAM, HARDWARE, BY_FLOPS = sys.argv[1:]


def run(*arguments):
    return subprocess.run([PROGRAM, "--backend=simulated", f"--hardware={HARDWARE}", *arguments], capture_output=True, text=True, check=False)


def record_of(folder, *arguments):
    file = folder / "record.json"
    done = run(f"--record={file}", "--phases=off", *arguments)
    assert done.returncode == 0, (arguments, done.stderr)
    return json.loads(file.read_text())


def step_of(folder, *arguments):
    return record_of(folder, *arguments)["step_seconds"][0]


def near(found, wanted, within=1e-6):
    assert abs(found - wanted) <= within * wanted, (found, wanted)


def check_kinds(folder):
    """Modules, parameters and buffers are charged for each replica, one after another, as on the host."""
    document = json.loads(pathlib.Path(BY_FLOPS).read_text())
    cell = [f"--model={BY_FLOPS}", "--strategy=dp", "--devices=2", "--batch-per-device=2", "--interpreter-lock=on"]
    for kind, count in (("replica-module", document["modules"]), ("replica-parameter", len(document["tensors"])),
                        ("replica-buffer", len(document["buffers"]))):
        one, two = (step_of(folder, *cell, f"--dispatch-cost={kind}:{cost}ms") for cost in (5, 10))
        assert count > 0
        near(two - one, 2 * count * 5e-3)


def check_single_step(folder):
    for wanted in ("5ms", "250ms"):
        cell = [f"--model={BY_FLOPS}", f"--single-step={wanted}"]
        near(step_of(folder, *cell, "--batch=2"), float(wanted[:-2]) * 1e-3, 1e-5)
        record = record_of(folder, *cell, "--strategy=dp", "--devices=2", "--batch=4")
        assert record["cell"]["options"]["single-step"] == wanted, record["cell"]
        assert any(line.startswith("operations scaled by ") for line in record["modelled"]), record["modelled"]
        assert record["step_seconds"][0] > float(wanted[:-2]) * 1e-3
    near(step_of(folder, "--model=resnet50", "--batch=12", "--single-step=36ms", "--dispatch-cost=call:10us"), 36e-3, 1e-5)


def refused(reason, *arguments):
    done = run(*arguments)
    assert done.returncode == 2 and reason in done.stderr.strip().splitlines()[-1], (arguments, done.returncode, done.stderr)


with tempfile.TemporaryDirectory() as scratch:
    place = pathlib.Path(scratch)
    check_kinds(place)
    check_single_step(place)
    refused("--single-step=1 us: what is not scaled (the host's calls, copies of the batch, the update) takes", f"--model={BY_FLOPS}", "--batch=2", "--single-step=1us")
