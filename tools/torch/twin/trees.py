# SPDX-License-Identifier: Apache-2.0
"""Batches as modules take them: a tensor, or tuples, lists and mappings that hold tensors and plain values."""
from collections.abc import Mapping

import torch

PLAIN = (type(None), bool, int, float, str)


def tensors_of(tree):
    if torch.is_tensor(tree):
        return [tree]
    parts = tree.values() if isinstance(tree, Mapping) else tree if isinstance(tree, (tuple, list)) else ()
    return [tensor for part in parts for tensor in tensors_of(part)]


def strangers_of(tree):
    """What is neither a tensor, nor a plain value, nor holds such."""
    if torch.is_tensor(tree) or isinstance(tree, PLAIN):
        return []
    if isinstance(tree, Mapping):
        return [stranger for part in tree.values() for stranger in strangers_of(part)]
    if isinstance(tree, (tuple, list)):
        return [stranger for part in tree for stranger in strangers_of(part)]
    return [tree]


def with_tensors(tree, change):
    """The same tree with each tensor changed; mappings become dicts, and lists and tuples keep their kind."""
    if torch.is_tensor(tree):
        return change(tree)
    if isinstance(tree, Mapping):
        return {key: with_tensors(part, change) for key, part in tree.items()}
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return type(tree)(*(with_tensors(part, change) for part in tree))
    if isinstance(tree, (tuple, list)):
        return type(tree)(with_tensors(part, change) for part in tree)
    return tree


def samples(tree, first, count):
    """Samples first .. first + count - 1 of those that the tree holds, which are repeated as often as it takes."""
    def taken(tensor):
        return tensor[torch.arange(first, first + count) % tensor.shape[0]]
    return with_tensors(tree, taken)


def pieces(tree, count):
    """The tree's samples in so many pieces, as even as they come, in order."""
    return [with_tensors(tree, lambda tensor, number=number: torch.tensor_split(tensor, count)[number]) for number in range(count)]
