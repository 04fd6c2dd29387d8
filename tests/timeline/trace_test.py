#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Traces of real launches: valid, whole and aligned, and a delay is where it was planted.

    trace_test.py ddp|dp STEP_BENCH MPIEXEC SOURCE_FOLDER
"""
import json
import statistics
import subprocess
import sys
import tempfile
import unittest
from collections import defaultdict
from pathlib import Path

STRATEGY, STEP_BENCH, MPIEXEC = sys.argv[1:4]
SCHEMA = Path(sys.argv[4]) / "common/timeline/schema/trace-2.schema.json"
DEVICES = {"ddp": 4, "dp": 2}[STRATEGY]
PROCESSES = {"ddp": DEVICES, "dp": 1}[STRATEGY]
STEPS = 3
DELAY_MS = 50
LAYERS = [f"layer{i}" for i in range(3)]  # of mlp-tiny
OPTIONS = ["--backend=host", "--oversubscribe", "--batch=16", f"--devices={DEVICES}", "--warmup-steps=3",
           "--warmup-time=1ns", "--min-samples=2", "--min-time=1ns", f"--steps={STEPS}"]
BUCKETS = ["--first-bucket-mb=0.1", "--bucket-mb=0.1"]


def trace(*options, strategy=STRATEGY, model="mlp-tiny"):
    """The trace, and the record of what was measured before it."""
    with tempfile.TemporaryDirectory() as folder:
        file, record = Path(folder) / "trace.json", Path(folder) / "record.json"
        ranks = [MPIEXEC, "-np", str(DEVICES), "--oversubscribe", "--bind-to", "none", "--mca", "btl", "vader,self"]
        what = [f"--strategy={strategy}", f"--model={model}", "trace", f"--file={file}", f"--record={record}"]
        command = (ranks if STRATEGY == "ddp" else []) + [STEP_BENCH, *OPTIONS, *what, *options]
        done = subprocess.run(command, capture_output=True, text=True, timeout=200)
        assert done.returncode == 0, done.stderr
        return json.loads(file.read_text()), json.loads(record.read_text())


class Events:
    def __init__(self, document):
        self.document = document
        self.all = document["traceEvents"]
        self.threads = {(e["pid"], e["tid"]): e["args"] for e in self.all if e["name"] == "thread_name"}
        self.slices = [e for e in self.all if e["ph"] == "X"]

    def of(self, category, **wanted):
        return [e for e in self.slices if e["cat"] == category and all(e["args"].get(k) == v for k, v in wanted.items())]

    def device(self, event):
        return self.threads[event["pid"], event["tid"]]["device"]

    def named(self, name, device):
        return [e for e in self.of("phase") if e["name"] == name and self.device(e) == device]

    @staticmethod
    def begin(event):
        return round(event["ts"] * 1000)  # in nanoseconds, which add exactly

    @classmethod
    def end(cls, event):
        return cls.begin(event) + round(event["dur"] * 1000)


class TraceTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        document, cls.record = trace(*(BUCKETS if STRATEGY == "ddp" else []))
        cls.events = Events(document)

    def test_schema_holds(self):
        try:
            import jsonschema
        except ImportError:
            self.skipTest("python3-jsonschema is not installed")
        schema = json.loads(SCHEMA.read_text())
        jsonschema.Draft202012Validator.check_schema(schema)
        check = jsonschema.Draft202012Validator(schema)
        self.assertEqual([error.message[:200] for error in check.iter_errors(self.events.document)][:3], [])
        for spoil in ({"ph": "B"}, {"dur": -1}, {"tid": "one"}, {"cat": "nothing"}):
            spoilt = dict(next(iter(self.events.slices)), **spoil)
            self.assertFalse(check.is_valid(dict(self.events.document, traceEvents=[spoilt])), spoil)

    def test_times_are_in_order_on_each_thread(self):
        latest = defaultdict(int)
        for event in self.events.all:
            if event["ph"] == "M":
                continue
            at, thread = Events.begin(event), (event["pid"], event["tid"])
            self.assertGreaterEqual(at, latest[thread])
            self.assertIn(thread, self.events.threads)
            latest[thread] = at

    def test_slices_nest(self):
        open_ones = defaultdict(list)
        for event in self.events.slices:
            stack = open_ones[event["pid"], event["tid"]]
            while stack and Events.end(stack[-1]) <= Events.begin(event):
                stack.pop()
            if stack:
                self.assertLessEqual(Events.end(event), Events.end(stack[-1]), (event, stack[-1]))
            stack.append(event)

    def test_processes_are_ranks_with_all_their_devices(self):
        self.assertEqual({pid for pid, _ in self.events.threads}, set(range(1, PROCESSES + 1)))
        compute = [args["device"] for args in self.events.threads.values() if args["role"] == "compute"]
        self.assertEqual(sorted(compute), list(range(DEVICES)))

    def test_phases_partition_steps(self):
        for device in range(DEVICES):
            steps = [e for e in self.events.of("step") if self.events.device(e) == device]
            self.assertEqual([e["args"]["step"] for e in steps], list(range(1, STEPS + 1)))
            for step in steps:
                at = Events.begin(step)
                for phase in self.events.of("phase", step=step["args"]["step"]):
                    if self.events.device(phase) == device and phase["dur"] > 0:
                        self.assertEqual(Events.begin(phase), at)
                        at = Events.end(phase)
                self.assertEqual(at, Events.end(step))

    def test_clocks_are_aligned(self):
        for number in range(1, STEPS + 1):
            steps = self.events.of("step", step=number)
            self.assertEqual(len(steps), DEVICES)
            self.assertLess(max(map(Events.begin, steps)), min(map(Events.end, steps)))
        for sample in (e for e in self.events.of("harness") if e["name"] == "sample"):
            inside = [e for e in self.events.of("step") if e["pid"] == sample["pid"]
                      and Events.begin(sample) <= Events.begin(e) and Events.end(e) <= Events.end(sample)]
            self.assertEqual(len(inside), DEVICES // PROCESSES)

    def test_what_was_measured_before_is_the_records(self):
        untraced = self.events.document["otherData"]["untraced"]
        self.assertEqual(untraced["samples"], len(self.record["step_seconds"]))
        self.assertAlmostEqual(untraced["step_seconds"], statistics.median(self.record["step_seconds"]), 12)

    def test_layers_are_in_forward(self):
        for forward in self.events.of("phase"):
            if forward["name"] != "forward":
                continue
            layers = [e["name"] for e in self.events.of("layer") if e["tid"] == forward["tid"]
                      and Events.begin(forward) <= Events.begin(e) and Events.end(e) <= Events.end(forward)]
            self.assertEqual(layers, LAYERS)

    def test_copies_are_there(self):
        copies = self.events.of("copy")
        self.assertEqual({self.events.device(e) for e in copies}, set(range(DEVICES)))
        self.assertTrue(all(e["args"]["bytes"] > 0 for e in copies))

    def test_harness_is_told(self):
        self.assertEqual([e["name"] for e in self.events.of("harness") if e["pid"] == 1],
                         ["barrier", "sample", "enqueue", "wait", "exchange"] * STEPS)

    @unittest.skipUnless(STRATEGY == "ddp", "there are no collectives of gradients")
    def test_collectives_are_matched(self):
        by_sequence = defaultdict(list)
        for event in self.events.of("collective"):
            by_sequence[event["args"]["sequence"]].append(event)
        buckets = len(by_sequence) // STEPS
        self.assertGreater(buckets, 1)
        self.assertEqual(sorted(by_sequence), list(range(STEPS * buckets)))
        for sequence, ranks in by_sequence.items():
            self.assertEqual(sorted(e["pid"] for e in ranks), list(range(1, DEVICES + 1)))
            self.assertEqual({e["args"]["bucket"] for e in ranks}, {sequence % buckets})
            last = max(map(Events.begin, ranks))
            # Nobody leaves before the last has come: on clocks that are apart somebody would.
            self.assertLess(last, min(map(Events.end, ranks)))
            for event in ranks:
                self.assertEqual(round(event["args"]["waited_for_last_us"] * 1000), last - Events.begin(event))
                self.assertEqual(round(event["args"]["arrival_skew_us"] * 1000), last - min(map(Events.begin, ranks)))

    @unittest.skipUnless(STRATEGY == "ddp", "there are no collectives of gradients")
    def test_arrows_go_from_ready_through_the_collective(self):
        self.check_arrows(self.events)

    def check_arrows(self, events):
        arrows = defaultdict(list)
        for event in events.all:
            if event["ph"] in "stf":
                arrows[event["id"]].append(event)
        self.assertEqual(len(arrows), len([e for e in events.of("collective") if "bucket" in e["args"]]))
        for ends in arrows.values():
            self.assertEqual([e["ph"] for e in ends], ["s", "t", "f"])
            self.assertEqual(len({e["pid"] for e in ends}), 1)
            ready, collective, back = ends
            for end in ends:
                around = [e for e in events.slices if (e["pid"], e["tid"]) == (end["pid"], end["tid"])
                          and Events.begin(e) <= Events.begin(end) <= Events.end(e)]
                self.assertTrue(around, end)
                if end is collective:
                    self.assertIn("collective", {e["cat"] for e in around if Events.begin(e) == Events.begin(end)})
            self.assertNotEqual(ready["tid"], collective["tid"])
            self.assertEqual(ready["tid"], back["tid"])

    def matched(self, events):
        """Names of collectives of no bucket, in order, each of which all devices met in."""
        by_sequence = defaultdict(list)
        for event in events.of("collective"):
            if "bucket" not in event["args"]:
                by_sequence[event["args"]["sequence"]].append(event)
        names = []
        for _, devices in sorted(by_sequence.items()):
            self.assertEqual(sorted(map(events.device, devices)), list(range(DEVICES)))
            self.assertEqual(len({(e["name"], e["args"]["bytes"]) for e in devices}), 1)
            skew = max(map(Events.begin, devices)) - min(map(Events.begin, devices))
            for event in devices:
                self.assertEqual(round(event["args"]["arrival_skew_us"] * 1000), skew)
                self.assertEqual(events.threads[event["pid"], event["tid"]]["role"], "compute")
            names.append(devices[0]["name"])
        return names

    @unittest.skipUnless(STRATEGY == "ddp", "it is of processes")
    def test_collectives_of_no_bucket_are_matched_too(self):
        one_step = ["scatter", "broadcast", "gather", "scatter", "reduce"]
        self.assertEqual(self.matched(Events(trace(strategy="ddp-replicate")[0])), one_step * STEPS)
        self.assertEqual(self.matched(Events(trace(model="resnet-tiny")[0])), ["broadcast"] * STEPS)

    def test_a_planted_delay_is_where_it_was_put(self):
        for phase in ("loss", "backward") if STRATEGY == "ddp" else ("update", "forward"):
            events = Events(trace(f"--plant={phase}:{DELAY_MS}ms")[0])
            self.assertEqual(events.document["otherData"]["plant"], f"{phase}:{DELAY_MS}ms")

            def total(name, device, step):
                return sum(e["dur"] for e in events.named(name, device) if e["args"]["step"] == step) / 1000

            for step in range(1, STEPS + 1):
                self.assertGreaterEqual(total(phase, 0, step), DELAY_MS)
            for name in {e["name"] for e in events.of("phase")} - {phase, "idle", "exposed_comm"}:
                self.assertLess(min(total(name, 0, step) for step in range(1, STEPS + 1)), DELAY_MS, name)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
