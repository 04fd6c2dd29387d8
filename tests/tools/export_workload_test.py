#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Any torch module becomes a workload file that step_bench takes, and what cannot become one is said.

    export_workload_test.py TOOLS STEP_BENCH
"""
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOLS, STEP_BENCH = (pathlib.Path(argument) for argument in sys.argv[1:3])
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import torch_python  # beside the tests
import warm_python

PYTHON = torch_python.need(torch_python.at_least(2, 0))
WARM = warm_python.of(PYTHON)

OWN = f"""
import sys

import torch
from torch import nn

sys.path.insert(0, "{TOOLS}/torch")
import models
""" + """


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.late = nn.Linear(16, 4)
        self.early = nn.Conv2d(3, 16, 3, padding=1)
        self.norm = nn.BatchNorm2d(16)

    def forward(self, x):
        return self.late(torch.relu(self.norm(self.early(x))).mean((2, 3)))


def make():
    return Net(), torch.rand(2, 3, 8, 8)


def head():
    return nn.Linear(6, 5), torch.rand(4, 6)


def ours(name):
    made = models.build(name)
    shape = (4, *made.input.shape)
    return made.module, torch.randint(made.input.classes, shape) if made.input.classes else torch.rand(shape)


gpt2_nano, resnet_tiny, mlp_tiny = (lambda name=name: ours(name) for name in ("gpt2-nano", "resnet-tiny", "mlp-tiny"))


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.inwards = nn.Linear(8, 24)
        self.outwards = nn.Linear(8, 8)

    def forward(self, x):
        b, t, w = x.size()
        q, k, v = self.inwards(x).split(w, dim=2)
        q = q.view(b, t, 2, w // 2).transpose(1, 2)
        k = k.view(b, t, 2, w // 2).transpose(1, 2)
        v = v.view(b, t, 2, w // 2).transpose(1, 2)
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.outwards(y.transpose(1, 2).contiguous().view(b, t, w))


def attention():
    return Attention(), torch.rand(2, 4, 8)


class Looking(nn.Linear):
    def forward(self, x):
        y = super().forward(x)
        if x.shape == y.size() or x.dim() != 2 or x.is_contiguous() and x.numel() == 0 or x.dtype != y.dtype:
            raise ValueError("shapes")
        return nn.functional.softmax(torch.einsum("bi,bi->bi", y, y), dim=-1) + 1


def looking():
    return Looking(6, 5), torch.rand(4, 6)


def library_block():
    return nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, dropout=0.0), torch.rand(4, 5, 16)


def no_parameters():
    return nn.ReLU(), torch.rand(2, 3)


def frozen():
    return nn.Linear(3, 2).requires_grad_(False), torch.rand(2, 3)


class Sum(nn.Linear):
    def forward(self, x):
        return super().forward(x).sum()


def one_number():
    return Sum(3, 2), torch.rand(2, 3)


class Named(nn.Linear):
    def forward(self, x):
        return {"logits": super().forward(x)}


def named():
    return Named(3, 2), torch.rand(2, 3)


class Untracked(nn.Linear):
    def forward(self, x):
        with torch.no_grad():
            return super().forward(x)


def untracked():
    return Untracked(3, 2), torch.rand(2, 3)


def no_samples():
    return nn.Linear(3, 2), torch.rand(0, 3)


def misfit():
    return nn.Linear(3, 2), torch.rand(2, 4)


class Nested(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(4, 8)
        self.blocks = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(9, 2))

    def forward(self, x):
        return self.blocks(self.stem(x))


def nested_misfit():
    return Nested(), torch.rand(2, 4)


class BrokenBackward(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        return x * 2

    @staticmethod
    def backward(context, gradient):
        raise ValueError("no such gradient")


class Backwards(nn.Sequential):
    def forward(self, x):
        return self[1](BrokenBackward.apply(self[0](x)))


def broken_backward():
    return Backwards(nn.Linear(4, 8), nn.Linear(8, 2)), torch.rand(2, 4)


def no_module():
    return None


def throws():
    raise RuntimeError("own words\\nand more")


def unused():
    net = Net()
    net.more = nn.Linear(2, 2)
    return net, torch.rand(2, 3, 8, 8)
"""

class ExportTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.own = pathlib.Path(self.folder.name) / "own.py"
        self.own.write_text(OWN)
        self.out = pathlib.Path(self.folder.name) / "own.json"

    def run_export(self, *arguments, python=WARM):
        return subprocess.run([python, "-B", TOOLS / "torch" / "export_workload", f"--out={self.out}", *arguments],
                              capture_output=True, text=True, check=False)

    def export(self, *arguments):
        done = self.run_export(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(self.out.read_text())

    def export_ours(self, name):
        return self.export(f"{self.own}:{name.replace('-', '_')}", f"--loss={'squared-error' if name == 'mlp-tiny' else 'cross-entropy'}")

    def accept(self, *options):
        done = subprocess.run([STEP_BENCH, "--backend=host", f"--model={self.out}", *options],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_module_that_is_never_called_itself(self):
        document = self.export(f"{self.own}:library_block")
        owners = {tensor["name"]: tensor["layer"] for tensor in document["tensors"]}
        self.assertEqual(owners["self_attn.out_proj.weight"], "self_attn")
        self.assertEqual(owners["linear1.weight"], "linear1")

    def test_own_module(self):
        document = self.export(f"{self.own}:make")
        self.assertEqual([tensor["name"] for tensor in document["tensors"]],
                         ["late.bias", "late.weight", "norm.weight", "norm.bias", "early.weight", "early.bias"])
        self.assertEqual([tensor["registered"] for tensor in document["tensors"]], [1, 0, 4, 5, 2, 3])
        self.assertEqual([layer["name"] for layer in document["layers"]], ["early", "norm", "late"])
        early, norm, late = document["layers"]
        self.assertEqual(early["forward"]["flops"], 2 * 16 * 64 * 27)
        self.assertEqual(early["backward"]["flops"], 2 * 16 * 64 * 27)  # nobody asks for the images' gradient
        self.assertEqual(norm["forward"]["flops"], 0)
        self.assertEqual((late["forward"]["flops"], late["backward"]["flops"]), (2 * 16 * 4, 2 * 2 * 16 * 4))
        self.assertEqual(document["input"], {"width": 3 * 64})
        self.assertEqual(document["output"], {"width": 4})
        self.assertEqual(len(document["buffers"]), 3)
        self.assertIn("verified", self.accept("--batch=4", "--strategy=dp", "--devices=2", "--oversubscribe", "verify"))

    def test_flops_of_our_models_are_step_benchs(self):
        for name, flops in (("gpt2-nano", 26.74e6), ("resnet-tiny", 409e3), ("mlp-tiny", None)):
            document = self.export_ours(name)
            total = sum(layer[way]["flops"] for layer in document["layers"] for way in ("forward", "backward"))
            row = next(line for line in self.accept("list").splitlines() if line.startswith(f"  {name} "))
            self.assertEqual(sum(math.prod(tensor["shape"]) for tensor in document["tensors"]), int(row.removeprefix(f"  {name} ").split("parameters")[0].replace(" ", "")))
            if flops:
                self.assertAlmostEqual(total / flops, 1, delta=0.001)

    def dispatches(self, model):
        record = pathlib.Path(self.folder.name) / "record.json"
        done = subprocess.run([STEP_BENCH, "--backend=host", f"--model={model}", "--batch=4", "--strategy=single",
                               "--min-time=1ms", f"--record={record}"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(record.read_text())["dispatches_per_step"]

    def test_calls_of_our_models_are_step_benchs(self):
        # gpt2-nano's module makes q, k and v by 3 calls in each of 2 blocks, not 7, and lays heads side by side by 2, not 3.
        for name, fewer in (("gpt2-nano", 2 * 5), ("resnet-tiny", 0), ("mlp-tiny", 0)):
            self.export_ours(name)
            self.assertEqual(self.dispatches(self.out), self.dispatches(name) - fewer, name)

    def test_calls_are_those_from_python(self):
        document = self.export(f"{self.own}:attention")
        # As step_bench charges a GPT-2's: the product, 11 around the attention, the product.
        self.assertEqual([layer["calls"] for layer in document["layers"]], [1 + 11, 1])
        self.assertEqual([layer["operation_calls"] for layer in document["layers"]], [11, 0])
        document = self.export(f"{self.own}:looking")
        self.assertEqual([layer["calls"] for layer in document["layers"]], [4])  # linear, einsum, softmax, sum

    def test_classes_are_the_last_dimension(self):
        document = self.export(f"{self.own}:head", "--loss=cross-entropy")
        self.assertEqual(document["output"], {"width": 5, "objective": "cross-entropy", "classes": 5})
        self.accept("--batch=4", "--check")

    def refuse(self, expected, cases):
        for arguments, expectation in cases:
            done = self.run_export(*arguments)
            self.assertEqual((done.returncode, len(done.stderr.splitlines())), (expected, 1), f"{arguments}: {done.stderr}")
            self.assertIn(expectation, done.stderr)

    def test_exit_status_is_the_refusals(self):
        done = self.run_export("own", python=PYTHON)
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (2, 1), done.stderr)

    def test_wrong_command_lines_are_usage_errors(self):
        self.refuse(2, ((["own"], "names no function"), ([f"{self.own}:nothing"], "check the name"),
                        ([f"{self.own}:__file__"], "it has no function __file__; check the name"),
                        (["no_such.py:make"], "there is no file no_such.py"), (["no.such:make"], "there is no module no.such"),
                        ([f"{self.own}:make", f"--out={self.own}"], "ends with .json"),
                        ([f"{self.own}:make", "--shapes=4"], "--shapes=4; --help says"),
                        ([f"{self.own}:make", "--out=/no/such/own.json"], "there is no such folder")))

    def test_what_cannot_be_exported_is_said(self):
        functions = (("unused", "more.bias gets no gradient"), ("no_parameters", "has no parameters"),
                     ("frozen", "has frozen parameters alone"), ("one_number", "is one number"), ("named", "returns a dict"),
                     ("untracked", "has no gradient"), ("no_samples", "is empty, of (0, 3)"),
                     ("misfit", "with a batch of (2, 4): in forward of layer root: RuntimeError"), ("no_module", "returns a NoneType"),
                     ("nested_misfit", "in forward of layer blocks.2: RuntimeError"),
                     ("broken_backward", "in backward of layer 1: ValueError: no such gradient"),
                     ("throws", "own words (own.py, line "))
        self.refuse(1, [([f"{self.own}:{function}"], said) for function, said in functions])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
