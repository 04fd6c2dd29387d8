# SPDX-License-Identifier: Apache-2.0
"""Integers that programs decide by, computed on pretended GPUs.

    control_data.py expressions      small expressions, against the same on the CPU
    control_data.py ranks            objects, counts and flags between two ranks over NCCL

Prints what is wrong, then a line that ends with "right".
"""
import ctypes
import os
import socket
import sys

import torch
from torch import distributed

READ_BACK = ctypes.CDLL(None).tandem_pretend_read_back


def changed(tensor, change):
    tensor = tensor.clone()
    change(tensor)
    return tensor


def floats(like, kind):
    return torch.tensor([0.0, -0.0, 1.5, -2.0, float("nan"), float("inf"), -float("inf"), 3.0], dtype=kind, device=like.device)


def compared(x):
    return torch.stack([x.isnan(), x == x.clone(), x != 0, x == float("inf"), x < 0, x >= 0, x <= 1.5, x >= x.clone(), x > 3, x.bool()])


# By a, b: long; m: bool; i: places in a; t: a as two rows of four.
EXPRESSIONS = {
    "filled": lambda a, b, m, i, t: torch.full_like(a, 7),
    "in place": lambda a, b, m, i, t: changed(t, lambda x: x[:, 1].fill_(9)),
    "arange": lambda a, b, m, i, t: torch.arange(3, 40, 2, device=a.device),
    "equal": lambda a, b, m, i, t: torch.stack([a == b, a != b, a == 1, a != 1, m == (a > 2)]),
    "in order": lambda a, b, m, i, t: torch.stack([a < b, a <= b, a > b, a >= b, a < 4, a <= 4, a > 4, a >= 4]),
    "types compared": lambda a, b, m, i, t: a.int() < b,
    "broadcast": lambda a, b, m, i, t: (a.int()[:, None] == b[None, :]) | (a[:, None] > b + 6),
    "sums": lambda a, b, m, i, t: torch.stack([a + b, a - b, a + 3, 10 - a, torch.add(a, b, alpha=2), a * b, a * 3, a + b[2], -a]),
    "small types": lambda a, b, m, i, t: a.to(torch.int8) * 60 + b.to(torch.int8),
    "sums of types": lambda a, b, m, i, t: a.int() + b + m,
    "strided sums": lambda a, b, m, i, t: a[::2].int() + b[1::2],
    "divided": lambda a, b, m, i, t: torch.stack([(4 - a) // 2, (4 - a) % 3, (4 - a) // b, (a - 4).abs()]),
    "bits": lambda a, b, m, i, t: torch.stack([a & b, a | b, a ^ b, ~a]),
    "logic": lambda a, b, m, i, t: torch.stack([~m, m & (a > 2), m | (a > 2), m ^ (a > 2), a.logical_not(), torch.logical_or(m, a > 8)]),
    "least and most": lambda a, b, m, i, t: torch.stack([torch.maximum(a, b), torch.minimum(a, b), a.clamp(2, 5), a.clamp(max=4)]),
    "where": lambda a, b, m, i, t: torch.stack([torch.where(m, a, b), torch.where(m, a, 0), a.masked_fill(m, -100)]),
    "where of ints": lambda a, b, m, i, t: torch.where(m, a.int(), b.int()),
    "types": lambda a, b, m, i, t: torch.stack([x.long() for x in (a.int(), a.short(), a.to(torch.int8), a.byte(), a.bool(), m)]),
    "moved": lambda a, b, m, i, t: t.t().contiguous() + a.repeat(2).view(8, 2)[::2].t().reshape(4, 2),
    "sum": lambda a, b, m, i, t: torch.stack([a.sum(), a.int().sum(), m.sum(), a.repeat(500).sum(), a.count_nonzero()]),
    "sum of rows": lambda a, b, m, i, t: torch.cat([t.sum(0), t.sum(1)]),
    "extremes": lambda a, b, m, i, t: torch.stack([a.max(), a.min(), a.argmax(), a.argmin(), a.int().max().long(), *a.aminmax()]),
    "extremes of rows": lambda a, b, m, i, t: torch.cat([*t.max(1), *t.min(0), t.amax(0), t.argmax(1)]),
    "any and all": lambda a, b, m, i, t: torch.stack([m.any(), m.all(), a.all(), (a > 9).any(), *m.view(2, 4).any(1)]),
    "concatenated": lambda a, b, m, i, t: torch.cat([a[::2], b, *(a + k for k in range(20))]),
    "columns": lambda a, b, m, i, t: torch.cat([t, t.t().reshape(2, 4), t[:, :1]], 1),
    "bytes": lambda a, b, m, i, t: torch.cat([a.byte(), b.byte(), a[:3].byte()]),
    "indexed": lambda a, b, m, i, t: torch.cat([a[i], t[i % 2].flatten(), t[i % 2, i % 4], a[-i]]),
    "gathered": lambda a, b, m, i, t: torch.cat([a.gather(0, i), t.gather(1, i[1:].view(2, 1)).flatten()]),
    "scattered": lambda a, b, m, i, t: torch.stack([a.scatter(0, i, b[:3]), a.scatter(0, i, 5), a.index_put((i,), b[:3])]),
    "floats compared": lambda a, b, m, i, t: torch.cat([compared(floats(a, kind)) for kind in (torch.float32, torch.float64)]),
    "floats filled": lambda a, b, m, i, t: torch.full((3,), 2.5, device=a.device),
    "one hot": lambda a, b, m, i, t: torch.nn.functional.one_hot(i, 8),
}


def check_expressions():
    values = (torch.tensor([3, 1, 4, 1, 5, 9, 2, 6]), torch.tensor([2, 7, 1, 8, 2, 8, 1, 8]), torch.tensor([1, 0, 1, 1, 0, 0, 1, 0]).bool(),
              torch.tensor([5, 0, 3]))
    right = 0
    for name, expression in EXPRESSIONS.items():
        a, b, m, i = (value.cuda() for value in values)
        before = READ_BACK()
        got = expression(a, b, m, i, a.view(2, 4)).cpu()
        wanted = expression(*values, values[0].view(2, 4))
        if not torch.equal(got, wanted) or got.dtype != wanted.dtype:
            print(f"{name}: {got.tolist()} for {wanted.tolist()}")
        elif READ_BACK() != before:
            print(f"{name}: counted as not computed")
        else:
            right += 1
    before = READ_BACK()
    (torch.ones(4, device="cuda").sum() > 3).item()
    assert READ_BACK() == before + 1, "a decision by a float is not counted"
    check_floats()
    print(f"{right} of {len(EXPRESSIONS)} expressions right")


def check_floats():
    """One number that is not computed is 0 and finite, whatever lay there: a gradient scaler takes each step."""
    old = [torch.full((64,), 7.5).cuda() for _ in range(50)]
    del old
    number = (torch.ones(4, device="cuda").mean() ** 0.5 + 1).double().float()
    loss = torch.nn.functional.cross_entropy(torch.ones(2, 4, device="cuda"), torch.ones(2, dtype=torch.int64, device="cuda"))
    assert number.item() == loss.item() == 0, (number, loss)
    assert number.isfinite().item() and not (number < 0).item(), number
    weight, steps = torch.nn.Parameter(torch.ones(4, device="cuda")), []
    optimizer, scaler = torch.optim.SGD([weight]), torch.amp.GradScaler()
    optimizer.register_step_post_hook(lambda *_: steps.append(1))
    for _ in range(3):
        old = [torch.full((64,), 7.5).cuda() for _ in range(50)]
        scaler.scale(weight.sum()).backward()
        del old
        scaler.step(optimizer)
        scaler.update()
    assert len(steps) == 3, steps


def check_rank(rank, port):
    torch.set_num_threads(1)
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.cuda.set_device(rank)
    distributed.init_process_group("nccl", rank=rank, world_size=2)
    objects = [{"rank": other, "text": "x" * (10 + 70 * other)} for other in range(2)]
    got = [None, None]
    distributed.all_gather_object(got, objects[rank])
    assert got == objects, got
    got = [objects[rank], rank, "a" * rank]
    distributed.broadcast_object_list(got, src=1)
    assert got == [objects[1], 1, "a"], got
    got = [None, None]
    distributed.gather_object(objects[rank], got if rank == 0 else None, dst=0)
    assert rank == 1 or got == objects, got
    got = [None]
    distributed.scatter_object_list(got, objects if rank == 0 else [None, None], src=0)
    assert got == [objects[rank]], got
    count = torch.tensor([10 + rank], device="cuda")
    distributed.all_reduce(count)
    assert (count > 20).item() and count.sum().item() == 21, count
    lengths = [torch.zeros(1, dtype=torch.long, device="cuda") for _ in range(2)]
    distributed.all_gather(lengths, torch.tensor([3 + rank], device="cuda"))
    assert torch.cat(lengths).max().item() == 4, lengths
    flag = torch.tensor(rank == 1, device="cuda").int()
    distributed.all_reduce(flag, op=distributed.ReduceOp.MAX)
    assert bool(flag), flag
    joined = torch.ones(1, device="cuda")  # as torch's Join counts ranks
    distributed.all_reduce(joined)
    assert joined.item() == 2, joined
    assert READ_BACK() == 0, "counted as not computed"
    distributed.barrier()
    if rank == 0:
        print("objects, counts and flags of 2 ranks right")
    distributed.destroy_process_group()


def main():
    if sys.argv[1] == "expressions":
        check_expressions()
    else:
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            port = listener.getsockname()[1]
        torch.multiprocessing.spawn(check_rank, args=(port,), nprocs=2)


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)
