#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the benchmark programs write what Google Benchmark writes, on standard output and to a file.

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


def check_output(command, scratch):
    shown = entries(command)
    assert shown and all(entry["real_time"] > 0 for entry in shown), shown
    path = f"{scratch}/direct.json"
    console = run(command, f"--benchmark_out={path}")
    assert "tandem_backend: host" in console.stderr and "Run on (" in console.stderr, console.stderr
    assert "built as DEBUG" not in console.stderr, console.stderr
    assert "\x1b" not in console.stdout, "colours, and no terminal"
    with open(path, encoding="utf-8") as file:
        written = json.load(file)["benchmarks"]
    assert [entry["name"] for entry in written] == [entry["name"] for entry in shown], written


def check_refused(command, reason, *flags):
    ended = subprocess.run(command + list(flags), check=False, capture_output=True, text=True)
    said = [line for line in ended.stderr.splitlines() if line.startswith("step_bench: ")]
    assert ended.returncode == 2 and len(said) == 1 and reason in said[0], ended


def check_interrupt(command, scratch):
    """A line says what an interrupt did; where nothing came to be written no empty file stays."""
    with subprocess.Popen([*command, "--min-time=600s"], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
                          text=True) as process:
        said = process.stderr.readline()  # the first of the context
        process.send_signal(signal.SIGINT)
        said += process.stderr.read()
    assert process.returncode == -signal.SIGINT, (process.returncode, said)
    assert said.endswith("step_bench: interrupted: what was measured is lost; start it again\n"), said
    record = pathlib.Path(scratch) / "nothing.json"
    check_refused(command, "option '--benchmark_filter' is none of step_bench's", f"--record={record}", "--benchmark_filter=nothing")
    assert not record.exists()


def main():
    mpirun, programs, scratch = sys.argv[1:]
    ranks = [mpirun, "--oversubscribe", "--bind-to", "none", "-np", "2"]
    host = ["--backend=host", "--oversubscribe"]  # as many devices as ranks were started
    step = [f"{programs}/step_bench", "--strategy=ddp", "--model=mlp-tiny", "--batch=8",
            "--min-time=1ms", "--warmup-time=1ms", *host]
    collective = [f"{programs}/collective_bench", "--sizes=1KiB,2MiB", "--samples=3", *host]
    for command in (ranks + step, ranks + collective, collective + ["--launch=threads", "--devices=2"]):
        check_output(command, scratch)
    alone = [f"{programs}/step_bench", "--model=mlp-tiny", "--batch=8", "--backend=host"]
    check_interrupt(alone, scratch)


if __name__ == "__main__":
    main()
