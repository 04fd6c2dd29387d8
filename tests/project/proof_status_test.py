#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/status.md says of GPUs what the documents in reports/samples say."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "tools/lib/proof_status.py"


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

    def test_the_page_is_that_of_the_samples(self):
        shutil.copytree(ROOT / "reports/samples", self.checkout / "reports/samples")
        self.assertEqual(write(self.checkout).stderr, "")
        self.assertEqual(self.page.read_text(), (ROOT / "docs/status.md").read_text(), "tools/lib/proof_status.py --write is due")


unittest.main()
