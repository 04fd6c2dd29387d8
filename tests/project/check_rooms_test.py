#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Circles of folders and shared names that are planted in a tree of files are found by check_rooms.py, and nothing else is."""
import pathlib
import tempfile
import unittest

import check_rooms


def faults(files):
    with tempfile.TemporaryDirectory() as folder:
        for path, text in files.items():
            file = pathlib.Path(folder) / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text + "\n")
        return list(check_rooms.faults(pathlib.Path(folder)))


class CirclesTest(unittest.TestCase):
    def test_two_rooms_that_include_each_other_are_found(self):
        self.assertEqual(faults({"bench/a/a.h": '#include "bench/b/b.h"', "bench/b/c.cc": '#include "bench/a/a.h"'}),
                         ["folders include each other in a circle: bench/a -> bench/b -> bench/a"])

    def test_a_circle_of_three_is_found(self):
        found = faults({"bench/a/a.h": '#include "bench/b/b.h"', "bench/b/b.h": '#include "bench/c/c.h"',
                        "bench/c/c.cc": '#include "bench/a/a.h"'})
        self.assertEqual(found, ["folders include each other in a circle: bench/a -> bench/b -> bench/c -> bench/a"])

    def test_a_header_may_not_include_a_room_below_that_includes_its_folder(self):
        below = {"ddp/hook/hook.h": '#include "ddp/ddp.h"'}
        self.assertEqual(len(faults({"ddp/ddp.h": '#include "ddp/hook/hook.h"', **below})), 1)
        self.assertEqual(faults({"ddp/ddp.cc": '#include "ddp/hook/hook.h"', **below}), [])

    def test_one_way_is_no_circle(self):
        self.assertEqual(faults({"bench/a/a.h": '#include "bench/b/b.h"\n#include "bench/a/c.h"', "bench/b/b.h": "int b;"}), [])


class NamesTest(unittest.TestCase):
    def test_types_of_one_name_in_two_folders_are_found(self):
        for text in ("struct Check {", "class Check final : public Other {", "enum class Check { kA };", "using Check = int;"):
            found = faults({"bench/a.h": text, "tools/b.cc": "struct Check {"})
            self.assertEqual(found, ["the type Check is declared in several folders: bench/a.h, tools/b.cc"], text)

    def test_nested_types_forward_declarations_and_private_ones_may_share_a_name(self):
        self.assertEqual(faults({"bench/a.h": "class A {\n  struct Check {", "tools/b.h": "struct Check {"}), [])
        self.assertEqual(faults({"bench/a.h": "struct Check;", "tools/b.h": "struct Check {"}), [])
        self.assertEqual(faults({"bench/a.cc": "struct Check {", "tools/b.cc": "struct Check {"}), [])
        self.assertEqual(faults({"bench/a.h": "struct Check {", "bench/b.cc": "struct Check {"}), [])

    def test_a_back_end_is_a_part_of_the_name(self):
        named = "namespace tandem::nvml {\nstruct Api {\n};\n}  // namespace tandem::nvml"
        other = "namespace tandem {\nnamespace {\nclass Api {\n};\n}  // namespace\n}  // namespace tandem"
        self.assertEqual(faults({"bench/a.h": named, "tools/b.cc": other}), [])
        self.assertEqual(len(faults({"bench/a.h": named, "tools/b.h": named})), 1)
        self.assertEqual(len(faults({"bench/a.h": named.replace("nvml", "bench"), "tools/b.cc": other})), 1)


if __name__ == "__main__":
    unittest.main()
