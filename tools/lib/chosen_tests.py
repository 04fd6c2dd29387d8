#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `tools/test --only` builds and runs.

    chosen_tests.py BUILD PATTERN

A line of the build's targets, separated by spaces, and a line with ctest's expression for the tests: those whose
name matches the regular expression PATTERN, and the GoogleTest programs that have a source whose path does. Where there is
none, or PATTERN is no expression: one line on standard error and exit status 2.
"""
import pathlib
import re
import subprocess
import sys


def fail(text):
    print(f"test: {text}", file=sys.stderr)
    sys.exit(2)


def listed_tests(build):
    """The tests' names, each with the paths below the build folder that its command and environment name. As CMake writes
    them: ctest shows no command of a program that is not built yet."""
    paths = {}
    for file in sorted(pathlib.Path(build).rglob("CTestTestfile.cmake")):
        for line in file.read_text().splitlines():
            entry = re.match(r'(?:add_test|set_tests_properties)\((?:\[=*\[)?([^\s\]]+)', line)
            if entry:
                found = re.findall(re.escape(build) + r'/([^";\s]+)', line)
                if "run_cases.py" in line:  # a table of command lines names programs of its own accord
                    found.append("bin")
                paths.setdefault(entry.group(1), set()).update(path.rstrip("/") for path in found)
    return paths


def chosen(build, pattern):
    """The tests that match, with their paths."""
    lines = (pathlib.Path(build) / "tests/sources.txt").read_text().splitlines()
    programs = {name for name, path in map(str.split, lines) if pattern.search(path)}
    return {name: paths for name, paths in listed_tests(build).items() if pattern.search(name) or name in programs}


def targets(build, tests):
    """What these tests start or load: files that the build makes, or folders of such. Scripts find the programs of
    users beside the one that they are given."""
    listed = subprocess.run(["ninja", "-C", build, "-t", "targets", "all"], check=True, capture_output=True, text=True)
    made = {line.rsplit(": ", 1)[0] for line in listed.stdout.splitlines()}
    paths = set().union(*tests.values())
    wanted = {path for path in made if path in paths or path.rpartition("/")[0] in paths}
    if any(path == "bin" or path.startswith("bin/") for path in paths):
        wanted = {path for path in wanted if not path.startswith("bin/")} | {"programs"}
    return sorted(wanted)


def matching(build, text):
    try:
        pattern = re.compile(text)
    except re.error as error:
        fail(f"--only: '{text}' is no regular expression: {error}")
    tests = chosen(build, pattern)
    if not tests:
        fail(f"--only: no test's name and no path of a test's source matches '{text}': `ctest --test-dir {build} -N` has the names")
    return tests


def main():
    build, pattern = sys.argv[1:]
    tests = matching(build, pattern)
    print(*targets(build, tests))
    print("^(" + "|".join(re.sub(r"([.+])", r"\\\1", name) for name in tests) + ")$")


main()
