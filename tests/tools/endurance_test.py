#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `tandem run` keeps when it is killed, or when its disk is full or read-only.

endurance_test.py TANDEM FAKE_STEP_BENCH CASE

Every case ends with a run of the same command, whose document must be that of a run that nothing
disturbed: the same cells and launches, none twice, none lost.
"""
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

KILLS = 20
SKIPPED = 77
NOBODY = 65534
SWEEP = {"name": "test", "workloads": [{"model": "mlp-tiny", "batch": [64, 128]}], "devices": [1, 2],
         "strategies": ["single", "dp", {"strategy": "ddp", "launch": "threads"}],
         "launches": 2, "min_time": "10ms", "min_samples": 3}
LAUNCHES = 20  # 10 cells, twice


class Bench:
    """A folder with a sweep, and runs of it."""

    def __init__(self, tandem, fake, folder):
        self.folder = folder
        self.count = folder / "count"
        (folder / "sweep.json").write_text(json.dumps(SWEEP))
        self.command = [tandem, "run", str(folder / "sweep.json"), "--step-bench", fake, "--oversubscribe"]

    def start(self, out, **options):
        env = dict(os.environ, FAKE_COUNT=str(self.count))
        return subprocess.Popen(self.command + ["--out", str(self.folder / out)], env=env, text=True,
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **options)

    def run(self, out, code=0, **options):
        """Runs to the end, which must have this exit code; the last line of stderr."""
        process = self.start(out, **options)
        error = process.communicate()[1]
        lines = error.splitlines()
        assert process.returncode == code, f"exit code {process.returncode} instead of {code}: {error}"
        return lines

    def started(self):
        return len(self.count.read_text().splitlines()) if self.count.exists() else 0


def place(launch):
    return json.dumps(launch["cell"], sort_keys=True), launch["launch_index"]


def document(folder):
    """What was measured, without the order in which it was."""
    whole = json.loads((folder / "results.json").read_text())
    launches = whole["tandem"]["launches"]
    places = [place(launch) for launch in launches]
    assert len(set(places)) == len(places), "a launch is there twice"
    return sorted((place(launch), launch["status"], launch["step_seconds"]) for launch in launches)


def check_whole(bench, out):
    found = document(bench.folder / out)
    assert len(found) == LAUNCHES, f"{len(found)} launches"
    assert found == document(bench.folder / "undisturbed"), "the document is another one"
    assert not (bench.folder / out / "unfinished").exists(), "still marked unfinished"


def killed_midway(bench, out, launches, delay):
    """Starts a run and kills it -9 once this many launches began, and `delay` seconds later; whether it lived so long."""
    process, begun = bench.start(out), bench.started() + launches
    while process.poll() is None and bench.started() < begun:
        time.sleep(0.001)
    try:
        process.communicate(timeout=delay)
        assert process.returncode == 0, f"exit code {process.returncode}"
        return False
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return True


def case_killed(bench):
    """kill -9 at moments from its start to its end; whenever a run came through, a new one begins."""
    begin = time.monotonic()
    bench.run("undisturbed")
    launch_seconds = (time.monotonic() - begin) / LAUNCHES
    moments = random.Random(20240229)
    kills, runs, allowed = 0, 1, bench.started() + LAUNCHES
    while kills < KILLS:
        out = f"run{runs}"
        left = LAUNCHES - (kept(bench, out) if (bench.folder / out / "journal.jsonl").exists() else 0)
        # How far a run came is counted in launches: in seconds, a first run on a busy machine would be the measure of all.
        if killed_midway(bench, out, moments.randint(0, left), moments.uniform(0, launch_seconds)):
            kills, allowed = kills + 1, allowed + 1  # the launch in flight
        else:
            check_whole(bench, out)
            runs, allowed = runs + 1, allowed + LAUNCHES
            assert runs < 5 * KILLS, f"only {kills} kills"
    bench.run(out)
    check_whole(bench, out)
    assert bench.started() <= allowed, f"{bench.started()} launches were started, not {allowed} at most"


def one_error(lines, words):
    errors = [line for line in lines if line.startswith("tandem: ")]
    assert len(errors) == 1 and errors == lines[-1:], f"not one error, at the end: {lines}"
    assert all(word in errors[0] for word in words), errors[0]


def kept(bench, out):
    return (bench.folder / out / "journal.jsonl").read_text().count("\n") - 1  # without a torn line


def case_full_disk(bench):
    """Files grow to half of what the journal needs, as on a disk that has no room for the rest."""
    bench.run("undisturbed")
    limit = (bench.folder / "undisturbed" / "journal.jsonl").stat().st_size // 2

    def bound():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a write then fails, as where the disk is full
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    one_error(bench.run("full", code=1, preexec_fn=bound), ["writing ", "journal.jsonl", "free some space"])
    before = kept(bench, "full")
    assert 1 <= before < LAUNCHES, f"{before} launches"
    started = bench.started()
    bench.run("full")
    assert bench.started() - started == LAUNCHES - before, "not exactly the missing launches were run"
    check_whole(bench, "full")


def case_full_file_system(bench):
    """A file system of 64 KiB: the folder is that of a run that was cut short, and takes nothing more."""
    bench.run("undisturbed")
    out = bench.folder / "full"
    out.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(out)],
                             capture_output=True, check=False)
    if mounted.returncode != 0:
        print("skipped: no file system can be mounted here")
        return SKIPPED
    try:
        lines = bench.run("full", code=1)
        one_error(lines, ["No space left on device"])
        one_error(bench.run("full", code=1), ["No space left on device", "full"])
        saved = bench.folder / "saved"
        shutil.copytree(out, saved)
    finally:
        subprocess.run(["umount", str(out)], check=True)
    assert kept(bench, "saved") >= 1, "nothing is left of what was measured"
    bench.run("saved")
    check_whole(bench, "saved")
    return 0


def unwritable(folder):
    """Takes the right to write; returns what a process must do to lack it, for root has it always."""
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    return (lambda: os.setuid(NOBODY)) if os.geteuid() == 0 else None


def case_read_only(bench):
    bench.run("undisturbed")
    shutil.copytree(bench.folder / "undisturbed", bench.folder / "half")
    journal = bench.folder / "half" / "journal.jsonl"
    journal.write_text("".join(journal.read_text().splitlines(keepends=True)[:8]))
    (bench.folder / "half" / "unfinished").touch()
    bench.folder.chmod(0o755)
    bench.count.chmod(0o666)
    lose_rights = unwritable(bench.folder / "half")
    lines = bench.run("half", code=1, preexec_fn=lose_rights)
    one_error(lines, ["half", "Permission denied"])
    assert len(lines) == 1 and kept(bench, "half") == 7, lines
    for path in (bench.folder / "half").rglob("*"):
        path.chmod(0o755)
    (bench.folder / "half").chmod(0o755)
    # The folder of logs alone: a launch cannot leave its record.
    lose_rights = unwritable(bench.folder / "half" / "logs")
    if lose_rights:
        for path in [bench.folder / "half", *(bench.folder / "half").glob("*.*"), bench.folder / "half" / "unfinished"]:
            os.chown(path, NOBODY, NOBODY)
    one_error(bench.run("half", code=1, preexec_fn=lose_rights), ["half/logs", "Permission denied"])
    assert kept(bench, "half") == 7
    for path in [bench.folder / "half" / "logs", *(bench.folder / "half" / "logs").rglob("*")]:
        path.chmod(0o755)
    bench.run("half")
    check_whole(bench, "half")


def main():
    tandem, fake, case = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # Where another user can read them too.
        programs = [shutil.copy(program, folder) for program in (tandem, fake)]
        return globals()["case_" + case](Bench(*programs, folder)) or 0


if __name__ == "__main__":
    sys.exit(main())
