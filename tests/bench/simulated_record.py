#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two simulations of one cell leave the same record, whose phases add up and whose times say what they are.

    simulated_record.py STEP_BENCH HARDWARE
"""
import json
import pathlib
import subprocess
import sys
import tempfile

PROGRAM, HARDWARE = sys.argv[1:]
CELLS = [
    ["--strategy=single", "--batch=32"],
    ["--strategy=independent", "--devices=8", "--batch=256"],
    ["--strategy=dp", "--devices=4", "--batch=128", "--dispatch-cost=8us", "--interpreter-lock=on"],
    ["--strategy=dp", "--devices=4", "--batch=128", "--broadcast=tree", "--reduce=tree", "--loss=replicas"],
    ["--strategy=ddp", "--devices=8", "--batch=256"],
    ["--strategy=ddp", "--devices=8", "--batch=256", "--overlap=off", "--grads=views", "--optimizer=adam"],
    ["--strategy=ddp", "--devices=8", "--batch=256", "--compress=powersgd:2", "--accumulate=2"],
    ["--strategy=ddp", "--devices=8", "--batch=256", "--cuda-graph=on"],
    ["--strategy=dp-allreduce", "--devices=8", "--batch=256", "--input=scatter"],
    ["--strategy=ddp-replicate", "--devices=8", "--batch=255", "--input=pageable"],
]


def record_of(cell, folder):
    file = pathlib.Path(folder) / "record.json"
    command = [PROGRAM, "--backend=simulated", f"--hardware={HARDWARE}", "--model=resnet50", f"--record={file}", *cell]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{cell}: exit {done.returncode}: {done.stderr}")
    return file.read_text()


def check(cell, folder):
    text = record_of(cell, folder)
    assert text == record_of(cell, folder), f"{cell}: two simulations differ"
    record = json.loads(text)
    assert record["cell"]["backend"] == "simulated", cell
    assert record["modelled"][0] == "hardware dgx-a100: all times are simulated", cell
    assert "taken" not in record and not record["threads"], f"{cell}: figures of this machine"
    step = sum(record["step_seconds"]) / len(record["step_seconds"])
    parts = sum(record["critical"]["mean_seconds"].values()) + record["remainder_seconds"]
    assert abs(parts - step) < 1e-12, f"{cell}: phases add up to {parts}, and the step takes {step}"


with tempfile.TemporaryDirectory() as scratch:
    for one in CELLS:
        check(one, scratch)
