# SPDX-License-Identifier: Apache-2.0
"""The process of a rank's part in a launch: its variables, what it says, and how it ended."""
from __future__ import annotations

import fcntl
import os
import selectors
import signal
import socket
import struct
import subprocess
import time
from collections.abc import Mapping, Sequence
from typing import Any, Callable, NamedTuple, Optional

KEPT = 64 << 10  # bytes of what a child says, the last
SIOCGIFADDR = 0x8915


class Ended(NamedTuple):
    status: int  # negative: a signal
    out: str
    err: str

    def of_rank(self, number: int) -> Ended:
        """With a line where a signal ended it."""
        if self.status >= 0:
            return self
        return self._replace(err=f"{self.err}step_twin: rank {number} was ended by {signal.Signals(-self.status).name}\n")


def interface_to(address: str) -> Optional[str]:
    """The network interface by which this node reaches that address, as gloo is to use it; None where it cannot be said. By the
    host's own name gloo may find one that leads nowhere."""
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect((address, 9))  # sends nothing
            mine = probe.getsockname()[0]
            if mine.startswith("127."):
                return "lo"
            for _, name in socket.if_nameindex():
                request = struct.pack("256s", name.encode())
                try:
                    found = fcntl.ioctl(probe.fileno(), SIOCGIFADDR, request)
                except OSError:
                    continue  # it has no address
                if socket.inet_ntoa(found[20:24]) == mine:
                    return name
    except OSError:
        pass
    return None


def kept_variables(removed: Sequence[str], meeting: str, is_one_host: bool) -> dict[str, str]:
    """This process's, without those that begin with `removed`, as torchrun sets threads. Ranks meet by way of `meeting`, which
    may be called localhost on its own host."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith(tuple(removed))}
    interface = interface_to(meeting)
    if interface and (interface != "lo" or is_one_host):
        variables.setdefault("GLOO_SOCKET_IFNAME", interface)
    return variables


def read_all(child: subprocess.Popen[bytes], is_stopped: Callable[[], bool], period: float) -> tuple[dict[Any, bytes], bool]:
    """What it says until it ends, by pipe, and whether it was stopped. A process of its own may hold the pipes longer."""
    said: dict[Any, bytes] = {child.stdout: b"", child.stderr: b""}
    was_stopped, looked = False, time.monotonic()
    with selectors.DefaultSelector() as selector:
        for pipe in said:
            selector.register(pipe, selectors.EVENT_READ)
        while selector.get_map():
            ready = selector.select(period)
            for key, _ in ready:
                part = os.read(key.fd, KEPT)
                said[key.fileobj] = (said[key.fileobj] + part)[-KEPT:]
                if not part:
                    selector.unregister(key.fileobj)
            if not ready and child.poll() is not None:
                break
            if time.monotonic() - looked >= period and not was_stopped:
                looked = time.monotonic()
                was_stopped = is_stopped()
                if was_stopped:
                    child.kill()
    return said, was_stopped


def run_child(command: Sequence[str], variables: Mapping[str, str], is_stopped: Callable[[], bool], period: float) -> Ended:
    """Runs it to its end, or kills it once `is_stopped`, asked each `period` seconds, says so; the status is then 0, for it did nothing
    wrong. The child has a session of its own, since a launcher signals a rank's whole group."""
    with subprocess.Popen(command, env=dict(variables), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          start_new_session=True) as child:
        try:
            said, was_stopped = read_all(child, is_stopped, period)
        except BaseException:
            child.kill()
            raise
        status = 0 if was_stopped else child.wait()
        texts = [said[pipe].decode("utf-8", "replace") for pipe in (child.stdout, child.stderr)]
    return Ended(status, *texts)
