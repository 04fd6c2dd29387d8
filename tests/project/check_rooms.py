#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails where folders of the product include each other in a circle, or where a header's type shares its name with a
type of another folder.

    check_rooms.py [ROOT]

A source file may include the rooms below its own folder: it puts them together. A header may not.
"""
import collections
import pathlib
import re
import sys

TOPS = ["common", "dp", "ddp", "simulate", "bench", "pretend", "reports", "tools"]
HEADERS = {".h", ".cuh"}
SOURCES = HEADERS | {".cc", ".cu"}
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
# A type of namespace scope: clang-format indents what is nested in a class, and nothing that lies in a namespace.
TYPE = re.compile(r"^(?:struct|class|enum class|enum)(?: \[\[nodiscard\]\])? (\w+)(?: final)?(?: *[:{].*)?$|^using (\w+) =")
# Back ends and libraries of others, and those that stand in for them: what they call alike is the same idea twice, and the
# namespace says whose it is.
BACK_ENDS = {"cuda", "host", "nccl", "nvml", "cupti", "nvtx", "pretend", "simulated"}
NAMESPACE = re.compile(r"^(?:(namespace)\b ?([\w:]*) ?{|}  // namespace)")


def files_of(root):
    return [file for top in TOPS for file in sorted((root / top).rglob("*")) if file.suffix in SOURCES]


def folder_of(path):
    return path.rpartition("/")[0]


def includes_of_folders(root):
    """Each folder with the other folders that its files include."""
    edges = collections.defaultdict(set)
    for file in files_of(root):
        here = folder_of(file.relative_to(root).as_posix())
        for target in INCLUDE.findall(file.read_text()):
            there = folder_of(target)
            puts_together = file.suffix not in HEADERS and there.startswith(here + "/")
            if there != here and not puts_together:
                edges[here].add(there)
    return edges


def circle(edges):
    """The folders of one circle in order, the first again at the end; nothing where there is none."""
    done, way = set(), []

    def visit(folder):
        if folder in way:
            return way[way.index(folder):] + [folder]
        if folder in done:
            return []
        way.append(folder)
        found = next(filter(None, (visit(other) for other in sorted(edges.get(folder, [])))), [])
        way.pop()
        done.add(folder)
        return found

    return next(filter(None, (visit(folder) for folder in sorted(edges))), [])


def types_of(text):
    """The name of each type of namespace scope, after its back end where it lies in the namespace of one."""
    spaces = []
    for line in text.splitlines():
        found = NAMESPACE.match(line)
        if found and found.group(1):
            spaces.append("::".join(BACK_ENDS & set(found.group(2).split("::"))))
        elif found:
            spaces.pop()
        found = TYPE.match(line)
        if found:
            yield "::".join([*filter(None, spaces), found.group(1) or found.group(2)])


def shared_names(root):
    """Each name of a header's type that another folder has a type of too, with the files."""
    declared = collections.defaultdict(set)
    for file in files_of(root):
        for name in types_of(file.read_text()):
            declared[name].add(file.relative_to(root).as_posix())
    for name, paths in sorted(declared.items()):
        if len({folder_of(path) for path in paths}) > 1 and any(pathlib.Path(path).suffix in HEADERS for path in paths):
            yield f"the type {name} is declared in several folders: {', '.join(sorted(paths))}"


def faults(root):
    found = circle(includes_of_folders(root))
    if found:
        yield f"folders include each other in a circle: {' -> '.join(found)}"
    yield from shared_names(root)


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    found = list(faults(root))
    print("\n".join(found) if found else f"{len(files_of(root))} files lie in rooms without a circle")
    return 1 if found or not files_of(root) else 0


if __name__ == "__main__":
    sys.exit(main())
