#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/cli.md: what every program and script says of itself.

    cli_page.py PROGRAMS OPTIONS_REFERENCE [--check]

PROGRAMS is the build's bin/, OPTIONS_REFERENCE the program that prints the table of a step's options. With --check it
writes nothing, and ends with 1 where the committed page says something else.
"""
import os
import pathlib
import re
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PAGE = SOURCE / "docs" / "cli.md"
BENCHES = ("collective_bench", "copy_bench", "kernel_bench", "lessons")
SCRIPTS = ("quickstart", "test", "install-deps", "bundle", "wheel", "cuda-from-pip", "gpu_proof", "gpu_node")

HEAD = """# Command line

Every program, every option, with its default and an example. This page is generated from each
program's `--help` and from the table of options in `common/options/table.h`; after a change
`cmake --build build/release --target cli_page` writes it anew, and a test says when that is due.

Start with [`tandem`](#tandem). [`step_bench`](#step_bench) times one cell by hand, and its options
are also those of a sweep's strategies ([sweeps](sweeps.md)). `tandem list options` prints them.

Exit status of every program: 0 done, 1 failed, 2 wrong usage. Verbs that judge (`compare`,
`doctor`, `verify`) end with 3 where the answer is bad. Ctrl-C ends a run with 130 and keeps what
is done.
"""

STEP_HEAD = """
"for" names the strategies, the back end and the runs that have the option, where not all do. "in"
says where else it stands: in a cell's `name` where it differs from its default, in a `sweep`'s
strategies and axes, in pairs (`--ab`).
"""


def output_of(*command):
    environment = dict(os.environ, LC_ALL="C.UTF-8", PYTHONDONTWRITEBYTECODE="1")
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode != 0:
        sys.exit(f"cli_page: {' '.join(map(str, command))}: {done.stderr.strip()}")
    return done.stdout


def check_types(section):
    """Ends with a line where an option says no more of its value than how the program stores it."""
    vague = re.search(r"^  (--\S+) (TEXT|INT|UINT|FLOAT)\b", section, re.MULTILINE)
    if vague:
        sys.exit(f"cli_page: {section.splitlines()[0]}: {vague[1]} takes {vague[2]}: give it a type_name() such as BYTES or on|off")


def block(text):
    return f"```text\n{text.strip()}\n```\n"


def commands_in(text):
    """The names under Commands: of a help text."""
    found = re.search(r"^Commands:\n((?:  .*\n)+)", text, re.MULTILINE)
    return re.findall(r"^  (\S+)  ", found.group(1), re.MULTILINE) if found else []


def verbs(tandem, *words):
    """The sections of `tandem WORDS` and of the commands below it."""
    text = output_of(tandem, *words, "--help")
    sections = [f"## {' '.join(('tandem', *words))}\n\n{block(text)}"]
    for name in commands_in(text):
        sections += verbs(tandem, *words, name)
    return sections


def step_bench(program, reference):
    """What --help says around its options, and the table of these."""
    text = output_of(program, "--help")
    head = text[:re.search(r"^\w[^:\n]*:\n  --", text, re.MULTILINE).start()]  # up to the first group of options
    footer = text[text.index("Examples:"):]
    return f"## step_bench\n\n{block(head + footer)}{STEP_HEAD}{output_of(reference)}"


def page(programs, reference):
    sections = [HEAD, *verbs(programs / "tandem"), step_bench(programs / "step_bench", reference)]
    sections.append(f"## Options of PyTorch's cells\n\n{block(output_of(programs / 'tandem', 'list', 'torch-options'))}")
    sections += [f"## {name}\n\n{block(output_of(programs / name, '--help'))}" for name in BENCHES]
    for section in sections:
        check_types(section)
    sections += [f"## tools/{name}\n\n{block(output_of(SOURCE / 'tools' / name, '--help'))}" for name in SCRIPTS]
    return "\n".join(section.rstrip("\n") + "\n" for section in sections)


def main():
    programs, reference = map(pathlib.Path, sys.argv[1:3])
    made = page(programs.resolve(), reference.resolve())
    if sys.argv[3:] != ["--check"]:
        PAGE.write_text(made, encoding="utf-8")
    elif not PAGE.exists() or PAGE.read_text(encoding="utf-8") != made:
        sys.exit(f"{PAGE} is stale: cmake --build build/release --target cli_page, and commit it")


if __name__ == "__main__":
    main()
