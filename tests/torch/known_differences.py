# SPDX-License-Identifier: Apache-2.0
"""In what a step of Tandem differs from torch's on purpose: docs/method/torch.md has each difference's reason and cost.

Each function makes the two steps alike in one respect and returns how many calls it changed for that. What differs behind all
of them is a difference that nobody knows.
"""
import collections
import dataclasses

from step_calls import HOST

ARENA, BUCKET = 16, 64  # elements: tensors begin at multiples of these (common/model/parameter_layout.cc, ddp/bucket_plan.cc)
FLOAT = 4


@dataclasses.dataclass(frozen=True)
class Module:
    """What is trained, and how."""
    parameters: list  # (elements, bytes) in the module's order
    buffers: list
    order: list = ()  # the parameters' places in the order in which their gradients come
    pooled: list = ()  # by device: bytes of the average pool's gradient; empty of a model without
    pieces: int = 1  # micro-batches of a step
    is_ddp: bool = True
    output_bytes: int = FLOAT  # of an element of torch's output

    def counts(self, kind):
        """Elements of each tensor that collectives of a kind carry, in their order."""
        if kind == "all-reduce":
            return [self.parameters[at][0] for at in self.order or range(len(self.parameters))]
        return [count for count, _ in self.parameters]

    def float_buffers(self):
        """Their elements."""
        return sum(count for count, size in self.buffers if size == FLOAT * count)


def same_but(one, other, **fields):
    return dataclasses.replace(one, **fields) == dataclasses.replace(other, **fields)


def flattening(torch, ours, module):
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


def batch_counters(torch, ours, module):
    """Batch normalisation counts its batches: in torch as integers, whose broadcast is one of its own, in Tandem as floats."""
    kept = [call for call in torch.collectives if not (call.kind == "broadcast" and call.type == "i64")]
    changed = len(torch.collectives) - len(kept)
    torch.collectives = kept
    return changed


def buffers_copied_back(torch, ours, module):
    """DDP broadcasts a flat copy of the buffers and copies each one out of it; Tandem broadcasts the buffers as they lie."""
    is_float = [size == FLOAT * count for count, size in module.buffers]
    if not any(is_float):
        return 0
    sizes = [size for _, size in module.buffers]
    expected = [size for size, first in zip(sizes, is_float) if first] + [size for size, first in zip(sizes, is_float) if not first]
    changed = 0
    for device, copies in torch.local.items():
        if [copy.bytes for copy in copies[:len(expected)]] == expected:
            torch.local[device] = copies[len(expected):]
            changed += len(expected)
    return changed


def buffers_stay(torch, ours, module):
    """broadcast_buffers=False, which Tandem lacks: torch's step has no broadcast, Tandem's one."""
    if not module.is_ddp or any(call.kind == "broadcast" for call in torch.collectives):
        return 0
    kept = [call for call in ours.collectives if call.kind != "broadcast"]
    changed = len(ours.collectives) - len(kept)
    ours.collectives = kept
    return changed


def map_of_used(torch, ours, module):
    """A static graph's first step in torch sums a map of the parameters that the step used."""
    kept = [call for call in torch.collectives
            if not (call.kind == "all-reduce" and call.type == "i32" and call.count == len(module.parameters))]
    changed = len(torch.collectives) - len(kept)
    torch.collectives = kept
    return changed


def take(counts, elements):
    """The tensors at the front of a list that have so many elements; they leave the list. Empty where none have."""
    total = 0
    for end, count in enumerate(counts, 1):
        total += count
        if total >= elements:
            break
    if total != elements:
        return []
    taken = counts[:end]
    del counts[:end]
    return taken


def padded(tensors, alignment, with_tail):
    gaps = [-count % alignment for count in tensors]
    return sum(tensors) + sum(gaps if with_tail else gaps[:-1])


def carried(module, call, waiting):
    """How many elements Tandem's collective has that carries the tensors of torch's; None where no tensors have its count.

    `waiting` has the parameters that no collective of the kind carried so far, and at "buffers" whether those are to come.
    """
    queue = waiting.setdefault(call.kind, module.counts(call.kind))
    tensors = take(queue, call.count)
    if tensors:
        return padded(tensors, BUCKET if call.kind == "all-reduce" else ARENA, module.is_ddp)
    if call.kind == "broadcast" and waiting.pop("buffers", False) and call.count == module.float_buffers():
        return padded([count for count, _ in module.buffers], ARENA, module.is_ddp)
    return None


def padding(torch, ours, module):
    """Tandem's tensors begin at multiples of 64 bytes in arenas, of 256 in buckets, and the gaps travel with them; so do counters.

    A collective of Tandem's may have the gaps of the tensors in it alone, to the element.
    """
    waiting, changed = {"buffers": bool(module.buffers)}, 0
    for at, (theirs, mine) in enumerate(zip(torch.collectives, ours.collectives)):
        expected = carried(module, theirs, waiting)
        if mine.count != theirs.count and mine.count == expected and same_but(mine, theirs, count=0):
            ours.collectives[at] = theirs
            changed += 1
    return changed


def micro_batches(torch, ours, module):
    """A script of torch's brings each micro-batch by itself, Tandem a rank's whole share at once."""
    brought = collections.defaultdict(list)
    for copy in torch.moves:
        brought[copy.target].append(copy)
    whole = []
    for copies in brought.values():
        kinds = len(copies) // module.pieces  # inputs and targets
        if module.pieces < 2 or len(copies) % module.pieces or any(copy.source != HOST for copy in copies):
            return 0
        whole += [dataclasses.replace(copies[at], bytes=sum(copy.bytes for copy in copies[at::kinds])) for at in range(kinds)]
    changed = len(torch.moves) - len(whole)
    torch.moves = whole
    return changed


def targets_behind(torch, ours, module):
    """A script of torch's brings the targets to GPU 0 before it calls the module; Tandem brings them behind the scattered inputs."""
    brought = sum(copy.source == HOST for copy in ours.moves)
    if module.is_ddp or brought < 2 or torch.moves[0].target != 0 or ours.moves[brought - 1].target != 0:
        return 0
    torch.moves.insert(brought - 1, torch.moves.pop(0))
    return 1


def integers_of_64_bits(torch, ours, module):
    """torch's labels and tokens have 64 bits, Tandem's 32."""
    changed = 0
    for at, (theirs, mine) in enumerate(zip(torch.moves, ours.moves)):
        if theirs.source == HOST and theirs.bytes == 2 * mine.bytes and same_but(theirs, mine, bytes=0):
            ours.moves[at] = theirs
            changed += 1
    return changed


def outputs_in_16_bits(torch, ours, module):
    """Under autocast torch's DataParallel gathers outputs, and scatters their gradients, in 16 bits; Tandem in 32."""
    if module.is_ddp or module.output_bytes == FLOAT:
        return 0
    changed, own = 0, set()
    for at, (theirs, mine) in enumerate(zip(torch.moves, ours.moves)):
        if HOST not in (theirs.source, mine.source) and mine.bytes * module.output_bytes == theirs.bytes * FLOAT:
            ours.moves[at] = dataclasses.replace(mine, bytes=theirs.bytes)
            own.add(mine.bytes)
            changed += 1
    for at, copy in enumerate(ours.local[0]):
        if copy.bytes in own:
            ours.local[0][at] = dataclasses.replace(copy, bytes=copy.bytes * module.output_bytes // FLOAT)
            changed += 1
    return changed


def queues_of_copies(torch, ours, module):
    """torch queues a copy between GPUs on its source, Tandem on its target."""
    changed = 0
    for at, (theirs, mine) in enumerate(zip(torch.moves, ours.moves)):
        if theirs.queue == theirs.source and mine.queue == mine.target and theirs != mine and same_but(theirs, mine, queue=0):
            ours.moves[at] = theirs
            changed += 1
    return changed


def own_output_gradient(torch, ours, module):
    """Tandem copies GPU 0's part of the output's gradient; torch's GPU 0 takes a view of it."""
    gathered = [copy.bytes for copy in ours.moves if copy.source > 0 and copy.target == 0]
    more = collections.Counter(ours.local[0]) - collections.Counter(torch.local[0])
    for copy in more:
        if copy.bytes in gathered:
            ours.local[0].remove(copy)
            return 1
    return 0


def operators_own_copy(torch, ours, module):
    """An operator of torch's copies its operand on every GPU: the gradient of the average pool is made contiguous."""
    changed = 0
    for device, size in enumerate(module.pooled):
        copies, mine = ([copy.bytes for copy in side.local[device]] for side in (torch, ours))
        for _ in range(min(module.pieces, max(0, copies.count(size) - mine.count(size)))):
            del torch.local[device][copies.index(size)]
            copies.remove(size)
            changed += 1
    return changed


def attention(torch, ours, module):
    """torch's attention in fp32 is one kernel in each direction, Tandem's batched products and kernels of softmax."""
    if any(work.batch > 1 for work in torch.work):
        return 0
    products = [work for work in ours.work if work.batch > 1]
    return sum(ours.work.pop(work) for work in products)


def fp16_of_replicas(torch, ours, module):
    """In DataParallel its replicas' threads know that autocast is on, not for which type: under bf16 they compute in fp16."""
    if module.is_ddp:
        return 0
    theirs = [work for work in torch.work if work.type == "f16" and dataclasses.replace(work, type="bf16") in ours.work]
    changed = sum(torch.work[work] for work in theirs)
    for work in theirs:
        torch.work[dataclasses.replace(work, type="bf16")] += torch.work.pop(work)
    return changed


IN_ORDER = [flattening, batch_counters, buffers_copied_back, buffers_stay, map_of_used, padding, micro_batches, targets_behind,
            integers_of_64_bits, outputs_in_16_bits, queues_of_copies, own_output_gradient, operators_own_copy, attention,
            fp16_of_replicas]


def settle(torch, ours, module):
    """How many calls each known difference explains; the two steps are changed."""
    explained = {}
    for difference in IN_ORDER:
        changed = difference(torch, ours, module)
        if changed:
            explained[difference.__name__] = changed
    return explained
