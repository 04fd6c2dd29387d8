# SPDX-License-Identifier: Apache-2.0
"""The checksum that distinguishes contents of a file: common/base/checksum.h, FNV-1a of 64 bits."""
PRIME, START, MASK = 0x100000001B3, 0xCBF29CE484222325, (1 << 64) - 1


def of(content):
    """The checksum of the bytes, 16 hexadecimal digits."""
    value = START
    for byte in content:
        value = (value ^ byte) * PRIME & MASK
    return f"{value:016x}"
