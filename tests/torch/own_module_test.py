#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A user's own module: what its function may return, torch's strategies on it, and `tandem run --module`.

    own_module_test.py CASE TOOLS MPIEXEC TANDEM
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

CASE, TOOLS, MPIEXEC, TANDEM = sys.argv[1], pathlib.Path(sys.argv[2]), *sys.argv[3:5]
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
import programs  # beside the tests
import torch_python
import warm_python

PYTHON = torch_python.need(torch_python.at_least(2, 0))
EXAMPLES = {"vision": "torchvision", "language": "transformers.models.gpt2.modeling_gpt2", "recurrent": "torch"}
WARM = warm_python.of(PYTHON, *EXAMPLES.values() if CASE == "examples" else [])

OWN = """
import os

import torch
from torch import nn

SAMPLES = torch.arange(12.).view(4, 3) / 12
WANTED = torch.arange(8.).view(4, 2) / 8

def layer():
    torch.manual_seed(3)
    return nn.Linear(3, 2)

def plain():
    return layer(), SAMPLES

def trained():
    module = layer()
    return module, (SAMPLES, WANTED), nn.MSELoss(), torch.optim.SGD(module.parameters(), lr=0.5)

def by_function():
    return {"module": layer(), "batch": SAMPLES, "targets": WANTED, "loss": nn.functional.mse_loss,
            "optimizer": lambda parameters: torch.optim.SGD(parameters, lr=0.5)}

class Keywords(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = layer()

    def forward(self, values, labels, scale=1.0):
        return {"loss": nn.functional.mse_loss(self.inner(values) * scale, labels), "values": values}

def keywords():
    return Keywords(), {"values": SAMPLES, "labels": WANTED, "scale": 2.0}

class Number(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = layer()

    def forward(self, values):
        return self.inner(values).abs().mean()

def number():
    return Number(), SAMPLES

def image():
    return nn.Conv2d(2, 3, 3), torch.rand(2, 2, 5, 5)

def only_module():
    return layer()

def unsplittable():
    return nn.Bilinear(3, 3, 2), (SAMPLES, SAMPLES[:3])

def without_parameters():
    return nn.ReLU(), SAMPLES

def misfit():
    return nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(5, 2)), SAMPLES

def two_inputs_beside_a_loss():
    return nn.Bilinear(3, 3, 2), (SAMPLES, SAMPLES), nn.MSELoss()

def vector_loss():
    return layer(), SAMPLES, lambda output: output

class Half(nn.Module):
    def __init__(self):
        super().__init__()
        self.used, self.head = layer(), layer()

    def forward(self, values):
        return self.used(values)

def half():
    return Half(), SAMPLES

def compiled():
    return torch.compile(nn.Sequential(layer(), nn.ReLU()), backend="eager"), SAMPLES

def compiled_inside():
    inner = nn.Sequential(layer(), nn.ReLU())
    inner.compile(backend="eager")
    return nn.Sequential(inner, nn.Linear(2, 2)), SAMPLES

class BadRank(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = layer()

    def forward(self, values):
        if os.environ.get("OMPI_COMM_WORLD_RANK") == "1":
            raise KeyError("rank 1 is bad")
        return self.inner(values)

def bad_rank():
    return BadRank(), SAMPLES

class Hungry(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = layer()

    def forward(self, values):
        return self.inner(values) + torch.empty(1 << 50 if len(values) > 4 else 1)[:1]

def hungry():
    return Hungry(), SAMPLES

def prints():
    print('{"epoch": 1}')
    return layer(), SAMPLES
"""

BEGIN = """
import sys, types
sys.path.insert(0, sys.argv[1])
from twin import package
package.find()
import torch
from twin import options as cell_options, own_module, strategies
sys.path.insert(0, sys.argv[2])
import own


class Clock:
    def mark(self, phase):
        pass


def made(function, batch=4, strategy="single", **more):
    usual = {cell_options.attribute(option): cell_options.usual(option) for option in cell_options.LIST}
    given = {"module": f"{sys.argv[2]}/own.py:{function}", "model": "", "strategy": strategy, "device": "cpu", "backend": "host", "seed": 1,
             "devices": 1}
    return strategies.make(types.SimpleNamespace(**usual | given | more), 0, batch)


def alone():
    import tempfile
    torch.distributed.init_process_group("gloo", init_method=f"file://{tempfile.mkdtemp()}/meet", rank=0, world_size=1)
"""


class Scratch(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        (self.folder / "own.py").write_text(OWN)

    def run_it(self, *command, **more):
        """By the warm python, which costs no seconds; env starts the python itself."""
        words = [str(word) for word in command]
        words = [WARM if word == PYTHON and words[0] != "env" else word for word in words]
        return subprocess.run(words, capture_output=True, text=True, check=False, timeout=500,
                              env=os.environ | programs.AS_ROOT | {"COLUMNS": "10000"} | more, cwd=self.folder)

    def python(self, code):
        done = self.run_it(PYTHON, "-B", "-c", BEGIN + textwrap.dedent(code), TOOLS / "torch", self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def twin(self, *arguments, ranks=1):
        before = [MPIEXEC, "--oversubscribe", "--bind-to", "none", "-np", str(ranks)] if ranks > 1 else []
        return self.run_it(*before, PYTHON, "-B", TOOLS / "torch/step_twin", *arguments)

    def about(self, source, batch=2):
        done = self.twin("--about", f"--module={source}", f"--batch={batch}", "--backend=host")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout.splitlines()[-1])

    def record(self, source, *arguments, ranks=1):
        path = self.folder / "record.json"
        done = self.twin(f"--module={source}", "--backend=host", "--min-time=10ms", "--min-samples=3", "--oversubscribe",
                         f"--record={path}", *arguments, ranks=ranks)
        self.assertTrue(path.is_file(), done.stderr)
        return json.loads(path.read_text())


class Case_returned(Scratch):
    def test_the_batch_is_cut_or_repeated_to_the_share(self):
        self.python("""
            for batch in (1, 3, 4, 11):
                inputs = made("plain", batch).batches[0].inputs[0]
                assert torch.equal(inputs, torch.cat([own.SAMPLES] * 3)[:batch]), batch
            later = own_module.Training(types.SimpleNamespace(module=f"{sys.argv[2]}/own.py:plain", seed=1), 3, 2)
            assert torch.equal(later.inputs[0], own.SAMPLES[[3, 0]])
        """)

    def test_targets_are_a_pairs_second_or_named(self):
        self.python("""
            for function in ("trained", "by_function"):
                batch = made(function, 2).batches[0]
                assert torch.equal(batch.inputs[0], own.SAMPLES[:2]) and torch.equal(batch.targets, own.WANTED[:2]), function
        """)

    def test_a_mapping_is_keywords_and_keeps_plain_values(self):
        self.python("""
            strategy = made("keywords", 2)
            batch = strategy.batches[0]
            assert batch.inputs == () and batch.keywords["scale"] == 2.0 and batch.keywords["values"].shape == (2, 3)
            strategy.step(Clock())
            assert strategy.training.loss.name == "the output's loss"
        """)

    def test_without_a_loss_it_is_the_modules_own_or_the_mean_of_squares(self):
        self.python("""
            strategy = made("number")
            strategy.step(Clock())
            assert strategy.training.loss.name == "the output", strategy.training.loss.name
            # DataParallel gathers the numbers of its replicas, of which the mean is taken.
            assert strategy.training.loss(torch.tensor([1., 3.], requires_grad=True), None) == 2
            strategy = made("plain")
            outputs = strategy.module(own.SAMPLES)
            assert torch.equal(strategy.training.loss(outputs, None), outputs.square().mean())
            assert strategy.training.loss.name == "mean of squares of the output"
        """)

    def test_a_models_file_beside_it_is_the_users(self):
        (self.folder / "models.py").write_text("def width():\n    return 5\n")
        (self.folder / "uses.py").write_text("import models, torch\n\ndef build():\n"
                                             "    return torch.nn.Linear(models.width(), 1), torch.rand(2, 5)\n")
        self.assertEqual(self.about(self.folder / "uses.py:build")["parameters"], 6)
        self.assertEqual(self.about("uses:build")["parameters"], 6)  # by its name, from the current folder


class Case_steps(Scratch):
    def test_a_step_is_the_loop_that_a_user_writes(self):
        self.python("""
            module, (samples, wanted), loss, optimizer = own.trained()
            strategies_ = [made("trained"), made("by_function")]
            for _ in range(3):
                optimizer.zero_grad()
                loss(module(samples), wanted).backward()
                optimizer.step()
                for strategy in strategies_:
                    strategy.step(Clock())
            for strategy in strategies_:
                assert torch.equal(strategy.module.weight, module.weight)
        """)

    def test_options_of_ddp_reach_torch_and_train_alike(self):
        self.python("""
            alone()
            plain = made("by_function")
            plain.step(Clock())
            for more in ({}, {"grads": "views"}, {"bucket_mb": "10"}, {"static_graph": "on"}, {"broadcast_buffers": "off"},
                         {"find_unused_parameters": "on"}, {"accumulate": "2"}, {"read_loss": "on"}, {"compress": "none"}):
                strategy = made("by_function", strategy="ddp", **more)
                strategy.step(Clock())
                assert torch.allclose(strategy.module.weight, plain.module.weight, atol=1e-6), more
            views = made("by_function", strategy="ddp", grads="views", bucket_mb="10", static_graph="on").wrapped
            assert views.gradient_as_bucket_view and views.static_graph and views.bucket_bytes_cap == 10 << 20
            assert made("by_function", strategy="ddp", find_unused_parameters="on").wrapped.find_unused_parameters
            assert not made("by_function", strategy="ddp", broadcast_buffers="off").wrapped.broadcast_buffers
            assert len(made("by_function", strategy="ddp", accumulate="4").batches) == 4
        """)

    def test_compression_loses_what_sixteen_bits_lose(self):
        self.python("""
            alone()
            plain = made("by_function")
            plain.step(Clock())
            for kind in ("fp16", "bf16"):
                strategy = made("by_function", strategy="ddp", compress=kind)
                strategy.step(Clock())
                apart = (strategy.module.weight - plain.module.weight).abs().max().item()
                assert 0 < apart < 0.01, (kind, apart)
        """)

    def test_options_of_the_step_are_torchs(self):
        self.python("""
            fused = made("plain", optimizer="adamw", fused="on").optimizer
            assert type(fused) is torch.optim.AdamW and fused.defaults["fused"]
            half = made("plain", precision="bf16")
            seen = []
            half.module.register_forward_hook(lambda module, inputs, output: seen.append(output.dtype))
            half.step(Clock())
            assert seen == [torch.bfloat16] and half.module.weight.dtype == torch.float32
            image = made("image", channels_last="on")
            image.step(Clock())
            for tensor in (image.module.weight, image.batches[0].inputs[0]):
                assert tensor.is_contiguous(memory_format=torch.channels_last) and not tensor.is_contiguous()
            assert made("image").module.weight.is_contiguous()
        """)

    def test_two_ranks_are_measured_together_with_every_option(self):
        source = self.folder / "own.py:by_function"
        for more in ([], ["--grads=views", "--bucket-mb=10"], ["--accumulate=2"], ["--compress=bf16"], ["--static-graph=on"],
                     ["--join=on"], *[["--powersgd=2"]] * (self.run_it(PYTHON, "-c", "import numpy").returncode == 0)):
            record = self.record(source, "--strategy=ddp", "--devices=2", "--batch=8", *more, ranks=2)
            self.assertEqual(record["status"], "ok", record)
            self.assertEqual(len(record["phases"]), 2)
            self.assertEqual(record["resolved"]["loss"], "the function's loss")
            self.assertEqual(record["model"]["parameters"], 8)
            for word in more:
                self.assertIn(word[2:].partition("=")[0], record["cell"]["options"])

    def test_compiled_modules_are_tried_as_one_layer(self):
        for function, parameters in (("compiled", 8), ("compiled_inside", 14)):
            facts = self.about(self.folder / f"own.py:{function}")
            self.assertEqual((facts["parameters"], facts["unused"]), (parameters, ""))


class Case_refusals(Scratch):
    def refuse(self, function, status, says):
        done = self.twin("--about", f"--module={self.folder}/own.py:{function}", "--batch=2", "--backend=host")
        self.assertEqual((done.returncode, done.stderr.count("\n")), (status, 1), done.stderr)
        self.assertIn(says, done.stderr)

    def test_what_cannot_be_trained_is_one_line(self):
        for function, says in (("only_module", "returns a value of type Linear"), ("unsplittable", "cannot be split: its tensors are of (4, 3) and (3, 3)"),
                               ("without_parameters", "no parameters that are trained"), ("misfit", "in forward of layer 2: "),
                               ("two_inputs_beside_a_loss", "two inputs are ((first, second), target)"),
                               ("vector_loss", "it is a tensor of (2, 2): return one number")):
            self.refuse(function, 1, says)
        self.refuse("nothing", 2, "it has no function nothing")

    def test_code_that_does_not_load_is_one_line(self):
        for text, status, says in (("x = (", 1, "SyntaxError"), ("import nothere", 1, "No module named 'nothere' (own.py, line 1); "),
                                   ("import sys\nsys.exit(0)", 2, "ends the program")):
            (self.folder / "own.py").write_text(text)
            self.refuse("build", status, says)

    def test_a_rank_that_fails_says_which_one_it_is(self):
        source = f"{self.folder}/own.py:bad_rank"
        done = self.twin(f"--module={source}", f"--model={self.about(source)['module']}", "--backend=host", "--oversubscribe",
                         "--strategy=ddp", "--devices=2", "--batch=8", f"--record={self.folder}/record.json", ranks=2)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("step_twin: rank 1: KeyError: 'rank 1 is bad'\n", done.stderr)
        self.assertNotRegex(done.stderr, "step_twin: rank 0: (?!it lost another rank: )")

    def test_a_parameter_without_gradient_is_named(self):
        self.assertEqual(self.about(self.folder / "own.py:half")["unused"], "head.weight")
        self.assertEqual(self.about(self.folder / "own.py:plain")["unused"], "")

    def test_what_a_users_code_prints_does_no_harm(self):
        self.assertEqual(self.about(self.folder / "own.py:prints")["parameters"], 8)

    def test_a_file_that_was_changed_is_not_measured(self):
        source = f"{self.folder}/own.py:plain"
        name = self.about(source)["module"]
        self.assertRegex(name, "^own.py:plain#[0-9a-f]{16}$")
        (self.folder / "own.py").write_text(OWN + "\n")
        done = self.twin(f"--module={source}", f"--model={name}", "--batch=4", "--backend=host")
        self.assertEqual(done.returncode, 2)
        self.assertIn("the file was changed since", done.stderr)

    def test_an_optimizer_of_its_own_excludes_ours(self):
        source = f"{self.folder}/own.py:trained"
        done = self.twin(f"--module={source}", f"--model={self.about(source)['module']}", "--batch=4", "--backend=host",
                         "--optimizer=adam")
        self.assertEqual(done.returncode, 2)
        self.assertIn("returns an optimizer of its own", done.stderr)

    def test_out_of_memory_is_a_result(self):
        record = self.record(self.folder / "own.py:hungry", "--batch=8")
        self.assertEqual(record["status"], "skipped")
        self.assertIn("out of memory: ", record["reason"])


class Case_products(Scratch):
    def test_a_reference_blas_is_named_with_the_mend_and_this_one_is_not(self):
        self.python("""
            from twin import products
            def loops(a, b):  # a row at a time, as the reference's loops have it
                return sum((a[:, k:k + 1] * b[k:k + 1] for _ in range(4) for k in range(a.shape[1])), torch.zeros(a.shape[0], b.shape[1])) / 4
            said = products.refusal(loops)
            assert "as a reference BLAS does: install libopenblas0" in said, said
            assert products.refusal() == "", products.refusal()
        """)

    def test_the_name_is_not_given_then(self):
        (self.folder / "slow.py").write_text("import sys, runpy\nsys.argv = sys.argv[1:]\nsys.path.insert(0, sys.argv[0].rsplit('/', 1)[0])\n"
                                             "from twin import package\npackage.find()\nfrom twin import products\nproducts.LEAST = float('inf')\nrunpy.run_path(sys.argv[0], run_name='__main__')\n")
        self.assertRegex(self.run_it(PYTHON, "-B", "slow.py", TOOLS / "torch/step_twin", "--name").stdout,
                         r"^unfit: torch \S+ multiplies matrices with [0-9.]+ GFLOP/s on a core")
        self.assertRegex(self.twin("--name").stdout, "^torch-[0-9.]+")
        (self.folder / "torch").mkdir()
        (self.folder / "torch/version.py").write_text("__version__ = '9.9.9'\n")
        (self.folder / "torch/__init__.py").write_text("raise ImportError('no libgone.so')\n")
        broken = "env", f"PYTHONPATH={self.folder}", PYTHON, TOOLS / "torch/step_twin"
        self.assertEqual(self.run_it(*broken, "--name=any").stdout, "torch-9.9.9\n")  # nothing is loaded or measured
        self.assertRegex(self.run_it(*broken, "--about", "--module=own.py:plain", "--batch=2", "--backend=host").stderr,
                         r"\Astep_twin: the torch of .* does not load: no libgone.so; mend it, or name another .*\n\Z")


class Case_examples(Scratch):
    def test_vision_language_and_recurrent_models_are_trained(self):
        for name, library in EXAMPLES.items():
            if self.run_it(PYTHON, "-c", f"import {library}").returncode:
                print(f"{name} is left out: {PYTHON} has no {library}")
                continue
            source = HERE / f"modules/{name}.py:build"
            self.assertEqual(self.about(source)["unused"], "", name)
            for strategy, ranks in (("single", 1), ("ddp", 2)):
                record = self.record(source, f"--strategy={strategy}", f"--devices={ranks}", "--batch=4", ranks=ranks)
                self.assertEqual(record["status"], "ok", record)


class Case_run(Scratch):
    def tandem(self):
        return self.run_it(TANDEM, "run", "--module=own.py:by_function", "--batch-per-device=2", "--devices=2", "--backend=host",
                           "--oversubscribe", f"--with-torch={WARM}", "--out=out", "--launches=2")

    def test_one_command_gives_a_page_and_another_file_is_another_run(self):
        done = self.tandem()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"(?m)^PyTorch \S+: own.py:by_function, batch 4 \(2 per device\), 2 devices[^:]*:\s+DistributedDataParallel\s+takes ")
        self.assertIn("torch-", (self.folder / "out/cells.csv").read_text())
        self.assertTrue((self.folder / "out/report.html").is_file())
        (self.folder / "own.py").write_text(OWN + "# changed\n")
        done = self.tandem()
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("it belongs to another sweep or other options", done.stderr)

    def test_a_sweep_of_gpus_is_planned_for_the_module_where_there_is_none(self):
        done = self.run_it(TANDEM, "run", "node", "--module=own.py:by_function", "--batch-per-device=2,4", "--devices=8",
                           f"--with-torch={WARM}", "--dry-run")
        if "built without CUDA" in done.stderr:
            self.skipTest("torch is built without CUDA")
        self.assertEqual(done.returncode, 0, done.stderr)
        for cell in ("single/threads", "independent/processes", "dp/threads", "ddp/processes"):
            self.assertRegex(done.stdout, rf"(?m)^  {cell}/own\.py:by_function#\w+/devices:{1 if cell[0] == 's' else 8}/batch:16/impl")
        self.assertNotIn("mlp-100m", done.stdout)
        self.assertIn("within 10m00s, the most informative first", done.stdout)


if __name__ == "__main__":
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(globals()[f"Case_{CASE}"])
    sys.exit(not unittest.TextTestRunner().run(suite).wasSuccessful())
