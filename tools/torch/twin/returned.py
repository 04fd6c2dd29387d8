# SPDX-License-Identifier: Apache-2.0
"""What a user's function returns, taken apart and checked: the module, an example batch, and maybe a loss and an optimizer.

    return module, batch                              # or (module, batch, loss), or (module, batch, loss, optimizer)
    return {"module": module, "batch": batch, "targets": targets, "loss": loss, "optimizer": optimizer}

The batch is a tensor, a tuple of what the module is called with, or a mapping of its keywords. Beside a loss, a tuple of two
is (what the module is called with, targets), as a DataLoader yields it, unless the mapping names targets. The loss takes the
output, and the targets if there are any. The optimizer is one over the module's parameters, or a function of them.
"""
import typing
from collections.abc import Mapping

import torch

from tandem.errors import TandemError
from tandem.workload import listening
from twin import trees

KEYS = ("module", "batch", "loss", "optimizer", "targets")
FORM = "return a module and an example batch, and if you like a loss and an optimizer, or a dict with these names"


class Parts(typing.NamedTuple):
    module: torch.nn.Module
    batch: typing.Any  # inputs of the module
    loss: typing.Any
    optimizer: typing.Any
    targets: typing.Any
    advice: str  # where a step throws


def by_name(made, source):
    if isinstance(made, Mapping):
        unknown = [str(key) for key in made if key not in KEYS]
        if unknown:
            raise TandemError(f"{source} returns a mapping with '{unknown[0]}'; known are {', '.join(KEYS)}")
        return dict(made)
    if isinstance(made, (tuple, list)) and 2 <= len(made) <= 4:
        return dict(zip(KEYS, made))
    what = f"{type(made).__name__} of {len(made)}" if isinstance(made, (tuple, list)) else f"value of type {type(made).__name__}"
    raise TandemError(f"{source} returns a {what}: {FORM}")


def check_kinds(found, source):
    module, optimizer, loss = found.get("module"), found.get("optimizer"), found.get("loss")
    if not isinstance(module, torch.nn.Module):
        raise TandemError(f"{source} returns a value of type {type(module).__name__} where the module has to be: {FORM}")
    if found.get("batch") is None:
        raise TandemError(f"{source} returns no example batch: {FORM}")
    if loss is not None and not callable(loss):
        raise TandemError(f"{source} returns a value of type {type(loss).__name__} as its loss: give a function of the output and the targets")
    if optimizer is not None and not isinstance(optimizer, torch.optim.Optimizer) and not callable(optimizer):
        raise TandemError(f"{source} returns a value of type {type(optimizer).__name__} as its optimizer: give one of torch.optim over the "
                          "module's parameters, or a function of the parameters that makes one")


def check_parameters(module, source):
    parameters = dict(module.named_parameters())
    lazy = [name for name, parameter in parameters.items() if torch.nn.parameter.is_lazy(parameter)]
    if lazy:
        raise TandemError(f"the module of {source} has parameters without a shape ({lazy[0]}): call it once before it is returned")
    if not any(parameter.requires_grad for parameter in parameters.values()):
        raise TandemError(f"the module of {source} has no parameters that are trained: there is nothing to exchange; give one that "
                          "has some")


def check_batch(found, source):
    whole = (found["batch"], found.get("targets"))
    what, tensors = f"the example batch of {source}", trees.tensors_of(whole)
    strangers = trees.strangers_of(whole)
    if strangers:
        raise TandemError(f"{what} holds a value of type {type(strangers[0]).__name__}: use tensors, plain values, and tuples and mappings of these")
    if not tensors:
        raise TandemError(f"{what} holds no tensor: return the samples that a step trains")
    shapes = " and ".join(str(tuple(tensor.shape)) for tensor in tensors)
    if any(tensor.dim() == 0 for tensor in tensors) or len({tensor.shape[0] for tensor in tensors}) > 1:
        raise TandemError(f"{what} cannot be split: its tensors are of {shapes}, and samples have to be the first dimension of each")
    if any(tensor.numel() == 0 for tensor in tensors):
        raise TandemError(f"{what} is empty, of {shapes}: give it one sample or more")


def parts_of(made, source):
    found = by_name(made, source)
    check_kinds(found, source)
    check_parameters(found["module"], source)
    check_batch(found, source)
    batch = found["batch"]
    is_pair = isinstance(batch, (tuple, list)) and len(batch) == 2
    advice = listening.ADVICE
    if found.get("loss") is not None and found.get("targets") is None and is_pair:
        found["batch"], found["targets"] = batch
        advice += "; beside a loss a tuple of two is (input, target), and two inputs are ((first, second), target)"
    return Parts(**{key: found.get(key) for key in KEYS}, advice=advice)
