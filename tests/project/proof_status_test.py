#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/status.md says of GPUs what the documents in reports/samples say."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "tools/lib/proof_status.py"


def entry(row, state):
    return {"name": f"{row}/{state}", "real_time": 3, "time_unit": "s", "tandem_source": "proof"}


def write(checkout):
    return subprocess.run([sys.executable, "-B", SCRIPT, "--write", checkout], capture_output=True, text=True, timeout=60)


class ProofStatus(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.TemporaryDirectory()
        self.addCleanup(self.root.cleanup)
        self.checkout = pathlib.Path(self.root.name)
        (self.checkout / "docs").mkdir()
        self.page = self.checkout / "docs/status.md"
        shutil.copy(ROOT / "docs/status.md", self.page)

    def add(self, folder, gpus, entries):
        sample = self.checkout / "reports/samples" / folder / "results.json"
        sample.parent.mkdir(parents=True)
        sample.write_text(json.dumps({"context": {"date": "2026-11-25T16:00:00+00:00"}, "benchmarks": entries,
                                      "tandem": {"launches": [{"gpus": [{"name": "NVIDIA V100"}] * gpus}, {}]}}))

    def test_the_page_is_that_of_the_samples(self):
        shutil.copytree(ROOT / "reports/samples", self.checkout / "reports/samples")
        self.assertEqual(write(self.checkout).stderr, "")
        self.assertEqual(self.page.read_text(), (ROOT / "docs/status.md").read_text(), "tools/lib/proof_status.py --write is due")

    def test_each_file_is_a_line_and_each_state_a_column(self):
        self.add("a", 1, [entry("device", "passed"), entry("graph", "failed"), entry("scale", "passed")])
        self.add("b", 2, [entry("device", "passed"), entry("nccl-dp", "not run")])
        self.add("of-a-cpu", 0, [])
        self.add("only-rehearsed", 0, [entry("device", "passed")])
        self.assertEqual(write(self.checkout).stderr, "")
        text = self.page.read_text()
        self.assertIn("| [1x NVIDIA V100](../reports/samples/a), 2026-11-25 | device, scale | graph | none | none |\n", text)
        self.assertIn("| [2x NVIDIA V100](../reports/samples/b), 2026-11-25 | device | none | none | nccl-dp |\n", text)
        self.assertNotIn("of-a-cpu", text)
        self.assertNotIn("only-rehearsed", text)

    def test_a_page_without_its_marks_is_left_as_it_is(self):
        self.page.write_text("nothing\n")
        result = write(self.checkout)
        self.assertEqual((result.returncode, result.stderr.count("\n")), (1, 1), result.stderr)


unittest.main()
