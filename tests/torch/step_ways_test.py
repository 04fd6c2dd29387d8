#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's ways on one device, tools/torch/step_ways: what it measures, writes and says.

    step_ways_test.py CASE TOOLS TANDEM

With the python that TANDEM_TORCH_PYTHON names, else this one or the system's. Exit status 77, with the reason, where none
of them has torch; of the case `pretended` also where it is built without CUDA.
"""
import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

CASE, TOOLS, TANDEM = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import torch_python  # beside the tests

NEEDS_NO_TORCH = ("bad_input",)
QUESTIONS = {"pretended": torch_python.HAS_CUDA}
PYTHON = sys.executable if CASE in NEEDS_NO_TORCH else torch_python.find(QUESTIONS.get(CASE, "import torch"))
WAYS = [PYTHON, "-B", TOOLS / "torch" / "step_ways"]
SHORT = ["--min-time=10ms", "--min-samples=3", "--warmup-time=1ms"]


class Ways(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.out = self.folder / "ways.json"

    def run_ways(self, *arguments, before=()):
        return subprocess.run([*map(str, [*before, *WAYS, *arguments])], capture_output=True, text=True, check=False,
                              timeout=250)

    def entries(self, *arguments, before=()):
        """By way; the last part of an entry's name."""
        self.done = self.run_ways(*SHORT, f"--benchmark_out={self.out}", *arguments, before=before)
        self.assertEqual(self.done.returncode, 0, self.done.stderr)
        self.document = json.loads(self.out.read_text())
        return {entry["name"].rpartition("/")[2]: entry for entry in self.document["benchmarks"]}


class Case_host(Ways):
    def test_each_way_is_an_entry_and_a_line_and_eager_comes_again(self):
        found = self.entries("--backend=host", "--model=gpt2-nano", "--batch=4", "--precision=bf16", "--optimizer=adamw",
                             "--ways=eager,ddp")
        self.assertEqual(list(found), ["eager", "ddp", "eager-again"])
        self.assertEqual([line.split()[0] for line in self.done.stdout.splitlines()], list(found))
        self.assertEqual(found["ddp"]["name"], "gpt2-nano/4/bf16/optimizer:adamw/ddp")
        for entry in found.values():
            self.assertEqual((entry["run_type"], entry["time_unit"]), ("iteration", "ms"))
            self.assertGreaterEqual(entry["iterations"], 3)
            self.assertGreater(entry["first_step_seconds"], 0)
            self.assertLessEqual(0 < entry["min_ms"], entry["p10_ms"])
            self.assertTrue(entry["p10_ms"] <= entry["real_time"] <= entry["p90_ms"] <= entry["max_ms"])
        self.assertEqual(self.document["context"]["threads"], 1)
        self.assertRegex(self.document["context"]["torch"], r"^[0-9]+\.[0-9]+")

    def test_a_way_that_fails_is_told_and_leaves_the_others(self):
        found = self.entries("--backend=host", "--model=mlp-tiny", "--batch=8", "--ways=dp,dp-doubled,ddp,eager")
        self.assertEqual(list(found), ["dp", "dp-doubled", "ddp", "eager", "eager-again"])
        for way in ("dp", "dp-doubled"):
            self.assertTrue(found[way]["error_occurred"])
            self.assertIn("DataParallel is between GPUs", found[way]["error_message"])
        self.assertRegex(self.done.stdout, "^dp +failed: ")
        self.assertGreater(found["ddp"]["real_time"], 0)

    def test_where_none_is_measured_the_status_says_so(self):
        done = self.run_ways("--backend=host", "--model=mlp-tiny", "--batch=8", "--ways=dp", *SHORT)
        self.assertEqual(done.returncode, 1, done.stderr)

    def test_what_is_there_when_it_is_ended_can_be_read(self):
        arguments = ["--backend=host", "--model=mlp-tiny", "--batch=8", "--ways=eager,ddp", "--min-time=2s", "--warmup-time=1ms"]
        slow = subprocess.Popen([*map(str, [*WAYS, *arguments, f"--benchmark_out={self.out}"])], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)
        self.assertRegex(slow.stdout.readline(), "^eager ")
        slow.send_signal(signal.SIGTERM)
        said = slow.communicate(timeout=60)[1]
        self.assertEqual(slow.returncode, -signal.SIGTERM)
        self.assertEqual([entry["name"] for entry in json.loads(self.out.read_text())["benchmarks"]], ["mlp-tiny/8/fp32/eager"])
        self.assertIn("most recent call first", said)

    def test_what_torch_lacks_is_one_line(self):
        for arguments, says in ((["--model=padded"], "--model=padded: torch's side has no such model"),
                                (["--model=mlp-tiny", "--precision=fp16"], "fp16 is a GPU's"),
                                (["--model=mlp-tiny", "--backend=pretended-h100"], "run it under tandem pretend")):
            done = self.run_ways("--backend=host", "--batch=8", *arguments)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
            self.assertIn(says, done.stderr)


class Case_compiled(Ways):
    def test_the_cache_is_filled_and_then_used(self):
        environment = ["env", f"TORCHINDUCTOR_CACHE_DIR={self.folder / 'cache'}"]
        common = ["--backend=host", "--model=mlp-tiny", "--batch=8"]
        done = self.run_ways("--prepare", *common, before=environment)
        if done.returncode:
            self.skipTest(f"torch compiles nothing here: {done.stderr.strip()[-300:]}")
        self.assertEqual(done.stdout, "")
        self.assertTrue(any((self.folder / "cache").rglob("*")))
        found = self.entries(*common, "--ways=compile", before=environment)
        self.assertGreater(found["compile"]["real_time"], 0)
        self.assertGreater(found["compile"]["first_step_seconds"], found["compile"]["real_time"] * 1e-3)


class Case_pretended(Ways):
    def test_all_ways_of_a_gpu_run_and_leave_its_memory_free(self):
        pretend = [TANDEM, "pretend", "--gpus=1", "--like=h100", "--beside-gpu", f"--python={PYTHON}", "--"]
        found = self.entries("--backend=pretended-h100", "--model=gpt2-nano", "--batch=8", "--precision=bf16",
                             "--ways=eager,fused,ddp,dp,dp-doubled", before=pretend)
        self.assertEqual({way: entry["error_message"] for way, entry in found.items() if "error_message" in entry}, {})
        self.assertEqual(found["eager-again"]["peak_memory_bytes"], found["eager"]["peak_memory_bytes"])
        self.assertGreater(found["ddp"]["peak_memory_bytes"], found["eager"]["peak_memory_bytes"])
        self.assertTrue(self.document["context"]["gpu_is_pretended"])
        self.assertIn("nccl", self.document["context"])


class Case_bad_input(Ways):
    def test_each_mistake_is_one_line_and_status_2(self):
        for arguments, says in (([], "--model"), (["--batch=0"], "no number from 1"), (["--ways=eager,fsdp"], "'fsdp' is no way: use eager"),
                                (["--ways="], "'' is no way"), (["--grads=views"], "--grads: ddp is measured here as torch has it"),
                                (["--min-time=5"], "no duration"), (["--backend=tpu"], "no back end"),
                                (["--benchmark_out=/nowhere/at/all.json"], "there is no folder /nowhere/at; make it first")):
            model = ["--model=mlp-tiny"] if arguments else []
            done = self.run_ways("--batch=8", *model, *arguments)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), (arguments, done.stderr))
            self.assertRegex(done.stderr, "^step_ways: ")
            self.assertIn(says, done.stderr)

    def test_a_python_without_torch_is_named(self):
        (self.folder / "torch.py").write_text("raise ImportError('no torch')\n")
        done = self.run_ways("--backend=host", "--model=mlp-tiny", "--batch=8", before=["env", f"PYTHONPATH={self.folder}"])
        self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)
        self.assertIn(f"{sys.executable} has no torch that can be loaded", done.stderr)
        self.assertIn("start step_ways with a python that has one", done.stderr)


if __name__ == "__main__":
    if not PYTHON:
        print(f"skipped: no torch for this in {' or '.join(torch_python.TRIED)}; TANDEM_TORCH_PYTHON names another")
        sys.exit(77)
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(globals()[f"Case_{CASE}"])
    sys.exit(not unittest.TextTestRunner().run(suite).wasSuccessful())
