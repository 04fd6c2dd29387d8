#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A rank is stopped while thousands of collectives are queued behind each other: the job still ends.

    stopped_while_free_running.py MPIRUN COLLECTIVE_BENCH COMM

The other rank gives up within --comm-timeout, says for whom it waited, and nobody is left behind.
"""
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

STARTED = 60  # seconds: a hang detector, not a measurement
ENDED = 60
SAID = r"rank 0 waited [\d.]+ s"


def die(what, text=""):
    print(f"FAILED: {what}", text, sep="\n")
    sys.exit(1)


def command_line(mpirun, program, comm, flights):
    return [mpirun, "-np", "2", "--oversubscribe", "--bind-to", "none", program, "--devices=2",
            "--backend=host", "--oversubscribe", f"--comm={comm}", "--sizes=64KiB", "--free-running=2000",
            "--samples=1000000", "--comm-timeout=3s", f"--flight-dir={flights}"]


def pid_of_rank_1(flights):
    """Once its record says that it is in collectives: the numbers behind its head change."""
    record = flights / "rank.1"
    deadline = time.monotonic() + STARTED
    before = None
    while time.monotonic() < deadline:
        page = record.read_bytes() if record.exists() else b""
        if before and page and page != before:
            return int.from_bytes(page[20:24], "little")
        before = page
        time.sleep(0.5)
    die("rank 1 did not begin")


def ends(pid):
    """The launcher may return before those that it killed are gone."""
    deadline = time.monotonic() + ENDED
    while Path(f"/proc/{pid}").exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    return not Path(f"/proc/{pid}").exists()


def main():
    mpirun, program, comm = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        job = subprocess.Popen(command_line(mpirun, program, comm, folder), stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True)
        try:
            pid = pid_of_rank_1(Path(folder))
            os.kill(pid, signal.SIGSTOP)
            said, _ = job.communicate(timeout=ENDED)
        except subprocess.TimeoutExpired:
            os.kill(pid, signal.SIGKILL)
            die("the job hung")
        finally:
            job.terminate()  # where it runs: mpirun then ends its ranks
    if job.returncode == 0 or not re.search(SAID, said):
        die(f"exit code {job.returncode}, and it said", said)
    if not ends(pid):
        die("rank 1 is still there", said)


if __name__ == "__main__":
    main()
