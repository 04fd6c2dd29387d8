# SPDX-License-Identifier: Apache-2.0
"""What others take from a launch while its samples run, by the rule of bench/observe/taken_time.h; neither a quota nor clocks.

A process counts as one: all its threads may use the CPUs of its main thread.
"""
import os
import pathlib
import resource
import time

TICK = 1 / os.sysconf("SC_CLK_TCK")


def run_delays():
    """Seconds that each thread of this process could run, while others had its CPUs."""
    delays = {}
    for task in pathlib.Path("/proc/self/task").glob("*/schedstat"):
        try:
            delays[task.parent.name] = int(task.read_text(encoding="ascii").split()[1]) * 1e-9
        except (OSError, IndexError):
            continue  # the thread has just ended, or the kernel does not report it
    return delays


def cpu_times():
    """(busy, stolen) seconds by CPU, interrupts left out; empty where the system does not report it."""
    try:
        lines = [line.split() for line in pathlib.Path("/proc/stat").read_text(encoding="ascii").splitlines()]
    except OSError:
        return {}
    found = {}
    for name, *ticks in lines:
        number = name[len("cpu"):]
        if name.startswith("cpu") and number.isdigit() and len(ticks) >= 8:
            user, nice, system, _idle, _iowait, _irq, _softirq, stolen = map(int, ticks[:8])
            found[int(number)] = ((user + nice + system) * TICK, stolen * TICK)
    return found


NOTHING = 0.0, 0.0


def machine():
    """A number that the processes of one kernel share; fp64 holds it."""
    try:
        name = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")
    except OSError:
        name = "0"
    return float(int(name.replace("-", "")[:12], 16))


class Reading:
    def __init__(self):
        self.delays, self.cpus = run_delays(), cpu_times()
        usage = resource.getrusage(resource.RUSAGE_SELF)
        self.switches, self.faults = usage.ru_nivcsw, usage.ru_majflt
        self.ran, self.at = time.process_time(), time.monotonic()


def numbers_between(before, after, cpus):
    """This process's: machine, window, longest delay (-1: not known), CPU time, switches, faults; then by CPU: whether it may use
    that one, and how long that one was busy, and stolen."""
    delays = [delay - before.delays.get(thread, 0.0) for thread, delay in after.delays.items()]
    allowed = os.sched_getaffinity(0)
    return [machine(), after.at - before.at, max(delays, default=-1.0), after.ran - before.ran, after.switches - before.switches,
            after.faults - before.faults,
            *(float(cpu in allowed and cpu in after.cpus) for cpu in range(cpus)),
            *(after.cpus.get(cpu, NOTHING)[part] - before.cpus.get(cpu, NOTHING)[part] for part in (0, 1) for cpu in range(cpus))]


class Share:
    def __init__(self, numbers):
        self.machine, self.window, self.delay, self.ran, self.switches, self.faults = numbers[:6]
        rest = numbers[6:]
        cpus = len(rest) // 3
        self.allowed = {cpu for cpu in range(cpus) if rest[cpu]}
        self.busy, self.stolen = rest[cpus:2 * cpus], rest[2 * cpus:]


def taken(shares):
    """The record of all processes: others had a process's CPUs no longer than these, on average, were busy beyond the launch's
    own work."""
    lost, stolen = [], []
    for share in shares:
        if not share.allowed:
            continue
        beside = [other for other in shares if other.machine == share.machine]
        busy = sum(max(other.busy[cpu] for other in beside) for cpu in share.allowed)
        own = sum(other.ran for other in beside if other.allowed & share.allowed)
        if share.delay >= 0:
            lost.append(min(share.delay, max(0.0, busy - own) / len(share.allowed)))
        stolen.append(sum(max(0.0, share.stolen[cpu]) for cpu in share.allowed) / len(share.allowed))
    record = {"window_seconds": max(share.window for share in shares),
              "involuntary_switches": int(sum(share.switches for share in shares)),
              "major_faults": int(sum(share.faults for share in shares))}
    if stolen:
        record["steal_seconds"] = max(stolen)
    if lost:
        record["run_delay_seconds"] = max(lost)
    return record


def watch(ranks, work):
    """What `work` returns, and the record of what others took meanwhile. All ranks together."""
    cpus = int(max(ranks.gather([1 + max(cpu_times(), default=0)]))[0])  # of the largest node
    before = Reading()
    done = work()
    numbers = numbers_between(before, Reading(), cpus)
    return done, taken([Share(theirs) for theirs in ranks.gather(numbers)])
