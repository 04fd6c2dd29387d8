#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A simulated step's timeline: its steps are as long as the untraced step but for what timers cost, and its slices lie
within their steps.

    simulated_trace.py STEP_BENCH HARDWARE
"""
import json
import pathlib
import subprocess
import sys
import tempfile

PROGRAM, HARDWARE = sys.argv[1:]
CELLS = [
    ["--strategy=dp", "--devices=4", "--batch=128"],
    ["--strategy=ddp", "--devices=8", "--batch=256"],
    ["--strategy=ddp-replicate", "--devices=8", "--batch=256"],
]


def slices_of(trace, kind):
    return [event for event in trace["traceEvents"] if event["ph"] == "X" and event.get("cat") == kind]


def check(cell, folder):
    record = pathlib.Path(folder) / "record.json"
    trace = pathlib.Path(folder) / "trace.json"
    command = [PROGRAM, "--backend=simulated", f"--hardware={HARDWARE}", "--model=resnet50", f"--record={record}",
               "trace", f"--file={trace}", *cell]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{cell}: exit {done.returncode}: {done.stderr}")
    first = trace.read_bytes()
    subprocess.run(command, capture_output=True, text=True, check=True)
    assert first == trace.read_bytes(), f"{cell}: two timelines differ"
    timeline = json.loads(first)
    assert timeline["otherData"]["device_times"] == "simulated", cell
    assert "virtual time" in timeline["otherData"]["clock"], cell
    steps = slices_of(timeline, "step")
    untraced = json.loads(record.read_text())["step_seconds"][0] * 1e6
    longest = max(step["dur"] for step in steps)
    assert abs(longest / untraced - 1) < 0.02, f"{cell}: {longest} us traced, {untraced} us untraced"
    operations = slices_of(timeline, "kernel_group")
    assert operations, cell
    for slice_ in operations:
        inside = [step for step in steps if step["ts"] - 0.01 <= slice_["ts"]
                  and slice_["ts"] + slice_["dur"] <= step["ts"] + step["dur"] + 0.01]
        assert inside, f"{cell}: {slice_} lies in no step"
    check_names(timeline, cell)


def check_names(timeline, cell):
    """Processes are named by the ranks that they stand for, and their devices by the first of these."""
    def names(what):
        return [event["args"]["name"] for event in timeline["traceEvents"] if event["ph"] == "M" and event["name"] == what]
    ranks = {"--strategy=dp": ["rank 0"], "--strategy=ddp": ["ranks 0 to 7"],
             "--strategy=ddp-replicate": ["rank 0", "ranks 1 to 6", "rank 7"]}[cell[0]]
    assert names("process_name") == [f"{one} on dgx-a100" for one in ranks], names("process_name")
    devices = {name.split()[1] for name in names("thread_name") if name.startswith("device ")}
    first = {"--strategy=dp": {"0", "1", "2", "3"}}.get(cell[0], {one.split()[1] for one in ranks})
    assert devices == first, f"{cell}: {names('thread_name')}"


with tempfile.TemporaryDirectory() as scratch:
    for one in CELLS:
        check(one, scratch)
