#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/cli.md: the help of every program.

    cli_page.py PROGRAMS [--check]

PROGRAMS is the build's bin/. With --check it writes nothing, and ends with 1 where the committed page says something
else.
"""
import os
import pathlib
import re
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PAGE = SOURCE / "docs" / "cli.md"
BENCHES = ("step_bench", "collective_bench", "lessons")

HEAD = """# Command line

The `--help` of every program, written by `cmake --build build/release --target cli_page`. Start
with [`tandem`](#tandem). [`step_bench`](#step_bench) times one cell by hand. The words before an
option's colon are the strategies, the back end and the runs that have it, where not all do.

Exit status of every program: 0 done, 1 failed, 2 wrong usage. Verbs that judge (`compare`,
`doctor`, `verify`) end with 3 where the answer is bad. Ctrl-C ends a run with 130 and keeps what is
done.
"""


def output_of(*command):
    environment = dict(os.environ, LC_ALL="C.UTF-8", COLUMNS="100", PYTHONDONTWRITEBYTECODE="1")
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


def page(programs):
    sections = [HEAD, *verbs(programs / "tandem")]
    sections.append(f"## Options of PyTorch's cells\n\n{block(output_of(programs / 'tandem', 'list', 'torch-options'))}")
    sections += [f"## {name}\n\n{block(output_of(programs / name, '--help'))}" for name in BENCHES]
    for section in sections:
        check_types(section)
    return "\n".join(section.rstrip("\n") + "\n" for section in sections)


def main():
    made = page(pathlib.Path(sys.argv[1]).resolve())
    if sys.argv[2:] != ["--check"]:
        PAGE.write_text(made, encoding="utf-8")
    elif not PAGE.exists() or PAGE.read_text(encoding="utf-8") != made:
        sys.exit(f"{PAGE} is stale: cmake --build build/release --target cli_page, and commit it")


if __name__ == "__main__":
    main()
