# SPDX-License-Identifier: Apache-2.0
"""Cells of published tables as cells of step_bench, and what constants do to their steps."""
import dataclasses
import math
import pathlib
import zlib

import host_model
import simulation
import workloads

HERE = pathlib.Path(__file__).resolve().parent
APEX_BUCKET_MB = 38  # apex fuses 10^7 elements of fp32


def workload_file(simulator, cell):
    """Written once a model, its counts and precision."""
    counts = cell.of
    name = f"{cell.model}-{cell.elements}-{zlib.crc32(str(cell.counts).encode()):08x}"
    gflop = counts.get("forward_gflop_per_sample", 1.0)
    return simulator.workload_file(name, workloads.workload(cell.model, counts, cell.elements, gflop))


def command(simulator, cell, scale=1.0, link=1.0, bucket=None, share=1.0):
    """`scale`: of the interpreter's costs; `link`: of the bandwidth between a device and the host; `bucket`: MiB; `share`: of the step of
    one device that is simulated."""
    words = [f"--model={workload_file(simulator, cell)}", f"--hardware={simulator.hardware(cell.machine, link)}", f"--strategy={cell.strategy}",
             f"--devices={cell.devices}", f"--batch-per-device={cell.batch}", f"--single-step={1e6 * share * cell.single:.3f}us"]
    if cell.strategy == "dp":
        return [*words, "--input=pageable", "--interpreter-lock=on", f"--dispatch-cost={host_model.costs(scale)}"]
    if bucket is None and "apex" in cell.software:
        bucket = APEX_BUCKET_MB
    return words + ([f"--bucket-mb={bucket}"] if bucket else [])


# GB/s of copies out of pageable memory, where they are known of the machine: NVIDIA's bandwidthTest on a DGX A100 reported 10.0, and 25.7
# out of pinned memory (gist.github.com/gengwg). On other machines they are as fast as out of pinned memory: published figures of boxes
# lie between 3 and 16 GB/s.
PAGEABLE_GBPS = {"dgx-a100": 10.0}


def seconds_of_pageable(simulator, cell):
    """What the copies of the other devices' shares of the batch take longer than simulated, as out of pinned memory; the host waits for each."""
    rate = PAGEABLE_GBPS.get(cell.machine.kind)
    if rate is None:
        return 0.0
    pinned = simulation.bytes_per_second(simulator.described(cell.machine.name)["node"]["host_link"]["bandwidth"]["value"])
    size = 4 * cell.elements * cell.of["input"] * cell.batch
    return (cell.devices - 1) * size * (1 / (rate * 1e9) - 1 / pinned)


NO_ROOM = "what is not scaled (the host's calls"
LEAST_SHARE, MORE, LESS, MOST_ROUNDS = 0.3, 0.1, 0.9, 24


@dataclasses.dataclass(frozen=True)
class Asked:
    """A step of DataParallel that is asked for."""
    cell: object
    scale: float
    link: float
    # The share of the step of one device that is simulated. The rest is time in CUDA's libraries, of each device's own thread, so that it neither
    # overlaps nor grows with the number of devices.
    share: float

    def command(self, simulator):
        return command(simulator, self.cell, self.scale, self.link, share=self.share)

    def with_more_room(self):
        """The next to try where the host's work has no room: a larger share, and then less of that work, as a machine's own step of one
        device says what its host takes at most."""
        if self.share < 1:
            return dataclasses.replace(self, share=min(1.0, round(self.share + MORE, 2)))
        return dataclasses.replace(self, scale=LESS * self.scale)


def asked_for(cell, scale, link, whole=False):
    """`whole`: the device is taken to decide the step of one device whatever that is."""
    share = 1.0
    if host_model.decides(cell) and not whole:  # just above what the host's work takes
        share = min(1.0, max(LEAST_SHARE, math.ceil(10 * scale * host_model.of_one(cell.of) / cell.single) / 10))
    return Asked(cell, scale, link if link and cell.machine.exchanges_through_host else 1.0, share)


def steps_of_dp(simulator, asked):
    """The steps; endless where one cannot be simulated."""
    asked = list(asked)
    for _ in range(MOST_ROUNDS):
        steps = simulator.steps([one.command(simulator) for one in asked])
        tight = [i for i, one in enumerate(asked) if NO_ROOM in simulator.failures.get(tuple(one.command(simulator)), "")]
        if not tight:
            break
        for i in tight:
            asked[i] = asked[i].with_more_room()
    return [step + host_model.once(one.scale) + (1 - one.share) * one.cell.single for one, step in zip(asked, steps)]


def with_scatter(cell, scatter):
    """The cell on GPUs whose steps scatter by this share, in place of the catalogue's."""
    machine = dataclasses.replace(cell.machine, changes=(*cell.machine.changes, ("gpu", "scatter", f"{100 * scatter:.4g}%")))
    return dataclasses.replace(cell, machine=machine)
