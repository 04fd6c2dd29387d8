# SPDX-License-Identifier: Apache-2.0
"""Workload files (docs/workload-files.md) of models of which only counts are known.

Layers are alike: parameters, tensors, buffers and FLOPs are spread evenly over them. What a published step took enters by
--single-step, so that only the order of work, the bytes and the numbers of what the host handles count.
"""
import json
import pathlib
import re

MODELS = json.loads((pathlib.Path(__file__).resolve().parent / "models.json").read_text(encoding="utf-8"))["models"]
LARGEST = ("largest_tensor", "largest_index")  # elements of the largest parameter tensor, and its place in the model's order
NEEDED = ("parameters", "parameter_tensors", "modules")  # of a table's own counts; the others have usual values
# Calls from Python per module with compute: the module's own, and on average one more within. Chosen so that the host's work
# of one device is that of the bare modules on pretended devices; no step of DataParallel went into it.
CALLS = 2
PIECE = 1024  # elements of tensors are multiples of it where they are large, so that replays fold them in rows


def begins_with(model, known):
    """Whether a model's name begins with a known one, however it is written: 'ResNet-50 v1.5' with 'resnet50', but not 'vgg160' with 'vgg16'."""
    characters = re.sub(r"[^a-z0-9]", "", known.lower())
    return re.match("[^a-z0-9]*".join(characters) + r"(?!\d)", model.lower()) is not None


def counts_of(model, own):
    """The counts of a model by its name: of the table's own models, else of models.json the longest that its name begins with, where no
    digit follows. None: not known. Throws ValueError where the table's own lack what no usual value stands for."""
    if model in own:
        missing = [key for key in NEEDED if not isinstance(own[model].get(key), int)]
        if missing:
            raise ValueError(f"the table's counts of {model} lack {', '.join(missing)}")
        known = MODELS.get(model, {})
        is_same = known.get("parameters") == own[model]["parameters"]
        counts = {**{key: known[key] for key in LARGEST if is_same and key in known}, **own[model]}
    else:
        known = [one for one in MODELS if begins_with(model, one)]
        if not known:
            return None
        counts = MODELS[max(known, key=len)]
    counts = {key: value for key, value in counts.items() if value is None or isinstance(value, (int, float))}
    return {"leaf_modules": counts["modules"], "buffers": 0, "unit": 1, "input": 150_528, **counts}


def shares(total, parts, piece=1):
    """`total` in whole multiples of `piece`, as even as they come; each at least one piece."""
    return [max(1, round(total * (i + 1) / parts / piece) - round(total * i / parts / piece)) * piece for i in range(parts)]


def sizes_of(counts, parameters, tensors, elements):
    """Elements of each tensor: the largest as counted, where it is, and the others alike."""
    largest = round(counts.get("largest_tensor", 0) * elements / PIECE) * PIECE
    if not 0 < largest < parameters or tensors < 2:
        return shares(parameters, tensors, PIECE if parameters / tensors > 64 * PIECE else 64)
    rest = (parameters - largest) / (tensors - 1)
    others = shares(parameters - largest, tensors - 1, PIECE if rest > 64 * PIECE else 64)
    place = min(counts["largest_index"], tensors - 1)
    return [*others[:place], largest, *others[place:]]


def workload(name, counts, elements=1.0, samples_gflop=1.0):
    """The document. `elements`: of fp32 that stand for an element of the model, 0.5 where that is fp16."""
    layers = max(1, counts["leaf_modules"])
    tensors = counts["parameter_tensors"]
    parameters = counts["parameters"] * elements
    sizes = sizes_of(counts, parameters, tensors, elements)
    layer_of = [min(layers - 1, i * layers // tensors) for i in range(tensors)]
    of_layer = [layer_of.count(layer) for layer in range(layers)]
    flops = samples_gflop * 1e9 / layers
    return {
        "tandem_workload": 1,
        "name": name,
        "origin": "made of published counts",
        "modules": counts["modules"],
        "input": {"width": max(1, round(counts["input"] * elements))},
        "output": {"width": 1000, "objective": "cross-entropy", "classes": 1000},
        "tensors": [{"name": f"tensor{i}", "shape": [sizes[i]], "layer": f"layer{layer_of[i]}"} for i in reversed(range(tensors))],
        "buffers": [{"name": f"buffer{i}", "shape": [64]} for i in range(counts["buffers"])],
        "layers": [{"name": f"layer{layer}", "calls": CALLS, "activation_bytes": 0,
                    "forward": {"operations": 1 + of_layer[layer], "flops": flops},
                    "backward": {"operations": 1 + of_layer[layer], "flops": 2 * flops}} for layer in range(layers)],
    }


def one_tensor(elements):
    """A model whose gradients are one bucket of so many elements."""
    work = {"operations": 1, "flops": 1}
    return {"tandem_workload": 1, "name": f"one-tensor-{elements}", "origin": "one tensor", "modules": 1, "input": {"width": 1},
            "output": {"width": 2, "objective": "cross-entropy", "classes": 2}, "tensors": [{"name": "tensor", "shape": [elements], "layer": "layer"}],
            "buffers": [], "layers": [{"name": "layer", "calls": 1, "activation_bytes": 0, "forward": work, "backward": work}]}
