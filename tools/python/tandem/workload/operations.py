# SPDX-License-Identifier: Apache-2.0
"""The kernels of what a step dispatches below autograd, each with what its time depends on (docs/workload-files.md, Kernel).

A kernel is a tuple (kind, type, layout, sizes); common/kernels/listed_kernel.h has the sizes of each kind in order. Bytes are those
of each tensor that is read or written, once; what is expanded counts as the memory that it stands for. Needs torch 2.0 or newer, which
whoever calls imports.
"""
from __future__ import annotations

import math
from typing import Any

TYPES = {"torch.float32": "fp32", "torch.float16": "fp16", "torch.bfloat16": "bf16", "torch.float64": "fp64"}
# Dispatched without a kernel: another look at the same memory, or memory that nobody has written.
VIEWS = {"view", "_unsafe_view", "t", "transpose", "permute", "expand", "detach", "alias", "select", "slice", "split", "split_with_sizes",
         "unbind", "squeeze", "unsqueeze", "as_strided", "reshape", "_reshape_alias", "lift_fresh", "empty", "empty_like", "empty_strided",
         "new_empty", "new_empty_strided", "unfold", "view_as", "diagonal", "chunk", "detach_", "_local_scalar_dense", "is_same_size", "resize_",
         "view_as_real", "view_as_complex", "real", "squeeze_", "unsqueeze_", "transpose_", "record_stream", "is_pinned", "movedim",
         "_has_compatible_shallow_copy_type", "requires_grad_", "set_", "sym_size", "stride", "_version", "narrow", "conj", "_conj", "imag", "resolve_conj"}
KINDS = {
    "batch_norm": ("cudnn_batch_norm",),
    "batch_norm_backward": ("cudnn_batch_norm_backward",),
    "native_batch_norm": ("native_batch_norm", "_native_batch_norm_legit", "_batch_norm_with_update", "batch_norm_stats", "batch_norm_elemt",
                          "batch_norm_gather_stats_with_counts"),
    "native_batch_norm_backward": ("native_batch_norm_backward", "batch_norm_backward", "batch_norm_backward_reduce", "batch_norm_backward_elemt"),
    "layer_norm": ("native_layer_norm", "native_group_norm", "_fused_rms_norm"),
    "layer_norm_backward": ("native_layer_norm_backward", "native_group_norm_backward", "_fused_rms_norm_backward"),
    "softmax": ("_softmax", "_log_softmax", "_safe_softmax"),
    "softmax_backward": ("_softmax_backward_data", "_log_softmax_backward_data"),
    "pooling": ("max_pool2d_with_indices", "avg_pool2d", "_adaptive_avg_pool2d", "adaptive_max_pool2d", "upsample_bilinear2d", "upsample_nearest2d",
                "upsample_bicubic2d", "grid_sampler_2d", "reflection_pad2d", "_upsample_bicubic2d_aa", "_upsample_bilinear2d_aa", "im2col", "avg_pool1d",
                "max_pool3d_with_indices", "avg_pool3d"),
    "pooling_backward": ("max_pool2d_with_indices_backward", "avg_pool2d_backward", "_adaptive_avg_pool2d_backward", "adaptive_max_pool2d_backward",
                         "upsample_bilinear2d_backward", "upsample_nearest2d_backward", "upsample_bicubic2d_backward", "reflection_pad2d_backward",
                         "_upsample_bicubic2d_aa_backward", "_upsample_bilinear2d_aa_backward", "col2im", "grid_sampler_2d_backward", "unfold_backward"),
    "reduction": ("sum", "mean", "var_mean", "var", "std", "std_mean", "max", "min", "amax", "amin", "argmax", "argmin", "linalg_vector_norm", "norm",
                  "logsumexp", "any", "all", "prod", "nll_loss_forward", "nll_loss2d_forward", "cumsum", "sort", "topk", "median", "native_norm", "_ctc_loss"),
    "gather": ("embedding", "index", "index_select", "gather", "take", "roll", "flip", "masked_select", "repeat_interleave", "nonzero"),
    "scatter": ("embedding_dense_backward", "index_put", "index_put_", "_index_put_impl_", "_unsafe_index_put", "index_add", "index_add_", "scatter",
                "scatter_add", "scatter_add_", "scatter_", "masked_scatter", "masked_scatter_backward"),
    "copy": ("_to_copy", "copy_", "clone", "contiguous", "to"),
    "concatenation": ("cat", "stack", "constant_pad_nd", "slice_backward", "select_backward", "repeat", "slice_scatter", "select_scatter", "as_strided_scatter",
                      "tril", "triu", "split_with_sizes_copy", "diagonal_backward"),
    "fill": ("zero_", "fill_", "zeros_like", "ones_like", "zeros", "ones", "full", "full_like", "new_zeros", "new_full", "new_ones", "arange", "scalar_tensor"),
}
KIND_OF = {name: kind for kind, names in KINDS.items() for name in names}
Kernel = tuple[str, str, str, tuple[int, ...]]


def product(shape: Any) -> int:
    return int(math.prod(int(extent) for extent in shape))


def is_tensor(value: Any) -> bool:
    return hasattr(value, "untyped_storage")


def tensors_in(value: Any) -> list[Any]:
    if is_tensor(value):
        return [value]
    if isinstance(value, (tuple, list)):
        return [tensor for part in value for tensor in tensors_in(part)]
    return []


def bytes_of(tensor: Any) -> int:
    """The bytes of the memory behind it."""
    real = product(extent for extent, stride in zip(tensor.shape, tensor.stride()) if stride != 0)
    return real * int(tensor.element_size())


def flops_of(kernel: Kernel) -> int:
    """A multiply-add counts as two."""
    kind, _, _, sizes = kernel
    if kind == "product":
        return 2 * product(sizes[:4])
    if kind.startswith("convolution"):
        batch, channels, features, positions, _, window, groups, _ = sizes
        return 2 * batch * channels * features * positions * window // groups
    if kind.startswith("attention"):
        return (8 if kind.endswith("backward") else 4) * product(sizes[:4])
    return sizes[0] if kind.startswith("recurrence") else 0


def layout_of(tensor: Any) -> str:
    """How an image's channels lie: last where they are next to each other."""
    if tensor.dim() not in (4, 5):
        return "-"
    if tensor.stride(1) == 1 and tensor.shape[1] > 1 and not (tensor.shape[2:].numel() == 1):
        return "last"
    return "first"


def is_strided(tensors: list[Any]) -> bool:
    """Whether tensors of one shape lie in unlike orders, so that reads or writes are not of neighbours."""
    def innermost(tensor: Any) -> int:
        strides = [(stride, -axis) for axis, (stride, extent) in enumerate(zip(tensor.stride(), tensor.shape)) if extent > 1 and stride > 0]
        return -min(strides)[1] if strides else -1
    large = [tensor for tensor in tensors if tensor.dim() > 1 and 0 not in tensor.stride()]
    by_shape: dict[Any, set[int]] = {}
    for tensor in large:
        by_shape.setdefault(tuple(tensor.shape), set()).add(innermost(tensor))
    return any(len(found - {-1}) > 1 for found in by_shape.values())


def type_of(tensor: Any, may_round: bool = False) -> str:
    name = TYPES.get(str(tensor.dtype), "other")
    return "tf32" if name == "fp32" and may_round else name


class Describer:
    """Describes the kernels of what runs on devices of this type."""

    def __init__(self, torch: Any, device: str = "cuda") -> None:
        self.torch, self.device = torch, device

    def there(self, *values: Any) -> list[Any]:
        return [tensor for tensor in tensors_in(values) if tensor.device.type == self.device]

    def moved(self, *values: Any) -> int:
        return sum(map(bytes_of, self.there(*values)))

    def products_type(self, tensor: Any) -> str:
        return type_of(tensor, self.torch.backends.cuda.matmul.allow_tf32)

    def product(self, a: Any, b: Any, arguments: Any, outputs: Any) -> Kernel:
        batched = a.dim() == 3
        count = int(a.shape[0]) if batched else 1
        rows, depth, columns = int(a.shape[-2]) if a.dim() > 1 else 1, int(a.shape[-1]), int(b.shape[-1]) if b.dim() > 1 else 1
        return ("product", self.products_type(a), "-", (count, rows, columns, depth, self.moved(arguments, outputs)))

    def convolution(self, kind: str, image: Any, weight: Any, result: Any, arguments: Any) -> Kernel:
        """`image` is what a window slides over and `result` holds a value for each place of it, whatever the direction."""
        transposed, groups = bool(arguments[0]), int(arguments[1])
        inputs, outputs = (result, image) if transposed else (image, result)
        positions, pixels = product(outputs.shape[2:]), product(inputs.shape[2:])
        window = product(weight.shape[2:])
        features = int(outputs.shape[1])
        layout = "last" if "last" in (layout_of(image), layout_of(weight)) else "first"
        total = bytes_of(image) + bytes_of(weight) + bytes_of(result)
        may_round = self.torch.backends.cudnn.allow_tf32
        return (kind, type_of(image, may_round), layout,
                (int(inputs.shape[0]), int(inputs.shape[1]), features, positions, pixels, window, groups, total))

    def attention(self, name: str, arguments: Any, outputs: Any) -> Kernel:
        backward = "backward" in name
        query, key = arguments[1:3] if backward else arguments[:2]
        way = next((way for way in ("flash", "efficient", "cudnn") if way in name), "math")
        count, rows, width = int(query.shape[0]) * int(query.shape[1]), int(query.shape[2]), int(query.shape[3])
        return ("attention_backward" if backward else "attention", type_of(query), way,
                (count, rows, int(key.shape[2]), width, self.moved(arguments, outputs)))

    def convolutions(self, name: str, arguments: Any, outputs: Any) -> list[Kernel]:
        """With what its bias takes."""
        if name != "convolution_backward":
            found = [self.convolution("convolution", arguments[0], arguments[1], outputs, (arguments[6], arguments[8]))]
            if arguments[2] is not None:
                found.append(("pointwise", type_of(outputs), layout_of(outputs), (2 * bytes_of(outputs), 1)))
            return found
        flags, wanted = (arguments[7], arguments[9]), arguments[10]
        found = [self.convolution("convolution_" + which, arguments[1], arguments[2], arguments[0], flags)
                 for which, is_wanted in zip(("input", "weight"), wanted) if is_wanted]
        if wanted[2]:
            found.append(("reduction", type_of(arguments[0]), layout_of(arguments[0]), (bytes_of(arguments[0]), 1)))
        return found

    def of(self, name: str, arguments: Any, keywords: Any, outputs: Any) -> list[Kernel]:
        if name in VIEWS:
            return []
        if name in ("mm", "bmm"):
            return [self.product(arguments[0], arguments[1], arguments, outputs)]
        if name in ("addmm", "baddbmm", "_addmm_activation"):
            return [self.product(arguments[1], arguments[2], arguments, outputs)]
        if name in ("mv", "dot", "addmv"):
            return [("product", self.products_type(arguments[0]), "-", (1, 1, 1, 1, self.moved(arguments, outputs)))]
        if name in ("convolution", "_convolution", "cudnn_convolution", "convolution_overrideable", "convolution_backward"):
            return self.convolutions(name, arguments, outputs)
        if "scaled_dot_product" in name or name in ("_flash_attention_forward", "_efficient_attention_forward", "_flash_attention_backward"):
            return [self.attention(name, arguments, outputs)]
        if "_rnn" in name or "thnn_fused" in name:
            return self.recurrence(name, arguments, outputs)
        return self.moving(name, arguments, outputs)

    def moving(self, name: str, arguments: Any, outputs: Any) -> list[Kernel]:
        """What takes as long as its bytes do."""
        tensors = self.there(arguments, outputs)
        is_update = "foreach" in name or "fused_" in name and ("adam" in name or "sgd" in name)
        kind = KIND_OF.get(name, "update" if is_update else "pointwise")
        typed = [tensor for tensor in tensors if str(tensor.dtype) in TYPES]
        largest = max(typed or tensors, key=lambda tensor: int(tensor.numel()), default=None)
        if largest is None:
            return []
        total = self.moved(arguments, outputs)
        if kind == "fill":
            total = self.moved(outputs)
        elif kind in ("gather", "scatter"):
            total = 2 * self.moved(outputs)
        elif name in ("slice_backward", "select_backward"):
            total += bytes_of(tensors_in(outputs)[0])
        elif name == "copy_":
            total = bytes_of(arguments[0]) + bytes_of(arguments[1])
        is_crossing = kind in ("pointwise", "copy") and is_strided(tensors)
        return [(kind, type_of(largest), "strided" if is_crossing else layout_of(largest), (total, len(tensors)))]

    def recurrence(self, name: str, arguments: Any, outputs: Any) -> list[Kernel]:
        tensors = tensors_in(arguments)
        image = tensors[0]
        weights = [tensor for tensor in tensors if tensor.dim() == 2]
        flops = 2 * sum(tensor.numel() for tensor in weights) * int(image.shape[0]) * int(image.shape[1]) if image.dim() > 2 else 0
        backward = "backward" in name
        batch_first = "_cudnn_rnn" in name and bool(arguments[14 if backward else 10])
        steps = int(image.shape[1 if batch_first else 0]) if image.dim() > 2 else 1
        return [("recurrence_backward" if backward else "recurrence", type_of(image, self.torch.backends.cudnn.allow_tf32), "-",
                 (flops * (2 if backward else 1), steps, self.moved(arguments, outputs)))]
