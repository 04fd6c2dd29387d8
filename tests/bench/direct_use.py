#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the benchmark programs take Google Benchmark's flags as its own programs do.

    direct_use.py MPIRUN FOLDER_OF_PROGRAMS SCRATCH
"""
import json
import pathlib
import signal
import subprocess
import sys


def run(command, *flags):
    return subprocess.run(command + list(flags), check=True, capture_output=True, text=True)


def entries(command, *flags):
    return json.loads(run(command, "--benchmark_format=json", *flags).stdout)["benchmarks"]


def check_names(command, some):
    """The names that are listed are those that are run, and that a filter finds, to their end."""
    listed = run(command, "--benchmark_list_tests").stdout.split()
    assert listed and len(set(listed)) == len(listed), listed
    assert [entry["name"] for entry in entries(command)] == listed
    wanted = [name for name in listed if name.endswith(some)]
    assert wanted, (listed, some)
    assert [entry["name"] for entry in entries(command, f"--benchmark_filter={some}$")] == wanted
    others = [name for name in listed if name not in wanted]
    if others:
        assert [entry["name"] for entry in entries(command, f"--benchmark_filter=-{some}$")] == others


def check_repetitions(command, name, scratch):
    """Each repetition is measured; the file has all of them where only aggregates are displayed."""
    path = f"{scratch}/repetitions.json"
    shown = entries(command, f"--benchmark_filter={name}$", "--benchmark_repetitions=3",
                    "--benchmark_display_aggregates_only", f"--benchmark_out={path}")
    assert {entry["aggregate_name"] for entry in shown} == {"mean", "median", "stddev", "cv"}, shown
    with open(path, encoding="utf-8") as file:
        kept = json.load(file)["benchmarks"]
    each = [entry for entry in kept if entry["run_type"] == "iteration"]
    assert [entry["repetition_index"] for entry in each] == [0, 1, 2], kept
    assert len({entry["real_time"] for entry in each}) > 1, "one measurement was shown three times"


def check_output(command, scratch):
    shown = entries(command)
    assert shown and all(entry["real_time"] > 0 for entry in shown), shown
    path = f"{scratch}/direct.json"
    console = run(command, f"--benchmark_out={path}", "--benchmark_context=who=me", "--benchmark_time_unit=s")
    assert "who: me" in console.stderr and "Run on (" in console.stderr, console.stderr
    assert "built as DEBUG" not in console.stderr, console.stderr
    assert "\x1b" not in console.stdout, "colours, and no terminal"
    with open(path, encoding="utf-8") as file:
        written = json.load(file)["benchmarks"]
    assert [entry["name"] for entry in written] == [entry["name"] for entry in shown], written
    assert all(entry["time_unit"] == "s" for entry in written), written


def check_refused(command, reason, *flags):
    ended = subprocess.run(command + list(flags), check=False, capture_output=True, text=True)
    said = [line for line in ended.stderr.splitlines() if line.startswith("step_bench: ")]
    assert ended.returncode == 2 and len(said) == 1 and reason in said[0], ended


def check_interrupt(command, scratch):
    """A line says what an interrupt did; where nothing came to be written no empty file stays."""
    with subprocess.Popen([*command, "--benchmark_min_time=600"], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
                          text=True) as process:
        said = process.stderr.readline()  # the first of the context
        process.send_signal(signal.SIGINT)
        said += process.stderr.read()
    assert process.returncode == -signal.SIGINT, (process.returncode, said)
    assert said.endswith("step_bench: interrupted: what was measured is lost; start it again\n"), said
    record = pathlib.Path(scratch) / "nothing.json"
    check_refused(command, "no benchmark has such a name", f"--record={record}", "--benchmark_filter=nothing")
    assert not record.exists()


def main():
    mpirun, programs, scratch = sys.argv[1:]
    ranks = [mpirun, "--oversubscribe", "--bind-to", "none", "-np", "2"]
    host = ["--backend=host", "--oversubscribe"]  # as many devices as ranks were started
    step = [f"{programs}/step_bench", "--strategy=ddp", "--model=mlp-tiny", "--batch=8",
            "--benchmark_min_time=0.001", "--benchmark_min_warmup_time=0.001", *host]
    collective = [f"{programs}/collective_bench", "--sizes=1KiB,2MiB", "--samples=3", *host]
    for command, some in ((ranks + step, "devices:2/batch:8"), (ranks + collective, "ranks:2/bytes:1024/fp32/in_place"),
                          (collective + ["--launch=threads", "--devices=2"], "bytes:1024/fp32/in_place/threads")):
        check_names(command, some)
        check_output(command, scratch)
    check_repetitions(ranks + step, "batch:8", scratch)
    check_repetitions(ranks + collective, "bytes:1024/fp32/in_place", scratch)
    check_refused(ranks + step, "each would draw an order of its own", "--benchmark_enable_random_interleaving")
    check_refused(ranks + step, "no benchmark has such a name", "--benchmark_filter=single")
    alone = [f"{programs}/step_bench", "--model=mlp-tiny", "--batch=8", "--backend=host"]
    check_interrupt(alone, scratch)


if __name__ == "__main__":
    main()
