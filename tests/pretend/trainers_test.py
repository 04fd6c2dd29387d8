#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trainers that people use, started by their own launchers on two pretended GPUs: their ranks agree.

    trainers_test.py TRAINER TANDEM
"""
import pathlib
import re
import subprocess
import sys

TRAINER, TANDEM = sys.argv[1:3]
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
import programs  # beside the tests
import torch_python


# What has to be there, and what starts two ranks: hf alone takes both GPUs into one process, by DataParallel.
LAUNCHERS = {"hf": ("transformers, accelerate", ["accelerate", "launch", "--multi_gpu", "--num_processes=2", "--main_process_port=0"]),
             "hf-alone": ("transformers, accelerate", ["python"]),
             "accelerate": ("accelerate", ["accelerate", "launch", "--multi_gpu", "--num_processes=2", "--main_process_port=0"]),
             "lightning": ("lightning", ["python"]),
             "deepspeed": ("deepspeed", ["deepspeed", "--num_gpus=2", f"--master_port={programs.free_port()}"]),
             "fsdp2": ("torch.distributed.fsdp._fully_shard", ["python", "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"])}


def main():
    packages, (program, *options) = LAUNCHERS[TRAINER]
    python = torch_python.need(torch_python.HAS_CUDA, *packages.split(", "))
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
