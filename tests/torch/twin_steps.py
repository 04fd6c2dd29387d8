# SPDX-License-Identifier: Apache-2.0
"""Holds torch's steps against those of write_steps: each begins with the weights that ours began with.

    twin_steps.py TOOLS FILE STRATEGY MODEL BATCH DEVICES OPTIMIZER [first]

A rank of torch, or all of them under mpirun; rank 0 prints "worst DISTANCE WHAT" over loss, gradients and updated weights,
and ends with 1 where that is above the tolerance. "first" compares the first weights instead, bit for bit.
"""
import array
import os
import sys
import types

TOLERANCE = 1e-4
TOOLS, FILE, STRATEGY, MODEL, BATCH, DEVICES, OPTIMIZER = sys.argv[1:8]
sys.path[:0] = [os.path.join(TOOLS, "torch"), os.path.join(TOOLS, "python")]

import torch  # noqa: E402

import models  # noqa: E402
from twin import options as cell_options, place as places, ranks as joined, strategies  # noqa: E402


def ours(path):
    """(steps, the tensors in the file's order) by name and count."""
    with open(path, "rb") as file:
        words = file.readline().decode().split()
        values = array.array("f", file.read())
    steps, names = int(words[1]), list(zip(words[2::2], map(int, words[3::2])))
    whole, place = torch.tensor(values), 0

    def take(count):
        nonlocal place
        place += count
        return whole[place - count:place]

    found = []
    for _ in range(steps):
        weights = {name: take(count) for name, count in names}
        found.append((weights, take(1), {name: take(count) for name, count in names}))
    after = {name: take(count) for name, count in names}
    assert place == len(whole), (place, len(whole))
    return found, after


def distance(expected, found):
    size = expected.double().norm()
    apart = (expected.double() - found.double()).norm()
    return float(apart / size if size else apart)


def flat(tensor):
    return models.channels_last(tensor).detach().flatten()


# The biases of keys add the same to all scores of a query, of which softmax takes no notice: no gradient but rounding.
def without_noise(name, tensor):
    if not name.endswith("attn.c_attn.bias"):
        return tensor
    third = tensor.numel() // 3
    return torch.cat([tensor[:third], tensor[2 * third:]])


def compare(kind, module, expected, value, worst):
    for name, parameter in module.named_parameters():
        apart = distance(without_noise(name, expected[name]), without_noise(name, flat(value(parameter))))
        worst[0] = max(worst[0], (apart, f"{kind} of {name}"))


def take_steps(strategy, steps, after):
    worst = [(0.0, "nothing")]
    for number, (weights, loss, gradients) in enumerate(steps):
        with torch.no_grad():
            for name, parameter in strategy.module.named_parameters():
                view = models.channels_last(parameter)
                view.copy_(weights[name].view(view.shape))
        inputs, keywords, targets = strategy.batches[0]
        outputs = strategy.wrapped(*inputs, **keywords)
        found = strategy.training.loss(outputs, targets)
        strategy.optimizer.zero_grad(set_to_none=True)
        found.backward()
        worst[0] = max(worst[0], (distance(loss, found.detach().view(1)), f"loss of step {number}"))
        compare(f"step {number}'s gradient", strategy.module, gradients, lambda parameter: parameter.grad, worst)
        strategy.optimizer.step()
        updated = steps[number + 1][0] if number + 1 < len(steps) else after
        compare(f"step {number}'s update", strategy.module, updated, lambda parameter: parameter, worst)
    return worst[0]


def main():
    rank, size = places.started_ranks()
    torch.set_num_threads(1)
    place = places.Place(rank, size, [], -1)
    ranks = joined.JoinedRanks(place, "gloo") if STRATEGY == "ddp" else joined.Ranks()
    usual = {cell_options.attribute(option): cell_options.usual(option) for option in cell_options.LIST}
    options = types.SimpleNamespace(**usual | {"model": MODEL, "module": "", "strategy": STRATEGY, "batch": int(BATCH),
                                               "devices": int(DEVICES), "device": "cpu", "backend": "host", "seed": 1,
                                               "optimizer": OPTIMIZER})
    share = options.batch // ranks.size
    strategy = strategies.make(options, ranks.rank * share, share)
    steps, after = ours(FILE)
    if sys.argv[8:] == ["first"]:
        wrong = [name for name, parameter in strategy.module.named_parameters()
                 if not torch.equal(flat(parameter), steps[0][0][name])]
        print("first weights differ: " + ", ".join(wrong) if wrong else f"{len(steps[0][0])} tensors alike")
        return bool(wrong)
    apart, what = take_steps(strategy, steps, after)
    ranks.barrier()
    if ranks.rank == 0:
        print(f"worst {apart:.2g} {what}")
    ranks.leave()
    return ranks.rank == 0 and not apart <= TOLERANCE


if __name__ == "__main__":
    status = int(main())
    sys.stdout.flush()
    os._exit(status)  # as step_twin does
