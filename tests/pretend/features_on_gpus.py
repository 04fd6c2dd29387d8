# SPDX-License-Identifier: Apache-2.0
"""What programs use beside a plain step, each by itself: graph, profile, embedding, compiled, segments, share.

    features_on_gpus.py FEATURE
"""
import ctypes
import os
import sys
import tempfile

import torch


def mark(text):
    torch.cuda.synchronize()
    ctypes.CDLL(None).tandem_pretend_mark(text)


def graph():
    """Five steps by a graph; then what its capture must not do."""
    net = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8)).cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    x = torch.randn(32, 64, device="cuda")

    def step():
        optimizer.zero_grad(set_to_none=True)
        net(x).sum().backward()
        optimizer.step()

    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        step()
    torch.cuda.current_stream().wait_stream(side)
    captured, read, written = torch.cuda.CUDAGraph(), torch.arange(4).cuda(), torch.zeros(4, dtype=torch.int64, device="cuda")
    with torch.cuda.graph(captured):
        step()
        written.copy_(read)
    for _ in range(5):
        mark(b"step")
        captured.replay()
    mark(b"end")
    print("copied", written.tolist())
    callable_ = torch.cuda.make_graphed_callables(torch.nn.Linear(64, 64).cuda(), (x.clone().requires_grad_(),))
    callable_(x).sum().backward()
    try:
        with torch.cuda.graph(torch.cuda.CUDAGraph()):
            torch.cuda.synchronize()
    except RuntimeError as error:
        print(error.__context__)


def profile():
    from torch.profiler import ProfilerActivity, profile, schedule
    net, x = torch.nn.Linear(8, 8).cuda(), torch.randn(4, 8, device="cuda")
    torch.cuda.memory._record_memory_history()
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], schedule=schedule(wait=1, warmup=1, active=2),
                 with_stack=True) as profiler, torch.cuda.nvtx.range("steps"):
        for _ in range(4):
            net(x).sum().backward()
            profiler.step()
    with tempfile.TemporaryDirectory() as folder:  # torch puts another file in the place of the one it is given
        profiler.export_chrome_trace(os.path.join(folder, "trace.json"))
    products = [event for event in profiler.events() if event.name == "aten::addmm"]
    print("products", len(products), "allocations", len(torch.cuda.memory._snapshot()["device_traces"][0]) > 0)


def embedding():
    net = torch.nn.Embedding(1000, 64).cuda()
    net(torch.randint(0, 1000, (8192,)).cuda()).sum().backward()
    torch.cuda.synchronize()
    print("gradient", tuple(net.weight.grad.shape))


def compiled():
    """Kernels that torch compiles while it runs, by NVRTC."""
    x = torch.nn.init.trunc_normal_(torch.rand(256, device="cuda")).erfinv_().digamma_()
    print("compiled", tuple(x.shape))


def segments():
    free = torch.cuda.mem_get_info()[0]
    blocks = [torch.empty(size << 20, device="cuda", dtype=torch.uint8) for size in (1, 30, 500)]
    assert any(segment["is_expandable"] for segment in torch.cuda.memory._snapshot()["segments"])
    print("values", torch.arange(3).cuda().tolist(), "reserved", torch.cuda.memory_reserved() == free - torch.cuda.mem_get_info()[0])
    try:
        torch.empty(100 << 30, device="cuda", dtype=torch.uint8)
    except torch.cuda.OutOfMemoryError:
        print("out of memory behind", len(blocks))


def receive(tensors, answers):
    tensor = tensors.get()
    answers.put((str(tensor.device), tensor.tolist()))
    tensor.copy_(torch.arange(4, 8))
    torch.cuda.synchronize()
    answers.put("written")
    tensors.get()


def share():
    import torch.multiprocessing as processes
    processes.set_start_method("spawn")
    tensors, answers = processes.Queue(), processes.Queue()
    other = processes.Process(target=receive, args=(tensors, answers))
    other.start()
    tensor = torch.arange(4).cuda(1)
    tensors.put(tensor)
    print("sent", *answers.get(), answers.get(), tensor.tolist())
    tensors.put(None)
    other.join()


if __name__ == "__main__":
    {feature.__name__: feature for feature in (graph, profile, embedding, compiled, segments, share)}[sys.argv[1]]()
    torch.cuda.synchronize()
