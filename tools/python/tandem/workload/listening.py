# SPDX-License-Identifier: Apache-2.0
"""What is learned of a module by running its steps: layers, and each one's operations, kernels, calls from Python and kept
bytes. Needs torch 2.0 or newer, which whoever calls imports.
"""
from __future__ import annotations

import contextlib
import types
from collections.abc import Callable, Iterator
from typing import Any

from ..errors import TandemError, advice_for, words_of
from .operations import VIEWS, Describer, Kernel, flops_of

class Layer:
    def __init__(self, name: str) -> None:
        self.name = name
        self.operations = {"forward": 0, "backward": 0}
        self.kernels: dict[str, list[Kernel]] = {"forward": [], "backward": []}
        self.calls = self.operation_calls = 0  # the latter among the former
        self.saved = 0  # bytes

    def flops(self, phase: str) -> int:
        return sum(map(flops_of, self.kernels[phase]))


ADVICE = "mend the module, or give a batch that fits it"  # where a step throws


def is_compiled(module: Any) -> bool:
    """By torch.compile: its code is traced, hooks inside it among the code."""
    return hasattr(module, "_orig_mod") or getattr(module, "_compiled_call_impl", None) is not None


def open_parts(module: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """The modules inside, itself first, with their names; a compiled one is a part without parts."""
    yield name, module
    if not is_compiled(module):
        for own, child in module.named_children():
            yield from open_parts(child, f"{name}.{own}" if name else own)


class Watch:
    """Which layer a step is in: forward's hooks begin layers, gradients end those of backward."""

    def __init__(self, module: Any) -> None:
        self.on_boundary: Callable[[int], None] = lambda layer: None
        self.begin()
        parts = dict(open_parts(module))
        self.names = {part: name for name, part in reversed(parts.items())}  # of several names the first
        self.around: dict[Any, list[Any]] = {}  # modules by parameter, its own first
        for name, parameter in module.named_parameters():
            levels = name.split(".")[:-1]
            around = [".".join(levels[:depth]) for depth in range(len(levels), -1, -1)]
            self.around[parameter] = [parts[outer] for outer in around if outer in parts]
        self.hooks: list[Any] = []
        for part, name in self.names.items():
            self.hooks.append(part.register_forward_pre_hook(lambda part, _: self.begin_forward(part)))
            self.hooks.append(part.register_forward_hook(lambda part, *_: self.leave(part)))
            if next(part.parameters(recurse=is_compiled(part)), None) is not None:
                self.hooks.append(part.register_forward_pre_hook(lambda part, _, name=name or "root": self.enter(part, name)))
        for parameter in module.parameters():
            if parameter.requires_grad:
                self.hooks.append(parameter.register_hook(lambda gradient, parameter=parameter: self.is_ready(parameter)))

    def end(self) -> None:
        """The module runs as its user's does: with a hook torch copies a gradient, which costs memory."""
        for hook in self.hooks:
            hook.remove()

    def begin(self) -> None:
        """A step, of which nothing is known."""
        self.owners: dict[Any, int] = {}  # layer by parameter
        self.layers: list[Layer] = []
        self.indices: dict[Any, int] = {}  # by module
        self.current = 0
        self.ready: list[tuple[Any, int]] = []  # parameters, as backward makes their gradients
        self.phase = "forward"
        self.inside: list[Any] = []  # modules whose forward runs, the innermost last
        self.is_fresh = False  # the innermost has no parts, and its forward has called nothing yet

    def turn(self) -> None:
        self.phase, self.current = "backward", len(self.layers) - 1

    def enter(self, part: Any, name: str) -> None:
        if part not in self.indices:
            self.indices[part] = len(self.layers)
            self.layers.append(Layer(name))
            for parameter in part.parameters(recurse=is_compiled(part)):
                self.owners.setdefault(parameter, self.indices[part])
        index = self.indices[part]
        if index > self.current:  # used again, an earlier one's work belongs to the layer that it follows
            self.on_boundary(index)
            self.current = index

    def begin_forward(self, part: Any) -> None:
        self.inside.append(part)
        self.is_fresh = next(part.children(), None) is None

    def leave(self, part: Any) -> None:
        """Also those inside that ended by an error which the module itself caught."""
        while self.inside and self.inside.pop() is not part:
            pass
        self.is_fresh = False

    def failing_layer(self) -> str:
        """Where a step that threw was: the innermost module in forward, the layer in backward; nothing before either."""
        if self.phase == "forward" and self.inside:
            return str(self.names[self.inside[-1]] or "root")
        return self.layers[self.current].name if self.phase == "backward" and self.layers else ""

    @contextlib.contextmanager
    def naming_the_layer(self, advice: str) -> Iterator[None]:
        try:
            yield
        except TandemError:
            raise
        except Exception as error:
            layer = self.failing_layer()
            where = f"in {self.phase} of layer {layer}: " if layer else ""
            raise TandemError(f"{where}{words_of(error)}; {advice_for(error, advice)}") from error

    def owner_of(self, parameter: Any) -> int:
        """Where its module is not called itself, as the projection in torch's attention, the next one around that is."""
        if parameter not in self.owners:
            called = [self.indices[part] for part in self.around[parameter] if part in self.indices]
            self.owners[parameter] = called[0] if called else self.current
        return self.owners[parameter]

    def is_ready(self, parameter: Any) -> None:
        layer = self.owner_of(parameter)
        if self.ready and layer > self.current:
            layer = self.current
        self.on_boundary(layer)
        self.current = layer
        self.ready.append((parameter, layer))


def is_made_of_tensors(torch: Any, value: Any) -> bool:
    return bool(torch.is_tensor(value) or isinstance(value, (tuple, list)) and any(torch.is_tensor(part) for part in value))


def without_check(function: types.FunctionType) -> Callable[..., Any]:
    """The same function, which does not ask whether somebody listens, so that what it calls is heard instead."""
    checks = {name: lambda *_: False for name in
              ("has_torch_function", "has_torch_function_unary", "has_torch_function_variadic")}
    copy = types.FunctionType(function.__code__, function.__globals__ | checks, function.__name__, function.__defaults__,
                              function.__closure__)
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


class Operations:
    """Hears the operations that a module's forward and backward dispatch, below autograd, with their kernels."""

    def __init__(self, watch: Watch, describer: Describer) -> None:
        self.watch, self.describer = watch, describer
        self.heard = 0
        # The kernels of each operation: in forward up to the first layer, in backward up to the next gradient.
        self.pending: list[list[Kernel]] = []

    def add(self, name: str, kernels: list[Kernel]) -> None:
        self.heard += 1
        if name not in VIEWS and (self.watch.phase == "backward" or self.watch.phase == "forward" and self.watch.inside):
            self.pending.append(kernels)
            if self.watch.phase == "forward" and self.watch.layers:
                self.settle(self.watch.current)

    def settle(self, layer: int) -> None:
        if self.watch.phase not in ("forward", "backward") or not self.pending:
            return
        settled = self.watch.layers[layer]
        settled.operations[self.watch.phase] += len(self.pending)
        settled.kernels[self.watch.phase] += [kernel for kernels in self.pending for kernel in kernels]
        self.pending = []

    def ear(self) -> Any:
        from torch.utils._python_dispatch import TorchDispatchMode

        class Ear(TorchDispatchMode):  # type: ignore[no-untyped-call]
            def __torch_dispatch__(_, function: Any, types_: Any, arguments: Any = (), keywords: Any = None) -> Any:
                outputs = function(*arguments, **(keywords or {}))
                name = function.overloadpacket.__name__ if hasattr(function, "overloadpacket") else function.__name__
                self.add(name, self.describer.of(name, arguments, keywords or {}, outputs))
                return outputs

        return Ear()  # type: ignore[no-untyped-call]


def calls_ear(torch: Any, watch: Watch, operations: Operations) -> Any:
    """Hears the calls from Python into torch's library, views too: those that dispatch operations or give tensors, and not
    what only looks at a tensor. The first of a module without parts is the module's own call. torch's functions that are Python themselves count as what they call."""
    from torch.overrides import TorchFunctionMode

    inside: list[types.FunctionType] = []

    class Ear(TorchFunctionMode):
        def __torch_function__(self, function: Any, types_: Any, arguments: Any = (), keywords: Any = None) -> Any:
            if isinstance(function, types.FunctionType) and function not in inside:
                inside.append(function)
                try:
                    with self:
                        return without_check(function)(*arguments, **(keywords or {}))
                finally:
                    inside.pop()
            before = operations.heard
            outputs = function(*arguments, **(keywords or {}))
            looks = getattr(function, "__name__", "") == "__get__" or not is_made_of_tensors(torch, outputs)
            if watch.inside and watch.layers and (operations.heard > before or not looks):
                watch.layers[watch.current].calls += 1
                watch.layers[watch.current].operation_calls += not watch.is_fresh
                watch.is_fresh = False
            return outputs

    return Ear()


def saved_ear(torch: Any, module: Any, watch: Watch) -> Any:
    """Hears what forward keeps for backward, each memory once and without parameters."""
    parameters = {parameter.data_ptr() for parameter in module.parameters()}
    seen = set()

    def keep(tensor: Any) -> Any:
        key = (tensor.data_ptr(), tensor.numel())
        if tensor.data_ptr() not in parameters and key not in seen and watch.layers:
            seen.add(key)
            watch.layers[watch.current].saved += tensor.numel() * tensor.element_size()
        return tensor

    return torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor)


def first_of(torch: Any, outputs: Any) -> Any:
    first = outputs
    if not torch.is_tensor(outputs):
        try:
            first = outputs[0]
        except (TypeError, LookupError):
            first = None
    if not torch.is_tensor(first):
        raise TandemError(f"the module returns a {type(outputs).__name__}, and no tensor as its first element: return the output "
                      "alone, or first in a tuple")
    if not first.requires_grad:
        raise TandemError("the module's output has no gradient: make it of its parameters by differentiable operations, and not "
                      "under torch.no_grad()")
    return first


def count(torch: Any, module: Any, inputs: tuple[Any, ...], watch: Watch) -> Any:
    """One step with an ear on the dispatcher, in forward also on what Python calls."""
    operations = Operations(watch, Describer(torch, next(module.parameters()).device.type))
    watch.begin()
    watch.on_boundary = operations.settle
    with operations.ear(), saved_ear(torch, module, watch):
        with calls_ear(torch, watch, operations):
            outputs = module(*inputs)
        outputs = first_of(torch, outputs)
        watch.turn()
        torch.autograd.backward(outputs, torch.ones_like(outputs))
    if watch.ready:
        operations.settle(watch.ready[-1][1])  # what comes behind the last gradient
    watch.on_boundary = lambda layer: None
    return outputs
