# SPDX-License-Identifier: Apache-2.0
"""Where a rank runs: which one it is, on which core, and how it meets the others. Works before torch is imported, so that
torch's threads inherit the core."""
import ctypes
import glob
import json
import os
import pathlib
import platform
import signal
import sys
import sysconfig
import tempfile
import typing

# Thread counts and kernel choices that would favour or cripple either side: the prefixes of
# common/base/this_process.h, but for the benchmark library's.
REMOVED = ("OMP_", "GOMP_", "KMP_", "OPENBLAS_", "MKL_", "DNNL_", "ONEDNN_")


PR_SET_PDEATHSIG = 1
LAUNCH = "TANDEM_LAUNCH"  # a Launch as JSON, which tandem/launched.py sets


class UsageError(Exception):
    """What was asked for cannot be had: exit status 2."""


class Launch(typing.NamedTuple):
    """A rank that torchrun or the like has started, in a launch: tandem/launched.py."""
    rank: int
    ranks: int
    index: int  # among the ranks of its machine, which share cores and a clock
    count: int  # of these
    gpu: int
    hosts: list  # by node
    store: list  # host and port, where the ranks meet under `name`
    name: str


class Place(typing.NamedTuple):
    rank: int
    ranks: int
    cores: list  # OS numbers of those that this job may use, one hardware thread of each
    core: int  # this rank's; -1: bound to none
    is_oversubscribed: bool = False


def launch():
    """None where mpirun or nobody started this process."""
    return Launch(**json.loads(os.environ[LAUNCH])) if LAUNCH in os.environ else None


def started_ranks():
    """(rank, ranks) as the launcher has it; (0, 1) without one."""
    if LAUNCH in os.environ:
        return launch()[:2]
    return int(os.environ.get("OMPI_COMM_WORLD_RANK", "0")), int(os.environ.get("OMPI_COMM_WORLD_SIZE", "1"))


def end_with_parent():
    """A rank whose parent a launcher has ended is ended too; mpirun sees to that itself."""
    if LAUNCH in os.environ:
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def remove_variables():
    """Takes the variables away that change kernels or threads, and names them."""
    removed = sorted(name for name in os.environ if name.startswith(REMOVED))
    for name in removed:
        del os.environ[name]
    return removed


def settle_lock(gil):
    """Starts this program again with the interpreter's lock on or off, where the cell says which."""
    if gil == "usual":
        return
    if not sysconfig.get_config_var("Py_GIL_DISABLED"):
        raise UsageError(f"--gil={gil}: Python {platform.python_version()} always has the interpreter's lock; name a free-threaded "
                         "one, such as python3.14t")
    wanted = {"on": "1", "off": "0"}[gil]
    if os.environ.get("PYTHON_GIL") != wanted:
        os.environ["PYTHON_GIL"] = wanted
        os.execv(sys.executable, [sys.executable, "-B", *sys.argv])


def python_version():
    """With the interpreter's lock where it differs from others: "3.14.7, lock off"."""
    if not sysconfig.get_config_var("Py_GIL_DISABLED"):
        return platform.python_version()
    return f"{platform.python_version()} free-threaded, lock {'on' if sys._is_gil_enabled() else 'off'}"


def siblings(cpu):
    """The hardware threads of its core, as the system writes them; its own number where the system does not say."""
    try:
        return pathlib.Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list").read_text(encoding="ascii")
    except OSError:
        return str(cpu)


def allowed_cores():
    """The first allowed hardware thread of each core, ascending."""
    first = {}
    for cpu in sorted(os.sched_getaffinity(0)):
        first.setdefault(siblings(cpu), cpu)
    return list(first.values())


def has_nvidia_device():
    """By the rule of step_bench's --backend=auto (tools/tandem/process/nvidia_device.h)."""
    return any(glob.glob(pattern) for pattern in ("/dev/nvidia[0-9]*", "/proc/driver/nvidia/gpus/*", "/dev/dxg"))


PRETENDING = "TANDEM_PRETEND_GPUS"  # set by tandem pretend
PRETENDED = "pretended-"  # begins the back ends of GPUs that are not there; the card follows


def find(devices, backend, may_share):
    """This rank's place; on cores each device is one, to which its process is bound as step_bench's are. On pretended GPUs
    nothing is bound, as on real ones, and the host's work of devices shares the cores that there are."""
    rank, ranks = started_ranks()
    cores = allowed_cores()
    index, count = launch()[2:4] if LAUNCH in os.environ else (rank, devices)
    if backend != "host":
        return Place(rank, ranks, cores, -1, backend.startswith(PRETENDED) and devices > len(cores))
    is_oversubscribed = count > len(cores)
    if is_oversubscribed and not may_share:
        raise UsageError(f"{count} devices, but only {len(cores)} cores to run on; --oversubscribe measures all the same")
    core = cores[index % len(cores)]
    os.sched_setaffinity(0, {core})
    return Place(rank, ranks, cores, core, is_oversubscribed)


def meeting_point():
    """A file that all ranks of this job name, and no other job: in the launch's own temporary folder where the runner gives
    it one. One node only."""
    job = os.environ.get("PMIX_NAMESPACE", str(os.getppid()))
    return pathlib.Path(tempfile.gettempdir()) / f"tandem-twin.{job}"
