#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How fast a step of `single` is against PyTorch's own in eager mode, on one device, in one run.

    single_against_eager.py --step-bench=PATH --backend=cuda|host --model=NAME --batch=N --precision=P
                            [--launches=N] [--python=PATH]... [--benchmark_out=FILE]

Launches of both take turns, each a fresh process that warms up and takes samples; a launch counts as its median step
by the host's clock. The figure is PyTorch's time over single's: the geometric mean of the pairs of launches, with
Student's t interval on their logarithms. Needs torch in that python, and nothing else beside the standard library;
several pythons, each with a torch of its own, take turns with the same launches of single. On the host each side has
one thread, and OPENBLAS_ variables, which suit one of them alone, are taken from both. Of a model that PyTorch has in
two layouts of memory the faster one of each launch counts.
Exit status: 0 measured, 1 failed, 2 wrong usage.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
from launch_ratio import LAUNCHES, estimate, ratio_text  # noqa: E402


class Failure(Exception):
    pass


def environment(backend):
    """What both sides start with; None: as it is."""
    if backend != "host":
        return None
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OPENBLAS_")}
    return kept | {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def run(command, backend):
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment(backend))
    if done.returncode != 0:
        said = (done.stderr.strip() or done.stdout.strip() or "nothing").splitlines()[-1]
        raise Failure(f"{' '.join(command)} ended with status {done.returncode}: {said}")
    return done.stdout


def eager_launch(options, python):
    script = pathlib.Path(__file__).resolve().with_name("eager_step.py")
    device = "cuda" if options.backend == "cuda" else "cpu"
    return json.loads(run([python, "-B", str(script), f"--model={options.model}", f"--batch={options.batch}",
                           f"--precision={options.precision}", f"--device={device}"], options.backend))


def single_launch(options, folder):
    record = pathlib.Path(folder) / "record.json"
    run([options.step_bench, "--strategy=single", f"--backend={options.backend}", f"--model={options.model}",
         f"--batch={options.batch}", f"--precision={options.precision}", "--input=device", f"--record={record}"],
        options.backend)
    return json.loads(record.read_text(encoding="utf-8"))


def entry(options, torch, medians):
    """The figure as Google Benchmark has it: the time is PyTorch's median step."""
    theirs = statistics.median(eager for eager, _ in medians) * 1e3
    ratios = [eager / single for eager, single in medians]
    counters = dict(zip(("speed_of_single", "speed_of_single_low", "speed_of_single_high"), estimate(ratios)))
    name = f"{options.backend}/{options.precision}/{options.model}/batch:{options.batch}/input:device/torch:{torch}"
    return {"name": f"eager_step/{name}", "run_type": "iteration", "iterations": len(medians), "real_time": theirs,
            "cpu_time": theirs, "time_unit": "ms", "single_ms": statistics.median(single for _, single in medians) * 1e3,
            **counters}


def check_same(options, eager, single):
    ours, theirs = single["model"]["parameters"], eager["parameters"]
    if ours != theirs:
        raise Failure(f"{options.model} has {ours} parameters here and {theirs} in PyTorch: they are not the same model")


def print_launch(launch, eager, single):
    theirs, ours = statistics.median(eager["seconds"]), statistics.median(single["step_seconds"])
    events = eager["device_seconds"]
    by_events = f", {statistics.median(events) * 1e3:.4f} ms by CUDA's events" if events else ""
    layouts = eager["median_seconds_by_layout"]
    each = ", ".join(f"{name} {seconds * 1e3:.4f}" for name, seconds in layouts.items())
    by_layout = f" ({each})" if len(layouts) > 1 else ""
    print(f"launch {launch + 1}: PyTorch {eager['torch']} on {eager['device']} {theirs * 1e3:.4f} ms{by_layout}{by_events}; "
          f"single {ours * 1e3:.4f} ms", flush=True)
    return theirs, ours


def measure(options):
    """By version of torch, in the pythons' order: medians of theirs and of single, launch by launch."""
    medians = {}
    with tempfile.TemporaryDirectory() as folder:
        for launch in range(options.launches):
            eagers = [eager_launch(options, python) for python in options.python or [sys.executable]]
            single = single_launch(options, folder)
            for eager in eagers:
                check_same(options, eager, single)
                medians.setdefault(eager["torch"], []).append(print_launch(launch, eager, single))
    return medians


def compare(options):
    found = measure(options)
    if options.benchmark_out:
        entries = [entry(options, torch, medians) for torch, medians in found.items()]
        text = json.dumps({"context": {}, "benchmarks": entries}, indent=2)
        pathlib.Path(options.benchmark_out).write_text(text, encoding="utf-8")
    for torch, medians in found.items():
        ratios = [theirs / ours for theirs, ours in medians]
        print(f"speed of single over PyTorch eager in {options.precision}, torch {torch}: {ratio_text(ratios)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--step-bench", required=True)
    parser.add_argument("--backend", choices=["cuda", "host"], default="cuda")
    parser.add_argument("--model", required=True)
    parser.add_argument("--batch", type=int, required=True)
    parser.add_argument("--precision", choices=["fp32", "tf32", "bf16"], default="fp32")
    parser.add_argument("--launches", type=int, choices=LAUNCHES, default=3,
                        metavar=f"1..{LAUNCHES[-1]}")
    parser.add_argument("--benchmark_out", help="a file for the figures, in Google Benchmark's form")
    parser.add_argument("--python", action="append", help="one with torch; default: this one")
    try:
        compare(parser.parse_args())
    except (Failure, OSError, ValueError, KeyError) as failure:
        print(f"single_against_eager: {failure}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
