# SPDX-License-Identifier: Apache-2.0
"""torch's own ways to train where a rank keeps a share of what a training holds.

`fsdp` is fully_shard (FSDP2): each block and the root, which has the rest, is cut over the ranks with its gradients and
what the optimizer keeps. Blocks are members of nn.ModuleList, nn.Sequential and nn.ModuleDict, the outermost first: those
of a class that two or more members have, which hold a weight of two or more dimensions and are no such container. So
they are the layers of transformers, the BasicBlocks of torchvision's resnet18 and the nn.Linear of a perceptron.
`zero1` is ZeroRedundancyOptimizer below DistributedDataParallel, which shares out what the optimizer keeps.
"""
import collections
import contextlib
import dataclasses
import inspect

import torch
from torch import distributed, nn

from tandem.errors import TandemError, trying
from twin import strategies

CONTAINERS = (nn.ModuleList, nn.Sequential, nn.ModuleDict)


class CannotShard(TandemError):
    """The cell is skipped with this reason."""


def may_be_block(module):
    return not isinstance(module, CONTAINERS) and any(weight.dim() > 1 for weight in module.parameters())


def blocks_of(root):
    """The module's blocks by their names."""
    members = {part: type(part) for whole in root.modules() if isinstance(whole, CONTAINERS)
               for part in whole.children() if may_be_block(part)}
    classes, blocks = collections.Counter(members.values()), {}

    def look_into(whole, prefix):
        for name, part in whole.named_children():
            if classes[members.get(part)] > 1:
                blocks.setdefault(part, prefix + name)
            else:
                look_into(part, f"{prefix}{name}.")
    look_into(root, "")
    return {name: block for block, name in blocks.items()}


def shards_text(blocks):
    """"12 GPT2Block, root"."""
    kinds = collections.Counter(type(block).__name__ for block in blocks.values())
    return ", ".join([*(f"{count} {kind}" for kind, count in kinds.items()), "root"])


def check_owners(root, blocks):
    """fully_shard would make two of a parameter that two blocks share."""
    shards = {part: name for name, block in blocks.items() for part in block.modules()}
    owners = {}
    for path, whole in root.named_modules():
        for name, parameter in whole.named_parameters(path, recurse=False):
            shard, first = owners.setdefault(parameter, (shards.get(whole), name))
            if shard != shards.get(whole):
                raise CannotShard(f"fully_shard cannot shard it: {first} and {name} are one parameter of different blocks; "
                                  "compare ddp and zero1, or give each block its own")


def words_of(name, shape):
    return f"{name} of {shape}" if name else "no further parameter"


def check_alike(module):
    """On all ranks: neither fully_shard nor a collective of it would say which rank has another module."""
    mine = [(name, tuple(parameter.shape)) for name, parameter in module.named_parameters()]
    found = [None] * distributed.get_world_size()
    distributed.all_gather_object(found, mine)
    for rank, theirs in enumerate(found):
        length = max(len(theirs), len(found[0])) + 1
        first, other = ([*some, *[("", ())] * (length - len(some))] for some in (found[0], theirs))
        for here, there in zip(first, other):
            if here != there:
                raise TandemError(f"the ranks' modules differ: rank 0 has {words_of(*here)}, rank {rank} has {words_of(*there)}; "
                                  "make the same module on every rank")


def remade(optimizer, make, places=None):
    """The optimizer with its groups and settings, by `make(groups, settings)`. `places` has what stands for a parameter."""
    accepted = inspect.signature(type(optimizer).__init__).parameters
    settings = {name: value for name, value in optimizer.defaults.items() if name in accepted}
    groups = [{**group, "params": [(places or {}).get(parameter, parameter) for parameter in group["params"]]}
              for group in optimizer.param_groups]
    with trying(f"making {type(optimizer).__name__} anew over shards", "return one whose constructor accepts its settings by name"):
        return make(groups, settings)


class FullyShard(strategies.Strategy):
    backward_phase = "backward_and_comm"

    def place(self, options):
        """Shards reach the device alone, as fully_shard brings them there: the whole module may not fit."""

    def wrap(self, options):
        from torch.distributed import device_mesh, fsdp

        check_alike(self.module)
        blocks = blocks_of(self.module)
        check_owners(self.module, blocks)
        self.resolved["sharded"] = shards_text(blocks)
        settings = {"mesh": device_mesh.init_device_mesh(self.kind, (distributed.get_world_size(),))}
        if options.reshard != "blocks":
            settings["reshard_after_forward"] = options.reshard == "on"
        self.has_policy = self.precision in self.AUTOCAST and options.mixed == "policy"
        if self.has_policy:
            settings["mp_policy"] = fsdp.MixedPrecisionPolicy(param_dtype=self.AUTOCAST[self.precision], reduce_dtype=torch.float32)
        whole = dict(self.module.named_parameters())
        for part in blocks.values():
            fsdp.fully_shard(part, **settings)
        if self.has_policy:  # the loss is computed in fp32, as under autocast
            settings["mp_policy"] = dataclasses.replace(settings["mp_policy"], output_dtype=torch.float32)
        fsdp.fully_shard(self.module, **settings)
        if options.reshard == "on":
            self.hook = self.module.register_forward_hook(self.check_resharded)
        self.training.move_to(self.device)  # what is no parameter
        shards = {parameter: self.module.get_parameter(name) for name, parameter in whole.items()}
        self.optimizer = remade(self.optimizer, lambda groups, more: type(self.optimizer)(groups, **more), shards)
        return self.module

    def check_resharded(self, module, inputs, output):
        """In the first forward. Some versions keep the root whole whatever they are asked."""
        self.hook.remove()
        if not all(hasattr(parameter, "_local_tensor") for parameter in module.parameters()):
            raise CannotShard(f"fully_shard of torch {torch.__version__} does not reshard the root: reshard=on would be reshard=blocks; "
                              "leave it out, or use another torch")

    def cut(self, options):
        return strategies.micro_batches(super().cut(options)[0], options)

    def autocast(self):
        return contextlib.nullcontext() if self.has_policy else super().autocast()

    @contextlib.contextmanager
    def without_reduction(self):
        self.module.set_requires_gradient_sync(False)
        yield
        self.module.set_requires_gradient_sync(True)


class ZeroRedundancy(strategies.DistributedDataParallel):
    def wrap(self, options):
        from torch.distributed.optim import ZeroRedundancyOptimizer

        kind = type(self.optimizer)
        wrapped = super().wrap(options)
        self.optimizer = remade(self.optimizer, lambda groups, more: ZeroRedundancyOptimizer(groups, optimizer_class=kind, **more))
        return wrapped

    def joined(self):
        return [self.wrapped, self.optimizer]


KINDS = {"fsdp": FullyShard, "zero1": ZeroRedundancy}
