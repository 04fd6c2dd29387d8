#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs against a reference, by the real step_bench.

    against_test.py TANDEM CASE
"""
import json
import pathlib
import subprocess
import sys

SWEEP = {"name": "against", "workloads": [{"model": "mlp-tiny", "batch": 8}], "devices": [2],
         "strategies": ["single", "dp", {"strategy": "dp-allreduce"}], "launches": 3, "min_time": "20ms",
         "min_samples": 3}


def run(tandem, *options):
    """The exit code and the output of a run into ./out."""
    pathlib.Path("sweep.json").write_text(json.dumps(SWEEP))
    command = [tandem, "run", "./sweep.json", "--out=out", "--backend=host", "--oversubscribe", "--no-links", *options]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    print(done.stdout)
    return done.returncode, done.stdout


def changes(tandem):
    done = subprocess.run([tandem, "compare", "out/against", "out", "--json=changes.json"], stdout=subprocess.PIPE, text=True, check=False)
    return done.stdout, json.loads(pathlib.Path("changes.json").read_text())


def sweep_of(folder):
    return json.loads(pathlib.Path(folder, "results.json").read_text())["tandem"]["sweep"]


def case_planted(tandem):
    """A delay in a phase that dp alone has is found in dp, and in no other cell."""
    code, said = run(tandem, "--against-option", "--plant=replicate:60ms")
    assert said.endswith(changes(tandem)[0]), "compare says something else than the run"
    cells = {cell["strategy"]: cell for cell in changes(tandem)[1]["cells"]}
    assert sorted(cells) == ["dp", "dp-allreduce", "single"], cells
    assert cells["dp"]["verdict"] == "FASTER" and cells["dp"]["time_ratio"]["center"] < 0.5, cells["dp"]
    for strategy in ("single", "dp-allreduce"):
        assert cells[strategy]["time_ratio"]["center"] > 0.2, cells[strategy]
    assert code == (3 if "SLOWER" in (cell["verdict"] for cell in cells.values()) else 0), code
    assert "A: planted: replicate:60ms" in said, "the delay is not told"


def case_build(tandem):
    """Another build, which is the same here: what is told, not what is judged."""
    code, _ = run(tandem, "--against", str(pathlib.Path(tandem).parent.parent))
    assert code in (0, 3), code
    found = changes(tandem)[1]
    assert len(found["cells"]) == 3 and all(cell["rounds"] for cell in found["cells"]), found
    own, other = sweep_of("out")["against"], sweep_of("out/against")["against"]
    assert own["run"] == other["run"] and len(own["run"]) == 32, (own, other)
    assert not own["is_reference"] and other["is_reference"], (own, other)
    assert found["sides"].startswith(f"A is the reference (the build {own['build']}), commit "), found["sides"]


def main():
    globals()[f"case_{sys.argv[2]}"](sys.argv[1])


main()
