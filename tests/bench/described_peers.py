#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Steps of dp and ddp on two described RTX 3090 by how GPUs reach each other, with the interpreter's costs of `tandem project`.

    described_peers.py

Needs tandem and step_bench on PATH. Prints each step and what its critical path is of, to which tests/project/check_commands.py
holds the figures of docs/dp-or-ddp.md, and holds the order that the page explains: slower ways cost both, ddp is faster over
each, and a larger batch makes what ddp loses without peer access a smaller share of its step.
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
    steps = {}
    with tempfile.TemporaryDirectory() as folder:
        for way, file in machines(folder):
            for model, batch in WORKLOADS:
                for strategy in ("dp", "ddp"):
                    steps[model, batch, way, strategy], path = step(file, model, batch, strategy)
                    parts = ", ".join(f"{name} {1e3 * seconds:.1f}" for name, seconds in sorted(path.items(), key=lambda one: -one[1]))
                    print(f"{model:10} {batch:3} {way:7} {strategy:4} {1e3 * steps[model, batch, way, strategy]:7.1f} ms: {parts}")
    for model, batch in WORKLOADS:
        for strategy in ("dp", "ddp"):
            nvlink, pcie, host = (steps[model, batch, way, strategy] for way in WAYS)
            assert nvlink < pcie < host, f"{model} {batch} {strategy}: {nvlink}, {pcie}, {host}"
        gain = {way: steps[model, batch, way, "dp"] / steps[model, batch, way, "ddp"] for way in WAYS}
        assert min(gain.values()) > 1, f"{model} {batch}: dp over ddp {gain}"
    for (model, batch), (larger_model, larger) in zip(WORKLOADS, WORKLOADS[1:]):
        if model == larger_model:
            shares = [1 - steps[model, size, NVLINK, "ddp"] / steps[model, size, HOST, "ddp"] for size in (batch, larger)]
            assert shares[1] < shares[0], f"{model} {batch}, {larger}: ddp waits for {shares} of its step"


main()
