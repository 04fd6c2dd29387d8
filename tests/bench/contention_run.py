#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""step_bench contention on the host: every strategy that has it writes what it says it does.

    contention_run.py STEP_BENCH MPIRUN...
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

STEP_BENCH, MPIRUN = sys.argv[1], sys.argv[2:]
PAIRS = 3


def contention(folder, launcher, *options):
    file = folder / "contention.json"
    done = subprocess.run([*launcher, STEP_BENCH, "--backend=host", "--devices=2", "--oversubscribe", "--model=mlp-tiny",
                           "--batch=8", "--warmup-time=1ms", "contention", f"--file={file}",
                           f"--pairs={PAIRS}", *options], capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    assert "Too few pairs for an interval" in done.stdout, done.stdout
    return json.loads(file.read_text())


def main():
    ranks = [*MPIRUN, "-np", "2", "--bind-to", "none"]
    for launcher, options in ((ranks, ["--strategy=ddp"]), (ranks, ["--strategy=ddp", "--overlap=off", "--grads=views"]),
                              ([], ["--strategy=dp-allreduce"]),
                              (ranks, ["--strategy=ddp", "--compress=bf16"])):
        with tempfile.TemporaryDirectory() as folder:
            found = contention(Path(folder), launcher, *options)
        assert found["subject"]["strategy"] == options[0].split("=")[1], found
        assert (found["devices"], found["pairs"]) == (2, PAIRS), found
        phases = {one["phase"]: one for one in found["phases"]}
        assert {"forward", "backward", "update"} <= set(phases), phases
        for one in (phases["backward"], found["compute"], found["step"]):
            assert one["off"] > 0 and one["on"] > 0 and one["ratio"] > 0, one
        assert "ratio" not in phases.get("exposed_comm", {}), phases
        # The parts are of the whole: phases of less than a thousandth of it are left out.
        for side in ("off", "on"):
            parts = sum(one[side] for one in phases.values())
            assert 0.98 * found["step"][side] <= parts <= 1.001 * found["step"][side], (side, found)


main()
