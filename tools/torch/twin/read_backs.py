# SPDX-License-Identifier: Apache-2.0
"""Values that a step reads back from pretended GPUs, where nothing computed them: what the step decides by one may differ from
what it decides on a GPU.

Two kinds are left out, since they decide nothing else here than on a GPU in a step without an overflow: the loss that
read-loss=on reads, and the gradient scaler's question whether a gradient was infinite.
"""
import ctypes


def expected(strategy):
    """Of a step, in each process. A fused optimizer asks for infinite gradients itself, on the device."""
    asks = strategy.scaler is not None and not getattr(strategy.optimizer, "_step_supports_amp_scaling", False)
    return int(strategy.reads_loss) + int(asks)


class Counter:
    """From when it is made on, by the count of the pretended libraries that this process runs on."""

    def __init__(self):
        self.ask = ctypes.CDLL(None).tandem_pretend_read_back
        self.ask.restype = ctypes.c_int64
        self.start = self.ask()

    def unexpected(self, strategy, steps):
        """The values that this process read back beyond those, after so many steps."""
        return max(0, self.ask() - self.start - steps * expected(strategy))

    def warnings(self, strategy, ranks, steps, devices):
        """A line, or none."""
        mean = sum(theirs for theirs, in ranks.gather([self.unexpected(strategy, steps)])) / steps / devices
        return [warning(mean)] if mean else []


def warning(mean):
    number = f"{round(mean, 1):g}" if mean >= 0.1 else "less than 0.1"
    return (f"a step reads values back from pretended GPUs, {number} times a device in the mean: nothing computed them, so control flow "
            "may differ from a GPU's")


class NoCounter:
    """On devices that compute."""

    def warnings(self, strategy, ranks, steps, devices):
        return []
