#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""torch's own PowerSGD hook and Join, as options of a cell of ddp: one rank over gloo, on a module of 32 x 32.

    ddp_hooks_test.py TOOLS
"""
import os
import pathlib
import sys

TOOLS = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import torch_python  # noqa: E402  # beside the tests

PYTHON = torch_python.need(torch_python.at_least(2, 0), "numpy")
if "--here" not in sys.argv:
    os.execvp(PYTHON, [PYTHON, "-B", __file__, str(TOOLS), "--here"])

import tempfile  # noqa: E402
import types  # noqa: E402

sys.path.insert(0, str(TOOLS / "torch"))
from twin import package  # noqa: E402

package.find()
import torch  # noqa: E402
from twin import options as cell_options, strategies  # noqa: E402

MODULE = """
import torch

def wide():
    torch.manual_seed(3)
    return torch.nn.Linear(32, 32), torch.randn(16, 32)
"""
clock = types.SimpleNamespace(mark=lambda phase: None)


def made(strategy, **more):
    usual = {cell_options.attribute(option): cell_options.usual(option) for option in cell_options.LIST}
    given = {"module": f"{folder}/own.py:wide", "model": "", "strategy": strategy, "device": "cpu", "backend": "host", "seed": 1,
             "devices": 1}
    return strategies.make(types.SimpleNamespace(**usual | given | more), 0, 4)


def apart(exact, approximate):
    """The distance of their weights after one more step of each."""
    exact.step(clock)
    approximate.step(clock)
    return (exact.module.weight - approximate.module.weight).abs().max().item()


def compresses_from_the_third_step_on():
    for kind, rounding in (("none", 1e-6), ("fp16", 1e-3)):
        exact, approximate = made("single"), made("ddp", powersgd="1", compress=kind)
        first = max(apart(exact, approximate), apart(exact, approximate))
        third = apart(exact, approximate)
        assert first <= rounding and third > 1e-5, (kind, first, third)


def joins_all_steps_and_counts_ranks_in_each():
    plain, joined = made("single"), made("ddp", join="on")
    counted, all_reduce = [], torch.distributed.all_reduce

    def count(tensor, **more):
        counted.append(tensor.numel())
        return all_reduce(tensor, **more)
    torch.distributed.all_reduce = count
    with joined.all_steps():
        distances = [apart(plain, joined) for _ in range(2)]
        assert joined.wrapped._join_config.enable and counted.count(1) >= 2, counted
    assert max(distances) < 1e-6, distances
    with made("ddp").all_steps() as nothing:
        assert nothing is None


with tempfile.TemporaryDirectory() as folder:
    (pathlib.Path(folder) / "own.py").write_text(MODULE)
    torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=0, world_size=1)
    compresses_from_the_third_step_on()
    joins_all_steps_and_counts_ranks_in_each()
    sys.stdout.flush()
    os._exit(0)  # without taking the group down: twin/ranks.py
