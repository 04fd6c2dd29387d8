#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`tandem compare` as a program, on documents with known launches.

    compare_test.py TANDEM CASE
"""
import json
import math
import os
import pathlib
import random
import subprocess
import sys
import tempfile

CELLS = [(strategy, devices, batch) for strategy in ("dp", "ddp", "single") for devices in (1, 2) for batch in (64, 128)]
LAUNCHES = 10
SIGMA = 0.01  # of the logs of launch medians


def launch(cell, index, seconds):
    strategy, devices, batch = cell
    return {"cell": {"strategy": strategy, "launch": "threads", "model": "mlp-small", "backend": "host", "devices": devices,
                     "global_batch": batch, "options": {}},
            "status": "ok", "launch_index": index, "step_seconds": [seconds] * 3,
            "machine": {"host_name": "node", "cpu_model": "Test CPU", "cores": 2}}


def document(source, slower=None, sigma=SIGMA, **changes):
    """Launches of CELLS; `slower` has the factor of each cell that is not the usual."""
    launches = [launch(cell, index, 0.01 * (slower or {}).get(cell, 1) * math.exp(sigma * source.gauss(0, 1)))
                for cell in CELLS for index in range(LAUNCHES)]
    return {"context": {}, "benchmarks": [], "tandem": {"schema_version": "2.0.0", "launches": launches, **changes}}


class Program:
    def __init__(self, tandem, folder):
        self.tandem = tandem
        self.folder = pathlib.Path(folder)

    def write(self, name, content):
        path = self.folder / name
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return str(path)

    def run(self, *arguments):
        return subprocess.run([self.tandem, "compare", "--details", *arguments], capture_output=True, text=True, timeout=60, check=False,
                              env={**os.environ, "COLUMNS": "10000"})

    def compare(self, before, after, *arguments):
        return self.run(self.write("a.json", before), self.write("b.json", after), *arguments)


def expect(condition, run, what):
    if not condition:
        sys.exit(f"FAILED: {what}; ended with {run.returncode}\n{run.stdout}{run.stderr}")


def case_verdicts(program):
    source = random.Random(1)
    factors = {CELLS[0]: 1.2, CELLS[1]: 0.8}
    output = program.folder / "changes.json"
    run = program.compare(document(source), document(source, factors, sigma=0.005), f"--json={output}")
    expect(run.returncode == 3, run, "a slower cell has to end with 3")
    expect(run.stdout.endswith("B fails: 1 cell slower.\n"), run, "what fails is not printed")
    expect("12 cells: 1 SLOWER, 1 FASTER, " in run.stdout, run, "the counts are not printed")
    expect("by more than 3 %" in run.stdout, run, "beyond the threshold is not printed")
    expect("each with 99.58 %" in run.stdout, run, "the confidence is not shared by 12 cells")
    found = json.loads(output.read_text())
    verdicts = {(cell["strategy"], cell["devices"], cell["global_batch"]): cell["verdict"] for cell in found["cells"]}
    expect(verdicts[CELLS[0]] == "SLOWER" and verdicts[CELLS[1]] == "FASTER", run, "the JSON says something else")
    expect(found["counts"]["SLOWER"] == 1, run, "the JSON counts otherwise")
    run = program.compare(document(source), document(source, {CELLS[1]: 0.8}))
    expect(run.returncode == 0, run, "nothing slower has to end with 0")


def case_threshold(program):
    source = random.Random(2)
    slower = {cell: 1.01 for cell in CELLS}
    documents = document(source, sigma=0.001), document(source, slower, sigma=0.001)
    run = program.compare(*documents)
    expect(run.returncode == 0 and "12 SAME" in run.stdout, run, "1 % is below 3 %")
    run = program.compare(*documents, "--threshold=0.5%")
    expect(run.returncode == 3 and "12 SLOWER" in run.stdout, run, "1 % is beyond 0.5 %")
    for wrong in ("3", "3 %x", "-1%", "101%", "nan%", "%", ""):
        run = program.compare(*documents, f"--threshold={wrong}")
        expect(run.returncode == 2 and run.stderr.count("\n") == 1, run, f"a threshold of '{wrong}' was taken")


def case_between_runs(program):
    source = random.Random(5)
    documents = document(source, sigma=0.001), document(source, {cell: 1.05 for cell in CELLS}, sigma=0.001)
    run = program.compare(*documents, "--between-runs=3%")
    expect(run.returncode == 0 and "12 UNSURE" in run.stdout, run, "5 % is within what runs differ by at 3 %")
    expect("a scatter of 3 % between runs" in run.stdout, run, "the scatter is not printed")
    run = program.compare(*documents, "--between-runs=3")
    expect(run.returncode == 2 and "--between-runs is '3'" in run.stderr, run, "a scatter without its % was taken")


def case_false_alarms(program):
    """Of 40 pairs of the same program one alarm is expected, and four are seen once in 50 such tests."""
    source = random.Random(3)
    alarms = sum(program.compare(document(source), document(source)).returncode == 3 for _ in range(40))
    if alarms > 3:
        sys.exit(f"FAILED: {alarms} alarms in 40 pairs")


def case_planted(program):
    """A cell that is 3 % slower, at a scatter of 1 %."""
    source = random.Random(4)
    found = sum(program.compare(document(source), document(source, {CELLS[5]: 1.03})).returncode == 3 for _ in range(20))
    if found < 16:
        sys.exit(f"FAILED: found in {found} of 20 pairs")


def without(made, index, status=None, launches=range(LAUNCHES)):
    """The document without those launches of a cell, or with them failed or skipped."""
    left = []
    for record in made["tandem"]["launches"]:
        cell = record["cell"]
        is_that = (cell["strategy"], cell["devices"], cell["global_batch"]) == CELLS[index]
        if not is_that or record["launch_index"] not in launches:
            left.append(record)
        elif status:
            left.append(dict(record, status=status, reason="planted", step_seconds=[]))
    made["tandem"]["launches"] = left
    return made


def case_fail_on(program):
    """What --fail-on names ends with 3, and nothing else does."""
    source = random.Random(7)
    base = document(source, sigma=0.001)

    def expect_code(code, after, fail_on, said=""):
        run = program.compare(base, after, *([f"--fail-on={fail_on}"] if fail_on else []))
        expect(run.returncode == code and said in run.stdout, run, f"not {code} and '{said}' with --fail-on={fail_on}")

    missing = without(document(source, sigma=0.001), 3)
    expect_code(0, missing, "")
    expect_code(3, missing, "missing", "B fails: 1 cell missing.")
    expect_code(0, missing, "slower,unsure,failed")
    for status in ("failed", "skipped"):
        lost = without(document(source, sigma=0.001), 3, status)
        expect_code(3, lost, "", "B fails: 1 cell failed.")
        expect_code(0, lost, "slower,unsure,missing")
        expect_code(0, lost, "none", "planted")
    partly = without(document(source, sigma=0.001), 3, "failed", [2])
    expect_code(3, partly, "", "in B launches failed: ")
    single = without(document(source, sigma=0.001), 3, None, range(1, LAUNCHES))
    expect_code(0, single, "")
    expect_code(3, single, "slower,unsure", "B fails: 1 cell unsure.")
    nothing = document(source)
    for index in range(len(CELLS)):
        nothing = without(nothing, index, "failed")
    expect_code(3, nothing, "", f"B fails: {len(CELLS)} cells failed.")
    output = program.folder / "lost.json"
    run = program.compare(base, without(document(source), 3, "failed"), f"--json={output}")
    lost = json.loads(output.read_text())["lost"]
    expect([(one["status"], one["reason"]) for one in lost] == [("failed", "planted")], run, "the JSON does not say what is lost")


def case_nothing_common(program):
    source = random.Random(5)
    other = document(source)
    for record in other["tandem"]["launches"]:
        record["cell"]["options"] = {"dispatch-cost": "8us"}
    run = program.compare(document(source), other)
    expect(run.returncode == 2 and "no cell was measured in both" in run.stderr, run, "a modelled step met a measured one")
    expect(run.stderr.count("\n") == 1, run, "more than a line")


def case_hostile(program):
    """Whatever is given for A or B, one line and 2; never 1, which says that a cell is slower, or that nothing can be written."""
    good = document(random.Random(6))
    changed = json.dumps(good)
    texts = {"empty": "", "cut off": changed[:-40], "no JSON": "\x00\xff{", "foreign": "{}", "a list": "[1, 2]", "null": "null",
             "nested": "[" * 100000, "newer": changed.replace('"2.0.0"', '"3.0.0"'),
             "older": changed.replace('"2.0.0"', '"1.8.0"'), "no version": changed.replace('"2.0.0"', '"x"'),
             "wrong types": changed.replace('"ok"', "7"), "no time": changed.replace('"step_seconds": [', '"step_seconds": [-1, '),
             "ages": changed.replace('"step_seconds": [', '"step_seconds": [1e308, '),
             "infinity": changed.replace('"step_seconds": [', '"step_seconds": [1e999, '),
             "no launches": json.dumps(document(random.Random(6), launches=[])), "launches of no kind": json.dumps(document(random.Random(6), launches=[3]))}
    good_file = program.write("good.json", good)
    bad_files = {what: program.write(f"{what.replace(' ', '_')}.json", text) for what, text in texts.items()}
    bad_files.update({what: str(program.folder / what) for what in ("absent", "folder")})
    (program.folder / "folder").mkdir()
    for what, bad in bad_files.items():
        for pair in ((good_file, bad), (bad, good_file)):
            run = program.run(*pair)
            expect(run.returncode == 2 and run.stderr.count("\n") == 1 and not run.stdout, run, f"{what}: not one line and 2")
    run = program.run(good_file, good_file)
    expect(run.returncode == 2 and "hold the same launches" in run.stderr, run, "a run is compared with itself")
    run = program.run(good_file, program.write("other.json", document(random.Random(7))), "--json=/nowhere/x.json")
    expect(run.returncode == 1 and run.stderr.count("\n") == 1, run, "a file that cannot be written is no failure")


def main():
    tandem, case = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        globals()[f"case_{case}"](Program(tandem, folder))


if __name__ == "__main__":
    main()
