# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own ways to train, each as its users write it, on step_bench's model, weights, batch and optimizer.

`phases` are those of step_bench's that the host's clock can tell, in the order of a step. DistributedDataParallel's backward
holds its bucket copies and what it waits for collectives, which cannot be told apart from outside: "backward_and_comm". On
a GPU the host's clock tells none of them.
"""
import torch
from torch import nn

import models
from twin import start

OPTIMIZERS = {
    "sgd": lambda parameters: torch.optim.SGD(parameters, lr=0.01, momentum=0.9),
    "adam": lambda parameters: torch.optim.Adam(parameters, lr=1e-3),
    "adamw": lambda parameters: torch.optim.AdamW(parameters, lr=1e-3, weight_decay=1e-2),
}


class Strategy:
    """One device without a wrapper: `single`, and each rank of `independent`."""
    backward_phase = "backward"

    def __init__(self, options, first, count):
        self.precision = options.precision
        self.device = device = options.device
        self.kind = torch.device(device).type
        self.workload = models.build(options.model)
        self.module = self.workload.module
        start.initialise(options.model, self.module, options.seed)
        self.module.to(device)
        self.wrapped = self.wrap(options)
        self.optimizer = OPTIMIZERS[options.optimizer](self.module.parameters())
        # Samples lie in host memory as a user's do: on a GPU they are copied in each step; on the CPU there is no copy.
        place = device if options.input == "device" else "cpu"
        self.batch = [part.to(place) for part in start.batch(self.workload, options.seed, first, count)]
        if self.kind == "cuda" and options.input == "host":
            self.batch = [part.pin_memory() for part in self.batch]
        self.phases = ["forward", "loss", self.backward_phase, "update", "zero_grad"] if self.kind == "cpu" else []

    def wrap(self, options):
        return self.module

    def inputs(self):
        return [part.to(self.device, non_blocking=True) for part in self.batch]

    def forward(self):
        """Outputs and targets."""
        inputs, targets = self.inputs()
        with torch.autocast(self.kind, dtype=torch.bfloat16, enabled=self.precision == "bf16"):
            return self.wrapped(inputs), targets

    def step(self, clock):
        outputs, targets = self.forward()
        clock.mark("forward")
        self.loss = self.workload.loss(outputs.float(), targets)
        clock.mark("loss")
        self.loss.backward()
        clock.mark(self.backward_phase)
        self.optimizer.step()
        clock.mark("update")
        self.optimizer.zero_grad(set_to_none=True)
        clock.mark("zero_grad")

    def synchronize(self):
        if self.kind == "cuda":
            torch.cuda.synchronize()


class DistributedDataParallel(Strategy):
    backward_phase = "backward_and_comm"

    def wrap(self, options):
        more = {}
        if options.bucket_mb:
            more["bucket_cap_mb"] = options.bucket_mb
        wrapper, saved = nn.parallel.DistributedDataParallel, self.module.state_dict()
        # Constants of torch's code, such as a mask of booleans, which gloo cannot broadcast.
        wrapper._set_params_and_buffers_to_ignore_for_model(
            self.module, [name for name, _ in self.module.named_buffers() if name not in saved])
        return wrapper(
            self.module, device_ids=[self.device] if torch.device(self.device).type == "cuda" else None,
            gradient_as_bucket_view=options.grads == "views", static_graph=options.static_graph, **more)


class DataParallel(Strategy):
    """On GPUs alone. The batch stays where the user has it: DataParallel's own scatter brings it to the devices."""

    def wrap(self, options):
        return nn.DataParallel(self.module, device_ids=list(range(options.devices)))

    def inputs(self):
        inputs, targets = self.batch
        return inputs, targets.to(self.device, non_blocking=True)


STRATEGIES = {"single": Strategy, "independent": Strategy, "ddp": DistributedDataParallel, "dp": DataParallel}
