#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""torch's fully_shard and ZeroRedundancyOptimizer as cells: two ranks over gloo train as DistributedDataParallel's do, each
with half of what the cell shards, and what cannot be sharded is named. torch's own PowerSGD hook and Join are options of ddp's.

    sharded_test.py TOOLS
"""
import contextlib
import datetime
import os
import pathlib
import subprocess
import sys
import tempfile

TOOLS = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import torch_python  # noqa: E402  # beside the tests

RANKS = 2
MODULES = """
import torch
from torch import nn

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.inner = nn.LayerNorm(32), nn.Linear(32, 32)

    def forward(self, values):
        return values + torch.relu(self.inner(self.norm(values)))

def blocks():
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(16, 32), nn.Sequential(*(Block() for _ in range(3))), nn.Linear(32, 6)), torch.randn(16, 16)

def adamw():
    module, batch = blocks()
    groups = [{"params": list(module[0].parameters())}, {"params": list(module[1:].parameters()), "lr": 0.02}]
    return module, batch, None, torch.optim.AdamW(groups, lr=0.01)

def wide():
    module = nn.Sequential(*(nn.Linear(256, 256) for _ in range(8)))
    return module, torch.randn(16, 256)

def tied():
    module, batch = blocks()
    module[1][2].inner.weight = module[1][0].inner.weight
    return module, batch

def recurrent():
    torch.manual_seed(3)
    class Last(nn.Module):
        def __init__(self):
            super().__init__()
            self.memory, self.head = nn.LSTM(8, 16, num_layers=2, batch_first=True), nn.Linear(16, 2)
        def forward(self, series):
            return self.head(self.memory(series)[0][:, -1])
    return Last(), torch.randn(8, 5, 8)

def unlike():
    return nn.Linear(16, 4 + torch.distributed.get_rank()), torch.randn(16, 16)

def square():
    torch.manual_seed(3)
    return nn.Linear(32, 32), torch.randn(16, 32)

def classes():
    module, batch = blocks()
    return module, (batch, torch.arange(16) % 6), nn.CrossEntropyLoss()
"""
if len(sys.argv) == 2:
    PYTHON = torch_python.need(torch_python.at_least(2, 6), "numpy")  # which powerSGD_hook needs
    with tempfile.TemporaryDirectory() as scratch:
        (pathlib.Path(scratch) / "own.py").write_text(MODULES)
        ranks = [subprocess.Popen([PYTHON, "-B", __file__, str(TOOLS), scratch, str(rank)],
                                  env=os.environ | {"GLOO_SOCKET_IFNAME": "lo"}) for rank in range(RANKS)]
        sys.exit(max(abs(rank.wait(timeout=250)) for rank in ranks))

import types  # noqa: E402

sys.path.insert(0, str(TOOLS / "torch"))
from twin import package  # noqa: E402

package.find()
import torch  # noqa: E402
from tandem.errors import TandemError  # noqa: E402
from torch import distributed, nn  # noqa: E402
from twin import launch, memory, options as cell_options, ranks, sharded, strategies  # noqa: E402

FOLDER, RANK = sys.argv[2], int(sys.argv[3])
CLOCK = types.SimpleNamespace(mark=lambda phase: None)
SHARE = 4


def options_of(function, strategy, **more):
    usual = {cell_options.attribute(option): cell_options.usual(option) for option in cell_options.LIST}
    given = {"module": f"{FOLDER}/own.py:{function}", "model": "", "strategy": strategy, "device": "cpu", "backend": "host",
             "seed": 1, "devices": RANKS}
    return types.SimpleNamespace(**usual | given | more)


def made(function, strategy, **more):
    return strategies.make(options_of(function, strategy, **more), RANK * SHARE, SHARE)


def losses(strategy, steps=5):
    """The mean over ranks, of each step."""
    found = []
    with strategy.all_steps():
        for _ in range(steps):
            strategy.step(CLOCK)
            loss = strategy.loss.detach().float().clone()
            distributed.all_reduce(loss)
            found.append(loss.item() / RANKS)
    return found


def check_trains_alike(function, strategy, within=1e-6, **more):
    ddp_options = {name: value for name, value in more.items() if name not in ("reshard", "mixed")}
    wanted, found = losses(made(function, "ddp", **ddp_options)), losses(made(function, strategy, **more))
    assert wanted[-1] != wanted[0], wanted
    assert all(abs(one - other) <= within * abs(one) for one, other in zip(wanted, found)), (function, strategy, more, wanted, found)


def trains_as_ddp_does():
    for function in ("blocks", "adamw", "recurrent"):
        for strategy in ("fsdp", "zero1"):
            check_trains_alike(function, strategy)
            check_trains_alike(function, strategy, accumulate="2")
    with contextlib.suppress(sharded.CannotShard) if torch.__version__ < "2.8" else contextlib.nullcontext():  # it keeps the root whole
        check_trains_alike("recurrent", "fsdp", reshard="on")
    check_trains_alike("adamw", "fsdp", reshard="off")
    check_trains_alike("blocks", "fsdp", optimizer="adamw", fused="on")
    check_trains_alike("adamw", "zero1", join="on", grads="views")
    # Numbers have 16 bits, and those of bf16 8 for the mantissa.
    check_trains_alike("adamw", "fsdp", 0.02, precision="bf16")
    check_trains_alike("adamw", "fsdp", 0.02, precision="bf16", mixed="autocast")


def sixteen_bits_are_where_the_option_puts_them():
    for mixed, gathered in (("policy", torch.bfloat16), ("autocast", torch.float32)):
        strategy, seen = made("blocks", "fsdp", precision="bf16", mixed=mixed), []
        strategy.module[0].register_forward_pre_hook(lambda module, inputs: seen.append(module.weight.dtype))
        strategy.module[0].register_forward_hook(lambda module, inputs, output: seen.append(output.dtype))
        strategy.step(CLOCK)
        assert seen == [gathered, torch.bfloat16] and strategy.module[0].weight.dtype == torch.float32, (mixed, seen)


def an_infinite_gradient_of_one_rank_skips_the_step_of_all():
    """GradScaler sees a rank's shard alone."""
    strategy = made("classes", "fsdp", precision="fp16")
    usual = strategy.scaler.get_scale()
    strategy.step(CLOCK)
    assert strategy.scaler.get_scale() == usual and strategy.loss.dtype == torch.float32, "a loss of 16 bits is infinite, scaled"
    strategy.backward(strategy.batches[0], CLOCK, 1)
    weight, scale = strategy.module[0].weight, strategy.scaler.get_scale()
    before = weight.to_local().clone()
    if RANK == 1:
        weight.grad.to_local().fill_(float("inf"))
    strategy.update()
    assert torch.equal(weight.to_local(), before) and strategy.scaler.get_scale() == scale / 2, strategy.scaler.get_scale()


def numbers_kept(tensors):
    return sum(getattr(tensor, "_local_tensor", tensor).numel() for tensor in tensors)


def each_rank_keeps_its_share():
    counts = {}
    for strategy in ("ddp", "fsdp", "zero1"):
        one = made("adamw", strategy)
        one.step(CLOCK)
        kept = getattr(one.optimizer, "optim", one.optimizer).state.values()
        counts[strategy] = (numbers_kept(one.module.parameters()),
                            numbers_kept(tensor for state in kept for tensor in state.values() if tensor.dim() > 0))
    parameters, moments = counts["ddp"]
    assert moments == 2 * parameters
    assert counts["fsdp"] == (parameters / RANKS, moments / RANKS), counts
    whole, mine = counts["zero1"]
    assert whole == parameters and abs(mine / moments - 1 / RANKS) < 0.15, counts  # whole tensors are shared out


def memory_of(make_training, options, make, name):
    """By the ranks of twin/ranks.py; each call has keys of its own in their store."""
    one = ranks.JoinedRanks.__new__(ranks.JoinedRanks)
    one.rank, one.size, one.group, one.store = RANK, RANKS, None, distributed.PrefixStore(name, STORE)
    return memory.of_cpu(one, lambda: make_training(options, RANK * SHARE, SHARE), make, [])


def the_peak_has_what_a_step_holds():
    """AdamW: of P bytes of parameters a rank holds P, gradients P, moments 2 P, and P of what AdamW takes inside."""
    peaks, parameters = {}, sum(4 * parameter.numel() for parameter in made("wide", "ddp").module.parameters())
    for strategy in ("single", "ddp", "fsdp", "zero1"):
        options = options_of("wide", strategy, optimizer="adamw")
        of_ranks, notes = memory_of(strategies.training, options, lambda training: strategies.of(options, training), f"{strategy}/")
        assert not notes and len(of_ranks) == RANKS, notes
        peaks[strategy] = of_ranks[RANK]["peak_bytes"]
    held = {strategy: peak / parameters for strategy, peak in peaks.items()}
    assert 4 < held["single"] < 5.2 and abs(held["ddp"] - held["single"] - 1) < 0.05, held  # the buckets
    assert abs(held["ddp"] - held["zero1"] - 1) < 0.3 and held["fsdp"] < 0.7 * held["ddp"], held


def a_failure_of_one_rank_is_known_to_all():
    options = options_of("wide", "ddp")

    def on_rank_1(options, first, count):
        assert RANK != 1, "it serves but once"
        return strategies.training(options, first, count)

    def in_a_step(training):
        assert RANK != 1, "out of room"
        return strategies.of(options, training)  # a collective
    for make_training, make, reason in ((on_rank_1, None, "it serves but once"), (strategies.training, in_a_step, "out of room")):
        of_ranks, notes = memory_of(make_training, options, make, f"{reason}/")
        says = f"memory is not known: rank 1: AssertionError: {reason} (sharded_test.py, line "
        assert of_ranks == [] and len(notes) == 1 and notes[0].startswith(says), notes


def apart(exact, approximate):
    """The distance of their weights after one more step of each."""
    exact.step(CLOCK)
    approximate.step(CLOCK)
    return (exact.module.weight - approximate.module.weight).abs().max().item()


def powersgd_compresses_from_the_third_step_on():
    for kind, rounding in (("none", 1e-6), ("fp16", 1e-3)):
        exact, approximate = made("square", "ddp"), made("square", "ddp", powersgd="1", compress=kind)
        first = max(apart(exact, approximate), apart(exact, approximate))
        third = apart(exact, approximate)
        assert first <= rounding and third > 1e-5, (kind, first, third)


def join_counts_ranks_in_each_step():
    plain, joined = made("square", "ddp"), made("square", "ddp", join="on")
    counted, all_reduce = [], distributed.all_reduce

    def count(tensor, **more):
        counted.append(tensor.numel())
        return all_reduce(tensor, **more)
    distributed.all_reduce = count
    with joined.all_steps():
        distances = [apart(plain, joined) for _ in range(2)]
        assert joined.wrapped._join_config.enable and counted.count(1) >= 2, counted
    distributed.all_reduce = all_reduce
    assert max(distances) < 1e-6, distances
    with plain.all_steps() as nothing:
        assert nothing is None


def blocks_are_repeated_members_of_containers():
    def names(module):
        return list(sharded.blocks_of(module))

    class Stem(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleDict({name: nn.Bilinear(2, 2, 2) for name in "ab"})
    assert names(nn.Linear(2, 2)) == names(nn.LSTM(2, 2, num_layers=3)) == []
    assert names(nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Conv1d(2, 2, 1))) == []
    assert names(nn.Sequential(nn.BatchNorm1d(2), nn.BatchNorm1d(2))) == []
    assert names(nn.Sequential(Stem(), nn.Linear(2, 2))) == ["0.layers.a", "0.layers.b"]
    assert names(nn.ModuleList([Stem(), Stem()])) == ["0", "1"]
    shared = nn.Linear(2, 2)
    assert names(nn.Sequential(shared, shared, nn.Linear(2, 2))) == ["0", "2"]
    strategy = made("blocks", "fsdp")
    assert strategy.resolved == {"sharded": "2 Linear, 3 Block, root"}, strategy.resolved


def refuses(says, kind, function, strategy):
    try:
        made(function, strategy)
    except kind as error:
        assert says in str(error) and "\n" not in str(error), error
    else:
        raise AssertionError(f"{function} is not refused")


def what_cannot_be_sharded_is_named():
    refuses("1.0.inner.weight and 1.2.inner.weight are one parameter of different blocks", sharded.CannotShard, "tied", "fsdp")
    fully_shard = torch.distributed.fsdp.fully_shard
    torch.distributed.fsdp.fully_shard = lambda part, reshard_after_forward, **more: fully_shard(part, **more)  # as in 2.6
    try:
        losses(made("recurrent", "fsdp", reshard="on"), 1)
    except sharded.CannotShard as error:
        assert "does not reshard the root" in str(error)
    else:
        raise AssertionError("reshard=on does nothing, and nobody says so")
    torch.distributed.fsdp.fully_shard = fully_shard
    refuses("rank 0 has weight of (4, 16), rank 1 has weight of (5, 16)", TandemError, "unlike", "fsdp")
    losses(made("tied", "zero1"), 1)
    fsdp = options_of("blocks", "fsdp")
    assert launch.unavailable(torch, fsdp) == ""
    assert "contiguous weights" in launch.unavailable(torch, options_of("blocks", "fsdp", channels_last="on"))
    del torch.distributed.fsdp.fully_shard
    assert "has no fully_shard" in launch.unavailable(torch, fsdp)


torch.set_num_threads(1)
STORE = distributed.FileStore(f"{FOLDER}/meet", RANKS)
distributed.init_process_group("gloo", store=STORE, rank=RANK, world_size=RANKS, timeout=datetime.timedelta(seconds=60))
trains_as_ddp_does()
sixteen_bits_are_where_the_option_puts_them()
an_infinite_gradient_of_one_rank_skips_the_step_of_all()
each_rank_keeps_its_share()
the_peak_has_what_a_step_holds()
powersgd_compresses_from_the_third_step_on()
join_counts_ranks_in_each_step()
blocks_are_repeated_members_of_containers()
what_cannot_be_sharded_is_named()
distributed.destroy_process_group()
distributed.init_process_group("gloo", store=distributed.PrefixStore("again", STORE), rank=RANK, world_size=RANKS,
                               timeout=datetime.timedelta(seconds=3))
a_failure_of_one_rank_is_known_to_all()
sys.stdout.flush()
os._exit(0)  # without taking the group down: twin/ranks.py
