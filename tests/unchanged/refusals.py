# SPDX-License-Identifier: Apache-2.0
"""Command lines that are refused, each with its exit status and its one line.

There are two kinds. Options of step_bench are asked about with --check: every strategy with what VALUES has, and the lines
of refused.txt that begin with --. All other lines of refused.txt are run as they stand, in a folder that has `tests` (the
project's), `stand_in` (the build's) and `pipe.json`:

    [NAME=VALUE]... [N x] PROGRAM [ARGUMENT]... [>/dev/full]        N x: as so many ranks
"""
import concurrent.futures
import os
import re
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from programs import reason  # noqa: E402  # beside the tests

HERE = Path(__file__).resolve().parent
STRATEGIES = ("single", "independent", "dp", "dp-allreduce", "ddp", "ddp-replicate")
# Option of step_bench: a value that some strategy takes, and one that none does.
VALUES = {
    "launch": ("processes", "fibres"), "model": ("gpt2-nano", "vgg"), "batch": ("7", "-8"), "batch-per-device": ("4", "0"),
    "backend": ("auto", "tpu"), "input": ("device", "disk"), "optimizer": ("adam", "lion"), "precision": ("bf16", "fp8"),
    "channels-last": ("on", "maybe"), "conv-fp32": ("on", "maybe"), "seed": ("7", "-1"), "device-memory": ("1GiB", "much"), "p2p": ("off", "maybe"),
    "device-ids": ("1,0", "0,x"), "output-device": ("1", "9"), "threads": ("kept", "green"), "replicate": ("flat", "zip"),
    "broadcast": ("tree", "radio"), "loss": ("replicas", "none"), "reduce": ("tree", "as-they-lie"),
    "grads": ("views", "none"), "overlap": ("off", "half"), "bucket-mb": ("all", "0"), "first-bucket-mb": ("0.5", "-1"),
    "accumulate": ("2", "0"), "static-graph": ("on", "maybe"), "compress": ("bf16", "zip"),
    "comm-priority": ("high", "low"), "comm": ("mpi", "carrier-pigeon"), "check-order": ("on", "maybe"),
    "dispatch-cost": ("8us", "8"),
    "interpreter-lock": ("on", "maybe"), "plant": ("loss:2ms", "loss"), "peak-gflops": ("100", "many"),
    "free-running": ("3", "-1"), "phases": ("off", "maybe"), "min-time": ("1ms", "1"), "min-samples": ("2", "0"),
    "warmup-time": ("1ms", "-1ms"), "warmup-steps": ("3", "1"), "profile-steps": ("5", "-1"), "steps": ("3", "0"),
    "ab": ("phases=off", "phases"), "pairs": ("40", "0"),
    "fault": ("throws", "earthquake"), "comm-timeout": ("5s", "5"), "flight-recorder": ("on", "maybe"),
}
# What follows an option that is of some runs of step_bench.
RUNS = {"ab": " pair", "pairs": " pair --ab=phases=off", "steps": " trace --file=t.json"}
# What one machine or version says and another does not, and what is listed in its place.
VARYING = [
    (r"not in range \[(\S+) - (\S+)\]", r"not in range \1 to \2"),  # older CLI11's words
    (r"(?<!of )(?<![\d.])[\d.]+ [KMGT]?i?B (asked|left|of)\b", r"... \1"),
    (r"may use .*, or pass --oversubscribe", "may use ..., or pass --oversubscribe"),
    (r"ended after step \d+", "ended after step ..."),
    (r"--backend=cuda: .*(pass --backend=host)", r"--backend=cuda: ... \1"),
]


def option_cases():
    """Options of step_bench that --check is asked about."""
    for option, (good, bad) in VALUES.items():
        run = RUNS.get(option, "")
        for strategy in STRATEGIES:
            for value in (bad, good):
                yield f"--strategy={strategy} --devices={1 if strategy == 'single' else 2} --{option}={value}{run}"


def cases():
    """Every case, as it stands in the list."""
    yield from option_cases()
    for line in (HERE / "refused.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            yield line


class Scratch(tempfile.TemporaryDirectory):
    """The folder that cases run in."""

    def __init__(self, programs):
        super().__init__()
        folder = Path(self.name)
        (folder / "tests").symlink_to(HERE.parent)
        stand_in = programs.folder.parent / "tests" / "stand_in"
        self.has_stand_in = (stand_in / "libtandem_cuda.so").exists()
        (folder / "stand_in").symlink_to(stand_in)
        os.mkfifo(folder / "pipe.json")


def run(programs, case, folder):
    """The finished process of a case."""
    words = case.split()
    if words[0].startswith("--"):
        batch = [] if any(word.startswith("--batch") for word in words) else ["--batch=8"]
        return programs.run(["step_bench", "--backend=host", "--oversubscribe", "--model=mlp-tiny", *batch, *words, "--check"])
    environment, ranks, options = {}, 0, {"cwd": folder}
    while "=" in words[0]:
        name, value = words.pop(0).split("=", 1)
        environment[name] = value
    if words[1] == "x":
        ranks, words = int(words[0]), words[2:]
    if words[-1] != ">/dev/full":
        return programs.run(words, ranks, environment, **options)
    with open(words.pop()[1:], "w") as full:
        return programs.run(words, ranks, environment, stdout=full, **options)


def said(done):
    """Exit status and words of a finished process, without what another machine says otherwise."""
    words = reason(done.stderr) if done.returncode else ""
    for pattern, text in VARYING:
        words = re.sub(pattern, text, words)
    return f"{done.returncode} {words}".strip()


def list_refusals(programs, wanted=""):
    """What is said to each case that has the words `wanted` in it; the cases by what is said. Cases of stand-ins for GPUs
    are left out of a build without them."""
    with Scratch(programs) as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        chosen = [case for case in cases() if wanted in case]
        if not (Path(folder) / "stand_in" / "libtandem_cuda.so").exists():
            chosen = [case for case in chosen if "TANDEM_MODULE_PATH=" not in case]
        finished = list(pool.map(lambda case: said(run(programs, case, folder)), chosen))
    by_words = {}
    for case, words in zip(chosen, finished):
        by_words.setdefault(words, []).append(case)
    return [line for words, alike in by_words.items() for line in (words, *(f"    {case}" for case in alike))]


def by_case(lines):
    """{case: what is said to it} of a list as list_refusals() returns it."""
    result, words = {}, ""
    for line in lines:
        if line.startswith(" "):
            result[line.strip()] = words
        else:
            words = line
    return result


def changes(known, lines):
    """A line or two for each case of `lines` to which something else was said before; for each that is gone, one."""
    before, now = by_case(known), by_case(lines)
    for case, words in now.items():
        if case not in before:
            yield f"{case}\n    is not in the list: {words}"
        elif words != before[case]:
            yield f"{case}\n    was: {before[case]}\n    now: {words}"
    listed = set(cases())
    for case in before:
        if case not in listed:
            yield f"{case}\n    is in the list, and no case any more"
