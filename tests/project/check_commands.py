#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every command that the documents show in an sh block, as a step of a job in a yaml block, or as an example of a help
text, can be given as it stands there.

    check_commands.py PROGRAMS_FOLDER [ROOT]

What takes seconds is run, in a folder that holds samples where a document has a run of the reader's; a measurement is
run with --dry-run where it has that; of all others the options are looked up in the help, and files have to be there.
What is none of Tandem's has to be in FOREIGN. Every figure below a mark `<!-- printed by COMMAND -->`, in its fenced block or
up to the next empty line, has to stand in what that command prints.
"""
import fnmatch
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

import markdown

SAMPLE = "reports/samples/quick-2-cores/results.json"
SWEEP = "tools/sweeps/quick.json"
WORKLOAD = "tests/workloads/tokens.json"
TRACE = ("--backend=host", "--model=mlp-tiny", "--batch=4", "--min-time=1ms", "--warmup-time=1ms", "--steps=2")
SECONDS = 60  # that one command may take, on a loaded machine

# Programs of others that documents may name, and what for. A word that is not here is taken for a typing error.
FOREIGN = {
    ".": "reads an environment into the shell", "apt-get": "installs packages", "cat": "shows a file",
    "cd": "goes into the checkout", "cmake": "configures and builds", "cp": "copies a folder", "ctest": "runs tests",
    "docker": "starts a container", "echo": "shows a value", "export": "sets a variable", "gdb": "looks at a process",
    "git": "fetches the source", "grep": "picks lines", "head": "shows the beginning", "jq": "reads JSON",
    "kill": "sends a signal", "less": "shows a file", "ln": "puts a program on PATH", "mkdir": "makes a folder",
    "ncu": "shows a profile", "nsys": "shows a profile", "nvidia-smi": "shows GPUs", "perf": "shows a profile",
    "pip": "installs the wheel", "pip3": "installs the wheel", "ps": "shows processes", "python3": "runs a script or makes a venv",
    "salloc": "allocates nodes", "sbatch": "queues a job", "scp": "copies to a node",
    "source": "reads an environment into the shell", "squeue": "shows jobs", "ssh": "goes to a node", "sudo": "is root",
    "tail": "shows the end", "test": "looks at a code", "tar": "unpacks the archive", "tee": "keeps what is shown",
    "torchrun": "starts ranks", "unset": "clears a variable",
}
WRAPPERS = {"compute-sanitizer", "env", "gdb", "mpirun", "ncu", "nsys", "numactl", "perf", "srun", "ssh", "taskset", "time",
            "timeout"}  # start a program that is named behind them
PROGRAMS = {"tandem", "step_bench", "collective_bench", "lessons"}
STEP_VERBS = {"trace", "verify"}  # hand options on to step_bench
WITH_SECOND_WORD = {"trace"}
IN_SECONDS = {"list", "report", "compare", "doctor"}  # verbs that measure nothing
NEGATIVE = 3  # the verdict of compare, doctor and verify; the command was sound
OPTION = re.compile(r"(?<![\w-])--[a-zA-Z][\w-]*")
QUOTE = re.compile(r"<!-- printed by (.*?) -->\n+((`{3,})[^\n]*\n.*?\n\3|(?:[^\n]+\n)*)", re.DOTALL)
FIGURE = re.compile(r"(?<![\w.-])\d[\d,]*(?:\.\d+)?x?\b(?: (?:%|ms)(?!\w))?(?: \[[\d. ]+\])?")
STEP = re.compile(r"( *(?:- +)?)(run|(?:before_|after_)?script): *(.*)")  # of a job: GitHub's and GitLab's words


class Fault(Exception):
    """What is wrong with a command, and what to do."""


def logical_lines(block):
    """(line, text) of a block's commands; a backslash at the end goes on in the next line."""
    text, first = "", 0
    for number, line in block.lines:
        first = first if text else number
        if line.rstrip().endswith("\\"):
            text += line.rstrip()[:-1] + " "
            continue
        yield first, text + line
        text = ""
    if text:
        raise Fault("a backslash that nothing follows: remove it")


def is_below(line, key):
    """Whether a line of yaml belongs to the value of a key that matched STEP; items may begin in the key's column."""
    depth = len(line) - len(line.lstrip())
    return not line.strip() or depth > len(key[1]) or (depth == len(key[1]) and key[2] != "run" and line.lstrip().startswith("- "))


def steps_of(block):
    """The commands of a yaml block as sh blocks: `run:` with a command, the lines below `run: |`, the items of `script:`."""
    lines = list(block.lines)
    while lines:
        number, line = lines.pop(0)
        key = STEP.fullmatch(line)
        if key and key[3] not in ("", "|", "|-", "|+"):
            yield markdown.Block(number, "sh", [(number, key[3])])
        elif key:
            below = []
            while lines and is_below(lines[0][1], key):
                below_number, text = lines.pop(0)
                below.append((below_number, re.sub("^ *" if key[2] == "run" else "^ *(- +)?", "", text)))
            yield markdown.Block(number, "sh", below)


def examples_of(block):
    """The commands under Examples: of a help text."""
    lines = []
    for number, line in block.lines:
        if lines and not line.startswith("  "):
            break
        if lines or line == "Examples:":
            lines.append((number, line.strip()))
    if lines:
        yield markdown.Block(block.line, "sh", lines[1:])


def command_blocks(page):
    for block in page.blocks:
        language = block.language.split(" ")[0]
        if language in ("sh", "bash", "shell", "console"):
            yield block
        elif language in ("yaml", "yml"):
            yield from steps_of(block)
        elif language == "text":
            yield from examples_of(block)


def words_of(text):
    lexer = shlex.shlex(re.sub(r"\$\(\w+\)", "1", text), posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    try:
        return list(lexer)
    except ValueError as error:
        raise Fault(f"a shell cannot read it ({error}): close the quotes") from None


def simple_commands(text):
    """The commands of a line, as words, without what is joined, redirected or set before them."""
    command, skips = [], False
    for word in [*words_of(text), ";"]:
        if skips:
            skips = False
        elif re.fullmatch(r"[<>]+&?", word):
            command = command[:-1] if command and command[-1] in ("1", "2") else command
            skips = True
        elif re.fullmatch(r"[;&|]+", word):
            if command:
                yield command
            command = []
        elif re.fullmatch(r"[()]+", word):
            raise Fault("parentheses: write a plain command")
        elif command or not re.fullmatch(r"[A-Za-z_]\w*=.*", word):
            command.append(word)


def flat(text):
    """Text in one line, without Markdown's marks."""
    return " ".join(re.sub(r"[*|`]", " ", text.replace("\\", "")).split())


def options_in(words):
    return [word.split("=")[0] for word in words if word.startswith("--") and word != "--"]


def before_dashes(words):
    return words[:words.index("--")] if "--" in words else words


def last_line(result):
    lines = (result.stderr.strip() or result.stdout.strip()).splitlines()
    return lines[-1] if lines else "no words"


class Checker:
    """Judges commands, in a folder `scratch` that looks like the checkout."""

    def __init__(self, programs, root, scratch):
        self.programs = pathlib.Path(programs).resolve()
        self.root = pathlib.Path(root).resolve()
        self.scratch = pathlib.Path(scratch)
        self.helps, self.done, self.printed, self.stand_ins = {}, {}, {}, 0
        for path in self.root.iterdir():
            if path.name not in markdown.MADE and not path.name.startswith("."):
                (self.scratch / path.name).symlink_to(path)
        samples = self.scratch / "reports"  # report writes beside what it reads
        if samples.is_symlink():
            samples.unlink()
            shutil.copytree(self.root / "reports/samples", samples / "samples")
        self.environment = {name: value for name, value in os.environ.items() if not re.match(r"OMP_|MKL_|OPENBLAS_|ONEDNN_", name)}
        self.environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                                PATH=f"{self.programs}:{os.environ.get('PATH', '')}")

    # ------------------------------------------------------------------------------------------- running

    def run(self, program, *words):
        try:
            return subprocess.run([str(program), *words], cwd=self.scratch, env=self.environment, stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, errors="replace", timeout=SECONDS)
        except subprocess.TimeoutExpired:
            raise Fault(f"`{shlex.join([pathlib.Path(program).name, *words])}` took more than {SECONDS} s") from None
        except OSError as error:
            raise Fault(f"{program} cannot be run: {error.strerror}") from None

    def must_end_well(self, program, words, allowed=(0,)):
        result = self.run(program, *words)
        if result.returncode not in allowed:
            raise Fault(f"`{shlex.join([pathlib.Path(program).name, *words])}` ended with {result.returncode}: {last_line(result)}")
        return result

    def help_of(self, program, *words):
        """The help of a program or verb."""
        key = (str(program), *words)
        if key not in self.helps:
            self.helps[key] = self.must_end_well(program, [*words, "--help"]).stdout
        return self.helps[key]

    def check_options(self, words, *texts):
        known = {option for text in texts for option in OPTION.findall(text)}
        for option in options_in(words):
            if option not in known and not option.startswith("--benchmark_"):
                near = min(known, key=lambda other: (-len(os.path.commonprefix([other, option])), other), default="")
                raise Fault(f"no help names {option}: correct it" + (f", such as to {near}" if near else ""))

    # --------------------------------------------------------------------------------- files of the reader

    def stand_in(self, word, kind):
        """Puts a sample where the document has a file or folder of the reader's."""
        path = self.scratch / os.path.expanduser(word)
        is_there = path.exists() and (kind != "run" or not path.is_dir() or (path / "results.json").exists())
        if is_there or not path.is_relative_to(self.scratch) or ".." in path.parts:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        if kind == "sweep":
            shutil.copy(self.root / SWEEP, path)
        elif kind == "workload":
            shutil.copy(self.root / WORKLOAD, path)
        elif kind == "trace":
            self.must_end_well(self.programs / "step_bench", ["trace", *TRACE, f"--file={path}"])
        elif path.suffix == ".json":
            path.write_text(json.dumps(self.another_run()))
        else:
            path.mkdir(exist_ok=True)  # a run's own folder may hold its reference's already
            (path / "results.json").write_text(json.dumps(self.another_run(is_projected=path.name.startswith("project"))))

    def another_run(self, is_projected=False):
        """The sample with times that no other has: a run may be given once only."""
        document = json.loads((self.root / SAMPLE).read_text())
        if is_projected:
            document["tandem"]["launches"] = [one for one in document["tandem"]["launches"] if not one["cell"]["options"]]
            for launch in document["tandem"]["launches"]:
                launch["cell"].update(backend="simulated", options={"hardware": "dgx-a100#0"})
        self.stand_ins += 1
        for launch in document["tandem"]["launches"]:
            launch["step_seconds"] = [seconds * (1 + 1e-6 * self.stand_ins) for seconds in launch.get("step_seconds", [])]
        return document

    def stand_in_torch(self):
        """A python whose torch knows every module of the reader's."""
        path = self.scratch / "python_with_torch"
        path.write_text("#!/bin/sh\ncase $3 in --name*) echo torch-9.9.9; exit ;; esac\n"
                        "echo '{\"module\": \"own.py:build\", \"unused\": \"\", \"own_optimizer\": false}'\n")
        path.chmod(0o755)
        return path

    def stand_in_for_all(self, verb, words):
        for value in re.findall(r"(?m)^--model[=\n](\S+\.json)$", "\n".join(words)):
            self.stand_in(value, "workload")
        kind = {"run": "sweep", "trace": "trace"}.get(verb, "run")
        for before, word in zip(words, words[1:]):
            if word.startswith("-") or before == "--out":
                continue
            if verb in ("report", "compare", "explain") or (kind != "run" and word.endswith(".json")):
                self.stand_in(word, kind)

    # ------------------------------------------------------------------------------------------ programs

    def check_tandem(self, words):
        program = self.programs / "tandem"
        verb = next(iter(words), "--help")
        if verb.startswith("-") or "--help" in words or "-h" in words:
            self.must_end_well(program, words)
            return
        words = before_dashes(words) if verb == "pretend" else words  # another program's options stand behind
        path = words[:2] if verb in WITH_SECOND_WORD and len(words) > 1 else words[:1]
        text = self.help_of(program, verb)
        second = self.help_of(program, *path) if len(path) > 1 else text
        step = self.help_of(self.programs / "step_bench") if verb in STEP_VERBS else ""
        self.check_options(words, text, second, step)
        if step:
            self.check_step_options(words, text + second, step)
        self.stand_in_for_all(verb, words)
        self.try_verb(program, verb, words, second)

    def check_step_options(self, words, own, step):
        """What a verb hands on to step_bench has to be sound there; `--option=value` and flags alone can be distinguished."""
        own_only = set(OPTION.findall(own)) - set(OPTION.findall(step)) | {"--pairs", "--steps"}  # of runs that the verb names
        handed = [word for word in words if word.startswith("--") and word.split("=")[0] not in own_only]
        if any("=" in word for word in handed):
            self.check_program("step_bench", handed)

    def try_verb(self, program, verb, words, text):
        if verb in IN_SECONDS or (verb == "lessons" and "--list" in words) or words[:2] in (["trace", "summary"]):
            self.must_end_well(program, words, (0, NEGATIVE) if verb in ("compare", "doctor") else (0,))
        elif verb == "lessons" and not any(word.startswith("--with-torch") for word in words):
            listed = self.must_end_well(program, ["lessons", "--list"]).stdout.split()
            unknown = [word for word in words[1:] if not word.startswith("-") and word not in listed]
            if unknown:
                raise Fault(f"there is no lesson {unknown[0]}: `tandem lessons --list` names them")
        elif "--dry-run" in OPTION.findall(text) and any(word.startswith("--module") for word in words):
            # Pretended GPUs are made for a wheel of torch's, which the stand-in has not.
            words = [word for word in words if not word.startswith("--pretend=")]
            self.must_end_well(program, [*words, f"--with-torch={self.stand_in_torch()}", "--dry-run"])
        elif "--dry-run" in OPTION.findall(text) and not re.search(r"--launcher[= ]srun", " ".join(words)):
            self.must_end_well(program, words if "--dry-run" in words else [*words, "--dry-run"])

    def check_program(self, name, words):
        program = self.programs / name
        self.check_options(before_dashes(words), self.help_of(program))
        self.stand_in_for_all(name, [name, *words])
        if {"--help", "--list"} & set(options_in(words)) or words[:1] == ["list"]:
            self.must_end_well(program, words)
        elif name == "step_bench":
            batch = [] if any(option.startswith("--batch") for option in options_in(words)) else ["--batch=64"]
            self.must_end_well(program, ["--check=options", *words, *batch])

    # ------------------------------------------------------------------------------------------- scripts

    def check_script(self, name, words):
        file = self.root / name
        if not file.is_file():
            raise Fault(f"there is no {name}: correct its path")
        if not os.access(file, os.X_OK):
            raise Fault(f"{name} is not executable: chmod +x, or start it by python3 or bash")
        own = before_dashes(words)
        started = next((i for i, word in enumerate(own) if word.startswith("build/")), len(own))  # a program with its own options
        self.check_options(own[:started], self.help_of(file) if name.startswith("tools/") else file.read_text(errors="replace"))
        if name == "tools/quickstart" and "--" in words:
            self.check_options(words[len(own) + 1:], self.help_of(self.programs / "tandem", "run"))
        self.check_files(words)

    def check_files(self, words):
        """Words that are paths of the checkout lead somewhere."""
        for word in words:
            path = re.sub(r"^(--?[\w-]+=|\$PWD/|\./)+", "", word).split(":")[0]
            top = path.split("/")[0]
            built = re.fullmatch(r"build/\w+/bin/(\w+)", path)
            if built and built[1] not in PROGRAMS:
                raise Fault(f"no target makes {path}: correct its name")
            if top and "/" in path and top not in markdown.MADE and (self.root / top).is_dir() and not re.search(r"[*?${]", path):
                if not list((self.root / path).parent.glob(pathlib.Path(path).name + "*")):  # or a pattern's beginning
                    raise Fault(f"there is no {path}: correct its path")

    # ---------------------------------------------------------------------------------------- one command

    def program_in(self, word):
        """The program of Tandem that a first word starts, or None: by PATH, of a build, an archive or a venv."""
        name = word.rsplit("/", 1)[-1]
        of_checkout = "/" in word and not word.startswith(("./", "build/")) and (self.root / word.split("/")[0]).is_dir()
        return name if name in PROGRAMS and not of_checkout else None

    def check(self, words):
        first, name = words[0], words[0].rsplit("/", 1)[-1]
        if name in WRAPPERS:
            behind = next((i for i, word in enumerate(words[1:], 1) if self.program_in(word)), None)
            if behind:
                words = words[behind:]
            elif name not in FOREIGN:
                raise Fault(f"{name} starts nothing of Tandem's: correct the program's name")
        program = self.program_in(words[0])
        if program == "tandem":
            self.check_tandem(words[1:])
        elif program:
            self.check_program(program, words[1:])
        elif first.startswith("./") and (self.root / "tools" / name).is_file():
            self.check_script(f"tools/{name}", words[1:])  # in an unpacked archive
        elif "/" in first and (self.root / first.split("/")[0]).is_dir():
            self.check_script(first, words[1:])
        elif name in FOREIGN:
            self.check_files(words[1:])
        else:
            raise Fault(f"{first} is none of Tandem's programs and not in FOREIGN of check_commands.py: correct it, or add it there")

    def fault(self, words):
        """What is wrong with a command, or None; each is judged once."""
        key = tuple(words)
        if key not in self.done:
            try:
                self.check(words)
                self.done[key] = None
            except Fault as fault:
                self.done[key] = str(fault)
        return self.done[key]


    # ------------------------------------------------------------------------------------------- figures

    def printed_by(self, command):
        """What a line of commands prints, in one line; each is run once."""
        if command not in self.printed:
            done = [self.must_end_well(words[0], words[1:]) for words in simple_commands(command)]
            self.printed[command] = flat(" ".join(one.stdout for one in done))
        return self.printed[command]

    def quote_faults(self, page):
        """(line, what is wrong) of figures that are marked as a command's."""
        quotes = list(QUOTE.finditer(page.text))
        if len(quotes) != page.text.count("<!-- printed by "):
            yield 1, "a mark `printed by` has no end: write <!-- printed by COMMAND -->"
        for quote in quotes:
            line, figures = page.text.count("\n", 0, quote.start()) + 1, FIGURE.findall(flat(quote[2]))
            if not figures:
                yield line, "no figure stands below the mark: move it, or remove it"
            try:
                printed = self.printed_by(quote[1])
            except Fault as fault:
                yield line, str(fault)
                continue
            for figure in figures:
                if not re.search(rf"(?<![\w.,]){re.escape(figure)}(?!\w|[.,]\d)", printed):
                    yield line, f"`{flat(quote[1])}` does not print {figure}: quote what it prints"


def documents(root):
    for file in markdown.files(root):
        name = file.relative_to(root).as_posix()
        if name in ("README.md", "CONTRIBUTING.md") or fnmatch.fnmatch(name, "docs/*.md"):
            yield name, markdown.Page(file.read_text())


def patch_faults(root, name, page):
    """Patches that a document shows and that do not fit what is committed here."""
    for block in page.blocks:
        if block.language != "diff" or not (root / ".git").exists():
            continue
        text = "".join(line + "\n" for _, line in block.lines)
        tried = subprocess.run(["git", "-C", str(root), "apply", "--check", "-"], input=text, capture_output=True, text=True, check=False)
        if tried.returncode != 0:
            yield f"{name}:{block.line}: the patch does not apply ({tried.stderr.splitlines()[0]}): make it anew"


def faults(programs, root):
    """(what is wrong, the number of commands) in all documents."""
    root = pathlib.Path(root).resolve()
    found, count = [], 0
    with tempfile.TemporaryDirectory() as scratch:
        checker = Checker(programs, root, scratch)
        for name, page in documents(root):
            found += patch_faults(root, name, page)
            for block in command_blocks(page):
                where = block.line
                try:
                    for where, text in logical_lines(block):
                        for words in simple_commands(text):
                            count += 1
                            fault = checker.fault(words)
                            if fault:
                                found.append(f"{name}:{where}: {fault}")
                except Fault as fault:
                    found.append(f"{name}:{where}: {fault}")
        for name, page in documents(root):  # last: what they write would stand in for the reader's folders
            found += [f"{name}:{line}: {fault}" for line, fault in checker.quote_faults(page)]
    return found, count


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    found, count = faults(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ".")
    if not count:
        found.append("README.md:1: no commands in sh blocks: show how to start")
    print("\n".join(found) if found else f"{count} commands can be given")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
