# SPDX-License-Identifier: Apache-2.0
"""In what a step of Tandem differs from torch's on purpose: docs/method/conformance.md has each difference's reason and cost.

Each function makes the two steps alike in one respect and returns how many calls it changed for that. What differs behind all
of them is a difference that nobody knows.
"""
import collections
import dataclasses

from step_calls import HOST

ALIGNMENT = 16  # elements: where tensors of an arena or a bucket begin (common/tensor)
FLOAT = 4


def same_but(one, other, **fields):
    return dataclasses.replace(one, **fields) == dataclasses.replace(other, **fields)


def flattening(torch, ours, sizes):
    """Tandem's tensors lie in one arena: a chunk is flattened by one copy, torch's by a kernel (torch.cat)."""
    changed = 0
    for device, copies in ours.local.items():
        flat = collections.Counter(call.count * FLOAT for call in ours.collectives if call.kind in ("broadcast", "reduce"))
        kept = []
        for copy in copies:
            if flat[copy.bytes] > 0:
                flat[copy.bytes] -= 1
                changed += 1
            else:
                kept.append(copy)
        ours.local[device] = kept
    return changed


def batch_counters(torch, ours, sizes):
    """Batch normalisation counts its batches: in torch as integers, whose broadcast is one of its own, in Tandem as floats."""
    kept = [call for call in torch.collectives if not (call.kind == "broadcast" and call.type == "i64")]
    changed = len(torch.collectives) - len(kept)
    torch.collectives = kept
    return changed


def buffers_copied_back(torch, ours, sizes):
    """DDP broadcasts a flat copy of the buffers and copies each one out of it; Tandem broadcasts the buffers as they lie."""
    floats = [size for count, size in sizes["buffers"] if size == FLOAT * count]
    whole = [size for _, size in sizes["buffers"]]
    if not floats:
        return 0
    expected, changed = floats + [size for size in whole if size not in floats], 0
    for device, copies in torch.local.items():
        if [copy.bytes for copy in copies[:len(whole)]] == expected:
            torch.local[device] = copies[len(whole):]
            changed += len(whole)
    return changed


def padding(torch, ours, sizes):
    """Tandem's tensors begin at multiples of 64 bytes in arenas and buckets, and the gaps travel with them; so do counters."""
    counters = sum(size != FLOAT * count for count, size in sizes["buffers"])
    spare = counters + sum(-count % ALIGNMENT for kind in sizes.values() for count, _ in kind)
    changed = 0
    for at, (theirs, mine) in enumerate(zip(torch.collectives, ours.collectives)):
        if 0 < mine.count - theirs.count <= spare and same_but(mine, theirs, count=0):
            ours.collectives[at] = theirs
            changed += 1
    return changed


def targets_behind(torch, ours, sizes):
    """A script of torch's brings the targets to GPU 0 before it calls the module; Tandem brings them behind the scattered inputs."""
    brought = sum(copy.source == HOST for copy in ours.moves)
    if brought < 2 or torch.moves[0].target != 0 or ours.moves[brought - 1].target != 0:
        return 0
    torch.moves.insert(brought - 1, torch.moves.pop(0))
    return 1


def integers_of_64_bits(torch, ours, sizes):
    """torch's labels and tokens have 64 bits, Tandem's 32."""
    changed = 0
    for at, (theirs, mine) in enumerate(zip(torch.moves, ours.moves)):
        if theirs.source == HOST and theirs.bytes == 2 * mine.bytes and same_but(theirs, mine, bytes=0):
            ours.moves[at] = theirs
            changed += 1
    return changed


def queues_of_copies(torch, ours, sizes):
    """torch queues a copy between GPUs on its source, Tandem on its target."""
    changed = 0
    for at, (theirs, mine) in enumerate(zip(torch.moves, ours.moves)):
        if theirs.queue == theirs.source and mine.queue == mine.target and theirs != mine and same_but(theirs, mine, queue=0):
            ours.moves[at] = theirs
            changed += 1
    return changed


def own_output_gradient(torch, ours, sizes):
    """Tandem copies GPU 0's part of the output's gradient; torch's GPU 0 takes a view of it."""
    gathered = [copy.bytes for copy in ours.moves if copy.source > 0 and copy.target == 0]
    more = collections.Counter(ours.local[0]) - collections.Counter(torch.local[0])
    for copy in more:
        if copy.bytes in gathered:
            ours.local[0].remove(copy)
            return 1
    return 0


def operators_own_copy(torch, ours, sizes):
    """An operator of torch's copies its operand on every GPU: the gradient of the average pool is made contiguous."""
    more = {device: collections.Counter(copy.bytes for copy in copies) - collections.Counter(copy.bytes for copy in ours.local[device])
            for device, copies in torch.local.items()}
    if any(extra.total() != 1 for extra in more.values()):
        return 0
    for device, copies in torch.local.items():
        (size,) = more[device]
        copies.remove(next(copy for copy in copies if copy.bytes == size))
    return len(more)


IN_ORDER = [flattening, batch_counters, buffers_copied_back, padding, targets_behind, integers_of_64_bits, queues_of_copies,
            own_output_gradient, operators_own_copy]


def settle(torch, ours, sizes):
    """How many calls each known difference explains; the two steps are changed."""
    explained = {}
    for difference in IN_ORDER:
        changed = difference(torch, ours, sizes)
        if changed:
            explained[difference.__name__] = changed
    return explained
