# SPDX-License-Identifier: Apache-2.0
"""The models of step_bench as torch modules, by the same names, with the same parameters. Needs torch 1.13 or newer.

What is here is what a user would write today: plain modules, and torch's fused attention where it has one.
"""
import collections
import typing

import torch
from torch import nn
from torch.nn import functional

MLP_WIDTHS = {
    "mlp-tiny": [128, 256, 256, 10],
    "mlp-small": [512, 1024, 1024, 10],
    "mlp-base": [1000, 3000, 3000, 3000, 1000],
    "mlp-large": [10000, 5000, 5000, 5000, 10000],
    **{f"mlp-{parameters}": [width] * 5 for parameters, width in {
        "0.1m": 160, "0.3m": 272, "1m": 496, "3m": 864, "10m": 1584, "30m": 2736, "100m": 4992, "300m": 8656,
        "1b": 15808}.items()},
}


class Gpt2Size(typing.NamedTuple):
    layers: int
    heads: int
    width: int
    vocabulary: int = 50257
    places: int = 1024  # rows of the position table; tokens of a sample, where the name does not say


GPT2_SIZES = {
    "gpt2-nano": Gpt2Size(2, 2, 64, vocabulary=512, places=32),
    "gpt2-124m": Gpt2Size(12, 12, 768),
    "gpt2-355m": Gpt2Size(24, 16, 1024),
    "gpt2-774m": Gpt2Size(36, 20, 1280),
    "gpt2-1558m": Gpt2Size(48, 25, 1600),
}


class ResNetSize(typing.NamedTuple):
    image: int  # height and width
    classes: int
    stem: int  # channels
    stages: list  # of (blocks, width)


RESNET_SIZES = {
    "resnet-tiny": ResNetSize(16, 10, 8, [(2, 4), (1, 8)]),
    "resnet50": ResNetSize(224, 1000, 64, [(3, 64), (4, 128), (6, 256), (3, 512)]),
}


class Values(typing.NamedTuple):
    """What a sample's input or target is: numbers, or where there are classes, whole numbers below them."""
    shape: tuple
    classes: int = 0


class Workload(typing.NamedTuple):
    module: nn.Module
    input: Values
    target: Values

    def loss(self, output, target):
        """Mean squared error of numbers, cross-entropy of classes: the mean, as torch has both by default."""
        if self.target.classes:
            return functional.cross_entropy(output.flatten(0, -2), target.flatten())
        return functional.mse_loss(output, target)


def mlp(widths):
    layers = collections.OrderedDict()
    for number, (fan_in, fan_out) in enumerate(zip(widths, widths[1:])):
        if number > 0:
            layers[f"relu{number - 1}"] = nn.ReLU()
        layers[f"layer{number}"] = nn.Linear(fan_in, fan_out)
    return Workload(nn.Sequential(layers), Values((widths[0],)), Values((widths[-1],)))


class Attention(nn.Module):
    """Causal self-attention; the rows of c_attn's weight are those of queries, keys and values, each by head."""

    def __init__(self, size, positions):
        super().__init__()
        self.heads = size.heads
        self.c_attn = nn.Linear(size.width, 3 * size.width)
        self.c_proj = nn.Linear(size.width, size.width)
        self.is_fused = hasattr(functional, "scaled_dot_product_attention")  # since torch 2.0
        if not self.is_fused:
            later = torch.ones(positions, positions, dtype=torch.bool).triu(1)
            self.register_buffer("later", later, persistent=False)

    def forward(self, x):
        batch, positions, width = x.shape
        head_width = width // self.heads
        qkv = self.c_attn(x).view(batch, positions, 3, self.heads, head_width)
        query, key, value = qkv.transpose(1, 3).unbind(2)  # each (batch, heads, positions, head_width)
        if self.is_fused:
            y = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        else:
            scores = query @ key.transpose(-2, -1) * head_width**-0.5
            y = scores.masked_fill(self.later, -torch.inf).softmax(dim=-1) @ value
        return self.c_proj(y.transpose(1, 2).reshape(batch, positions, width))


class FeedForward(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.c_fc = nn.Linear(size.width, 4 * size.width)
        self.c_proj = nn.Linear(4 * size.width, size.width)

    def forward(self, x):
        return self.c_proj(functional.gelu(self.c_fc(x), approximate="tanh"))


class Block(nn.Module):
    def __init__(self, size, positions):
        super().__init__()
        self.ln_1 = nn.LayerNorm(size.width)
        self.attn = Attention(size, positions)
        self.ln_2 = nn.LayerNorm(size.width)
        self.mlp = FeedForward(size)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


def start_as_gpt2(module, layers):
    """GPT-2's start. torch's own would give the token table, which is the head too, a deviation of 1: logits of tens,
    whose softmax is denormal numbers, on which a CPU's products take several times as long."""
    for name, tensor in module.named_parameters():
        if name.endswith("bias"):
            nn.init.zeros_(tensor)
        elif tensor.dim() == 2:
            nn.init.normal_(tensor, std=0.02 / (2 * layers) ** 0.5 if name.endswith("c_proj.weight") else 0.02)


class Gpt2(nn.Module):
    """Token ids (batch, positions) to logits (batch, positions, vocabulary). No dropout; the head is the token table."""

    def __init__(self, size, positions):
        super().__init__()
        self.transformer = nn.ModuleDict(collections.OrderedDict(
            wte=nn.Embedding(size.vocabulary, size.width),
            wpe=nn.Embedding(size.places, size.width),
            h=nn.ModuleList(Block(size, positions) for _ in range(size.layers)),
            ln_f=nn.LayerNorm(size.width)))
        start_as_gpt2(self, size.layers)

    def forward(self, ids):
        parts = self.transformer
        x = parts["wte"](ids) + parts["wpe"](torch.arange(ids.shape[1], device=ids.device))
        for block in parts["h"]:
            x = block(x)
        return functional.linear(parts["ln_f"](x), parts["wte"].weight)


def gpt2(name):
    name, _, positions = name.partition(":")
    size = GPT2_SIZES[name]
    positions = int(positions or size.places)
    tokens = Values((positions,), size.vocabulary)
    return Workload(Gpt2(size, positions), tokens, tokens)


class Bottleneck(nn.Module):
    """torchvision's, v1.5: the stride lies in the 3 x 3."""

    def __init__(self, fan_in, width, stride):
        super().__init__()
        fan_out = 4 * width
        self.conv1 = nn.Conv2d(fan_in, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, fan_out, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(fan_out)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = None
        if stride != 1 or fan_in != fan_out:
            self.downsample = nn.Sequential(nn.Conv2d(fan_in, fan_out, 1, stride, bias=False), nn.BatchNorm2d(fan_out))

    def forward(self, x):
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.relu(self.bn2(self.conv2(y)))
        y = self.bn3(self.conv3(y))
        y += x if self.downsample is None else self.downsample(x)
        return self.relu(y)


class ResNet(nn.Module):
    """Images (batch, height, width, 3), or without `channels_last` (batch, 3, height, width), to logits (batch, classes),
    with torchvision's names."""

    def __init__(self, size, channels_last):
        super().__init__()
        self.channels_last = channels_last
        self.conv1 = nn.Conv2d(3, size.stem, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(size.stem)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        fan_in = size.stem
        for number, (blocks, width) in enumerate(size.stages, 1):
            layers = []
            for block in range(blocks):
                layers.append(Bottleneck(fan_in, width, 2 if number > 1 and block == 0 else 1))
                fan_in = 4 * width
            self.add_module(f"layer{number}", nn.Sequential(*layers))
        self.stages = len(size.stages)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(fan_in, size.classes)

    def forward(self, images):
        x = images
        if self.channels_last:
            x = images.permute(0, 3, 1, 2)  # as torch counts dimensions; in memory channels stay last
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        for number in range(1, self.stages + 1):
            x = getattr(self, f"layer{number}")(x)
        return self.fc(self.avgpool(x).flatten(1))


def resnet(name, layout):
    size = RESNET_SIZES[name]
    channels_last = layout == "channels-last"
    module = ResNet(size, channels_last)
    if channels_last:
        module = module.to(memory_format=torch.channels_last)
    image = (size.image, size.image, 3) if channels_last else (3, size.image, size.image)
    return Workload(module, Values(image), Values((1,), size.classes))


def channels_last(tensor):
    """A parameter as step_bench has it on cores, and on GPUs where asked: weights of convolutions are (out, height, width, in)."""
    return tensor.permute(0, 2, 3, 1) if tensor.dim() == 4 else tensor


def build(name, layout="channels-last"):
    """Raises KeyError or ValueError where step_bench has the name and this has not, or neither has. The layout is for
    models of images alone."""
    if name.startswith("gpt2-"):
        return gpt2(name)
    if name.startswith("resnet"):
        return resnet(name, layout)
    if name in MLP_WIDTHS:
        return mlp(MLP_WIDTHS[name])
    layers, _, width = name.removeprefix("mlp:").partition("x")
    if not layers.isdigit() or not width.isdigit():
        raise ValueError(f"no model is called '{name}'")
    return mlp([int(width)] * (int(layers) + 1))
