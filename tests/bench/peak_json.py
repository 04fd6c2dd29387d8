#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Looks at kernel_bench's document of the measured peak, and at step_bench's record that holds one.

    peak_json.py KERNEL_BENCH STEP_BENCH FOLDER
"""
import json
import subprocess
import sys


def run(*command):
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stderr


def check_document(kernel_bench, path):
    said = run(kernel_bench, "--backend=host", "--peak", "--precision=fp32", f"--benchmark_out={path}")
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    entries = document["benchmarks"]
    assert [entry["name"] for entry in entries][:2] == ["peak/host/fp32/size:512", "peak/host/fp32/size:1024"], entries
    for entry in entries:
        size = int(entry["name"].split(":")[-1])
        flops = 2 * size**3 / (entry["p50_us"] * 1e-6)
        assert abs(flops / (entry["gflops"] * 1e9) - 1) < 1e-6, entry
    best = max(entry["gflops"] for entry in entries)
    told = float(document["context"]["tandem_peak_gflops_fp32"])
    assert abs(told / best - 1) < 1e-6, (told, best)
    assert "measured peak of host:0 in fp32" in said, said


def check_record(step_bench, path):
    said = run(step_bench, "--backend=host", "--model=mlp-tiny", "--batch=8", "--min-time=1ms",
               "--warmup-time=1ms", "--peak-gflops=measured", f"--record={path}")
    with open(path, encoding="utf-8") as file:
        record = json.load(file)
    assert record["precision"] == "fp32" and record["peak_gflops"] > 0, record
    # Three layers and the loss; 101 386 parameters of mlp-tiny, whose last bias of 10 fills a line of 16.
    model = record["model"]
    assert (model["operations_per_step"], model["optimizer_bytes_per_step"]) == (12, 20 * (101386 + 6)), model
    assert "of a measured peak of" in said, said
    # What it was measured with is none of the step's memory.
    assert record["memory"][0]["peak_bytes"] < 3 * 4 * 512**2, record["memory"]


def main():
    kernel_bench, step_bench, folder = sys.argv[1:]
    check_document(kernel_bench, f"{folder}/peak.json")
    check_record(step_bench, f"{folder}/peak_record.json")


if __name__ == "__main__":
    main()
