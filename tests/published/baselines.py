# SPDX-License-Identifier: Apache-2.0
"""Predictions without a simulator: perfect scaling, transfers that overlap nothing, and a closed form with fitted constants."""
import errors
import tables

# Bandwidth in bytes per second and latency in seconds that a transfer between GPUs of a machine has, as its description.
LINKS = {"dgx-a100": (240e9, 3.4e-6), "dgx-1-v100": (120e9, 3.4e-6), "dgx-2-v100": (120e9, 3.4e-6), "dgx-1-p100": (72e9, 3.4e-6),
         "dgx-h100": (360e9, 3.4e-6)}
THROUGH_HOST = (11e9, 11.4e-6)
CHUNK = 10 * 2**20  # bytes of a broadcast or reduction of DataParallel


def perfect(cell):
    return cell.single


def no_overlap(cell):
    """The step of one device, then all transfers: two pipelines in chunks for dp, else a ring."""
    bandwidth, latency = LINKS.get(cell.hardware, THROUGH_HOST)
    size, n = cell.gradient_bytes, cell.devices
    if cell.strategy == "dp":
        return cell.single + 2 * (max(1, size / CHUNK) * (n - 1) * latency + size / bandwidth)
    return cell.single + 2 * (n - 1) * (latency + size / n / bandwidth)


def terms(cell):
    """What the constants of the closed form multiply: c0 + n K d, and on PCIe W (n - 1) / B; of ddp, a share of the step."""
    if cell.strategy != "dp":
        return [cell.single]
    of_link = [cell.gradient_bytes * (cell.devices - 1)] if tables.THROUGH_HOST.search(cell.hardware) else []
    return [1.0, cell.devices * cell.items, *of_link]


def closed_form(cell, training):
    """T(1) and terms with constants by least squares of relative errors over `training`."""
    rows = [[term / one.seconds for term in terms(one)] for one in training]
    constants = errors.least_squares(rows, [(one.seconds - one.single) / one.seconds for one in training])
    return cell.single + sum(a * b for a, b in zip(constants, terms(cell)))
