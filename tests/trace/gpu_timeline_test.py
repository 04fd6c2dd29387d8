#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Timelines of GPUs that are stand-ins, by a stand-in for CUPTI: what ran is in what was enqueued.

    gpu_timeline_test.py STEP_BENCH FOLDER_OF_THE_MODULE STAND_IN_CUPTI SOURCE_FOLDER
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest
from collections import defaultdict
from pathlib import Path

STEP_BENCH, MODULE, CUPTI = sys.argv[1:4]
SCHEMA = Path(sys.argv[4]) / "common/timeline/schema/trace-2.schema.json"
STEPS = 2
OPTIONS = ["--backend=cuda", "--model=mlp:2x32", "--batch=8", "--warmup-steps=3", "--warmup-time=1ns",
           "--min-samples=2", "--min-time=1ns", f"--steps={STEPS}"]
PRIVILEGES, SUBSCRIBERS = 35, 39


def trace(*options, folder=str(Path(CUPTI).parent), **environment):
    with tempfile.TemporaryDirectory() as out:
        file = Path(out) / "trace.json"
        known = dict(os.environ, TANDEM_MODULE_PATH=MODULE, LD_LIBRARY_PATH=folder, STAND_IN_CUPTI=CUPTI)
        done = subprocess.run([STEP_BENCH, *OPTIONS, "trace", f"--file={file}", *options], capture_output=True, text=True,
                              timeout=100, env=known | environment)
        assert done.returncode == 0, done.stderr
        return json.loads(file.read_text())


def begin(event):
    return round(event["ts"] * 1000)


def end(event):
    return begin(event) + round(event["dur"] * 1000)


class Events:
    def __init__(self, document):
        self.facts = document["otherData"]
        self.all = document["traceEvents"]
        self.process = next(e["args"] for e in self.all if e["name"] == "process_name")
        self.threads = {e["tid"]: e["args"] for e in self.all if e["name"] == "thread_name"}
        self.slices = [e for e in self.all if e["ph"] == "X"]

    def of(self, category):
        return [e for e in self.slices if e["cat"] == category]

    def inside(self, outer):
        return [e for e in self.slices if e is not outer and e["tid"] == outer["tid"]
                and begin(outer) <= begin(e) and end(e) <= end(outer)]


class GpuTimelineTest(unittest.TestCase):
    def check_valid(self, document):
        events = Events(document)
        open_ones = defaultdict(list)
        for event in events.slices:
            stack = open_ones[event["tid"]]
            while stack and end(stack[-1]) <= begin(event):
                stack.pop()
            if stack:
                self.assertLessEqual(end(event), end(stack[-1]), (event, stack[-1]))
                self.assertNotIn(stack[-1]["cat"], ("kernel", "memory"), event)
            stack.append(event)
        try:
            import jsonschema
        except ImportError:
            return events
        schema = json.loads(SCHEMA.read_text())
        found = jsonschema.Draft202012Validator(schema).iter_errors(document)
        self.assertEqual([error.message[:200] for error in found][:3], [])
        return events

    def check_in_steps(self, events, devices):
        for device in range(devices):
            mine = [e for e in events.of("kernel") if events.threads[e["tid"]]["device"] == device]
            self.assertTrue(mine)
            for step in (e for e in events.of("step") if events.threads[e["tid"]]["device"] == device):
                ours = [e for e in mine if e["args"].get("step") == step["args"]["step"]]
                self.assertTrue(ours)
                for kernel in ours:
                    self.assertLessEqual(begin(step), begin(kernel))
                    self.assertLessEqual(end(kernel), end(step))

    def test_kernels_are_in_their_operations(self):
        events = self.check_valid(trace("--strategy=dp", "--devices=2", "--oversubscribe"))
        self.assertEqual(events.facts["cuda_times"], "cupti")
        self.assertIn("CUPTI", events.facts["device_times"])
        self.assertEqual(events.process["cuda_times"], "cupti")
        self.assertEqual(events.process["lost_records"], 0)
        self.check_in_steps(events, 2)
        for operation in events.of("kernel_group"):
            self.assertTrue([e for e in events.inside(operation) if e["cat"] in ("kernel", "memory")], operation)
        within = {e["name"] for o in events.of("kernel_group") for e in events.inside(o) if e["cat"] == "kernel"}
        self.assertIn("cublasLtMatmul", within)
        for copy in events.of("copy"):
            self.assertEqual({e["cat"] for e in events.inside(copy)}, {"memory"}, copy)
        self.assertNotIn("other", {args["role"] for args in events.threads.values()})

    def test_without_cupti_events_are_told_with_the_reason(self):
        for options, reason in ({"STAND_IN_CUPTI_REFUSES": str(PRIVILEGES)}, "run as root"), \
                ({"STAND_IN_CUPTI_REFUSES": str(SUBSCRIBERS)}, "another profiler is attached"), \
                ({"STAND_IN_CUPTI": ""}, "CUPTI reported nothing"):  # the GPUs do not report it
            events = self.check_valid(trace("--strategy=single", **options))
            self.assertTrue(events.facts["cuda_times"].startswith("events, since "))
            self.assertIn(reason, events.facts["cuda_times"])
            self.assertEqual(events.of("kernel") + events.of("memory"), [])
            self.assertEqual(len(events.of("step")), STEPS)
            self.assertTrue(events.of("kernel_group"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
