# SPDX-License-Identifier: Apache-2.0
"""What a marked step asked of pretended GPUs, out of the logs that tandem pretend wrote: docs/pretend.md has their keys."""
import collections
import dataclasses
import json
import pathlib

HOST = -1


@dataclasses.dataclass(frozen=True)
class Collective:
    """One collective of all its ranks."""
    kind: str
    count: int
    type: str
    root: int
    devices: tuple  # by rank

    def __str__(self):
        root = f" from rank {self.root}" if self.kind == "broadcast" else f" to rank {self.root}" if self.root >= 0 else ""
        return f"{self.kind} of {self.count} {self.type}{root}, GPUs {','.join(map(str, self.devices))}"


@dataclasses.dataclass(frozen=True)
class Copy:
    """`queue` is the device on whose stream the copy waits for its turn."""
    bytes: int
    source: int
    target: int
    queue: int

    def __str__(self):
        def name(device):
            return "host" if device == HOST else f"GPU {device}"
        queue = "" if self.queue == self.target else f", queued on GPU {self.queue}"
        return f"copy of {self.bytes} bytes, {name(self.source)} to {name(self.target)}{queue}"


@dataclasses.dataclass
class StepCalls:
    """What all processes called, collectives and copies in their order."""
    collectives: list = dataclasses.field(default_factory=list)
    moves: list = dataclasses.field(default_factory=list)  # copies between two devices, or a device and the host
    local: dict = dataclasses.field(default_factory=lambda: collections.defaultdict(list))  # by device: copies within it
    work: collections.Counter = dataclasses.field(default_factory=collections.Counter)  # products and convolutions
    kernels: collections.Counter = dataclasses.field(default_factory=collections.Counter)  # launches, by mangled name
    counts: collections.Counter = dataclasses.field(default_factory=collections.Counter)  # calls of each kind


@dataclasses.dataclass(frozen=True, order=True)
class Work:
    """What a library computes on a device: a product of matrices, of which `batch` may be one call, or a convolution."""
    device: int
    kind: str
    shape: str
    type: str
    batch: int = 1

    def __str__(self):
        several = f" of {self.batch}" if self.batch > 1 else ""
        return f"{self.kind}{several} on GPU {self.device}, {self.type}, {self.shape}"


def work_of(call):
    if call["what"] == "product":
        return Work(call["device"], "product", f"{call['m']} x {call['n']} over {call['k']}, {call['operands']}", call["type"],
                    call["batch"])
    operations = [dict(operation) for operation in call["operations"]]
    types = sorted({operation.pop("type", "-") for operation in operations})
    return Work(call["device"], "convolution", json.dumps(operations, sort_keys=True), "/".join(types))


def read_process(path):
    """(calls in their order, time of each mark)."""
    with path.open(encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    marks = {line["text"]: line["t"] for line in lines if line["what"] == "mark"}
    return sorted((line for line in lines if "t" in line), key=lambda line: line["t"]), marks


def read(folder):
    """The processes that marked steps, by their first device."""
    processes = [read_process(path) for path in sorted(pathlib.Path(folder).iterdir())]
    marked = [process for process in processes if process[1]]
    if not marked:
        raise ValueError(f"reading {len(processes)} logs of pretended GPUs: no process marked a step; was the program ended early?")
    return sorted(marked, key=lambda process: min((call["device"] for call in process[0] if call["what"] == "launch"), default=HOST))


def within(process, step):
    calls, marks = process
    missing = [number for number in (step, step + 1) if f"step {number}" not in marks]
    if missing:
        raise ValueError(f"reading step {step} of a log of pretended GPUs: it has no mark 'step {missing[0]}'; was the program ended early?")
    start, end = marks[f"step {step}"], marks[f"step {step + 1}"]
    return [call for call in calls if start <= call["t"] < end]


def one_of(parts):
    """What the ranks of one collective called."""
    first = parts[0]
    for key in ("collective", "count", "type", "root"):
        if {part[key] for part in parts} != {first[key]}:
            raise ValueError(f"ranks differ in the {key} of a collective: {[part[key] for part in parts]}")
    by_rank = sorted(parts, key=lambda part: part["rank"])
    if [part["rank"] for part in by_rank] != list(range(first["ranks"])):
        raise ValueError(f"a {first['collective']} of {first['ranks']} ranks was called by ranks {[part['rank'] for part in by_rank]}")
    return Collective(first["collective"], first["count"], first["type"], first["root"],
                      tuple(part["device"] for part in by_rank))


def collectives_of(processes):
    """Ranks are processes that call in the same order, or the calls of a group in one process."""
    called = [[call for call in calls if call["what"] == "collective"] for calls in processes]
    if len(processes) > 1:
        if len({len(calls) for calls in called}) != 1:
            raise ValueError(f"ranks call {[len(calls) for calls in called]} collectives in a step")
        return [one_of(parts) for parts in zip(*called)]
    groups = collections.defaultdict(list)
    for call in called[0]:
        groups[call["group"]].append(call)
    return [one_of(parts) for parts in groups.values()]


def step_calls(processes, step):
    calls = [within(process, step) for process in processes]
    found = StepCalls(collectives_of(calls))
    for call in (call for theirs in calls for call in theirs):
        found.counts[call["what"]] += 1
        if call["what"] in ("product", "convolution"):
            found.work[work_of(call)] += 1
        if call["what"] == "launch":
            found.kernels[call["kernel"]] += 1
        if call["what"] == "copy":
            copy = Copy(call["bytes"], call["from"], call["to"], call["device"])
            (found.local[copy.target] if copy.source == copy.target else found.moves).append(copy)
    return found
