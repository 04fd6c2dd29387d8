#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The prediction of published steps, on a program that stands in for `tandem pretend`.

    dataparallel_published_test.py
"""
import json
import unittest

from stand_ins import HERE, StandInTest

# Host times that explain all of what a DGX A100's DataParallel adds; of the first model 3 ms too much.
STAND_IN = """#!/usr/bin/env python3
import json, pathlib, sys
script = next(word for word in sys.argv if word.endswith("dataparallel_host_times.py"))
precision, most, *names = sys.argv[sys.argv.index(script) + 1:]
published = json.loads((pathlib.Path(script).parent / "dataparallel_published.json").read_text())["measured"]
steps = next(one["step"] for one in published if one["system"] == "dgx-a100" and one["precision"] == precision)
for number, name in enumerate(names):
    wall = [step - steps[name][0] + 5 + (3 if number == 0 and place else 0) for place, step in enumerate(steps[name])]
    print(json.dumps({"model": name, "wall": wall, "cpu": [5.0] * int(most)}))
sys.exit("no torch" if (pathlib.Path(__file__).parent / "fails").exists() else 0)
"""


class PublishedSteps(StandInTest):
    SOURCE, PROGRAMS = STAND_IN, ("tandem",)

    def predict(self, *options):
        return self.start("dataparallel_published", self.folder / "tandem", *options)

    def test_a_host_that_explains_all_leaves_no_error_but_its_own(self):
        done = self.predict("--runs=1", "--precision=float")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        first = next(number for number, line in enumerate(lines) if line.startswith("dgx-a100, float"))
        steps = json.loads((HERE / "dataparallel_published.json").read_text())["measured"][0]["step"]
        model = steps[min(steps)]
        mean = sum(3 / step for step in model[1:]) / (3 * len(steps))
        self.assertIn(f"wall, run 1: {100 * mean:.1f} %, p90 0.0 %, bias {100 * mean:+.1f} %; the host explains 100.0 % ", lines[first + 1])
        perfect = lines[first].split("perfect scaling: ")[1]
        # CPU times that do not grow predict perfect scaling.
        self.assertIn(f"cpu, run 1: {perfect}; the host explains 0.0 % ", lines[first + 2])

    def test_a_file_is_read_as_it_was_measured(self):
        path = self.folder / "times"
        measured = self.predict("--runs=2", f"--out={path}")
        self.assertEqual(len(path.read_text().splitlines()), 2 * 2 * 19)
        self.assertIn("wall times of 152 cells over the runs: largest / least, median 1.00", measured.stdout)
        self.assertEqual(self.start("dataparallel_published", f"--read={path}").stdout, measured.stdout)

    def test_mistakes_are_told(self):
        (self.folder / "fails").touch()
        failed = self.predict("--runs=1")
        self.assertEqual(failed.returncode, 1)
        self.assertIn("dataparallel_published: measuring host times", failed.stderr)
        self.assertEqual(self.predict("--runs=0").returncode, 2)
        self.assertEqual(self.start("dataparallel_published").returncode, 2)
        self.assertEqual(self.start("dataparallel_published", "--read=/nowhere").returncode, 1)


if __name__ == "__main__":
    unittest.main()
