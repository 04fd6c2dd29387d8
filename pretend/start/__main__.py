#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a command of Python on pretended GPUs.

  tandem-pretend [--gpus=8] [--like=a100|h100|rtx4090|rtx3090|v100] [--log=FILE] [--python=PYTHON] [--beside-gpu] -- COMMAND...
  tandem-pretend --check [--patience=SECONDS] [OPTION...] -- COMMAND...
  tandem-pretend --variables --python=PYTHON [OPTION...]

`tandem pretend` and `python3 lib/pretend/start` are the same; the libraries lie in the folder above. --variables prints the variables of the environment, "NAME=value" a line, instead of
running a command. --check finds ranks that wait for each other. Exit status: the command's; 1 where something failed, 2 where
it cannot be done as asked, 3 where --check found something.
"""
import argparse
import os
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import job
import symbol_check
import torch_wheel
from refusal import Failure, Usage

LIBRARIES = pathlib.Path(__file__).resolve().parent.parent
CARDS = ("a100", "h100", "rtx4090", "rtx3090", "v100")
MOST_GPUS = 64


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise Usage(f"{message}; the command stands behind --, as in --gpus=2 -- python3 train.py")


def parse(words):
    parser = Parser(prog="pretend", usage=argparse.SUPPRESS, description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpus", type=int, default=8)
    parser.add_argument("--like", default="a100")
    parser.add_argument("--log", default="")  # each process writes LOG.PID
    parser.add_argument("--python", default="")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--patience", type=float)
    parser.add_argument("--beside-gpu", action="store_true")
    parser.add_argument("--variables", action="store_true")
    parser.add_argument("--root", type=pathlib.Path, default="/", help=argparse.SUPPRESS)  # where a real GPU is looked for
    own, mark, command = words, None, []
    if "--" in words:
        mark = words.index("--")
        own, command = words[:mark], words[mark + 1:]
    options = parser.parse_args(own)
    options.command = command
    return options


def has_nvidia_device(root):
    """By the rules of Tandem's runtime: a device file nvidia0, nvidia1, ... (nvidiactl and nvidia-uvm exist without a GPU), an
    entry of the driver, or Windows' paravirtual device with its driver."""
    return (any(re.fullmatch(r"nvidia\d+", file.name) for file in root.glob("dev/nvidia*"))
            or any(root.glob("proc/driver/nvidia/gpus/*"))
            or (root / "dev/dxg").exists() and (root / "usr/lib/wsl/lib/libcuda.so.1").exists())


def check(options):
    if not 1 <= options.gpus <= MOST_GPUS:
        raise Usage(f"--gpus={options.gpus}: use a number from 1 to {MOST_GPUS}")
    if options.like not in CARDS:
        raise Usage(f"--like={options.like}: there is no such card; use {', '.join(CARDS)}")
    if options.patience is not None and not options.check:
        raise Usage(f"--patience={options.patience:g}: it is of --check; add that, or leave it out")
    if options.patience is not None and not 0 < options.patience < float("inf"):
        raise Usage(f"--patience={options.patience:g}: use seconds above 0")
    if options.check and options.log:
        raise Usage("--check never measures, and a log would be taken for a measured one; leave out one of --check and --log")
    if not options.beside_gpu and has_nvidia_device(options.root):
        raise Usage("pretending GPUs: this machine has a real one, and its figures would be mistaken for measured ones; add "
                    "--beside-gpu if you mean it")


def checked_log(log):
    """The log's path from the root, since the command may change its folder."""
    if not log:
        return ""
    path = pathlib.Path(os.path.abspath(log))
    if not os.access(path.parent, os.W_OK | os.X_OK):
        why = "Permission denied" if path.parent.exists() else "No such file or directory"
        raise Usage(f"--log={log}: files cannot be made in {path.parent}: {why}; name another folder")
    return str(path)


def check_libraries():
    if re.search("[ :]", str(LIBRARIES)):  # LD_PRELOAD ends a name at both
        raise Usage(f"pretending GPUs: the loader cannot take libraries from {LIBRARIES}; move Tandem to a folder without blanks and "
                    "colons")


def environment_for(options, wheel, libraries, environment):
    """`environment` with what makes torch see pretended GPUs."""
    variables = dict(environment)
    # The first one is what the others share: it sees a process end only where it stands before libc.
    preloaded = [str(libraries / name) for name in ("libtandem_pretend.so", *symbol_check.pretended_sonames(wheel.cuda_major))]
    for name, parts in (("LD_PRELOAD", preloaded), ("LD_LIBRARY_PATH", [str(libraries), *wheel.nvrtc_folders])):
        variables[name] = ":".join(parts + [variables[name]] if variables.get(name) else parts)
    variables.update(TANDEM_PRETEND_GPUS=str(options.gpus), TANDEM_PRETEND_LIKE=options.like, TANDEM_PRETEND_LOG=options.log,
                     TANDEM_PRETEND_VERSIONS=wheel.library_versions())
    if not options.log:
        del variables["TANDEM_PRETEND_LOG"]
    return variables


def pretended_environment(options):
    check(options)
    options.log = checked_log(options.log)
    check_libraries()
    wheel = torch_wheel.find(options.python)
    wheel.check()
    symbol_check.check(wheel, LIBRARIES)
    return environment_for(options, wheel, LIBRARIES, os.environ)


def run(options):
    if not options.command and not options.variables:
        raise Usage("pretending GPUs: there is no command; put one behind --: tandem pretend -- python3 train.py")
    options.python = options.python or torch_wheel.python_of(options.command[0])
    variables = pretended_environment(options)
    if options.variables:
        for name, value in variables.items():
            if os.environ.get(name) != value:
                print(f"{name}={value}")
        return 0
    if options.check:
        print("pretended GPUs: calls of communicators checked, nothing computed or measured", file=sys.stderr, flush=True)
        return job.Job(options.patience or 30).run(options.command, variables)
    print("pretended GPUs: host work measured, nothing computed", file=sys.stderr, flush=True)
    try:
        os.execvpe(options.command[0], options.command, variables)
    except OSError as error:
        raise Failure(f"running {options.command[0]}: {error.strerror}; check the command behind --") from error


def main():
    try:
        return run(parse(sys.argv[1:]))
    except Failure as failure:
        print(f"tandem: {failure}", file=sys.stderr)
        return failure.status


if __name__ == "__main__":
    sys.exit(main())
