#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What PyTorch's profiler (Kineto) recorded, as a trace of step_bench: a file per rank, with the fields of torch 2.9.1's files.
`tandem trace import` starts this file; docs/profiling.md says what becomes of what.

  kineto.py FILE... TRACE    writes the files of all ranks of one run as a trace

Times are whole nanoseconds. Exit status: 0, 1 where TRACE cannot be written, 2 for files of another kind.
"""
import collections
import gzip
import json
import pathlib
import sys
import zlib

SCHEMA = 1
MOST_STEPS = 1_000_000_000
STEP_MARK = "ProfilerStep#"
# What becomes a phase: operators whose names begin so, or the profiler's marks around them.
PHASE_MARKS = (("torch.distributed.ddp.reducer::copy_bucket_to_grad", "bucket_copy"), ("Optimizer.step", "update"),
               ("Optimizer.zero_grad", "zero_grad"), ("DistributedDataParallel.forward", "forward"),
               ("DataParallel.forward", "forward"), ("autograd::engine::evaluate_function", "backward"))
PHASES = list(dict.fromkeys(phase for _, phase in PHASE_MARKS))


class Refusal(Exception):
    """What cannot be read, with the mend."""


# Sets of points in time: (begin, end) in order, none empty, none touching the next.

def union(ranges):
    found = []
    for begin, end in sorted(one for one in ranges if one[0] < one[1]):
        if found and begin <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], end)
        else:
            found.append((begin, end))
    return found


def intersection(a, b):
    found, x, y = [], 0, 0
    while x < len(a) and y < len(b):
        begin, end = max(a[x][0], b[y][0]), min(a[x][1], b[y][1])
        if begin < end:
            found.append((begin, end))
        if a[x][1] < b[y][1]:
            x += 1
        else:
            y += 1
    return found


def without(a, b):
    """The part of `a` that is not in `b`."""
    bounds = [float("-inf"), *(time for one in b for time in one), float("inf")]
    return intersection(a, list(zip(bounds[::2], bounds[1::2])))


Event = collections.namedtuple("Event", "name begin end thread device size")


class Marks:
    """The profiler's marks on one timeline, the host's or a GPU's: steps by number from 1, and ranges of phases."""
    def __init__(self):
        self.steps, self.phases = {}, collections.defaultdict(list)

    def take(self, event):
        if event.name.startswith(STEP_MARK):
            digits = event.name[len(STEP_MARK):]
            number = min(int(digits), MOST_STEPS) + 1 if digits.isdecimal() else 1
            begin, end = self.steps.get(number, event[1:3])
            self.steps[number] = min(begin, event.begin), max(end, event.end)
            return
        for begins, phase in PHASE_MARKS:
            if event.name.startswith(begins):
                self.phases[phase].append(event[1:3])

    def finish(self):
        """Once all are taken: backward goes from a step's first to its last evaluation."""
        self.steps = dict(sorted(self.steps.items()))
        self.phases = {phase: union(ranges) for phase, ranges in self.phases.items()}
        parts = [intersection(self.phases.get("backward", []), [step]) for step in self.steps.values()]
        self.phases["backward"] = union((part[0][0], part[-1][1]) for part in parts if part)


def number_of(value, most, kind=(int, float)):
    if isinstance(value, bool) or not isinstance(value, kind) or not 0 <= value <= most:
        raise ValueError(f"{value!r} is not a number from 0 to {most}")
    return value


class RankFile:
    """One rank's file, sorted out. A file that is alone may be of DataParallel, whose one process has GPUs and no rank."""
    def __init__(self, source, is_alone):
        self.source, self.rank, self.ranks, self.backend = source, 0, 1, ""
        self.host, self.gpus = Marks(), collections.defaultdict(Marks)  # by device
        self.operators, self.host_collectives, self.kernels, self.gpu_collectives = [], [], [], []
        try:
            text = pathlib.Path(source).read_bytes()
            if text.startswith(b"\x1f\x8b"):  # tensorboard_trace_handler with use_gzip
                text = gzip.decompress(text)
            root = json.loads(text.decode("utf-8"), parse_constant=float)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise Refusal(f"{source}: gzip cannot read it: {error}; copy it again") from error
        except ValueError as error:
            raise Refusal(f"{source}: it is no JSON: {error}; write it again") from error
        except OSError as error:
            raise Refusal(f"reading trace {source}: it cannot be read ({error.strerror}); check its rights") from error
        self.check_version(root)
        try:
            self.read(root, is_alone)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            why = f"it has no {error}" if isinstance(error, KeyError) else str(error)[:200]
            raise Refusal(f"{source}: {why}, unlike what torch's profiler writes; write it again") from error
        self.devices = sorted({event.device for event in self.kernels + self.gpu_collectives})

    def check_version(self, root):
        if not isinstance(root, dict) or "schemaVersion" not in root or "traceEvents" not in root:
            raise Refusal(f"{self.source}: it is no file of torch's profiler, which has schemaVersion and traceEvents: write one with "
                          "export_chrome_trace of a torch built with Kineto")
        if root["schemaVersion"] != SCHEMA:
            raise Refusal(f"{self.source}: its schemaVersion is not {SCHEMA}, the one that this tandem knows: profile with torch 2.9 or "
                          "older, or use a newer tandem")

    def read(self, root, is_alone):
        info = root.get("distributedInfo") or {}
        if "rank" in info:
            self.ranks = number_of(info["world_size"], 1 << 20, int)
            self.rank = number_of(info["rank"], self.ranks - 1, int)
            self.backend = " ".join(str(info.get("backend", "")).split())
        base = number_of(root.get("baseTimeNanoseconds", 0), 4 * 10**18, int)
        for event in root["traceEvents"]:
            if event["ph"] == "X" and isinstance(event.get("cat"), str):
                self.take(event, event["cat"], base)
        if "rank" not in info and not (is_alone and (self.kernels or self.gpu_collectives)):
            raise Refusal(f"{self.source}: it names no rank (distributedInfo), as torch's profiler does where torch.distributed is initialised "
                          "before it: profile each rank of the job")
        if not self.host.steps:
            raise Refusal(f"{self.source}: it has no step (ProfilerStep#N): call the profiler's step() behind each step, with a schedule")
        for marks in (self.host, *self.gpus.values()):
            marks.finish()

    def take(self, json_event, category, base):
        begin = base + round(number_of(json_event["ts"], 4e15) * 1000)
        end = begin + round(number_of(json_event["dur"], 1e12) * 1000)
        name, args = str(json_event["name"]), json_event.get("args", {})
        if category in ("kernel", "gpu_memcpy", "gpu_memset"):
            size = args.get("bytes", 0)
            event = Event(name, begin, end, number_of(args["stream"], 1 << 62, int), number_of(args["device"], 1 << 20, int),
                          size if isinstance(size, int) else 0)
            (self.gpu_collectives if name.startswith("nccl") and "Kernel" in name else self.kernels).append(event)
            return
        event = Event(name, begin, end, json_event.get("tid", 0), None, 0)
        if category == "gpu_user_annotation":
            self.gpus[number_of(json_event["pid"], 1 << 20, int)].take(event)
        elif category in ("cpu_op", "user_annotation"):
            self.host.take(event)
            if name.startswith(("gloo:", "mpi:")):
                self.host_collectives.append(event)
            elif category == "cpu_op":
                self.operators.append(event)


def check_one_run(files):
    first = files[0]
    for file in files[1:]:
        def complain(what):
            raise Refusal(f"{first.source} and {file.source}: {what}: give the files of one run, one of each rank")

        if file.ranks != first.ranks:
            complain(f"they are of jobs of {first.ranks} and {file.ranks} ranks")
        if sum(other.rank == file.rank for other in files) > 1:
            complain(f"rank {file.rank} comes twice")
        (a, b), (c, d) = ((min(step[0] for step in one.host.steps.values()), list(one.host.steps.values())[-1][1]) for one in (first, file))
        if b <= c or d <= a:
            complain("their steps lie at different times, so they are of two runs")
    if len(files) != first.ranks:
        raise Refusal(f"{first.source}: {len(files)} of {first.ranks} ranks: give the files of all ranks")


class Device:
    """One device's tracks of a rank's file: {name: slices}, a slice as (kind, name, begin, end, arguments)."""
    def __init__(self, file, device):
        self.is_gpu = device is not None
        self.marks = file.gpus[device] if self.is_gpu else file.host
        self.steps = self.marks.steps or file.host.steps  # the host's where the profiler put none on the GPU
        self.compute, self.tracks = [], {}
        work, collectives = (file.kernels, file.gpu_collectives) if self.is_gpu else (file.operators, file.host_collectives)
        self.take_collectives(self.mine(collectives, device))
        self.pieces = list(self.apart(self.mine(work, device)))
        self.work = union((begin, end) for _, begin, end in self.pieces)
        for number, step in self.steps.items():
            self.add_step(number, step)

    def mine(self, events, device):
        return sorted((event for event in events if not self.is_gpu or event.device == device), key=lambda event: event.begin)

    @staticmethod
    def apart(events):
        """(name, begin, end) of those that lie in no other one, without what an earlier one covers."""
        covered = 0
        for event in events:
            if max(covered, event.begin) < event.end:
                yield event.name, max(covered, event.begin), event.end
                covered = event.end

    def take_collectives(self, events):
        names, tracks, buckets = {}, collections.defaultdict(list), collections.Counter()
        for sequence, event in enumerate(events):
            names.setdefault(event.thread, f"comm {len(names) + 1}" if names else "comm")
            step = next((number for number, (begin, end) in self.steps.items() if begin <= event.begin < end), 0)
            more = {"step": step, "bytes": event.size, "sequence": sequence}
            if step and ("all_reduce" in event.name or "AllReduce" in event.name):
                more["bucket"] = buckets[step]
                buckets[step] += 1
            tracks[event.thread].append(("collective", event.name, event.begin, event.end, more))
        self.tracks = {names[thread]: tracks[thread] for thread in sorted(tracks)}
        self.communication = union(event[1:3] for event in events)

    def add(self, kind, name, ranges, number):
        self.compute.extend((kind, name, begin, end, {"step": number}) for begin, end in ranges)

    def add_step(self, number, step):
        """The step in phases: work by the marks around it, then waits."""
        whole, before = [step], len(self.compute)
        self.add("step", "step", whole, number)
        # Between operators a host runs Python.
        busy = left = intersection(self.work, whole) if self.is_gpu else without(whole, without(self.communication, self.work))
        for phase in PHASES:
            inside = intersection(left, self.marks.phases.get(phase, []))
            self.add("phase", phase, inside, number)
            left = without(left, inside)
        self.add("phase", "compute" if self.is_gpu else "host", left, number)
        waits = without(whole, busy)
        exposed = intersection(waits, self.communication)
        self.add("phase", "exposed_comm", exposed, number)
        self.add("phase", "idle", without(waits, exposed), number)
        # Operators are cut where a phase begins, so that slices nest.
        phases = sorted(one[2:4] for one in self.compute[before:] if one[0] == "phase")
        at = 0
        for name, begin, end in self.pieces:
            while at < len(phases) and phases[at][1] <= begin:
                at += 1
            for index in range(at, len(phases)):
                if phases[index][0] >= end:
                    break
                self.add("kernel_group", name, [(max(begin, phases[index][0]), min(end, phases[index][1]))], number)


def trace_events(processes, earliest):
    for rank, devices in processes:
        pid, has_gpus = rank + 1, devices[0][1].is_gpu
        about = {"name": f"rank {rank} on torch", "rank": rank, "host": "torch", "clock_offset_ns": 0, "clock_drift": 0.0, "clock_error_ns": 0}
        about.update({"cuda_times": "torch's profiler", "lost_records": 0} if has_gpus else {})
        yield {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": about}
        tracks = [(number, *track) for number, device in devices for track in (("compute", device.compute), *device.tracks.items())]
        for tid, (number, name, slices) in enumerate(tracks, 1000 * pid + 1):
            yield {"ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": {"name": name, "device": number, "role": name}}
            for kind, what, begin, end, more in slices:
                yield {"ph": "X", "name": what, "pid": pid, "tid": tid, "cat": kind, "ts": (begin - earliest) / 1000,
                       "dur": (end - begin) / 1000, "args": more}


def read_files(sources, out):
    files = [RankFile(source, len(sources) == 1) for source in sources]
    check_one_run(files)
    files.sort(key=lambda file: file.rank)
    first, count = files[0], sum(max(1, len(file.devices)) for file in files)
    processes = [(file.rank, [(device, Device(file, device)) for device in file.devices] or [(file.rank, Device(file, None))])
                 for file in files]
    # Times of the profiler are since 1970.
    earliest = min(one[2] for _, devices in processes for _, device in devices for slices in (device.compute, *device.tracks.values())
                   for one in slices)
    # One process without a rank is of DataParallel where it has several GPUs.
    strategy = "ddp" if first.ranks > 1 else "dp" if count > 1 else "single"
    facts = {"strategy": strategy, "launch": "processes" if first.ranks > 1 else "threads", "model": "a module of PyTorch",
             "devices": str(count), "batch": "not known", "backend": "cuda" if first.devices else "host",
             "transport": first.backend or "none", "profiler": f"torch's, schemaVersion {SCHEMA}",
             "clock": "torch's profiler's, taken as one of all ranks"}
    trace = {"otherData": {"tandem_trace": "2.0.0", "origin_ns": 0, **facts}, "traceEvents": list(trace_events(processes, earliest))}
    pathlib.Path(out).write_text(json.dumps(trace), encoding="utf-8")


def main():
    *files, out = sys.argv[1:]
    try:
        read_files(files, out)
    except Refusal as refusal:
        print(f"tandem: {refusal}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"tandem: writing {error.filename}: {error.strerror}; choose a folder that can be written to", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
