#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A calibration of GPUs, which stand-ins are here, has their collectives and contention, and simulations take both.

    gpu_calibration.py STEP_BENCH
"""
import json
import pathlib
import subprocess
import sys
import tempfile

PROGRAM = sys.argv[1]
BYTES = 4096  # of gradients, about: less than the smallest of two neighbouring sizes apart


def run(*arguments):
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, (arguments, done.stderr)


def all_reduce_of(calibration, ranks):
    return {one["bytes"]: one["seconds"] for one in calibration["collectives"] if one["name"] == "all_reduce" and one["ranks"] == ranks}


def simulated(file, devices):
    record = file.with_name("record.json")
    run("--backend=simulated", f"--calibration={file}", "--model=mlp:2x32", "--batch-per-device=8", "--strategy=ddp",
        f"--devices={devices}", f"--record={record}")
    return json.loads(record.read_text())


def main():
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "gpus.json"
        run("--backend=cuda", "calibrate", f"--file={file}", "--model=mlp:2x32", "--batches=8")
        calibration = json.loads(file.read_text())
        contention = calibration["hardware"]["gpu"]["contention"]
        assert contention["source"] == "measured", contention
        ranks = {one["ranks"] for one in calibration["collectives"]}
        assert len(ranks) == 1 and min(ranks) > 1, ranks
        measured = min(ranks)
        curve = all_reduce_of(calibration, measured)
        assert min(curve) <= BYTES <= max(curve) and min(curve.values()) > 0, curve
        # A bucket a hundred times as slow shows in the step, and in what the step rests on.
        quick = simulated(file, measured)
        for one in calibration["collectives"]:
            one["seconds"] *= 100
        file.write_text(json.dumps(calibration))
        slow = simulated(file, measured)
        assert slow["step_seconds"][0] > quick["step_seconds"][0] + 50 * min(curve.values()), (quick, slow)
        assert slow["rests_on"]["collectives measured"] > 0.5, slow["rests_on"]
        # The description's form holds for other numbers of ranks.
        more = simulated(file, 2 * measured)
        assert more["step_seconds"][0] > slow["step_seconds"][0], (slow, more)
        assert more["rests_on"]["collectives described"] > 0.5, more["rests_on"]


main()
