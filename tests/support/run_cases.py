#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the cases of a table, several at a time, and names each that fails.

    run_cases.py TABLE [NAME]... [--build DIR] [--mpirun PROGRAM] [--jobs N] [--limit SECONDS] [--list]

NAMEs choose cases: each is a case's name or a pattern of the shell. A case of a table is

    NAME[ (NEED, ...)]: [VARIABLE=VALUE]... [N x] PROGRAM [ARGUMENT]...
        REGULAR EXPRESSION

PROGRAM is one of the build, or a script beside the table; N x starts it as so many ranks. The case passes where it ends
with 0 and prints, to standard output and standard error together, what the expression finds; without an expression,
where it ends with 0. Ended with 77, it is skipped. NEEDs are libraries that the build may lack (tests/has.txt in its folder). Each case
runs in an empty folder of its own. In a table,

    with VARIABLE=VALUE...        is for all cases below
    {bin} {build} {source} {mpirun} {here}    are the build's programs, the build, the project, mpirun and the table's folder
    {case}                        is each case of the script in turn, `case_NAME` or a key of CASES, for * in NAME

Exit status: 0 all passed, 1 one failed, 2 wrong usage, 77 all were skipped.
"""
import argparse
import concurrent.futures
import fnmatch
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from programs import Programs

SOURCE = Path(__file__).resolve().parents[2]
SKIPPED = 77
CANNOT = "no bf16 products for this CPU"


class UsageError(Exception):
    """A table or an argument is wrong."""


class Case(NamedTuple):
    """One case; `says` is an expression or empty."""
    name: str
    needs: list
    words: list
    says: str


class Table:
    """The cases of a file."""

    def __init__(self, file, places):
        self.here, self.places = file.parent, {**places, "here": str(file.parent)}
        self.cases, self.variables = [], []
        for number, line in enumerate(file.read_text().splitlines(), 1):
            if not line.strip() or line.startswith("#"):
                continue
            try:
                self.read(line)
            except (AttributeError, IndexError, KeyError):
                raise UsageError(f"{file}:{number}: no case: write NAME: PROGRAM ARGUMENT...") from None

    def read(self, line):
        if line.startswith(" "):
            self.cases[-1] = self.cases[-1]._replace(says=line.strip())
        elif line.startswith("with "):
            self.variables = line.format(**self.places).split()[1:]
        else:
            name, needs, command = re.fullmatch(r"(\S+)(?: \((.*)\))?: (.*)", line).groups()
            needs = needs.split(", ") if needs else []
            words = self.variables + command.format(**self.places, case="{case}").split()
            if "{case}" not in words:
                self.cases.append(Case(name, needs, words, ""))
                return
            for case in self.cases_of(words):
                self.cases.append(Case(name.replace("*", case), needs,
                                       [case if word == "{case}" else word for word in words], ""))

    def cases_of(self, words):
        """Names of the cases that the script among the words has."""
        text = next(self.here / word for word in words if "=" not in word).read_text()
        listed = re.search(r"^CASES = \{$(.*?)^\}", text, re.MULTILINE | re.DOTALL)
        if listed:
            return re.findall(r'^    "(\w+)":', listed.group(1), re.MULTILINE)
        return re.findall(r"^(?:def )?case_(\w+)\(", text, re.MULTILINE)


class Runner:
    """Runs cases, with the build's programs."""

    def __init__(self, build, mpirun, here, limit):
        self.programs, self.here, self.limit = Programs(build / "bin", mpirun), here, limit

    def start(self, words, folder, sessions):
        """The finished process of a case, which keeps the sessions of Open MPI 4 in the folder `sessions`: an mpirun that
        ends removes the folder in which another one just begins."""
        environment, ranks = {"OMPI_MCA_orte_tmpdir_base": sessions}, 0
        while re.match(r"\w+=", words[0]):
            name, value = words[0].split("=", 1)
            environment[name], words = value, words[1:]
        if words[1:2] == ["x"]:
            ranks, words = int(words[0]), words[2:]
        if (self.here / words[0]).is_file():
            words = [str(self.here / words[0]), *words[1:]]
        if words[0].endswith(".py"):
            words = [sys.executable, "-B", *words]
        return self.programs.run(words, ranks, environment, cwd=folder, stderr=subprocess.STDOUT, timeout=self.limit)

    def run(self, case):
        """("passed", "failed" or "skipped", what was printed, seconds)."""
        begin = time.monotonic()
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as sessions:
            try:
                done = self.start(case.words, folder, sessions)
                code, text = done.returncode, done.stdout
            except subprocess.TimeoutExpired as late:
                code, text = f"none within {self.limit} s", (late.stdout or b"").decode(errors="replace")
        if code == SKIPPED or CANNOT in text:
            state = "skipped"
        else:
            state = "passed" if code == 0 and re.search(case.says, text, re.DOTALL) else "failed"
        return state, f"exit status {code}, output:\n{text}", time.monotonic() - begin


def chosen(cases, names):
    """The cases that the names choose: all without names."""
    for name in names:
        if not any(fnmatch.fnmatch(case.name, name) for case in cases):
            raise UsageError(f"{name}: no such case; --list names them")
    return [case for case in cases if not names or any(fnmatch.fnmatch(case.name, name) for name in names)]


def report(case, state, text, seconds):
    print(f"{state} {case.name} ({seconds:.1f} s)", flush=True)
    if state == "failed":
        expected = f"expected: {case.says}\n" if case.says else ""
        print(f"$ {' '.join(case.words)}\n{expected}{text.rstrip()}\n", flush=True)


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--build", type=Path, default=SOURCE / "build" / "release")
    parser.add_argument("--mpirun", default="mpirun")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--limit", type=int, default=300)
    parser.add_argument("--list", action="store_true")
    return parser.parse_intermixed_args()


def run_all(cases, runner, jobs):
    """Runs and reports each; the exit status of all."""
    states = []
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        waiting = {pool.submit(runner.run, case): case for case in cases}
        for finished in concurrent.futures.as_completed(waiting):
            report(waiting[finished], *finished.result())
            states.append(finished.result()[0])
    print(", ".join(f"{states.count(state)} {state}" for state in ("passed", "failed", "skipped")))
    if "failed" in states:
        return 1
    return 0 if "passed" in states else SKIPPED


def main():
    options = read_arguments()
    build, table = options.build.resolve(), options.table.resolve()
    places = {"bin": build / "bin", "build": build, "source": SOURCE, "mpirun": options.mpirun}
    has = (build / "tests" / "has.txt").read_text().split()
    try:
        cases = [case for case in chosen(Table(table, places).cases, options.names) if set(case.needs) <= set(has)]
    except (UsageError, OSError) as wrong:
        print(f"run_cases: {wrong}", file=sys.stderr)
        return 2
    if options.list:
        print("\n".join(case.name for case in cases))
        return 0
    return run_all(cases, Runner(build, options.mpirun, table.parent, options.limit), options.jobs)


if __name__ == "__main__":
    sys.exit(main())
