#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tandem.export leaves the module and torch as they were; tests/tools/export_workload_test.py has the files that it writes.

    export_test.py SOURCE
"""
import json
import os
import pathlib
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv[1])
sys.path[:0] = [str(SOURCE / "tests/support"), str(SOURCE / "tools/python")]
import torch_python  # by the path above

try:
    import torch
    from torch import nn
    import tandem
except ImportError:
    python = torch_python.need(torch_python.at_least(2, 0))
    os.execv(python, [python, "-B", *sys.argv])


def net():
    return nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 5))


class Hidden(nn.Linear):
    def forward(self, x):
        raise ValueError("own words\nand more")


class ExportTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = pathlib.Path(folder.name).resolve() / "own.json"

    def export(self, module, inputs, **options):
        return json.loads(tandem.export(module, inputs, self.out, **options).read_text())

    def test_several_inputs(self):
        class Sum(nn.Module):
            def __init__(self):
                super().__init__()
                self.left, self.right = nn.Linear(3, 2), nn.Linear(4, 2)

            def forward(self, x, y):
                return self.left(x) + self.right(y)

        document = self.export(Sum(), (torch.rand(2, 3), torch.rand(2, 4)))
        self.assertEqual((document["input"], document["name"]), ({"width": 7}, "own"))
        self.assertIn("Sum, torch", document["origin"])

    def test_the_default_file_is_of_the_class(self):
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.out.parent)
        self.assertEqual(tandem.export(net(), torch.rand(4, 6)), self.out.parent / "Sequential.json")

    def test_the_module_is_left_as_it_was(self):
        module = net().eval()
        before = {name: tensor.clone() for name, tensor in module.state_dict().items()}
        self.export(module, torch.rand(4, 6))
        self.assertFalse(module.training)
        self.assertTrue(all(torch.equal(tensor, before[name]) for name, tensor in module.state_dict().items()))
        self.assertTrue(all(parameter.grad is None and not parameter._backward_hooks for parameter in module.parameters()))
        self.assertFalse(any(part._forward_pre_hooks or part._forward_hooks for part in module.modules()))

    def test_torch_is_left_as_it_was(self):
        module = net()
        torch.manual_seed(7)
        expected = torch.rand(3)
        torch.manual_seed(7)
        with torch.no_grad():
            self.export(module, torch.zeros(4, 6))
            self.assertFalse(torch.is_grad_enabled())
        self.assertTrue(torch.equal(torch.rand(3), expected))

    def refuse(self, kind, words, *arguments, **options):
        with self.assertRaises(tandem.TandemError) as raised:
            tandem.export(*arguments, **{"path": self.out, **options})
        self.assertIs(type(raised.exception), kind)
        self.assertIn(words, str(raised.exception))
        self.assertNotIn("\n", str(raised.exception))
        self.assertFalse(self.out.exists())

    def test_the_layer_that_fails_is_named(self):
        inner = nn.Sequential(nn.Linear(8, 8), Hidden(8, 2))
        self.refuse(tandem.TandemError, "in forward of layer 1.1: ValueError: own words (export_test.py, line 33); mend the module, or give a batch that fits it",
                    nn.Sequential(nn.Linear(6, 8), inner), torch.rand(4, 6))
        self.refuse(tandem.TandemError, "parameters without a shape (0.weight)", nn.Sequential(nn.LazyLinear(3)), torch.rand(4, 6))

    def test_what_makes_no_sense_is_refused(self):
        self.refuse(tandem.UsageError, "exporting int: it is no torch.nn.Module", 3, torch.rand(4, 6))
        self.refuse(tandem.UsageError, "loss='l1': use squared-error or cross-entropy", net(), torch.rand(4, 6), loss="l1")
        self.refuse(tandem.TandemError, "is no tensor of samples", net(), "samples")

    def test_a_module_that_cannot_be_copied_is_told(self):
        module = net()
        module.lock = os.scandir(".")
        self.addCleanup(module.lock.close)
        self.refuse(tandem.TandemError, "copying Sequential: TypeError", module, torch.rand(4, 6))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
