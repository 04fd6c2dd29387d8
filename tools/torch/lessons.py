#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Traps of torch.nn.DataParallel and DistributedDataParallel, each as a lesson that is run: `tandem lessons --with-torch`
starts this file on pretended GPUs.

  lessons.py [--list] [NAME...]

A lesson says what people expect and what is true, and a few calls of torch show it by shapes, types, counts and errors, since
floats are not computed there. Exit status: 0 where all is true of this torch, 1 where something is not any longer, or could not
be run, 2 for a name that there is not.
"""
import collections
import contextlib
import os
import sys
import traceback
import warnings

import torch
import torch.distributed as dist
from torch import nn

DEVICES = 2

Lesson = collections.namedtuple("Lesson", "name expected true find")
LESSONS = []


def lesson(name, expected, true):
    """Adds a function that returns whether `true` is true, and lines of evidence."""
    def add(find):
        LESSONS.append(Lesson(name, expected, true, find))
        return find
    return add


class Model(nn.Module):
    """Its forward is a function of the module and of what the module is called with."""

    def __init__(self, function=None, **attributes):
        super().__init__()
        self.layer, self.function = nn.Linear(8, 4), function or (lambda module, x: module.layer(x))
        for name, value in attributes.items():
            setattr(self, name, value)

    def forward(self, *args, **kwargs):
        return self.function(self, *args, **kwargs)


def samples(count):
    return torch.ones(count, 8, device="cuda")


def parallel(function=None, **attributes):
    return nn.DataParallel(Model(function, **attributes).cuda(), list(range(DEVICES)))


def seen_by_replicas(look, *args, **attributes):
    """What look(replica, ...) returns in each replica, in the order of devices."""
    found = {}

    def function(module, *own):
        weight = module.layer.weight
        found[weight.device.index] = look(module, *own)
        return weight.sum()
    parallel(function, **attributes)(*args)
    return [found[device] for device in sorted(found)]


def error_of(call):
    """Type and first line of what the call raises, "" where it succeeds. A replica's error ends with the original one."""
    try:
        call()
    except Exception as error:
        name, lines = type(error).__name__, str(error).strip().splitlines()
        return lines[-1] if lines[-1].startswith(name) else f"{name}: {lines[0]}"
    return ""


def sizes(tensors):
    return [tensor.shape[0] for tensor in tensors]


@lesson("autocast-type", "torch.autocast(dtype=torch.bfloat16) around DataParallel holds in its replicas.",
        "Replicas compute in float16: their threads learn that autocast is on, not its type. Enter autocast in forward.")
def autocast_type():
    with torch.autocast("cuda", dtype=torch.bfloat16):
        one = Model().cuda()(samples(4)).dtype
        replicas = seen_by_replicas(lambda module, x: module.layer(x).dtype, samples(4))
    inside = parallel(lambda module, x: torch.autocast("cuda", dtype=torch.bfloat16)(module.layer)(x))(samples(4)).dtype
    return ((one, replicas, inside) == (torch.bfloat16, [torch.float16] * DEVICES, torch.bfloat16),
            f"one device: {one}; replicas: {replicas}; autocast in forward: {inside}")


@lesson("first-parameter", "next(self.parameters()) in forward gives the module's type and device.",
        "A replica has no parameters, its weights are plain tensors: StopIteration. Ask a weight that you name.")
def first_parameter():
    error = error_of(lambda: parallel(lambda module, x: module.layer(x.to(next(module.parameters()).dtype)))(samples(4)))
    counts = seen_by_replicas(lambda module, x: len(list(module.parameters())), samples(4))
    return "StopIteration" in error and counts == [0] * DEVICES, f"parameters in replicas: {counts}; {error}"


@lesson("parameter-list", "An nn.ParameterList is empty in replicas.",
        "Its items are there, as plain tensors; its parameters() are empty.")
def parameter_list():
    own = nn.ParameterList([torch.ones(3), torch.ones(2)])
    items, counts = zip(*seen_by_replicas(lambda module, x: (sizes(module.own), len(list(module.own.parameters()))), samples(4), own=own))
    return (items, counts) == (([3, 2],) * DEVICES, (0,) * DEVICES), f"sizes of the items: {items}; parameters(): {counts}"


@lesson("loss-vector", "A loss that forward returns arrives as one number.",
        "It is a vector, a number for each replica, and backward() of it fails. Take its mean, or weight it (means-of-pieces).")
def loss_vector():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        loss = parallel(lambda module, x: module.layer(x).mean())(samples(4))
    error = error_of(loss.backward)
    return (loss.shape == (DEVICES,) and "scalar" in error, f"shape {tuple(loss.shape)}; backward(): {error}",
            *(f"torch warns: {warning.message}" for warning in caught))


@lesson("means-of-pieces", "The mean of the replicas' mean losses is the mean loss of the batch.",
        "Only where all pieces are of one size: else samples of a small piece weigh more. Weight each loss by its piece.")
def means_of_pieces():
    pieces = seen_by_replicas(lambda module, x: x.shape[0], samples(5))
    losses = torch.tensor([1.0, 2.0, 3.0, 4.0, 10.0])
    means = torch.stack([piece.mean() for piece in losses.split(pieces)])
    return (pieces == [3, 2] and means.mean() != losses.mean() and torch.isclose((means * torch.tensor(pieces)).sum() / 5, losses.mean()),
            f"5 samples on 2 devices: {pieces}; losses {losses.tolist()}: mean {losses.mean():g}, mean of means {means.mean():g}")


@lesson("state-in-forward", "A count that forward keeps, self.count += 1, counts its calls.",
        "It stays as it was, since replicas are thrown away. A list that forward appends to is shared by all replicas.")
def state_in_forward():
    def function(module, x):
        module.count += 1
        module.seen.append(x.shape[0])
        return module.layer(x)
    data_parallel = parallel(function, count=0, seen=[])
    for _ in range(3):
        data_parallel(samples(4))
    model = data_parallel.module
    return (model.count, len(model.seen)) == (0, 3 * DEVICES), f"after 3 calls: count {model.count}, entries in the list {len(model.seen)}"


@lesson("first-statistics", "BatchNorm's running statistics are those of the whole batch.",
        "They are those of the first replica's piece: its buffers alone are the module's own.")
def first_statistics():
    norm = nn.BatchNorm1d(8)
    buffers = seen_by_replicas(lambda module, x: (x.shape[0], module.norm.running_mean.data_ptr()), samples(5), norm=norm)
    own = [pointer == norm.running_mean.data_ptr() for _, pointer in buffers]
    return own == [True, False], f"pieces of {[size for size, _ in buffers]} samples; writes to the module's buffer: {own}"


@lesson("lists-of-numbers", "A list with a number for each sample is split with the batch.",
        "Tensors alone are split. Numbers, texts and objects of your own go whole to each replica. Pass lengths as a tensor.")
def lists_of_numbers():
    lengths = [5, 4, 3, 2]
    found = seen_by_replicas(lambda module, x, numbers: (x.shape[0], len(numbers)), samples(4), lengths)
    return found == [(2, 4)] * DEVICES, f"(samples, numbers) in each replica: {found}"


@lesson("lists-of-tensors", "A list of tensors, one for each sample, is split between replicas.",
        "Each tensor is split along its own first dimension, and each replica gets a list as long. Stack them, or pad.")
def lists_of_tensors():
    images = [torch.ones(3, 8, 8, device="cuda") for _ in range(4)]
    found = seen_by_replicas(lambda module, images: (len(images), tuple(images[0].shape)), images)
    return found == [(4, (2, 8, 8)), (4, (1, 8, 8))], f"4 images of shape (3, 8, 8); (length, shape of the first) in each replica: {found}"


@lesson("numbers-returned", "forward may return a number, or an object of your own, beside its output.",
        "Tensors, None and tuples, lists and dicts of them are gathered; else a TypeError. Return torch.tensor(...).")
def numbers_returned():
    error = error_of(lambda: parallel(lambda module, x: (module.layer(x), x.shape[0]))(samples(4)))
    return error.startswith("TypeError"), f"(output, number): {error}"


@lesson("plain-tensors", "A tensor that is an attribute of the module moves to each replica's device.",
        "It stays where it is: parameters and buffers alone are copied. Use register_buffer().")
def plain_tensors():
    def function(module, x):
        return x * module.scale
    error = error_of(lambda: parallel(function, scale=torch.ones(8, device="cuda:0"))(samples(4)))
    return "device" in error, f"x * self.scale: {error}"


@lesson("padded-by-piece", "Each replica may cut its piece to the longest sequence in it.",
        "Outputs of different lengths are not gathered. Pad to the whole batch (pad_packed_sequence: total_length).")
def padded_by_piece():
    error = error_of(lambda: parallel(lambda module, x: x[:, :5 + x.device.index])(samples(4)))
    return "invalid shape" in error, error


@lesson("short-batch", "A batch smaller than the number of devices works like any other.",
        "Not beside a keyword that is no tensor: replicas without a sample are called with the keyword alone, and fail.")
def short_batch():
    def function(module, x, scale=1):
        return module.layer(x) * scale
    error, without = (error_of(lambda: parallel(function)(samples(1), **more)) for more in ({"scale": 2}, {}))
    return "missing 1 required positional argument: 'x'" in error and not without, f"a batch of 1, scale=2: {error}"


@lesson("wrapped-names", "A wrapped module saves the names of the module.",
        "They begin with \"module.\", and the bare module refuses them. Save wrapper.module.state_dict(); DDP is the same.")
def wrapped_names():
    saved = parallel().state_dict()
    error = error_of(lambda: Model().load_state_dict(saved))
    return all(name.startswith("module.") for name in saved) and error.startswith("RuntimeError"), f"names: {', '.join(saved)}; {error}"


@contextlib.contextmanager
def one_rank():
    """A process group of this process alone."""
    dist.init_process_group("nccl", store=dist.HashStore(), rank=0, world_size=1)
    try:
        yield
    finally:
        dist.destroy_process_group()


@lesson("unused-parameter", "DDP: a parameter that a step does not use costs nothing.",
        "DDP waits for its gradient: the next forward raises. Remove it, or set find_unused_parameters=True.")
def unused_parameter():
    steps = 0
    with one_rank():
        ddp = nn.parallel.DistributedDataParallel(Model(unused=nn.Linear(8, 4)).cuda(), device_ids=[0])
        ddp(samples(4)).sum().backward()
        error = error_of(lambda: ddp(samples(4)))
        ddp = nn.parallel.DistributedDataParallel(Model(unused=nn.Linear(8, 4)).cuda(), device_ids=[0], find_unused_parameters=True)
        for steps in (1, 2):
            ddp(samples(4)).sum().backward()
    return (error.startswith("RuntimeError") and steps == 2, f"second step: {error.partition('. ')[0]}",
            f"find_unused_parameters=True: {steps} steps")


@lesson("no-sync-around-backward", "DDP: no_sync() around backward() keeps gradients from being reduced.",
        "The forward decides: no_sync() has to be around the forward, too.")
def no_sync_around_backward():
    reduced = []

    def hook(_, bucket):
        reduced.append(bucket.index())
        done = torch.futures.Future(devices=[bucket.buffer().device])
        done.set_result(bucket.buffer())
        return done
    with one_rank():
        ddp = nn.parallel.DistributedDataParallel(Model().cuda(), device_ids=[0])
        ddp.register_comm_hook(None, hook)
        loss = ddp(samples(4)).sum()
        with ddp.no_sync():
            loss.backward()
        around_backward = len(reduced)
        with ddp.no_sync():
            ddp(samples(4)).sum().backward()
        around_both = len(reduced) - around_backward
    return (around_backward, around_both) == (1, 0), f"buckets reduced: around backward {around_backward}, around both {around_both}"


@lesson("sampler-repeats", "DDP: DistributedSampler gives each sample to one rank.",
        "It repeats samples until all ranks have as many: metrics count them twice. drop_last=True leaves samples out.")
def sampler_repeats():
    ranks = [list(torch.utils.data.DistributedSampler(range(5), num_replicas=2, rank=rank, shuffle=False)) for rank in range(2)]
    return sum(map(len, ranks)) == 6 and set(ranks[0]) & set(ranks[1]) == {0}, f"5 samples on 2 ranks: {ranks}"


@lesson("sampler-order", "DDP: DistributedSampler shuffles anew in each epoch.",
        "Every epoch has the order of the first, until set_epoch(epoch) is called.")
def sampler_order():
    sampler = torch.utils.data.DistributedSampler(range(64), num_replicas=2, rank=0)
    first, second = list(sampler), list(sampler)
    sampler.set_epoch(1)
    third = list(sampler)
    return first == second != third, f"two epochs: {first[:4]}..., {second[:4]}...; after set_epoch(1): {third[:4]}..."


def run(chosen):
    """Prints each lesson with what was found; the exit status."""
    torch_name = f"PyTorch {torch.__version__}"
    print(f"{torch_name}, {torch.cuda.device_count()} GPUs\n")
    held = 0
    for number, each in enumerate(chosen, 1):
        try:
            holds, *evidence = each.find()
            verdict = "holds" if holds else "no longer holds"
            held += holds
        except Exception:
            verdict, evidence = "could not be run", traceback.format_exc().strip().splitlines()
        print(f"{number}. {each.name}\n   expected  {each.expected}\n   true      {each.true}\n   verdict   {verdict}\n   evidence  "
              + "\n             ".join(evidence) + "\n", flush=True)
    print(f"{len(chosen)} lesson{'s' * (len(chosen) != 1)}: {held} hold in {torch_name}, {len(chosen) - held} do not")
    return int(held < len(chosen))


def main(words):
    known = [each.name for each in LESSONS]
    names = [word for word in words if word != "--list"]
    for name in names:
        if name not in known:
            print(f"lessons: {name!r} is no lesson of PyTorch's; known are {', '.join(known)}", file=sys.stderr)
            return 2
    chosen = [each for each in LESSONS if not names or each.name in names]
    if "--list" in words:
        for each in chosen:
            print(f"{each.name:<26} {each.expected}")
        return 0
    warnings.simplefilter("ignore")
    return run(chosen)


if __name__ == "__main__":
    status = main(sys.argv[1:])
    sys.stdout.flush()
    os._exit(status)  # Python's end can meet autograd's threads and abort (docs/pretend.md)
