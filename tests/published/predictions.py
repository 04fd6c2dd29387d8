# SPDX-License-Identifier: Apache-2.0
"""Cells of published tables as cells of step_bench, and what constants do to their steps."""
import pathlib
import statistics
import zlib

import host_model
import workloads

HERE = pathlib.Path(__file__).resolve().parent
# The mean of the largest of n draws of a normal distribution, in its deviations: what the slowest of n ranks is late by.
LATEST = {1: 0.0, 2: 0.564, 3: 0.846, 4: 1.029, 6: 1.267, 8: 1.424, 16: 1.766, 32: 2.070, 64: 2.343}
APEX_BUCKET_MB = 38  # apex fuses 10^7 elements of fp32


def latest(devices):
    """By Blom's approximation where the number is not in the list."""
    known = LATEST.get(devices)
    return statistics.NormalDist().inv_cdf((devices - 0.375) / (devices + 0.25)) if known is None else known


def workload_file(simulator, cell):
    """Written once a model, its counts and precision."""
    counts = cell.of
    name = f"{cell.model}-{cell.elements}-{zlib.crc32(str(cell.counts).encode()):08x}"
    gflop = counts.get("forward_gflop_per_sample", 1.0)
    return simulator.workload_file(name, workloads.workload(cell.model, counts, cell.elements, gflop))


def command(simulator, cell, scale=1.0, link=1.0, bucket=None):
    """`scale`: of the interpreter's costs; `link`: of the bandwidth between a device and the host; `bucket`: MiB."""
    words = [f"--model={workload_file(simulator, cell)}", f"--hardware={simulator.hardware(cell.machine, link)}", f"--strategy={cell.strategy}",
             f"--devices={cell.devices}", f"--batch-per-device={cell.batch}", f"--single-step={1e6 * cell.single:.3f}us"]
    if cell.strategy == "dp":
        return [*words, "--input=pageable", "--interpreter-lock=on", f"--dispatch-cost={host_model.costs(scale)}"]
    if bucket is None and "apex" in cell.software:
        bucket = APEX_BUCKET_MB
    return words + ([f"--bucket-mb={bucket}"] if bucket else [])


DDP_CONSTANTS = ("s_per_tensor", "s_per_byte", "lateness")  # of the step of one device, for each of latest()


def terms_of_ddp(cell):
    """What DDP_CONSTANTS multiply."""
    return [cell.of["parameter_tensors"], cell.gradient_bytes, latest(cell.devices) * cell.single]


def with_constants(step, cell, constants):
    """A step with a wrapper's time per parameter tensor, what exchanging slows per byte, and the lateness of the slowest rank."""
    return step + sum(constants[name] * term for name, term in zip(DDP_CONSTANTS, terms_of_ddp(cell)))


def bare_sum(cell):
    """The published step of one device and what the host was measured to add, or None."""
    host = host_model.WORK["steps_ms"].get(cell.model)
    if host is None or cell.strategy != "dp" or cell.devices > len(host):
        return None
    return cell.single + (host[cell.devices - 1] - host[0]) * 1e-3
