# SPDX-License-Identifier: Apache-2.0
"""What `tandem run --module` has to know of a user's module before the first launch: its name with the file's checksum, its
size, and by one step whether it can be trained at all."""
from tandem.errors import trying
from tandem.workload import listening
from twin import exported, optimizers, own_module, sampling, strategies, trees


def shape_of(strategy):
    shapes = [str(tuple(tensor.shape)) for tensor in trees.tensors_of(tuple(strategy.batches[0]))]
    return " and ".join(shapes)


def take_step(options, source):
    """One step on one device with the smallest share of the sweep; the strategy and what watches it. A layer that fails is named."""
    training = own_module.Training(options, 0, options.batch)
    strategy = strategies.Strategy(options, training)
    advice = training.parts.advice
    with trying(f"a step of {source} with a batch of {shape_of(strategy)}", advice):
        watch = listening.Watch(strategy.module)
        watch.begin()
        with watch.naming_the_layer(advice):
            strategy.backward(strategy.batches[0], sampling.NoClock(), 1)
    return strategy, watch


def unused_of(module):
    """The first trained parameter that the step gave no gradient; DistributedDataParallel waits for each one's."""
    return next((name for name, parameter in module.named_parameters() if parameter.requires_grad and parameter.grad is None), "")


def module(options):
    """As JSON, with the module's export where it is asked for."""
    name = own_module.name_of(options.module)
    strategy, watch = take_step(options, options.module)
    found = {"module": name, "parameters": sum(parameter.numel() for parameter in strategy.module.parameters()),
            "unused": unused_of(strategy.module), "loss": strategy.training.loss.name,
            "own_optimizer": strategy.training.parts.optimizer is not None,
            "optimizer": optimizers.name_of(strategy.optimizer)}
    if options.export:
        found.update(exported.write(options, strategy, watch))
    return found
