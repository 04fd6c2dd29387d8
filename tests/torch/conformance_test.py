#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What torch does on pretended GPUs is what Tandem's dp and ddp do there, but for the known differences.

    conformance_test.py CASE BUILD MPIEXEC MODULE

CASE `rules` needs no torch. The others run with the python that TANDEM_TORCH_PYTHON names, else this one or the system's. Exit
status 77, with the reason, where none of them has a torch that is built with CUDA, or where this build has no MODULE.
"""
import collections
import pathlib
import sys
import unittest

CASE, BUILD, MPIEXEC, MODULE = sys.argv[1], pathlib.Path(sys.argv[2]), *sys.argv[3:5]
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "support")]
import conformance  # noqa: E402
import known_differences  # noqa: E402
import torch_python  # noqa: E402
from step_calls import HOST, Collective, Copy, StepCalls, collectives_of  # noqa: E402

GPUS = (0, 1, 2, 3)
# The calls of all four GPUs that each known difference changes in a later step. Who mends one takes its number away.
EVERY_DP = {"targets_behind": 1, "queues_of_copies": 6, "own_output_gradient": 1}
OF_RESNET = {"batch_counters": 1, "integers_of_64_bits": 1, "operators_own_copy": 4}
DP = {
    "mlp-small": EVERY_DP | {"flattening": 5},
    "gpt2-nano": EVERY_DP | {"flattening": 5, "integers_of_64_bits": 5},
    "resnet-tiny": EVERY_DP | OF_RESNET | {"flattening": 6, "padding": 3},
    "resnet50": EVERY_DP | OF_RESNET | {"flattening": 61, "padding": 1},
}
DDP = {
    "mlp-small": {"padding": 1},
    "gpt2-nano": {"integers_of_64_bits": 8},
    "resnet-tiny": OF_RESNET | {"integers_of_64_bits": 4, "padding": 2, "buffers_copied_back": 4 * 36},
    "resnet50": OF_RESNET | {"integers_of_64_bits": 4, "padding": 2, "buffers_copied_back": 4 * 159},
}
OPTIONS = [("mlp-small", "grads=views"), ("resnet50", "grads=views"), ("resnet50", "bucket-mb=5")]


class Conformance(unittest.TestCase):
    def compared(self, *case):
        return conformance.Comparison(conformance.Sides(BUILD, torch_python.find(torch_python.HAS_CUDA), MPIEXEC),
                                      conformance.Case(*case))

    def check_later_step(self, comparison, expected):
        explained, left = comparison.differences(conformance.STEPS - 1)
        self.assertEqual(left, [], "\n".join(left))
        self.assertEqual(explained, expected)


class Case_dp(Conformance):
    def test_a_step_of_each_model(self):
        for model, expected in DP.items():
            with self.subTest(model):
                comparison = self.compared(model, "dp")
                self.check_later_step(comparison, expected)
                torch, _ = comparison.step(conformance.STEPS - 1)
                self.assertEqual({call.kind for call in torch.collectives}, {"broadcast", "reduce"})


class Case_ddp(Conformance):
    def test_a_step_of_each_model_and_the_buckets_before_they_are_made_anew(self):
        for model, expected in DDP.items():
            with self.subTest(model):
                comparison = self.compared(model, "ddp")
                self.check_later_step(comparison, expected)
                _, left = comparison.differences(0, collectives_alone=True)
                self.assertEqual(left, [], "\n".join(left))
                torch, _ = comparison.step(0)
                self.assertEqual(sum(call.kind == "all-reduce" for call in torch.collectives), 1)


class Case_options(Conformance):
    def test_options_of_ddp_change_both_sides_alike(self):
        for model, option in OPTIONS:
            with self.subTest(f"{model} {option}"):
                comparison = self.compared(model, "ddp", 4, (option,))
                self.check_later_step(comparison, DDP[model])


def step(collectives=(), moves=(), local=None):
    return StepCalls(list(collectives), list(moves), collections.defaultdict(list, local or {}), collections.Counter())


def call_of(rank, **more):
    return {"what": "collective", "collective": "broadcast", "count": 8, "type": "f32", "root": 0, "rank": rank, "ranks": 2,
            "device": rank, "group": 1} | more


class Case_rules(unittest.TestCase):
    NOTHING = {"parameters": [(100, 400)], "buffers": []}

    def left(self, torch, ours, sizes=None):
        explained = known_differences.settle(torch, ours, sizes or self.NOTHING)
        return explained, list(conformance.left_over(torch, ours))

    def test_a_collective_more_is_told(self):
        one, two = (Collective("all-reduce", count, "f32", -1, GPUS) for count in (96, 4))
        explained, left = self.left(step([one]), step([one, two]))
        self.assertEqual(explained, {})
        self.assertIn("+all-reduce of 4 f32, GPUs 0,1,2,3", left)

    def test_padding_is_the_gaps_of_the_tensors_and_no_more(self):
        for count, is_known in ((112, True), (113, False), (99, False)):
            explained, left = self.left(step([Collective("all-reduce", 100, "f32", -1, GPUS)]),
                                        step([Collective("all-reduce", count, "f32", -1, GPUS)]))
            self.assertEqual((explained == {"padding": 1}, not left), (is_known, is_known), count)

    def test_order_of_collectives_counts(self):
        one, two = (Collective("all-reduce", count, "f32", -1, GPUS) for count in (96, 4))
        self.assertTrue(self.left(step([one, two]), step([two, one]))[1])

    def test_a_copy_of_other_bytes_is_told(self):
        for theirs, mine in ((640, 641), (640, 1280), (1280, 640)):
            _, left = self.left(step(moves=[Copy(theirs, 1, 0, 1)]), step(moves=[Copy(mine, 1, 0, 0)]))
            self.assertTrue(left, (theirs, mine))

    def test_integers_are_those_that_the_host_brings(self):
        explained, left = self.left(step(moves=[Copy(128, HOST, 0, 0)]), step(moves=[Copy(64, HOST, 0, 0)]))
        self.assertEqual((explained, left), ({"integers_of_64_bits": 1}, []))

    def test_a_flattening_is_known_once_for_each_chunk(self):
        chunk = Collective("broadcast", 100, "f32", 0, GPUS)
        for copies, is_known in ((1, True), (2, False)):
            _, left = self.left(step([chunk]), step([chunk], local={0: [Copy(400, 0, 0, 0)] * copies}))
            self.assertEqual(not left, is_known, copies)

    def test_ranks_that_differ_are_an_error(self):
        self.assertEqual(collectives_of([[call_of(0), call_of(1)]]), [Collective("broadcast", 8, "f32", 0, (0, 1))])
        for wrong in ([call_of(0), call_of(1, count=9)], [call_of(0)], [call_of(0), call_of(0)]):
            with self.assertRaises(ValueError):
                collectives_of([wrong])
        with self.assertRaises(ValueError):
            collectives_of([[call_of(0)], []])

    def test_the_page_has_each_known_difference(self):
        page = (HERE.parents[1] / "docs" / "method" / "conformance.md").read_text(encoding="utf-8")
        for difference in known_differences.IN_ORDER:
            name = difference.__name__.replace("_", " ")
            self.assertTrue(f"\n| {name} |" in page, f"docs/method/conformance.md has no row '{name}'")


def why_not():
    if CASE == "rules":
        return ""
    if not pathlib.Path(MODULE).is_file():
        return "this build has no CUDA module on the shared runtime: configure it with the CUDA toolkit"
    return "" if torch_python.find(torch_python.HAS_CUDA) else f"no torch that is built with CUDA in {', '.join(torch_python.TRIED)}"


if __name__ == "__main__":
    reason = why_not()
    if reason:
        print(f"skipped: {reason}")
        sys.exit(77)
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(globals()[f"Case_{CASE}"])
    sys.exit(not unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful())
