# SPDX-License-Identifier: Apache-2.0
"""Steps by step_bench on simulated devices, as many at a time as there are cores."""
import concurrent.futures
import json
import math
import os
import pathlib
import re
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


class Simulator:
    """Use it in a `with`: the workload files that it writes lie in a folder of its own until then."""

    def __init__(self, step_bench):
        self.step_bench = step_bench
        self.scratch = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.scratch.name)
        self.known = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.scratch.cleanup()

    def workload_file(self, name, document):
        file = self.folder / (re.sub(r"\W", "-", name) + ".json")
        if not file.exists():
            file.write_text(json.dumps(document))
        return file

    def hardware(self, name, link=None):
        """The description of that name, beside this file or of the catalogue; with another bandwidth to the host where given."""
        own = HERE / "hardware" / f"{name}.json"
        if link is None or not own.exists():
            return str(own) if own.exists() else name
        document = json.loads(own.read_text())
        document["node"]["host_link"]["bandwidth"] = {"value": f"{link:.4f}GBps", "source": "fitted"}
        file = self.folder / f"{name}-{link:.4f}.json"
        if not file.exists():
            file.write_text(json.dumps(document))
        return str(file)

    def seconds(self, command):
        """The step of a cell, a list of options."""
        done = subprocess.run([self.step_bench, "--backend=simulated", "--phases=off", "--warmup-steps=3", "--benchmark_format=json", *command],
                              capture_output=True, text=True, check=False)
        if "what is not scaled (the host's calls" in done.stderr:
            return math.inf  # the costs leave no room for a device's work in the step of one
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip().splitlines()[-1]}")
        return json.loads(done.stdout)["benchmarks"][0]["real_time"] / 1e3

    def steps(self, commands):
        """The steps of many cells; each is simulated once."""
        wanted = [command for command in {tuple(command): None for command in commands} if command not in self.known]
        with concurrent.futures.ThreadPoolExecutor(2 * os.cpu_count()) as pool:
            self.known.update(zip(wanted, pool.map(lambda command: self.seconds(list(command)), wanted)))
        return [self.known[tuple(command)] for command in commands]
