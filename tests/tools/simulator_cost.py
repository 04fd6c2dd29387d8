#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What simulating costs: seconds against the work that is simulated, and the seconds of many projected cells.

    tests/tools/simulator_cost.py TANDEM STEP_BENCH [--samples=400] [--cells=500]

First a line per cell and number of samples: the processor's seconds of step_bench beyond those of one sample, by 10^6
operations that the further samples have on all devices that are simulated, one for each class of equal ranks. Cost that
grows with the work alone shows the same figure in every line of a cell. Then `tandem project` of a model on described
hardware with so many batches that --cells cells or more are projected: seconds of wall clock, of the processor, and
most resident memory of one process (MB are 10^6 bytes). Standard library only. Exit
status: 0 measured, 1 failed, 2 wrong usage.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

NODE, CLUSTER = "dgx-a100", "dgx-a100x128@8xib-200g"
# What is simulated, and on how many devices of its own; every further sample is one step of these.
CELLS = (("resnet50, dp, 2 devices", ["--model=resnet50", "--strategy=dp", "--devices=2", "--batch=64"], NODE, 2),
         ("resnet50, dp, 8 devices", ["--model=resnet50", "--strategy=dp", "--devices=8", "--batch=256"], NODE, 8),
         ("resnet50, ddp, 8 ranks", ["--model=resnet50", "--strategy=ddp", "--devices=8", "--batch=256"], NODE, 1),
         ("resnet50, ddp, 1,024 ranks", ["--model=resnet50", "--strategy=ddp", "--devices=1024", "--batch=32768"], CLUSTER, 1),
         ("gpt2-124m:1024, ddp, 8 ranks", ["--model=gpt2-124m:1024", "--strategy=ddp", "--devices=8", "--batch=32"], NODE, 1))
BUCKETS = "1,2,5,10,25,50,100"
# One device; on 2, 4 and 8 dp, the bound, and ddp as it is by default and by bucket.
CELLS_PER_SHARE = 1 + 3 * (3 + len(BUCKETS.split(",")))


class Failure(Exception):
    pass


def run(command):
    """Seconds of wall clock, of the processor, and MB of the command and what it starts."""
    begin = time.monotonic()
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            log.seek(0)
            said = log.read().decode(errors="replace").strip().splitlines() or ["nothing"]
            raise Failure(f"{' '.join(map(str, command))} ended with {process.returncode}: {said[-1]}")
    return time.monotonic() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e6


def simulate(step_bench, cell, hardware, samples, folder):
    """Processor seconds, and operations of a device's step."""
    record = folder / "record.json"
    _, seconds, _ = run([step_bench, "--backend=simulated", f"--hardware={hardware}", f"--min-samples={samples}", f"--record={record}",
                         *cell])
    return seconds, json.loads(record.read_text())["model"]["operations_per_step"]


def measure_growth(step_bench, most, folder):
    print(f"{'cell':<30} {'samples':>8} {'operations':>12} {'seconds':>8} {'per 10^6 operations':>20}")
    for name, cell, hardware, devices in CELLS:
        base, operations = simulate(step_bench, cell, hardware, 1, folder)
        for samples in (most // 4, most // 2, most):
            seconds = simulate(step_bench, cell, hardware, 1 + samples, folder)[0] - base
            work = samples * operations * devices
            print(f"{name:<30} {samples:>8} {work:>12,} {seconds:>8.3f} {1e6 * seconds / work:>20.3f}", flush=True)


def measure_project(tandem, step_bench, cells, folder):
    shares = [str(4 * (i + 1)) for i in range(-(-cells // CELLS_PER_SHARE))]
    projected = folder / "projected"
    wall, processor, memory = run([tandem, "project", "--model=mlp-base", f"--hardware={NODE}", "--devices=8", f"--bucket-mb={BUCKETS}",
                                   f"--batch-per-device={','.join(shares)}", f"--out={projected}", f"--step-bench={step_bench}"])
    launches = json.loads((projected / "results.json").read_text())["tandem"]["launches"]
    if len(launches) < cells or any(launch["status"] != "ok" for launch in launches):
        raise Failure(f"{len(launches)} cells were projected, not {cells}, or not all of them")
    print(f"{len(launches)} projected cells: {wall:.1f} s, {processor:.1f} s of the processor, {memory:.0f} MB at most")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tandem", type=pathlib.Path)
    parser.add_argument("step_bench", type=pathlib.Path)
    parser.add_argument("--samples", type=int, default=400)
    parser.add_argument("--cells", type=int, default=500)
    options = parser.parse_args()
    if options.samples < 4 or options.cells < 1:
        parser.error("--samples must be 4 at least, --cells 1")
    try:
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary)
            measure_growth(options.step_bench.resolve(), options.samples, folder)
            measure_project(options.tandem.resolve(), options.step_bench.resolve(), options.cells, folder)
    except (Failure, OSError) as error:
        print(f"simulator_cost.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
