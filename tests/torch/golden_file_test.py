#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Golden files, written and read again; torch is not needed.

    golden_file_test.py
"""
import json
import math
import pathlib
import struct
import tempfile
import unittest


import golden_file  # beside this file


class GoldenFileTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def written(self, *tensors):
        golden_file.write(self.folder, "m", {"model": "m", "batch": 3}, tensors)
        return golden_file.read(self.folder, "m")

    def test_what_is_written_is_read(self):
        first = golden_file.tensor_of("first", [2, 2], [1.5, -2.0, 0.0, 0.25])
        second = golden_file.tensor_of("second", [1], [8.0], left_out=[0, 1])
        header, tensors = self.written(first, second)
        self.assertEqual(header, {"format": 1, "model": "m", "batch": 3})
        self.assertEqual(tensors, {"first": first, "second": second})

    def test_values_are_little_endian_floats_in_order(self):
        self.written(golden_file.tensor_of("a", [2], [1.0, 2.0]), golden_file.tensor_of("b", [1], [3.0]))
        self.assertEqual((self.folder / "m.bin").read_bytes(), struct.pack("<3f", 1, 2, 3))
        entries = json.loads((self.folder / "m.json").read_text())["tensors"]
        self.assertEqual([entry["at"] for entry in entries], [0, 2])

    def test_zeros_at_the_end_are_not_kept(self):
        tensor = golden_file.tensor_of("a", [5], [0.0, 7.0, 0.0, 0.0, 0.0])
        self.assertEqual((tensor.extent, tensor.values), (2, [0.0, 7.0]))
        self.assertEqual(golden_file.tensor_of("a", [2], [0.0, 0.0]).values, [])

    def test_a_stride_keeps_the_first_and_each_after_as_many(self):
        tensor = golden_file.tensor_of("a", [8], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 0.0], stride=3)
        self.assertEqual((tensor.extent, tensor.values), (7, [1.0, 4.0, 7.0]))

    def test_elements_are_as_many_as_the_shape_says(self):
        with self.assertRaisesRegex(ValueError, "a: 3 elements"):
            golden_file.tensor_of("a", [2, 2], [1.0, 2.0, 3.0])

    def test_a_short_file_is_an_error(self):
        self.written(golden_file.tensor_of("a", [2], [1.0, 2.0]))
        (self.folder / "m.bin").write_bytes(struct.pack("<1f", 1))
        with self.assertRaisesRegex(ValueError, "ends before a does"):
            golden_file.read(self.folder, "m")

    def test_another_format_is_an_error(self):
        self.written()
        path = self.folder / "m.json"
        path.write_text(path.read_text().replace('"format": 1', '"format": 2'))
        with self.assertRaisesRegex(ValueError, "format 2"):
            golden_file.read(self.folder, "m")


class DistanceTest(unittest.TestCase):
    def distance(self, ours, theirs, **options):
        shape = [len(ours)]
        return golden_file.distance(golden_file.tensor_of("a", shape, ours, **options),
                                    golden_file.tensor_of("a", shape, theirs, stride=options.get("stride", 1)))

    def test_is_relative_to_the_tensor_as_a_whole(self):
        self.assertEqual(self.distance([3.0, 4.0], [3.0, 4.0]), 0)
        self.assertAlmostEqual(self.distance([3.0, 4.0], [3.0, 4.5]), 0.1)

    def test_of_nothing_is_what_the_other_is(self):
        self.assertEqual(self.distance([0.0, 0.0], [0.0, 2.0]), 2)

    def test_sees_what_only_one_side_keeps(self):
        self.assertAlmostEqual(self.distance([3.0, 4.0, 0.0], [3.0, 4.0, 0.5]), 0.1)
        self.assertAlmostEqual(self.distance([3.0, 4.0], [3.0, 0.0]), 0.8)

    def test_leaves_out_what_it_is_told_by_place_in_the_tensor(self):
        ours, theirs = [3.0, 0.5, 4.0, 0.5, 9.0], [3.0, 1.5, 4.0, 1.5, 0.0]
        self.assertEqual(self.distance(ours, theirs, stride=2, left_out=[3, 2]), 0)
        self.assertAlmostEqual(self.distance(ours, theirs, stride=2, left_out=[2, 2]), 9 / math.hypot(3, 9))

    def test_of_other_shapes_is_no_number(self):
        one, other = golden_file.tensor_of("a", [1], [1.0]), golden_file.tensor_of("a", [1, 1], [1.0])
        self.assertEqual(golden_file.distance(one, other), math.inf)


if __name__ == "__main__":
    unittest.main()
