#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""taken_time_beside_load.py STEP_BENCH: a program that computes on the core of the measured device takes time from the
launch, and the record says so."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

STEP_BENCH = sys.argv[1]
LOAD = "while True: pass"
LEAST_SHARE = 0.1  # of two programs that want a core all the time, each has half of it


def taken(folder):
    record = pathlib.Path(folder) / "record.json"
    subprocess.run([STEP_BENCH, "--backend=host", "--model=mlp-small", "--batch=64", "--min-time=500ms",
                    f"--record={record}"], check=True, capture_output=True, timeout=100)
    found = json.loads(record.read_text(encoding="utf-8"))
    return found["taken"], found["machine"]["bound_cores"]


with tempfile.TemporaryDirectory() as scratch:
    before, cores = taken(scratch)
    if "run_delay_seconds" not in before:
        sys.exit("FAILED: the kernel reports no run delay" if os.path.exists("/proc/self/schedstat") else 77)
    with subprocess.Popen([sys.executable, "-c", LOAD],
                          preexec_fn=lambda: os.sched_setaffinity(0, cores)) as load:
        try:
            beside, _ = taken(scratch)
        finally:
            load.kill()
share = beside["run_delay_seconds"] / beside["window_seconds"]
print(f"beside a load {100 * share:.1f} % of {beside['window_seconds']:.2f} s were taken, "
      f"{beside['involuntary_switches']} switches")
if share < LEAST_SHARE or beside["involuntary_switches"] == 0:
    sys.exit("FAILED: a load on the device's core is not found")
