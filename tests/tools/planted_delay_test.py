#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the real step_bench without and with a planted delay and finds it in the record.

planted_delay_test.py STEP_BENCH
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path


def record_of(step_bench, *options):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "record.json"
        command = [step_bench, "--backend=host", "--strategy=dp", "--devices=2", "--oversubscribe",
                   "--model=mlp-tiny", "--batch=8", "--min-time=10ms", "--warmup-time=1ms",
                   f"--record={path}", *options]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return json.loads(path.read_text())


def main():
    plain = record_of(sys.argv[1])
    assert plain["planted"] == "", plain["planted"]
    planted = record_of(sys.argv[1], "--plant=replicate:20ms")
    assert planted["planted"] == "replicate:20ms", planted["planted"]
    first = planted["phases"][0]
    assert first["device"] == 0, first
    phases = {name: time for name, time in first["mean_seconds"].items() if name != "idle"}
    assert phases["replicate"] >= 0.020, phases
    assert max(phases, key=phases.get) == "replicate", phases


main()
