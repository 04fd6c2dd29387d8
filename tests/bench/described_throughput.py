#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Simulates published steps of ResNet-50 on one GPU from its description alone, and prints each error.

    described_throughput.py PROGRAMS

Shares were fitted to the first three rows, which say so; the others judge them. Batches are the authors' usual ones where a table names
none. Half precision is bf16 where the GPU has it; a GPU without it takes its fp16 figure for bf16's. Half-precision
rows ran channels last. Rows of DeepLearningExamples read real data, which makes them lower bounds.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

PROGRAMS = pathlib.Path(sys.argv[1])
BAR = 0.25
FITTED = 3  # rows
NVIDIA = "NVIDIA DeepLearningExamples, PyTorch, ResNet-50 v1.5"
LAMBDA = "lambdal/deeplearning-benchmark, ResNet-50"
ROWS = [
    # hardware, precision, batch, images per second, source
    ("dgx-a100", "tf32", 256, 938, NVIDIA),
    ("dgx-a100", "bf16", 256, 2470, NVIDIA),
    ("dgx-1-16gb", "fp32", 128, 367, NVIDIA),
    ("dgx-1", "bf16", 256, 1200, NVIDIA),
    ("dgx-a100", "tf32", 640, 1066, LAMBDA),
    ("dgx-h100", "tf32", 256, 1753, LAMBDA),
    ("h100-pcie-box", "tf32", 256, 1197, LAMBDA),
    ("rtx-3090-box", "fp32", 224, 513, LAMBDA),
]


def with_bf16(name, folder):
    """The file of a machine whose GPU has fp16 alone, with that figure for bf16."""
    machine = json.loads(subprocess.run([PROGRAMS / "tandem", "list", "hardware", name], capture_output=True, check=True).stdout)
    if "bf16" in machine["gpu"]:
        return name
    machine["gpu"]["bf16"] = machine["gpu"]["fp16"]
    file = pathlib.Path(folder) / f"{name}.json"
    file.write_text(json.dumps(machine))
    return str(file)


def images_per_second(hardware, precision, batch, folder):
    record = pathlib.Path(folder) / "record.json"
    machine = with_bf16(hardware, folder) if precision == "bf16" else hardware
    command = [PROGRAMS / "step_bench", "--backend=simulated", f"--hardware={machine}", "--model=resnet50", "--strategy=single",
               f"--batch={batch}", f"--precision={precision}", "--device-memory=80GiB", f"--record={record}"]
    if precision == "bf16":
        command.append("--channels-last=on")
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{hardware}: exit {done.returncode}: {done.stderr}")
    return batch / json.loads(record.read_text())["step_seconds"][0]


def main():
    misses = 0
    with tempfile.TemporaryDirectory() as folder:
        for i, (hardware, precision, batch, published, source) in enumerate(ROWS):
            told = images_per_second(hardware, precision, batch, folder)
            error = told / published - 1
            misses += abs(error) > BAR
            print(f"{hardware} {precision}, batch {batch}: {told:.0f}, published {published}, {100 * error:+.2f} % ({source}{', fitted' if i < FITTED else ''})")
    print(f"{misses} of {len(ROWS)} beyond {100 * BAR:.0f} %")
    return 1 if misses else 0


if __name__ == "__main__":
    sys.exit(main())
