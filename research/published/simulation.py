# SPDX-License-Identifier: Apache-2.0
"""Steps by step_bench on simulated devices, as many at a time as there are cores."""
import concurrent.futures
import copy
import json
import math
import os
import pathlib
import re
import subprocess
import tempfile
import zlib

import workloads


def bytes_per_second(text):
    """The figure of "25GBps", as descriptions have it."""
    number, prefix = re.fullmatch(r"([\d.]+) ?([kMGT]?)Bps", text).groups()
    return float(number) * {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}[prefix]


def seconds_of(text):
    """The figure of "3.4us"."""
    number, unit = re.fullmatch(r"([\d.]+) ?(ns|us|ms|s)", text).groups()
    return float(number) * {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}[unit]


class Simulator:
    """Use it in a `with`: the workload files that it writes lie in a folder of its own until then."""

    def __init__(self, step_bench):
        self.step_bench = step_bench
        self.scratch = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.scratch.name)
        self.tandem = pathlib.Path(step_bench).with_name("tandem")
        self.known, self.descriptions, self.failures = {}, {}, {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.scratch.cleanup()

    def workload_file(self, name, document):
        file = self.folder / (re.sub(r"\W", "-", name) + ".json")
        if not file.exists():
            file.write_text(json.dumps(document))
        return file

    def described(self, name):
        """The description of a machine of the catalogue."""
        if name not in self.descriptions:
            done = subprocess.run([self.tandem, "list", "hardware", name], capture_output=True, text=True, check=False)
            if done.returncode:
                raise RuntimeError(f"tandem list hardware {name}: {done.stderr.strip()}")
            self.descriptions[name] = json.loads(done.stdout)
        return self.descriptions[name]

    def hardware(self, machine, link=1.0):
        """The catalogue's name, or a file with what the table says otherwise and `link` times the bandwidth to the host."""
        if not machine.changes and link == 1.0:
            return machine.name
        document = copy.deepcopy(self.described(machine.name))
        for part, key, value in machine.changes:
            document[part][key] = {"value": value, "source": "the table"}
        node = document["node"]
        for figure in (node["host_link"]["bandwidth"], node["staged_link"]["bandwidth"], node["staged_link"]["both_ways"]):
            figure["value"] = f"{link * bytes_per_second(figure['value']) / 1e9:.4f}GBps"
        text = json.dumps(document)
        file = self.folder / f"{machine.name}-{zlib.crc32(text.encode()):08x}.json"
        if not file.exists():
            file.write_text(text)
        return str(file)

    def run(self, command):
        return subprocess.run([self.step_bench, "--backend=simulated", "--warmup-steps=3", "--benchmark_format=json", *command],
                              capture_output=True, text=True, check=False)

    def seconds(self, command):
        """The step of a cell, a list of options; endless, and a line in `failures`, where it cannot be simulated."""
        done = self.run(["--phases=off", *command])
        if done.returncode:
            self.failures[tuple(command)] = (done.stderr.strip() or f"exit status {done.returncode}").splitlines()[-1]
            return math.inf
        return json.loads(done.stdout)["benchmarks"][0]["real_time"] / 1e3

    def all_reduce(self, machine, ranks, size):
        """The time of an all-reduce of `size` bytes, that of the one bucket of a model with one tensor, or why there is none."""
        workload = workloads.one_tensor(max(1, size // 4))
        model = self.workload_file(workload["name"], workload)
        record = self.folder / f"{machine.name}-{ranks}-{size}.record.json"
        done = self.run([f"--model={model}", f"--hardware={self.hardware(machine)}", "--strategy=ddp", f"--devices={ranks}", "--batch-per-device=1",
                         "--bucket-mb=all", "--device-memory=1000000GB", f"--record={record}"])
        if done.returncode:
            return (done.stderr.strip() or f"exit status {done.returncode}").splitlines()[-1]
        return json.loads(record.read_text(encoding="utf-8"))["collectives"][0]["least_seconds"]

    def all_reduces(self, calls):
        """The times by (machine, ranks, bytes) each."""
        with concurrent.futures.ThreadPoolExecutor(2 * os.cpu_count()) as pool:
            return list(pool.map(lambda call: self.all_reduce(*call), calls))

    def steps(self, commands):
        """The steps of many cells; each is simulated once."""
        wanted = [command for command in {tuple(command): None for command in commands} if command not in self.known]
        with concurrent.futures.ThreadPoolExecutor(2 * os.cpu_count()) as pool:
            self.known.update(zip(wanted, pool.map(lambda command: self.seconds(list(command)), wanted)))
        return [self.known[tuple(command)] for command in commands]
