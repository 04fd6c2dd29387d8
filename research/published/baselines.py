# SPDX-License-Identifier: Apache-2.0
"""Predictions without a simulator: a ring, and a closed form with fitted constants."""
import errors
import simulation


def link_of(simulator, machine):
    """(bytes per second, seconds of latency) between GPUs, by the description: NCCL's channels where it has them."""
    node = simulator.described(machine.name)["node"]
    link = node.get("peer_link", node["host_link"])
    bandwidth, latency = simulation.bytes_per_second(link["bandwidth"]["value"]), simulation.seconds_of(link["latency"]["value"])
    if "peer_link" not in node:
        return bandwidth, 2 * latency
    if "nccl" in node:
        bandwidth = node["nccl"]["channels"]["value"] * simulation.bytes_per_second(node["nccl"]["channel_bandwidth"]["value"])
    return bandwidth, latency


def ring(bandwidth, latency, size, ranks):
    """An all-reduce: alpha and beta."""
    return 2 * (ranks - 1) * (latency + size / ranks / bandwidth)


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
