#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pip makes a wheel of pretend/ alone, and its command runs torch: wheel_test.py FOLDER

With the python that TANDEM_TORCH_PYTHON names, else this one or the system's. Exit status 77, with the reason, where none of
them has a torch that is built with CUDA, and scikit-build-core.
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
    python = torch_python.find(f"import scikit_build_core, elftools; {torch_python.HAS_CUDA}")
    if python is None:
        print(f"skipped: no torch built with CUDA 12 or 13, with scikit-build-core and pyelftools, in {', '.join(torch_python.TRIED)}: name a "
              "python that has them in TANDEM_TORCH_PYTHON")
        return 77
    with tempfile.TemporaryDirectory() as site:
        subprocess.run([python, "-m", "pip", "install", "--no-index", "--no-build-isolation", "--no-deps", f"--target={site}", FOLDER], check=True)
        done = subprocess.run([f"{site}/bin/tandem-pretend", "--gpus=3", f"--python={python}", "--", python, "-c",
                               "import torch; print(torch.cuda.device_count())"],
                              env={**os.environ, "PYTHONPATH": site}, stdout=subprocess.PIPE, text=True, check=False)
    print(f"exit status {done.returncode}, {done.stdout.strip()} GPUs")
    return 0 if done.returncode == 0 and done.stdout == "3\n" else 1


if __name__ == "__main__":
    sys.exit(main())
