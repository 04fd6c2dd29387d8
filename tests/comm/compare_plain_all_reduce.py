#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""collective_bench's all-reduce over MPI beside a plain loop over MPI_Allreduce.

    compare_plain_all_reduce.py BUILD [--ranks=2] [--rounds=5] [--samples=100]

Starts them in turn, in each round the other one first, on an otherwise quiet machine, and prints
for 1 KiB, 1 MiB and 64 MiB the medians over rounds of their median times per call, and ratios. The
loop runs twice: in a process that MPI knows to have several threads, as collective_bench's has, and
in one that it knows to have one, which spares MPI its locks. All sum fp32 in place, in chunks of
1 MiB; so many calls run between two clock readings that waking a thread does not count. It judges
nothing: times are for a person to read.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

SIZES = [("1KiB", 2000), ("1MiB", 100), ("64MiB", 1)]  # and calls between two clock readings


def mpirun(ranks, command):
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    launcher = ["mpirun", "-np", str(ranks), "--bind-to", "none", "--mca", "btl", "vader,self"]
    done = subprocess.run(launcher + command, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"compare_plain_all_reduce: {' '.join(command)} failed:\n{done.stderr}")
    return done.stdout


def plain(options, size, calls, threads):
    """Microseconds per call."""
    program = str(options.build / "tests/bin/plain_all_reduce")
    line = mpirun(options.ranks, [program, f"--sizes={size}", f"--calls={calls}",
                                  f"--samples={options.samples}", f"--threads={threads}"])
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
    """Of the loop with one thread, with several, and of collective_bench."""
    measure = [lambda: plain(options, size, calls, "single"),
               lambda: plain(options, size, calls, "multiple"), lambda: bench(options, size, calls)]
    order = range(3) if plain_first else reversed(range(3))
    times = {which: measure[which]() for which in order}
    return [times[which] for which in range(3)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--samples", type=int, default=100)
    options = parser.parse_args()
    print("size     one thread us  several us  bench us  to several  to one")
    for size, calls in SIZES:
        rounds = [round_of(options, size, calls, i % 2 == 0) for i in range(options.rounds)]
        one, several, bench_us = (statistics.median(times) for times in zip(*rounds))
        print(f"{size:<8} {one:13.2f}  {several:10.2f}  {bench_us:8.2f}  {bench_us / several:10.3f}"
              f"  {bench_us / one:6.3f}", flush=True)


if __name__ == "__main__":
    main()
