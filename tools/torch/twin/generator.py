# SPDX-License-Identifier: Apache-2.0
"""Tandem's random numbers, bit for bit: common/tensor/random.h in tensors of torch.

Philox4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC 2011). Element i of the
sequence that a seed names is word i % 4 of block i / 4. Works on int64, torch's only wide integers, and without numpy.
"""
import torch

MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
WEYL = (0x9E3779B9, 0xBB67AE85)
ROUNDS = 10
MASK = 0xFFFFFFFF
BLOCKS = 1 << 15  # made at a time: what the rounds work on stays in cache


def high_low(words, multiplier):
    """The halves of 32 x 32 bits, without a product of more than 63 bits."""
    upper, lower = words * (multiplier >> 16), words * (multiplier & 0xFFFF)
    return (upper + (lower >> 16)) >> 16, (((upper & 0xFFFF) << 16) + lower) & MASK


def blocks(seed, first, count):
    """Blocks first .. first + count - 1, their words in order: (4 count)."""
    numbers = torch.arange(first, first + count, dtype=torch.int64)
    words = [numbers & MASK, numbers >> 32, torch.zeros_like(numbers), torch.zeros_like(numbers)]
    key = [seed & MASK, seed >> 32]
    for _ in range(ROUNDS):
        high0, low0 = high_low(words[0], MULTIPLIERS[0])
        high1, low1 = high_low(words[2], MULTIPLIERS[1])
        words = [high1 ^ words[1] ^ key[0], low1, high0 ^ words[3] ^ key[1], low0]
        key = [(part + weyl) & MASK for part, weyl in zip(key, WEYL)]
    return torch.stack(words, dim=1).flatten()


def random_bits(seed, first, count):
    """Elements first .. first + count - 1, in pieces: (where a piece starts, its bits)."""
    done = 0
    while done < count:
        block, skipped = divmod(first + done, 4)
        wanted = min(BLOCKS, (skipped + count - done + 3) // 4)
        piece = blocks(seed, block, wanted)[skipped:skipped + count - done]
        yield done, piece
        done += len(piece)


def uniform(seed, first, count, scale=1.0):
    """scale * [-1, 1), in steps of 2^-23; the scale has to be an fp32 number. fp32 (count)."""
    values = torch.empty(count)
    for place, bits in random_bits(seed, first, count):
        values[place:place + len(bits)] = ((bits >> 8) - (1 << 23)).float() * 2.0**-23 * scale
    return values


def classes(seed, first, count, below):
    """Whole numbers in [0, below). int64 (count)."""
    values = torch.empty(count, dtype=torch.int64)
    for place, bits in random_bits(seed, first, count):
        # bits * below >> 32 in two halves: the product itself may have more than 63 bits.
        values[place:place + len(bits)] = high_low(bits, below)[0]
    return values
