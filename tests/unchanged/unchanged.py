#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a redesign may not change, held against lists in this folder.

    unchanged.py KIND --programs BIN [--mpirun PROGRAM] [--write | --only WORDS]

    steps       what a step of each strategy enqueues with each option: operations, copies, collectives, their bytes,
                and the order on each stream (steps.txt)
    cells       the cells of every sweep for 2 and 8 devices, and what a dry run says of those left out (cells.txt)
    refusals    command lines that are refused: their one line and exit status (refusals.py, refused.txt; refusals.txt)
    journal     how a sweep goes on whose journal of half its launches lies here (half.json, half.jsonl; journal.txt)
    checksums   the weights that step_bench verify ends with, for each oneDNN and processor that a list is known of
                (checksums.txt; skipped, 77, for another)
    simulated   the records of simulated cells: the step to the nanosecond, and a checksum of all but the facts of the
                machine that simulates. Builds of every kind leave these bytes (simulated.txt)

--write writes the list anew, after a change that is meant. --only runs the refusals with WORDS
in their command line and shows what is said. BIN holds step_bench, tandem and the others.
"""
import argparse
import difflib
import hashlib
import json
import re
import sys
import tempfile
from pathlib import Path

import refusals  # which knows where `programs` lies
from programs import Programs, reason

HERE = Path(__file__).resolve().parent
SKIPPED = 77
MODELS = ["mlp-tiny", "gpt2-nano:16", "resnet-tiny"]
STRATEGIES = {"single": "threads", "independent": "threads", "dp": "threads", "dp-allreduce": "threads",
              "ddp": "processes", "ddp-replicate": "processes"}
EVERY = ["input=device", "input=pageable", "optimizer=adam", "optimizer=adamw", "phases=off", "free-running=2"]
REPLICATE = ["device-ids=1,0", "output-device=1", "threads=kept", "replicate=tensor", "replicate=flat",
             "broadcast=tree", "broadcast=sequential", "broadcast=collective", "loss=replicas", "reduce=tree",
             "reduce=sequential", "reduce=collective"]
ALL_REDUCE = ["grads=views", "overlap=off", "bucket-mb=0.1", "bucket-mb=all", "first-bucket-mb=0.05", "accumulate=2",
              "static-graph=on", "compress=bf16", "compress=fp16"]
OPTIONS = {"single": [], "independent": ["launch=processes"], "dp": REPLICATE,
           "dp-allreduce": ["input=scatter", *ALL_REDUCE],
           "ddp": ["comm=mpi", *ALL_REDUCE],
           "ddp-replicate": ["comm=mpi"]}


def step_command(strategy, model, options, devices):
    """A step_bench command line of one cell, as short as it may be; and whether its ranks are processes."""
    launch = "processes" if "launch=processes" in options else STRATEGIES[strategy]
    command = ["step_bench", "--backend=host", f"--strategy={strategy}", f"--devices={devices}", f"--model={model}",
               "--batch=8", *(f"--{option}" for words in options for option in words.split())]
    return command, launch == "processes"


def step_cases():
    """(strategy, model, options) of every case: all models without options, one model with each option."""
    for strategy in STRATEGIES:
        for model in MODELS:
            yield strategy, model, []
        for option in [*EVERY, *OPTIONS[strategy]]:
            yield strategy, MODELS[0], [option]


TIMES = {"step", "arrival_skew_us", "waited_for_last_us", "last_rank", "last_device"}  # of one run


def described(event):
    """One line of what a stream was given: its name, layer, bucket and bytes."""
    kept = {key: value for key, value in event["args"].items() if key not in TIMES}
    return " ".join([event["name"], *(f"{key}={kept[key]}" for key in sorted(kept))])


def streams_of(trace):
    """{stream: lines in order} of a trace file. Phases, waits and the harness are no work of a stream."""
    names = {}
    for event in trace["traceEvents"]:
        if event["ph"] == "M" and event["name"] in ("process_name", "thread_name"):
            names[event["name"], event["pid"], event["tid"]] = event["args"]
    streams = {}
    spans = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    for event in sorted(spans, key=lambda one: (one["ts"], -one["dur"])):
        thread = names["thread_name", event["pid"], event["tid"]]
        if thread["role"] == "harness" or event["cat"] in ("step", "phase", "layer"):
            continue
        rank = names["process_name", event["pid"], 0]["rank"]
        streams.setdefault(f"rank {rank} {thread['name']}", []).append(described(event))
    return streams


def shown(streams):
    """The streams with their work; those of the same work once."""
    alike = {}
    for stream, work in sorted(streams.items()):
        alike.setdefault(tuple(work), []).append(stream)
    lines = []
    for work, names in alike.items():
        lines += [f"  {', '.join(names)}", *counted(work)]
    return lines


def counted(lines):
    """The lines, with a number in front of such as follow each other."""
    result, last, times = [], None, 0
    for line in [*lines, None]:
        if line == last:
            times += 1
            continue
        if last is not None:
            result.append(f"    {last}" if times == 1 else f"    {times} x {last}")
        last, times = line, 1
    return result


def list_steps(programs):
    """What each case's step enqueues."""
    lines = []
    for strategy, model, options in step_cases():
        devices = 1 if strategy == "single" else 2
        command, are_processes = step_command(strategy, model, options, devices)
        lines.append(" ".join(command[2:]))
        with tempfile.TemporaryDirectory() as folder:
            trace = Path(folder) / "trace.json"
            done = programs.run([*command, "--oversubscribe", "trace", f"--file={trace}", "--steps=1", "--min-samples=1", "--min-time=1ms",
                                 "--warmup-time=1ms", "--warmup-steps=3"], devices if are_processes else 0)
            if done.returncode != 0:
                lines.append(f"  ended with {done.returncode}: {reason(done.stderr)}")
                continue
            lines += shown(streams_of(json.loads(trace.read_text())))
    return lines


NO_TORCH = ["--with-torch=/bin/false"]  # of the sweep that looks for torch itself, which may be here or not


def list_cells(programs):
    """The dry run of every sweep, without what depends on the machine or the time."""
    lines = []
    names = re.findall(r"^  (\S+)", programs.run(["tandem", "list", "sweeps"]).stdout, re.MULTILINE)
    for sweep in names:
        of_two = None
        for devices in (2, 8):
            done = programs.run(["tandem", "run", sweep, f"--devices={devices}", "--oversubscribe",
                                 *([] if sweep == "node" else ["--backend=host"]),  # of GPUs by itself
                                 "--dry-run", *(NO_TORCH if sweep in ("torch", "node") else [])])
            said = [line for line in done.stdout.splitlines() if not line.startswith("this machine would refuse it")]
            cells = [re.sub(r"(, about .*|, \d+s|, \d+m.*|, \d+h.*)$", "", line) for line in said]
            lines.append(f"{sweep} on {devices} devices: status {done.returncode}, {len(cells)} lines")
            lines += [f"  {cell}" for cell in cells if cell.startswith("--devices=")]
            cells = [cell for cell in cells if not cell.startswith("--devices=")]
            if cells == of_two:
                lines.append("  the same")
            elif len(cells) > 150:
                lines.append(f"  sha256 {hashlib.sha256(chr(10).join(cells).encode()).hexdigest()}")
            else:
                lines += [f"  {cell}" for cell in cells]
            of_two = cells
    return lines


def run_half(programs, out):
    """The finished process of the sweep into this folder."""
    return programs.run(["tandem", "run", HERE / "half.json", f"--out={out}", "--backend=host", "--oversubscribe"])


def begun_here(programs, folder):
    """half.jsonl as this machine and this version would have begun it: a journal of others is not resumed."""
    run_half(programs, folder)
    here = json.loads((folder / "journal.jsonl").read_text().splitlines()[0])["context"]
    head, *launches = (HERE / "half.jsonl").read_text().splitlines(keepends=True)
    begun = json.loads(head)
    for fact in ("tandem_cpu_model", "tandem_cores", "tandem_version"):
        begun["context"][fact] = here[fact]
    return "".join([json.dumps(begun, separators=(",", ":")) + "\n", *launches]).encode()


def list_journal(programs):
    """How the half-finished sweep ends, and whether what it had measured is kept."""
    with tempfile.TemporaryDirectory() as folder:
        begun = begun_here(programs, Path(folder) / "other")
        journal = Path(folder) / "out" / "journal.jsonl"
        journal.parent.mkdir()
        journal.write_bytes(begun)
        done = run_half(programs, journal.parent)
        # A launch that others disturbed is measured once more, under the next number.
        lines = [line for line in journal.read_bytes().splitlines() if json.loads(line).get("launch_index", 0) < 2]
        resumed = [line for line in done.stderr.splitlines() if "resuming" in line]
        return [f"status {done.returncode}", *resumed, f"{len(lines)} lines in the journal",
                f"what it held before is {'kept' if lines[:4] == begun.splitlines() else 'changed'}",
                *sorted({json.loads(line)["status"] for line in lines[1:]})]


def kernels_of(programs):
    """What computes here: oneDNN's version, the instructions that it uses, and the processor, which it blocks for."""
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "record.json"
        programs.run([*step_command("single", MODELS[0], [], 1)[0], "--min-samples=1", "--min-time=1ms",
                      "--warmup-time=1ms", f"--record={record}"])
        machine = json.loads(record.read_text())["machine"]
        return f"{machine['libraries']['kernels']} on {machine['cpu_model']}"


def list_checksums(programs):
    """The weights' checksum of each strategy and model by step_bench verify."""
    lines = [kernels_of(programs)]
    for strategy in STRATEGIES:
        if strategy == "independent":
            continue
        for model in MODELS:
            devices = 1 if strategy == "single" else 2
            command, are_processes = step_command(strategy, model, [], devices)
            done = programs.run([*command, "verify"], devices if are_processes else 0)
            found = re.search(r"checksum of the weights (\w+)", done.stdout + done.stderr)
            lines.append(f"    {strategy} {model}: {found.group(1) if found else reason(done.stderr)}")
    return lines


SIMULATED = ["single --batch=32", "independent --launch=processes --devices=8 --batch=256", "dp --devices=4 --batch=128",
             "dp --devices=4 --batch=128 --dispatch-cost=8us --interpreter-lock=on",
             "dp --devices=8 --batch=256 --broadcast=tree --reduce=tree --loss=replicas --threads=kept",
             "ddp --devices=8 --batch=256",
             "ddp --devices=8 --batch=256 --bucket-mb=1 --grads=views --optimizer=adam",
             "ddp --devices=1024 --batch=32768",
             "dp-allreduce --devices=8 --batch=256 --input=scatter", "ddp-replicate --devices=8 --batch=255"]


def list_simulated(programs):
    """Step and checksum of each cell's record."""
    lines = []
    for cell in SIMULATED:
        machine = "dgx-a100x128@8xib-200g" if "--devices=1024" in cell else "dgx-a100"
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "record.json"
            done = programs.run(["step_bench", "--backend=simulated", f"--hardware={machine}", "--model=resnet50",
                                 f"--record={file}", *f"--strategy={cell}".split()])
            if done.returncode != 0:
                lines.append(f"{cell}: ended with {done.returncode}: {reason(done.stderr)}")
                continue
            record = json.loads(file.read_text())
        record.pop("machine")
        text = json.dumps(record, separators=(",", ":"))
        lines.append(f"{cell}: {round(record['step_seconds'][0] * 1e9)} ns, {hashlib.sha256(text.encode()).hexdigest()[:16]}")
    return lines


def sections(lines):
    """{head: lines from it} of a list, whose heads are not indented."""
    result = {}
    for line in lines:
        if not line.startswith(" "):
            head = line
        result.setdefault(head, []).append(line)
    return result


LISTS = {"steps": list_steps, "cells": list_cells, "refusals": refusals.list_refusals, "journal": list_journal,
         "checksums": list_checksums, "simulated": list_simulated}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=LISTS)
    parser.add_argument("--programs", required=True)
    parser.add_argument("--mpirun", default="mpirun")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--only", metavar="WORDS")
    arguments = parser.parse_args()
    programs = Programs(arguments.programs, arguments.mpirun)
    if arguments.only is not None:
        print("\n".join(refusals.list_refusals(programs, arguments.only)))
        return 0
    lines = LISTS[arguments.kind](programs)
    file = HERE / f"{arguments.kind}.txt"
    known = file.read_text().splitlines() if file.exists() else []
    if arguments.kind == "checksums":  # the others' stay as they are
        of_all = sections(known)
        known, others = of_all.pop(lines[0], []), [line for lines_of_one in of_all.values() for line in lines_of_one]
        if not known and not arguments.write:
            print(f"skipped: no checksums are known of {lines[0]}")
            return SKIPPED
    else:
        others = []
    if arguments.write:
        file.write_text("\n".join(others + lines) + "\n")
        return 0
    if arguments.kind == "refusals":
        change = list(refusals.changes(known, lines))
    else:
        change = list(difflib.unified_diff(known, lines, file.name, "now", lineterm="", n=8))
    print("\n".join(change[:200]))
    return 1 if change else 0


if __name__ == "__main__":
    sys.exit(main())
