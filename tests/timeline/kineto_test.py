#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`tandem trace import`: kineto_test.py TANDEM

kineto/ holds what torch 2.9.1's profiler recorded of two steps of DistributedDataParallel on two gloo ranks (three linear
layers, two buckets), without operators that lie in other operators and without arguments.
"""
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TANDEM = sys.argv.pop()
OWN = [(pathlib.Path(__file__).resolve().parent / f"kineto/rank{rank}.json").read_text() for rank in range(2)]
GPUS = """{"schemaVersion": 1, "traceEvents": [
{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#0", "pid": 9, "tid": 9, "ts": 0, "dur": 100, "args": {}},
{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 10, "dur": 40, "args": {"device": 0, "stream": 7}},
{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum", "pid": 0, "tid": 20, "ts": 30, "dur": 40, "args": {"device": 0, "stream": 20}},
{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 1, "tid": 7, "ts": 10, "dur": 20, "args": {"device": 1, "stream": 7}}]}"""


def replaced(text, old, new):
    assert old in text, old
    return text.replace(old, new, 1)


class Import(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name)

    def tandem(self, *words):
        return subprocess.run([TANDEM, "trace", *words], cwd=self.folder, capture_output=True, text=True, check=False, timeout=100,
                              env=os.environ | {"COLUMNS": "10000"})

    def import_texts(self, *texts):
        names = "abcd"[:len(texts)]
        for name, text in zip(names, texts):
            (self.folder / name).write_text(text)
        return self.tandem("import", *names, "--out=trace.json")

    def imported(self, *texts):
        """(the trace, its summary)"""
        done = self.import_texts(*texts)
        self.assertEqual(done.returncode, 0, done.stderr)
        summary = self.tandem("summary", "trace.json")
        self.assertEqual(done.stdout, summary.stdout)  # which names the file
        return json.loads((self.folder / "trace.json").read_text()), json.loads(self.tandem("summary", "trace.json", "--json").stdout)

    def refused(self, words, *texts):
        done = self.import_texts(*texts)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
        self.assertTrue(done.stderr.startswith("tandem: "), done.stderr)
        self.assertIn(words, done.stderr)

    def test_has_the_steps_and_ranks_of_the_profiler(self):
        trace, summary = self.imported(*OWN)
        self.assertEqual([one["steps"] for one in summary["devices"]], [2, 2])
        # ProfilerStep#4 and #5 of rank 1 took 35.489 and 11.545 ms.
        self.assertAlmostEqual(summary["devices"][1]["step"], (35.489196e-3 + 11.545324e-3) / 2, places=9)
        self.assertEqual((trace["otherData"]["transport"], trace["otherData"]["strategy"]), ("gloo", "ddp"))

    def test_compressed_files_are_read(self):
        for name, text in zip("ab", OWN):
            (self.folder / name).write_bytes(gzip.compress(text.encode()))
        done = self.tandem("import", "a", "b", "--out=trace.json")
        self.assertEqual((done.returncode, done.stdout), (0, self.import_texts(*OWN).stdout), done.stderr)
        (self.folder / "a").write_bytes(gzip.compress(OWN[0].encode())[:-9])
        self.assertIn("tandem: a: gzip cannot read it: ", self.tandem("import", "a").stderr)

    def test_phases_partition_each_step(self):
        trace, _ = self.imported(*OWN)
        spans = [one for one in trace["traceEvents"] if one["ph"] == "X"]
        steps = [one for one in spans if one["cat"] == "step"]
        self.assertEqual(len(steps), 4)
        for step in steps:
            phases = sorted((one for one in spans if one["cat"] == "phase" and one["tid"] == step["tid"]
                             and one["args"]["step"] == step["args"]["step"]), key=lambda one: one["ts"])
            at = step["ts"]
            for phase in phases:
                self.assertAlmostEqual(phase["ts"], at, places=3)
                at = phase["ts"] + phase["dur"]
            self.assertAlmostEqual(at, step["ts"] + step["dur"], places=3)
            self.assertLessEqual({"forward", "backward", "update", "bucket_copy"}, {phase["name"] for phase in phases})

    def test_the_longest_wait_is_for_the_rank_that_came_late(self):
        """In the first step rank 0's backward was held up for 20 ms, and rank 1 waited for its bucket."""
        done = self.import_texts(*OWN)
        self.assertIn("24.161 ms in exposed_comm, rank 1 device 1, step 5 at 10.485 ms: rank 0 device 0 came to bucket 0's collective 23.66 ms "
                      "later, from backward", done.stdout)

    def test_other_files_are_refused(self):
        own = OWN[0]
        for words, text in (("no file of torch's profiler", "{}"), ("no file of torch's profiler", "[]"), ("it is no JSON", own[:2000]),
                            ("its schemaVersion is not 1", replaced(own, '"schemaVersion": 1', '"schemaVersion": 7')),
                            ("it names no rank", replaced(own, "distributedInfo", "distributed")),
                            ("it has no step", own.replace("ProfilerStep#", "step ")),
                            ("it has no 'dur'", GPUS.replace('"dur": 40, ', "")), ("not a number", GPUS.replace('"ts": 10', '"ts": NaN')),
                            ("not a number", GPUS.replace('"device": 1', '"device": -1')),
                            ("not a number", replaced(own, '"rank": 0', '"rank": 2'))):
            with self.subTest(words):
                self.refused(words, text)
        self.assertIn("reading trace none: there is no such file", self.tandem("import", "none").stderr)

    def test_files_of_two_runs_and_of_some_ranks_are_refused(self):
        self.refused("a and b: rank 0 comes twice", OWN[0], OWN[0])
        self.refused("jobs of 2 and 4 ranks", OWN[0], replaced(OWN[1], '"world_size": 2', '"world_size": 4'))
        self.refused("of two runs", OWN[0], replaced(OWN[1], '"baseTimeNanoseconds": 17908', '"baseTimeNanoseconds": 17909'))
        self.refused("a: 1 of 8 ranks: give the files of all ranks", replaced(OWN[0], '"world_size": 2', '"world_size": 8'))

    def test_one_process_on_one_device_is_single(self):
        trace, _ = self.imported(replaced(OWN[0], '"world_size": 2', '"world_size": 1'))
        self.assertEqual(trace["otherData"]["strategy"], "single")

    def test_of_gpus_takes_kernels_and_one_process_without_a_rank_is_data_parallel(self):
        trace, summary = self.imported(GPUS)
        self.assertEqual((trace["otherData"]["strategy"], trace["otherData"]["backend"]), ("dp", "cuda"))
        first, second = summary["devices"]
        self.assertAlmostEqual(first["communication"], 40e-6, places=9)
        self.assertAlmostEqual(first["exposed"], 20e-6, places=9)
        self.assertAlmostEqual(second["phases"]["idle"], 80e-6, places=9)


unittest.main()
