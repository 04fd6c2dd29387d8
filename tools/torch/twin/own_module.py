# SPDX-License-Identifier: Apache-2.0
"""What a strategy trains where the model is a user's own module: FILE.py:FUNCTION or MODULE:FUNCTION."""
import os
import pathlib
import sys
from collections.abc import Mapping

import torch

from tandem import user_function
from tandem.errors import TandemError, UsageError, trying
from twin import checksum, optimizers, returned, trees

MEND = "mend the function"


def hide_tools():
    """A user's `models` is not ours. Modules of a user's current folder are found, as `python -m` finds them."""
    ours = str(pathlib.Path(__file__).resolve().parents[1])
    sys.path[:] = [folder for folder in sys.path if folder != ours]
    sys.path.insert(0, os.getcwd())


def name_of(source):
    """As results have it: a file without its folder, then the checksum of the file's content."""
    where, function = user_function.split(source)
    with trying(f"loading {source}", "check the name"):
        if user_function.is_absent(where):
            raise UsageError(f"there is no {'file' if user_function.is_file(where) else 'module'} {where}; check the name")
        path = user_function.file_of(where)
        content = path.read_bytes() if path else b""
    shown = path.name if user_function.is_file(where) else where
    return f"{shown}:{function}" + (f"#{checksum.of(content)}" if path else "")


def check_unchanged(source, model):
    found = name_of(source)
    if found != model:
        raise UsageError(f"{source} is {found} now, not {model}: the file was changed since; measure what it holds now in a folder "
                         "of its own")


def loss_of_output(outputs, is_number):
    """(the module's own loss, what it is). DataParallel gathers the numbers of all replicas, of which users take the mean."""
    own = outputs.get("loss") if isinstance(outputs, Mapping) else getattr(outputs, "loss", None)
    if torch.is_tensor(own):
        return own.mean(), "the output's loss"
    if is_number:
        return outputs.mean(), "the output"
    floating = [tensor for tensor in trees.tensors_of(outputs) if tensor.is_floating_point() and tensor.requires_grad]
    if not floating:
        raise TandemError(f"the module returns a {type(outputs).__name__} without a floating-point tensor that depends on the "
                          "parameters: return one, or give a loss")
    return sum(tensor.float().square().mean() for tensor in floating), "mean of squares of the output"


def shape_words(loss):
    if not torch.is_tensor(loss):
        return f"a {type(loss).__name__}"
    return "a number without a gradient" if loss.numel() == 1 else f"a tensor of {tuple(loss.shape)}"


class Loss:
    """The loss of a module that has none of its own, or the function's. The first call looks at what it gets."""

    def __init__(self, source, parts):
        self.source, self.parts, self.name = source, parts, "the function's loss"
        self.is_number = self.is_checked = False
        # A gathered number is a list of numbers; only the module itself distinguishes them from samples.
        self.hook = parts.module.register_forward_hook(self.look)

    def look(self, module, inputs, output):
        self.is_number = torch.is_tensor(output) and output.dim() == 0

    def __call__(self, outputs, targets):
        if self.is_checked:
            return self.of(outputs, targets)
        with trying(f"the loss of {self.source}", MEND):
            loss = self.of(outputs, targets)
            if not torch.is_tensor(loss) or loss.numel() != 1 or not loss.requires_grad:
                raise TandemError(f"it is {shape_words(loss)}: return one number that depends on the module's parameters")
        self.hook.remove()
        self.is_checked = True
        return loss

    def of(self, outputs, targets):
        if self.parts.loss is None:
            loss, self.name = loss_of_output(outputs, self.is_number)
            return loss
        return self.parts.loss(outputs) if targets is None else self.parts.loss(outputs, targets)


class Training:
    def __init__(self, options, first, count):
        self.source = options.module
        torch.manual_seed(options.seed)
        function = user_function.load(self.source)
        with trying(f"calling {self.source}", MEND):
            made = function()
        self.parts = returned.parts_of(made, self.source)
        self.module = self.parts.module.train()
        self.loss = Loss(self.source, self.parts)
        with trying(f"a batch of {count} of {self.source}'s samples", "give a smaller one"):
            self.take(first, count)

    def take(self, first, count):
        """Samples first .. first + count - 1 of the example, repeated as often as it takes."""
        batch, self.targets = (trees.samples(part, first, count) for part in (self.parts.batch, self.parts.targets))
        self.inputs, self.keywords = (), {}
        if isinstance(batch, Mapping):
            self.keywords = batch
        else:
            self.inputs = tuple(batch) if isinstance(batch, (tuple, list)) else (batch,)

    def move_to(self, device):
        self.module.to(device)
        if isinstance(self.parts.loss, torch.nn.Module):
            self.parts.loss.to(device)

    def optimizer(self, options):
        given = self.parts.optimizer
        if given is None:
            return optimizers.named(options, self.module.parameters())
        if options.optimizer != "sgd" or options.fused == "on":
            raise UsageError(f"{self.source} returns an optimizer of its own: --optimizer and --fused are not for it; set both there")
        if isinstance(given, torch.optim.Optimizer):
            return given
        with trying(f"the optimizer of {self.source}", MEND):
            made = given(self.module.parameters())
            if not isinstance(made, torch.optim.Optimizer):
                raise TandemError(f"its function returns a {type(made).__name__}: return an optimizer of torch.optim")
        return made

    def left_out_of_broadcasts(self):
        return []
