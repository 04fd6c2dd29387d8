#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A load on the measured core, for the first launches of a run: these are marked with their cause, left out of the
figures and measured again. Prints the figures beside those of a run without a load.

    beside_load_test.py TANDEM
"""
import csv
import json
import os
import pathlib
import subprocess
import sys
import time

SWEEP = {"name": "beside-load", "workloads": [{"model": "mlp-small", "batch": 64}], "devices": [1],
         "strategies": ["single"], "launches": 5, "min_time": "400ms", "min_samples": 5}
LOADED = 2
CAUSE = "other programs had a core"


def begin(tandem, out):
    pathlib.Path("sweep.json").write_text(json.dumps(SWEEP))
    command = [tandem, "run", "./sweep.json", f"--out={out}", "--backend=host"]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def launches_of(out):
    try:
        lines = pathlib.Path(out, "journal.jsonl").read_text(encoding="utf-8").split("\n")[:-1]  # whole ones
    except FileNotFoundError:
        return []
    return [json.loads(line) for line in lines[1:]]


def figure_of(out):
    with open(pathlib.Path(out, "cells.csv"), encoding="utf-8") as file:
        return next(csv.DictReader(file))


def measured_beside_a_load(tandem, out):
    """The load ends once LOADED launches are in the journal."""
    core = min(os.sched_getaffinity(0))
    load = subprocess.Popen([sys.executable, "-c", "while True: pass"],
                            preexec_fn=lambda: os.sched_setaffinity(0, [core]))
    try:
        run = begin(tandem, out)
        while len(launches_of(out)) < LOADED and run.poll() is None:
            time.sleep(0.02)
    finally:
        load.kill()
        load.wait()
    assert run.wait() == 0, run.returncode
    return launches_of(out)


def share_of_others(launch):
    return launch["taken"].get("run_delay_seconds", 0) / launch["taken"]["window_seconds"]


def main():
    tandem = sys.argv[1]
    if not os.path.exists("/proc/self/schedstat"):
        sys.exit(77)
    assert begin(tandem, "quiet").wait() == 0
    launches = measured_beside_a_load(tandem, "loaded")
    for launch in launches[:LOADED]:
        assert share_of_others(launch) > 0.1, launch["taken"]
    figure = figure_of("loaded")
    marked = int(figure["disturbed_launches"])
    assert marked >= LOADED, figure
    undisturbed = len(launches) - marked
    counted = undisturbed if 2 * undisturbed >= len(launches) else len(launches)
    assert int(figure["launches"]) == counted, (figure["launches"], len(launches), marked)
    assert len(launches) >= SWEEP["launches"] + min(marked, SWEEP["launches"]), "disturbed launches were not replaced"
    report = pathlib.Path("loaded", "report.md").read_text(encoding="utf-8")
    assert "disturbed: others took more than 2 %" in report and CAUSE in report, report[:3000]
    quiet = figure_of("quiet")
    for name, row in (("quiet", quiet), ("loaded", figure)):
        print(f"{name}: {1e3 * float(row['median_step_s']):.3f} ms [{1e3 * float(row['median_step_low_s']):.3f} .. "
              f"{1e3 * float(row['median_step_high_s']):.3f}], {row['launches']} launches, "
              f"{row['disturbed_launches']} disturbed")
    print("the loaded launches, ms:", [round(1e3 * sorted(launch["step_seconds"])[len(launch["step_seconds"]) // 2], 3)
                                        for launch in launches[:LOADED]])


main()
