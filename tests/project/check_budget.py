#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the tree against budget.txt, the lines that each room has, and fails where the product or the tests grew.

    check_budget.py [ROOT]
    check_budget.py --write [ROOT]

A room is a top folder, or a folder below common/, bench/, reports/ and tools/. Lines move freely between rooms; the sum of the
product, research/ among it, never rises over what an earlier commit had, and neither does that of the tests: a feature deletes as
much as it adds. --write writes the table anew from the tree. Without git or its history the sums are not compared.
Exit status: 0 within the budget, 1 beyond it or a table that is not the tree's, 2 wrong usage.
"""
import collections
import pathlib
import subprocess
import sys

TABLE = "tests/project/budget.txt"
PRODUCT = ("common", "dp", "ddp", "simulate", "bench", "pretend", "reports", "tools", "research", ".ci", "cmake")
DIVIDED = ("common", "bench", "reports", "tools")
LANGUAGES = {"C++": {".h", ".cc", ".cu", ".cuh", ".inc"}, "Python": {".py"}, "shell": {".sh", ".cmake"}, "JavaScript": {".js"}}
EARLIER = 100  # commits of the table that are compared
USAGE = "usage: check_budget.py [--write] [ROOT]"


def language_of(file):
    """The language of a file; None for data, prose and lists of a build."""
    for language, suffixes in LANGUAGES.items():
        if file.suffix in suffixes:
            return language
    with file.open("rb") as opened:
        first = opened.readline() if not file.suffix else b""
    if not first.startswith(b"#!"):
        return None
    return "Python" if b"python" in first else "shell"


def room_of(path):
    """The room of a file's path relative to the root: the tests of a project within this one are tests."""
    if "tests" in path.parts[:-1]:
        return "tests"
    if path.parts[0] in DIVIDED and len(path.parts) > 2:
        return "/".join(path.parts[:2])
    return path.parts[0]


def measured(root):
    """Lines by room, and in a room by language."""
    rooms = collections.defaultdict(collections.Counter)
    for top in (*PRODUCT, "tests"):
        for file in (root / top).rglob("*"):
            if file.is_file() and not file.is_symlink() and "__pycache__" not in file.parts and (language := language_of(file)):
                rooms[room_of(file.relative_to(root))][language] += len(file.read_text(encoding="utf-8").splitlines())
    return rooms


def written(rooms):
    lines = ["# Lines of each room, by tests/project/check_budget.py --write. The two sums never rise.",
             f"{'room':<24}" + "".join(f"{language:>12}" for language in LANGUAGES)]
    for room in sorted(rooms):
        lines.append(f"{room:<24}" + "".join(f"{rooms[room][language]:>12}" for language in LANGUAGES))
    return "\n".join(lines) + "\n"


def read(text):
    """What `written` wrote."""
    lines = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
    languages = lines[0][1:]
    return {room: collections.Counter(dict(zip(languages, map(int, counts), strict=True))) for room, *counts in lines[1:]}


def sums(rooms):
    """(lines of the product, lines of the tests)."""
    tests = sum(rooms.get("tests", {}).values())
    return sum(sum(lines.values()) for lines in rooms.values()) - tests, tests


def git(root, *words):
    try:
        return subprocess.run(["git", "-C", root, *words], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""


def earlier_tables(root):
    """(commit, table) of the commits that wrote one, this one's among them."""
    for commit in git(root, "log", f"-{EARLIER}", "--format=%h", "--", TABLE).split():
        if table := git(root, "show", f"{commit}:{TABLE}"):
            yield commit, read(table)


def faults(root):
    now = measured(root)
    table = root / TABLE
    if not table.is_file() or table.read_text(encoding="utf-8") != written(now):
        yield f"{TABLE} is not the tree's: run tests/project/check_budget.py --write"
    earlier = [(commit, sums(rooms)) for commit, rooms in earlier_tables(root)]
    for kind, (name, lines) in enumerate(zip(("the product", "the tests"), sums(now), strict=True)):
        if earlier:
            commit, least = min(((commit, found[kind]) for commit, found in earlier), key=lambda entry: entry[1])
            if lines > least:
                yield f"{name}: {lines} lines, {least} in {commit}: delete {lines - least} more"


def main(arguments):
    write = arguments[:1] == ["--write"]
    arguments = arguments[write:]
    if len(arguments) > 1 or any(word.startswith("-") for word in arguments):
        print(USAGE, file=sys.stderr)
        return 2
    root = pathlib.Path(arguments[0] if arguments else pathlib.Path(__file__).parents[2])
    if write:
        (root / TABLE).write_text(written(measured(root)), encoding="utf-8")
    found = list(faults(root))
    for fault in found:
        print(fault)
    if not found:
        product, tests = sums(measured(root))
        compared = "within the least of earlier tables" if git(root, "log", "-1", "--format=%h", "--", TABLE) else "compared with no commit: no git here"
        print(f"{product} lines of the product, {tests} of tests: {compared}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
