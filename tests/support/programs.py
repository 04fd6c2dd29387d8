# SPDX-License-Identifier: Apache-2.0
"""Starts programs of a build, alone or as ranks, and reads what they say of themselves."""
import os
import re
import socket
import subprocess
from pathlib import Path

MPI = ["--oversubscribe", "--bind-to", "none", "--mca", "btl", "vader,self", "-np"]
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Programs:
    """Starts the programs of one folder."""

    def __init__(self, folder, mpirun):
        self.folder, self.mpirun = Path(folder).resolve(), mpirun

    def run(self, command, ranks=0, environment=None, **options):
        """The finished process of `command`, whose first word is a program's name or path; `ranks` starts it under mpirun.
        `environment` is added to that of this process; `options` are subprocess.run's."""
        launcher = [self.mpirun, *MPI, str(ranks)] if ranks else []
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "timeout": 300, **options}
        return subprocess.run([*launcher, self.folder / command[0], *command[1:]], text=True, errors="replace",
                              env={**os.environ, **AS_ROOT, "COLUMNS": "10000", **(environment or {})},
                              stdin=subprocess.DEVNULL, check=False, **options)


def reason(text):
    """The programs' own lines of what was written to standard error; its last line where there is none."""
    own = [line for line in text.splitlines() if re.match(r"([a-z]+_bench|tandem|lessons): ", line)]
    return " // ".join(own) if own else text.strip().splitlines()[-1] if text.strip() else ""
