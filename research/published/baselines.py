# SPDX-License-Identifier: Apache-2.0
"""Predictions without a simulator: perfect scaling, transfers that overlap nothing, and a closed form with fitted constants."""
import errors
import simulation

CHUNK = 10 * 2**20  # bytes of a broadcast or reduction of DataParallel


def perfect(cell):
    return cell.single


def link_of(simulator, cell):
    """(bytes per second, seconds of latency) between GPUs, by the description: copies of dp take the link, all else NCCL's channels."""
    node = simulator.described(cell.machine.name)["node"]
    link = node.get("peer_link", node["host_link"])
    bandwidth, latency = simulation.bytes_per_second(link["bandwidth"]["value"]), simulation.seconds_of(link["latency"]["value"])
    if "peer_link" not in node:
        return bandwidth, 2 * latency
    if cell.strategy != "dp" and "nccl" in node:
        bandwidth = node["nccl"]["channels"]["value"] * simulation.bytes_per_second(node["nccl"]["channel_bandwidth"]["value"])
    return bandwidth, latency


def ring(bandwidth, latency, size, ranks):
    """An all-reduce: alpha and beta."""
    return 2 * (ranks - 1) * (latency + size / ranks / bandwidth)


def no_overlap(simulator, cell):
    """The step of one device, then all transfers: two pipelines in chunks for dp, else a ring."""
    bandwidth, latency = link_of(simulator, cell)
    size, n = cell.gradient_bytes, cell.devices
    if cell.strategy == "dp":
        return cell.single + 2 * (max(1, size / CHUNK) * (n - 1) * latency + size / bandwidth)
    return cell.single + ring(bandwidth, latency, size, n)


def terms(cell):
    """What the constants of the closed form multiply: c0 + n K d, and on PCIe W (n - 1) / B; of ddp, a share of the step."""
    if cell.strategy != "dp":
        return [cell.single]
    of_link = [cell.gradient_bytes * (cell.devices - 1)] if cell.machine.exchanges_through_host else []
    return [1.0, cell.devices * cell.items, *of_link]


def closed_form(cell, training):
    """T(1) and terms with constants by least squares of relative errors over `training`."""
    rows = [[term / one.seconds for term in terms(one)] for one in training]
    constants = errors.least_squares(rows, [(one.seconds - one.single) / one.seconds for one in training])
    return cell.single + sum(a * b for a, b in zip(constants, terms(cell)))
