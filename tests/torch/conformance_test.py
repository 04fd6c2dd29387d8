#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What torch does on pretended GPUs is what Tandem's dp and ddp do there, but for the known differences.

    conformance_test.py CASE BUILD MPIEXEC MODULE
"""
import json
import pathlib
import sys
import unittest

CASE, BUILD, MPIEXEC, MODULE = sys.argv[1], pathlib.Path(sys.argv[2]), *sys.argv[3:5]
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "support")]
import conformance  # noqa: E402
import launch_kinds  # noqa: E402
import torch_python  # noqa: E402

PYTHON = torch_python.need(torch_python.HAS_CUDA)
LAUNCHES = json.loads((HERE / "launches.json").read_text(encoding="utf-8"))
# The calls of all four GPUs that each known difference changes in a later step. Who mends one takes its number away.
EVERY_DP = {"targets_behind": 1, "queues_of_copies": 6, "own_output_gradient": 1}
OF_RESNET = {"batch_counters": 1, "integers_of_64_bits": 1}
DP = {
    "mlp-small": EVERY_DP | {"flattening": 5},
    "gpt2-nano": EVERY_DP | {"flattening": 5, "integers_of_64_bits": 5, "attention": 112},
    "resnet-tiny": EVERY_DP | OF_RESNET | {"flattening": 6, "padding": 3},
    "resnet50": EVERY_DP | OF_RESNET | {"flattening": 61, "padding": 1},
}
DDP = {
    "mlp-small": {"padding": 1},
    "gpt2-nano": {"integers_of_64_bits": 8, "attention": 112},
    "resnet-tiny": OF_RESNET | {"integers_of_64_bits": 4, "padding": 2, "buffers_copied_back": 4 * 36},
    "resnet50": OF_RESNET | {"integers_of_64_bits": 4, "padding": 2, "buffers_copied_back": 4 * 159},
}
# With options two GPUs show the same in half the time.
DDP_OF_TWO = {
    "gpt2-nano": {"integers_of_64_bits": 4, "attention": 56},
    "resnet-tiny": OF_RESNET | {"integers_of_64_bits": 2, "padding": 2, "buffers_copied_back": 2 * 36},
    "resnet50": OF_RESNET | {"integers_of_64_bits": 2, "padding": 2, "buffers_copied_back": 2 * 159},
}


def without(expected, *names):
    return {name: count for name, count in expected.items() if name not in names}


def is_pinned(comparison):
    return comparison.version.startswith(LAUNCHES["torch"] + ".")


HALVES = {"outputs_in_16_bits": 8}  # six between GPUs, two within GPU 0
# (model, strategy, options of both sides, options of torch's alone, what a later step has)
OPTIONS = {
    "buckets": [
        ("resnet50", "ddp", ["grads=views", "bucket-mb=5"], [], DDP_OF_TWO["resnet50"]),
        ("resnet-tiny", "ddp", ["channels-last=on"], [], DDP_OF_TWO["resnet-tiny"] | {"operators_own_copy": 2}),
        ("resnet-tiny", "ddp", ["static-graph=on"], [], DDP_OF_TWO["resnet-tiny"]),
        ("resnet-tiny", "ddp", ["accumulate=2"], [], DDP_OF_TWO["resnet-tiny"] | {"micro_batches": 4}),
    ],
    "halves": [
        ("gpt2-nano", "ddp", ["compress=fp16"], [], DDP_OF_TWO["gpt2-nano"]),
        ("resnet-tiny", "ddp", ["compress=bf16"], [], DDP_OF_TWO["resnet-tiny"]),
        ("resnet-tiny", "dp", ["precision=bf16"], [], DP["resnet-tiny"] | HALVES | {"fp16_of_replicas": 152}),
        ("gpt2-nano", "ddp", ["precision=bf16"], [], without(DDP_OF_TWO["gpt2-nano"], "attention")),
        ("resnet-tiny", "ddp", ["precision=bf16"], [], DDP_OF_TWO["resnet-tiny"]),
    ],
    "torch_alone": [
        ("resnet-tiny", "ddp", [], ["broadcast-buffers=off"],
         without(DDP_OF_TWO["resnet-tiny"], "batch_counters", "buffers_copied_back") | {"buffers_stay": 1, "padding": 1}),
    ],
}


class Conformance(unittest.TestCase):
    def compared(self, model, strategy, options=(), torch_alone=(), devices=4):
        case = conformance.Case(model, strategy, devices, options=tuple(options), torch_alone=tuple(torch_alone))
        return conformance.Comparison(conformance.Sides(BUILD, PYTHON, MPIEXEC), case)

    def check_first_step(self, comparison):
        _, left = comparison.differences(0, collectives_alone=True)
        self.assertEqual(left, [], "\n".join(left))

    def check_later_step(self, comparison, expected):
        """The cuDNN beside another torch may lack attention, for which Tandem then has products in bf16 too."""
        explained, left = comparison.differences(conformance.STEPS - 1)
        self.assertEqual(left, [], "\n".join(left))
        loose = [] if is_pinned(comparison) else ["attention"]
        self.assertEqual(without(explained, *loose), without(expected, *loose))

    def check_launches(self, comparison, name):
        """Those of torch are of one version: another one may have other kernels, and no other calls."""
        found, pinned = launch_kinds.table(*comparison.step(conformance.STEPS - 1)), LAUNCHES["cases"][name]
        if is_pinned(comparison):
            self.assertEqual(found, pinned)
            return
        print(f"launches of torch {comparison.version} are not held to those of {LAUNCHES['torch']}")
        self.assertEqual({kind: mine for kind, (_, mine) in found.items() if mine}, {kind: mine for kind, (_, mine) in pinned.items() if mine})


class Case_dp(Conformance):
    def test_a_step_of_each_model(self):
        for model, expected in DP.items():
            with self.subTest(model):
                comparison = self.compared(model, "dp")
                self.check_later_step(comparison, expected)
                self.check_launches(comparison, f"{model} dp")
                torch, _ = comparison.step(conformance.STEPS - 1)
                self.assertEqual({call.kind for call in torch.collectives}, {"broadcast", "reduce"})


class Case_ddp(Conformance):
    def test_a_step_of_each_model_and_the_buckets_before_they_are_made_anew(self):
        for model, expected in DDP.items():
            with self.subTest(model):
                comparison = self.compared(model, "ddp")
                self.check_later_step(comparison, expected)
                self.check_launches(comparison, f"{model} ddp")
                self.check_first_step(comparison)
                torch, _ = comparison.step(0)
                self.assertEqual(sum(call.kind == "all-reduce" for call in torch.collectives), 1)


class WithOptions(Conformance):
    def check(self, cases):
        for model, strategy, options, torch_alone, expected in cases:
            with self.subTest(" ".join([model, strategy, *options, *torch_alone])):
                comparison = self.compared(model, strategy, options, torch_alone, devices=2 if strategy == "ddp" else 4)
                self.check_later_step(comparison, expected)
                self.check_first_step(comparison)


class Case_buckets(WithOptions):
    def test_options_of_ddp_change_both_sides_alike(self):
        self.check(OPTIONS["buckets"])


class Case_halves(WithOptions):
    def test_16_bits_change_both_sides_alike(self):
        self.check(OPTIONS["halves"])


class Case_torch_alone(WithOptions):
    def test_what_an_option_changes_that_tandem_lacks(self):
        self.check(OPTIONS["torch_alone"])

    def test_a_search_of_unused_parameters_sums_a_map_of_them_and_keeps_the_first_buckets(self):
        comparison = self.compared("mlp-small", "ddp", torch_alone=["find-unused-parameters=on"])
        (first, _), (later, ours) = comparison.step(0), comparison.step(conformance.STEPS - 1)
        self.assertEqual(later.collectives, first.collectives)
        *buckets, used = later.collectives
        self.assertEqual((used.type, used.count), ("i32", 6))  # three layers of weights and biases
        self.assertNotEqual(buckets, ours.collectives)


if __name__ == "__main__":
    if not pathlib.Path(MODULE).is_file():
        print("skipped: this build has no CUDA module on the shared runtime: configure it with the CUDA toolkit")
        sys.exit(77)
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(globals()[f"Case_{CASE}"])
    sys.exit(not unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful())
