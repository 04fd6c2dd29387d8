# SPDX-License-Identifier: Apache-2.0
"""Takes steps of PyTorch's own strategies as step_twin does, and marks them as marked_steps.cc marks Tandem's.

    marked_steps.py TOOLS STEPS STEP_TWIN-OPTION...

Under tandem pretend; ddp's ranks are children of this process. "step 0" stands before the first step in the log, "step STEPS"
behind the last, and the host waits for its devices in front of each mark. Rank 0 prints as JSON which torch this is, the elements
and bytes of the module's parameters and buffers, and in what order the parameters' gradients come.
"""
import ctypes
import importlib.machinery
import importlib.util
import json
import os
import sys

TOOLS, STEPS = sys.argv[1], int(sys.argv[2])


def load_step_twin():
    """The program, which has no ending, as a module."""
    loader = importlib.machinery.SourceFileLoader("step_twin", os.path.join(TOOLS, "torch", "step_twin"))
    spec = importlib.util.spec_from_loader("step_twin", loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def take_steps(strategy):
    from twin import sampling

    mark = ctypes.CDLL(None).tandem_pretend_mark
    for step in range(STEPS):
        mark(f"step {step}".encode())
        strategy.step(sampling.NoClock())
        strategy.synchronize()
    mark(f"step {STEPS}".encode())


def order_of_gradients(strategy):
    """In one more step, behind the last mark, so that the hooks are in none that is compared."""
    from twin import sampling

    came = {}

    def note(at):
        came.setdefault(at)

    hooks = [parameter.register_hook(lambda gradient, at=at: note(at))
             for at, parameter in enumerate(strategy.module.parameters())]
    strategy.step(sampling.NoClock())
    strategy.synchronize()
    for hook in hooks:
        hook.remove()
    return list(came)


def become_rank(count):
    """Splits this process, in which torch is loaded, into ranks, and returns in each: to load torch takes longer than the steps.
    What started them ends here once all have ended."""
    children = []
    for rank in range(count):
        child = os.fork()
        if child == 0:
            os.environ |= {"OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_SIZE": str(count)}
            return
        children.append(child)
    failed = [os.waitpid(child, 0)[1] for child in children]
    os._exit(1 if any(failed) else 0)


def run(step_twin):
    options = step_twin.parse(sys.argv[3:])
    step_twin.check(options)
    import torch
    if options.strategy == "ddp":
        import torch._dynamo  # which optimizers load, once for all ranks
        become_rank(options.devices)
    place = step_twin.places.find(options.devices, options.backend, True)
    from twin import ranks as joined, strategies

    step_twin.launch.check_backend(torch, options)
    step_twin.launch.prepare(torch, options, place.rank)
    ranks = joined.JoinedRanks(place, "nccl") if options.strategy == "ddp" else joined.Ranks()
    share = options.batch // ranks.size
    strategy = strategies.make(options, ranks.rank * share, share)
    take_steps(strategy)
    order = order_of_gradients(strategy)
    if ranks.rank == 0:
        sizes = {name: [(tensor.numel(), tensor.nbytes) for tensor in getattr(strategy.module, name)()]
                 for name in ("parameters", "buffers")}
        print(json.dumps(sizes | {"order": order, "torch": torch.__version__}))
    ranks.leave()


def main():
    step_twin = load_step_twin()
    try:
        run(step_twin)
    except (step_twin.places.UsageError, ValueError, RuntimeError) as error:
        print(f"marked_steps: {' '.join(str(error).split())}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # as step_twin does
