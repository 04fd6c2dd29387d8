#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tandem trace and verify.

    observe_test.py TANDEM
"""
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TANDEM = sys.argv[1]
SMALL = ["--model=mlp-tiny", "--batch=8", "--devices=2", "--oversubscribe", "--steps=2"]


class ObserveTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.out = self.folder / "reports"

    def observe(self, *words):
        return self.tandem(*words, f"--out={self.out}")

    def tandem(self, *words):
        return subprocess.run([TANDEM, *words], capture_output=True, text=True, timeout=100, cwd=self.folder)

    def test_timeline_needs_no_profiler_and_says_what_was_waited_for(self):
        done = self.observe("trace", "record", "--strategy=ddp", "--backend=host", *SMALL, "--plant=loss:50ms")
        self.assertEqual(done.returncode, 0, done.stderr)
        trace = self.out / "trace.json"
        self.assertNotIn("Load Average", done.stderr)
        self.assertIn(f"Next: open {trace} with https://ui.perfetto.dev", done.stdout)
        self.assertTrue(done.stdout.startswith("ddp as processes, mlp-tiny on 2 devices (host), global batch 8.\n"))
        self.assertRegex(done.stdout, r"Critical path, mean of the steps:\nloss +[5-9]\d\.\d+ ms .*#{40}\n")
        # Rank 1 has to wait for what was planted on rank 0, and finds it by name.
        cause = " ".join(done.stdout.split("Longest waits:\n  - ")[1].split("\n  - ")[0].split())
        self.assertRegex(cause, r"in exposed_comm, rank 1 device 1, .*: rank 0 device 0 came to bucket \d's "
                                r"collective .* later, from loss$")
        self.assertLessEqual(len(done.stdout.splitlines()), 25)
        self.assertEqual(self.tandem("trace", "summary", str(trace)).stdout, done.stdout)
        details = self.tandem("trace", "summary", str(trace), "--details").stdout
        self.assertIn("clock: CLOCK_MONOTONIC of the node, which all ranks read; error bound 0.0 us", details)
        self.assertEqual(sum(" / " in line for line in details.splitlines()), 1 + 2)  # the steps' title, and each
        devices = json.loads(self.tandem("trace", "summary", str(trace), "--json").stdout)["devices"]
        self.assertEqual([(one["rank"], one["device"], one["steps"]) for one in devices], [(0, 0, 2), (1, 1, 2)])
        self.assertGreaterEqual(devices[0]["phases"]["loss"], 0.05)

    def refused(self, said, *words):
        done = self.tandem(*words)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn(said, done.stderr)
        self.assertNotIn("json.exception", done.stderr)

    def test_summary_refuses_other_words(self):
        self.refused("FILE is missing", "trace", "summary")
        self.refused("argument 'b' is none of tandem trace summary's", "trace", "summary", "a", "b")
        self.refused("option '--jsno' is none of tandem trace summary's (did you mean '--json'?)", "trace", "summary", "a",
                     "--jsno")

    def test_verify_says_whether_numbers_agree(self):
        words = ["--backend=host", "--model=mlp-tiny", "--batch=8", "--devices=2", "--oversubscribe"]
        for strategy in ("dp", "ddp"):
            done = self.tandem("verify", f"--strategy={strategy}", *words)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stdout, r"^verified: over \d+ steps on 2 devices ")
        shown = self.tandem("verify", *words, "--dry-run").stdout
        self.assertRegex(shown, r"^mpirun .* verify --strategy=ddp .*--model=mlp-tiny --batch=8\n$")
        self.refused("--file is what a verb of tandem gives", "verify", "--file=t.json")

    def test_verify_ends_with_3_where_numbers_differ(self):
        wrong = self.folder / "step_bench"
        wrong.write_text('#!/bin/sh\ncase "$*" in *--check*) exit 0;; esac\necho WRONG; exit 3\n')
        wrong.chmod(0o755)
        done = self.tandem("verify", "--strategy=dp", "--backend=host", "--batch=8", f"--step-bench={wrong}")
        self.assertEqual((done.returncode, done.stdout), (3, "WRONG\n"), done.stderr)

    def test_summary_refuses_what_is_no_trace(self):
        file = self.folder / "some.json"
        self.refused("reading trace absent.json: there is no such file", "trace", "summary", "absent.json")
        self.refused("it is a folder; give the path of a file", "trace", "summary", str(self.folder))
        for text, said in (("", "it is empty"), ("{", "is not valid JSON"), ("{}", "no trace of step_bench trace"),
                           ("[1]", "no trace of step_bench trace"), ('{"otherData": 3}', "no trace of step_bench"),
                           ('{"traceEvents": [{"ph": "X"}]}', "no trace of step_bench trace")):
            file.write_text(text)
            self.refused("some.json: it is", "trace", "summary", str(file))
            self.refused(said, "trace", "summary", str(file))

    def test_summary_refuses_traces_that_are_not_whole(self):
        done = self.observe("trace", "record", "--strategy=single", "--devices=1", "--backend=host", "--model=mlp-tiny",
                            "--batch=8", "--steps=2", "--min-time=1ms")
        self.assertEqual(done.returncode, 0, done.stderr)
        text = (self.out / "trace.json").read_text()
        file = self.folder / "some.json"
        whole = json.loads(text)

        def refused(said, **changes):
            file.write_text(json.dumps(dict(whole, **changes)))
            self.refused(f"some.json: {said}", "trace", "summary", str(file))

        events, facts = whole["traceEvents"], whole["otherData"]
        first = next(i for i, event in enumerate(events) if event["ph"] == "X")
        for change in ({"dur": "long"}, {"ts": 1e30}, {"ts": -1}, {"cat": "nothing"}, {"tid": 7}, {"args": []}):
            changed = events[:first] + [dict(events[first], **change)] + events[first + 1:]
            refused(f"traceEvents[{first}]", traceEvents=changed)
        refused("otherData.clock: 3 stands where a text has to be; it was changed", otherData=dict(facts, clock=3))
        refused("otherData.untraced: 7 stands where an object has to be", otherData=dict(facts, untraced=7))
        refused("a trace of version 3.0.0", otherData=dict(facts, tandem_trace="3.0.0"))
        refused("no step of it has ended", traceEvents=[e for e in events if e.get("cat") not in ("step", "phase")])
        file.write_text(text[:len(text) // 2])
        self.refused("or record it again where it was cut off", "trace", "summary", str(file))
        # A minor version says more than is read.
        file.write_text(json.dumps(dict(whole, otherData=dict(facts, tandem_trace="2.9.0"))))
        self.assertEqual(self.tandem("trace", "summary", str(file)).returncode, 0)

    def test_results_of_another_run_are_not_mixed_with(self):
        self.out.mkdir()
        (self.out / "trace.json").touch()
        done = self.observe("trace", "record", "--strategy=ddp", "--backend=host", *SMALL)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("holds trace.json of an earlier run: choose another folder", done.stderr)

    def test_what_fails_leaves_no_folder(self):
        done = self.observe("trace", "record", "--strategy=single", "--devices=1", "--backend=host", "--model=mlp-tiny",
                            "--batch=8", "--record=/no/such/folder/r.json")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("cannot be written", done.stderr)
        self.assertFalse(self.out.exists())

    def test_folders_that_cannot_be_are_refused(self):
        (self.folder / "file").touch()
        self.refused("Not a directory; choose another folder", "trace", "record", "--backend=host",
                     "--strategy=single", "--devices=1", "--model=mlp-tiny", "--batch=8", "--out=file/reports")

    def test_wrong_options_are_refused_before_anything_runs(self):
        for words, said in ((("--file=t.json",), "gives to step_bench: leave it out"),
                            (("--profile-steps=3",), "gives to step_bench: leave it out"),
                            (("--frobnicate",), "--frobnicate"), (("--speed=high",), "--speed")):
            done = self.observe("trace", "record", "--backend=host", *words, *SMALL)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(said, done.stderr)
            self.assertFalse(self.out.exists())
        self.refused("--steps", "trace", "record", "--backend=host", "--batch=8", "--steps=0")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
