#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what collective_bench writes: names, counters, and how figures hang together.

    bandwidth_json.py MPIRUN COLLECTIVE_BENCH FOLDER [cuda]

With cuda: what it writes of two stand-in GPUs.
"""
import json
import math
import subprocess
import sys

BLOCKS = ("scatter", "gather")
TWO_FORMS = ("all_reduce",)
SINGLE = ("broadcast", "reduce", "scatter", "gather")


def refuse(constant):
    raise ValueError(f"{constant} is no JSON")


def entries(command, path):
    subprocess.run(command + [f"--benchmark_out={path}"], check=True)
    with open(path, encoding="utf-8") as file:
        document = json.load(file, parse_constant=refuse)
    return document["context"], {entry["name"]: entry for entry in document["benchmarks"]}


def factor(name, ranks):
    share = (ranks - 1) / ranks
    if name == "all_reduce":
        return 2 * share
    return share if name in BLOCKS else 1


def check_times(entry):
    assert "error_occurred" not in entry and entry["errors"] == 0, entry
    assert ("host_p50_us" in entry) == (sys.argv[4:] == ["cuda"]), entry
    assert entry["real_time"] > 0 and 0 < entry["p50_us"] <= entry["p95_us"], entry


def check_collective(entry, name, ranks):
    check_times(entry)
    assert entry["rank_min_us"] <= entry["rank_avg_us"] <= entry["rank_max_us"], entry
    assert math.isclose(entry["busbw_GBps"], entry["algbw_GBps"] * factor(name, ranks), rel_tol=1e-9)
    assert entry["memcpy_GBps"] > 0 and entry["speed_to_memcpy"] > 0, entry


def check_processes(mpirun, bench, path):
    context, found = entries(
        mpirun + ["-np", "2", bench, "--devices=2", "--oversubscribe", "--backend=host",
                  "--collective=all", "--in-place=both", "--sizes=1KiB,64KiB", "--samples=3"], path)
    assert context["tandem_launch"] == "processes", context
    assert context["tandem_comm"] == "auto", context
    wanted = {f"{name}/ranks:2/bytes:{size}/fp32/{form}": name for name in TWO_FORMS
              for size in (1024, 65536) for form in ("in_place", "out_of_place")}
    wanted |= {f"{name}/ranks:2/bytes:{size}/fp32": name for name in SINGLE for size in (1024, 65536)}
    assert set(found) == set(wanted), sorted(found)
    for full_name, name in wanted.items():
        check_collective(found[full_name], name, 2)
        assert found[full_name]["iterations"] == 3 and "p99_us" not in found[full_name]


def check_mpi(mpirun, bench, path):
    context, found = entries(
        mpirun + ["-np", "2", bench, "--devices=2", "--oversubscribe", "--backend=host", "--comm=mpi",
                  "--collective=all", "--sizes=4KiB", "--samples=3", "--free-running=3"], path)
    assert context["tandem_comm"] == "mpi", context
    for name in TWO_FORMS + SINGLE:
        form = "/in_place" if name in TWO_FORMS else ""
        entry = found[f"{name}/ranks:2/bytes:4096/fp32{form}/free-running:3/comm:mpi"]
        check_collective(entry, name, 2)


def check_threads(bench, path):
    context, found = entries(
        [bench, "--launch=threads", "--devices=3", "--oversubscribe", "--backend=host",
         "--sizes=8B,4MiB,12B", "--samples=1000", "--op=sum", "--dtype=bf16", "--free-running=2",
         "--device-memory=6MiB"], path)
    assert context["tandem_launch"] == "threads" and context["tandem_op"] == "sum", context
    entry = found["all_reduce/ranks:3/bytes:8/bf16/in_place/sum/free-running:2/threads"]
    check_collective(entry, "all_reduce", 3)
    assert entry["p95_us"] <= entry["p99_us"], entry
    # What does not fit is named with its reason, and what comes after it is measured.
    skipped = found["all_reduce/ranks:3/bytes:4194304/bf16/in_place/sum/free-running:2/threads"]
    assert skipped["error_message"].startswith("skipped: host:0 has too little memory"), skipped
    check_times(found["all_reduce/ranks:3/bytes:12/bf16/in_place/sum/free-running:2/threads"])


def check_one_rank(bench, path):
    _, found = entries([bench, "--launch=threads", "--backend=host", "--sizes=1KiB", "--samples=3"], path)
    entry = found["all_reduce/ranks:1/bytes:1024/fp32/in_place/threads"]
    check_times(entry)
    assert not [key for key in entry if "GBps" in key or "memcpy" in key], entry


# By events of the devices, with the host's clock beside: each of its samples has the launch and the wait in it.
def check_gpus(collective_bench, path):
    _, found = entries([collective_bench, "--launch=threads", "--devices=2", "--backend=cuda", "--oversubscribe", "--gpus=0",
                        "--sizes=4KiB", "--samples=3"], path)
    entry = found["all_reduce/ranks:2/bytes:4096/fp32/in_place/free-running:20/threads"]
    check_collective(entry, "all_reduce", 2)
    assert 0 < entry["host_busbw_GBps"] and 0 < entry["host_p50_us"], entry


def main():
    mpirun, collective_bench, folder = sys.argv[1:4]
    path = f"{folder}/bandwidth.json"
    if sys.argv[4:] == ["cuda"]:
        check_gpus(collective_bench, f"{folder}/bandwidth_of_gpus.json")
        return
    two_ranks = [mpirun, "--oversubscribe", "--bind-to", "none", "--mca", "btl", "vader,self"]
    check_processes(two_ranks, collective_bench, path)
    check_mpi(two_ranks, collective_bench, path)
    check_threads(collective_bench, path)
    check_one_rank(collective_bench, path)


if __name__ == "__main__":
    main()
