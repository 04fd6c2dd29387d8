#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plants faults in the pages: each must be reported, and the pages as they are must not."""
import unittest

import check_documented_keys as check

RESULTS, SWEEPS, WORKLOADS, LESSONS = check.PAGES
PAGE = """# Page

### The cell

A table of `prose` follows.

| key | meaning |
|---|---|
| `model` | the model's `name` |
| `low`, `high` | two in a row |

Another one:

| key | meaning |
|---|---|
| `backend` | `host` |

### Other

| key | meaning |
|---|---|
| any | no key |
"""
KEYS = {"The cell": ["model", "low", "high", "backend"]}


class DocumentedKeys(unittest.TestCase):
    def reported(self, page, source):
        return list(check.faults("page", page, source))

    def test_page_as_it_should_be(self):
        self.assertEqual(self.reported(PAGE, KEYS), [])
        self.assertEqual(self.reported(PAGE, {"the CELL": KEYS["The cell"]}), [])

    def test_each_missing_key(self):
        for key in KEYS["The cell"]:
            self.assertEqual(self.reported(PAGE.replace(f"`{key}`", key), KEYS), [f"page: the tables of 'The cell' lack `{key}`"])

    def test_key_that_the_source_lacks(self):
        self.assertEqual(self.reported(PAGE, {"The cell": ["model", "low", "high"]}),
                         ["page: 'The cell' has `backend`, which the source does not have"])

    def test_key_twice(self):
        self.assertEqual(self.reported(PAGE.replace("`low`, `high`", "`low`, `high`, `low`"), KEYS),
                         ["page: 'The cell' has `low` twice"])

    def test_source_that_was_not_found(self):
        self.assertEqual(len(self.reported(PAGE, {"Other": []})), 1)

    def test_rows_of_the_pages(self):
        """Without any one row of a table of columns or of lessons, that page is at fault."""
        for page, source in ((RESULTS, check.written()), (LESSONS, check.lessons())):
            lines = check.text_of(page).splitlines()
            self.assertEqual(self.reported("\n".join(lines), source), [])
            for heading in source:
                first = next(i for i, line in enumerate(lines) if line.lstrip("# ").lower() == heading.lower())
                row = next(i for i in range(first, len(lines)) if lines[i].startswith("| `"))
                self.assertTrue(self.reported("\n".join(lines[:row] + lines[row + 1:]), source), lines[row])

    def test_program_that_refuses_nothing(self):
        with self.assertRaises(AssertionError):
            check.accepted(check.SWEEP, {"Sweep file": ()}, ["true", "{file}"])


unittest.main()
