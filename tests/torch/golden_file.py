# SPDX-License-Identifier: Apache-2.0
"""Golden files, written and read: NAME.json says what NAME.bin holds. tests/golden/README.md describes the format."""
import array
import itertools
import json
import math
import pathlib
import sys
import typing

FORMAT = 1


class Tensor(typing.NamedTuple):
    """What a file keeps of a tensor: the elements 0, stride, 2 stride, ... below `extent`. From there on all are zero."""
    name: str
    shape: list
    extent: int
    stride: int
    values: list  # the elements kept
    left_out: typing.Optional[list] = None  # [first, count]: elements that no comparison looks at


def tensor_of(name, shape, elements, stride=1, left_out=None):
    """From all elements of a tensor."""
    if len(elements) != math.prod(shape):
        raise ValueError(f"{name}: {len(elements)} elements, but its shape is {list(shape)}")
    extent = max((place + 1 for place, value in enumerate(elements) if value != 0), default=0)
    return Tensor(name, list(shape), extent, stride, list(elements[:extent:stride]), left_out)


def distance(tensor, other):
    """|other - tensor| / |tensor|, as vectors of the elements that are compared; where the tensor is zero, |other|."""
    if (tensor.shape, tensor.stride) != (other.shape, other.stride):
        return math.inf
    first, count = tensor.left_out or (0, 0)
    pairs = [pair for number, pair in enumerate(itertools.zip_longest(tensor.values, other.values, fillvalue=0.0))
             if not first <= number * tensor.stride < first + count]
    difference = math.hypot(*(theirs - ours for ours, theirs in pairs))
    size = math.hypot(*(ours for ours, _ in pairs))
    return difference / size if size else difference


def little_endian(values):
    binary = array.array("f", values)
    if sys.byteorder == "big":
        binary.byteswap()
    return binary


def write(folder, name, header, tensors):
    """`header` is what else the JSON file says."""
    folder = pathlib.Path(folder)
    entries, place = [], 0
    for tensor in tensors:
        entry = {"name": tensor.name, "shape": tensor.shape, "extent": tensor.extent, "stride": tensor.stride, "at": place}
        if tensor.left_out:
            entry["left_out"] = tensor.left_out
        entries.append(json.dumps(entry))
        place += len(tensor.values)
    fields = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in {"format": FORMAT, **header}.items()]
    fields.append('"tensors": [\n    ' + ",\n    ".join(entries) + "\n  ]")
    (folder / f"{name}.json").write_text("{\n  " + ",\n  ".join(fields) + "\n}\n", encoding="utf-8")
    (folder / f"{name}.bin").write_bytes(b"".join(little_endian(tensor.values).tobytes() for tensor in tensors))


def read(folder, name):
    """The header, and the tensors by name."""
    folder = pathlib.Path(folder)
    header = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    if header["format"] != FORMAT:
        raise ValueError(f"{name}.json has format {header['format']}, this reads {FORMAT}")
    binary = array.array("f", (folder / f"{name}.bin").read_bytes())
    values = little_endian(binary).tolist()
    tensors = {}
    for entry in header.pop("tensors"):
        at = entry.pop("at")
        count = len(range(0, entry["extent"], entry["stride"]))
        if at + count > len(values):
            raise ValueError(f"{name}.bin ends before {entry['name']} does")
        tensors[entry["name"]] = Tensor(**entry, values=values[at:at + count])
    return header, tensors
