#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Looks at step_bench's record that holds a measured peak: peak_json.py STEP_BENCH FOLDER"""
import json
import subprocess
import sys


def run(*command):
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stderr


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
    step_bench, folder = sys.argv[1:]
    check_record(step_bench, f"{folder}/peak_record.json")


if __name__ == "__main__":
    main()
