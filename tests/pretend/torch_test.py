#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Unmodified torch on pretended GPUs: DataParallel, DDP with its own checks, cuDNN's convolutions and recurrent layers.

    torch_test.py CASE TANDEM

With the python that TANDEM_TORCH_PYTHON names, else this one or the system's. Exit status 77, with the reason, where none
of them has a torch that is built with CUDA.
"""
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

CASE, TANDEM = sys.argv[1:3]
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
import torch_python  # beside the tests

PYTHON = torch_python.find(torch_python.HAS_CUDA)


class OnPretendedGpus(unittest.TestCase):
    def run_steps(self, strategy, model, devices, steps=3, like="a100"):
        """What step_on_gpus.py printed, and the lines of all logs."""
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [TANDEM, "pretend", f"--gpus={devices}", f"--like={like}", f"--log={folder}/calls", "--", PYTHON, HERE / "step_on_gpus.py",
                 strategy, model, str(devices), str(steps)],
                capture_output=True, text=True, check=False, timeout=400)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("pretended GPUs: host work measured, nothing computed", done.stderr)
            lines = [json.loads(line) for file in pathlib.Path(folder).iterdir() for line in file.open()]
        return done.stdout, lines

    def count(self, lines, what):
        return sum(line["what"] == what for line in lines)


class DataParallel(OnPretendedGpus):
    def test_steps_of_a_perceptron(self):
        out, lines = self.run_steps("dp", "perceptron", 4)
        self.assertIn("4 devices, 3 steps", out)
        used = {line["device"] for line in lines if line["what"] == "launch"}
        self.assertEqual(used, {0, 1, 2, 3})
        reduced = [line for line in lines if line["what"] == "collective" and line["collective"] == "reduce"]
        self.assertTrue(reduced)
        self.assertEqual({line["ranks"] for line in reduced}, {4})

    def test_steps_of_convolutions_go_through_cudnn(self):
        _, lines = self.run_steps("dp", "convolutions", 2)
        kinds = collections.Counter(operation["operation"] for line in lines if line["what"] == "convolution"
                                    for operation in line["operations"])
        # Two convolutions on two devices in three steps; the first one needs no gradient of its input.
        self.assertEqual(kinds["convolution-forward"], 12)
        self.assertEqual(kinds["convolution-backward-filter"], 12)
        self.assertEqual(kinds["convolution-backward-data"], 6)

    def test_steps_of_a_recurrent_net_go_through_cudnn(self):
        _, lines = self.run_steps("dp", "recurrent", 2)
        calls = collections.Counter(line["call"] for line in lines if line["what"] == "library")
        self.assertEqual(calls["cudnnRNNForward"], 6)
        self.assertEqual(calls["cudnnRNNBackwardData_v8"], 6)


    def test_attention_in_half_precision_takes_the_path_of_each_card(self):
        for like in ("a100", "h100", "rtx4090"):
            with self.subTest(like=like):
                _, lines = self.run_steps("dp", "attention", 2, like=like)
                kernels = sum("flash_fwd" in line["kernel"] for line in lines if line["what"] == "launch")
                by_cudnn = sum(operation["operation"] == "attention-forward" for line in lines if line["what"] == "library"
                               for operation in line["operations"])
                # torch 2.5 and 2.9 have a kernel of their own for each card, torch 2.15 asks cuDNN on an H100.
                self.assertEqual(kernels + by_cudnn, 6)
                self.assertTrue(like == "h100" or by_cudnn == 0)


class InTurn(OnPretendedGpus):
    """The twin's option forwards, by the threads that torch's calls come from."""

    def forward_threads(self, *options):
        """By device, the threads that the forward convolutions of a step come from."""
        tools = HERE.parents[1] / "tools"
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [TANDEM, "pretend", "--gpus=2", f"--log={folder}/calls", "--", PYTHON, "-B", tools / "torch" / "step_twin",
                 "--strategy=dp", "--model=resnet-tiny", "--batch=4", "--devices=2", "--backend=pretended-a100", "--min-time=1ms",
                 "--oversubscribe", *options],
                capture_output=True, text=True, check=False, timeout=400)
            self.assertEqual(done.returncode, 0, done.stderr)
            lines = [json.loads(line) for file in pathlib.Path(folder).iterdir() for line in file.open()]
        threads = collections.defaultdict(set)
        for line in lines:
            if line["what"] == "convolution" and line["operations"][0]["operation"] == "convolution-forward":
                threads[line["device"]].add(line["thread"])
        self.assertEqual(set(threads), {0, 1})
        return threads

    def test_each_replica_has_a_thread_of_its_own(self):
        threads = self.forward_threads()
        self.assertFalse(threads[0] & threads[1])

    def test_in_turn_they_share_the_calling_thread(self):
        threads = self.forward_threads("--forwards=in-turn")
        self.assertEqual(threads[0], threads[1])
        self.assertEqual(len(threads[0]), 1)


class HostWork(OnPretendedGpus):
    """What the twin's record tells of the host's time, on a module with parameters, buffers and submodules."""

    def record(self, strategy, devices, *options):
        tools = HERE.parents[1] / "tools"
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "record.json"
            done = subprocess.run(
                [TANDEM, "pretend", "--gpus=2", "--", PYTHON, "-B", tools / "torch" / "step_twin", f"--strategy={strategy}",
                 "--model=resnet-tiny", "--batch=4", f"--devices={devices}", "--backend=pretended-a100", "--min-time=1ms",
                 f"--record={path}", *options], capture_output=True, text=True, check=False, timeout=400)
            self.assertEqual(done.returncode, 0, done.stderr)
            return json.loads(path.read_text())

    def parts_of(self, record):
        return {(part["part"], part["thread"]): part for part in record["host_work"]["parts"]}

    def check(self, parts):
        for name, part in parts.items():
            self.assertGreater(part["wall_seconds"], 0, name)
            if name[0].endswith("(profiled)"):
                continue
            # Clocks are read one after the other, so that a part may have a microsecond of CPU more than it lasts.
            self.assertLess(part["cpu_seconds"] + part.get("run_delay_seconds", 0), part["wall_seconds"] + 2e-5 * max(1, part["per_step"]), name)

    def test_parts_of_data_parallel_lie_within_its_forward(self):
        for option in ((), ("--forwards=in-turn",)):
            record = self.record("dp", 2, *option)
            parts = self.parts_of(record)
            self.check(parts)
            inner = [parts[name, "main"]["wall_seconds"] for name in ("scatter", "replicate", "replicas' forwards", "gather")]
            self.assertLess(sum(inner), parts["forward", "main"]["wall_seconds"])
            module = parts["module", "main" if option else "replica"]
            self.assertEqual(module["per_step"], 2)
            self.assertEqual(parts["reduction", "autograd"]["per_step"], 1)
            self.assertLess(parts["reduction", "autograd"]["wall_seconds"], parts["backward", "main"]["wall_seconds"])

    def test_one_device_has_its_forward_and_no_replicas(self):
        record = self.record("single", 1)
        parts = self.parts_of(record)
        self.check(parts)
        self.assertEqual({name for name, _ in parts}, {"forward", "module", "loss", "backward", "update", "zero_grad"})
        self.assertEqual(parts["module", "main"]["per_step"], 1)
        work = record["host_work"]
        self.assertIn("autograd", {threads["kind"] for threads in work["threads"]})
        self.assertGreater(work["buffers"], 0)
        self.assertGreater(work["modules"], work["buffers"] / 3)

    def test_pretended_gpus_are_no_back_end_named_cuda(self):
        tools = HERE.parents[1] / "tools"
        for backend, says in (("cuda", "their figures are no GPU's"), ("pretended-h100", "pretended GPUs like a100")):
            done = subprocess.run([TANDEM, "pretend", "--gpus=2", "--", PYTHON, "-B", tools / "torch" / "step_twin", "--model=mlp-tiny",
                                   "--batch=4", f"--backend={backend}"], capture_output=True, text=True, check=False, timeout=400)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(says, done.stderr)


OWN = """
import torch


def build():
    return torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.BatchNorm1d(8)), (torch.randn(4, 4), torch.randn(4, 8)), torch.nn.MSELoss()
"""


READS_TWICE = """
import torch


class Reads(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(4, 8)

    def forward(self, x):
        y = self.inner(x)
        return y * 2 if y.sum() > y.max().item() else y


def build():
    return Reads(), (torch.randn(4, 4), torch.randn(4, 8)), torch.nn.MSELoss()
"""


class Replay(OnPretendedGpus):
    """`tandem replay` of steps that were logged here."""

    def replay(self, strategy, devices, *options):
        """What it printed: {the line's first word or two: the rest}, and the head."""
        with tempfile.TemporaryDirectory() as folder:
            logged = subprocess.run([TANDEM, "pretend", f"--gpus={devices}", f"--log={folder}/calls", "--", PYTHON, HERE / "step_on_gpus.py",
                                     strategy, "perceptron", str(devices), "5"], capture_output=True, text=True, check=False, timeout=400)
            self.assertEqual(logged.returncode, 0, logged.stderr)
            every = []
            for more in ((), *options):
                done = subprocess.run([TANDEM, "replay", f"{folder}/calls", "--hardware=dgx-a100", *more], capture_output=True, text=True,
                                      check=False, timeout=100)
                self.assertEqual(done.returncode, 0, done.stderr)
                every.append((done.stdout, {line[:15].strip(): line[15:] for line in done.stdout.splitlines()}))
        return every

    def milliseconds(self, lines):
        value, unit = re.match(r"([\d.]+) (us|ms|s)\b", lines["step"]).groups()
        return float(value) * {"us": 1e-3, "ms": 1, "s": 1e3}[unit]

    def test_data_parallel_holds_the_lock_and_meets_in_groups(self):
        (out, lines), (_, faster) = self.replay("dp", 4, ["--host-speed=1000"])
        self.assertIn("1 process, 3 steps", out)
        self.assertIn("collectives 2", lines["asked"])  # parameters to the replicas, gradients back
        self.assertNotRegex(lines["host"], r"^at most 0")
        self.assertRegex(lines["critical path"], r"^host \d+ %")
        # Nothing but the description's launches is left of the host's work.
        self.assertLess(self.milliseconds(faster), self.milliseconds(lines) / 2)

    def test_ranks_of_ddp_meet_in_the_order_of_their_calls(self):
        ((out, lines),) = self.replay("ddp", 2)
        self.assertIn("2 processes, 3 steps", out)
        self.assertRegex(lines["asked"], r"collectives [1-9]")
        self.assertEqual(lines["devices"].count("GPU"), 2)


class Command(unittest.TestCase):
    def test_its_words_arrive_as_they_are(self):
        words = ["[1,2]", "[[a],[b]]", "two words", "", "--out=there", "--", "--gpus=3"]
        done = subprocess.run([TANDEM, "pretend", "--gpus=1", "--", PYTHON, "-c", "import json, sys; print(json.dumps(sys.argv[1:]))",
                               *words], capture_output=True, text=True, check=False, timeout=100)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout), words)


class Run(OnPretendedGpus):
    """`tandem run --module --pretend`: figures of their own, and what is refused."""

    def run_module(self, folder, *options, own=OWN):
        (pathlib.Path(folder) / "own.py").write_text(own)
        return subprocess.run([TANDEM, "run", "--module=own.py:build", "--batch-per-device=4", f"--with-torch={PYTHON}", "--out=out", *options],
                              cwd=folder, capture_output=True, text=True, check=False, timeout=500)

    def test_figures_are_marked_and_are_no_gpus(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.run_module(folder, "--pretend=2", "--like=h100", "--launches=1", "--cell=ddp precision=fp16",
                                   "--cell=ddp grads=views find-unused-parameters=on")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("Pretended GPUs (NVIDIA H100", done.stdout)
            self.assertIn("the host's work of a step", done.stdout)
            launches = json.loads((pathlib.Path(folder) / "out" / "results.json").read_text())["tandem"]["launches"]
            self.assertEqual({launch["cell"]["backend"] for launch in launches}, {"pretended-h100"})
            self.assertEqual({launch["status"] for launch in launches}, {"ok"})
            self.assertEqual({launch["cell"]["strategy"] for launch in launches}, {"single", "independent", "dp", "ddp"})
            self.assertTrue(all(launch["host_work"]["parts"] for launch in launches))
            self.assertIn("fp16", {launch["precision"] for launch in launches})
            report = (pathlib.Path(folder) / "out" / "report.md").read_text()
            self.assertIn("Where the host's time goes", report)
            # Four parameters in one bucket.
            copied = {"hooks": 4, "bucket copies": 4, "launches": 1, "copies back": 4}
            viewed = {"hooks": 4, "bucket copies": 4, "launches": 2, "unused parameters": 1}
            ddp = [launch for launch in launches if launch["cell"]["strategy"] == "ddp"]
            self.assertEqual(len(ddp), 6)  # of one device and of two
            for launch in ddp:
                self.assertEqual(self.profiled(launch), viewed if launch["cell"]["options"].get("grads") == "views" else copied)
            # The journal is that of a card.
            again = self.run_module(folder, "--pretend=2", "--launches=1", "--cell=ddp precision=fp16")
            self.assertEqual(again.returncode, 2, again.stdout)
            self.assertIn("pretended-h100", again.stderr)

    def profiled(self, launch):
        """How often a step has each part that the profiler's ranges tell."""
        return {part["part"].removesuffix(" (profiled)"): part["per_step"] for part in launch["host_work"]["parts"]
                if part["part"].endswith("(profiled)")}

    def test_values_that_a_module_reads_back_are_told_once_per_cell(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.run_module(folder, "--pretend=2", "--launches=2", "--cell=ddp read-loss=on precision=fp16", own=READS_TWICE)
            self.assertEqual(done.returncode, 0, done.stderr)
            launches = json.loads((pathlib.Path(folder) / "out" / "results.json").read_text())["tandem"]["launches"]
            self.assertEqual({launch["cell"]["strategy"] for launch in launches}, {"single", "independent", "dp", "ddp"})
            # What read-loss=on and the gradient scaler read is not the module's.
            warnings = {warning for launch in launches for warning in launch["warnings"]}
            self.assertEqual(len(warnings), 1, warnings)
            self.assertIn("2 times a device", *warnings)
            cells = {json.dumps(launch["cell"]) for launch in launches}
            report = (pathlib.Path(folder) / "out" / "report.md").read_text()
            self.assertEqual(report.count(f"warning: {warnings.pop()} (in {len(cells)} cells)"), 1, report)

    def test_a_module_that_reads_nothing_back_has_no_warning(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.run_module(folder, "--pretend=2", "--launches=1", "--cell=ddp read-loss=on precision=fp16",
                                   "--cell=ddp precision=fp16 fused=on find-unused-parameters=on")
            self.assertEqual(done.returncode, 0, done.stderr)
            launches = json.loads((pathlib.Path(folder) / "out" / "results.json").read_text())["tandem"]["launches"]
            self.assertEqual([launch.get("warnings", []) for launch in launches], [[]] * len(launches))

    def test_what_does_not_go_together_is_one_line(self):
        for options, says in ((("--pretend=2", "--devices=2"), "leave --devices out"), (("--pretend=2", "--backend=host"), "leave --backend=host out"),
                              (("--like=h100",), "--pretend"), (("--pretend=2", "--like=a10"), "there is no such card"),
                              (("--pretend=65",), "--pretend"), (("--pretend=2", "--cell=dp gil=off"), "always has the interpreter's lock")):
            with self.subTest(options=options), tempfile.TemporaryDirectory() as folder:
                done = self.run_module(folder, *options)
                self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
                self.assertIn(says, done.stderr)
                self.assertFalse((pathlib.Path(folder) / "out").exists())


class Ddp(OnPretendedGpus):
    def test_steps_with_its_own_checks(self):
        out, lines = self.run_steps("ddp", "perceptron", 4)
        self.assertIn("4 ranks, 3 steps", out)
        self.assertEqual(len({line["pid"] for line in lines if line["what"] == "process"}), 4)
        buckets = [line for line in lines if line["what"] == "collective" and line["collective"] == "all-reduce"
                   and line["type"] == "f32" and line["count"] > 1]
        self.assertEqual(collections.Counter(line["rank"] for line in buckets), {0: 3, 1: 3, 2: 3, 3: 3})

    def test_differing_shapes_are_refused_by_ddp_itself(self):
        with self.assertRaises(AssertionError) as raised:
            self.run_steps("ddp", "differing", 2)
        self.assertIn("appears not to match", str(raised.exception))


if __name__ == "__main__":
    if PYTHON is None:
        print(f"skipped: no torch built with CUDA 12 or 13 in {', '.join(torch_python.TRIED)}: name a python that has one in "
              "TANDEM_TORCH_PYTHON")
        sys.exit(77)
    suite = unittest.defaultTestLoader.loadTestsFromName(CASE, sys.modules[__name__])
    sys.exit(not unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful())
