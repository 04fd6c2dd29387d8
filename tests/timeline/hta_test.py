#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""HolisticTraceAnalysis on an exported trace of simulated GPUs, against the trace's own summary.

    hta_test.py STEP_BENCH TANDEM

Gradients are views of buckets: copies out of buckets count as work in a summary, and not as computing there.
Exit status 77 where this python has no HolisticTraceAnalysis (pip: HolisticTraceAnalysis).
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    from hta.trace_analysis import TraceAnalysis
except ImportError:
    print("skipped: this python has no HolisticTraceAnalysis")
    sys.exit(77)

STEP_BENCH, TANDEM = sys.argv[1:3]
RANKS = 4
NEAR = 0.02
os.environ["HTA_DISABLE_NS_ROUNDING"] = "1"  # else each kernel loses up to two microseconds


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def union(slices):
    """Microseconds that the slices cover."""
    covered, end = 0, float("-inf")
    for one in sorted(slices, key=lambda one: one["ts"]):
        covered += max(0, one["ts"] + one["dur"] - max(end, one["ts"]))
        end = max(end, one["ts"] + one["dur"])
    return covered


def near(what, theirs, ours):
    print(f"{what}: HolisticTraceAnalysis {theirs:.6g}, tandem {ours:.6g}")
    assert abs(theirs - ours) <= NEAR * ours, what


with tempfile.TemporaryDirectory() as out:
    trace = Path(out) / "trace.json"
    run(STEP_BENCH, "--backend=simulated", "--hardware=dgx-a100", "--strategy=ddp", "--model=resnet50", f"--devices={RANKS}",
        f"--batch={32 * RANKS}", "--grads=views", "trace", f"--file={trace}")
    run(TANDEM, "trace", "export", trace, f"--out={out}/kineto")
    mean = json.loads(run(TANDEM, "trace", "summary", trace, "--json"))["devices"][0]
    slices = [one for one in json.loads(trace.read_text())["traceEvents"] if one["ph"] == "X"]
    analysis = TraceAnalysis(trace_dir=f"{out}/kineto")
    breakdown = analysis.get_temporal_breakdown(visualize=False)
    overlap = analysis.get_comm_comp_overlap(visualize=False)
    assert list(breakdown["rank"]) == list(range(RANKS)), breakdown
    steps = mean["steps"]
    for rank in range(RANKS):
        row = breakdown.iloc[rank]
        near("computing, us", row["compute_time(us)"], union([one for one in slices if one["cat"] == "kernel_group"]))
        near("all, us", row["kernel_time(us)"], 1e6 * steps * mean["step"])
        hidden = mean["communication"] - mean["exposed"] - mean["in_line"]
        near("overlap, %", overlap.iloc[rank]["comp_comm_overlap_pctg"], 100 * hidden / mean["communication"])
