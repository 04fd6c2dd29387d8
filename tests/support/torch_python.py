# SPDX-License-Identifier: Apache-2.0
"""The Python whose torch tests are run with: what TANDEM_TORCH_PYTHON names, else this one or the system's."""
import os
import shutil
import subprocess
import sys

TRIED = [os.environ["TANDEM_TORCH_PYTHON"]] if "TANDEM_TORCH_PYTHON" in os.environ else [sys.executable, "/usr/bin/python3"]

# torch/version.py is run and not imported, since torch takes seconds to load.
VERSIONS = ("import importlib.util as u, os, runpy, sys; s = u.find_spec('torch');"
            "v = runpy.run_path(os.path.join(os.path.dirname(s.origin), 'version.py')) if s else {};")
HAS_CUDA = "(v.get('cuda') or '').startswith(('12.', '13.'))", "torch that is built with CUDA 12 or 13"


def at_least(*version):
    return f"v and tuple(map(int, v['__version__'].split('.')[:2])) >= {version}", f"torch {'.'.join(map(str, version))} or newer"


def need(kind, *modules):
    """The first of them that has such a torch, and the modules. Where none does, this program ends: skipped with the reason, or
    with an error where tests need one."""
    question, words = kind[0], " and ".join([kind[1], *modules])
    for python in TRIED:
        code = f"{VERSIONS} sys.exit(not ({question} and all(map(u.find_spec, {modules}))))"
        if shutil.which(python) and subprocess.run([python, "-c", code], capture_output=True, check=False).returncode == 0:
            return python
    if "TANDEM_NEEDS_TORCH" in os.environ:  # tools/test --with-torch
        sys.exit(f"{' or '.join(TRIED)} has no {words}")
    print(f"skipped: no {words} in {' or '.join(TRIED)}; TANDEM_TORCH_PYTHON names another")
    sys.exit(77)
