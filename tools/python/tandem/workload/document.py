# SPDX-License-Identifier: Apache-2.0
"""The workload file of an example: what was heard of its steps, in the form that docs/workload-files.md describes."""
from __future__ import annotations

import json
from typing import Any

from ..errors import TandemError, trying
from . import listening
from .example import Example, shapes_of


def tensors_of(module: Any, watch: listening.Watch) -> list[dict[str, Any]]:
    registered = {parameter: index for index, parameter in
                  enumerate(parameter for parameter in module.parameters() if parameter.requires_grad)}
    names = {parameter: name for name, parameter in module.named_parameters()}
    missing = set(registered) - {parameter for parameter, _ in watch.ready}
    if missing:
        raise TandemError(f"{sorted(names[parameter] for parameter in missing)[0]} gets no gradient from this example: freeze "
                          "it (requires_grad = False), or use it")
    return [{"name": names[parameter], "shape": list(parameter.shape), "layer": watch.layers[layer].name,
             "registered": registered[parameter]} for parameter, layer in watch.ready]


def pass_of(layer: listening.Layer, phase: str, batch: int) -> dict[str, Any]:
    return {"operations": layer.operations[phase], "flops": layer.flops[phase] / batch}


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
    content["tensors"] = tensors_of(example.module, watch)
    buffers = [{"name": buffer, "shape": list(tensor.shape)} for buffer, tensor in example.module.named_buffers()]
    if buffers:
        content["buffers"] = buffers
    content["layers"] = [{"name": layer.name, "forward": pass_of(layer, "forward", example.batch),
                          "backward": pass_of(layer, "backward", example.batch),
                          "activation_bytes": layer.saved // example.batch, "calls": layer.calls} for layer in watch.layers]
    return content


def text_of(content: dict[str, Any]) -> str:
    """A line for each tensor, buffer and layer."""
    lines = []
    for key, value in content.items():
        if isinstance(value, list):
            rows = ",\n    ".join(json.dumps(element) for element in value)
            lines.append(f"  {json.dumps(key)}: [\n    {rows}\n  ]")
        else:
            lines.append(f"  {json.dumps(key)}: {json.dumps(value)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"
