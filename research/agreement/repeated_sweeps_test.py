#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sweeps measured again and again, on a program that stands in for tandem.

    repeated_sweeps_test.py
"""
import json
import unittest

from stand_ins import StandInTest

# `run` leaves a figure in its folder, the next of speeds.json; `compare` calls a different one a change.
STAND_IN = """#!/usr/bin/env python3
import json, pathlib, sys
here = pathlib.Path(sys.argv[0]).resolve().parent
if sys.argv[1] == "run":
    folder = pathlib.Path(sys.argv[3].split("=", 1)[1])
    speeds = json.loads((here / "speeds.json").read_text())
    if sys.argv[2] != "small" or not speeds:
        sys.exit("tandem: no such sweep")
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "speed").exists():
        speed = speeds.pop(0)
        (folder / "speed").write_text(str(speed))
        launches = [{"status": "ok", "cell": {"model": "m"}, "mode": "synchronous", "step_seconds": [2 ** (speed + k)]}
                    for k in (-1, 1)]
        (folder / "results.json").write_text(json.dumps({"tandem": {"launches": launches}}))
        (here / "speeds.json").write_text(json.dumps(speeds + [0]))
    sys.exit(0)
before, after = (float((pathlib.Path(folder) / "speed").read_text()) for folder in sys.argv[2:4])
verdict = "SLOWER" if after < before else "FASTER" if after > before else "SAME"
options = dict(word[2:].split("=", 1) for word in sys.argv[4:])
if options["between-runs"] == "50%":
    verdict = "UNSURE"
cells = [{"name": "dp", "verdict": verdict}, {"name": "ddp", "verdict": "UNSURE"}]
pathlib.Path(options["json"]).write_text(json.dumps({"cells": cells}))
sys.exit(3 if verdict == "SLOWER" and options["fail-on"] != "none" else 0)
"""


class RepeatedSweepsTest(StandInTest):
    SOURCE = STAND_IN
    PROGRAMS = ("tandem",)

    def repeat(self, speeds, *options, sweep="small"):
        (self.folder / "speeds.json").write_text(json.dumps(speeds))
        return self.start("repeated_sweeps", f"--tandem={self.folder}/tandem", f"--out={self.folder}/out",
                          f"--sweep={sweep}", *options)

    def test_each_pair_with_a_change_is_an_alarm(self):
        done = self.repeat([1, 1, 2, 2, 1], "--times=5")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.splitlines()[:4],
                         ["01 02: nothing", "02 03: dp FASTER", "03 04: nothing", "04 05: dp SLOWER"])
        self.assertIn("5 sweeps of 2 cells, threshold 3%, 0% between runs: a change seen between neighbours in 2 of 4 documents, 50.0 %",
                      done.stdout)
        self.assertIn("in 6 of all 10 pairs", done.stdout)

    def test_the_interval_is_clopper_and_pearsons(self):
        # 1 - 0.025^(1/10), the closed form where there is none.
        self.assertIn("0 of 10 documents, 0.0 % (95 % interval 0.0 % to 30.8 %)", self.repeat([1] * 11, "--times=11").stdout)

    def test_the_interval_of_one_alarm_is_scipys(self):
        # scipy.stats.binomtest(1, 10).proportion_ci(): 0.0025 to 0.4450.
        done = self.repeat([1] * 10 + [2], "--times=11")
        self.assertIn("1 of 10 documents, 10.0 % (95 % interval 0.3 % to 44.5 %)", done.stdout)

    def test_the_scatter_is_what_launches_do_not_explain(self):
        # Logs to the base 2: each run's launches lie 1 below and above its speed, so that s^2/n is 1; runs differ by 4.
        # sqrt(16/2 - 1) log(2) = 183.4 %; where all runs are alike, nothing is left.
        done = self.repeat([1, 5, 1], "--times=3")
        self.assertIn("between neighbours beyond what launches explain: 183.4 % in the middle of 1 cells", done.stdout)

    def test_runs_that_are_alike_do_not_scatter(self):
        self.assertIn("explain: 0.0 % in the middle", self.repeat([1, 1, 1], "--times=3").stdout)

    def test_compare_is_told_the_scatter(self):
        done = self.repeat([1, 2, 1], "--times=3", "--between-runs=50%")
        self.assertIn("50% between runs: a change seen between neighbours in 0 of 2 documents", done.stdout)

    def test_what_is_there_is_not_measured_again(self):
        self.repeat([1, 1], "--times=2")
        done = self.repeat([1], "--times=3")
        self.assertIn("in 0 of 2 documents", done.stdout)

    def test_a_sweep_that_fails_ends_it_in_a_line(self):
        done = self.repeat([1], sweep="none")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"^repeated_sweeps: .*tandem run none --out=.*ended with status 1: .*no such sweep\n$")

    def test_two_sweeps_at_least(self):
        self.assertEqual(self.repeat([1], "--times=1").returncode, 2)


if __name__ == "__main__":
    unittest.main()
