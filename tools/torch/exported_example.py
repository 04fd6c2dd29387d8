# SPDX-License-Identifier: Apache-2.0
"""The module that a user names, with an example batch. Needs torch 2.0 or newer, which whoever calls imports."""
import importlib
import importlib.util
import pathlib
import sys

from export_failures import Failure, Usage, trying  # beside this file


def module_of(where):
    if not where.endswith(".py"):
        return importlib.import_module(where)
    path = pathlib.Path(where)
    sys.path.insert(0, str(path.parent.resolve()))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def is_absent(where):
    if where.endswith(".py"):
        return not pathlib.Path(where).is_file()
    try:
        return importlib.util.find_spec(where) is None
    except (ModuleNotFoundError, ValueError):  # of a package around it; no name at all
        return True


def load(source):
    where, _, name = source.rpartition(":")
    if not where:
        raise Usage(f"'{source}' names no function: use FILE.py:FUNCTION or MODULE:FUNCTION")
    with trying(f"loading {source}", "mend it"):
        if is_absent(where):
            raise Usage(f"there is no {'file' if where.endswith('.py') else 'module'} {where}; check the name")
        function = getattr(module_of(where), name, None)
        if not callable(function):
            raise Usage(f"it has no function {name}; check the name")
    return function


def numbers(text, flag, such_as="8,3,224,224"):
    try:
        values = [int(word) for word in text.split(",")]
    except ValueError:
        values = []
    if not values or min(values) < 1:
        raise Usage(f"{flag}={text}: use whole numbers from 1, such as {such_as}")
    return values


def shapes_of(tensors):
    return " and ".join(str(tuple(tensor.shape)) for tensor in tensors)


class Example:
    """A module, an example batch of it, and how to make batches of other sizes from that."""

    def __init__(self, torch, options):
        self.source = " ".join((options.source, *options.words))
        self.loss = options.loss
        shape = numbers(options.shape, "--shape") if options.shape else None
        function = load(options.source)
        with trying(f"calling {self.source}", "mend the function, or the words behind it"):
            made = function(*options.words)
        self.take(torch, made, shape)
        self.check_batch(torch)
        self.check_parameters(torch)
        self.module.train()
        self.batch = self.inputs[0].shape[0]

    def take(self, torch, made, shape):
        if hasattr(made, "module") and hasattr(made, "input"):  # tools/torch/models.py
            self.take_ours(torch, made, shape or [1])
        elif isinstance(made, torch.nn.Module):
            if shape is None:
                raise Usage(f"{self.source} returns no example batch: give its --shape, such as --shape=8,3,224,224")
            self.module, self.inputs = made, (torch.rand(*shape) * 2 - 1,)
        elif isinstance(made, (tuple, list)) and len(made) == 2 and isinstance(made[0], torch.nn.Module):
            if shape:
                raise Usage(f"--shape: {self.source} returns an example batch of its own; leave it out")
            self.module, batch = made
            self.inputs = tuple(batch) if isinstance(batch, (tuple, list)) else (batch,)
        else:
            raise Failure(f"{self.source} returns what is no torch module, but a {type(made).__name__}: return a module and an "
                          "example batch (a tensor, or a tuple of them), or the module alone")

    def take_ours(self, torch, made, shape):
        if len(shape) > 1:
            raise Usage(f"--shape: of {self.source} it is the samples of a batch; use one number")
        values = made.input
        self.module = made.module
        self.loss = "cross-entropy" if made.target.classes else "squared-error"
        if values.classes:
            self.inputs = (torch.randint(values.classes, (*shape, *values.shape)),)
        else:
            self.inputs = (torch.rand(*shape, *values.shape) * 2 - 1,)

    def check_batch(self, torch):
        what = f"the example batch of {self.source}"
        if not self.inputs or not all(torch.is_tensor(tensor) and tensor.dim() > 0 for tensor in self.inputs):
            raise Failure(f"{what} is no tensor of samples, nor a tuple of such: return one, with samples as its first dimension")
        if len({tensor.shape[0] for tensor in self.inputs}) > 1:
            raise Failure(f"{what} holds tensors of {shapes_of(self.inputs)}: samples have to be the first dimension of each")
        if any(tensor.numel() == 0 for tensor in self.inputs):
            raise Failure(f"{what} is empty, of {shapes_of(self.inputs)}: give it one sample or more")
        if any(tensor.is_complex() for tensor in self.inputs):
            raise Failure(f"{what} holds complex numbers, which no workload has: use real or whole ones")

    def check_parameters(self, torch):
        what = f"the module of {self.source}"
        parameters = list(self.module.parameters())
        if any(torch.nn.parameter.is_lazy(parameter) for parameter in parameters):
            raise Failure(f"{what} has parameters without a shape: call it once before it is returned")
        if not parameters:
            raise Failure(f"{what} has no parameters: there is nothing to train or to exchange; give one that has some")
        if not any(parameter.requires_grad for parameter in parameters):
            raise Failure(f"{what} has frozen parameters alone: leave requires_grad on for those that are trained")

    def of(self, batch):
        """The example's samples, over and over."""
        times = -(-batch // self.batch)
        return tuple(tensor.repeat(times, *[1] * (tensor.dim() - 1))[:batch] for tensor in self.inputs)

    def classes(self, torch):
        if self.inputs[0].is_floating_point():
            return 0
        tables = [module.num_embeddings for module in self.module.modules() if isinstance(module, torch.nn.Embedding)]
        return max(tables, default=int(self.inputs[0].max()) + 1)
