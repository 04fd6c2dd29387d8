#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_budget.py on small repositories."""
import pathlib
import subprocess
import tempfile
import unittest

import check_budget


class BudgetTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for words in (["init", "-q"], ["config", "user.name", "a"], ["config", "user.email", "a@b"]):
            self.git(*words)
        self.lines("dp/step.cc", 10)
        self.lines("tests/step_test.cc", 5)
        self.commit()

    def git(self, *words):
        subprocess.run(["git", "-C", self.root, *words], check=True, capture_output=True)

    def lines(self, path, count):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("x\n" * count)

    def write(self):
        (self.root / check_budget.TABLE).parent.mkdir(parents=True, exist_ok=True)
        (self.root / check_budget.TABLE).write_text(check_budget.written(check_budget.measured(self.root)))

    def commit(self):
        self.write()
        self.git("add", "-A")
        self.git("commit", "-qm", "Change")

    def faults(self):
        return "\n".join(check_budget.faults(self.root))

    def test_lines_move_between_rooms(self):
        self.lines("dp/step.cc", 4)
        self.lines("research/study", 0)
        (self.root / "research/study").write_text("#!/usr/bin/env python3\n" + "x\n" * 5)
        self.write()
        self.assertEqual(self.faults(), "")

    def test_the_product_does_not_grow(self):
        self.lines("ddp/bucket.cuh", 3)
        self.write()
        self.assertRegex(self.faults(), r"^the product: 13 lines, 10 in \w+: delete 3 more$")

    def test_the_tests_do_not_grow(self):
        self.lines("dp/step.cc", 1)
        self.lines("pretend/tests/a.py", 1)
        self.write()
        self.assertRegex(self.faults(), r"^the tests: 6 lines, 5 in \w+: delete 1 more$")

    def test_a_sum_that_fell_stays_low(self):
        self.lines("dp/step.cc", 2)
        self.commit()
        self.lines("dp/step.cc", 9)
        self.commit()
        self.assertRegex(self.faults(), r"^the product: 9 lines, 2 in \w+: delete 7 more$")

    def test_a_table_of_another_tree(self):
        self.lines("dp/step.cc", 9)
        self.assertIn("is not the tree's", self.faults())

    def test_no_history(self):
        subprocess.run(["rm", "-r", self.root / ".git"], check=True)
        self.lines("dp/step.cc", 100)
        self.write()
        self.assertEqual(self.faults(), "")

    def test_files_without_a_language_do_not_count(self):
        self.lines("dp/README.md", 100)
        self.lines("reports/samples/quick/results.json", 100)
        self.write()
        self.assertEqual(self.faults(), "")


if __name__ == "__main__":
    unittest.main()
