#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long `tandem` takes for a large sweep, and how much memory: resume, report, compare.

    tests/tools/large_sweep.py TANDEM [--cells=10000] [--launches=6] [--folder=PATH]

Journals are made up: each launch is one of reports/samples/quick-2-cores, of the same strategy and devices, with the
cell, the launch's number and times of its own. Nothing is launched: every launch of the sweep is in the journal. Prints
a line per command: seconds of wall clock, seconds of the processor (all threads, system included), most resident memory
(MB are 10^6 bytes), and how much it wrote. That a report of results.json is that of the journals is
checked. Standard library only. Exit status: 0 measured, 1 failed, 2 wrong usage.
"""
import argparse
import filecmp
import json
import math
import os
import pathlib
import random
import sys
import tempfile
import time

SAMPLE = pathlib.Path(__file__).resolve().parents[2] / "reports/samples/quick-2-cores/results.json"
MODELS = ("mlp-small", "mlp-base")
BUCKETS = (None, 1, 5)
CELLS_PER_WORKLOAD = 10
SCATTER = 0.02  # of the logs of launch medians
# In place of step_bench: takes every option, and fails where it is to measure.
STAND_IN = '#!/bin/sh\ncase " $* " in *" --check"*) exit 0 ;; esac\necho "step_bench: nothing was left to run" >&2\nexit 1\n'


class Failure(Exception):
    pass


def sweep_of(cells, launches):
    batches = [2 * (i + 1) for i in range(cells // CELLS_PER_WORKLOAD // len(MODELS))]
    return {"name": "large", "workloads": [{"model": model, "batch": batches} for model in MODELS], "devices": [1, 2],
            "strategies": ["single", {"strategy": "independent", "launch": "processes"}, "dp", "ddp"],
            "axes": {"bucket-mb": list(BUCKETS)}, "launches": launches, "min_time": "500ms", "min_samples": 10}


def cells_of(sweep):
    """As the sweep has them: CELLS_PER_WORKLOAD for each model and batch."""
    for workload in sweep["workloads"]:
        for batch in workload["batch"]:
            def cell(strategy, launch, devices, bucket=None):
                options = {} if bucket is None else {"bucket-mb": str(bucket)}
                return {"strategy": strategy, "launch": launch, "model": workload["model"], "backend": "host",
                        "devices": devices, "global_batch": batch, "options": options}
            yield cell("single", "threads", 1)
            yield cell("independent", "processes", 2)
            for devices in sweep["devices"]:
                yield cell("dp", "threads", devices)
                for bucket in BUCKETS:
                    yield cell("ddp", "processes", devices, bucket)


def kind_of(cell):
    return cell["model"], cell["strategy"], cell["launch"], cell["devices"]


def samples_by_kind():
    found = {}
    for record in json.loads(SAMPLE.read_text())["tandem"]["launches"]:
        if "implementation" not in record["cell"]["options"]:
            found.setdefault(kind_of(record["cell"]), []).append(record)
    return found


def made_up(record, cell, index, source):
    """With times of whole nanoseconds, as they are measured; disturbed by nobody, or the cell would be launched again."""
    factor = math.exp(SCATTER * source.gauss(0, 1)) * (0.5 + cell["global_batch"] / 1000)
    record = dict(record, cell=cell, launch_index=index)
    record.pop("taken", None)
    for field in ("first_step_seconds", "warmup_seconds"):
        record[field] = round(factor * record[field], 9)
    record["step_seconds"] = [round(factor * seconds, 9) for seconds in record["step_seconds"]]
    return record


def launch_lines(sweep, seed):
    """A line of a journal per launch, launches of all cells interleaved."""
    source = random.Random(seed)
    samples = samples_by_kind()
    cells = list(cells_of(sweep))
    for index in range(sweep["launches"]):
        source.shuffle(cells)
        for cell in cells:
            record = made_up(source.choice(samples[kind_of(cell)]), cell, index, source)
            yield json.dumps(record, separators=(",", ":")) + "\n"


class Bench:
    def __init__(self, tandem, folder, cells, launches):
        self.tandem = str(pathlib.Path(tandem).resolve())
        self.folder = folder
        self.sweep = sweep_of(cells, launches)
        (folder / "sweep.json").write_text(json.dumps(self.sweep))
        (folder / "step_bench").write_text(STAND_IN)
        (folder / "step_bench").chmod(0o755)

    def resume(self, out):
        return ["run", str(self.folder / "sweep.json"), "--backend=host", "--oversubscribe",
                f"--step-bench={self.folder / 'step_bench'}", f"--out={self.folder / out}"]

    def start(self, arguments):
        log = os.open(self.folder / "log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        actions = [(os.POSIX_SPAWN_DUP2, log, 1), (os.POSIX_SPAWN_DUP2, log, 2)]
        process = os.posix_spawn(self.tandem, [self.tandem, *arguments], os.environ, file_actions=actions)
        os.close(log)
        return process

    def run(self, arguments):
        """Seconds, processor seconds and bytes of memory of the command alone."""
        begin = time.monotonic()
        _, status, usage = os.wait4(self.start(arguments), 0)
        seconds = time.monotonic() - begin
        if os.waitstatus_to_exitcode(status) != 0:
            said = (self.folder / "log").read_text().strip().splitlines() or ["nothing"]
            raise Failure(f"tandem {' '.join(arguments)} ended with {os.waitstatus_to_exitcode(status)}: {said[-1]}")
        return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024

    def first_line(self):
        """Of the sweep's journal, as tandem writes it before the first launch."""
        journal = self.folder / "begun" / "journal.jsonl"
        process = self.start(self.resume("begun"))
        while not (journal.exists() and journal.read_text().endswith("\n")):
            if os.waitpid(process, os.WNOHANG)[0] == process:
                raise Failure(f"the sweep was not begun: {(self.folder / 'log').read_text().strip()}")
            time.sleep(0.01)
        os.kill(process, 9)
        os.waitpid(process, 0)
        return journal.read_text().splitlines(keepends=True)[0]

    def write_journals(self):
        """Two whole sweeps, `a` and `b`."""
        first = self.first_line()
        for run, name in enumerate(("a", "b"), 1):
            (self.folder / name).mkdir()
            with open(self.folder / name / "journal.jsonl", "w", encoding="utf-8") as journal:
                journal.write(first)
                journal.writelines(launch_lines(self.sweep, run))

    def check_same(self, a, b):
        if not filecmp.cmp(self.folder / a / "results.json", self.folder / b / "results.json", shallow=False):
            raise Failure(f"{a}/results.json is not {b}/results.json")

    def show(self, what, arguments, out=None):
        seconds, processor, memory = self.run(arguments)
        written = sum(path.stat().st_size for path in (self.folder / out).glob("[!j]*.*")) if out else 0
        print(f"{what:<58} {seconds:7.2f} s {processor:7.2f} s {memory / 1e6:6.0f} MB {written / 1e6:6.0f} MB", flush=True)


def measure(bench):
    bench.write_journals()
    path = {name: str(bench.folder / name) for name in ("a", "b")}
    document = {name: f"{folder}/results.json" for name, folder in path.items()}
    size = os.path.getsize(f"{path['a']}/journal.jsonl")
    launches = sum(1 for _ in cells_of(bench.sweep)) * bench.sweep["launches"]
    print(f"{launches} launches, a journal of {size / 1e6:.0f} MB")
    print(f"{'':<58} {'wall':>9} {'processor':>9} {'memory':>9} {'written':>9}")
    bench.show("resume, nothing left to run", bench.resume("a"), "a")
    bench.show("report, of the journal", ["report", path["a"]], "a")
    bench.show("report, of results.json", ["report", document["a"], f"--out={bench.folder / 'c'}"], "c")
    bench.check_same("a", "c")
    bench.run(["report", path["b"]])
    bench.show("compare, two journals", ["compare", path["a"], path["b"], "--fail-on=none"])
    bench.show("compare, their results.json", ["compare", document["a"], document["b"], "--fail-on=none"])
    print(f"a/report.html: {(bench.folder / 'a' / 'report.html').stat().st_size / 1e6:.1f} MB")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tandem")
    parser.add_argument("--cells", type=int, default=10000)
    parser.add_argument("--launches", type=int, default=6)
    parser.add_argument("--folder", type=pathlib.Path, help="kept, and new; a temporary one without it")
    options = parser.parse_args()
    step = CELLS_PER_WORKLOAD * len(MODELS)
    if options.cells < step or options.cells % step != 0 or options.launches < 1:
        parser.error(f"--cells must be a multiple of {step}, --launches at least 1")
    try:
        with tempfile.TemporaryDirectory() as temporary:
            folder = options.folder or pathlib.Path(temporary)
            folder.mkdir(parents=True, exist_ok=not options.folder)
            measure(Bench(options.tandem, folder, options.cells, options.launches))
    except (Failure, OSError) as error:
        print(f"large_sweep.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
