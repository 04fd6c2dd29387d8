#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that two ranks write one valid Google Benchmark document, whatever the environment says.

    google_benchmark_json.py MPIRUN STEP_BENCH FOLDER
"""
import json
import os
import subprocess
import sys


def refuse(constant):
    raise ValueError(f"{constant} is no JSON")


def main():
    mpirun, step_bench, folder = sys.argv[1:]
    wanted, stray = f"{folder}/wanted.json", f"{folder}/stray.json"
    for path in (wanted, stray):
        if os.path.exists(path):
            os.remove(path)
    environment = dict(os.environ, BENCHMARK_OUT=stray, BENCHMARK_FILTER="nothing",
                       OMP_NUM_THREADS="7", OMP_PROC_BIND="true")
    subprocess.run(
        [mpirun, "--oversubscribe", "--bind-to", "none", "-np", "2", step_bench, "--strategy=ddp",
         "--devices=2", "--oversubscribe", "--backend=host", "--model=mlp-tiny", "--batch=8",
         "--min-time=10ms", "--min-samples=3", "--warmup-time=1ms", f"--benchmark_out={wanted}"],
        env=environment, check=True)
    assert not os.path.exists(stray), "the environment's BENCHMARK_OUT was obeyed"
    with open(wanted, encoding="utf-8") as file:
        document = json.load(file, parse_constant=refuse)
    assert len(document["benchmarks"]) == 1, "the environment's filter was obeyed, or two ranks wrote"
    entry = document["benchmarks"][0]
    assert entry["name"] == "ddp/processes/mlp-tiny/devices:2/batch:8", entry["name"]
    assert entry["iterations"] >= 3 and entry["real_time"] > 0 and "error_occurred" not in entry
    assert entry["samples_per_second"] > 0


if __name__ == "__main__":
    main()
