# SPDX-License-Identifier: Apache-2.0
"""Where the programs lie that this module starts."""
from __future__ import annotations

import os
import pathlib

from .errors import TandemError

HERE = pathlib.Path(__file__).resolve().parent
OVERRIDE = "TANDEM_PROGRAM"  # the path of another `tandem`, which the module starts


def program() -> pathlib.Path:
    """`tandem`, as the module starts it: that of the variable, else the one that belongs to this file."""
    given = os.environ.get(OVERRIDE)
    if not given:
        return own_program()
    if not os.access(given, os.X_OK):
        raise TandemError(f"{OVERRIDE}={given}: there is no such program; unset it, or name one")
    return pathlib.Path(given)


def own_program() -> pathlib.Path:
    """That of the wheel, or of the archive or the checkout that this file lies in."""
    top = HERE.parents[2]
    around = top.parent / "tandem" if top.name == "programs" else top / "build/release/bin/tandem"
    places = [HERE / "archive" / "tandem", around]
    for place in places:
        if place.is_file():
            return place
    raise TandemError(f"looking for {places[0]}: the programs are not there; install the wheel with pip, or build (tools/quickstart)")


def torch_tools() -> pathlib.Path:
    """The folder of PyTorch's side, beside own_program()."""
    places = [HERE / "archive/programs/tools/torch", HERE.parents[1] / "torch"]
    for place in places:
        if (place / "step_twin").is_file():
            return place
    raise TandemError(f"looking for {places[1]}: PyTorch's side is not there; keep tools/torch beside tools/python")


def version() -> str:
    """Such as 0.1.0: that of the installed wheel, else what the program says."""
    import importlib.metadata
    import subprocess
    try:
        return importlib.metadata.version("tandem_bench")
    except importlib.metadata.PackageNotFoundError:
        said = subprocess.run([str(program()), "--version"], stdout=subprocess.PIPE, text=True, check=False).stdout
        words = said.split()  # tandem 0.2.0 (results schema 2.0.0)
        return words[1] if len(words) > 1 else "unknown"
