# SPDX-License-Identifier: Apache-2.0
"""What is learned of a module by running its steps: layers, and each one's operations, FLOPs, calls from Python and kept
bytes. Needs torch 2.0 or newer, which whoever calls imports.
"""
from __future__ import annotations

import contextlib
import math
import types
from collections.abc import Callable, Iterator
from typing import Any

from ..errors import TandemError, advice_for, first_line

# Dispatched without a kernel: another look at the same memory.
VIEWS = {"view", "_unsafe_view", "t", "transpose", "permute", "expand", "detach", "alias", "select", "slice", "split",
         "split_with_sizes", "unbind", "squeeze", "unsqueeze", "as_strided", "reshape", "_reshape_alias", "lift_fresh"}


def product(shape: Any) -> int:
    return int(math.prod(int(extent) for extent in shape))


def flops_of(name: str, arguments: Any, outputs: Any) -> int:
    """Of one dispatched operation, a multiply-add counted as two."""
    if name in ("mm", "bmm"):
        return 2 * product(arguments[0].shape) * int(arguments[1].shape[-1])
    if name in ("addmm", "baddbmm"):
        return 2 * product(arguments[1].shape) * int(arguments[2].shape[-1])
    if name in ("convolution", "_convolution"):
        return 2 * product(outputs.shape if not arguments[6] else arguments[0].shape) * product(arguments[1].shape[1:])
    if name == "convolution_backward":
        positions = product(arguments[0].shape if not arguments[7] else arguments[1].shape)
        return 2 * positions * product(arguments[2].shape[1:]) * int(sum(arguments[10][:2]))
    if "scaled_dot_product" in name:
        backward = "backward" in name
        query, key = arguments[1:3] if backward else arguments[:2]
        once = 2 * product(query.shape) * int(key.shape[-2])
        return once * (4 if backward else 2)
    return 0


class Layer:
    def __init__(self, name: str) -> None:
        self.name = name
        self.operations = {"forward": 0, "backward": 0}
        self.flops = {"forward": 0, "backward": 0}
        self.calls = 0
        self.saved = 0  # bytes


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
        self.owners: dict[Any, int] = {}  # layer by parameter
        self.layers: list[Layer] = []
        self.indices: dict[Any, int] = {}  # by module
        self.current = 0
        self.ready: list[tuple[Any, int]] = []  # parameters, as backward makes their gradients
        self.phase = "forward"
        self.on_boundary: Callable[[int], None] = lambda layer: None
        self.inside: list[Any] = []  # modules whose forward runs, the innermost last
        parts = dict(open_parts(module))
        self.names = {part: name for name, part in reversed(parts.items())}  # of several names the first
        self.around: dict[Any, list[Any]] = {}  # modules by parameter, its own first
        for name, parameter in module.named_parameters():
            levels = name.split(".")[:-1]
            around = [".".join(levels[:depth]) for depth in range(len(levels), -1, -1)]
            self.around[parameter] = [parts[outer] for outer in around if outer in parts]
        for part, name in self.names.items():
            part.register_forward_pre_hook(lambda part, _: self.inside.append(part))
            part.register_forward_hook(lambda part, *_: self.leave(part))
            if next(part.parameters(recurse=is_compiled(part)), None) is not None:
                part.register_forward_pre_hook(lambda part, _, name=name or "root": self.enter(part, name))
        for parameter in module.parameters():
            if parameter.requires_grad:
                parameter.register_hook(lambda gradient, parameter=parameter: self.is_ready(parameter))

    def begin(self) -> None:
        self.phase, self.current, self.ready, self.inside = "forward", 0, [], []

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

    def leave(self, part: Any) -> None:
        """Also those inside that ended by an error which the module itself caught."""
        while self.inside and self.inside.pop() is not part:
            pass

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
            raise TandemError(f"{where}{type(error).__name__}: {first_line(error)}; {advice_for(error, advice)}") from error

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
    """Hears the operations that a step dispatches, below autograd, with their FLOPs."""

    def __init__(self, watch: Watch) -> None:
        self.watch = watch
        self.heard = 0
        self.pending = [0, 0]  # operations and FLOPs of backward up to the next gradient

    def add(self, name: str, flops: int) -> None:
        self.heard += 1
        if self.watch.phase == "backward":
            self.pending[0] += name not in VIEWS
            self.pending[1] += flops
        elif self.watch.layers:
            layer = self.watch.layers[self.watch.current]
            layer.operations["forward"] += name not in VIEWS
            layer.flops["forward"] += flops

    def settle(self, layer: int) -> None:
        if self.watch.phase == "backward":
            self.watch.layers[layer].operations["backward"] += self.pending[0]
            self.watch.layers[layer].flops["backward"] += self.pending[1]
            self.pending = [0, 0]

    def ear(self) -> Any:
        from torch.utils._python_dispatch import TorchDispatchMode

        class Ear(TorchDispatchMode):  # type: ignore[no-untyped-call]
            def __torch_dispatch__(_, function: Any, types_: Any, arguments: Any = (), keywords: Any = None) -> Any:
                outputs = function(*arguments, **(keywords or {}))
                name = function.overloadpacket.__name__ if hasattr(function, "overloadpacket") else function.__name__
                self.add(name, flops_of(name, arguments, outputs))
                return outputs

        return Ear()  # type: ignore[no-untyped-call]


def calls_ear(torch: Any, watch: Watch, operations: Operations) -> Any:
    """Hears the calls from Python into torch's library, views too: those that dispatch operations or give tensors, and not
    what only looks at a tensor. torch's functions that are Python themselves count as what they call."""
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
            if watch.layers and (operations.heard > before or not looks):
                watch.layers[watch.current].calls += 1
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
    operations = Operations(watch)
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
