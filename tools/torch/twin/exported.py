# SPDX-License-Identifier: Apache-2.0
"""A user's module as a workload file: what Tandem's rungs train in its place in `tandem explain --module`."""
import pathlib

import torch
from torch import nn

from tandem.errors import TandemError, trying
from tandem.workload.document import text_of, workload_of
from tandem.workload.example import Example
from twin import own_module, trees


def samples_of(outputs, batch):
    """The output that is trained: the first tensor with a gradient and a row for each sample, in front of losses and states."""
    found = [tensor for tensor in trees.tensors_of(outputs) if tensor.requires_grad and tensor.dim() > 0 and tensor.shape[0] == batch]
    if not found:
        raise TandemError(f"the module's output ({type(outputs).__name__}) has no tensor of {batch} samples that depends on the "
                          "parameters, so no workload stands for it: return what the loss is made of, samples first")
    return found[0]


class Called(nn.Module):
    """The module, called with tensors alone and returning one, whatever keywords and plain values it takes."""

    def __init__(self, training):
        super().__init__()
        self.module = training.module
        self.call = (training.inputs, training.keywords)
        self.tensors = tuple(trees.tensors_of(self.call))

    def forward(self, *tensors):
        left = iter(tensors)
        inputs, keywords = trees.with_tensors(self.call, lambda _: next(left))
        return samples_of(self.module(*inputs, **keywords), tensors[0].shape[0])


def loss_of(training, outputs):
    """Cross-entropy where a whole number is wanted for each row of the output, else the squared error: a workload has these two losses."""
    wanted = [*trees.tensors_of(training.targets), *trees.tensors_of(training.keywords.get("labels"))]
    classes = outputs.shape[-1]
    is_of_classes = any(not tensor.is_floating_point() and tensor.numel() * classes == outputs.numel() for tensor in wanted)
    return "cross-entropy" if is_of_classes and classes > 1 else "squared-error"


def example_of(training, source):
    called = Called(training)
    with trying("calling the module", own_module.MEND):
        plain = training.module(*training.inputs, **training.keywords)
        outputs = samples_of(plain, called.tensors[0].shape[0]).detach()
    needs_call = training.keywords or not all(torch.is_tensor(value) for value in training.inputs)
    is_whole = torch.is_tensor(plain) and not needs_call
    return Example(torch, source, training.module if is_whole else called, called.tensors, loss_of(training, outputs))


def write(options, path):
    """Layers are known by their FLOPs."""
    source = own_module.name_of(options.module).partition("#")[0]
    with trying(f"exporting {options.module}", own_module.MEND):
        training = own_module.Training(options, 0, options.batch)
        content = workload_of(torch, example_of(training, source), source, [])
    with trying(f"writing {path}", "make room there"):
        pathlib.Path(path).write_text(text_of(content), encoding="utf-8")
