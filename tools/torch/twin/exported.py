# SPDX-License-Identifier: Apache-2.0
"""A user's module as a workload file, by steps on two batches: what `tandem explain --module` trains in its place, and what
`tandem project --module` simulates."""
import contextlib
import pathlib

import torch

from tandem.errors import trying
from tandem.workload import document, listening
from tandem.workload.operations import TYPES, Describer
from twin import own_module, peaks, read_backs, sampling, trees
from twin.place import PRETENDED

LEAST_BATCH = 2  # with one sample, batch norms may refuse to train


class Ears:
    """Runs one step as its clock, and records the operations of the module, without the loss and the update."""

    def __init__(self, strategy, watch, batch):
        self.watch, self.batch, self.output = watch, batch, None
        self.operations = listening.Operations(watch, Describer(torch, strategy.kind))
        self.forward = contextlib.ExitStack()
        self.has_turn = False  # whether a gradient of the output shows where the module's backward begins
        self.step(strategy)

    def step(self, strategy):
        self.watch.begin()
        self.watch.on_boundary = self.operations.settle
        hook = strategy.module.register_forward_hook(lambda module, inputs, outputs: self.meet(outputs))
        with self.operations.ear(), self.forward:
            self.forward.enter_context(listening.saved_ear(torch, strategy.module, self.watch))
            self.forward.enter_context(listening.calls_ear(torch, self.watch, self.operations))
            strategy.step(self)
        hook.remove()
        self.watch.on_boundary = lambda layer: None

    def meet(self, outputs):
        """The output that is trained: the first tensor with a gradient and a row for each sample, in front of losses and states."""
        found = [tensor for tensor in trees.tensors_of(outputs) if tensor.requires_grad]
        rows = [tensor for tensor in found if tensor.dim() > 0 and tensor.shape[0] == self.batch]
        self.output = rows[0].detach().to("meta") if rows else None  # its shape alone
        self.has_turn = bool(found)
        for tensor in found:
            tensor.register_hook(lambda gradient: self.turn())

    def turn(self):
        if self.watch.phase == "loss":
            self.watch.turn()

    def mark(self, phase):
        if phase == "forward":
            self.forward.close()
            self.watch.phase = "loss"
        elif phase == "loss" and not self.has_turn:
            self.turn()
        elif phase.startswith("backward"):
            if self.watch.ready:
                self.operations.settle(self.watch.ready[-1][1])  # what comes behind the last gradient
            self.watch.phase = "update"


def bytes_of(tensors):
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


def kept_bytes(strategy):
    """The bytes of parameters, their gradients, buffers and what the optimizer keeps."""
    parameters = list(strategy.module.parameters())
    states = [tensor for state in strategy.optimizer.state.values() for tensor in trees.tensors_of(state) if tensor.is_cuda]
    trained = [parameter for parameter in parameters if parameter.requires_grad]
    return bytes_of([*parameters, *trained, *strategy.module.buffers(), *states])


class Heard:
    """What one step with `batch` samples showed: layers, output, and on a GPU its memory."""

    def __init__(self, options, strategy, watch, batch):
        strategy.training.take(0, batch)
        strategy.batches = [strategy.placed(options, piece) for piece in strategy.cut(options)]
        strategy.optimizer.zero_grad(set_to_none=True)
        self.batch, self.peak, self.held, self.reads = batch, 0, None, 0
        if strategy.kind == "cuda":
            self.measure(options, strategy)
        ears = Ears(strategy, watch, batch)
        self.layers, self.output = watch.layers, ears.output

    def measure(self, options, strategy):
        """By a step with what the optimizer keeps, which the first one makes."""
        if not strategy.optimizer.state:
            strategy.step(sampling.NoClock())
        counter = read_backs.Counter() if options.backend.startswith(PRETENDED) else None
        torch.cuda.reset_peak_memory_stats()
        strategy.step(sampling.NoClock())
        self.peak = torch.cuda.max_memory_allocated()
        self.held = max(0, self.peak - kept_bytes(strategy))
        self.reads = counter.unexpected(strategy, 1) if counter else 0


def objective_of(training, output):
    """Cross-entropy where a whole number is wanted for each row of the output, else the squared error: a workload has these two losses."""
    if output is None:
        return {"width": 1}  # of a module that returns its loss alone
    ends, classes = {"width": output[0].numel()}, output.shape[-1]
    if output.element_size() == 2:
        ends["type"] = TYPES[str(output.dtype)]  # as DataParallel gathers it
    wanted = [*trees.tensors_of(training.targets), *trees.tensors_of(training.keywords.get("labels"))]
    is_of_classes = any(not tensor.is_floating_point() and tensor.numel() * classes == output.numel() for tensor in wanted)
    return ends | ({"objective": "cross-entropy", "classes": classes} if is_of_classes and classes > 1 else {})


def input_of(training, module):
    tensors = trees.tensors_of((training.inputs, training.keywords))
    ends = {"width": sum(tensor[0].numel() for tensor in tensors)}
    if not tensors[0].is_floating_point():
        tables = [part.num_embeddings for part in module.modules() if isinstance(part, torch.nn.Embedding)]
        ends["classes"] = max(tables, default=int(tensors[0].max()) + 1)
    return ends


def content_of(options, strategy, watch, heard):
    """The file's content."""
    first, second = heard
    batches = first.batch, second.batch
    training, module = strategy.training, strategy.module
    name = own_module.name_of(options.module).partition("#")[0]
    content = {"tandem_workload": 2, "name": name, "origin": f"{name}, torch {torch.__version__}, {options.backend}, {options.precision}",
               "modules": sum(1 for _ in module.modules()), "input": input_of(training, module),
               "output": objective_of(training, second.output)}
    if first.held is not None:
        content["held_bytes"] = document.by_batch(first.held, second.held, batches)
    content["tensors"] = document.tensors_of(module, watch, keeps_unused=True)
    content.update(document.buffers_of(module))
    layers = [document.layer_of(layer, first.batch) for layer in first.layers]
    document.check_alike(first.layers, second.layers, batches)
    for content_of_layer, pair in zip(layers, zip(first.layers, second.layers)):
        for phase in ("forward", "backward"):
            content_of_layer[phase]["kernels"] = document.kernels_of(pair, phase, batches)
    content["layers"] = layers
    return content


def write(options, strategy, watch):
    """Writes --export, and returns what there is to say of it."""
    other = max(LEAST_BATCH, options.batch // 2)
    batches = max(LEAST_BATCH, options.batch), other if other < options.batch else max(LEAST_BATCH, options.batch) + 1
    with trying(f"exporting {options.module}", own_module.MEND):
        heard = [Heard(options, strategy, watch, batch) for batch in batches]
        content = content_of(options, strategy, watch, heard)
        made = {parameter for parameter, _ in watch.ready}
        unused = sum(parameter.requires_grad and parameter not in made for parameter in strategy.module.parameters())
        watch.end()
        is_pretended = options.backend.startswith(PRETENDED)
        wrapped = peaks.wrapped_peaks(options, strategy, batches[0], unused > 0) if is_pretended else {}
    with trying(f"writing {options.export}", "make room there"):
        pathlib.Path(options.export).write_text(document.text_of(content), encoding="utf-8")
    kernels = [kernel for layer in content["layers"] for phase in ("forward", "backward") for kernel in layer[phase]["kernels"]]
    return {"kernels": sum(kernel[-1] for kernel in kernels), "has_tf32": any(kernel[1] == "tf32" for kernel in kernels),
            "unused_tensors": unused, "reads": heard[0].reads, "wrapped": wrapped,
            "sample_bytes": (heard[1].peak - heard[0].peak) // (batches[1] - batches[0]), "peak_bytes": heard[0].peak, "batch": batches[0]}
