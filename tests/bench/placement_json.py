#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""placement_json.py MPIEXEC STEP_BENCH FOLDER CASE: where the threads and ranks of two stand-in GPUs
ran, by the record. GPU 0 is near the even-numbered CPUs, GPU 1 near the odd-numbered ones. In the cases `blind`
there is no NVML that knows them. Strategies with collectives have two devices on each GPU, which
need no NCCL."""

import json
import os
import pathlib
import subprocess
import sys

COMMON = ["--backend=cuda", "--model=mlp:2x32", "--batch=8", "--oversubscribe", "--min-time=1ms", "--warmup-time=1ms"]
# The strategy of each case.
CASES = {
    "dp": "dp",
    "dp_unbound": "dp",
    "dp_blind": "dp",
    "dp_allreduce": "dp-allreduce",
    "ddp": "ddp",
    "ddp_unbound": "ddp",
    "ddp_blind": "ddp",
}


def devices_of(case):
    return 2 if CASES[case] == "dp" else 4


def blind(case):
    return f"--bind=near: nothing is known to be near {devices_of(case)} of {devices_of(case)} devices"


def run(mpiexec, program, folder, case):
    record = pathlib.Path(folder) / f"placement_{case}.json"
    command = [program, *COMMON, f"--devices={devices_of(case)}", f"--strategy={CASES[case]}", f"--record={record}"]
    if case.endswith("unbound"):
        command.append("--bind=none")
    environment = dict(os.environ)
    if case.endswith("blind"):
        del environment["LD_LIBRARY_PATH"]
    if case.startswith("ddp"):
        command = [mpiexec, "--oversubscribe", "--bind-to", "none", "--mca", "btl", "vader,self", "-np", "4", *command]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return json.loads(record.read_text()), done.stderr


def cpus(record, device, phase):
    found = [thread["cpus"] for thread in record["threads"] if thread["device"] == device and phase in thread["phases"]]
    assert len(found) == 1, record["threads"]
    return found[0]


def check_blind(record, stderr, case):
    warned = [warning for warning in record["warnings"] if warning.startswith(blind(case))]
    assert len(warned) == 1, record["warnings"]
    assert "joules_per_step" not in record, record["joules_per_step"]
    assert stderr.count(f"warning: {blind(case)}") == 1, stderr


def check(record, stderr, case, allowed):
    assert blind(case) not in stderr, stderr
    near = {0: [cpu for cpu in allowed if cpu % 2 == 0], 1: [cpu for cpu in allowed if cpu % 2 == 1]}
    for device in range(devices_of(case)):
        expected = set(allowed if case.endswith("unbound") else near[device % 2])
        for phase in ("forward", "backward"):
            found = set(cpus(record, device, phase))
            assert found == expected or (devices_of(case) == 4 and found < expected), record["threads"]
    assert ("bind" in record["cell"]["options"]) == case.endswith("unbound"), record["cell"]
    if CASES[case] == "dp":
        check_gpus(record, stderr, near, case)


def check_gpus(record, stderr, near, case):
    for device in (0, 1):
        gpu = record["gpus"][device]
        assert gpu["pci"] == f"00000000:1{device}:00.0" and gpu["numa_node"] == 0, gpu
        kind = record["machine"]["libraries"]["device"]
        assert kind and "(GPU" not in kind, kind
        assert gpu["peers"] == [{"device": 1 - device, "path": "NUMA node", "peer_access": True}], gpu
        assert gpu["joules"] > 0, gpu
        assert list(gpu["held_down_ms"]) == ["power cap"] and gpu["held_down_ms"]["power cap"] > 0, gpu
    joules = sum(gpu["joules"] for gpu in record["gpus"])
    assert abs(record["joules_per_step"] * len(record["step_seconds"]) - joules) < 1e-6 * joules, record["joules_per_step"]
    assert "power cap held its clocks down for" in stderr, stderr
    if case == "dp":  # one caller drives the transfers of all
        assert cpus(record, 1, "scatter") == near[0], record["threads"]
    assert record["resolved"] == {"broadcast": "sequential", "reduce": "sequential"}, record["resolved"]


def main():
    mpiexec, program, folder, case = sys.argv[1:]
    allowed = sorted(os.sched_getaffinity(0))
    if not {cpu % 2 for cpu in allowed} == {0, 1}:
        print("skipped: needs CPUs of even and odd numbers")
        return 77
    siblings = pathlib.Path("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list")
    if siblings.exists() and siblings.read_text().strip() != "0":
        print("skipped: cores here have several hardware threads, and a core is never split")
        return 77
    record, stderr = run(mpiexec, program, folder, case)
    if case.endswith("blind"):
        check_blind(record, stderr, case)
    else:
        check(record, stderr, case, allowed)
    return 0


if __name__ == "__main__":
    sys.exit(main())
