#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Unmodified torch on pretended GPUs: DataParallel, DDP with its own checks, cuDNN's convolutions and recurrent layers.

    torch_test.py CASE TANDEM

With the python that TANDEM_TORCH_PYTHON names, else this one or the system's. Exit status 77, with the reason, where none
of them has a torch that is built with CUDA.
"""
import collections
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

CASE, TANDEM = sys.argv[1:3]
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
import torch_python  # beside the tests

# torch/version.py is run and not imported: a torch of CUDA 12 or 13 takes seconds to load.
HAS_CUDA = ("import importlib.util as u, os, runpy, sys; s = u.find_spec('torch');"
            "sys.exit(not (s and (runpy.run_path(os.path.join(os.path.dirname(s.origin), 'version.py')).get('cuda') or '')"
            ".startswith(('12.', '13.'))))")
PYTHON = torch_python.find(HAS_CUDA)


class OnPretendedGpus(unittest.TestCase):
    def run_steps(self, strategy, model, devices, steps=3):
        """What step_on_gpus.py printed, and the lines of all logs."""
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [TANDEM, "pretend", f"--gpus={devices}", f"--log={folder}/calls", "--", PYTHON, HERE / "step_on_gpus.py",
                 strategy, model, str(devices), str(steps)],
                capture_output=True, text=True, check=False, timeout=400)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("pretended GPUs: host work measured, nothing computed", done.stderr)
            lines = [json.loads(line) for file in pathlib.Path(folder).iterdir() for line in file.open()]
        return done.stdout, lines

    def count(self, lines, what):
        return sum(line["what"] == what for line in lines)


class DataParallel(OnPretendedGpus):
    def test_steps_of_a_perceptron(self):
        out, lines = self.run_steps("dp", "perceptron", 4)
        self.assertIn("4 devices, 3 steps", out)
        used = {line["device"] for line in lines if line["what"] == "launch"}
        self.assertEqual(used, {0, 1, 2, 3})
        reduced = [line for line in lines if line["what"] == "collective" and line["collective"] == "reduce"]
        self.assertTrue(reduced)
        self.assertEqual({line["ranks"] for line in reduced}, {4})

    def test_steps_of_convolutions_go_through_cudnn(self):
        _, lines = self.run_steps("dp", "convolutions", 2)
        kinds = collections.Counter(operation["operation"] for line in lines if line["what"] == "convolution"
                                    for operation in line["operations"])
        # Two convolutions on two devices in three steps; the first one needs no gradient of its input.
        self.assertEqual(kinds["convolution-forward"], 12)
        self.assertEqual(kinds["convolution-backward-filter"], 12)
        self.assertEqual(kinds["convolution-backward-data"], 6)

    def test_steps_of_a_recurrent_net_go_through_cudnn(self):
        _, lines = self.run_steps("dp", "recurrent", 2)
        calls = collections.Counter(line["call"] for line in lines if line["what"] == "library")
        self.assertEqual(calls["cudnnRNNForward"], 6)
        self.assertEqual(calls["cudnnRNNBackwardData_v8"], 6)


class Ddp(OnPretendedGpus):
    def test_steps_with_its_own_checks(self):
        out, lines = self.run_steps("ddp", "perceptron", 4)
        self.assertIn("4 ranks, 3 steps", out)
        self.assertEqual(len({line["pid"] for line in lines if line["what"] == "process"}), 4)
        buckets = [line for line in lines if line["what"] == "collective" and line["collective"] == "all-reduce"
                   and line["type"] == "f32" and line["count"] > 1]
        self.assertEqual(collections.Counter(line["rank"] for line in buckets), {0: 3, 1: 3, 2: 3, 3: 3})

    def test_differing_shapes_are_refused_by_ddp_itself(self):
        with self.assertRaises(AssertionError) as raised:
            self.run_steps("ddp", "differing", 2)
        self.assertIn("appears not to match", str(raised.exception))


if __name__ == "__main__":
    if PYTHON is None:
        print(f"skipped: no torch built with CUDA 12 or 13 in {', '.join(torch_python.TRIED)}: name a python that has one in "
              "TANDEM_TORCH_PYTHON")
        sys.exit(77)
    suite = unittest.defaultTestLoader.loadTestsFromName(CASE, sys.modules[__name__])
    sys.exit(not unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful())
