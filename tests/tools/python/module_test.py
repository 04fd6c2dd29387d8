#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The module tandem on a stand-in for the program, and its tables on documents of runs that were made.

    module_test.py SOURCE TANDEM

pandas' part is skipped where this python has none.
"""
import collections
import csv
import importlib.util
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

SOURCE, TANDEM = (pathlib.Path(argument) for argument in sys.argv[1:3])
HERE = pathlib.Path(__file__).resolve().parent
SAMPLE = SOURCE / "reports/samples/quick-2-cores"
OVERALL = ("ddp is faster than dp in 1 of 3 comparisons on 2 devices (1.38 times as fast on mlp-small, batch 64); dp in none; 2 not "
           "resolved. The largest part of the difference: dp spends 28 % of its step adding gradients on device 0. Against one device the "
           "best is ddp at 1.71x on mlp-small, batch 512. At these points 2 devices are slower than one (one device: 1x): mlp-base, batch "
           "64 (dp at 0.90x); mlp-small, batch 64 (dp at 0.73x).")  # of that run
EXPLAINED = SOURCE / "tests/reports/explained"
sys.path.insert(0, str(SOURCE / "tools/python"))
import tandem  # by the path above


class Standing(unittest.TestCase):
    """In a folder of its own, with the stand-in as the program."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp()).resolve()
        self.addCleanup(shutil.rmtree, self.folder)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)
        self.set(TANDEM_PROGRAM=str(HERE / "fake_tandem"), FAKE_CALLS=str(self.folder / "calls"), FAKE_REPORT=str(SAMPLE))

    def set(self, **variables):
        for name, value in variables.items():
            self.addCleanup(os.environ.pop, name, None)
            os.environ[name] = value

    def calls(self):
        return (self.folder / "calls").read_text().splitlines()

    def python(self, text, **options):
        """What another python prints that runs it."""
        command = [sys.executable, "-B", "-c", f"import sys; sys.path.insert(0, {str(SOURCE / 'tools/python')!r})\n{text}"]
        done = subprocess.run(command, capture_output=True, check=False, timeout=60, **options)
        done.stdout, done.stderr = done.stdout.decode(), done.stderr.decode()  # carriage returns stay what they are
        return done


class Running(Standing):
    def test_options_are_those_of_the_command(self):
        results = tandem.run("quick", "out", devices=2, launches=3, budget="5m", with_torch=True, oversubscribe=True,
                             progress=False)
        self.assertEqual(self.calls(), [f"run quick --out=out --devices=2 --launches=3 --budget=5m --with-torch={sys.executable} "
                                        "--oversubscribe"])
        self.assertEqual(results.folder, pathlib.Path("out"))
        self.assertEqual(results.verdict.overall, OVERALL)

    def test_a_new_folder_is_taken_where_none_is_named(self):
        for number in (1, 2):
            self.assertEqual(tandem.run(progress=False).folder, pathlib.Path(f"out/quick-{number}"))
        self.assertEqual(tandem.explain("mlp-tiny", 8, progress=False).folder, pathlib.Path("out/explain-1"))
        for name, folder in (("../../own", "own-1"), ("", "sweep-1")):
            self.assertEqual(tandem.run({"name": name}, progress=False).folder, pathlib.Path("out", folder))

    def test_a_mapping_becomes_a_sweep_beside_the_results(self):
        sweep = {"name": "own", "workloads": [{"model": pathlib.Path("own.json"), "batch": 8}, {"model": ["mlp-tiny", "b.json"]}]}
        tandem.run(sweep, "out", progress=False)
        self.assertEqual(self.calls(), ["run out/sweep.json --out=out"])
        written = json.loads(pathlib.Path("out/sweep.json").read_text())
        self.assertEqual(written["workloads"][0], {"model": str(self.folder / "own.json"), "batch": 8})
        self.assertEqual(written["workloads"][1]["model"], ["mlp-tiny", str(self.folder / "b.json")])

    def test_a_module_is_named_by_its_function_and_measured_by_this_python(self):
        results = tandem.run(module="models/own.py:build", batch_per_device=[8, 32], devices=2, cells=["ddp grads=views", "read-loss=on"],
                             progress=False)
        self.assertEqual(self.calls(), ["run --module=models/own.py:build --batch-per-device=8,32 --cell=ddp grads=views "
                                        f"--cell=read-loss=on --out=out/own-1 --devices=2 --with-torch={sys.executable}"])
        self.assertEqual(results.folder, pathlib.Path("out/own-1"))
        tandem.run(module="package.part:build", batch=64, with_torch="/other/python", progress=False)
        self.assertEqual(self.calls()[-1], "run --module=package.part:build --batch=64 --out=out/part-1 --with-torch=/other/python")
        tandem.run(module="own.py:build", batch=8, pretend=2, like="h100", with_torch="/other/python", progress=False)
        self.assertEqual(self.calls()[-1], "run --module=own.py:build --batch=8 --out=out/own-2 --with-torch=/other/python "
                                           "--pretend=2 --like=h100")
        tandem.run("quick", module="own.py:build", batch=8, progress=False)
        self.assertTrue(self.calls()[-1].startswith("run quick --module=own.py:build --batch=8 --out=out/own-3 "), self.calls()[-1])
        for call, says in ((lambda: tandem.run(module=object(), batch=8), "name the function that returns it"),
                           (lambda: tandem.run(module="own.py:build", batch="8"), "whole number from 1"),
                           (lambda: tandem.run("quick", batch=8), "are of a module"),
                           (lambda: tandem.run("quick", pretend=2), "are of a module")):
            with self.assertRaisesRegex(tandem.UsageError, says):
                call()
        self.assertEqual(len(self.calls()), 4)

    def test_modules_in_a_mapping_are_named_from_here(self):
        tandem.run({"name": "own", "workloads": [{"module": "own.py:build", "batch": 8}, {"module": "package.part:build", "batch": 8}]},
                   "out", progress=False)
        written = json.loads(pathlib.Path("out/sweep.json").read_text())
        self.assertEqual([workload["module"] for workload in written["workloads"]],
                         [f"{self.folder}/own.py:build", "package.part:build"])

    def test_explaining(self):
        explanation = tandem.explain("mlp-tiny", 8, 4, out="why", interpreter_lock=True, progress=False)
        self.assertEqual(self.calls(), ["explain --out=why --model=mlp-tiny --batch=8 --devices=4 --interpreter-lock"])
        self.assertEqual((str(explanation), explanation._repr_markdown_()), ("# why\n", "# why\n"))
        tandem.explain("mlp-tiny", 8, source=explanation.results, progress=False)
        self.assertEqual(self.calls()[-1], "explain why --model=mlp-tiny --batch=8 --devices=2")
        with self.assertRaisesRegex(tandem.UsageError, "leave one out"):
            tandem.explain("mlp-tiny", 8, source="why", out="other")
        tandem.explain(module="own.py:build", batch=8, out="mine", progress=False)
        self.assertEqual(self.calls()[-1], f"explain --out=mine --module=own.py:build --batch=8 --devices=2 --with-torch={sys.executable}")
        with self.assertRaisesRegex(tandem.UsageError, "explain: module is 5: name the function that returns it"):
            tandem.explain(module=5, batch=8)

    def test_projecting(self):
        projection = tandem.project(module="own.py:build", hardware="dgx-a100", batch_per_device=[8, 32], devices="1..16", progress=False)
        self.assertEqual(self.calls(), ["project --module=own.py:build --hardware=dgx-a100 --batch-per-device=8,32 --devices=1..16 "
                                        f"--with-torch={sys.executable} --out=out/project-1"])
        self.assertEqual((str(projection), projection.folder), ("# Projection\n", pathlib.Path("out/project-1")))
        self.assertGreater(len(projection.results.records("cells")), 0)
        tandem.project(pathlib.Path("own.json"), hardware=pathlib.Path("box.json"), batch=64, devices=[2, 4], bucket_mb=1, out="mine",
                       dispatch_cost="off", progress=False)
        self.assertEqual(self.calls()[-1], "project --model=own.json --hardware=box.json --batch=64 --devices=2,4 --dispatch-cost=off "
                                           "--bucket-mb=1 --out=mine")
        for mistake in ({}, {"model": "mlp-tiny", "module": "own.py:build"}):
            with self.assertRaisesRegex(tandem.UsageError, "project: give one of model and module"):
                tandem.project(hardware="dgx-a100", batch=8, **mistake)
        with self.assertRaisesRegex(tandem.UsageError, "project: batch=0: give a whole number"):
            tandem.project("mlp-tiny", hardware="dgx-a100", batch=0)

    def test_neither_home_nor_temporary_folder_is_needed(self):
        nowhere = {**os.environ, "HOME": "/nonexistent", "TMPDIR": "/nonexistent"}
        done = self.python("import tandem; print(tandem.run('quick', 'out').verdict.overall)", env=nowhere)
        self.assertIn("ddp is faster", done.stdout, done.stderr)


class Command(Standing):
    def test_python3_is_that_of_the_environment_even_where_it_is_not_activated(self):
        shutil.copytree(SOURCE / "tools/python/tandem", self.folder / "packed/tandem")
        program = self.folder / "packed/tandem/archive/tandem"
        program.parent.mkdir()
        program.write_text('#!/bin/sh\ncommand -v python3\n')
        program.chmod(0o755)
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", "own"], check=True)
        cases = [("own/bin/python3", f"{self.folder}/own/bin/python3")]
        usual = shutil.which("python3", path="/usr/bin:/bin")
        if usual and sys.prefix == sys.base_prefix:
            cases.append((sys.executable, usual))
        for python, found in cases:
            done = subprocess.run([python, "-m", "tandem"], capture_output=True, text=True, check=False,
                                  env={"PATH": "/usr/bin:/bin", "PYTHONPATH": "packed"})
            self.assertEqual((done.returncode, done.stdout.strip()), (0, found), done.stderr)


class Failing(Standing):
    def test_the_line_is_the_message(self):
        for status, kind in ((2, tandem.UsageError), (1, tandem.TandemError)):
            self.set(FAKE_STATUS=str(status), FAKE_SAYS="tandem: --frob: no such thing; leave it out")
            with self.assertRaises(tandem.TandemError) as raised:
                tandem.run("quick", "out", progress=False)
            self.assertIs(type(raised.exception), kind)
            self.assertEqual(str(raised.exception), "tandem: --frob: no such thing; leave it out")
            self.assertEqual(tandem.load(raised.exception.folder).records("cells")[0]["model"], "mlp-base")

    def test_the_line_is_not_said_twice(self):
        self.set(FAKE_STATUS="2", FAKE_SAYS="tandem: once")
        done = self.python("import tandem\ntry: tandem.run('quick', 'out')\nexcept tandem.UsageError: pass")
        self.assertEqual(done.stderr.splitlines()[0], "resuming: 1 launch in the journal")
        self.assertEqual(len(done.stderr.splitlines()), 3, done.stderr)
        self.assertNotIn("once", done.stderr)

    def test_a_signal_is_named(self):
        self.set(FAKE_STATUS="KILL")
        with self.assertRaisesRegex(tandem.TandemError, "tandem run was ended by SIGKILL; the same call goes on"):
            tandem.run("quick", "out", progress=False)

    def test_silence_is_told(self):
        silent = self.folder / "silent"
        silent.write_text("#!/bin/sh\nexit 7\n")
        silent.chmod(0o755)
        self.set(TANDEM_PROGRAM=str(silent))
        with self.assertRaisesRegex(tandem.TandemError, "ended with 7 and said nothing"):
            tandem.run("quick", "out", progress=False)

    def test_no_program(self):
        self.set(TANDEM_PROGRAM="/no/such/tandem")
        with self.assertRaisesRegex(tandem.TandemError, "there is no such program"):
            tandem.run("quick", "out")

    def test_a_sweep_that_is_none(self):
        for wrong, words in (({"workloads": "foo"}, r"sweep\['workloads'\] is 'foo': give a list"),
                             ({"workloads": ["mlp-small"]}, r"sweep\['workloads'\]\[0\] is 'mlp-small': give a mapping"),
                             ({"workloads": [{"model": 5}]}, r"\[0\]\['model'\] is 5: give a path or a name"),
                             ({"launches": {3}}, r"sweep\['launches'\] cannot be written as JSON: .*set")):
            with self.assertRaisesRegex(tandem.UsageError, words):
                tandem.run({"name": "own", **wrong})
        self.assertFalse(pathlib.Path("out").exists())

    def test_a_sweep_that_the_program_refuses_leaves_no_folder(self):
        self.set(TANDEM_PROGRAM=str(TANDEM))
        wrong = {"name": "own", "workloads": [{"modl": "mlp-tiny"}]}
        with self.assertRaisesRegex(tandem.UsageError, "unknown key 'modl'") as raised:
            tandem.run(wrong, progress=False)
        self.assertIsNone(raised.exception.folder)
        self.assertFalse(pathlib.Path("out").exists())
        pathlib.Path("mine").mkdir()
        with self.assertRaises(tandem.UsageError):
            tandem.run(wrong, "mine", progress=False)
        self.assertTrue(pathlib.Path("mine/sweep.json").is_file())

    def test_what_is_no_path_is_told_in_words(self):
        for ask in (lambda: tandem.run(5), lambda: tandem.run("quick", out=5),
                    lambda: tandem.load(5), lambda: tandem.explain(5, 3), lambda: tandem.explain("mlp-tiny", 8, source=5)):
            with self.assertRaisesRegex(tandem.UsageError, "is 5: give a path or a name as text"):
                ask()

    def test_an_interrupt_ends_the_program_and_what_is_measured_stays(self):
        self.set(FAKE_HANG=str(self.folder / "waiting"))
        text = f"import sys; sys.path.insert(0, {str(SOURCE / 'tools/python')!r}); import tandem; tandem.run('quick', 'out')"
        child = subprocess.Popen([sys.executable, "-B", "-c", text], stderr=subprocess.PIPE, text=True)
        while not (self.folder / "waiting").exists():
            self.assertIsNone(child.poll(), "it ended before it waited")
            time.sleep(0.02)
        child.send_signal(signal.SIGINT)  # to python alone, as a notebook's kernel may get it
        said = child.communicate(timeout=60)[1]
        self.assertEqual(child.returncode, -signal.SIGINT)
        self.assertIn("interrupted: what is done is kept; run the same command again to go on\n", said)
        self.assertIn("KeyboardInterrupt", said)
        self.assertTrue(pathlib.Path("out/results.json").exists())

    def test_a_program_that_was_interrupted_is_an_interrupt(self):
        self.set(FAKE_STATUS="130")
        with self.assertRaises(KeyboardInterrupt):
            tandem.run("quick", "out", progress=False)


class Progress(Standing):
    LINES = ["resuming: 1 launch in the journal", "[2/9, 8s left] dp/threads/mlp-tiny/devices:2/batch:8",
             "[3/9, 7s left] ddp/processes/mlp-tiny/devices:2/batch:8", "the end"]

    def setUp(self):
        super().setUp()
        self.set(FAKE_SAYS="the end")

    def test_lines_in_a_log(self):
        self.assertEqual(self.python("import tandem; tandem.run('quick', 'out')").stderr.splitlines(), self.LINES)

    def test_silence_on_demand(self):
        self.assertEqual(self.python("import tandem; tandem.run('quick', 'out', progress=False)").stderr, "")

    def test_one_line_that_is_written_over_in_a_notebook(self):
        done = self.python("sys.modules['ipykernel'] = sys\nimport tandem; tandem.run('quick', 'out')")
        first, second = self.LINES[1:3]
        self.assertEqual((done.stdout, done.stderr), (f"{self.LINES[0]}\n\r{first}\r{second}\r{' ' * len(second)}\rthe end\n", ""))


class Loading(Standing):
    def test_the_verdict_is_the_reports(self):
        verdict = tandem.load(SAMPLE).verdict
        self.assertEqual(verdict.subject, "CPU only: 2 cores of AMD EPYC, says nothing about GPUs")
        self.assertEqual(verdict.overall, OVERALL)
        self.assertEqual(verdict.tested, "Tested: batch 64 to 512, 2 models, on 2 devices.")
        self.assertEqual(len(verdict.sentences), 4)
        self.assertIn("dp 0.90x [0.86 .. 0.95]", verdict.sentences[1])
        self.assertEqual([note.split(":")[0] for note in verdict.notes], ["disturbed"])

    def test_notes_beside_the_verdict_are_those_of_the_report(self):
        notes = tandem.load(EXPLAINED).verdict.notes
        self.assertEqual([note.split(":")[0] for note in notes], ["busy", "warning"])

    def test_the_verdict_as_text_is_the_programs(self):
        said = subprocess.run([TANDEM, "report", SAMPLE, f"--out={self.folder}/new", "--details"], capture_output=True, text=True,
                              check=True).stdout
        said, at = " ".join(said.split()), 0
        for line in str(tandem.load(SAMPLE).verdict).splitlines():
            at = said.find(line.lstrip(" !-"), at)
            self.assertGreaterEqual(at, 0, (line, said))

    def test_records_are_the_files_rows(self):
        for folder in (SAMPLE, EXPLAINED):
            for table in ("cells", "comparisons"):
                with open(folder / f"{table}.csv", newline="") as file:
                    rows = list(csv.DictReader(file))
                records = tandem.load(folder).records(table)
                self.assertEqual([["" if value is None else value for value in row.values()] for row in records],
                                 [[value if isinstance(records[0][name], str) or not value else float(value)
                                   for name, value in row.items()] for row in rows])
        self.assertIsNone(tandem.load(SAMPLE).records("cells")[0]["speedup"])
        self.assertEqual(tandem.load(SAMPLE).records("cells")[0]["options"], "")

    def test_phases_sum_to_the_mean_step(self):
        results = tandem.load(EXPLAINED)
        for cell in results.records("cells"):
            rows = [row for row in results.records("phases") if all(row[name] == cell[name] for name in tandem.tables.CELL)]
            if rows:
                self.assertAlmostEqual(sum(row["mean_s"] for row in rows), cell["mean_step_s"], delta=1e-7)
        self.assertIn("forward", {row["phase"] for row in results.records("phases")})

    def test_a_file_that_is_missing_is_written_elsewhere(self):
        self.set(TANDEM_PROGRAM=str(TANDEM))
        before = sorted(SAMPLE.iterdir())
        results = tandem.load(SAMPLE / "results.json")
        launches = results.document["tandem"]["launches"]
        samples = results.records("samples")
        taken = collections.Counter(row["step_s"] for row in samples)
        self.assertLessEqual(taken, collections.Counter(seconds for launch in launches for seconds in launch["step_seconds"]))
        of_launches = {tuple(row[name] for name in row if name not in ("sample", "step_s")) for row in samples}
        disturbed = sum(row["disturbed_launches"] or 0 for row in results.records("cells"))
        self.assertEqual(len(of_launches) + disturbed, sum(bool(launch["step_seconds"]) for launch in launches))
        self.assertIn("<html", results.page.read_text()[:200])
        self.assertEqual(sorted(SAMPLE.iterdir()), before)
        elsewhere = results.page.parent
        del results
        self.assertFalse(elsewhere.exists())

    def test_a_document_of_another_run_is_not_taken_for_that_of_its_folder(self):
        shutil.copytree(SAMPLE, "out")
        shutil.copy(EXPLAINED / "results.json", "out/other.json")
        tandem.load("out/other.json").records("cells")
        self.assertRegex(self.calls()[0], "^report out/other.json --out=/")

    def test_launches_that_came_after_the_report_are_reported_too(self):
        shutil.copytree(SAMPLE, "out")
        pathlib.Path("out/journal.jsonl").write_text("newer\n")
        os.utime("out/cells.csv", (1, 1))
        self.assertEqual(tandem.load("out").records("cells")[0]["model"], "mlp-base")
        self.assertRegex(self.calls()[0], "^report out --out=/")

    def test_launches_that_came_while_it_is_open_are_reported_too(self):
        results = tandem.run("quick", "out", progress=False)
        pathlib.Path("out/journal.jsonl").write_text("newer\n")
        for name, seconds in (("journal.jsonl", 1.0e9), ("report.md", 1.1e9), ("cells.csv", 0.9e9)):
            os.utime(f"out/{name}", (seconds, seconds))
        self.assertEqual(results.verdict.tested, "Tested: batch 64 to 512, 2 models, on 2 devices.")
        self.assertEqual(len(self.calls()), 1)
        for _ in range(2):
            results.records("cells")
            self.assertEqual(len(self.calls()), 2)
        os.utime("out/journal.jsonl", (time.time() + 3600,) * 2)
        results.records("cells")
        self.assertEqual(len(self.calls()), 3)

    def test_what_is_no_run_is_told_in_one_line(self):
        for folder, words in (("absent", "it is not there"), (".", "neither results.json nor journal.jsonl")):
            with self.assertRaisesRegex(tandem.UsageError, words):
                tandem.load(folder)
        with self.assertRaisesRegex(tandem.UsageError, "there is no table 'cels': use cells, comparisons"):
            tandem.load(SAMPLE).records("cels")
        with self.assertRaisesRegex(tandem.UsageError, "report.md: it is no .json file; give a folder"):
            tandem.load(SAMPLE / "report.md")
        pathlib.Path("results.json").write_text("{")
        with self.assertRaisesRegex(tandem.TandemError, "^reading .*results.json: JSONDecodeError"):
            tandem.load("results.json").document

    def test_a_report_that_fails_is_told(self):
        self.set(TANDEM_PROGRAM=str(TANDEM))
        pathlib.Path("results.json").write_text("{}")
        with self.assertRaisesRegex(tandem.TandemError, "^tandem: .*results.json"):
            tandem.load("results.json").records("cells")


class Frames(Standing):
    def test_without_pandas_the_way_out_is_named(self):
        done = self.python(f"sys.modules['pandas'] = None\nimport tandem\ntry: tandem.load({str(SAMPLE)!r}).cells\n"
                           "except tandem.TandemError as error: print(error)")
        self.assertEqual(done.stdout, "cells is a pandas frame, and this python has no pandas: pip install pandas, or use "
                                      ".records('cells'), a list of dicts\n", done.stderr)

    @unittest.skipUnless(importlib.util.find_spec("pandas"), "this python has no pandas")
    def test_frames_are_the_records(self):
        results = tandem.load(SAMPLE)
        for table, frame in (("cells", results.cells), ("comparisons", results.comparisons), ("phases", results.phases)):
            records = [{name: None if value != value else value for name, value in row.items()} for row in frame.to_dict("records")]
            self.assertEqual(records, results.records(table))

    @unittest.skipUnless(shutil.which("mypy"), "no mypy here")
    def test_its_types_are_sound(self):
        done = subprocess.run(["mypy", "--strict", "--ignore-missing-imports", f"--cache-dir={self.folder}", SOURCE / "tools/python/tandem"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_importing_is_light(self):
        done = self.python("import tandem; print([name for name in ('torch', 'pandas', 'numpy', 'IPython') if name in sys.modules])")
        self.assertEqual(done.stdout, "[]\n", done.stderr)

    def test_the_version_is_the_programs_where_nothing_is_installed(self):
        self.assertEqual(self.python("import tandem; print(tandem.__version__)").stdout, "9.8.7\n")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
