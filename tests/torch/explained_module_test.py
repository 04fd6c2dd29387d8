#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A user's own module in `tandem explain --module` and `tandem project --module`: its export as a workload file, both sides in
one explanation, and its projection onto a machine that is not there.

    explained_module_test.py CASE TOOLS MPIEXEC TANDEM

Its modules, its scratch folder and its python are those of own_module_test.py.
"""
import json
import math
import subprocess
import sys
import unittest

import own_module_test
from own_module_test import PYTHON, TANDEM, WARM, torch_python

PRETENDS = subprocess.run([PYTHON, "-c", "import sys; from torch import version; sys.exit(not version.cuda)"], check=False).returncode == 0

FUNCTIONS = """

class Named(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = layer()

    def forward(self, values, labels, scale=1.0):
        scores = self.inner(values) * scale
        return {"loss": nn.functional.mse_loss(scores, labels), "values": values, "scores": scores}


def named():
    return Named(), {"values": SAMPLES, "labels": WANTED, "scale": 2.0}


def classified():
    return layer(), (SAMPLES, torch.tensor([0, 1, 1, 0])), nn.CrossEntropyLoss()


def with_adam():
    module = layer()
    return {"module": module, "batch": SAMPLES, "optimizer": torch.optim.Adam(module.parameters())}


def with_rmsprop():
    return {"module": layer(), "batch": SAMPLES, "optimizer": torch.optim.RMSprop}


class Branches(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.idle = layer(), layer()

    def forward(self, values):
        return {"scores": self.inner(values), "idle": self.idle(values)}


def unused():
    return Branches(), SAMPLES, lambda outputs: outputs["scores"].sum()


class Moody(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = layer()

    def forward(self, values):
        scores = self.inner(values)
        return scores.relu() if len(values) > 2 else scores


def moody():
    return Moody(), SAMPLES


def normed():
    return nn.Sequential(layer(), nn.BatchNorm1d(2)), SAMPLES


def perceptron():
    return nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 4)), torch.ones(4, 64)
"""


class Explained(own_module_test.Scratch):
    def setUp(self):
        super().setUp()
        (self.folder / "own.py").write_text(own_module_test.OWN + FUNCTIONS)


class Case_exported(Explained):
    def export(self, function, *more):
        path = self.folder / "export.json"
        done = self.twin("--about", f"--export={path}", f"--module={self.folder}/own.py:{function}", "--batch=2", "--backend=host", *more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(path.read_text())

    def test_layers_have_their_operations(self):
        content = self.export("plain")
        product = ["product", "fp32", "-", [1, [0, 1], 2, 3, [4 * (2 + 3 * 2), 4 * (3 + 2)]], 1]  # bias and weight, a sample's input and output
        self.assertEqual(content["layers"][0]["forward"], {"operations": 1, "flops": 12.0, "kernels": [product]})
        self.assertEqual(sorted(tensor["name"] for tensor in content["tensors"]), ["bias", "weight"])
        self.assertEqual((content["input"]["width"], content["output"]), (3, {"width": 2}))

    def test_keywords_and_plain_values_reach_the_module_and_its_output_is_that_of_samples_with_a_gradient(self):
        content = self.export("named")
        self.assertEqual([layer["name"] for layer in content["layers"]], ["inner"])
        self.assertEqual((content["input"]["width"], content["output"]["width"]), (5, 2))  # values and labels; scores

    def test_whole_targets_of_each_row_are_cross_entropy(self):
        content = self.export("classified")
        self.assertEqual(content["output"], {"width": 2, "objective": "cross-entropy", "classes": 2})
        self.assertEqual(self.export("classified", "--precision=bf16")["output"], content["output"] | {"type": "bf16"})

    def test_a_loss_is_the_output_where_the_module_returns_nothing_else(self):
        for function in ("number", "keywords"):
            self.assertEqual(self.export(function)["output"], {"width": 1})

    def test_tensors_without_a_gradient_are_exchanged_last(self):
        names = [tensor["name"] for tensor in self.export("unused")["tensors"]]
        self.assertEqual(names[-2:], ["idle.bias", "idle.weight"])

    def test_operations_that_depend_on_the_batch_are_refused(self):
        done = self.twin("--about", f"--export={self.folder}/export.json", f"--module={self.folder}/own.py:moody", "--batch=4", "--backend=host")
        self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)
        self.assertIn("runs other operations in forward on 4 samples than on 2, so that no one list", done.stderr)
        self.assertFalse((self.folder / "export.json").exists())

    def test_the_optimizer_is_named_as_the_option_has_it_or_by_its_class(self):
        for function, name in (("plain", "sgd"), ("by_function", "sgd"), ("with_adam", "adam"), ("with_rmsprop", "RMSprop")):
            self.assertEqual(self.about(self.folder / f"own.py:{function}")["optimizer"], name)


class Case_projected(Explained):
    def test_a_module_is_projected_in_one_command(self):
        done = self.run_it(TANDEM, "project", "--details", "--module=own.py:classified", "--hardware=dgx-a100", "--devices=1..16", "--batch-per-device=8,32",
                           f"--with-torch={PYTHON}", "--out=out")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"\AProjected, not measured: own\.py:classified in fp32 on dgx-a100x2@8xib-200g ")
        self.assertIn("\nOn published measurements of systems like this (A100 SXM4)", done.stdout)
        self.assertRegex(done.stdout, r"(?m)^ +32 +16  ddp  ")
        content = json.loads((self.folder / "out/own.workload.json").read_text())
        self.assertNotIn("measured", content)  # its seconds on a core say nothing of the GPU
        self.assertGreater(content["layers"][0]["forward"]["flops"], 0)
        self.assertIn("own.workload.json#", (self.folder / "out/cells.csv").read_text())
        self.assertEqual(content["modules"], 1)

    def project(self, function, *more):
        return self.run_it(TANDEM, "project", "--details", f"--module=own.py:{function}", "--devices=1", f"--with-torch={PYTHON}", "--out=out", *more)

    def test_unused_parameters_are_projected_and_said(self):
        done = self.project("unused", "--hardware=rtx3090", "--batch-per-device=8")
        self.assertEqual(done.returncode, 0, done.stderr)
        answer = (self.folder / "out/projection.md").read_text()
        self.assertIn("a step gives 2 parameters no gradient, such as idle.weight: ddp is torch's with find", answer)
        self.assertRegex(answer, r"[0-9]+ kernels of a step: as torch-[^ ]+ runs them in fp32 on ")

    @unittest.skipUnless(PRETENDS, "needs a torch built with CUDA")
    def test_fp16_has_its_scaler_and_what_does_not_fit_is_refused(self):
        done = self.project("classified", "--hardware=v100", "--batch-per-device=8", "--precision=fp16")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex((self.folder / "out/projection.md").read_text(), "kernels of a step: as torch-[^ ]+ runs them in fp16 on a pretended ")
        self.assertRegex(done.stdout, "Largest batch that fits 32.0 GiB: not known, for both batches that were tried have one peak\\.")
        self.assertIn('"fp16"', (self.folder / "out/own.workload.json").read_text())
        done = self.project("classified", "--hardware=rtx3090", "--batch-per-device=999999999")
        self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)
        self.assertRegex(done.stderr, r"out of memory: a step needs .* GiB of 24.0 GiB; the largest batch that fits is [0-9]+, ")

    def test_a_module_that_no_single_sample_trains_is_refused_where_a_device_has_one(self):
        done = self.run_it(TANDEM, "project", "--module=own.py:normed", "--hardware=dgx-a100", "--batch=5", "--devices=1,4",  # dp's pieces: 2, 2, 1
                           f"--with-torch={PYTHON}")
        self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)
        self.assertRegex(done.stderr, r"in forward of layer 1: ValueError: Expected more than 1 value per channel when training.*; one sample has no "
                                      r"variance: give each device, or each of its micro-batches, 2 samples or more$")

    def test_a_module_that_fails_leaves_nothing(self):
        done = self.run_it(TANDEM, "project", "--module=own.py:missing", "--hardware=dgx-a100", "--batch-per-device=8", f"--with-torch={PYTHON}",
                           "--out=out")
        self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
        self.assertFalse((self.folder / "out").exists())


class Case_usual(own_module_test.Scratch):
    """Parameters as their authors count them; those of a head that shares its weights count once."""
    TORCHVISION = {"resnet18": 11_689_512, "resnet50": 25_557_032, "resnet152": 60_192_808, "vgg16": 138_357_544, "densenet121": 7_978_856,
                   "mobilenet_v2": 3_504_872, "vit_b_16": 86_567_656, "convnext_tiny": 28_589_128}
    TRANSFORMERS = {"gpt2": 124_439_808, "bert_base": 109_483_778, "distilbert": 66_985_530, "t5_small": 60_506_624}

    def check(self, package, architectures):
        if self.run_it(PYTHON, "-c", f"import {package}").returncode:
            self.skipTest(f"{PYTHON} has no {package}")
        for name, parameters in architectures.items():
            with self.subTest(name):
                source = own_module_test.HERE / f"modules/usual.py:{name}"
                done = self.run_it(TANDEM, "project", f"--module={source}", "--hardware=dgx-a100", "--devices=1,4", "--batch-per-device=8",
                                   f"--with-torch={PYTHON}", f"--out={name}")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertRegex(done.stdout, r"(?m)^ *-? *4 devices, 8 samples each: ")
                content = json.loads((self.folder / name / "usual.workload.json").read_text())
                self.assertEqual(sum(math.prod(tensor["shape"]) for tensor in content["tensors"]), parameters)

    def test_architectures_of_torchvision_are_projected(self):
        self.check("torchvision", self.TORCHVISION)

    def test_architectures_of_hugging_face_are_projected(self):
        self.check("transformers", self.TRANSFORMERS)


class Case_explained(Explained):
    def test_the_ends_of_torch_and_of_tandem_on_the_export_are_compared(self):
        command = [TANDEM, "explain", "--details", "--module=own.py:perceptron", "--batch=16", "--devices=2", "--backend=host", "--oversubscribe",
                   f"--with-torch={WARM}", "--out=out", "--launches=2", "--min-time=20ms"]
        done = self.run_it(*command)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"(?m)^own.workload.json: Tandem's rungs train it in place of own.py:perceptron$")
        for end in ("ddp", "single, a share"):
            self.assertRegex(done.stdout, rf"(?m)^{end}  .*x \[")
        self.assertIn("All ends agree within a factor of ", done.stdout)
        self.assertRegex(done.stdout, r"(?m)^\+ processes  ")
        cells = (self.folder / "out/cells.csv").read_text()
        self.assertIn("own.py:perceptron#", cells)
        self.assertIn("own.workload.json#", cells)
        before = (self.folder / "out/journal.jsonl").read_bytes()
        again = self.run_it(*command)
        self.assertEqual(again.stdout, done.stdout)
        self.assertEqual((self.folder / "out/journal.jsonl").read_bytes(), before)


if __name__ == "__main__":
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(globals()[f"Case_{own_module_test.CASE}"])
    sys.exit(not unittest.TextTestRunner().run(suite).wasSuccessful())
