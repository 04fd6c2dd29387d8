# SPDX-License-Identifier: Apache-2.0
"""What a strategy trains where the model is one of Tandem's: step_bench's module, weights, batch and optimizer."""
import models
from twin import optimizers, start


class Training:
    keywords = {}

    def __init__(self, options, first, count):
        is_last = options.channels_last == "on" or options.backend == "host"  # as step_bench lies on cores
        layout = "channels-last" if is_last else "channels-first"
        self.workload = models.build(options.model, layout)
        self.module = self.workload.module
        start.initialise(options.model, self.module, options.seed, layout)
        inputs, self.targets = start.batch(self.workload, options.seed, first, count)
        self.inputs = (inputs,)

    def loss(self, outputs, targets):
        return self.workload.loss(outputs.float(), targets)

    def move_to(self, device):
        self.module.to(device)

    def optimizer(self, options):
        return optimizers.named(options, self.module.parameters())

    def left_out_of_broadcasts(self):
        """Constants of torch's code, such as a mask of booleans, which gloo cannot broadcast."""
        saved = self.module.state_dict()
        return [name for name, _ in self.module.named_buffers() if name not in saved]
