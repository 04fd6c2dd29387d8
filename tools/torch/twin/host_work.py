# SPDX-License-Identifier: Apache-2.0
"""Where the host's time of a step goes: by part and by thread, work separated from waiting for a core and for the lock.

Measured after all samples, in steps of their own, since looking costs time. Nothing of torch is patched: DataParallel's
methods are timed in a subclass, modules by their hooks, the reduction by hooks of its node in autograd's graph.
"""
import os
import threading
import time

from torch import nn

from twin import ddp_ranges, sampling

STEPS = 20
ACTIVE = "main"  # the thread that takes the steps
MOST_READS = 10  # of the clocks, on a machine that is so busy that the thread waits during most


class ThreadClock:
    """(wall, CPU, run delay) of the calling thread, in ns. The run delay is what the thread waited for a core: the second
    number of schedstat; None where the kernel does not report it."""

    def __init__(self):
        self.files = threading.local()

    def file(self):
        if not hasattr(self.files, "descriptor"):
            try:
                self.files.descriptor = os.open(f"/proc/self/task/{threading.get_native_id()}/schedstat", os.O_RDONLY)
            except OSError:
                self.files.descriptor = -1
        return self.files.descriptor

    def delay(self):
        descriptor = self.file()
        return int(os.pread(descriptor, 64, 0).split()[1]) if descriptor >= 0 else None

    def now(self):
        """Reads again where the thread waited for a core meanwhile: such a wait would count for another part in one of the
        numbers than in the others."""
        delay = self.delay()
        for _ in range(MOST_READS):
            times, before, delay = (time.monotonic_ns(), time.thread_time_ns()), delay, self.delay()
            if delay == before:
                break
        return *times, delay

    def close(self):
        """Closes the calling thread's file, before the thread ends."""
        if getattr(self.files, "descriptor", -1) >= 0:
            os.close(self.files.descriptor)
        del self.files.descriptor


def since(start, end):
    return [after - before if after is not None and before is not None else None for before, after in zip(start, end)]


class Parts:
    """Sums by part of ThreadClock's figures. Threads add at once."""

    def __init__(self):
        self.sums, self.lock = {}, threading.Lock()

    def add(self, name, thread, spent):
        with self.lock:
            entry = self.sums.setdefault((name, thread), [0, [0, 0, 0]])
            entry[0] += 1
            entry[1] = [total + part if total is not None and part is not None else None for total, part in zip(entry[1], spent)]

    def rows(self, steps):
        """Per step, in the order in which parts were first met."""
        rows = []
        for (name, thread), (times, (wall, cpu, delay)) in self.sums.items():
            row = {"part": name, "thread": thread, "per_step": times / steps, "wall_seconds": wall * 1e-9 / steps,
                   "cpu_seconds": cpu * 1e-9 / steps}
            if delay is not None:
                row["run_delay_seconds"] = delay * 1e-9 / steps
            rows.append(row)
        return rows


class Marks:
    """What a strategy marks its phases with: sampling.Clock's mark, by all three times."""

    def __init__(self, parts, clock):
        self.parts, self.clock, self.last = parts, clock, None

    def start(self):
        self.last = self.clock.now()

    def mark(self, phase):
        now = self.clock.now()
        self.parts.add(phase, ACTIVE, since(self.last, now))
        self.last = now


class Hooked:
    """The forward of a module, from its hooks, on whichever thread calls it. Replicas share the hooks of their module."""

    def __init__(self, module, name, parts, clock):
        self.name, self.parts, self.clock, self.main = name, parts, clock, threading.get_ident()
        self.begun = threading.local()
        # Before all others, and after them.
        self.handles = [module.register_forward_pre_hook(self.before, prepend=True), module.register_forward_hook(self.after)]

    def before(self, module, inputs):
        self.begun.time = self.clock.now()

    def after(self, module, inputs, outputs):
        is_main = threading.get_ident() == self.main
        self.parts.add(self.name, ACTIVE if is_main else "replica", since(self.begun.time, self.clock.now()))
        if not is_main:
            self.clock.close()

    def remove(self):
        for handle in self.handles:
            handle.remove()


def node_of_broadcast(replicas):
    """What the gradients of all replicas go through: autograd adds them there."""
    for module in replicas[-1].modules():
        for tensor in getattr(module, "_former_parameters", {}).values():
            if tensor is not None and tensor.grad_fn is not None:
                return tensor.grad_fn
    return None


class Timed:
    """Before a DataParallel among a class's bases: each of its methods is a part."""

    def time_with(self, parts, clock):
        self.parts, self.clock = parts, clock
        return self

    def timed(self, name, call, *arguments):
        start = self.clock.now()
        result = call(*arguments)
        self.parts.add(name, ACTIVE, since(start, self.clock.now()))
        return result

    def scatter(self, *arguments):
        return self.timed("scatter", super().scatter, *arguments)

    def replicate(self, *arguments):
        replicas = self.timed("replicate", super().replicate, *arguments)
        self.watch_reduction(node_of_broadcast(replicas))
        return replicas

    def parallel_apply(self, *arguments):
        return self.timed("replicas' forwards", super().parallel_apply, *arguments)

    def gather(self, *arguments):
        return self.timed("gather", super().gather, *arguments)

    def watch_reduction(self, node):
        if node is None:
            return
        begun = []
        node.register_prehook(lambda *_: begun.append(self.clock.now()))

        def end(*_):
            self.parts.add("reduction", "autograd", since(begun.pop(), self.clock.now()))
        node.register_hook(end)


def threads_of(process="self"):
    """By thread of this process: its kind, and CPU time and run delay in ns."""
    found = {}
    for task in os.listdir(f"/proc/{process}/task"):
        try:
            with open(f"/proc/{process}/task/{task}/comm", encoding="utf-8") as file:
                name = file.read().strip()
            with open(f"/proc/{process}/task/{task}/schedstat", encoding="ascii") as file:
                cpu, delay = map(int, file.read().split()[:2])
        except (OSError, ValueError):
            continue  # ended just now
        kind = ACTIVE if int(task) == threading.get_native_id() else "autograd" if name.startswith("pt_autograd") else "other"
        found[task] = kind, cpu, delay
    return found


def spent_by_kind(before, after, steps):
    """Per step: of threads that lived all along. Replicas' threads live for one forward, and their parts hold them."""
    kinds = {}
    for task, (kind, cpu, delay) in after.items():
        _, cpu_before, delay_before = before.get(task, (kind, cpu, delay))
        entry = kinds.setdefault(kind, [0, 0, 0])
        if cpu > cpu_before:
            entry[0] += 1
            entry[1] += cpu - cpu_before
            entry[2] += delay - delay_before
    return [{"kind": kind, "threads": threads, "cpu_seconds": cpu * 1e-9 / steps, "run_delay_seconds": delay * 1e-9 / steps}
            for kind, (threads, cpu, delay) in sorted(kinds.items()) if threads]


def counts_of(module):
    return {"modules": sum(1 for _ in module.modules()), "parameters": sum(1 for _ in module.parameters()),
            "buffers": sum(1 for _ in module.buffers())}


def with_timed_wrapper(strategy, parts, clock):
    """Puts the timed DataParallel in place of the strategy's own."""
    own = strategy.wrapped
    if isinstance(own, nn.DataParallel):
        timed = type("TimedDataParallel", (Timed, type(own)), {})
        strategy.wrapped = timed(own.module, device_ids=own.device_ids).time_with(parts, clock)


def take_step(strategy, ranks, marks):
    ranks.barrier()
    marks.start()
    strategy.step(marks)
    strategy.synchronize()


def profiled_ranges(strategy, ranks):
    """DDP's parts within backward, which no hook from outside separates."""
    if not isinstance(strategy.wrapped, nn.parallel.DistributedDataParallel):
        return []
    return ddp_ranges.rows(lambda: take_step(strategy, ranks, sampling.NoClock()))


def measure(strategy, ranks):
    """Takes STEPS more steps on all ranks. What this rank spent in them, as JSON has it."""
    clock, parts = ThreadClock(), Parts()
    marks = Marks(parts, clock)
    with_timed_wrapper(strategy, parts, clock)
    strategy.step(sampling.NoClock())  # the wrapper's first step
    strategy.synchronize()
    parts.sums.clear()
    hooked = Hooked(strategy.module, "module", parts, clock)
    before = threads_of()
    for _ in range(STEPS):
        take_step(strategy, ranks, marks)
    after = threads_of()
    hooked.remove()
    profiled = profiled_ranges(strategy, ranks)
    return {"steps": STEPS, "parts": parts.rows(STEPS) + profiled, "threads": spent_by_kind(before, after, STEPS), **counts_of(strategy.module)}
