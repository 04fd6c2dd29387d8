#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A workload file's replay against its model, on a program that stands in for step_bench and for mpirun.

    replay_agreement_test.py
"""
import json
import math
import unittest

from stand_ins import StandInTest

# Takes the next of the times that times.json has for its model and strategy; as mpirun it starts what it is given.
STAND_IN = """#!/usr/bin/env python3
import json, os, pathlib, sys
here = pathlib.Path(sys.argv[0]).resolve()
with open(here.parent / "starts", "a") as starts:
    starts.write(" ".join([here.name] + sys.argv[1:]) + "\\n")
if here.name == "mpirun":
    os.execv(sys.argv[5], sys.argv[5:])
options = dict(word[2:].split("=", 1) for word in sys.argv[1:])
if "write-workload" in options:
    pathlib.Path(options["write-workload"]).write_text("{}")
    sys.exit(print("written"))
side = "file" if options["model"].endswith(".json") else "model"
path = here.parent / "times.json"
times = json.loads(path.read_text())
left = times[side][options["strategy"]]
if not left:
    sys.exit("step_bench: it cannot be had")
pathlib.Path(options["record"]).write_text(json.dumps({"step_seconds": left.pop(0)}))
path.write_text(json.dumps(times))
"""


class AgreementTest(StandInTest):
    SOURCE = STAND_IN
    PROGRAMS = ("step_bench", "mpirun")

    def compare(self, model, file, *options):
        (self.folder / "times.json").write_text(json.dumps({"model": model, "file": file}))
        return self.start("replay_agreement", f"--step-bench={self.folder}/step_bench", f"--mpirun={self.folder}/mpirun",
                          "--model=m", "--batch=16", *options)

    def test_ratios_are_those_of_launch_medians(self):
        model = {"single": [[1, 1, 9], [1, 1, 1]], "dp": [[4], [4]], "ddp": [[2], [2]]}
        file = {"single": [[2, 2, 9], [3, 3, 3]], "dp": [[4], [4]], "ddp": [[1], [1]]}
        done = self.compare(model, file, "--launches=2")
        self.assertEqual(done.returncode, 0, done.stderr)
        # By hand: logs of 2 and 3, t of one degree of freedom.
        logs = [math.log(2), math.log(3)]
        half = 12.706 * (logs[1] - logs[0]) / 2
        low, high = (math.exp(sum(logs) / 2 + sign * half) for sign in (-1, 1))
        self.assertIn(f"single: m 1000 ms, replay 2500 ms; replay over model: 2.4495 (2 launches each, "
                      f"95 % interval {low:.4f} to {high:.4f})", done.stdout)
        self.assertIn("dp: m 4000 ms, replay 4000 ms; replay over model: 1.0000", done.stdout)
        self.assertIn("dp/ddp: m 2, replay 4; replay over model: 2.0000 (2 launches each, 95 % interval 2.0000 to 2.0000)",
                      done.stdout)

    def test_sides_take_turns_and_ranks_are_launched(self):
        times = {strategy: [[1], [1]] for strategy in ("single", "dp", "ddp")}
        self.compare(times, times, "--launches=2", "--workload=given.json")
        starts = [line for line in self.starts() if line.startswith("step_bench")]
        sides = ["file" if "--model=given.json" in line else "model" for line in starts]
        self.assertEqual(sides, ["model", "file"] * 3 + ["file", "model"] * 3)
        self.assertTrue(all("--batch=16" in line and "--backend=host" in line for line in starts))
        ranks = [line for line in self.starts() if line.startswith("mpirun")]
        self.assertEqual(len(ranks), 4)
        self.assertTrue(all("-np 2" in line and "--strategy=ddp --devices=2" in line for line in ranks))

    def test_a_file_is_made_where_none_is_given(self):
        times = {strategy: [[1]] for strategy in ("single", "dp", "ddp")}
        done = self.compare(times, times, "--launches=1")
        self.assertIn("--write-workload=", self.starts()[0])
        self.assertIn("single: m 1000 ms, replay 1000 ms; replay over model: 1.0000 (1 launch each", done.stdout)

    def test_a_launch_that_fails_ends_it_in_a_line(self):
        done = self.compare({"single": []}, {}, "--launches=1", "--workload=given.json")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"^replay_agreement: .*ended with status 1: step_bench: it cannot be had\n$")

    def test_a_figure_beyond_what_is_asked_for_fails_and_is_named(self):
        even = {"single": [[1]], "dp": [[1]], "ddp": [[1]]}
        file = {"single": [[1.09]], "dp": [[1]], "ddp": [[0.9]]}
        self.assertEqual(self.compare(even, file, "--launches=1", "--within=12").returncode, 0)
        done = self.compare(even, file, "--launches=1", "--within=10")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"^replay_agreement: the replay is off by more than 10 % in ddp, dp/ddp: .*\n$")
        self.assertIn("single: m 1000 ms", done.stdout)

    def test_launches_are_as_many_as_an_interval_is_known_of(self):
        self.assertEqual(self.compare({}, {}, "--launches=21").returncode, 2)


if __name__ == "__main__":
    unittest.main()
