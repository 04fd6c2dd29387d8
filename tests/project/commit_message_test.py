#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/hooks/commit-msg: which subjects it lets pass."""
import pathlib
import subprocess
import tempfile
import unittest

HOOK = pathlib.Path(__file__).resolve().parents[2] / "tools/hooks/commit-msg"


def run(subject, *more):
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write(subject + "\n\nWhy it is so.\n")
        file.flush()
        return subprocess.run([HOOK, file.name, *more], capture_output=True, text=True, check=False)


class CommitMessageTest(unittest.TestCase):
    def test_imperative_subjects_pass(self):
        for subject in ("Delete the drawer of steps", "Pass ranks by value", "Re-read the table", "Embed the catalogue", "Bring back a row",
                        "Focus on one", "Merge branch 'one'", "Add " + "x" * 68):
            self.assertEqual(run(subject).returncode, 0, subject)

    def test_other_subjects_are_refused(self):
        for subject, said in (("Deleted a thing", 'begins with "Deleted"'), ("Deleting a thing", "imperative"), ("Fixes a thing", "imperative"),
                              ("add a thing", "capitalized"), ("The link goes", 'begins with "The"'), ("stats: explain", "imperative"),
                              ("Delete a thing.", "ends with a mark"), ("Add " + "x" * 69, "73 characters, 72 at most"), ("", "imperative")):
            result = run(subject)
            self.assertEqual(result.returncode, 1, subject)
            self.assertIn(said, result.stderr)

    def test_usage(self):
        self.assertEqual(run("Add a thing", "more").returncode, 2)


if __name__ == "__main__":
    unittest.main()
