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
    """Of all processes: collectives and copies in their order; how many calls there were of each kind."""
    collectives: list
    moves: list  # copies between two devices, or a device and the host
    local: dict  # by device: copies within it
    counts: collections.Counter


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
    return sorted(marked, key=lambda process: min(call["device"] for call in process[0] if call["what"] == "launch"))


def within(process, step):
    calls, marks = process
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
    found = StepCalls(collectives_of(calls), [], collections.defaultdict(list), collections.Counter())
    for call in (call for theirs in calls for call in theirs):
        found.counts[call["what"]] += 1
        if call["what"] == "copy":
            copy = Copy(call["bytes"], call["from"], call["to"], call["device"])
            (found.local[copy.target] if copy.source == copy.target else found.moves).append(copy)
    return found
