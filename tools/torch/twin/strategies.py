# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own ways to train, each as its users write it, on one of Tandem's models or a user's own module.

`phases` are those of step_bench's that the host's clock can measure, in the order of a step. DistributedDataParallel's backward
holds its bucket copies and what it waits for collectives, which cannot be separated from outside: "backward_and_comm". On
a GPU the host's clock measures none of them; on pretended GPUs it measures the host's work in each.
"""
import contextlib
import typing

import torch
from torch import nn

from twin import trees
from twin.place import UsageError


class Batch(typing.NamedTuple):
    """What the module is called with, and what its output is held against."""
    inputs: tuple
    keywords: dict
    targets: typing.Any


def channels_last(tensor):
    return tensor.to(memory_format=torch.channels_last) if tensor.dim() == 4 and tensor.is_floating_point() else tensor


class Strategy:
    """One device without a wrapper: `single`, and each rank of `independent`."""
    backward_phase = "backward"
    AUTOCAST = {"bf16": torch.bfloat16, "fp16": torch.float16}

    def __init__(self, options, training):
        self.precision, self.reads_loss = options.precision, options.read_loss == "on"
        self.device = device = options.device
        self.kind = torch.device(device).type
        self.training, self.module = training, training.module
        self.resolved = {}  # what of it only shows once it is made
        self.place(options)
        if options.channels_last == "on":
            self.module.to(memory_format=torch.channels_last)
        self.optimizer = training.optimizer(options)
        self.scaler = torch.amp.GradScaler(self.kind) if self.precision == "fp16" else None
        self.wrapped = self.wrap(options)
        self.batches = [self.placed(options, piece) for piece in self.cut(options)]
        is_told = options.backend != "cuda"
        self.phases = ["forward", "loss", self.backward_phase, "update", "zero_grad"] if is_told else []

    def place(self, options):
        self.training.move_to(self.device)

    def wrap(self, options):
        return self.module

    def cut(self, options):
        """The micro-batches of a step."""
        return [Batch(self.training.inputs, self.training.keywords, self.training.targets)]

    def placed(self, options, batch):
        """Samples lie in host memory as a user's do: on a GPU they are copied in each step; on the CPU there is no copy."""
        place = self.device if options.input == "device" else "cpu"
        moves = options.channels_last == "on" and options.module  # images of Tandem's models are made as they shall lie
        layout = channels_last if moves else lambda tensor: tensor
        is_pinned = self.kind == "cuda" and options.input == "host"

        def put(tensor):
            there = layout(tensor.detach().to(place))
            return there.pin_memory() if is_pinned else there
        return Batch(*trees.with_tensors(tuple(batch), put))

    def brought(self, tree):
        return trees.with_tensors(tree, lambda tensor: tensor.to(self.device, non_blocking=True))

    def on_device(self, batch):
        return batch if self.kind == "cpu" else Batch(*self.brought(tuple(batch)))

    def autocast(self):
        kind = self.AUTOCAST.get(self.precision)
        return torch.autocast(self.kind, dtype=kind) if kind else contextlib.nullcontext()

    def backward(self, batch, clock, share):
        """Forward, loss and backward of a micro-batch that is one of so many."""
        with self.autocast():
            inputs, keywords, targets = self.on_device(batch)
            outputs = self.wrapped(*inputs, **keywords)
            clock.mark("forward")
            self.loss = self.training.loss(outputs, targets)
        if share > 1:
            self.loss = self.loss / share
        clock.mark("loss")
        (self.scaler.scale(self.loss) if self.scaler else self.loss).backward()
        clock.mark(self.backward_phase)

    def step(self, clock):
        count = len(self.batches)
        for batch in self.batches[:-1]:
            with self.without_reduction():
                self.backward(batch, clock, count)
        self.backward(self.batches[-1], clock, count)
        if self.reads_loss:
            self.loss.item()
            clock.mark("loss")
        self.update()
        clock.mark("update")
        self.optimizer.zero_grad(set_to_none=True)
        clock.mark("zero_grad")

    def update(self):
        if self.scaler is None:
            self.optimizer.step()
            return
        self.scaler.step(self.optimizer)
        self.scaler.update()

    def without_reduction(self):
        return contextlib.nullcontext()

    def all_steps(self):
        """What every step runs within."""
        return contextlib.nullcontext()

    def synchronize(self):
        if self.kind == "cuda":
            torch.cuda.synchronize()


def settings_of(options):
    """The keywords of DistributedDataParallel that differ from torch's defaults, as its users write them."""
    settings = {"gradient_as_bucket_view": options.grads == "views", "static_graph": options.static_graph == "on",
                "find_unused_parameters": options.find_unused_parameters == "on"}
    settings = {name: True for name, is_on in settings.items() if is_on}
    if options.bucket_mb:
        settings["bucket_cap_mb"] = int(options.bucket_mb)
    if options.broadcast_buffers == "off":
        settings["broadcast_buffers"] = False
    return settings


def hook_of(options):
    """torch's own communication hook and its state; none where gradients are all-reduced as they are."""
    from torch.distributed.algorithms.ddp_comm_hooks import default_hooks

    if not options.powersgd:
        return None, getattr(default_hooks, f"{options.compress}_compress_hook", None)
    from torch.distributed.algorithms.ddp_comm_hooks import powerSGD_hook

    # The first two steps, in which buckets are made anew, are all-reduced as they are: 2 is the least that torch allows.
    state = powerSGD_hook.PowerSGDState(None, matrix_approximation_rank=int(options.powersgd), start_powerSGD_iter=2)
    wrapper = getattr(default_hooks, f"{options.compress}_compress_wrapper", lambda hook: hook)
    return state, wrapper(powerSGD_hook.powerSGD_hook)


def micro_batches(whole, options):
    count, samples = int(options.accumulate), trees.tensors_of(tuple(whole))[0].shape[0]
    if samples % count:
        raise UsageError(f"--accumulate={count}: a rank's share of {samples} samples has no so many equal micro-batches; use a divisor of it")
    return [whole] if count == 1 else [Batch(*piece) for piece in trees.pieces(tuple(whole), count)]


class DistributedDataParallel(Strategy):
    backward_phase = "backward_and_comm"

    def wrap(self, options):
        wrapper = nn.parallel.DistributedDataParallel
        ignored = self.training.left_out_of_broadcasts()
        if ignored:
            wrapper._set_params_and_buffers_to_ignore_for_model(self.module, ignored)
        wrapped = wrapper(self.module, device_ids=[self.device] if self.kind == "cuda" else None, **settings_of(options))
        state, hook = hook_of(options)
        if hook:
            wrapped.register_comm_hook(state, hook)
        self.joins = options.join == "on"
        return wrapped

    def cut(self, options):
        return micro_batches(super().cut(options)[0], options)

    def without_reduction(self):
        return self.wrapped.no_sync()

    def all_steps(self):
        if not self.joins:
            return super().all_steps()
        from torch.distributed.algorithms.join import Join

        return Join(self.joined())

    def joined(self):
        return [self.wrapped]


class InTurn(nn.DataParallel):
    """No thread per replica, so that none waits for the interpreter's lock or starts. The rest of the step is torch's."""

    def parallel_apply(self, replicas, inputs, kwargs):
        outputs = []
        for device, replica, theirs, named in zip(self.device_ids, replicas, inputs, kwargs):
            with torch.cuda.device(device):
                outputs.append(replica(*theirs, **named))
        return outputs


class DataParallel(Strategy):
    """On GPUs alone. The batch stays where the user has it: DataParallel's own scatter brings it to the devices."""

    def wrap(self, options):
        wrapper = InTurn if options.forwards == "in-turn" else nn.DataParallel
        return wrapper(self.module, device_ids=list(range(options.devices)))

    def on_device(self, batch):
        return batch._replace(targets=self.brought(batch.targets))


KINDS = {"single": Strategy, "independent": Strategy, "ddp": DistributedDataParallel, "dp": DataParallel}


def training(options, first, count):
    """The training of the cell's module on samples first .. first + count - 1 of a step's batch."""
    if options.module:
        from twin import own_module as source
    else:
        from twin import zoo as source
    return source.Training(options, first, count)


def of(options, training):
    """The cell's strategy, made for a training; all ranks have to make theirs together."""
    from twin import sharded  # which builds on the ones here

    return (KINDS | sharded.KINDS)[options.strategy](options, training)


def make(options, first, count):
    """The cell's strategy with a training of its own."""
    return of(options, training(options, first, count))
