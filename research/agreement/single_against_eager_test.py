#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The comparison with PyTorch's step, on programs that stand in for a python with torch and for step_bench.

    single_against_eager_test.py
"""
import json
import math
import os
import unittest

from stand_ins import StandInTest

# Each start takes the next of the times that a file beside it holds, and adds its name to one list of starts.
STAND_IN = """#!/usr/bin/env python3
import json, os, pathlib, sys
here = pathlib.Path(sys.argv[0]).resolve()
with open(here.parent / "starts", "a") as starts:
    starts.write(" ".join([here.name] + sys.argv[1:]) + "\\n")
kept = {name: os.environ[name] for name in ("OMP_NUM_THREADS", "OPENBLAS_CORETYPE") if name in os.environ}
with open(here.parent / "environments", "a") as environments:
    environments.write(json.dumps(kept) + "\\n")
times = json.loads((here.parent / (here.name + ".json")).read_text())
if not times:
    print("noise\\n" + here.name + ": it cannot be had", file=sys.stderr)
    sys.exit(1)
(here.parent / (here.name + ".json")).write_text(json.dumps(times[1:]))
record = [word[len("--record="):] for word in sys.argv if word.startswith("--record=")]
if record:
    pathlib.Path(record[0]).write_text(json.dumps({"step_seconds": times[0], "model": {"parameters": 7}}))
else:
    parameters = 8 if "--model=other" in sys.argv else 7
    layouts = {"last": 0.5, "first": 0.25} if "--model=images" in sys.argv else {"": 0.5}
    print(json.dumps({"seconds": times[0], "device_seconds": [], "parameters": parameters, "torch": here.name[6:] or "2", "device": "x",
                      "layout": "", "median_seconds_by_layout": layouts}))
"""


class ComparisonTest(StandInTest):
    SOURCE = STAND_IN
    PROGRAMS = ("python", "python1.13", "step_bench")

    def compare(self, theirs, ours, *options):
        (self.folder / "python.json").write_text(json.dumps(theirs))
        (self.folder / "step_bench.json").write_text(json.dumps(ours))
        return self.start("single_against_eager", f"--python={self.folder}/python",
                          f"--step-bench={self.folder}/step_bench", "--batch=64", "--precision=bf16", *options,
                          environment=os.environ | {"OPENBLAS_CORETYPE": "Haswell"})

    def environments(self):
        return [json.loads(line) for line in (self.folder / "environments").read_text().splitlines()]

    def test_ratio_is_that_of_launch_medians(self):
        done = self.compare([[2, 2, 90], [3, 3, 3]], [[1, 1, 50], [1, 1, 1]], "--model=m", "--launches=2")
        self.assertEqual(done.returncode, 0, done.stderr)
        # By hand: logs of 2 and 3, t of one degree of freedom.
        logs = [math.log(2), math.log(3)]
        half = 12.706 * (logs[1] - logs[0]) / 2
        low, high = (math.exp(sum(logs) / 2 + sign * half) for sign in (-1, 1))
        self.assertIn(f"speed of single over PyTorch eager in bf16, torch 2: 2.4495 (2 launches each, "
                      f"95 % interval {low:.4f} to {high:.4f})", done.stdout)

    def test_figures_are_google_benchmarks(self):
        path = self.folder / "figures.json"
        self.compare([[2], [3]], [[1], [1]], "--model=m", "--launches=2", f"--benchmark_out={path}")
        entry, = json.loads(path.read_text())["benchmarks"]
        self.assertEqual(entry["name"], "eager_step/cuda/bf16/m/batch:64/input:device/torch:2")
        self.assertEqual((entry["real_time"], entry["single_ms"]), (2500, 1000))
        self.assertAlmostEqual(entry["speed_of_single"], math.sqrt(6))
        self.assertLess(entry["speed_of_single_low"], 2)

    def test_launches_take_turns_and_do_the_same(self):
        self.compare([[1]] * 3, [[1]] * 3, "--model=m")
        starts = self.starts()
        self.assertEqual([line.split()[0] for line in starts], ["python", "step_bench"] * 3)
        for line in starts:
            for option in ("--model=m", "--batch=64", "--precision=bf16"):
                self.assertIn(option, line)
        self.assertIn("--device=cuda", starts[0])
        self.assertIn("--strategy=single --backend=cuda", starts[1])
        self.assertIn("--input=device", starts[1])

    def test_pythons_take_turns_with_the_same_launches_of_single(self):
        (self.folder / "python1.13.json").write_text(json.dumps([[6], [6]]))
        path = self.folder / "figures.json"
        done = self.compare([[2], [2]], [[1], [1]], "--model=m", "--launches=2", f"--python={self.folder}/python1.13",
                            f"--benchmark_out={path}")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([line.split()[0] for line in self.starts()], ["python", "python1.13", "step_bench"] * 2)
        self.assertIn("in bf16, torch 2: 2.0000 (2", done.stdout)
        self.assertIn("in bf16, torch 1.13: 6.0000 (2", done.stdout)
        names = [entry["name"] for entry in json.loads(path.read_text())["benchmarks"]]
        self.assertEqual([name.rsplit("/", 1)[1] for name in names], ["torch:2", "torch:1.13"])

    def test_on_the_host_each_side_has_one_thread_and_nothing_that_suits_one(self):
        self.compare([[1]], [[1]], "--model=m", "--launches=1", "--backend=host")
        self.assertEqual(self.environments(), [{"OMP_NUM_THREADS": "1"}] * 2)

    def test_on_a_gpu_the_environment_is_as_it_was(self):
        self.compare([[1]], [[1]], "--model=m", "--launches=1")
        self.assertEqual([found["OPENBLAS_CORETYPE"] for found in self.environments()], ["Haswell"] * 2)

    def test_layouts_are_named_where_there_are_several(self):
        done = self.compare([[1]], [[1]], "--model=images", "--launches=1")
        self.assertIn("on x 1000.0000 ms (last 500.0000, first 250.0000); single", done.stdout)
        done = self.compare([[1]], [[1]], "--model=m", "--launches=1")
        self.assertIn("on x 1000.0000 ms; single", done.stdout)

    def test_another_model_is_no_comparison(self):
        done = self.compare([[1]], [[1]], "--model=other")
        self.assertEqual(done.returncode, 1)
        self.assertIn("not the same model", done.stderr)

    def test_what_fails_says_why_in_a_line(self):
        for theirs, ours, name in (([], [[1]], "python"), ([[1]], [], "step_bench")):
            done = self.compare(theirs, ours, "--model=m")
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, rf"^single_against_eager: .*{name}: it cannot be had\n$")

    def test_wrong_usage(self):
        self.assertEqual(self.compare([], [], "--model=m", "--launches=99").returncode, 2)


if __name__ == "__main__":
    unittest.main()
