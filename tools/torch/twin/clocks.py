# SPDX-License-Identifier: Apache-2.0
"""Whether GPUs' clocks are steady, as step_bench's warm-up asks: bench/observe/gpu_watch.cc.

NVML by ctypes, since torch asks it through a package of its own, which few have. A clock that cannot be read keeps nobody
waiting.
"""
import ctypes
import time

PERIOD = 0.1  # seconds between two readings, at least
READINGS = 20  # two seconds
FEWEST_READINGS = 6
STEADY = 0.02  # the higher mean of both halves of the latest readings over the lower, less 1
NVML_CLOCK_SM = 1


def address_of(cuda, ordinal):
    """As NVML takes it: "00000000:10:00.0"."""
    device, text = ctypes.c_int(), ctypes.create_string_buffer(32)
    if cuda.cuDeviceGet(ctypes.byref(device), ordinal) or cuda.cuDeviceGetPCIBusId(text, len(text), device):
        return None
    domain, _, rest = text.value.decode().partition(":")
    return f"{int(domain, 16):08x}:{rest}"


def sm_clocks(ordinals):
    """A function without arguments that gives MHz by device, those left out that do not report it."""
    try:
        cuda, nvml = ctypes.CDLL("libcuda.so.1"), ctypes.CDLL("libnvidia-ml.so.1")
        by_address, clock_of = nvml.nvmlDeviceGetHandleByPciBusId_v2, nvml.nvmlDeviceGetClockInfo
        if nvml.nvmlInit_v2():
            return dict
    except (OSError, AttributeError):
        return dict
    gpus = {}
    for ordinal in ordinals:
        address, gpu = address_of(cuda, ordinal), ctypes.c_void_p()
        if address and not by_address(address.encode(), ctypes.byref(gpu)):
            gpus[ordinal] = gpu

    def read():
        found = {}
        for ordinal, gpu in gpus.items():
            mhz = ctypes.c_uint()
            if not clock_of(gpu, NVML_CLOCK_SM, ctypes.byref(mhz)):
                found[ordinal] = mhz.value
        return found

    return read


def are_steady(readings):
    half = len(readings) // 2
    lower, higher = sorted((sum(readings[:half]), sum(readings[len(readings) - half:])))
    return len(readings) >= FEWEST_READINGS and 0 < lower and higher <= lower * (1 + STEADY)


class Watch:
    """Finds when the clocks of this rank's GPUs, which `read` gives, are steady."""

    def __init__(self, ranks, read):
        self.ranks, self.read, self.latest, self.last = ranks, read, {}, 0.0

    def is_steady(self):
        """The same on all ranks."""
        if time.monotonic() - self.last >= PERIOD:
            self.last = time.monotonic()
            for gpu, mhz in self.read().items():
                self.latest[gpu] = [*self.latest.get(gpu, []), mhz][-READINGS:]
        return all(steady for steady, *_ in self.ranks.gather([int(all(map(are_steady, self.latest.values())))]))
