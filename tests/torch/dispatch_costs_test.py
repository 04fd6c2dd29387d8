#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Costs of torch's work on the host per kind, measured on pretended GPUs, and a step that is charged with them.

    dispatch_costs_test.py TOOLS TANDEM STEP_BENCH
"""
import pathlib
import subprocess
import sys
import unittest

TOOLS, TANDEM, STEP_BENCH = sys.argv[1:]
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import torch_python  # beside the tests

PYTHON = torch_python.need(torch_python.HAS_CUDA)


def run(*command):
    return subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, timeout=500)


def kinds():
    """As step_bench lists them to someone who names none of them."""
    refusal = run(STEP_BENCH, "--model=mlp-tiny", "--batch=8", "--dispatch-cost=nothing:1us").stderr.strip()
    return refusal.partition("use one of ")[2].split(", ")


class Costs(unittest.TestCase):
    def test_each_kind_takes_time_and_a_step_takes_them(self):
        done = run(TANDEM, "pretend", "--gpus=2", "--beside-gpu", "--", PYTHON, "-B", f"{TOOLS}/torch/step_twin",
                   "--dispatch-cost")
        self.assertEqual(done.returncode, 0, done.stderr)
        costs = done.stdout.strip()
        print(costs)
        found = dict(part.split(":") for part in costs.split(","))
        self.assertEqual(list(found), kinds())
        for kind, cost in found.items():
            self.assertGreater(float(cost.removesuffix("us")), 0, kind)
            self.assertIn(f"{kind}: ", done.stderr)
        done = run(STEP_BENCH, "--backend=host", "--strategy=dp", "--devices=2", "--oversubscribe", "--model=mlp-tiny",
                   "--batch=8", "--min-time=10ms", f"--dispatch-cost={costs}")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_without_pretended_gpus_it_is_refused_with_the_mend(self):
        done = run(PYTHON, "-B", f"{TOOLS}/torch/step_twin", "--dispatch-cost")
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertEqual(done.stderr.count("\n"), 1)
        self.assertIn("run it under tandem pretend --gpus=2", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
