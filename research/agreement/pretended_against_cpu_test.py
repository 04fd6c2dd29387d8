#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The comparison of a pretended GPU with the CPU, on a program that stands in for tandem and for a python with torch.

    pretended_against_cpu_test.py
"""
import math
import unittest

from stand_ins import StandInTest

# On the pretended GPU an addition takes 2 us in the first launch and 8 us in the second, a view as long as on the CPU; a copy
# is on one side alone, and a fill is too short to be told.
STAND_IN = """#!/usr/bin/env python3
import json, pathlib, sys
here = pathlib.Path(sys.argv[0]).resolve()
with open(here.parent / "starts", "a") as starts:
    starts.write(here.name + " " + " ".join(sys.argv[1:]) + "\\n")
if sys.argv[-1] == "cpu":
    print(json.dumps({"aten::add": [3, 1.0], "aten::view": [2, 0.5], "aten::fill_": [1, 0.01]}))
    sys.exit()
if (here.parent / "lost").exists():
    sys.exit("noise\\nno torch here")
marker = here.parent / "second"
added = 8.0 if marker.exists() else 2.0
marker.touch()
print("pretended GPUs: nothing computed")
print(json.dumps({"aten::add": [3, added], "aten::view": [2, 0.5], "aten::copy_": [4, 1.0], "aten::fill_": [1, 0.01]}))
"""


class Comparison(StandInTest):
    SOURCE = STAND_IN
    PROGRAMS = ("tandem", "python")

    def compare(self, *options):
        return self.start("pretended_against_cpu", self.folder / "tandem", f"--python={self.folder}/python", *options)

    def test_ratios_are_of_launches_in_turn(self):
        done = self.compare("--launches=2")
        self.assertEqual(done.returncode, 0, done.stderr)
        # By hand: logs of 2 and 8, t of one degree of freedom.
        half = 12.706 * math.log(4) / 2
        low, high = (math.exp(math.log(4) + sign * half) for sign in (-1, 1))
        rows = {line.split()[0]: line.split(maxsplit=4)[1:] for line in done.stdout.splitlines() if line.startswith("aten::")}
        self.assertEqual(rows["aten::add"], ["3", "5.00", "1.00", f"4.00 [{low:.2f} .. {high:.2f}]"])
        self.assertEqual(rows["aten::view"][3], "1.00 [1.00 .. 1.00]")
        self.assertEqual(set(rows), {"aten::add", "aten::view"})
        self.assertIn("not as often on both (pretended/CPU): aten::copy_ 4/0\n", done.stdout)
        self.assertEqual([line.split()[0] for line in self.starts()], ["tandem", "python"] * 2)

    def test_a_side_that_fails_is_a_line(self):
        (self.folder / "lost").touch()
        done = self.compare()
        self.assertEqual(done.returncode, 1)
        self.assertIn("no torch here", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)

    def test_one_launch_has_no_interval(self):
        self.assertEqual(self.compare("--launches=1").returncode, 2)


if __name__ == "__main__":
    unittest.main()
