#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What counts as a known difference between torch's step and Tandem's, and what does not. Needs no torch."""
import collections
import json
import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "support")]
import conformance  # noqa: E402
import known_differences  # noqa: E402
import launch_kinds  # noqa: E402
from known_differences import Module  # noqa: E402
from step_calls import HOST, Collective, Copy, StepCalls, Work  # noqa: E402

GPUS = (0, 1, 2, 3)
NOTHING = Module([(100, 400)], [])


def step(collectives=(), moves=(), local=None, work=None):
    return StepCalls(list(collectives), list(moves), collections.defaultdict(list, local or {}), collections.Counter(work or {}))


def all_reduce(count, kind="f32"):
    return Collective("all-reduce", count, kind, -1, GPUS)


def broadcast(count):
    return Collective("broadcast", count, "f32", 0, GPUS)


def within(size, device=0):
    return Copy(size, device, device, device)


def left(torch, ours, module=NOTHING):
    explained = known_differences.settle(torch, ours, module)
    return explained, list(conformance.left_over(torch, ours))


class Collectives(unittest.TestCase):
    def test_a_collective_more_is_told(self):
        explained, lines = left(step([all_reduce(96)]), step([all_reduce(96), all_reduce(4)]))
        self.assertEqual(explained, {})
        self.assertIn("+all-reduce of 4 f32, GPUs 0,1,2,3", lines)

    def test_order_counts(self):
        self.assertTrue(left(step([all_reduce(96), all_reduce(4)]), step([all_reduce(4), all_reduce(96)]))[1])

    def test_padding_is_the_gaps_of_the_tensors_and_no_more(self):
        for count, is_known in ((128, True), (112, False), (127, False), (99, False)):
            explained, lines = left(step([all_reduce(100)]), step([all_reduce(count)]))
            self.assertEqual((explained == {"padding": 1}, not lines), (is_known, is_known), count)

    def test_each_bucket_has_the_gaps_of_its_own_tensors_alone(self):
        module = Module([(10, 40), (10, 40), (32, 128), (7, 28)], [], order=[3, 2, 1, 0])
        torch = [all_reduce(39), all_reduce(20)]
        self.assertEqual(left(step(torch), step([all_reduce(128), all_reduce(128)]), module), ({"padding": 2}, []))
        for wrong in ((128 + 108, 128), (128, 128 + 89), (39 + 89 + 108, 20)):
            self.assertTrue(left(step(torch), step(map(all_reduce, wrong)), module)[1], wrong)

    def test_two_all_reduces_64_elements_too_long_are_told(self):
        module = Module([(1000, 4000)] * 64, [], order=range(64))
        explained, lines = left(step([all_reduce(32000)] * 2), step([all_reduce(32 * 1024 + 64)] * 2), module)
        self.assertEqual((explained, bool(lines)), ({}, True))

    def test_the_last_tensor_of_a_chunk_of_dp_has_no_gap(self):
        module = Module([(10, 40), (10, 40)], [(5, 20), (1, 8)], is_ddp=False)
        self.assertEqual(left(step([broadcast(20), broadcast(5)]), step([broadcast(26), broadcast(17)]), module), ({"padding": 2}, []))
        self.assertTrue(left(step([broadcast(20)]), step([broadcast(32)]), module)[1])

    def test_a_map_has_an_entry_for_each_parameter(self):
        self.assertEqual(left(step([all_reduce(1, "i32")]), step())[0], {"map_of_used": 1})
        self.assertTrue(left(step([all_reduce(2, "i32")]), step())[1])


class Copies(unittest.TestCase):
    def test_a_copy_of_other_bytes_is_told(self):
        for theirs, mine in ((640, 641), (640, 1280), (1280, 640)):
            self.assertTrue(left(step(moves=[Copy(theirs, 1, 0, 1)]), step(moves=[Copy(mine, 1, 0, 0)]))[1], (theirs, mine))

    def test_integers_are_those_that_the_host_brings(self):
        self.assertEqual(left(step(moves=[Copy(128, HOST, 0, 0)]), step(moves=[Copy(64, HOST, 0, 0)])), ({"integers_of_64_bits": 1}, []))

    def test_a_flattening_is_known_once_for_each_chunk(self):
        for copies, is_known in ((1, True), (2, False)):
            _, lines = left(step([broadcast(100)]), step([broadcast(100)], local={0: [within(400)] * copies}))
            self.assertEqual(not lines, is_known, copies)

    def test_an_operators_own_copy_has_the_bytes_of_the_pooled_gradient(self):
        pool = Module([(100, 400)], [], pooled=[512])
        self.assertEqual(left(step(local={0: [within(512)]}), step(), pool), ({"operators_own_copy": 1}, []))
        for wrong in ([within(123_000_000)], [within(512)] * 2, [within(512), within(123_000_000)]):
            self.assertTrue(left(step(local={0: wrong}), step(), pool)[1], wrong)
        self.assertTrue(left(step(local={0: [within(512)]}), step())[1], "a model without an average pool")

    def test_a_copy_of_123_megabytes_on_each_gpu_is_told(self):
        more = {device: [within(123_000_000, device)] for device in GPUS}
        explained, lines = left(step(local=more), step(), Module([(100, 400)], [], pooled=[512] * 4))
        self.assertEqual((explained, len([line for line in lines if line.startswith("-copy")])), ({}, 4))

    def test_buffers_that_are_copied_back_include_counters_of_the_bytes_of_a_float_buffer(self):
        module = Module([(100, 400)], [(2, 8), (2, 8), (1, 8)])
        self.assertEqual(left(step(local={0: [within(8)] * 3}), step(), module), ({"buffers_copied_back": 3}, []))
        self.assertTrue(left(step(local={0: [within(8)] * 2}), step(), module)[1])

    def test_micro_batches_sum_to_the_share(self):
        halves = [Copy(size, HOST, 0, 0) for size in (32, 4, 32, 4)]
        module = Module([(100, 400)], [], pieces=2)
        self.assertEqual(left(step(moves=halves), step(moves=[Copy(64, HOST, 0, 0), Copy(8, HOST, 0, 0)]), module),
                         ({"micro_batches": 2}, []))
        self.assertTrue(left(step(moves=halves), step(moves=[Copy(64, HOST, 0, 0), Copy(9, HOST, 0, 0)]), module)[1])


class Computation(unittest.TestCase):
    def test_products_of_another_shape_are_told(self):
        one, other = (Work(0, "product", shape, "f32") for shape in ("8 x 8 over 8, NN", "8 x 8 over 9, NN"))
        self.assertEqual(left(step(work={one: 2}), step(work={one: 2}))[1], [])
        for wrong in ({one: 1}, {one: 3}, {one: 1, other: 1}):
            self.assertTrue(left(step(work={one: 2}), step(work=wrong))[1], wrong)

    def test_batched_products_are_attention_where_torch_has_none(self):
        batched = Work(0, "product", "8 x 8 over 8, NN", "f32", batch=2)
        self.assertEqual(left(step(), step(work={batched: 3})), ({"attention": 3}, []))
        self.assertTrue(left(step(work={batched: 2}), step(work={batched: 3}))[1])

    def test_replicas_of_dp_alone_compute_in_fp16_for_bf16(self):
        theirs, mine = (Work(0, "product", "8 x 8 over 8, NN", kind) for kind in ("f16", "bf16"))
        for is_ddp in (False, True):
            _, lines = left(step(work={theirs: 2}), step(work={mine: 2}), Module([(100, 400)], [], is_ddp=is_ddp))
            self.assertEqual(bool(lines), is_ddp)

    def test_a_kernel_of_no_kind_stands_by_its_name(self):
        torch, ours = step(), step()
        torch.kernels["a_new_kernel"] = 3
        ours.kernels["SgdElements"] = 1
        self.assertEqual(launch_kinds.table(torch, ours), {"optimizer": [0, 1], "a_new_kernel": [3, 0]})


class Page(unittest.TestCase):
    PAGE = (HERE.parents[1] / "docs" / "method" / "torch.md").read_text(encoding="utf-8")

    def test_it_has_each_known_difference(self):
        for difference in known_differences.IN_ORDER:
            name = difference.__name__.replace("_", " ")
            self.assertTrue(f"\n| {name} |" in self.PAGE, f"docs/method/torch.md has no row '{name}'")

    def test_it_has_each_kind_of_launch_with_its_numbers(self):
        pinned = json.loads((HERE / "launches.json").read_text(encoding="utf-8"))["cases"]
        for kind, _, _ in launch_kinds.KINDS:
            cells = [pinned[case].get(kind, [0, 0]) for case in ("gpt2-nano ddp", "resnet50 ddp", "resnet50 dp")]
            row = f"\n| {kind} | " + " | ".join(f"{theirs}, {mine}" for theirs, mine in cells) + " |"
            self.assertTrue(row in self.PAGE, f"docs/method/torch.md has no row{row}")


if __name__ == "__main__":
    unittest.main()
