#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs sweeps in which two cells meet a fault, or one where that is all that is asked, until it was met
as often as asked, and looks at how they ended.

fault_test.py TANDEM CASE [TIMES]

Each time: the run ends, these cells have failed for a reason that names rank, step, phase and
collective, the cell behind them was measured, and no process, segment or temporary file is left.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HANG = 200  # seconds after which a run is taken to hang; it ends in some 10 otherwise, of starts in 70
# A hang detector for each cell, not a measurement: below the 60 s that ranks wait for each other where
# nobody asks for less, and above the 30 s that MPI's start may take.
CELL_HANG = 55
OWN_SHARED_MEMORY = "TANDEM_TEST_HAS_OWN_SHARED_MEMORY"
CALL = r"\w+ #\d+ \([^)]+\)"
WHERE = rf"step [45], phase \w+, (in|before|after) {CALL}"
STRUCK = rf"step 5, phase backward, (in|before|after) {CALL}"
# The launcher that ends the job lets a stopped rank go on for a moment.
STUCK = rf"step 5, phase \w+, (in|before|after) {CALL}"
# The cell asks to end within 3 s, and a rank's own patience ends before; on a busy machine it may be
# informed late that they are over.
WAITED = r"; rank \d waited (?:2\.\d+|[345](?:\.\d+)?|6) s for it"
STOPPED = "it was stopped"  # as another rank saw: on one node nobody has to guess
LATE = "it was stopped, or late"

# Of each case: strategy, options of the cells that fail, and what their reason must be.
CASES = {
    "killed": ("ddp", {"fault": "killed:1"}, rf"rank 1 was killed \(SIGKILL\) in {STRUCK}({WAITED})?"),
    "killed_root": ("ddp-replicate", {"fault": "killed:0"},
                    rf"rank 0 was killed \(SIGKILL\) in {STRUCK}({WAITED})?"),
    "stopped": ("ddp", {"fault": "stopped:1"},
                rf"rank 1 did not go on from {STUCK}{WAITED}: {STOPPED}"),
    "stopped_root": ("ddp", {"fault": "stopped:0"},
                     rf"rank 0 did not go on from {STUCK}{WAITED}: {STOPPED}"),
    # A transport that cannot be interrupted: ranks that waited in vain end their processes.
    "killed_mpi": ("ddp", {"fault": "killed:1", "comm": "mpi"},
                   rf"rank 1 was killed \(SIGKILL\) in {STRUCK}({WAITED})?"),
    "stopped_mpi": ("ddp", {"fault": "stopped:1", "comm": "mpi"},
                    rf"rank 1 did not go on from {STUCK}{WAITED}: {STOPPED}"),
    "stopped_mpi_root": ("ddp", {"fault": "stopped:0", "comm": "mpi"},
                         rf"rank 0 did not go on from {STUCK}{WAITED}: {STOPPED}"),
    "throws": ("ddp", {"fault": "throws:1"},
               rf"rank 1 failed in {STRUCK}: rank 1: thrown on purpose .*"),
    "memory": ("ddp", {"fault": "memory:1"},
               rf"out of memory: rank 1 in {STRUCK}: host:1 is out of memory: .*"),
    "diverges": ("ddp", {"fault": "diverges:1"},
                 rf"ranks 0 and 1 went different ways in step 5, phase \w+: rank 0 called {CALL}, "
                 r"rank 1 called all_reduce #\d+ \(4 B\)"),
    "late": ("ddp", {"fault": "late:1"},
             rf"rank 1 did not go on from step 0, phase join, before any collective{WAITED}: {LATE}"),
    "threads_throw": ("dp-allreduce", {"fault": "throws:1"},
                      rf"rank 1: thrown on purpose .* \(in rank \d, {WHERE}\)"),
    "threads_memory": ("dp-allreduce", {"fault": "memory:1"},
                       rf"out of memory: in {WHERE}: host:1 is out of memory: .*"),
    "threads_diverge": ("dp-allreduce", {"fault": "diverges:1"},
                        rf"ranks 0 and 1 went different ways in step 5, phase \w+: rank 0 called "
                        rf"{CALL}, rank 1 called all_reduce #\d+ \(4 B\)"),
    "threads_killed": ("dp-allreduce", {"fault": "killed:1"},
                       rf"killed by signal 9 .* \(rank \d, {WHERE}\)"),
    # Ranks of another world: one is given more devices, one cannot see its launcher.
    "other_devices": ("ddp", {}, r"step_bench: rank 1 was started with other options than rank 0: "
                      r"--devices=4 instead of --devices=3; .*"),
    "other_options": ("ddp", {}, r"step_bench: rank 1 was started with other options than rank 0: "
                      r"--batch=24 instead of --batch=12; .*"),
    # Before it could even say who it is.
    # When the job is ended, the launcher lets the rank go on for a moment, and it may then begin.
    "stopped_at_start": ("ddp", {}, r"rank 1 (never began; rank \d gave up in step 0, phase start, "
                         r"before any collective: rank \d waited 30 s for MPI to start: .*|"
                         r"did not go on from step 0, phase start, before any collective; "
                         rf"rank \d waited 30 s for it: {LATE})"),
    "hidden_launcher": ("ddp", {}, r"step_bench: --devices=3 as processes needs a rank for each, "
                        r"but 1 rank was started: .*"),
}

# What rank 1 does instead, for cells that ask for Adam: only those that are to fail do.
REPLACE = '''for given in "$@"; do shift; case $given in {0}*) given={0}{1} ;; esac; set -- "$@" "$given"; done'''
WRAPPERS = {
    "stopped_at_start": "kill -STOP $$",
    "other_devices": REPLACE.format("--devices=", "4"),
    "other_options": REPLACE.format("--batch=", "24"),
    "hidden_launcher": '''for name in $(env | sed -n 's/^\\(OMPI_[A-Za-z0-9_]*\\|PMIX_[A-Za-z0-9_]*\\)=.*/\\1/p' | grep -v ALLOW); do unset "$name"; done''',
}


def die(what, *texts):
    print(f"FAILED: {what}", *texts, sep="\n")
    sys.exit(1)


def write_sweep(folder, strategy, options, faults):
    # Only these cells are in a hurry: others may start slowly on a busy machine.
    first, second = ({**(options or {"optimizer": "adam"}), "comm-timeout": patience}
                     for patience in ("3s", "3010ms"))
    sweep = {"name": "faults", "launches": 1, "min_time": "10ms", "min_samples": 5, "devices": [3],
             "workloads": [{"model": "mlp-tiny", "batch": 12}],
             "strategies": [{"strategy": strategy, "options": first}, {"strategy": strategy},
                            *[{"strategy": strategy, "options": second}][:faults - 1]]}
    path = folder / "sweep.json"
    path.write_text(json.dumps(sweep))
    return path


def write_wrapper(folder, case, step_bench):
    if case not in WRAPPERS:
        return step_bench
    path = folder / "step_bench"
    path.write_text(f'''#!/bin/sh
case "$* " in
  *--optimizer=adam*) [ "$OMPI_COMM_WORLD_RANK" != 1 ] || {{ {WRAPPERS[case]}; }} ;;
esac
exec {step_bench} "$@"
''')
    path.chmod(0o755)
    return path


def records_in(journal):
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    return [line.get("launch", line) for line in lines if "launch_index" in json.dumps(line)]


def check_records(records, reason, status, faults):
    faulty = [r for r in records if r["cell"]["options"]]
    others = [r for r in records if not r["cell"]["options"]]
    if {r["status"] for r in others} != {"ok"}:  # a launch that others disturbed is measured again
        die("the cell behind one that fails is lost", json.dumps(others, indent=1)[:4000])
    cells = {json.dumps(r["cell"]) for r in faulty}
    if len(cells) != faults or any(r["status"] != status for r in faulty):
        die(f"not {faults} cells ended as {status}", json.dumps(faulty, indent=1)[:4000])
    for record in faulty:
        if "\n" in record["reason"] or not re.fullmatch(reason, record["reason"]):
            die(f"the reason is not {reason}", record["reason"], record["stderr_tail"])


def processes_with(text):
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if text in command and int(entry.name) != os.getpid():
            found.append(f"{entry.name}: {command}")
    return found


def with_own_shared_memory():
    """Starts this program again with a /dev/shm that no other test sees, so that all in it is this
    run's. Goes on where it may not: without root."""
    own = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs tandem /dev/shm && exec "$@"', "sh"]
    if os.environ.get(OWN_SHARED_MEMORY) or os.geteuid() != 0 or not shutil.which("unshare"):
        return
    if subprocess.run([*own, "true"], capture_output=True, check=False).returncode == 0:
        os.environ[OWN_SHARED_MEMORY] = "1"
        os.execvp(own[0], [*own, sys.executable, *sys.argv])


def segments_left(folder, runner):
    if os.environ.get(OWN_SHARED_MEMORY):
        return [str(path) for path in Path("/dev/shm").iterdir()]
    # Others' tests have theirs there too: those of processes that are known to be of this run.
    ranks = re.findall(r"\(pid (\d+) on ", "".join(p.read_text() for p in folder.rglob("*.flight.txt")))
    return [str(path) for owner in [str(runner), *ranks]
            for path in Path("/dev/shm").glob(f"tandem.{owner}.*")]


def check_nothing_left(folder, runner):
    left = processes_with(str(folder)) + segments_left(folder, runner)
    left += [str(path) for path in (folder / "tmp").iterdir()]
    left += [str(path) for path in folder.rglob("*.flight")]
    left += [str(path) for path in folder.rglob("*.record.json")]
    if left:
        die("something is left behind", *left)


def run_once(tandem, case, faults):
    strategy, options, reason = CASES[case]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "tmp").mkdir()
        step_bench = write_wrapper(folder, case, tandem.parent / "step_bench")
        command = [tandem, "run", write_sweep(folder, strategy, options, faults), "--out", folder / "out",
                   "--oversubscribe", "--backend=host", f"--launch-timeout={CELL_HANG}s",
                   f"--step-bench={step_bench}"]
        with open(folder / "said", "w", encoding="utf-8") as said:
            runner = subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT,
                                      env={**os.environ, "TMPDIR": str(folder / "tmp")})
            try:
                code = runner.wait(timeout=HANG)
            except subprocess.TimeoutExpired:
                runner.terminate()
                runner.wait()
                die(f"no end within {HANG} s", (folder / "said").read_text())
        status = "skipped" if "memory" in case else "failed"
        if code != (0 if status == "skipped" else 1):
            die(f"exit status {code}", (folder / "said").read_text())
        check_records(records_in(folder / "out/journal.jsonl"), reason, status, faults)
        check_nothing_left(folder, runner.pid)


def main():
    with_own_shared_memory()
    tandem, case = Path(sys.argv[1]).resolve(), sys.argv[2]
    times = int(sys.argv[3]) if len(sys.argv) > 3 else 2
    for met in range(0, times, 2):
        run_once(tandem, case, min(2, times - met))
    print(f"{case}: {times} times as it should be")


main()
