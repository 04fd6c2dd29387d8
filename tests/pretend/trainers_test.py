#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trainers that people use, started by their own launchers on two pretended GPUs: their ranks agree.

    trainers_test.py TRAINER TANDEM

With the python that TANDEM_TORCH_PYTHON names, else this one or the system's. Exit status 77, with the reason, where none of
them has a torch that is built with CUDA, and the trainer.
"""
import pathlib
import re
import socket
import subprocess
import sys

TRAINER, TANDEM = sys.argv[1:3]
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
import torch_python  # beside the tests


def free_port():
    with socket.socket() as found:
        found.bind(("", 0))
        return found.getsockname()[1]


# What has to be there, and what starts two ranks: hf alone takes both GPUs into one process, by DataParallel.
LAUNCHERS = {"hf": ("transformers, accelerate", ["accelerate", "launch", "--multi_gpu", "--num_processes=2", "--main_process_port=0"]),
             "hf-alone": ("transformers, accelerate", ["python"]),
             "accelerate": ("accelerate", ["accelerate", "launch", "--multi_gpu", "--num_processes=2", "--main_process_port=0"]),
             "lightning": ("lightning", ["python"]),
             "deepspeed": ("deepspeed", ["deepspeed", "--num_gpus=2", f"--master_port={free_port()}"]),
             "fsdp2": ("torch.distributed.fsdp._fully_shard", ["python", "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"])}


def main():
    packages, (program, *options) = LAUNCHERS[TRAINER]
    python = torch_python.find(torch_python.HAS_CUDA)
    there = python and subprocess.run([python, "-c", f"import importlib.util as u, sys; sys.exit(not all(u.find_spec(name) for name in "
                                       f"{packages.split(', ')}))"], check=False).returncode == 0
    if not there:
        print(f"skipped: no torch built with CUDA 12 or 13, with {packages}, in {', '.join(torch_python.TRIED)}: name a python that has them in "
              "TANDEM_TORCH_PYTHON")
        return 77
    launcher = python if program == "python" else str(pathlib.Path(python).parent / program)
    done = subprocess.run([TANDEM, "pretend", "--gpus=2", "--check", f"--python={python}", "--", launcher, *options, HERE / "trainers.py", TRAINER.split("-")[0]],
                          capture_output=True, text=True, check=False, timeout=500)
    ranks = 1 if TRAINER == "hf-alone" else 2
    said = sorted(re.findall(r"trained: rank \d+ of \d+, \d+ steps", done.stdout))  # ranks share lines
    if done.returncode or said != [f"trained: rank {rank} of {ranks}, 2 steps" for rank in range(ranks)]:
        print(done.stdout + done.stderr, f"{TRAINER}: exit status {done.returncode}, {said}", sep="\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
