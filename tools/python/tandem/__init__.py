# SPDX-License-Identifier: Apache-2.0
"""DataParallel against DistributedDataParallel, measured on this machine.

    import tandem
    own = tandem.export(module, example_inputs)            # torch is imported here, and nowhere else
    results = tandem.run({"name": "own", "workloads": [{"model": own, "batch": 64}], "devices": [1, 2],
                          "strategies": ["single", "dp", "ddp"]})
    print(results.verdict)
    results.cells                                          # a pandas frame; seconds, bytes, samples per second

Errors are TandemError, and UsageError where a call makes no sense, each with one line that says what to do.
"""
from __future__ import annotations

from typing import TYPE_CHECKING

from .errors import TandemError, UsageError
from .exporting import export
from .projecting import Projection, project
from .results import Results, load
from .running import Explanation, explain, run
from .verdict import Verdict

if TYPE_CHECKING:
    __version__: str

__all__ = ["Explanation", "Projection", "Results", "TandemError", "UsageError", "Verdict", "explain", "export", "load", "project", "run"]


def __getattr__(name: str) -> str:
    """The version, when it is asked for: its reader needs longer to import than all of this."""
    if name == "__version__":
        from .place import version
        return version()
    raise AttributeError(f"module 'tandem' has no attribute '{name}'")
