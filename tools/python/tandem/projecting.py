# SPDX-License-Identifier: Apache-2.0
"""GPUs that are not there: `tandem project` of a model or a module, with its answer as text."""
from __future__ import annotations

import pathlib
from typing import Optional, Union

from .child import call, options_of
from .errors import UsageError, path_text
from .running import Answer, Numbers, StrPath, checked_module, new_folder, numbers_text, python_of


class Projection(Answer):
    """What dp, ddp and the bound would take on GPUs that are described: projection.md, whose first line says what stands behind
    it. Every figure of the results is simulated."""


def project(model: Optional[StrPath] = None, *, module: Optional[str] = None, hardware: StrPath, batch_per_device: Numbers = None,
            batch: Numbers = None, devices: Union[Numbers, str] = None, precision: Optional[str] = None,
            single_step: Optional[str] = None, dispatch_cost: Optional[str] = None, bucket_mb: Numbers = None,
            with_torch: Union[bool, StrPath] = True, out: Optional[StrPath] = None, progress: bool = True) -> Projection:
    """Says what PyTorch's DataParallel and DistributedDataParallel would take on GPUs that you do not have. Measures nothing.

    model: a built-in one such as "resnet50", or a workload file.
    module: in place of a model: the function that returns your module and an example batch, "own.py:build", which this
        python calls unless with_torch names another one.
    hardware: a machine such as "dgx-a100" (`tandem list hardware`), or a JSON file that describes one.
    batch_per_device, batch: samples of each device, or of all; a number or several; one of the two.
    devices: the most devices, several counts, or a text such as "1..64"; default: all GPUs of the machine.
    precision: "fp32", "tf32" or "bf16". single_step: what a step of one such GPU takes, if it is known, such as "36ms".
    dispatch_cost: what PyTorch's work on the host costs, "off" for nothing. bucket_mb: sizes of ddp's buckets to project.
    out: folder; default: a new one, out/project-1, ... progress and errors are those of tandem.run.
    """
    if (model is None) == (module is None):
        raise UsageError("project: give one of model and module, such as module='own.py:build'")
    folder = pathlib.Path(path_text("project: out", out)) if out is not None else new_folder("project")
    options = options_of({
        "model": path_text("project: model", model) if model is not None else None,
        "module": checked_module("project", module) if module is not None else None,
        "hardware": path_text("project: hardware", hardware),
        "batch_per_device": numbers_text("batch_per_device", batch_per_device, "project"),
        "batch": numbers_text("batch", batch, "project"),
        "devices": devices if isinstance(devices, str) else numbers_text("devices", devices, "project"),
        "precision": precision, "single_step": single_step, "dispatch_cost": dispatch_cost,
        "bucket_mb": numbers_text("bucket_mb", bucket_mb, "project"),
        "with_torch": python_of(with_torch) if module is not None else None, "out": folder})
    call(["project", *options], folder, progress)
    return Projection.read(folder, "projection.md", "project")
