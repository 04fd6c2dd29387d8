#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `tools/test --only` chooses of a configured build folder: chosen_tests_test.py BUILD."""
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = sys.argv.pop()


def choose(pattern):
    return subprocess.run([sys.executable, "-B", ROOT / "tools/lib/chosen_tests.py", BUILD, pattern],
                          capture_output=True, text=True, timeout=60)


class ChosenTests(unittest.TestCase):
    def check(self, pattern, targets, tests):
        result = choose(pattern)
        self.assertEqual((result.returncode, result.stdout), (0, f"{targets}\n^({tests})$\n"), result.stderr)

    def test_program_by_name(self):
        self.check("^trace_test$", "tests/bin/trace_test", "trace_test")

    def test_program_by_a_source(self):
        self.check(r"tests/base/numbers_test\.cc", "tests/bin/common_test", "common_test")

    def test_script_builds_the_programs_of_users(self):
        self.check(r"^bench\.host$", "programs", r"bench\.host")

    def test_script_builds_what_it_is_given(self):
        result = choose(r"^nodes\.same_weights")
        self.assertEqual(result.stdout.splitlines()[0], "tests/bin/rank_of_nodes", result.stderr)

    def test_bad_patterns_get_one_line(self):
        for pattern, words in (("no_such_test", "no test's name"), ("(", "is no regular expression")):
            result = choose(pattern)
            self.assertEqual((result.returncode, result.stdout, result.stderr.count("\n")), (2, "", 1), result.stderr)
            self.assertIn(words, result.stderr)


unittest.main()
