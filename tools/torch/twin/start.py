# SPDX-License-Identifier: Apache-2.0
"""What a training starts from, as step_bench has it: the first weights by the models' rules, and the batch.

The rules are those of common/model's initialise(); roots and quotients are rounded to fp32 as there.
"""
import math
import struct

import torch

import models
from twin import generator

LINE = 16  # floats in a cache line, at whose start each parameter lies
INPUTS, TARGETS = 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F  # keep the sequences apart: common/data
DEVIATION = 0.02  # of GPT-2


def fp32(value):
    """Rounded to the nearest fp32 number. Of a root, product or quotient of fp32 numbers that double holds to 53 bits, so
    that rounding twice is rounding once."""
    return struct.unpack("f", struct.pack("f", value))[0]


def root(value):
    return fp32(math.sqrt(fp32(value)))


def mlp_scale(name, tensor, module):
    return fp32(1 / root(module.get_submodule(name.rpartition(".")[0]).in_features))


def gpt2_scale(name, tensor, module):
    """None: zeros, or ones of a norm."""
    if tensor.dim() != 2:
        return None
    deviation = fp32(DEVIATION)
    if name.endswith("c_proj.weight"):
        deviation = fp32(deviation / root(2 * len(module.transformer["h"])))
    return fp32(deviation * root(3))


def resnet_scale(name, tensor, module):
    if name.startswith("fc."):
        return root(fp32(6 / (6 * module.fc.in_features)))
    if tensor.dim() != 4:
        return None
    return root(fp32(6 / (tensor.shape[0] * tensor.shape[2] * tensor.shape[3])))


def scale_rule(model):
    if model.startswith("gpt2-"):
        return gpt2_scale
    return resnet_scale if model.startswith("resnet") else mlp_scale


def initialise(model, module, seed, layout):
    """Sets all parameters, which lie one behind the other in one sequence as in step_bench's arena. Numbers follow each other as they
    lie in memory, so that a model of images has other ones in each layout."""
    scale_of, place = scale_rule(model), 0
    with torch.no_grad():
        for name, tensor in module.named_parameters():
            scale = scale_of(name, tensor, module)
            ours = models.channels_last(tensor) if layout == "channels-last" else tensor
            if scale is None:
                ours.fill_(0.0 if name.endswith("bias") else 1.0)
            else:
                ours.copy_(generator.uniform(seed, place, tensor.numel(), scale).view(ours.shape))
            place += (tensor.numel() + LINE - 1) // LINE * LINE


def draw(values, seed, first, count):
    """Samples first .. first + count - 1: each depends on the seed and its number alone."""
    width = math.prod(values.shape)
    if values.classes:
        drawn = generator.classes(seed, first * width, count * width, values.classes)
    else:
        drawn = generator.uniform(seed, first * width, count * width)
    return drawn.view(count, *values.shape)


def batch(workload, seed, first, count):
    """Inputs and targets of these samples, on the CPU."""
    return draw(workload.input, seed ^ INPUTS, first, count), draw(workload.target, seed ^ TARGETS, first, count)
