#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the built-in ResNet-50's step against the times of the kernels that torch listed for the same step (lists_*.txt.xz).

    built_in_test.py STEP_BENCH KERNEL_SECONDS
"""
import json
import lzma
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
STEP_BENCH, KERNEL_SECONDS = sys.argv[1:]
BAR = 0.05
FEWEST, FEWEST_MACHINES = 12, 5
PRECISIONS = {"fp32": ["--precision=fp32", "--conv-fp32=on"], "tf32": ["--precision=tf32"], "amp-bf16": ["--precision=bf16"]}


def steps():
    """(head, text of its list) of each step that is one of step_bench's."""
    found = []
    for file in sorted(HERE.glob("lists_*.txt.xz")):
        for line in lzma.open(file, "rt", encoding="utf-8"):
            if line.startswith("{"):
                found.append((json.loads(line), []))
            else:
                found[-1][1].append(line)
    return [(head, "".join(lines)) for head, lines in found if head["model"] == "resnet50" and head["precision"] in PRECISIONS
            and head["optimizer"] == "sgd"]


def listed(found):
    text = "".join(f"list {head['machine']}\n{lines}" for head, lines in found)
    done = subprocess.run([KERNEL_SECONDS], input=text + "costs\n", capture_output=True, text=True, check=True)
    return map(float, done.stdout.split())


def simulated(head, folder):
    record = pathlib.Path(folder) / "record.json"
    layout = "on" if head["layout"] == "channels-last" else "off"
    subprocess.run([STEP_BENCH, "--backend=simulated", f"--hardware={head['machine']}", "--model=resnet50", "--strategy=single", "--input=device",
                    f"--batch={head['batch']}", f"--channels-last={layout}", "--device-memory=80GiB", f"--record={record}", *PRECISIONS[head["precision"]]],
                   check=True, capture_output=True)
    return json.loads(record.read_text(encoding="utf-8"))["step_seconds"][0]


def main():
    found = steps()
    machines = {head["machine"] for head, _ in found}
    assert len(found) >= FEWEST and len(machines) >= FEWEST_MACHINES, f"{len(found)} steps on {machines}"
    misses = 0
    with tempfile.TemporaryDirectory() as folder:
        for (head, _), seconds in zip(found, listed(found)):
            error = simulated(head, folder) / seconds - 1
            misses += abs(error) > BAR
            print(f"{head['machine']} {head['precision']} {head['layout']}, batch {head['batch']}: {1e3 * seconds:.1f} ms of kernels, built-in {100 * error:+.2f} %, "
                  f"of the measured {100 * ((1 + error) * seconds / head['seconds'] - 1):+.1f} %")
    print(f"{misses} of {len(found)} beyond {100 * BAR:.0f} %")
    return 1 if misses else 0


sys.exit(main())
