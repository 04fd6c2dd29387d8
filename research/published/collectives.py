# SPDX-License-Identifier: Apache-2.0
"""Published all-reduces against simulated ones, from the description of the machine alone: nothing is fitted to the file."""
import dataclasses
import re

import baselines
import errors
import machines
import simulation

BYTES = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
# The sizes of which errors are printed together: name, first size in bytes, size behind the last one.
CLASSES = (("below 1 MiB", 0, 2**20), ("1 to 64 MiB", 2**20, 2**26 + 1), ("64 to 256 MiB", 2**26 + 1, 2**28), ("from 256 MiB", 2**28, 2**63))


@dataclasses.dataclass(frozen=True)
class Call:
    """An all-reduce of a table."""
    words: str
    machine: machines.Machine
    ranks: int
    size: int
    seconds: float

    @property
    def busbw(self):
        """GB/s."""
        return self.size / self.seconds * 2 * (self.ranks - 1) / self.ranks / 1e9


def is_table(document):
    return any(isinstance(row, dict) and any(key in row for key in FIGURES) for row in document.get("rows", []))


def bytes_of(text):
    """Bytes of '1MiB', '256M', '4 GB' (taken for GiB, as nccl-tests writes sizes) or '1048576'; throws ValueError."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?) ?([kKMGT]?)(?:i?B)?", str(text).strip())
    if not found or float(found.group(1)) <= 0:
        raise ValueError(f"'{text}' is no size")
    return round(float(found.group(1)) * BYTES[found.group(2).lower()])


# The seconds of a call by the key of its figure: bytes, ranks, figure.
FIGURES = {"time_us": lambda size, ranks, figure: figure * 1e-6,
           "time_ms": lambda size, ranks, figure: figure * 1e-3,
           "busbw": lambda size, ranks, figure: size * 2 * (ranks - 1) / ranks / (figure * 1e9),
           "algbw": lambda size, ranks, figure: size / (figure * 1e9)}


def ranks_of(row):
    return next((row[key] for key in ("ranks", "gpus", "devices") if isinstance(row.get(key), int)), None)


def calls_of(row):
    """The calls of a row; throws ValueError with the reason why it has none."""
    kind = row.get("collective", "all-reduce")
    if not re.fullmatch(r"all.?reduce", kind, re.IGNORECASE):
        raise ValueError(f"'{kind}' is no all-reduce, which is what steps of data parallelism take")
    words = " ".join(str(row[key]) for key in ("system", "hardware") if key in row)
    ranks = ranks_of(row)
    machine = machines.machine_meant(words, ranks or 1)
    ranks = ranks or machines.ranks_told(words, machine)
    machine = machines.machine_meant(words, ranks)
    if ranks < 2:
        raise ValueError(f"{ranks} rank")
    for key in FIGURES:
        for size, figure in row.get(key, {}).items():
            size = bytes_of(size)
            if not isinstance(figure, (int, float)) or figure <= 0:
                raise ValueError(f"{key} of {size} bytes is no figure: {figure}")
            yield Call(f"{words}, {ranks} ranks", machine, ranks, size, FIGURES[key](size, ranks, figure))


def read(document):
    """(calls, lines on the rows that are left out)."""
    found, left_out = [], []
    for row in document["rows"]:
        if not any(key in row for key in FIGURES):
            continue  # a row of remarks
        try:
            found += calls_of(row)
        except ValueError as reason:
            left_out.append(f"{row.get('hardware', row.get('system', 'a row'))}: {reason}")
    return found, left_out


def alpha_beta(simulator, call):
    """A ring of the description's latency and NCCL's channels, or of its links where it has none."""
    bandwidth, latency = baselines.link_of(simulator, call.machine)
    if call.ranks > call.machine.gpus_of_node:
        network = simulator.described(call.machine.name)["network"]
        bandwidth = min(bandwidth, simulation.bytes_per_second(network["bandwidth"]["value"]))
    return baselines.ring(bandwidth, latency, call.size, call.ranks)


def predicted(simulator, calls):
    """(simulated, alpha-beta) of each call, seconds; a line is printed on a call that cannot be simulated."""
    times = simulator.all_reduces([(call.machine, call.ranks, call.size) for call in calls])
    for call, time in zip(calls, times):
        if isinstance(time, str):
            print(f"{call.words}, {call.size} bytes: left out: {time}")
    return {call: (time, alpha_beta(simulator, call)) for call, time in zip(calls, times) if not isinstance(time, str)}


def print_errors(title, calls, found):
    print(f"\n{title}: {len(calls)} all-reduces, from the description alone\n  {'size, and error of the time, %':<44} {'steps':>5}    mean     p90     max    bias")
    for name, first, behind in CLASSES:
        mine = [call for call in calls if first <= call.size < behind]
        for index, kind in enumerate(("simulated", "alpha-beta ring") if mine else ()):
            mean, p90, most, bias = errors.summary([errors.relative(found[call][index], call.seconds) for call in mine])
            print(f"  {name + ', ' + kind:<44} {len(mine):5} {mean:7.1f} {p90:7.1f} {most:7.1f} {bias:+7.1f}")


def print_calls(calls, found):
    print(f"  {'bytes':>12} {'published, us':>14} {'simulated, us':>14} {'error, %':>9} {'busbw, GB/s':>12}")
    for call in calls:
        time = found[call][0]
        print(f"  {call.size:12} {1e6 * call.seconds:14.1f} {1e6 * time:14.1f} {100 * errors.relative(time, call.seconds):+9.1f} {call.busbw:12.1f}")


def report(simulator, calls):
    """Prints; the mean error of each system's calls from 1 MiB up, by its words."""
    found, means = predicted(simulator, calls), {}
    calls = [call for call in calls if call in found]
    for words in dict.fromkeys(call.words for call in calls):
        mine = [call for call in calls if call.words == words]
        print_errors(f"{words} ({mine[0].machine.name})", mine, found)
        print_calls(mine, found)
        sizes = [errors.relative(found[call][0], call.seconds) for call in mine if call.size >= 2**20]
        means[words] = 100 * errors.mean_size(sizes) if sizes else 0.0
    if len(means) > 1:
        print_errors("all systems", calls, found)
    return means
