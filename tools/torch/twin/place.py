# SPDX-License-Identifier: Apache-2.0
"""Where a rank runs: which one it is, on which core, and how it meets the others. Works before torch is imported, so that
torch's threads inherit the core."""
import ctypes
import glob
import json
import math
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
    """A rank that torchrun or the like has started, in a launch: tandem/ranks.py."""
    rank: int
    ranks: int
    beside: int  # the ranks of its machine, which share a clock
    lack: str  # why ranks have to share cores; empty where each has one
    core: int  # the hardware thread that is this rank's
    cores: int  # that all ranks together may use
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


def threads_by_core():
    """The first allowed hardware thread of each core, ascending; a core's name is that of all its threads."""
    first = {}
    for cpu in sorted(os.sched_getaffinity(0)):
        first.setdefault(siblings(cpu), cpu)
    return first


def bounds(controller, names, root="/"):
    """The folders of this process's control groups of a controller, and of those around them, each with the numbers in these files.
    Version 2 has one tree of groups, version 1 one for each controller."""
    try:
        lines = pathlib.Path(root, "proc/self/cgroup").read_text(encoding="ascii").splitlines()
    except OSError:
        return
    for kinds, group in (line.split(":", 2)[1:] for line in lines):
        folder = pathlib.Path(f"{root}/sys/fs/cgroup/{controller if kinds else ''}/{group}")
        if kinds and controller not in kinds.split(","):
            continue
        for around in (folder, *folder.parents):
            texts = [path.read_text(encoding="ascii") for name in names if (path := around / name).is_file()]
            yield around, [float(word) for word in " ".join(texts).replace("max", "inf").split()]


def cpu_limits(root="/"):
    """The cores' worth of time of each of this process's control groups that has a limit, by the folder's device and inode: a path
    may name another group in another container."""
    found = (bound for files in (["cpu.max"], ["cpu.cfs_quota_us", "cpu.cfs_period_us"]) for bound in bounds("cpu", files, root))
    return {"{0.st_dev}:{0.st_ino}".format(os.stat(group)): bound[0] / bound[1]
            for group, bound in found if len(bound) == 2 and 0 < bound[0] < math.inf}


def memory_limit(root="/"):
    """Bytes; infinite without a limit."""
    return min((number for _, bound in bounds("memory", ["memory.max", "memory.limit_in_bytes"], root) for number in bound), default=math.inf)


def has_nvidia_device():
    """By the rule of step_bench's --backend=auto (tools/tandem/process/nvidia_device.h)."""
    return any(glob.glob(pattern) for pattern in ("/dev/nvidia[0-9]*", "/proc/driver/nvidia/gpus/*", "/dev/dxg"))


PRETENDING = "TANDEM_PRETEND_GPUS"  # set by tandem pretend
PRETENDED = "pretended-"  # begins the back ends of GPUs that are not there; the card follows


def find(devices, backend, may_share):
    """This rank's place; on cores each device is one, to which its process is bound as step_bench's are. On pretended GPUs
    nothing is bound, as on real ones, and the host's work of devices shares the cores that there are."""
    (rank, ranks), cores, ours = started_ranks(), list(threads_by_core().values()), launch()
    if backend != "host":
        return Place(rank, ranks, cores, -1, backend.startswith(PRETENDED) and devices > len(cores))
    lack = f"only {len(cores)} core{'s' * (len(cores) != 1)} to run on" if devices > len(cores) else ""
    core, lack = (ours.core, ours.lack) if ours else (cores[rank % len(cores)], lack)
    if lack and not may_share:
        raise UsageError(f"{devices} devices, but {lack}; --oversubscribe measures all the same")
    os.sched_setaffinity(0, {core})
    return Place(rank, ranks, cores, core, bool(lack))


def meeting_point():
    """A file that all ranks of this job name, and no other job: in the launch's own temporary folder where the runner gives
    it one. One node only."""
    job = os.environ.get("PMIX_NAMESPACE", str(os.getppid()))
    return pathlib.Path(tempfile.gettempdir()) / f"tandem-twin.{job}"
