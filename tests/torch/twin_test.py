#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's side of a sweep, tools/torch/step_twin: what it starts from, trains, measures and says.

    twin_test.py CASE TOOLS WRITE_STEPS MPIEXEC
"""
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest
import unittest.mock

CASE, TOOLS, WRITE_STEPS, MPIEXEC = sys.argv[1], pathlib.Path(sys.argv[2]), *sys.argv[3:5]
HERE = pathlib.Path(__file__).resolve().parent
NEEDS_NO_TORCH = ("samples", "bad_input", "options")
MODELS = {"mlp-tiny": 16, "gpt2-nano": 4, "resnet-tiny": 16}
sys.path[:0] = [str(TOOLS / "torch"), str(HERE.parent / "support")]
import programs  # beside the tests
import torch_python
import warm_python

PYTHON = sys.executable if CASE in NEEDS_NO_TORCH else torch_python.need(torch_python.at_least(1, 13))
WARM = CASE in ("weights_and_batch", "single", "ddp") and warm_python.of(PYTHON)


def run(*command, ranks=1):
    before = [MPIEXEC, "--oversubscribe", "--bind-to", "none", "-np", str(ranks)] if ranks > 1 else []
    return subprocess.run([*before, *map(str, command)], capture_output=True, text=True, check=False, timeout=400,
                          env=os.environ | programs.AS_ROOT)


def twin(*arguments, ranks=1):
    return run(PYTHON, "-B", TOOLS / "torch" / "step_twin", *arguments, ranks=ranks)


class Steps(unittest.TestCase):
    def agree(self, strategy, model, devices, optimizer="sgd", more=()):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "steps"
            done = run(WRITE_STEPS, f"--strategy={strategy}", f"--model={model}", f"--batch={MODELS[model]}", "--backend=host",
                       f"--devices={devices}", f"--optimizer={optimizer}", f"--record={path}", "--oversubscribe", ranks=devices)
            self.assertEqual(done.returncode, 0, done.stderr)
            done = run(WARM, "-B", HERE / "twin_steps.py", TOOLS, path, strategy, model, MODELS[model], devices, optimizer,
                       *more, ranks=devices)
        print(model, strategy, done.stdout.strip())
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout


class Case_generator(unittest.TestCase):
    def test_words_are_philox_of_one_block_after_the_other(self):
        code = """if True:
            import sys; sys.path.insert(0, sys.argv[1])
            from twin import generator
            def word(seed, index):
                mask = 0xFFFFFFFF
                words, key = [index // 4 & mask, index // 4 >> 32, 0, 0], [seed & mask, seed >> 32]
                for _ in range(10):
                    one, other = 0xD2511F53 * words[0], 0xCD9E8D57 * words[2]
                    words = [other >> 32 ^ words[1] ^ key[0], other & mask, one >> 32 ^ words[3] ^ key[1], one & mask]
                    key = [key[0] + 0x9E3779B9 & mask, key[1] + 0xBB67AE85 & mask]
                return words[index % 4]
            seed = 0x1234567890abcdef
            for first in (0, 1, 7, 4 * generator.BLOCKS - 3, 2**34 - 3):
                expected = [word(seed, first + i) for i in range(23)]
                found = [bits for _, piece in generator.random_bits(seed, first, 23) for bits in piece.tolist()]
                assert found == expected, first
                exact = [((bits >> 8) - 2**23) * 2.0**-23 * 0.25 for bits in expected]
                assert generator.uniform(seed, first, 23, 0.25).tolist() == exact, first
                assert generator.classes(seed, first, 23, 50257).tolist() == [bits * 50257 >> 32 for bits in expected]
        """
        done = run(PYTHON, "-B", "-c", code, TOOLS / "torch")
        self.assertEqual(done.returncode, 0, done.stderr)


class Case_weights_and_batch(Steps):
    def test_first_weights_are_the_same_bits(self):
        for model in MODELS:
            self.assertRegex(self.agree("single", model, 1, more=["first"]), "tensors alike")


class Case_single(Steps):
    def test_steps_agree(self):
        for model in MODELS:
            self.agree("single", model, 1)

    def test_steps_of_adam_agree(self):
        for optimizer in ("adam", "adamw"):
            self.agree("single", "mlp-tiny", 1, optimizer)

    def test_another_batch_is_seen(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "steps"
            run(WRITE_STEPS, "--model=mlp-tiny", "--batch=8", "--backend=host", f"--record={path}")
            done = run(WARM, "-B", HERE / "twin_steps.py", TOOLS, path, "single", "mlp-tiny", 16, 1, "sgd")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertRegex(done.stdout, "^worst ")


class Case_ddp(Steps):
    def test_steps_of_two_ranks_agree(self):
        for model in MODELS:
            self.agree("ddp", model, 2)


class Case_record(unittest.TestCase):
    def record(self, *arguments, ranks=1):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "record.json"
            done = twin("--model=mlp-tiny", "--backend=host", "--min-time=20ms", "--oversubscribe", f"--record={path}",
                        *arguments, ranks=ranks)
            self.assertEqual(done.returncode, 0, done.stderr)
            return json.loads(path.read_text())

    def test_single_is_one_device_on_one_core(self):
        record = self.record("--batch=8")
        self.assertEqual(record["status"], "ok")
        self.assertRegex(record["cell"]["options"]["implementation"], r"^torch-[0-9]+\.[0-9]+")
        self.assertGreaterEqual(len(record["step_seconds"]), 10)
        self.assertEqual(len(record["machine"]["bound_cores"]), 1)
        self.assertEqual(set(record["critical"]["mean_seconds"]), {"forward", "loss", "backward", "update", "zero_grad"})
        self.assertEqual(record["resolved"]["threads"], "1")
        self.assertGreater(record["taken"]["window_seconds"], 0)

    def test_ranks_of_ddp_and_independent_are_measured_together(self):
        for strategy, phase in (("ddp", "backward_and_comm"), ("independent", "backward")):
            record = self.record("--batch=8", f"--strategy={strategy}", "--devices=2", ranks=2)
            self.assertEqual(len(record["phases"]), 2)
            self.assertEqual(len(record["machine"]["bound_cores"]), 2)
            self.assertIn(phase, record["critical"]["mean_seconds"])
            mean = sum(record["step_seconds"]) / len(record["step_seconds"])
            whole = record["critical"]["span_seconds"] + record["remainder_seconds"]
            self.assertAlmostEqual(whole / mean, 1, places=6)

    def test_what_torch_lacks_is_a_reason_and_no_figure(self):
        for arguments, reason in ((["--strategy=dp", "--devices=2"], "between GPUs"), (["--model=padded"], "no model 'padded'")):
            record = self.record("--batch=8", *arguments)
            self.assertEqual(record["status"], "skipped")
            self.assertIn(reason, record["reason"])

    def test_variables_that_change_kernels_are_taken_away_and_named(self):
        os.environ["OPENBLAS_CORETYPE"] = "Haswell"
        record = self.record("--batch=8")
        del os.environ["OPENBLAS_CORETYPE"]
        self.assertIn("OPENBLAS_CORETYPE", record["warnings"][0])


class Case_samples(unittest.TestCase):
    class Ranks:
        """Two ranks, the other of which starts and ends so much later, in nanoseconds."""

        def __init__(self, start, end):
            self.start, self.end, self.barriers = start, end, 0

        def barrier(self):
            self.barriers += 1

        def gather(self, numbers):
            return [numbers, [numbers[0] + self.start, numbers[1] + self.end, *numbers[2:]]]

    class Step:
        phases = ["forward"]

        def step(self, clock):
            clock.mark("forward")

        def synchronize(self):
            pass

    def test_a_sample_is_from_the_last_start_to_the_last_end(self):
        from twin import sampling

        late = self.Ranks(2 * 10**9, 5 * 10**9)
        seconds, by_rank = sampling.Sampler(self.Step(), late).sample()
        self.assertAlmostEqual(seconds, 3, places=2)
        self.assertAlmostEqual(by_rank[1][0] - by_rank[0][0], 3, places=2)
        self.assertEqual(late.barriers, 1)
        early = self.Ranks(-(10**9), -(10**9))
        self.assertLess(sampling.Sampler(self.Step(), early).sample()[0], 0.5)

    def test_on_pretended_gpus_a_sample_is_the_longest_of_the_ranks_own_steps(self):
        from twin import sampling

        later_by_its_start_too = self.Ranks(2 * 10**9, 5 * 10**9)
        self.assertAlmostEqual(sampling.Sampler(self.Step(), later_by_its_start_too, is_by_rank=True).sample()[0], 3, places=2)
        ended_before_the_other_began = self.Ranks(-5 * 10**9, -(10**9))
        self.assertAlmostEqual(sampling.Sampler(self.Step(), ended_before_the_other_began, is_by_rank=True).sample()[0], 4, places=2)

    def test_what_others_take_is_not_what_ranks_take_from_each_other(self):
        from twin import taken_time

        def share(cpu, ran, delay, busy, stolen=0.0, machine=1.0):
            by_cpu = [[0.0] * 2 for _ in range(3)]
            for column, value in zip(by_cpu, (1.0, busy, stolen)):
                column[cpu] = value
            return taken_time.Share([machine, 2.0, delay, ran, 3, 1, *by_cpu[0], *by_cpu[1], *by_cpu[2]])

        alone = taken_time.taken([share(0, ran=1.0, delay=0.5, busy=1.75, stolen=0.25)])
        self.assertEqual(alone, {"window_seconds": 2.0, "steal_seconds": 0.25, "run_delay_seconds": 0.5,
                                 "involuntary_switches": 3, "major_faults": 1})
        on_one_core = [share(0, ran=1.0, delay=1.0, busy=2.0), share(0, ran=0.875, delay=1.0, busy=2.0)]
        self.assertEqual(taken_time.taken(on_one_core)["run_delay_seconds"], 0.125)
        on_two_nodes = [share(0, ran=1.0, delay=1.0, busy=2.0), share(0, ran=0.875, delay=1.0, busy=1.0, machine=2.0)]
        self.assertEqual(taken_time.taken(on_two_nodes)["run_delay_seconds"], 1.0)
        self.assertNotIn("run_delay_seconds", taken_time.taken([share(0, ran=1.0, delay=-1.0, busy=2.0)]))
        blind = share(0, ran=1.0, delay=1.0, busy=2.0)
        blind.allowed = set()
        self.assertEqual(set(taken_time.taken([blind])), {"window_seconds", "involuntary_switches", "major_faults"})

    def test_taken_time_is_read_from_this_system(self):
        from twin import taken_time

        alone = types.SimpleNamespace(gather=lambda numbers: [numbers])
        done, record = taken_time.watch(alone, lambda: sum(range(10**6)))
        self.assertEqual(done, sum(range(10**6)))
        self.assertGreater(record["window_seconds"], 0)
        self.assertGreaterEqual(record["steal_seconds"], 0)

    def test_the_warm_up_ends_with_both_limits(self):
        from twin import sampling

        slow = sampling.Sampler(self.Step(), self.Ranks(0, 10**9))
        first, steps, total, later = slow.warm_up(5, 0.2)
        self.assertEqual(steps, 5)
        self.assertAlmostEqual(total, 5, places=1)
        self.assertAlmostEqual(first, later, places=2)
        self.assertEqual(slow.warm_up(1, 6.5)[1], 7)

    def test_the_warm_up_goes_on_until_clocks_are_steady_or_to_its_cap(self):
        from twin import sampling

        slow = sampling.Sampler(self.Step(), self.Ranks(0, 10**9))
        answers = iter([False, False, False, True])
        self.assertEqual(slow.warm_up(1, 2.5, lambda: next(answers), 9.5)[1], 5)
        self.assertEqual(slow.warm_up(1, 2.5, lambda: False, 9.5)[1], 10)
        self.assertEqual(slow.warm_up(1, 2.5, lambda: True, 9.5)[1], 3)

    def test_clocks_are_steady_once_each_keeps_its_level_about_which_it_may_move(self):
        from twin import clocks

        class Alone:
            def gather(self, numbers):
                return [numbers]

        def readings(*of_gpus):
            rows = iter(zip(*of_gpus))
            return clocks.Watch(Alone(), lambda: dict(enumerate(next(rows))))

        saved, clocks.PERIOD = clocks.PERIOD, 0.0
        self.addCleanup(setattr, clocks, "PERIOD", saved)
        climb = readings([345, 1000, *[1980] * 20])
        self.assertEqual([climb.is_steady() for _ in range(22)], [False] * 21 + [True])
        capped = readings([1980, 1700] * 10)
        self.assertTrue([capped.is_steady() for _ in range(20)][-1])
        one_sinks = readings([1980] * 20, range(1980, 1780, -10))
        self.assertFalse([one_sinks.is_steady() for _ in range(20)][-1])
        self.assertTrue(clocks.Watch(Alone(), dict).is_steady())  # nobody reports a clock

    def test_samples_fill_the_time_and_are_enough(self):
        from twin.sampling import sample_count

        self.assertEqual(sample_count(10, 0.5, 0.1), 10)
        self.assertEqual(sample_count(10, 0.5, 0.01), 50)


class Case_options(unittest.TestCase):
    def test_a_cell_is_named_by_what_differs_from_torchs_default(self):
        from twin import options

        given = types.SimpleNamespace(**{options.attribute(option): options.usual(option) for option in options.LIST})
        self.assertEqual(options.named(given), {})
        given.grads, given.bucket_mb, given.accumulate = "views", "10", "2"
        self.assertEqual(options.named(given), {"grads": "views", "bucket-mb": "10", "accumulate": "2"})

    def test_convolutions_are_tf32_unless_asked_otherwise_and_products_only_if_asked(self):
        from twin import launch

        torch = unittest.mock.MagicMock()
        for precision, conv_fp32, expected in (("fp32", "off", (False, True)), ("fp32", "on", (False, False)), ("tf32", "off", (True, True))):
            options = types.SimpleNamespace(precision=precision, conv_fp32=conv_fp32, strategy="single", backend="host")
            launch.prepare(torch, options, 0)
            self.assertEqual((torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32), expected)
        options = types.SimpleNamespace(precision="fp32", conv_fp32="on", strategy="single", backend="host")
        self.assertIn("conv-fp32", launch.unavailable(torch, options))

    def test_control_groups_bound_time_and_memory(self):
        from twin import place

        def bounds(groups, **files):
            with tempfile.TemporaryDirectory() as root:
                for name, text in {"proc/self/cgroup": groups, **{f"sys/fs/cgroup/{name}": text for name, text in files.items()}}.items():
                    path = pathlib.Path(root, name)
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_text(text)
                return min(place.cpu_limits(root).values(), default=math.inf), place.memory_limit(root)
        self.assertEqual(bounds("0::/pod/a", **{"pod/a/cpu.max": "max 100000", "pod/cpu.max": "150000 100000", "pod/a/memory.max": "4096"}), (1.5, 4096))
        version_1 = {"cpu/a/cpu.cfs_period_us": "100000", "cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}
        self.assertEqual(bounds("2:cpu,cpuacct:/a\n1:memory:/b", **version_1, **{"cpu/a/cpu.cfs_quota_us": "50000"}), (0.5, math.inf))
        self.assertEqual(bounds("2:cpuset:/a", **version_1), (math.inf, math.inf))

    def test_each_rank_has_a_core_and_a_gpu_of_those_that_it_may_use(self):
        from twin import package

        package.find()
        from tandem.ranks import place_in

        def rank(*cores, host="a", limits={}, gpu=None, visible=""):
            return {"machine": "m", "host": host, "cores": {str(core): core for core in cores}, "limits": limits, "gpu": gpu, "visible": [visible]}

        def places(what, *ranks):
            return [tuple(place_in(list(ranks), number, len(ranks))[name] for name in what) for number in range(len(ranks))]
        self.assertEqual(places(["core", "gpu", "cores", "lack"], rank(0, 1), rank(0, 1)), [(0, 0, 2, ""), (1, 1, 2, "")])
        self.assertEqual(places(["core", "gpu", "lack"], rank(2, host="pod"), rank(3, host="other")), [(2, 0, ""), (3, 0, "")])
        self.assertEqual(places(["core", "lack"], rank(0, 1), rank(0, 2), rank(0, 2)), [(1, ""), (2, ""), (0, "")])
        self.assertEqual(places(["core", "lack"], rank(0), rank(0)), [(0, "only 1 core to run on")] * 2)
        self.assertEqual(places(["gpu"], rank(0, visible="4"), rank(1, visible="7"), rank(2, gpu="5")), [(0,), (0,), (5,)])
        self.assertEqual(places(["lack"], rank(0, limits={"one": 1}), rank(1, limits={"other": 1})), [("",)] * 2)
        for limit, says in ((1, "1 core"), (1.5, "1.5 cores")):
            [lack] = places(["lack"], rank(0, limits={"one": 1, "pod": limit}), rank(1, limits={"pod": limit}))[0]
            self.assertEqual(lack, f"2 of them are on a, whose control group has the time of {says}")

    def test_checksums_are_those_of_the_programs(self):
        from twin import checksum

        self.assertEqual([checksum.of(text) for text in (b"", b"a")], ["cbf29ce484222325", "af63dc4c8601ec8c"])


class Case_bad_input(unittest.TestCase):
    @unittest.skipIf(pathlib.Path("/proc/driver/nvidia").exists(), "on a node with GPUs auto is no core")
    def test_torch_is_loaded_on_one_core_whatever_back_end_is_named(self):
        # Libraries of torch's start a thread for each core that they may use then, and keep them all.
        for backend in ("auto", "host"):
            with tempfile.TemporaryDirectory() as folder:
                (pathlib.Path(folder) / "torch.py").write_text(
                    "import os\nraise ImportError(f'loaded on {len(os.sched_getaffinity(0))} cores')\n")
                environment = os.environ | {"PYTHONPATH": folder}
                done = subprocess.run([PYTHON, "-B", TOOLS / "torch" / "step_twin", "--model=mlp-tiny", "--batch=8",
                                       f"--backend={backend}"], capture_output=True, text=True, check=False, env=environment)
            self.assertRegex(done.stderr, r"\Astep_twin: the torch of .* does not load: loaded on 1 cores; .*\n\Z")

    def test_each_mistake_is_one_line_and_status_2(self):
        for arguments, says in ((["--batch=0"], "no number from 1"), ([], "--batch"), (["--batch=8", "--strategy=pipeline"], "pipeline"),
                                (["--batch=8", "--devices=3", "--strategy=ddp"], "3 devices do not divide a batch of 8"),
                                (["--batch=8", "--grads=views"], "an option of ddp"),
                                (["--batch=8", "--forwards=in-turn"], "--forwards is an option of dp, and the strategy is single"),
                                (["--batch=8", "--strategy=ddp", "--launch=threads"], "runs as processes"),
                                (["--batch=8", "--devices=2"], "single is one device"),
                                (["--batch=8", "--min-time=5"], "no duration"),
                                (["--batch=8", "--strategy=ddp", "--bucket-mb=all"], "whole number from 1"),
                                (["--batch=8", "--compress=bf16"], "compress"), (["--batch=8", "--about"], "give one"),
                                (["--batch=8", "--optimizer=lion"], "lion")):
            done = twin("--check", *arguments)
            self.assertEqual(done.returncode, 2, (arguments, done.stderr))
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertRegex(done.stderr, "^step_twin: ")
            self.assertIn(says, done.stderr)

    def test_a_check_of_what_there_is_says_nothing(self):
        for check in ("--check", "--check=backend", "--check=model"):
            done = twin(check, "--batch=8", "--strategy=ddp", "--devices=2", "--grads=views")
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))


if __name__ == "__main__":
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(globals()[f"Case_{CASE}"])
    sys.exit(not unittest.TextTestRunner().run(suite).wasSuccessful())
