#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two ranks of ddp train with an option, as a user would run them, and the record shows its effect.

    options_of_ranks.py MPIRUN STEP_BENCH FOLDER CASE
"""
import json
import subprocess
import sys
from pathlib import Path

PARAMETERS = [40, 1024, 1024, 10240, 131072, 262144]  # bytes of each of mlp-tiny's


def peak(record):
    return max(device["peak_bytes"] for device in record["memory"])


def reduced(record):
    return sorted(collective["bytes"] for collective in record["collectives"])


def has_room_for_what_travels(record, usual):
    return peak(record) > peak(usual) and reduced(record) == reduced(usual)


def dispatches_more(record, usual):
    return record["dispatches_per_step"] > usual["dispatches_per_step"] and reduced(record) == reduced(usual)


def reduces_the_same(record, usual):
    return reduced(record) == reduced(usual) and peak(record) == peak(usual)


def stages_nothing_in_shared_memory(record, usual):
    return peak(record) < peak(usual)


def computes_in_bf16(record, usual):
    return record["precision"] == "bf16" and usual["precision"] == "fp32" and peak(record) > peak(usual) \
        and reduced(record) == reduced(usual)


# Of each case: the batch, its options, what its record must show beside that of a run without them,
# and whether its weights must be those of one device.
CASES = {
    "compress_bf16": (8, {"compress": "bf16"}, has_room_for_what_travels, False),
    "compress_fp16": (8, {"compress": "fp16"}, has_room_for_what_travels, False),
    "accumulate": (8, {"accumulate": "2"}, dispatches_more, True),
    "static_graph": (8, {"static-graph": "on"}, reduces_the_same, True),
    "precision_bf16": (8, {"precision": "bf16"}, computes_in_bf16, True),
    "comm_mpi": (8, {"comm": "mpi"}, stages_nothing_in_shared_memory, True),
}


def run(mpirun, step_bench, batch, options, *more):
    result = subprocess.run(
        [mpirun, "--oversubscribe", "--bind-to", "none", "-np", "2", step_bench, "--strategy=ddp",
         "--devices=2", "--oversubscribe", "--backend=host", "--model=mlp-tiny", f"--batch={batch}",
         *(f"--{name}={value}" for name, value in options.items()), *more],
        capture_output=True, text=True, check=False)
    if "no bf16 products for this CPU" in result.stderr:
        print(result.stderr)
        sys.exit(77)
    if result.returncode != 0:
        sys.exit(f"exit status {result.returncode}:\n{result.stdout}{result.stderr}")
    return result.stdout


def record_of(mpirun, step_bench, path, batch, options):
    path.unlink(missing_ok=True)
    said = run(mpirun, step_bench, batch, options, "--min-time=10ms", "--min-samples=5",
               "--warmup-time=1ms", f"--record={path}")
    record = json.loads(path.read_text(encoding="utf-8"))
    assert record["status"] == "ok" and len(record["step_seconds"]) >= 5, record
    assert record["cell"]["options"] == options, record["cell"]
    for name, value in options.items():
        assert f"/{name}:{value}" in said, f"the result's name does not say {name}: {said}"
    return record


def main():
    mpirun, step_bench, folder, case = sys.argv[1:]
    batch, options, shows_its_effect, is_as_single = CASES[case]
    program = (mpirun, step_bench)
    usual = record_of(*program, Path(folder) / f"usual_{case}.json", 8, {})
    record = record_of(*program, Path(folder) / f"{case}.json", batch, options)
    assert shows_its_effect(record, usual), json.dumps([record, usual], indent=1)
    if is_as_single:
        said = run(*program, batch, options, "verify")
        assert "verified:" in said, said


if __name__ == "__main__":
    main()
