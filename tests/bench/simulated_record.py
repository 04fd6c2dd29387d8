#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two simulations of one cell leave the same record, whose phases add up and whose times say what they are.

    simulated_record.py STEP_BENCH HARDWARE CLUSTER
"""
import json
import pathlib
import subprocess
import sys
import tempfile

PROGRAM, HARDWARE, CLUSTER = sys.argv[1:]
CELLS = [
    ["--strategy=single", "--batch=32"],
    ["--strategy=independent", "--devices=8", "--batch=256"],
    ["--strategy=dp", "--devices=4", "--batch=128", "--dispatch-cost=8us", "--interpreter-lock=on"],
    ["--strategy=dp", "--devices=4", "--batch=128", "--broadcast=tree", "--reduce=tree", "--loss=replicas"],
    ["--strategy=ddp", "--devices=8", "--batch=256"],
    ["--strategy=ddp", "--devices=8", "--batch=256", "--overlap=off", "--grads=views", "--optimizer=adam"],
    ["--strategy=ddp", "--devices=8", "--batch=256", "--compress=bf16", "--accumulate=2"],
    ["--strategy=dp-allreduce", "--devices=8", "--batch=256", "--input=scatter"],
    ["--strategy=ddp-replicate", "--devices=8", "--batch=255", "--input=pageable"],
]


def record_of(cell, folder, hardware=HARDWARE):
    file = pathlib.Path(folder) / "record.json"
    command = [PROGRAM, "--backend=simulated", f"--hardware={hardware}", "--model=resnet50", f"--record={file}", *cell]
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
    shares = record["rests_on"]
    assert abs(sum(shares.values()) - 1) < 1e-9, f"{cell}: {shares}"
    assert not any("measured" in name for name in shares), f"{cell}: {shares} of a description"
    assert "host" in shares and "operations described" in shares, f"{cell}: {shares}"
    check_counts(record, cell)


def check_counts(record, cell):
    """Processes of equal work are listed once, with their number; devices of threads each."""
    devices = record["cell"]["devices"]
    of_processes = [1, devices - 2, 1] if record["cell"]["strategy"] == "ddp-replicate" else [devices]
    expected = of_processes if record["cell"]["launch"] == "processes" else [1] * devices
    for part in ("phases", "memory"):
        entries = record[part]
        assert [one.get("count", 1) for one in entries] == expected, f"{cell}: {part} of {entries}"
        assert [one["device"] for one in entries] == [sum(expected[:i]) for i in range(len(expected))], f"{cell}: {entries}"
    for collective in record["collectives"]:
        assert len(collective["mean_seconds"]) == len(expected), f"{cell}: {collective}"


def check_size(folder):
    """A record of a thousand ranks is no larger than one of eight, but for its numbers."""
    small = record_of(["--strategy=ddp", "--devices=8", "--batch=256"], folder)
    large = record_of(["--strategy=ddp", "--devices=1024", "--batch=32768"], folder, CLUSTER)
    assert json.loads(large)["phases"][0]["count"] == 1024
    assert len(large) < len(small) + 400, f"{len(large)} bytes of 1,024 ranks, {len(small)} of 8"


with tempfile.TemporaryDirectory() as scratch:
    for one in CELLS:
        check(one, scratch)
    check_size(scratch)
