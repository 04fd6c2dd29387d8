#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a profiler gets to see of a run of dp and of one of ddp, recorded by tests/trace/nvtx_recorder.cc.

    nvtx_ranges_test.py STEP_BENCH RECORDER MPIEXEC [host|cuda]

On GPUs, two devices share one.
"""
import sys
import unittest
from collections import defaultdict
from itertools import groupby

from nvtx_ranges import record

STEP_BENCH, RECORDER, MPIEXEC = sys.argv[1:4]
BACKEND = (sys.argv[4:] or ["host"])[0]
ON_HOST = BACKEND == "host"
LAYERS = [f"layer{i}" for i in range(3)]  # of mlp-tiny
OPTIONS = [f"--backend={BACKEND}", "--oversubscribe", "--model=mlp-tiny", "--batch=8", "--devices=2",
           "--warmup-steps=3", "--warmup-time=1ns", "--min-samples=4", "--min-time=1ns", "--profile-steps=2"]
OPTIONS += [] if ON_HOST else ["--gpus=0"]
CATEGORIES = {"harness", "phase", "bucket", "kernel group"}
CAPTURED = 2


class Ranges:
    """What holds of dp and of ddp. `workers`: (process, device)."""

    def test_categories_and_domain_are_named(self):
        for process in self.processes:
            self.assertEqual(process.domains, ["tandem"])
            self.assertEqual(set(process.categories.values()), CATEGORIES)

    def test_names_are_registered(self):
        for process in self.processes:
            self.assertTrue(all(r.registered for r in process.nested + process.free))

    def test_steps_are_numbered(self):
        for process, device in self.workers:
            steps = [r for r in process.on(device, "worker", "phase") if r.name == "step"]
            self.assertGreaterEqual(len(steps), 3 + 4)  # of the warm-up, and samples
            self.assertEqual([r.payload for r in steps], list(range(1, len(steps) + 1)))

    def test_phases_are_in_steps(self):
        for process, device in self.workers:
            phases = [r for r in process.on(device, "worker", "phase") if r.name != "step"]
            self.assertTrue(all(r.parent["name"] == "step" for r in phases))
            self.assertTrue(all(r.parent["payload"] == r.payload for r in phases))
            steps = max(r.payload for r in phases)
            for step in range(1, steps + 1):
                names = [r.name for r in phases if r.payload == step and r.name not in ("idle", *self.repeated)]
                # What is done chunk by chunk comes again and again.
                self.assertEqual([name for name, _ in groupby(names)], self.phases_of(device))

    def test_layers_are_in_phases(self):
        for process, device in self.workers:
            groups = process.on(device, "worker", "kernel group")
            self.assertTrue(all(r.parent["payload"] == r.payload for r in groups))
            for step in range(1, max(r.payload for r in groups) + 1):
                def names(phase):
                    return [r.name for r in groups if r.payload == step and r.parent["name"] == phase]
                self.assertEqual(names("forward"), LAYERS)
                layers = [name for name in names("backward") if name in LAYERS]
                # The input's gradient and the weight's; nobody asks for the first layer's input's.
                self.assertEqual(layers, sorted(2 * LAYERS, reverse=True)[:-1])
                self.assertIn("relu_backward", names("backward"))

    def test_harness_is_on_the_thread_that_measures(self):
        for process in self.processes:
            harness = [r for r in process.nested if process.categories[r.category] == "harness"]
            self.assertEqual(len({r.thread for r in harness}), 1)
            self.assertEqual(len([r for r in harness if r.name == "warm_up"]), 1)
            samples = [r for r in harness if r.name == "sample"]
            self.assertEqual([r.payload for r in samples], list(range(1, len(samples) + 1)))
            capture, = [r for r in harness if r.name == "capture"]
            self.assertEqual(capture.payload, CAPTURED)
            inside = [r for r in samples if r.parent is not None and r.parent["name"] == "capture"]
            self.assertEqual([r.payload for r in inside], list(range(1, CAPTURED + 1)))

    def test_captured_steps_are_whole(self):
        for process, device in self.workers:
            capture, = [r for r in process.nested if r.name == "capture"]
            steps = [r for r in process.on(device, "worker", "phase") if r.name == "step"]
            self.assertEqual(len([r for r in steps if capture.holds(r)]), CAPTURED)
            self.assertEqual(len([r for r in steps if capture.start <= r.start <= capture.end]), CAPTURED)

    def test_host_says_that_there_is_no_profiler_to_start(self):
        self.assertEqual("the host back end has no CUDA profiler" in self.said, ON_HOST)


class DpTest(Ranges, unittest.TestCase):
    repeated = ()

    @classmethod
    def setUpClass(cls):
        cls.processes, cls.said = record([STEP_BENCH, "--strategy=dp", *OPTIONS], RECORDER, BACKEND)
        cls.workers = [(cls.processes[0], 0), (cls.processes[0], 1)]

    @staticmethod
    def phases_of(device):
        if device == 0:
            return ["check", "scatter", "replicate", "launch", "forward", "gather", "loss", "scatter_grad",
                    "backward", "reduce", "update"]
        return ["scatter", "replicate", "launch", "forward", "scatter_grad", "backward", "reduce"]

    def test_one_process_holds_all(self):
        self.assertEqual(len(self.processes), 1)
        self.assertEqual(bool(self.processes[0].free), not ON_HOST)
        self.assertEqual(self.processes[0].streams, {"device 0 worker", "device 1 worker"})


class DdpTest(Ranges, unittest.TestCase):
    repeated = ("backward", "bucket_copy", "exposed_comm")

    @classmethod
    def setUpClass(cls):
        cls.processes, cls.said = record(
            [MPIEXEC, "-np", "2", "--oversubscribe", "--bind-to", "none", "--mca", "btl", "vader,self",
             STEP_BENCH, "--strategy=ddp", "--first-bucket-mb=0.1", "--bucket-mb=0.1", *OPTIONS],
            RECORDER, BACKEND)
        cls.workers = [(process, int(name.split()[1])) for process in cls.processes
                       for name in process.streams if name.endswith("worker")]

    @staticmethod
    def phases_of(_):
        return ["input", "forward", "loss", "update"]

    def test_each_rank_is_a_process(self):
        self.assertEqual(sorted(device for _, device in self.workers), [0, 1])
        for process, device in self.workers:
            self.assertEqual(process.streams, {f"device {device} worker", f"device {device} comm"})

    def buckets(self, process):
        """By step, in the order in which they began."""
        steps = defaultdict(list)
        for r in sorted(process.free, key=lambda r: r.start):
            self.assertEqual(process.categories[r.category], "bucket")
            steps[r.payload].append(r)
        return steps

    def test_buckets_start_in_backward_and_end_on_the_stream_of_communication(self):
        for process, device in self.workers:
            phases = process.on(device, "worker", "phase")
            for step, buckets in self.buckets(process).items():
                backward = [r for r in phases if r.payload == step and r.name in ("backward", "bucket_copy")]
                for bucket in buckets:
                    self.assertEqual(bucket.thread, process.thread(device, "worker"))
                    self.assertEqual(bucket.end_thread, process.thread(device, "comm"))
                    self.assertTrue(any(r.start <= bucket.start <= r.end for r in backward))

    def test_buckets_are_all_there(self):
        for process, device in self.workers:
            steps = self.buckets(process)
            counts = [len(steps[step]) for step in sorted(steps)]
            self.assertEqual(counts[0], 1)  # one of everything, which shows the order
            self.assertGreater(counts[1], 1)
            self.assertEqual(set(counts[1:]), {counts[1]})
            for step in sorted(steps)[1:]:
                self.assertEqual([r.name for r in steps[step]], [f"bucket {i}" for i in range(counts[1])])
            self.assertEqual(len(steps), len([r for r in process.nested if r.name == "step"]))

    def test_collectives_are_within_their_buckets(self):
        for process, device in self.workers:
            collectives = process.on(device, "comm", "bucket")
            buckets = sorted(process.free, key=lambda r: r.end)
            self.assertEqual(len(collectives), len(buckets))
            for collective, bucket in zip(collectives, buckets):
                self.assertEqual(collective.name, "collective")
                self.assertEqual(bucket.name, f"bucket {collective.payload}")
                self.assertTrue(bucket.holds(collective))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
