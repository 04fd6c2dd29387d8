#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch still makes the golden files that are committed, and the script sees when it does not.

    make_golden_test.py GOLDEN
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE, GOLDEN = pathlib.Path(__file__).resolve().parent, pathlib.Path(sys.argv[1])
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import torch_python  # beside the tests
import warm_python

PYTHON = torch_python.need(torch_python.at_least(1, 13))
WARM = warm_python.of(PYTHON)


def make_golden(*arguments):
    return subprocess.run([WARM, "-B", HERE / "make_golden.py", *arguments],
                          capture_output=True, text=True, check=False)


class MakeGoldenTest(unittest.TestCase):
    def test_torch_makes_the_files_that_are_committed(self):
        done = make_golden(f"--check={GOLDEN}")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(done.stdout.splitlines()), len(list(GOLDEN.glob("*.json"))), done.stdout)

    def test_a_value_that_is_another_is_seen(self):
        with tempfile.TemporaryDirectory() as folder:
            model = ("--model=mlp:3x16",)
            self.assertEqual(make_golden(f"--out={folder}", *model).returncode, 0)
            self.assertEqual(make_golden(f"--check={folder}", *model).returncode, 0)
            path = pathlib.Path(folder) / "mlp-3x16.bin"
            values = bytearray(path.read_bytes())
            values[-2] ^= 0x40  # a high bit of the last mantissa: of a weight after AdamW's steps
            path.write_bytes(values)
            done = make_golden(f"--check={folder}", *model)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"^make_golden: mlp:3x16, in the file by torch .*: adamw/layer2.bias is .* off\n$")

    def test_wrong_usage(self):
        self.assertEqual(make_golden().returncode, 2)
        self.assertEqual(make_golden("--out=.", "--check=.").returncode, 2)
        self.assertEqual(make_golden("--out=.", "--model=unknown").returncode, 2)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
