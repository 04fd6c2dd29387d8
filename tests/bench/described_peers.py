#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Steps of dp and ddp on two described RTX 3090 by how GPUs reach each other, with the interpreter's costs of `tandem project`.

    described_peers.py

Needs tandem and step_bench on PATH. Prints each step and what its critical path is of: the figures of docs/dp-or-ddp.md,
which tests/project/check_commands.py holds to these.
"""
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

PUBLISHED = json.loads((pathlib.Path(__file__).parents[2] / "simulate/catalogue/published.json").read_text())["interpreter"]
COSTS = ",".join(f"{kind}:{PUBLISHED['scale'] * int(cost.removesuffix('ns')) / 1e3:.2f}us" for kind, cost in PUBLISHED["costs"].items())
NVLINK, PCIE, HOST = WAYS = "NVLink", "PCIe", "host"
WORKLOADS = [("resnet50", 8), ("resnet50", 64), ("gpt2-124m", 1), ("gpt2-124m", 8)]


def described(name):
    return json.loads(subprocess.run(["tandem", "list", "hardware", name], capture_output=True, check=True).stdout)


def machines(folder):
    """The description's file by the way: a pair with its bridge, with the links of cards that have peer access over PCIe, with neither."""
    pair, box = described("rtx-3090-pair"), described("rtx-a6000-box")
    for way in WAYS:
        machine = json.loads(json.dumps(pair))
        for part in ("peer_link", "nccl"):
            if way == PCIE:
                machine["node"][part] = box["node"][part]
            if way == HOST:
                del machine["node"][part]
        file = pathlib.Path(folder) / f"{way}.json"
        file.write_text(json.dumps(machine))
        yield way, file


def step(file, model, batch, strategy):
    """Seconds of a step, and of its critical path by what it is of."""
    record = file.with_name("record.json")
    done = subprocess.run(["step_bench", "--backend=simulated", f"--hardware={file}", f"--model={model}", f"--strategy={strategy}",
                           "--devices=2", f"--batch-per-device={batch}", f"--dispatch-cost={COSTS}", "--device-memory=80GiB", f"--record={record}",
                           *(["--interpreter-lock=on"] if strategy == "dp" else [])], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{model} {strategy}: exit {done.returncode}: {done.stderr}")
    written = json.loads(record.read_text())
    seconds = written["step_seconds"][0]
    path = collections.Counter()
    for name, share in written["rests_on"].items():
        path[name.split()[0]] += share * seconds
    return seconds, path


def main():
    with tempfile.TemporaryDirectory() as folder:
        for way, file in machines(folder):
            for model, batch in WORKLOADS:
                for strategy in ("dp", "ddp"):
                    seconds, path = step(file, model, batch, strategy)
                    parts = ", ".join(f"{name} {1e3 * part:.1f}" for name, part in sorted(path.items(), key=lambda one: -one[1]))
                    print(f"{model:10} {batch:3} {way:7} {strategy:4} {1e3 * seconds:7.1f} ms: {parts}")


main()
