#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what PyTorch makes of the small models, for tests that hold Tandem's models against it.

    make_golden.py --out=FOLDER | --check=FOLDER  [--model=NAME]...

Of each model: weights, a batch, and in fp32 on one core of the CPU its output, loss and gradients, and the weights and
buffers after steps of each optimizer on that batch, each from the first weights. tests/golden/README.md has the format.
--check makes all this again and compares it with the files of a folder, whichever torch made those: they agree where
each tensor is within 1e-5 of itself.

What is written is computed in double precision too. A tensor that rounding alone takes further than a fifth of 1e-5 would
fail implementations that do nothing wrong, so no file is written with one in it. Needs torch.
Exit status: 0 written, or the same; 1 not; 2 wrong usage.
"""
import argparse
import math
import pathlib
import random
import sys

import golden_file

TOLERANCE = 1e-5
STEPS = 3
OPTIMIZERS = {
    "sgd": ("SGD", {"lr": 0.01, "momentum": 0.9}),
    "adam": ("Adam", {"lr": 1e-3, "betas": [0.9, 0.999], "eps": 1e-8}),
    "adamw": ("AdamW", {"lr": 1e-3, "betas": [0.9, 0.999], "eps": 1e-8, "weight_decay": 1e-2}),
}
# Samples by model. 24 tokens: fewer than the position table has rows.
BATCHES = {"mlp:3x16": 8, "gpt2-nano:24": 2, "resnet-tiny": 16}
# The seed of a ResNet is one where ReLU cuts off part of every channel of the stem: the norms behind it take away what a
# bias adds to a whole channel, which leaves that bias no gradient but for rounding.
SEEDS = {"mlp:3x16": 1, "gpt2-nano:24": 1, "resnet-tiny": 171}
SMALL = 1000  # elements: of a larger tensor, after steps, only each fifth is kept
STRIDE = 5  # no multiple of any width's factor, so that each row and column is met


class Failure(Exception):
    pass


class Numbers:
    """Random numbers that each version of Python draws alike: only random() itself is promised to stay."""

    def __init__(self, seed):
        self.source = random.Random(seed)

    def whole(self, count, below):
        return [int(self.source.random() * below) for _ in range(count)]

    def signed(self, count, bound):
        """In [-bound, bound], on a grid: of few bits, so exact in every type."""
        return [(number - 128) / 128 * bound for number in self.whole(count, 257)]

    def of(self, values, batch):
        count = batch * math.prod(values.shape)
        return self.whole(count, values.classes) if values.classes else self.signed(count, 1.0)


def first_weights(numbers, workload):
    """By name. Every element has something to say: gains are not 1, biases not 0."""
    weights = {}
    for name, tensor in workload.module.named_parameters():
        count = tensor.numel()
        if tensor.dim() == 1:
            is_gain = name.endswith(".weight")
            weights[name] = [value + is_gain for value in numbers.signed(count, 0.5 if is_gain else 0.25)]
        elif ".wte." in name or ".wpe." in name:
            weights[name] = numbers.signed(count, 0.5)
        else:
            weights[name] = numbers.signed(count, 2.0 ** -((tensor[0].numel().bit_length() - 1) // 2))
    return weights


def without_gradient(name, tensor):
    """The elements, [first, count], whose gradient is zero but for rounding, of which Adam makes whole steps: the biases
    of keys add the same to all scores of a query, and softmax takes no notice."""
    third = tensor.numel() // 3
    return [third, third] if name.endswith("attn.c_attn.bias") else None


class Run:
    """The model on the golden weights and batch, in one precision."""

    def __init__(self, torch, models, model, dtype):
        self.torch, self.dtype = torch, dtype
        self.ours = models.channels_last
        self.workload = models.build(model)
        self.batch = BATCHES[model]
        numbers = Numbers(SEEDS[model])
        self.weights = first_weights(numbers, self.workload)
        self.input = numbers.of(self.workload.input, self.batch)
        self.target = numbers.of(self.workload.target, self.batch)
        self.module = self.workload.module.to(dtype)

    def load(self):
        with self.torch.no_grad():
            for name, tensor in self.module.named_parameters():
                ours = self.ours(tensor)
                ours.copy_(self.torch.tensor(self.weights[name], dtype=self.dtype).view(ours.shape))
        for module in self.module.modules():
            if hasattr(module, "reset_running_stats"):
                module.reset_running_stats()

    def tensor(self, elements, values):
        dtype = self.torch.long if values.classes else self.dtype
        return self.torch.tensor(elements, dtype=dtype).view(self.batch, *values.shape)

    def forward_backward(self):
        self.module.zero_grad(set_to_none=True)
        output = self.module(self.tensor(self.input, self.workload.input))
        target = self.tensor(self.target, self.workload.target)
        loss = self.workload.loss(output, target)
        loss.backward()
        return output, loss

    def tensors(self):
        """All that a file holds, as golden_file has it."""
        self.load()
        yield from (self.entry(f"weight/{name}", tensor) for name, tensor in self.module.named_parameters())
        yield golden_file.tensor_of("input", [self.batch, *self.workload.input.shape], self.input)
        yield golden_file.tensor_of("target", [self.batch, *self.workload.target.shape], self.target)
        output, loss = self.forward_backward()
        yield self.entry("output", output)
        yield self.entry("loss", loss.view(1))
        yield from (self.entry(f"gradient/{name}", tensor.grad) for name, tensor in self.module.named_parameters())
        for optimizer in OPTIMIZERS:
            yield from self.tensors_after_steps(optimizer)

    def tensors_after_steps(self, optimizer):
        self.load()
        kind, options = OPTIMIZERS[optimizer]
        stepper = getattr(self.torch.optim, kind)(self.module.parameters(), **options)
        for _ in range(STEPS):
            self.forward_backward()
            stepper.step()
        for name, tensor in self.module.named_parameters():
            yield self.entry(f"{optimizer}/{name}", tensor, STRIDE if tensor.numel() > SMALL else 1,
                             without_gradient(name, tensor))
        saved = self.module.state_dict()  # without buffers that are constants of torch's code
        for name, tensor in self.module.named_buffers():
            if name not in saved:
                continue
            yield self.entry(f"{optimizer}/{name}", tensor if tensor.dim() else tensor.view(1))

    def entry(self, name, tensor, stride=1, left_out=None):
        tensor = self.ours(tensor)
        return golden_file.tensor_of(name, tensor.shape, tensor.detach().flatten().tolist(), stride, left_out)


def flat(options):
    """Plain numbers by name: of a pair of betas, beta1 and beta2."""
    betas = {f"beta{number}": value for number, value in enumerate(options.get("betas", []), 1)}
    return betas | {name: value for name, value in options.items() if name != "betas"}


def header_of(torch, model):
    return {"model": model, "torch": torch.__version__, "batch": BATCHES[model], "steps": STEPS,
            "optimizers": {name: flat(options) for name, (_, options) in OPTIMIZERS.items()}}


def differences(reference, other, bound):
    """A line for each tensor that is further away than the bound."""
    for name in sorted(set(reference) | set(other)):
        if name not in reference or name not in other:
            yield f"{name} is on one side only"
        elif not golden_file.distance(reference[name], other[name]) <= bound:
            yield f"{name} is {golden_file.distance(reference[name], other[name]):.2g} off"


def compute(torch, models, model, dtype):
    return {tensor.name: tensor for tensor in Run(torch, models, model, dtype).tensors()}


def refuse_rounding(model, single, double):
    too_far = list(differences(double, single, TOLERANCE / 5))
    if too_far:
        raise Failure(f"{model}: rounding alone is too much: {'; '.join(too_far)}")


def check(folder, model, found):
    header, expected = golden_file.read(folder, file_name(model))
    wrong = list(differences(expected, found, TOLERANCE))
    if wrong:
        raise Failure(f"{model}, in the file by torch {header['torch']}: {'; '.join(wrong)}")
    print(f"{model}: {len(found)} tensors as torch {header['torch']} made them")


def file_name(model):
    return model.replace(":", "-")


def run(options):
    import torch  # here, so that --help needs none

    sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tools" / "torch"))
    import models

    torch.set_num_threads(1)
    for model in options.model or BATCHES:
        found = compute(torch, models, model, torch.float32)
        if options.check:
            check(options.check, model, found)
        else:
            refuse_rounding(model, found, compute(torch, models, model, torch.float64))
            golden_file.write(options.out, file_name(model), header_of(torch, model), list(found.values()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--out", help="a folder to write to")
    where.add_argument("--check", help="a folder with files to compare with")
    parser.add_argument("--model", action="append", choices=sorted(BATCHES), help="default: all")
    try:
        run(parser.parse_args())
    except (Failure, OSError, ValueError, KeyError) as failure:
        print(f"make_golden: {failure}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
