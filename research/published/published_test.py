#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The published harness: which rows it uses, its errors and fits, some rows simulated, and a table that is wrong on purpose.

    published_test.py STEP_BENCH
"""
import copy
import csv
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import baselines
import collectives
import errors
import host_model
import machines
import predictions
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
        self.assertEqual((cell.is_bound, cell.devices, cell.batch, cell.machine.name), (False, 2, 32, "dgx-a100-40gb"))
        self.assertAlmostEqual(cell.single, 0.1)
        self.assertAlmostEqual(cell.seconds, 2 * 32 / 600)

    def test_rows_with_other_physics_are_bounds(self):
        self.assertTrue(self.only(throughput(software="torch DDP, real data through DALI")).is_bound)
        self.assertTrue(self.only(throughput(batch_per_device=None)).is_bound)
        self.assertFalse(self.only(throughput(batch_per_device=None, hardware="DGX A100, batch 64")).is_bound)

    def test_rows_that_tell_no_step_are_left_out(self):
        for changes, reason in (({"model": "a model of nobody"}, "no counts of the model"), ({"hardware": "an abacus"}, "no GPU of the catalogue"),
                                ({"model": "GNMT", "unit": "tokens/s"}, "how many tokens"), ({"by_devices": {"2": 600}}, "no figure of one device"),
                                ({"strategy": "parameter-server"}, "is none of dp"), ({"unit": "epochs"}, "is no unit of a step's time"),
                                ({"counts": {"parameters": 5}}, "lack parameter_tensors, modules")):
            self.assertIn(reason, self.only(throughput(**changes)))
        with self.assertRaises(ValueError):
            tables.read(self.table({"rows": []}))

    def test_a_tables_own_counts_go_before_known_ones(self):
        cell = self.only(throughput(model="my net", counts={"parameters": 1000, "parameter_tensors": 2, "modules": 3}))
        self.assertEqual((cell.of["parameters"], cell.of["leaf_modules"], cell.of["buffers"]), (1000, 3, 0))
        self.assertEqual(self.only(throughput(model="ResNet-50 v1.5")).of["parameters"], 25557032)
        self.assertEqual(self.only(throughput(model="vgg16_bn")).of["parameter_tensors"], 58)
        self.assertEqual(self.only(throughput(model="GPT-2 124M")).of["parameter_tensors"], 148)
        self.assertIn("no counts of the model", self.only(throughput(model="GPT-2 medium")))

    def test_tokens_tell_a_step_by_the_tokens_of_a_sample(self):
        cell = self.only(throughput(unit="tokens/s", tokens_per_sample=64, model="BERT-large", by_devices={"1": 1000, "2": 2000}))
        self.assertAlmostEqual(cell.single, 32 * 64 / 1000)

    def test_the_step_without_a_wrapper_is_the_input(self):
        cell = self.only(throughput(unit="s/step p50", by_devices={"1": 0.1, "2": 0.103}, note="without DDP on one GPU 0.097"))
        self.assertEqual((cell.single, cell.seconds), (0.097, 0.103))

    def test_steps_judge_ddp_where_digits_and_scatter_allow(self):
        for changes, wanted in (({}, True), ({"by_devices": {"1": 32, "2": 60}}, False), ({"strategy": "dp-allreduce"}, False),
                                ({"by_devices": {"1": 320, "2": 600, "4": 1220}}, False), ({"batch_per_device": None}, False)):
            self.assertEqual(self.only(throughput(**changes)).judges, wanted, changes)
        cells = [cell for cell in tables.read(HERE / "data_parallel_throughput.json")[0] if cell.judges]
        self.assertEqual((len(cells), sum(cell.nodes > 1 for cell in cells), sum(cell.is_fitted for cell in cells)), (59, 4, 36))

    def test_steps_of_a_faulty_machine_are_left_out(self):
        devices = {cell.devices for cell in tables.read(HERE / "dataparallel_torchvision.json")[0] if cell.column.startswith("titan-xp")}
        self.assertEqual(devices, {2, 3})


class Machines(unittest.TestCase):
    def meant(self, words, devices=1):
        machine = machines.machine_meant(words, devices)
        return machine.name, machines.ranks_told(words, machine)

    def test_words_mean_machines_of_the_catalogue(self):
        for words, name, ranks in (("DGX A100: A100-SXM4-40GB", "dgx-a100-40gb", 8), ("8x A100 SXM4, NVSwitch, one node", "dgx-a100", 8),
                                   ("DGX-1", "dgx-1", 8), ("DGX-1 V100 16GB", "dgx-1-16gb", 8), ("DGX-2H V100 32GB", "dgx-2", 16),
                                   ("4x V100 PCIe", "v100-pcie-box", 4), ("RTX 4090, no NVLink", "rtx-4090-box", 4), ("4 V100-SXM2-32GB", "dgx-1", 4),
                                   ("2 nodes of 8x H100, 8x 400 Gb/s InfiniBand", "dgx-h100x2@8xib-400g", 16), ("p4d.24xlarge", "dgx-a100-40gb", 8),
                                   ("4 nodes of 8x B200, EFA 8x 400 Gb/s", "dgx-b200x4@8xefa-400g", 32), ("RTX 3090 x2", "rtx-3090-box", 2),
                                   ("2x RTX 3090 with NVLink", "rtx-3090-pair", 2),
                                   ("dgx-a100x4@8xib-200g", "dgx-a100x4@8xib-200g", 32)):
            self.assertEqual(self.meant(words), (name, ranks), words)

    def test_what_a_table_does_not_say_is_assumed_and_told(self):
        self.assertEqual(machines.machine_meant("DGX-1, V100 (32 GPUs in the table, 8 a node)", 16).name, "dgx-1x2@4xib-100g")
        self.assertEqual(machines.machine_meant("H100 PCIe", 8).changes, (("node", "gpus", 8),))
        self.assertEqual(machines.machine_meant("2 nodes of 8x V100, 10 GbE").changes, (("network", "bandwidth", "1.2GBps"),))
        self.assertTrue(machines.machine_meant("DGX A100", 16).assumed)

    def test_what_the_catalogue_lacks_is_said(self):
        for words in ("an abacus", "GB200 NVL72", "P100 PCIe", "2x RTX 4090 with NVLink", "dgx-a100x4@carrier-pigeons", "3 nodes of RTX 3090"):
            with self.assertRaises(machines.Unknown, msg=words):
                machines.machine_meant(words)


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

    def test_coverage_is_the_share_within_the_widths_beside(self):
        held, width = errors.coverage([(0.0, math.log(1.5))] * 10 + [(0.5, math.log(1.03))] * 10)
        self.assertEqual(held, 0.5)
        self.assertAlmostEqual(width, (3 + 50) / 2)

    def test_the_closed_form_finds_constants_that_made_the_steps(self):
        cells = [cell for cell in tables.read(HERE / "dataparallel_torchvision.json")[0] if cell.column == "titan-rtx float"]
        made = [tables.dataclasses.replace(cell, seconds=cell.single + sum(a * b for a, b in zip((0.004, 3e-5, 2e-10), baselines.terms(cell))))
                for cell in cells]
        self.assertAlmostEqual(baselines.closed_form(made[0], made[5:]), made[0].seconds, places=9)

    def test_shares_add_up_and_none_is_empty(self):
        self.assertEqual(sum(workloads.shares(1000, 7)), 1000)
        self.assertEqual(workloads.shares(2, 4), [1, 1, 1, 1])

    def test_whole_pretended_steps_give_the_figures_of_the_method(self):
        factors, once = host_model.fitted()
        for group, wanted in (("replica", 1.70), ("call", 1.27), ("autograd", 1.14)):
            self.assertAlmostEqual(factors[group], wanted, delta=0.005)
        self.assertAlmostEqual(1e3 * once, 1.9, delta=0.05)
        self.assertIn(f"autograd:{2 * factors['autograd'] * host_model.COSTS['autograd']:.4f}us", host_model.costs(2.0))

    def test_the_host_decides_short_steps_of_many_modules(self):
        cells = [cell for cell in tables.read(HERE / "dataparallel_torchvision.json")[0] if cell.column == "dgx-a100 half"]
        self.assertEqual({cell.family for cell in cells if not host_model.decides(cell)}, {"vggs"})
        self.assertFalse(host_model.decides(tables.dataclasses.replace(cells[0], single=2 * cells[0].single)))
        self.assertFalse(host_model.decides(tables.dataclasses.replace(cells[0], least_of_work=1.0)))

    def test_a_step_that_the_host_decides_is_simulated_in_part_where_there_is_room(self):
        cells = {cell.family: cell for cell in tables.read(HERE / "dataparallel_torchvision.json")[0] if cell.column == "dgx-a100 half"}
        asked = predictions.asked_for(cells["resnets"], 1.0, None)
        self.assertTrue(predictions.LEAST_SHARE <= asked.share < 0.6)
        self.assertAlmostEqual(asked.with_more_room().share, asked.share + 0.1)
        self.assertEqual(predictions.asked_for(cells["resnets"], 1.0, None, whole=True).share, 1.0)
        self.assertEqual(predictions.asked_for(cells["vggs"], 1.0, None).with_more_room().scale, 0.9)

    def test_the_largest_tensor_is_where_the_model_has_it(self):
        counts = {"largest_tensor": 64 * 1024, "largest_index": 1}
        self.assertEqual(workloads.sizes_of(counts, 68 * 1024, 3, 1.0), [2048, 64 * 1024, 2048])
        self.assertEqual(workloads.sizes_of({}, 3 * 1024, 3, 1.0), [1024, 1024, 1024])


class Simulated(Harness):
    def test_a_few_steps_stay_below_the_bar(self):
        done = self.run_on(few_steps(), f"--check={BAR}", f"--csv={self.folder / 'steps.csv'}")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("dgx-a100 float: 6 steps", done.stdout)
        self.assertIn("simulated, costs measured on pretended devices", done.stdout)
        self.assertEqual(len((self.folder / "steps.csv").read_text().splitlines()), 7)

    def test_a_step_of_one_device_that_is_short_lowers_what_the_host_takes(self):
        done = self.run_on({"measured": [{"system": "quick", "hardware": "RTX 4090", "median_step_ms": {"resnet18": {"1": 4.0, "2": 12.0}}}]})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("simulated, fitted to other systems", done.stdout)
        self.assertNotIn("not simulated", done.stdout)

    def test_what_cannot_be_simulated_is_left_out_with_the_reason(self):
        done = self.run_on(throughput(by_devices={"1": 320000, "2": 620000}))
        self.assertIn("not simulated, nothing fitted", done.stdout)
        self.assertIn("--single-step", done.stdout)

    def test_a_table_that_is_wrong_is_told(self):
        done = self.run_on(few_steps(2.0), f"--check={BAR}")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("dgx-a100 float: simulated steps err by", done.stderr)

    def test_what_a_table_of_steps_does_not_say_is_told(self):
        done = self.run_on(few_steps())
        self.assertIn("dgx-a100 float: assumed: 12 samples a device", done.stdout)
        done = self.run_on({**few_steps(), "batch_per_device": 12})
        self.assertNotIn("samples a device", done.stdout)

    def test_a_newer_python_makes_fitted_costs_smaller_too(self):
        steps = []
        for known in ({}, {"python": "3.12"}):
            self.run_on({"measured": [{"system": "quick", "hardware": "RTX 4090", **known, "median_step_ms": {"resnet18": {"1": 16.0, "2": 30.0}}}]},
                        f"--csv={self.folder / 'steps.csv'}")
            with open(self.folder / "steps.csv", encoding="utf-8", newline="") as file:
                steps.append([float(row["simulated, fitted to other systems"]) for row in csv.DictReader(file)][0])
        self.assertGreater(steps[0], 1.02 * steps[1])

    def test_a_baseline_that_did_better_is_told(self):
        done = self.run_on(throughput(by_devices={"1": 320, "2": 640}))
        self.assertIn("a baseline did better: perfect scaling, 0.0 %", done.stdout)

    def test_throughput_is_simulated_as_well(self):
        done = self.run_on(throughput(by_devices={"1": 320, "2": 620, "4": 1240}), f"--check={BAR}")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("simulated, fitted to other systems", done.stdout)

    def test_all_reduces_are_told_from_the_description_alone(self):
        rows = [{"hardware": "8x A100 SXM4, NVSwitch", "time_us": {"1GiB": 8203.9, "256M": 2420.6}},
                {"hardware": "H100 SXM", "ranks": 4, "busbw": {"67108864": 250}}, {"hardware": "8x K80", "busbw": {"1GiB": 5}},
                {"hardware": "8x H200", "collective": "all-gather", "busbw": {"1GiB": 361}}]
        done = self.run_on({"rows": rows[:1]}, "--check=6")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("from 256 MiB, alpha-beta ring", done.stdout)
        done = self.run_on({"rows": rows}, "--check=6")
        self.assertIn("H100 SXM, 4 ranks (dgx-h100): 1 all-reduces", done.stdout)
        self.assertIn("left out: 8x K80: no GPU of the catalogue", done.stdout)
        self.assertIn("is no all-reduce", done.stdout)
        rows[0]["time_us"]["1GiB"] = 100.0
        done = self.run_on({"rows": rows[:1]}, "--check=6")
        self.assertEqual(done.returncode, 1)
        self.assertIn("all-reduces from 1 MiB up err by", done.stderr)

    def test_sizes_are_read_as_tables_write_them(self):
        self.assertEqual([collectives.bytes_of(text) for text in ("32KiB", "1M", "4 GB", "1048576", 512)], [32768, 2**20, 2**32, 2**20, 512])
        for text in ("big", "-1M", "0"):
            with self.assertRaises(ValueError):
                collectives.bytes_of(text)

    def test_what_is_no_table_is_refused(self):
        done = self.run_on({"rows": []})
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("no table of steps, of throughput", done.stderr)


class Projections(unittest.TestCase):
    """What the programs carry is of the constants that stand beside: else project_errors has to run again."""

    def setUp(self):
        self.known = json.loads((machines.CATALOGUE / "published.json").read_text(encoding="utf-8"))["interpreter"]
        self.fitted = json.loads((HERE / "constants.json").read_text(encoding="utf-8"))

    def test_the_factors_are_those_of_the_fits(self):
        self.assertEqual(self.known["scale"], self.fitted["command_default"]["scale"])
        of_gpus = {}
        for column in self.fitted["command"].values():
            node = next(node for name, node in machines.NODES.items() if machines.Machine(name).kind == column["machine"])
            gpu = re.sub(r" \d+GB$", "", machines.GPUS[node["gpu"]]["name"])
            of_gpus.setdefault(gpu, []).append(column["all"]["scale"])
        self.assertEqual(self.known["scales"].keys(), of_gpus.keys())
        for gpu, scales in of_gpus.items():
            self.assertAlmostEqual(self.known["scales"][gpu], sum(scales) / len(scales), delta=0.001)

    def test_the_scatter_is_that_of_the_fit(self):
        common = json.loads((machines.CATALOGUE / "gpus.json").read_text(encoding="utf-8"))["common"]
        self.assertEqual(common["scatter"]["value"], f"{100 * self.fitted['ddp']['scatter']:.4g}%")

    def test_the_costs_are_those_of_pretended_devices(self):
        costs = {kind: float(cost.removesuffix("us")) for kind, cost in (one.split(":") for one in host_model.costs().split(","))}
        costs["ddp-hook"] = costs["autograd"] / host_model.COSTS["autograd"] * host_model.COSTS["ddp-hook"]
        self.assertEqual(self.known["costs"].keys(), costs.keys())
        for kind, cost in costs.items():
            self.assertAlmostEqual(float(self.known["costs"][kind].removesuffix("ns")), 1000 * cost, delta=1)


if __name__ == "__main__":
    unittest.main()
