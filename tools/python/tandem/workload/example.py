# SPDX-License-Identifier: Apache-2.0
"""A module with an example batch. Needs torch 2.0 or newer, which whoever calls imports."""
from __future__ import annotations

from typing import Any

from ..errors import TandemError

LOSSES = ("squared-error", "cross-entropy")


def shapes_of(tensors: Any) -> str:
    return " and ".join(str(tuple(tensor.shape)) for tensor in tensors)


class Example:
    """A module and an example batch of it."""

    def __init__(self, torch: Any, source: str, module: Any, inputs: tuple[Any, ...], loss: str) -> None:
        self.source, self.module, self.inputs, self.loss = source, module, inputs, loss
        self.check_batch(torch)
        self.check_parameters(torch)
        self.module.train()
        self.batch = int(self.inputs[0].shape[0])

    def check_batch(self, torch: Any) -> None:
        what = f"the example batch of {self.source}"
        if not self.inputs or not all(torch.is_tensor(tensor) and tensor.dim() > 0 for tensor in self.inputs):
            raise TandemError(f"{what} is no tensor of samples, nor a tuple of such: return one, with samples as its first dimension")
        if len({tensor.shape[0] for tensor in self.inputs}) > 1:
            raise TandemError(f"{what} holds tensors of {shapes_of(self.inputs)}: samples have to be the first dimension of each")
        if any(tensor.numel() == 0 for tensor in self.inputs):
            raise TandemError(f"{what} is empty, of {shapes_of(self.inputs)}: give it one sample or more")
        if any(tensor.is_complex() for tensor in self.inputs):
            raise TandemError(f"{what} holds complex numbers, which no workload has: use real or whole ones")

    def check_parameters(self, torch: Any) -> None:
        what = f"the module of {self.source}"
        parameters = dict(self.module.named_parameters())
        for name, parameter in parameters.items():
            if torch.nn.parameter.is_lazy(parameter):
                raise TandemError(f"{what} has parameters without a shape ({name}): call it once before it is exported")
        if not parameters:
            raise TandemError(f"{what} has no parameters: there is nothing to train or to exchange; give one that has some")
        if not any(parameter.requires_grad for parameter in parameters.values()):
            raise TandemError(f"{what} has frozen parameters alone: leave requires_grad on for those that are trained")

    def classes(self, torch: Any) -> int:
        if self.inputs[0].is_floating_point():
            return 0
        tables = [module.num_embeddings for module in self.module.modules() if isinstance(module, torch.nn.Embedding)]
        return max(tables, default=int(self.inputs[0].max()) + 1)
