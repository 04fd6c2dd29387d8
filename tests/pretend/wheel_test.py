#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pip makes a wheel of pretend/ alone, and its command runs torch: wheel_test.py FOLDER
"""
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import torch_python  # beside the tests

FOLDER = sys.argv[1]


def main():
    python = torch_python.need(torch_python.HAS_CUDA, "scikit_build_core", "elftools")
    with tempfile.TemporaryDirectory() as site:
        subprocess.run([python, "-m", "pip", "install", "--no-index", "--no-build-isolation", "--no-deps", f"--target={site}", FOLDER], check=True)
        done = subprocess.run([f"{site}/bin/tandem-pretend", "--gpus=3", f"--python={python}", "--", python, "-c",
                               "import torch; print(torch.cuda.device_count())"],
                              env={**os.environ, "PYTHONPATH": site}, stdout=subprocess.PIPE, text=True, check=False)
    print(f"exit status {done.returncode}, {done.stdout.strip()} GPUs")
    return 0 if done.returncode == 0 and done.stdout == "3\n" else 1


if __name__ == "__main__":
    sys.exit(main())
