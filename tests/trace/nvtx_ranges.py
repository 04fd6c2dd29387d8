# SPDX-License-Identifier: Apache-2.0
"""What tests/trace/nvtx_recorder.cc wrote of a run, as ranges of devices. On the host they are those of the workers'
threads; on GPUs those that enqueue: of one thread nested ones, of several start/end ranges for steps and phases."""
import json
import os
import subprocess
import tempfile
from collections import defaultdict
from pathlib import Path


class Range:
    def __init__(self, begin, end, parent=None, device=None):
        self.name, self.payload, self.category = begin["name"], begin["payload"], begin["category"]
        self.registered = begin["registered"]
        self.thread, self.end_thread = begin["thread"], end["thread"]
        self.start, self.end = begin["at"], end["at"]
        self.parent = parent  # its begin
        self.device = device  # of GPUs

    def holds(self, other):
        return self.start <= other.start and other.end <= self.end


class Process:
    """One process's ranges. Dies where one has no begin, no end or the wrong thread."""

    def __init__(self, file):
        self.events = [json.loads(line) for line in file.read_text().splitlines()]
        assert all(event.get("domain", "tandem") == "tandem" for event in self.events)
        self.domains = [event["name"] for event in self.events if event["event"] == "domain"]
        names = [event for event in self.events if event["event"] == "category"]
        self.categories = {event["category"]: event["name"] for event in names}
        self.begins = {event["id"]: event for event in self.events if event["event"] == "start"}
        self.ends = {event["id"]: event for event in self.events if event["event"] == "end"}
        assert self.begins.keys() == self.ends.keys(), "a range was started and never ended, or ended twice"
        self.nested = self.pushed()
        self.free = [Range(begin, self.ends[number]) for number, begin in self.begins.items()]

    def pushed(self):
        ranges, stacks = [], defaultdict(list)
        for event in self.events:
            stack = stacks[event["thread"]]
            if event["event"] == "push":
                stack.append(event)
            if event["event"] == "pop":
                begin = stack.pop()
                ranges.append(Range(begin, event, stack[-1] if stack else None))
        assert not any(stacks.values()), "a range was pushed and never popped"
        return ranges

    def of(self, category, ranges):
        """In the order in which they began."""
        return sorted((r for r in ranges if self.categories[r.category] == category), key=lambda r: r.start)


class HostProcess(Process):
    def __init__(self, file):
        super().__init__(file)
        names = [event for event in self.events if event["event"] == "name_thread"]
        self.threads = {event["named"]: event["name"] for event in names}
        assert len(names) == len(self.threads), "a thread is named twice"
        self.streams = set(self.threads.values())

    def thread(self, device, role):
        found = [number for number, named in self.threads.items() if named == f"device {device} {role}"]
        assert len(found) == 1, f"{len(found)} threads are for device {device}'s {role}: {self.threads}"
        return found[0]

    def on(self, device, role, category):
        return self.of(category, [r for r in self.nested if r.thread == self.thread(device, role)])


class GpuProcess(Process):
    """Streams are named instead of threads."""

    def __init__(self, file):
        super().__init__(file)
        self.streams = {event["name"] for event in self.events if event["event"] == "name_stream"}
        self.several = not any(r.name == "step" for r in self.nested)
        if self.several:
            self.assign()

    def assign(self):
        """Steps and phases of several threads, each to its device, and work to its phase. A thread that ends a phase
        begins the next at once, or ends the step."""
        phases = [e for e in self.events if e["event"] in ("start", "end")]
        following, latest = {}, {}
        for event in phases:
            if event["thread"] in latest:
                following[id(latest[event["thread"]])] = event
            latest[event["thread"]] = event
        self.free, device_of = [], {}
        for number, step in self.begins.items():
            if step["name"] != "step":
                continue
            chain, event = [], following[id(step)]
            while event["event"] == "start":
                assert event["payload"] == step["payload"], (step, event)
                chain.append(event)
                event = following[id(self.ends[event["id"]])]
            assert event["id"] == number, f"step {step['payload']} does not end behind its last phase"
            device = 0 if chain[0]["name"] == "check" else 1
            self.free.append(Range(step, self.ends[number], None, device))
            for phase in chain:
                device_of[phase["id"]] = device
                self.free.append(Range(phase, self.ends[phase["id"]], step, device))
        assert len(self.free) == len(self.begins), "a phase is of no step"
        self.assign_work(device_of)

    def assign_work(self, device_of):
        latest, found = {}, {}
        for event in self.events:
            if event["event"] == "start":
                latest[event["thread"]] = event
            if event["event"] == "push" and event["category"] in self.work_categories():
                phase = latest[event["thread"]]
                assert event["at"] <= self.ends[phase["id"]]["at"], (event, phase)
                found[event["thread"], event["at"]] = phase
        for r in self.nested:
            if r.category in self.work_categories():
                r.parent = found[r.thread, r.start]
                r.device = device_of[r.parent["id"]]

    def work_categories(self):
        return [number for number, name in self.categories.items() if name == "kernel group"]

    def thread(self, _device, _role):
        found = {r.thread for r in self.nested if r.name == "step"}
        assert len(found) == 1, f"{len(found)} threads enqueue steps"
        return found.pop()

    def on(self, device, role, category):
        if self.several:
            return self.of(category, [r for r in self.nested + self.free if r.device == device])
        return self.of(category, [r for r in self.nested if r.thread == self.thread(device, role)])


def record(command, recorder, backend):
    """The processes of a run, and what it said."""
    process = {"host": HostProcess, "cuda": GpuProcess}[backend]
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, NVTX_INJECTION64_PATH=recorder, NVTX_RECORD_FOLDER=folder)
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=100)
        assert done.returncode == 0, done.stderr
        return [process(file) for file in Path(folder).glob("*.jsonl")], done.stderr
