# SPDX-License-Identifier: Apache-2.0
"""The Python whose torch tests are run with."""
import os
import shutil
import subprocess
import sys


TRIED = [os.environ["TANDEM_TORCH_PYTHON"]] if "TANDEM_TORCH_PYTHON" in os.environ else [sys.executable, "/usr/bin/python3"]

# A question to ask: whether its torch is built with CUDA 12 or 13. torch/version.py is run and not imported, since such a
# torch takes seconds to load.
HAS_CUDA = ("import importlib.util as u, os, runpy, sys; s = u.find_spec('torch');"
            "sys.exit(not (s and (runpy.run_path(os.path.join(os.path.dirname(s.origin), 'version.py')).get('cuda') or '')"
            ".startswith(('12.', '13.'))))")


def find(question="import torch"):
    """The first of them that answers `question` with status 0; None where none does, or an error where tests need one."""
    for python in TRIED:
        if not shutil.which(python):
            continue
        if subprocess.run([python, "-c", question], capture_output=True, check=False).returncode == 0:
            return python
    if "TANDEM_NEEDS_TORCH" in os.environ:  # tools/test --with-torch
        sys.exit(f"{' or '.join(TRIED)} has no such torch: it ends '{question}' with an error")
    return None
