#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ranks that torchrun and others have started: `python -m tandem FILE.py:FUNCTION`.

    launched_test.py CASE SOURCE
"""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

CASE, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])
sys.path.insert(0, str(SOURCE / "tests/support"))
import programs  # beside the tests
import torch_python
import warm_python

PYTHON = torch_python.need(torch_python.at_least(2, 0))
WARM = warm_python.of(PYTHON)
SWEEP = {"name": "small", "workloads": [{"model": "mlp-tiny", "batch": 8}], "devices": [2], "launches": 1, "min_time": "10ms", "min_samples": 3,
         "strategies": [{"strategy": "ddp", "options": {"accumulate": 2, "precision": "bf16"}}, "single"]}  # single is launched first
OWN = """
import os
import pathlib
import signal
import time

import torch
ACTS = os.environ.get("RANK") == os.environ.get("ACTING", "1")

class Own(torch.nn.Linear):
    steps = 0
    act = lambda self: None

    def forward(self, values):
        self.steps += ACTS
        if self.steps > 6:
            self.act()
        return super().forward(values)

def build(act=None, outputs=2):
    module = Own(3, outputs)
    module.act = act or module.act
    return module, torch.rand(4, 3)

def unlike():
    return build(outputs=2 + ACTS)

def dying():
    return build(lambda: os.kill(os.getpid(), signal.SIGKILL))

def staying():
    return build(lambda: (pathlib.Path("stays").touch(), time.sleep(600)))

def outlive():
    pathlib.Path(f"child.{os.getpid()}").touch()
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(600)

def orphaned():
    return build(outlive)
"""


class Scratch(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        (self.folder / "own.py").write_text(OWN)
        (self.folder / "small.json").write_text(json.dumps(SWEEP))
        self.add_program("python3", f'exec "{PYTHON}" "$@"')
        self.add_program("torchrun", f'exec "{PYTHON}" -m torch.distributed.run "$@"')
        self.variables = {name: os.environ[name] for name in set(os.environ) - {"RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT"}}
        self.variables |= {"PYTHONPATH": str(SOURCE / "tools/python"), "PYTHONDONTWRITEBYTECODE": "1", "PATH": f"{self.folder}:{os.environ['PATH']}"}

    def add_program(self, name, line):
        (self.folder / name).write_text(f"#!/bin/sh\n{line}\n")
        (self.folder / name).chmod(0o755)

    def start(self, words, folder=".", **more):
        child = subprocess.Popen(words, env=self.variables | more, cwd=self.folder / folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        return child

    def finish(self, child):
        out, err = child.communicate(timeout=300)
        return child.returncode, out, err

    def ranks(self, module, *words, second=".", python=WARM, **more):
        meeting = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(programs.free_port())}
        return [self.start([python, "-m", "tandem", module, *words, "--batch=8", "--backend=host", "--out=out"], folder, RANK=str(rank), **meeting, **more)
                for rank, folder in enumerate((".", second))]

    def check_both_fail(self, module, says):
        """Both end with 1, and one line on ddp says why."""
        (first, _, err), (second, *_) = map(self.finish, self.ranks(module, "small.json"))
        self.assertEqual((first, second), (1, 1), err)
        self.assertEqual(len(re.findall(f"(?m)^failed: ddp/.*step_twin: {says}", err)), 1, err)

    def records(self, out):
        return [json.loads(line) for line in (self.folder / out / "journal.jsonl").read_text().splitlines() if '"step_seconds"' in line]

    def check_measured(self, out, *more):
        """single, and ddp and `more` by two ranks, in the report too."""
        by_strategy = {record["cell"]["strategy"]: record for record in self.records(out) if record["status"] == "ok"}
        self.assertEqual(set(by_strategy), {"single", "ddp", *more})
        self.assertEqual([len(by_strategy[strategy]["memory"]) for strategy in more], [2] * len(more))
        ddp = by_strategy["ddp"]
        self.assertEqual((len(ddp["phases"]), ddp["resolved"]["process group"], ddp["machine"]["bound_cores"][0] != ddp["machine"]["bound_cores"][1]),
                         (2, "gloo", True))
        self.assertEqual(ddp["warnings"], [])
        document = json.loads((self.folder / out / "results.json").read_text())
        self.assertEqual(len(document["tandem"]["launches"]), len(self.records(out)))


class Case_jobs(Scratch):
    def test_a_job_of_slurm_is_its_script(self):
        for name, line in (("srun", 'shift; exec "$@"'), ("scontrol", "echo localhost"), ("lscpu", r"printf '# Core,Socket\n0,0\n0,0\n1,0\n1,0\n'")):
            self.add_program(name, line)
        status, _, err = self.finish(self.start(["bash", str(SOURCE / "tools/slurm/torchrun.sbatch"), "own.py:build", "small.json", "--batch=8",
                                                 "--cell=fsdp", "--cell=zero1", "--backend=host", "--out=out"], SLURM_NNODES="1", SLURM_JOB_ID="7", SLURM_JOB_NODELIST="here"))
        self.assertEqual(status, 0, err)
        self.check_measured("out", "fsdp", "zero1")

    def test_a_job_of_kubernetes_is_its_containers_commands(self):
        [found] = re.findall(r"command: (\[.*\])", (SOURCE / "tools/kubernetes/pytorchjob.yaml").read_text())
        command, port, pods = json.loads(found), str(programs.free_port()), []
        for rank in range(2):
            words = [word.replace("/out/", f"{self.folder}/").replace("--batch-per-device", "--batch") for word in command]
            pods.append(self.start([*words, "small.json", "--backend=host"], RANK=str(rank), WORLD_SIZE="2", MASTER_ADDR="localhost", MASTER_PORT=port,
                                   OMP_PROC_BIND="true"))  # which binds the thread that loads torch to the first core
        for pod in pods:
            status, _, err = self.finish(pod)
            self.assertEqual(status, 0, err)
        self.check_measured("own")


class Case_refusals(Scratch):
    def refuse(self, status, says, *words, **more):
        got, out, err = self.finish(self.start([WARM, "-m", "tandem", *words], **more))
        self.assertEqual((got, out, err.count("\n")), (status, "", 1), err)
        self.assertIn(says, err)

    def test_what_a_launcher_has_not_set_is_one_line(self):
        rank = {"RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "localhost", "MASTER_PORT": str(programs.free_port())}
        for name in rank:
            self.refuse(2, f"{name} is not set", "own.py:build", **{**rank, name: ""})
        for name, value in (("RANK", "first"), ("RANK", "1"), ("WORLD_SIZE", "0"), ("MASTER_PORT", "99999"), ("LOCAL_RANK", "x")):
            self.refuse(2, f"{name}={value} is no whole number", "own.py:build", **{**rank, name: value})
        self.refuse(2, "DataParallel is one process", "own.py:build", "--cell", "dp forwards=in-turn", **rank)
        self.refuse(2, "leave out --devices: ", "own.py:build", "--devices=2", **rank)
        self.refuse(2, "rank 0 on", "absent.py:build", **rank)

    def test_unlike_modules_are_one_line(self):
        (self.folder / "other").mkdir()
        (self.folder / "other/own.py").write_text(OWN + "\n")
        ended = [self.finish(rank) for rank in self.ranks("own.py:build", second="other")]
        self.assertEqual([status for status, *_ in ended], [1, 1])
        self.assertRegex(ended[0][2] + ended[1][2], r"\Atandem: rank 1 on \S+ has module own.py:build#\w+, and rank 0 own.py:build#\w+: .*\n\Z")
        self.check_both_fail("own.py:unlike", r"rank 1: .*params\[0\] in this process")

    def test_a_rank_that_is_ended_is_named_and_what_was_measured_stays(self):
        self.check_both_fail("own.py:dying", "rank 1 was ended by SIGKILL; ")
        self.assertEqual([record["cell"]["strategy"] for record in self.records("out") if record["status"] == "ok"], ["single"])

    def test_torchrun_that_has_lost_a_rank_does_not_interrupt(self):
        status, _, err = self.finish(self.start(["torchrun", "--standalone", "--nproc-per-node=2", "-m", "tandem", "own.py:orphaned", "small.json",
                                                 "--batch=8", "--backend=host", "--out=out"]))
        self.assertEqual(status, 1, err)
        self.assertEqual(len(re.findall("(?m)^failed: ddp/.*step_twin: rank 1 on .* was lost: its launcher ended the others; ", err)), 1, err)
        self.assertRegex(err, "(?m)^a rank is lost: no further launch can be made; ")
        self.assertNotIn("interrupted:", err)
        self.assertEqual([record["status"] for record in self.records("out")], ["ok", "failed"])
        self.assertTrue((self.folder / "out/unfinished").exists() and (self.folder / "out/report.md").exists())
        [child] = self.folder.glob("child.*")
        self.assertFalse(pathlib.Path("/proc", child.suffix[1:]).exists(), "the killed rank's child goes on")

    def test_an_interrupt_of_torchrun_keeps_what_was_measured(self):
        self.add_program("rank", 'trap : INT; python3 -m tandem "$@"; echo $? >> ended')
        torchrun = self.start(["torchrun", "--standalone", "--nproc-per-node=2", "--no-python", "rank", "own.py:staying", "small.json",
                               "--batch=8", "--backend=host", "--out=out"])
        while torchrun.poll() is None and not (self.folder / "stays").exists():
            time.sleep(0.1)
        torchrun.send_signal(signal.SIGINT)
        _, _, err = self.finish(torchrun)
        self.assertRegex(err, "(?m)^interrupted: what is done is kept; ")
        self.assertEqual((self.folder / "ended").read_text().split(), ["130"] * 2, err)
        self.assertEqual([record["status"] for record in self.records("out")], ["ok"])

    def test_ranks_end_with_rank_0_and_what_was_measured_stays(self):
        (first, _, err), (second, _, says) = map(self.finish, self.ranks("own.py:orphaned", "small.json", python=PYTHON, ACTING="0"))
        self.assertEqual((first, second), (-signal.SIGKILL, 1), err + says)
        self.assertRegex(says, r"\Atandem: rank 1: the ranks' store at .* is gone: .*; see what rank 0 says\n\Z")
        self.assertEqual(len(re.findall("(?m)^failed: .*step_twin: rank 0 was lost: ", err)), 1, err)


if __name__ == "__main__":
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(globals()[f"Case_{CASE}"])
    sys.exit(not unittest.TextTestRunner().run(suite).wasSuccessful())
