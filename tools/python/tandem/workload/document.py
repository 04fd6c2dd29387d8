# SPDX-License-Identifier: Apache-2.0
"""The workload file of an example: what was heard of its steps, in the form that docs/workload-files.md describes."""
from __future__ import annotations

import json
from typing import Any

from ..errors import TandemError, trying
from . import listening
from .example import Example, shapes_of


def tensors_of(module: Any, watch: listening.Watch, keeps_unused: bool) -> list[dict[str, Any]]:
    """Gradients that a step does not make are exchanged as zeros, behind all others."""
    registered = {parameter: index for index, parameter in
                  enumerate(parameter for parameter in module.parameters() if parameter.requires_grad)}
    names = {parameter: name for name, parameter in module.named_parameters()}
    made = {parameter for parameter, _ in watch.ready}
    missing = [parameter for parameter in reversed(registered) if parameter not in made]
    if missing and not keeps_unused:
        raise TandemError(f"{sorted(names[parameter] for parameter in missing)[0]} gets no gradient from this example: freeze "
                          "it (requires_grad = False), or use it")
    return [{"name": names[parameter], "shape": list(parameter.shape), "layer": watch.layers[layer].name,
             "registered": registered[parameter]} for parameter, layer in [*watch.ready, *((parameter, 0) for parameter in missing)]]


def by_batch(size: float, other: float, batches: tuple[int, int]) -> Any:
    """What is `size` and `other` in steps of two batches, for a batch of any size."""
    if size == other:
        return size
    slope = (other - size) / (batches[1] - batches[0])
    return [int(part) if part == int(part) else part for part in (size - slope * batches[0], slope)]


def check_alike(layers: list[listening.Layer], others: list[listening.Layer], batches: tuple[int, int]) -> None:
    names, of_others = ([layer.name for layer in heard] for heard in (layers, others))
    if names != of_others:
        raise TandemError(f"{len(names)} layers run on {batches[0]} samples and {len(of_others)} on {batches[1]}, or in another order: give a "
                          "module whose layers do not depend on the batch")


def kernels_of(layers: tuple[listening.Layer, listening.Layer], phase: str, batches: tuple[int, int]) -> list[Any]:
    heard, others = (layer.kernels[phase] for layer in layers)
    if [kernel[:2] for kernel in heard] != [kernel[:2] for kernel in others]:
        raise TandemError(f"layer {layers[0].name} runs other operations in {phase} on {batches[0]} samples than on {batches[1]}, so that "
                          "no one list of them stands for all batches: give a module whose operations do not depend on the batch")
    found: dict[str, Any] = {}
    for (kind, number, layout, sizes), (*_, of_other) in zip(heard, others):
        kernel = [kind, number, layout, [by_batch(*pair, batches) for pair in zip(sizes, of_other)]]
        found.setdefault(str(kernel), [*kernel, 0])[-1] += 1
    return list(found.values())


def pass_of(layer: listening.Layer, phase: str, batch: int) -> dict[str, Any]:
    return {"operations": layer.operations[phase], "flops": layer.flops(phase) / batch}


def output_of(example: Example, outputs: Any) -> dict[str, Any]:
    width = outputs[0].numel()
    if example.loss == "squared-error":
        return {"width": width}
    return {"width": width, "objective": "cross-entropy", "classes": outputs.shape[-1]}


def checked_output(example: Example, outputs: Any) -> Any:
    if outputs.dim() == 0:
        raise TandemError("the module's output is one number, not some of each sample: return what the loss is made of")
    if outputs.shape[0] != example.batch:
        raise TandemError(f"a batch of {example.batch} comes out as {outputs.shape[0]}: samples have to be the first dimension "
                          "of both")
    if outputs.numel() == 0:
        raise TandemError(f"the module's output is empty, of {shapes_of([outputs])}: return what the loss is made of")
    return outputs


def layer_of(layer: listening.Layer, batch: int) -> dict[str, Any]:
    return {"name": layer.name, "forward": pass_of(layer, "forward", batch), "backward": pass_of(layer, "backward", batch),
            "activation_bytes": layer.saved // batch, "calls": layer.calls, "operation_calls": layer.operation_calls}


def buffers_of(module: Any) -> dict[str, Any]:
    """Nothing where there are none."""
    buffers = [{"name": buffer, "shape": list(tensor.shape)} for buffer, tensor in module.named_buffers()]
    return {"buffers": buffers} if buffers else {}


def listen(torch: Any, example: Example) -> tuple[listening.Watch, Any]:
    with trying(f"a step of {example.source} with a batch of {shapes_of(example.inputs)}", listening.ADVICE):
        watch = listening.Watch(example.module)
        with watch.naming_the_layer(listening.ADVICE):
            outputs = listening.count(torch, example.module, example.inputs, watch)
        checked_output(example, outputs)
    return watch, outputs


def head_of(torch: Any, example: Example, outputs: Any, name: str) -> dict[str, Any]:
    ends: dict[str, Any] = {"width": sum(tensor[0].numel() for tensor in example.inputs)}
    if example.classes(torch):
        ends["classes"] = example.classes(torch)
    return {"tandem_workload": 1, "name": name, "origin": f"{example.source}, torch {torch.__version__}",
            "modules": sum(1 for _ in example.module.modules()), "input": ends, "output": output_of(example, outputs)}


def check_version(torch: Any) -> None:
    if int(torch.__version__.split(".")[0]) < 2:
        raise TandemError(f"torch {torch.__version__} is too old to be listened to: use 2.0 or newer")


def workload_of(torch: Any, example: Example, name: str) -> dict[str, Any]:
    """The file's content."""
    watch, outputs = listen(torch, example)
    content = head_of(torch, example, outputs, name)
    content["tensors"] = tensors_of(example.module, watch, keeps_unused=False)
    content.update(buffers_of(example.module), layers=[layer_of(layer, example.batch) for layer in watch.layers])
    return content


def text_of(content: dict[str, Any]) -> str:
    """A line for each tensor, buffer and layer."""
    lines = []
    for key, value in content.items():
        if isinstance(value, list) and isinstance(value[0], dict):
            rows = ",\n    ".join(json.dumps(element) for element in value)
            lines.append(f"  {json.dumps(key)}: [\n    {rows}\n  ]")
        else:
            lines.append(f"  {json.dumps(key)}: {json.dumps(value)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"
