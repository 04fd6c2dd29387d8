#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""collective_bench's all-reduce over MPI beside a plain loop over MPI_Allreduce.

    compare_plain_all_reduce.py BUILD [--ranks=2] [--rounds=5] [--calls=100] [--samples=100]

Starts both in turn, in each round the other one first, on an otherwise quiet machine, and prints
for 1 KiB, 1 MiB and 64 MiB the medians over rounds of their median times per call, and the ratio.
Both sum fp32 in place, in chunks of 1 MiB; `--calls` of them run between two clock readings for
sizes up to 1 MiB, one for larger ones. It judges nothing: times are for a person to read.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

SIZES = [("1KiB", 1 << 10), ("1MiB", 1 << 20), ("64MiB", 64 << 20)]
KEPT_BACK_TO_BACK = 1 << 20  # bytes: of larger ones a single call is timed


def mpirun(ranks, command):
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    launcher = ["mpirun", "-np", str(ranks), "--bind-to", "none", "--mca", "btl", "vader,self"]
    done = subprocess.run(launcher + command, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"compare_plain_all_reduce: {' '.join(command)} failed:\n{done.stderr}")
    return done.stdout


def plain(options, size, calls):
    """Microseconds per call."""
    program = str(options.build / "tests/bin/plain_all_reduce")
    line = mpirun(options.ranks, [program, f"--sizes={size}", f"--calls={calls}",
                                  f"--samples={options.samples}"])
    return float(line.split()[1])


def bench(options, size, calls):
    """Microseconds per call."""
    program = str(options.build / "bin/collective_bench")
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out.json"
        mpirun(options.ranks, [program, "--backend=host", f"--devices={options.ranks}", "--comm=mpi",
                               f"--sizes={size}", "--op=sum", f"--free-running={calls}",
                               f"--samples={options.samples}",
                               f"--benchmark_out={out}"])
        entries = json.loads(out.read_text())["benchmarks"]
    found = [entry for entry in entries if entry["name"].startswith("all_reduce/")]
    return found[0]["p50_us"]


def round_of(options, size, calls, plain_first):
    if plain_first:
        return plain(options, size, calls), bench(options, size, calls)
    return tuple(reversed((bench(options, size, calls), plain(options, size, calls))))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--calls", type=int, default=100)
    parser.add_argument("--samples", type=int, default=100)
    options = parser.parse_args()
    print("size     plain us  bench us  ratio")
    for text, size in SIZES:
        calls = options.calls if size <= KEPT_BACK_TO_BACK else 1
        rounds = [round_of(options, text, calls, i % 2 == 0) for i in range(options.rounds)]
        plain_us = statistics.median(pair[0] for pair in rounds)
        bench_us = statistics.median(pair[1] for pair in rounds)
        print(f"{text:<8} {plain_us:8.2f}  {bench_us:8.2f}  {bench_us / plain_us:5.3f}", flush=True)


if __name__ == "__main__":
    main()
