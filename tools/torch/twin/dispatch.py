# SPDX-License-Identifier: Apache-2.0
"""What the work costs that PyTorch does on the host for a step, per kind (common/base/dispatch_costs.h), on this machine.

All kinds are measured on pretended GPUs, whose calls return at once, on one core: what is left is Python, the dispatcher,
autograd and what torch's own C++ does. A piece is what the modelled interpreter charges as one.
"""
import torch
from torch import distributed, nn
from torch.nn.parallel import gather, replicate, scatter

from twin import optimizers
from twin.slopes import slope, slope_beyond

DEVICES = 0, 1
SIZES = 16, 64  # pieces of the two trials


def on_gpu(module):
    return module.to("cuda:0")


def stack(layers):
    """Linear layers of one number with their ReLUs: two calls and two parameters each."""
    return on_gpu(nn.Sequential(*(part for _ in range(layers) for part in (nn.Linear(1, 1), nn.ReLU()))))


def one():
    return torch.ones(1, 1, device="cuda:0")


class Holder(nn.Module):
    """One module with so many parameters or buffers of one number."""

    def __init__(self, parameters=0, buffers=0):
        super().__init__()
        for index in range(parameters):
            self.register_parameter(f"parameter{index}", nn.Parameter(torch.ones(1)))
        for index in range(buffers):
            self.register_buffer(f"buffer{index}", torch.ones(1))


def forward_of(layers):
    module, inputs = stack(layers), one()
    return lambda: lambda: module(inputs)


def operations_of(pairs):
    """A view and an addition each."""
    inputs = one().requires_grad_()

    def work():
        x = inputs
        for _ in range(pairs):
            x = x.transpose(0, 1) + inputs
    return lambda: work


def backward_of(module):
    inputs = one()

    def prepare():
        module.zero_grad(set_to_none=True)
        return module(inputs).sum().backward
    return prepare


def replicas_of(module):
    on_gpu(module)
    return lambda: lambda: replicate(module, DEVICES)


def pieces_of(tensors):
    """From pinned host memory, where both sides have their batch."""
    batch = tuple(torch.ones(len(DEVICES), 1).pin_memory() for _ in range(tensors))
    return lambda: lambda: scatter(batch, DEVICES)


def gathered_of(tensors):
    outputs = [tuple(torch.ones(1, 1, device=f"cuda:{device}") for _ in range(tensors)) for device in DEVICES]
    return lambda: lambda: gather(outputs, 0)


def update_of(optimizer):
    """A step of the optimizer that the option names, with the rates of both sides."""
    def trial_of(parameters):
        held = [nn.Parameter(torch.ones(1, device="cuda:0")) for _ in range(parameters)]
        for parameter in held:
            parameter.grad = torch.ones_like(parameter)
        kind, settings = optimizers.KINDS[optimizer]
        made = kind(held, **settings)
        return lambda: made.step
    return trial_of


def hooks():
    """Of DDP's hook per parameter: backward with DDP less backward without."""
    distributed.init_process_group("nccl", store=distributed.HashStore(), rank=0, world_size=1)
    try:
        return slope_beyond(lambda layers: backward_of(nn.parallel.DistributedDataParallel(stack(layers), device_ids=[0])),
                            lambda layers: backward_of(stack(layers)), SIZES, pieces=2)
    finally:
        distributed.destroy_process_group()


def costs(optimizer):
    """What a piece of each kind costs, by the kind's name."""
    torch.set_num_threads(1)
    count = len(DEVICES)
    return {
        "call": slope(forward_of, SIZES, pieces=2),
        "operation": slope(operations_of, SIZES, pieces=2),
        "replica-module": slope(lambda n: replicas_of(nn.Sequential(*(nn.Identity() for _ in range(n)))), SIZES, count),
        "replica-parameter": slope(lambda n: replicas_of(Holder(parameters=n)), SIZES, count),
        "replica-buffer": slope(lambda n: replicas_of(Holder(buffers=n)), SIZES, count),
        "scatter": slope(pieces_of, SIZES, count),
        "gather": slope(gathered_of, SIZES, count),
        "optimizer": slope(update_of(optimizer), SIZES),
        # The model charges four nodes a layer: two calls, two parameters. torch has a fifth, the weight's transposition.
        "autograd": slope(lambda layers: backward_of(stack(layers)), SIZES, pieces=4),
        "ddp-hook": hooks(),
    }
