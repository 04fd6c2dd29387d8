#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One fault that is planted for each of check_documents.py, check_rooms.py and check_documented_keys.py is reported."""
import pathlib
import sys
import tempfile
import unittest

import check_documented_keys
import check_documents
import check_rooms


def faults(check, files):
    """What a check finds in a folder of these files."""
    with tempfile.TemporaryDirectory() as folder:
        for path, text in files.items():
            file = pathlib.Path(folder, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text + "\n")
        return list(check.faults(pathlib.Path(folder)))


class PlantedTest(unittest.TestCase):
    def test_a_link_that_leads_nowhere(self):
        found = faults(check_documents, {"README.md": "[docs](docs/README.md)", "docs/README.md": "[a](a.md)"})
        self.assertEqual(found, ["docs/README.md:1: the link to a.md leads nowhere: there is no docs/a.md; correct its path"])

    def test_folders_in_a_circle(self):
        found = faults(check_rooms, {"bench/a/a.h": '#include "bench/b/b.h"', "bench/b/b.cc": '#include "bench/a/a.h"'})
        self.assertEqual(found, ["folders include each other in a circle: bench/a -> bench/b -> bench/a"])

    def test_a_key_that_a_page_lacks(self):
        page = "### Cell\n\n| key | meaning |\n|---|---|\n| `model` | a name |\n"
        self.assertEqual(list(check_documented_keys.faults("page", page, {"Cell": ["model", "batch"]})), ["page: the tables of 'Cell' lack `batch`"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
