#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Predictions held against results documents that are made of a committed sample, with other GPUs: right, wrong, and bad ones.

    gpu_predictions_test.py SOURCE_TREE PROGRAMS
"""
import copy
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE, PROGRAMS = (pathlib.Path(word) for word in sys.argv[1:])
del sys.argv[1:]
SCRIPT = SOURCE / "tools/lib/gpu_predictions.py"
SAMPLE = json.loads((SOURCE / "reports/samples/quick-2-cores/results.json").read_text(encoding="utf-8"))
COMMITTED = sorted((SOURCE / "reports/predictions").glob("*.json"))
H100 = "NVIDIA H100 80GB HBM3"


def entry(**changes):
    return {"hardware": "dgx-h100", "implementation": "tandem", "strategy": "single", "model": "mlp-base", "devices": 1, "global_batch": 512,
            "precision": "tf32", "options": {}, "seconds": 0.02, "low": 0.016, "high": 0.025, **changes}


def launch(seconds, gpu=H100, backend="cuda", options=None, **changes):
    made = copy.deepcopy(SAMPLE["tandem"]["launches"][0])
    made["cell"] = {"strategy": "single", "launch": "threads", "model": "mlp-base", "backend": backend, "devices": 1, "global_batch": 512,
                    "options": {"precision": "tf32", **(options or {})}}
    return {**made, "precision": "tf32", "step_seconds": [9 * seconds, seconds, seconds / 9], "gpus": [{"name": gpu}] if gpu else [], **changes}


class Predictions(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def written(self, name, document):
        file = self.folder / name
        file.write_text(document if isinstance(document, str) else json.dumps(document))
        return file

    def results(self, *launches, version="2.0.0"):
        tandem = {**SAMPLE["tandem"], "schema_version": version, "launches": list(launches)}
        benchmarks = [{"name": "device/passed", "tandem_source": "proof"}]
        return self.written("results.json", {"context": SAMPLE["context"], "benchmarks": benchmarks, "tandem": tandem})

    def predictions(self, *entries):
        return self.written("predictions.json", {"tandem_predictions": "1.0.0", "date": "2026-01-02", "entries": list(entries)})

    def run_script(self, *words):
        return subprocess.run([sys.executable, "-B", SCRIPT, *words], capture_output=True, text=True, check=False)

    def compared(self, code, *words):
        done = self.run_script("compare", *words)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout

    def refused(self, code, words, *arguments):
        done = self.run_script("compare", *arguments)
        self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (code, "", 1), done.stdout + done.stderr)
        self.assertIn(words, done.stderr)


class Compared(Predictions):
    def test_the_median_of_launches_lies_inside(self):
        text = self.compared(0, self.results(launch(0.0159), launch(0.021), launch(0.099)), self.predictions(entry()))
        self.assertRegex(text, r"\nsingle/threads/mlp-base/devices:1/batch:512/precision:tf32 +tandem +2026-01-02 +20 \[16 .. 25\] +21 +3 +-5 % +yes\n")
        self.assertTrue(text.endswith("\n1 of 1 inside their interval; mean error 5 %, largest 5 %\n"), text)

    def test_one_outside_is_told_by_the_exit_status(self):
        results = self.results(launch(0.02), launch(0.05, options={"implementation": "torch-2.9.1"}))
        text = self.compared(3, results, self.predictions(entry(), entry(implementation="torch", seconds=0.03)))
        self.assertRegex(text, r"torch-2\.9\.1 .* -40 % +no\n")
        self.assertIn("1 of 2 inside their interval; mean error 20 %, largest 40 %", text)

    def test_what_has_no_partner_is_counted(self):
        results = self.results(launch(0.02), launch(0.02, options={"grads": "views"}), launch(0.02, backend="host"), launch(0.02, planted="forward:1ms"),
                               launch(0.02, mode="free-running"), launch(0.02, oversubscribed=True), {**launch(0.02), "status": "failed", "step_seconds": []})
        text = self.compared(0, results, self.predictions(entry(), entry(hardware="hgx-h200"), entry(model="resnet50", options={"channels-last": "on"})))
        self.assertIn("\n1 measured without a prediction: single/threads/mlp-base/devices:1/batch:512/grads:views/precision:tf32 (tandem)\n", text)
        self.assertIn("\n1 predicted and not measured: single resnet50 512 tf32 (tandem)\n", text)
        self.assertIn("\n1 of 1 inside", text)

    def test_an_h200_has_predictions_of_its_own(self):
        both = self.predictions(entry(), entry(hardware="hgx-h200", seconds=0.018))
        self.assertIn("  18 [16 .. 25]", self.compared(0, self.results(launch(0.02, gpu="NVIDIA H200")), both))

    def test_the_committed_files_are_the_default(self):
        told = next(one for one in json.loads(COMMITTED[0].read_text())["entries"]
                    if (one["hardware"], one["implementation"], one["strategy"], one["model"], one["global_batch"], one["precision"])
                    == ("dgx-h100", "tandem", "single", "mlp-base", 512, "tf32"))
        self.assertIn(COMMITTED[0].stem, self.compared(0, self.results(launch(told["seconds"]))))
        self.assertIn("  no\n", self.compared(3, self.results(launch(1.01 * told["high"]))))


class Refused(Predictions):
    def test_files_that_tell_nothing(self):
        good, told = self.results(launch(0.02)), self.predictions(entry())
        self.refused(2, "there is no such file", self.folder / "nowhere.json", told)
        self.refused(2, "there is no such file", good, self.folder / "nowhere.json")
        self.refused(1, "it is not JSON", self.written("cut.json", '{"tandem": '), told)
        self.refused(1, "it is no results document", self.written("list.json", []), told)
        self.refused(1, "it is no results document", told, told)
        self.refused(1, "it is no file of predictions", good, good)
        self.refused(1, "a key is missing or of another kind", self.results({"cell": 5}), told)
        self.refused(1, "Is a directory", self.folder, told)

    def test_an_older_schema(self):
        self.refused(1, "it has version 0.9.0, and 2.x is read", self.results(launch(0.02), version="0.9.0"), self.predictions(entry()))

    def test_gpus_that_nothing_is_predicted_of(self):
        told = self.predictions(entry())
        self.refused(2, "no step of it was measured on a GPU", SOURCE / "reports/samples/pretended-resnet50/results.json", told)
        self.refused(2, "no step of it was measured on a GPU", self.results(launch(0.02, gpu="", backend="host")), told)
        for name in ("NVIDIA A100-SXM4-80GB", "NVIDIA H100 PCIe", "NVIDIA H100 NVL", "NVIDIA H200 NVL", f"{H100} MIG 1g.10gb"):
            self.refused(2, f"its GPU is {name}", self.results(launch(0.02, gpu=name)), told)
        self.refused(2, "its GPU is NVIDIA H100 80GB HBM3, NVIDIA H200", self.results(launch(0.02), launch(0.02, gpu="NVIDIA H200")), told)

    def test_no_common_cell(self):
        self.refused(1, "none of its 1 cells on GPUs has a prediction of dgx-h100", self.results(launch(0.02)), self.predictions(entry(global_batch=64)))

    def test_wrong_words(self):
        for words in ((), ("compare",), ("compare", "a", "b", "c"), ("judge", "a")):
            self.assertEqual(self.run_script(*words).returncode, 2, words)


class Written(Predictions):
    def test_a_file_is_written_once(self):
        file = self.folder / "2026-01-02.json"
        self.assertEqual(self.run_script("write", PROGRAMS, "--date=2026-01-02", f"--out={file}").stdout, f"{file}\n")
        document = json.loads(file.read_text())
        self.assertEqual((document["date"], len(document["entries"])), ("2026-01-02", 96))
        for one in document["entries"]:
            self.assertTrue(0 < one["low"] < one["seconds"] < one["high"] < 1 and one["peak_bytes"] > 0, one)
        done = self.run_script("write", PROGRAMS, f"--out={file}")
        self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1))
        self.assertIn("predictions are not written again", done.stderr)

    def test_committed_files_are_named_by_their_date(self):
        self.assertTrue(COMMITTED)
        for file in COMMITTED:
            document = json.loads(file.read_text(encoding="utf-8"))
            self.assertEqual((document["date"], document["tandem_predictions"]), (file.stem, "1.0.0"))


if __name__ == "__main__":
    unittest.main()
