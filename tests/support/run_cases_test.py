#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tables of cases: what passes, what fails, what is left out."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

RUNNER = Path(__file__).resolve().with_name("run_cases.py")


class RunCasesTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)
        (self.folder / "build" / "bin").mkdir(parents=True)
        (self.folder / "build" / "tests").mkdir()
        (self.folder / "build" / "tests" / "has.txt").write_text("cuda\n")
        self.put(self.folder / "build" / "bin" / "program", 'echo "$VALUE $*"; echo error >&2; [ "$1" = 0 ] || exit "$1"\n')
        self.put(self.folder / "script.sh", 'case_one() { true; }\ncase_two() { exit 1; }\n"case_$1"\n')

    @staticmethod
    def put(file, text):
        file.write_text(f"#!/bin/bash\n{text}")
        file.chmod(0o755)

    def run_table(self, text, *options):
        table = self.folder / "some.cases"
        table.write_text(text)
        return subprocess.run([sys.executable, "-B", RUNNER, table, f"--build={self.folder}/build", *options], text=True,
                              capture_output=True, check=False)

    def test_a_case_passes_by_its_status_and_its_words(self):
        done = self.run_table("# words\na: VALUE=set program 0 {here}\n    ^set 0 /.*error$\n\nb: program 0\n")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("2 passed, 0 failed, 0 skipped", done.stdout)

    def test_what_fails_is_named_with_its_output(self):
        done = self.run_table("a: program 0\n    no such words\nb: program 3\nc: program 0\n")
        self.assertEqual(done.returncode, 1)
        self.assertIn("1 passed, 2 failed, 0 skipped", done.stdout)
        self.assertRegex(done.stdout, r"failed a .*\n\$ program 0\nexpected: no such words\nexit status 0, output:\n")
        self.assertRegex(done.stdout, r"failed b .*\n\$ program 3\nexit status 3, output:\n")

    def test_what_hangs_fails(self):
        self.put(self.folder / "hangs.sh", "echo begun\nexec sleep 60\n")
        done = self.run_table("a: hangs.sh\n", "--limit=1")
        self.assertEqual(done.returncode, 1)
        self.assertIn("exit status none within 1 s, output:\nbegun", done.stdout)

    def test_all_skipped_is_told_by_the_status(self):
        self.assertEqual(self.run_table("a: program 77\n").returncode, 77)
        self.assertEqual(self.run_table("a: program 77\nb: program 0\n").returncode, 0)

    def test_the_cases_of_a_script_are_found_in_it(self):
        done = self.run_table("of.*: script.sh {case}\n", "--list")
        self.assertEqual(done.stdout, "of.one\nof.two\n")
        self.assertEqual(self.run_table("of.*: script.sh {case}\n", "of.one").returncode, 0)
        self.assertEqual(self.run_table("of.*: script.sh {case}\n").returncode, 1)

    def test_what_the_build_lacks_is_left_out(self):
        (self.folder / "build" / "tests" / "has.txt").write_text("")
        done = self.run_table("a (cuda): program 1\nb: program 0\n")
        self.assertIn("1 passed, 0 failed, 0 skipped", done.stdout)

    def test_a_line_that_is_no_case_and_a_name_of_none_are_told(self):
        for text, *options in (("a program\n",), ("    words of no case\n",), ("a: program 0\n", "b")):
            done = self.run_table(text, *options)
            self.assertEqual(done.returncode, 2, text)
            self.assertRegex(done.stderr, r"^run_cases: .*no (such )?case.*\n$")


if __name__ == "__main__":
    unittest.main()
