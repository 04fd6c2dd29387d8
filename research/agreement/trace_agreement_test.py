#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A timeline against what was measured without it, on a program that stands in for step_bench, tandem and mpirun.

    trace_agreement_test.py
"""
import json
import unittest

from stand_ins import StandInTest

# Takes the next of the launches that launches.json has; as mpirun it starts what it is given.
STAND_IN = """#!/usr/bin/env python3
import json, os, pathlib, sys
here = pathlib.Path(sys.argv[0]).resolve()
with open(here.parent / "starts", "a") as starts:
    starts.write(" ".join([here.name] + sys.argv[1:]) + "\\n")
if here.name == "mpirun":
    os.execv(sys.argv[5], sys.argv[5:])
if here.name == "tandem":
    sys.exit(print(pathlib.Path(sys.argv[3]).read_text()))
options = dict(word[2:].split("=", 1) for word in sys.argv[1:] if word.startswith("--"))
path = here.parent / "launches.json"
left = json.loads(path.read_text())
if not left:
    sys.exit("step_bench: it cannot be had")
record, summary = left.pop(0)
pathlib.Path(options["record"]).write_text(json.dumps({"phases": record}))
pathlib.Path(options["file"]).write_text(json.dumps({"devices": summary}))
path.write_text(json.dumps(left))
"""


def launch(untraced, traced, communication=0, exposed=0, hand_over=0, in_line=0):
    """Of two devices that are alike."""
    return ([{"mean_seconds": untraced}] * 2,
            [{"phases": traced, "communication": communication, "exposed": exposed, "hand_over": hand_over,
              "in_line": in_line}] * 2)


class AgreementTest(StandInTest):
    SOURCE = STAND_IN
    PROGRAMS = ("step_bench", "tandem", "mpirun")

    def compare(self, launches, *options):
        (self.folder / "launches.json").write_text(json.dumps(launches))
        return self.start("trace_agreement", f"--step-bench={self.folder}/step_bench", f"--tandem={self.folder}/tandem",
                          f"--mpirun={self.folder}/mpirun", "--model=m", "--batch=16", f"--launches={len(launches) or 1}",
                          *options)

    def test_phases_and_exposed_communication_are_compared(self):
        done = self.compare([launch({"forward": 1, "exposed_comm": 0.5}, {"forward": 1.02, "exposed_comm": 0.5}, 0.6, 0.4, 0.09)],
                            "--within=5")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("forward: untraced 2000 ms, traced 2040 ms; traced over untraced: 1.0200", done.stdout)
        self.assertIn("all phases: untraced 3000 ms, traced 3040 ms", done.stdout)
        self.assertIn("exposed, collectives running: account 1000 ms, intervals 800 ms; intervals over account: 0.8000", done.stdout)
        self.assertIn("exposed communication: account 1000 ms, intervals 980 ms; intervals over account: 0.9800", done.stdout)

    def test_launches_are_of_processes_where_they_are(self):
        for strategy, count in (("ddp", 1), ("dp", 0)):
            (self.folder / "starts").unlink(missing_ok=True)
            done = self.compare([launch({"forward": 1}, {"forward": 1})], f"--strategy={strategy}", "--", "--overlap=off")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(len([line for line in self.starts() if line.startswith("mpirun -np 2")]), count)
            step_bench = [line for line in self.starts() if line.startswith("step_bench")]
            self.assertTrue(step_bench[0].endswith("--steps=100 --overlap=off"), step_bench)

    def test_where_nothing_is_reduced_nothing_is_exposed(self):
        for in_line in (0, 0.25):
            launches = [launch({"forward": 1}, {"forward": 1}, communication=in_line, in_line=in_line)]
            done = self.compare(launches, "--within=5")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn("exposed", done.stdout)

    def test_figures_beyond_what_is_asked_for_are_named(self):
        launches = [launch({"forward": 1, "loss": 0.001, "update": 1}, {"forward": 1.04, "loss": 0.002, "update": 0.9}, 1, 0.5)]
        done = self.compare(launches, "--within=5")
        self.assertEqual(done.returncode, 1)
        # Of loss, which is next to nothing, the ratio is told and not judged.
        self.assertIn("loss: untraced 2 ms, traced 4 ms; traced over untraced: 2.0000", done.stdout)
        self.assertRegex(done.stderr, r"^trace_agreement: off by more than 5 %: update, exposed communication; measure again .*\n$")

    def test_a_phase_that_one_side_lacks_is_off(self):
        done = self.compare([launch({"forward": 1, "gather": 1}, {"forward": 1})], "--within=60")
        self.assertEqual(done.returncode, 1)
        self.assertIn("gather: untraced 2000 ms, traced 0 ms; no ratio", done.stdout)
        self.assertIn("off by more than 60 %: gather", done.stderr)

    def test_a_launch_that_fails_ends_it_in_a_line(self):
        done = self.compare([])
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"^trace_agreement: .*ended with status 1: step_bench: it cannot be had\n$")


if __name__ == "__main__":
    unittest.main()
