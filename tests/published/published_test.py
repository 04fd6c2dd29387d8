#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The published harness: which rows it uses, its errors and fits, some rows simulated, and a table that is wrong on purpose.

    published_test.py STEP_BENCH
"""
import copy
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import unittest

import baselines
import errors
import tables
import workloads

HERE = pathlib.Path(__file__).resolve().parent
STEP_BENCH = sys.argv.pop(1)
STEPS = json.loads((HERE / "dataparallel_torchvision.json").read_text(encoding="utf-8"))
BAR = 30  # %, of a few steps by the constants as committed


def few_steps(factor=1.0):
    """Two models on a DGX A100, with their steps on several devices times `factor`."""
    few = copy.deepcopy({key: STEPS[key] for key in ("models", "measured")})
    few["measured"] = few["measured"][:1]
    few["measured"][0]["median_step_ms"] = {
        model: {n: ms * (1 if n == "1" else factor) for n, ms in few["measured"][0]["median_step_ms"][model].items()} for model in ("resnet18", "vgg11")}
    return few


def throughput(**changes):
    return {"rows": [{"source": "here", "hardware": "DGX A100 40GB", "software": "torch DDP", "model": "ResNet-50", "batch_per_device": 32,
                      "precision": "tf32", "strategy": "ddp", "unit": "images/s", "by_devices": {"1": 320, "2": 600}, **changes}]}


class Harness(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def table(self, document):
        file = self.folder / "table.json"
        file.write_text(json.dumps(document))
        return file

    def run_on(self, document, *options):
        return subprocess.run([sys.executable, "-B", HERE / "run", self.table(document), f"--step-bench={STEP_BENCH}", *options],
                              capture_output=True, text=True, check=False)


class Rules(Harness):
    def only(self, document):
        cells, left_out, _ = tables.read(self.table(document))
        return cells[0] if cells else left_out[0]

    def test_a_row_with_its_batch_is_a_target(self):
        cell = self.only(throughput())
        self.assertEqual((cell.is_bound, cell.devices, cell.batch, cell.hardware), (False, 2, 32, "dgx-a100"))
        self.assertAlmostEqual(cell.single, 0.1)
        self.assertAlmostEqual(cell.seconds, 2 * 32 / 600)

    def test_rows_with_other_physics_are_bounds(self):
        self.assertTrue(self.only(throughput(software="torch DDP, real data through DALI")).is_bound)
        self.assertTrue(self.only(throughput(batch_per_device=None)).is_bound)
        self.assertFalse(self.only(throughput(batch_per_device=None, hardware="DGX A100, batch 64")).is_bound)

    def test_rows_that_tell_no_step_are_left_out(self):
        for changes in ({"model": "a model of nobody"}, {"hardware": "an abacus"}, {"model": "GNMT"}, {"by_devices": {"2": 600}}):
            self.assertIn("no counts of the model", self.only(throughput(**changes)))
        with self.assertRaises(ValueError):
            tables.read(self.table({"rows": []}))

    def test_the_step_without_a_wrapper_is_the_input(self):
        cell = self.only(throughput(unit="s/step p50", by_devices={"1": 0.1, "2": 0.103}, note="without DDP on one GPU 0.097"))
        self.assertEqual((cell.single, cell.seconds), (0.097, 0.103))

    def test_steps_of_a_faulty_machine_are_left_out(self):
        devices = {cell.devices for cell in tables.read(HERE / "dataparallel_torchvision.json")[0] if cell.column.startswith("titan-xp")}
        self.assertEqual(devices, {2, 3})


class Figures(unittest.TestCase):
    def test_p90_is_the_nearest_rank(self):
        self.assertEqual(errors.p90(range(1, 11)), 9)
        self.assertEqual(errors.p90([7]), 7)

    def test_least_squares_finds_what_made_the_values(self):
        rows = [[1.0, x, x * x] for x in range(6)]
        for found, wanted in zip(errors.least_squares(rows, [2 + 3 * x - x * x for x in range(6)]), (2, 3, -1)):
            self.assertAlmostEqual(found, wanted, places=6)

    def test_a_width_is_never_below_3_percent(self):
        self.assertAlmostEqual(errors.width_of([0.001] * 20), math.log(1.03))
        self.assertAlmostEqual(errors.width_of([0.1] * 20), math.log(1.1))

    def test_an_interval_has_no_part_in_what_it_is_judged_on(self):
        held, width = errors.coverage({"good": [0.0] * 10, "bad": [0.5] * 10})
        self.assertEqual(held, 0.5)  # the good ones lie within the width of the bad ones, and not the other way round
        self.assertAlmostEqual(width, (3 + 50) / 2)

    def test_the_closed_form_finds_constants_that_made_the_steps(self):
        cells = [cell for cell in tables.read(HERE / "dataparallel_torchvision.json")[0] if cell.column == "titan-rtx float"]
        made = [tables.dataclasses.replace(cell, seconds=cell.single + sum(a * b for a, b in zip((0.004, 3e-5, 2e-10), baselines.terms(cell))))
                for cell in cells]
        self.assertAlmostEqual(baselines.closed_form(made[0], made[5:]), made[0].seconds, places=9)

    def test_shares_add_up_and_none_is_empty(self):
        self.assertEqual(sum(workloads.shares(1000, 7)), 1000)
        self.assertEqual(workloads.shares(2, 4), [1, 1, 1, 1])


class Simulated(Harness):
    def test_a_few_steps_stay_below_the_bar(self):
        done = self.run_on(few_steps(), f"--check={BAR}", f"--csv={self.folder / 'steps.csv'}")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("dgx-a100 float: 6 steps", done.stdout)
        self.assertIn("simulated, costs measured on pretended devices", done.stdout)
        self.assertEqual(len((self.folder / "steps.csv").read_text().splitlines()), 7)

    def test_a_table_that_is_wrong_is_told(self):
        done = self.run_on(few_steps(2.0), f"--check={BAR}")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("dgx-a100 float: simulated steps err by", done.stderr)

    def test_throughput_is_simulated_as_well(self):
        done = self.run_on(throughput(by_devices={"1": 320, "2": 620, "4": 1240}), f"--check={BAR}")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("simulated, fitted to other rows", done.stdout)

    def test_what_is_no_table_is_refused(self):
        done = self.run_on({"rows": []})
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("no table of steps or of throughput", done.stderr)


if __name__ == "__main__":
    unittest.main()
