#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A measured workload without products is refused until it is calibrated, which its own times do.

    uncalibrated_workload.py STEP_BENCH WORKLOAD
"""
import json
import pathlib
import subprocess
import sys
import tempfile

step_bench, workload = sys.argv[1:]


def run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, timeout=100)


with tempfile.TemporaryDirectory() as folder:
    document = json.loads(pathlib.Path(workload).read_text())
    for layer in document["layers"]:
        for direction in ("forward", "backward"):
            del layer[direction]["products"]
    bare = pathlib.Path(folder) / "bare.json"
    bare.write_text(json.dumps(document))
    done = run(step_bench, "--backend=host", f"--model={bare}", "--batch=8")
    assert done.returncode == 2 and f"calibrate it once, with step_bench --model={bare} --batch=N" in done.stderr, done

    written = pathlib.Path(folder) / "written.json"
    done = run(step_bench, "--backend=host", f"--model={bare}", "--batch=8", f"--write-workload={written}")
    assert done.returncode == 0 and "batch 16: forward and backward take" in done.stdout, done
    layers = json.loads(written.read_text())["layers"]
    for layer, original in zip(layers, document["layers"]):
        assert layer["forward"]["seconds"] == original["forward"]["seconds"], layer
        assert len(layer["backward"]["products"]["rows"]) == 3, layer
    done = run(step_bench, "--backend=host", f"--model={written}", "--batch=8", "--verify")
    assert done.returncode == 0 and "verified: over 3 steps on 1 device" in done.stdout, done
