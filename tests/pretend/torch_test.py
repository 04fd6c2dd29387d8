#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Unmodified torch on pretended GPUs: DataParallel, DDP with its own checks, cuDNN's convolutions and recurrent layers.

    torch_test.py CASE TANDEM
"""
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

CASE, TANDEM = sys.argv[1:3]
HERE = pathlib.Path(__file__).resolve().parent
STEP_TWIN = HERE.parents[1] / "tools/torch/step_twin"
sys.path.insert(0, str(HERE.parent / "support"))
import torch_python  # beside the tests
import warm_python

PYTHON = torch_python.need(torch_python.HAS_CUDA)
WARM = CASE == "Run" and warm_python.of(PYTHON, before=(TANDEM, "pretend", "--gpus=2", "--like=h100", "--"))


def run(*words, **more):
    return subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False, timeout=500, **more)


def logged(folder):
    return [json.loads(line) for file in pathlib.Path(folder).iterdir() for line in file.open()]


class OnPretendedGpus(unittest.TestCase):
    def run_steps(self, strategy, model, devices, steps=3, like="a100"):
        """What step_on_gpus.py printed, and the lines of all logs."""
        with tempfile.TemporaryDirectory() as folder:
            done = run(TANDEM, "pretend", f"--gpus={devices}", f"--like={like}", f"--log={folder}/calls", "--", PYTHON, HERE / "step_on_gpus.py",
                       strategy, model, devices, steps)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("pretended GPUs: host work measured, nothing computed", done.stderr)
            lines = logged(folder)
        return done.stdout, lines


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
                graphs = [[operation["operation"] for operation in line["operations"]] for line in lines if line["what"] == "library"]
                # Scores and their product with the values; a gradient takes five products.
                by_cudnn = sum(graph == ["attention-forward"] or graph.count("product") == 2 for graph in graphs)
                # torch 2.5 and 2.9 have a kernel of their own for each card. On an H100 torch 2.11 asks cuDNN for an attention
                # in its parts, and torch 2.15 for a whole one.
                self.assertEqual(kernels + by_cudnn, 6)
                self.assertTrue(like == "h100" or by_cudnn == 0)


class Features(OnPretendedGpus):
    def run_feature(self, feature, *options, **variables):
        done = run(TANDEM, "pretend", "--gpus=2", *options, "--", PYTHON, HERE / "features_on_gpus.py", feature, env=os.environ | variables)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def test_a_graphs_launches_lie_in_the_log_in_each_step(self):
        with tempfile.TemporaryDirectory() as folder:
            out = self.run_feature("graph", f"--log={folder}/calls").stdout
            self.assertIn("copied [0, 1, 2, 3]", out)
            self.assertIn("operation not permitted when stream is capturing", out)
            lines = logged(folder)
        replays = [line for line in lines if line.get("call") == "cudaGraphLaunch" and line["what"] == "call"]
        steps = [sum(line["what"] == "launch" and replay["t"] < line["t"] < replay["t"] + replay["ns"] for line in lines)
                 for replay in replays[:5]]
        self.assertEqual(len(steps), 5)
        self.assertGreater(steps[0], 8)
        self.assertEqual(len(set(steps)), 1)

    def test_the_profiler_records_the_host(self):
        done = self.run_feature("profile")
        self.assertIn("products 2 allocations True", done.stdout)

    def test_an_embedding_has_a_gradient_on_consumer_cards(self):
        for like in ("rtx4090", "rtx3090"):
            self.assertIn("gradient (1000, 64)", self.run_feature("embedding", f"--like={like}").stdout)

    def test_torch_compiles_kernels_while_it_runs(self):
        self.assertEqual(self.run_feature("compiled", USE_PYTORCH_KERNEL_CACHE="0").stdout, "compiled (256,)\n")

    def test_segments_expand_within_the_cards_memory(self):
        done = self.run_feature("segments", PYTORCH_CUDA_ALLOC_CONF="expandable_segments:True")
        self.assertEqual(done.stdout, "values [0, 1, 2] reserved True\nout of memory behind 3\n")

    def test_a_tensor_is_shared_with_another_process(self):
        self.assertEqual(self.run_feature("share").stdout, "sent cuda:1 [0, 1, 2, 3] written [4, 5, 6, 7]\n")


class InTurn(OnPretendedGpus):
    """The twin's option forwards, by the threads that torch's calls come from."""

    def forward_threads(self, *options):
        """By device, the threads that the forward convolutions of a step come from."""
        with tempfile.TemporaryDirectory() as folder:
            done = run(TANDEM, "pretend", "--gpus=2", f"--log={folder}/calls", "--", PYTHON, "-B", STEP_TWIN, "--strategy=dp", "--model=resnet-tiny",
                       "--batch=4", "--devices=2", "--backend=pretended-a100", "--min-time=1ms", "--oversubscribe", *options)
            self.assertEqual(done.returncode, 0, done.stderr)
            lines = logged(folder)
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
    """The host's time in the twin's record, on a module with parameters, buffers and submodules."""

    def record(self, strategy, devices, *options):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "record.json"
            done = run(TANDEM, "pretend", "--gpus=2", "--", PYTHON, "-B", STEP_TWIN, f"--strategy={strategy}", "--model=resnet-tiny", "--batch=4",
                       f"--devices={devices}", "--backend=pretended-a100", "--min-time=1ms", f"--record={path}", *options)
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
        for backend, says in (("cuda", "their figures are no GPU's"), ("pretended-h100", "pretended GPUs like a100")):
            done = run(TANDEM, "pretend", "--gpus=2", "--", PYTHON, "-B", STEP_TWIN, "--model=mlp-tiny", "--batch=4", f"--backend={backend}")
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


class Lessons(unittest.TestCase):
    """`tandem lessons --with-torch`: PyTorch's own traps."""

    def lessons(self, *words):
        return run(TANDEM, "lessons", f"--with-torch={PYTHON}", *words)

    def test_all_hold(self):
        done = self.lessons()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        listed = self.lessons("--list").stdout.splitlines()
        self.assertRegex(done.stdout, rf"\n{len(listed)} lessons: {len(listed)} hold in PyTorch \d.*, 0 do not\n$")

    def test_one_that_does_not_hold_fails_alone(self):
        done = run(PYTHON, "-B", "-c", f"import sys; sys.path.insert(0, {str(STEP_TWIN.parent)!r}); import lessons; "
                   "lessons.LESSONS[:] = [lessons.Lesson(name, 'a', 'b', lambda found=found: (1 // found > 0, 'seen')) "
                   "for name, found in (('true', 1), ('untrue', 2), ('broken', 0))]; sys.exit(lessons.main([]))")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(re.findall("verdict   (.*)", done.stdout), ["holds", "no longer holds", "could not be run"])
        self.assertRegex(done.stdout, r"3 lessons: 1 hold in .*, 2 do not\n$")

    def test_an_unknown_name_is_one_line(self):
        done = self.lessons("even-split")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("lessons: 'even-split' is no lesson of PyTorch's; known are autocast-type, ", done.stderr)


ONE_STEP_FEWER = """
import os, torch, torch.distributed as dist
dist.init_process_group("nccl")
rank = dist.get_rank()
ddp = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(16, 4).cuda(rank), device_ids=[rank])
for step in range(5 if rank == 1 else int(os.environ["STEPS"])):
    ddp(torch.randn(8, 16, device=rank)).sum().backward()
torch.cuda.synchronize(rank)
os._exit(0)
"""


class Check(unittest.TestCase):
    """A job of torchrun under --check."""

    def check_steps(self, steps):
        """Rank 0 makes so many, rank 1 makes five."""
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "train.py").write_text(ONE_STEP_FEWER)
            done = run(TANDEM, "pretend", "--gpus=2", "--check", "--", PYTHON, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2",
                       "train.py", cwd=folder, env={**os.environ, "STEPS": str(steps)})
        return done.returncode, [line for line in done.stderr.splitlines() if line.startswith(("pretended GPUs: ended", "  rank "))]

    def test_a_step_more_of_one_rank_is_named(self):
        self.assertEqual(self.check_steps(6), (3, [
            "pretended GPUs: ended: rank 1 ended after 5 all-reduces on communicator 1; rank 0 waits in the 6th",
            "  rank 0: waits; 6th all-reduce 68 f32 on communicator 1: train.py:8",
            "  rank 1: ended with exit status 0; 5th all-reduce 68 f32 on communicator 1"]))

    def test_equal_steps_pass(self):
        self.assertEqual(self.check_steps(5), (0, []))


class Command(unittest.TestCase):
    def test_its_words_arrive_as_they_are(self):
        words = ["[1,2]", "[[a],[b]]", "two words", "", "--out=there", "--", "--gpus=3"]
        done = run(TANDEM, "pretend", "--gpus=1", "--", PYTHON, "-c", "import json, sys; print(json.dumps(sys.argv[1:]))", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout), words)


class Run(OnPretendedGpus):
    """`tandem run --module --pretend`: figures of their own, and what is refused."""

    def run_module(self, folder, *options, own=OWN, cells=(), python=PYTHON):
        """The command's own cells, or those alone that are named, on two devices, by a sweep's file beside the module."""
        place = pathlib.Path(tempfile.mkdtemp(dir=folder)) if cells else pathlib.Path(folder)
        (place / "own.py").write_text(own)
        words = [place / "few.json"] if cells else ["--module=own.py:build", "--batch-per-device=4"]
        if cells:
            strategies = [{"strategy": strategy, "options": dict(option.split("=") for option in named)}
                          for strategy, *named in (cell.split() for cell in cells)]
            (place / "few.json").write_text(json.dumps({"name": "few", "workloads": [{"module": "own.py:build", "batch_per_device": 4}],
                                                        "devices": [2], "min_time": "10ms", "strategies": strategies}))
        return run(TANDEM, "run", *words, f"--with-torch={python}", "--out=out", *options, cwd=folder)

    def test_figures_are_marked_and_are_no_gpus(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.run_module(folder, "--pretend=2", "--like=h100", "--launches=1", "--cell=ddp precision=fp16",
                                   "--cell=ddp grads=views find-unused-parameters=on", python=WARM)
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
            self.assertEqual(len({json.dumps(launch["cell"]) for launch in ddp}), 6)  # three cells on one device and on two
            for launch in ddp:
                self.assertEqual(self.profiled(launch), viewed if launch["cell"]["options"].get("grads") == "views" else copied)
            # The journal is that of a card.
            again = self.run_module(folder, "--pretend=2", "--launches=1", "--cell=ddp precision=fp16")
            self.assertEqual(again.returncode, 2, again.stdout)
            self.assertIn("pretended-h100", again.stderr)

    def profiled(self, launch):
        """How often a step has each part that the profiler's ranges name."""
        return {part["part"].removesuffix(" (profiled)"): part["per_step"] for part in launch["host_work"]["parts"]
                if part["part"].endswith("(profiled)")}

    def test_values_that_a_module_reads_back_are_told_once_per_cell(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.run_module(folder, "--pretend=2", "--like=h100", "--launches=2", own=READS_TWICE, python=WARM,
                                   cells=["single", "independent", "dp", "ddp read-loss=on precision=fp16"])
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
            done = self.run_module(folder, "--pretend=2", "--launches=1", cells=[
                "single", "dp", "ddp read-loss=on precision=fp16", "ddp precision=fp16 fused=on find-unused-parameters=on"])
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


class ControlData(OnPretendedGpus):
    """Integers are computed, and floats are counted as not computed."""

    def print_of(self, what):
        done = run(TANDEM, "pretend", "--gpus=2", "--", PYTHON, HERE / "control_data.py", what)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done

    def test_expressions_of_integers_are_those_of_the_cpu(self):
        done = self.print_of("expressions")
        self.assertRegex(done.stdout, r"^(\d+) of \1 expressions right\n$")
        self.assertRegex(done.stderr, "pretended GPUs: [1-9] values were read back")

    def test_objects_arrive_over_nccl(self):
        done = self.print_of("ranks")
        self.assertIn("objects, counts and flags of 2 ranks right", done.stdout)
        self.assertNotIn("read back", done.stderr)


if __name__ == "__main__":
    suite = unittest.defaultTestLoader.loadTestsFromName(CASE, sys.modules[__name__])
    sys.exit(not unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful())
