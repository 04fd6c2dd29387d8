# SPDX-License-Identifier: Apache-2.0
"""torch's optimizers by the names of the options, with step_bench's rates."""
import torch

from twin.place import UsageError

KINDS = {
    "sgd": (torch.optim.SGD, {"lr": 0.01, "momentum": 0.9}),
    "adam": (torch.optim.Adam, {"lr": 1e-3}),
    "adamw": (torch.optim.AdamW, {"lr": 1e-3, "weight_decay": 1e-2}),
}


def named(options, parameters):
    kind, settings = KINDS[options.optimizer]
    fused = {"fused": True} if options.fused == "on" else {}
    try:
        return kind(parameters, **settings, **fused)
    except (TypeError, RuntimeError) as error:
        if not fused:
            raise
        raise UsageError(f"--fused=on: this torch has no fused {options.optimizer} here ({' '.join(str(error).split())}); "
                         "leave it out, or use a newer torch") from error


def name_of(optimizer):
    """As the options have it, or that of a class that they lack."""
    return next((name for name, (kind, _) in KINDS.items() if type(optimizer) is kind), type(optimizer).__name__)
