# SPDX-License-Identifier: Apache-2.0
"""Workload files (docs/workload-files.md) of models of which only counts are known.

Layers are alike: parameters, tensors, buffers and FLOPs are spread evenly over them. What a published step took enters by
--single-step, so that only the order of work, the bytes and the numbers of what the host handles count.
"""

# Counts of models of the throughput tables, which give none: parameters, parameter tensors, modules, layers with compute,
# elements of a sample, and the samples (or tokens) that one unit of the batch holds. Counted from the architectures.
NAMED = {
    "resnet": {"match": ("resnet50", "ResNet-50"), "parameters": 25_557_032, "parameter_tensors": 161, "buffers": 159, "modules": 151,
               "leaf_modules": 126, "input": 150_528, "unit": 1},
    "resnext": {"match": ("SE-ResNeXt101",), "parameters": 48_955_416, "parameter_tensors": 446, "buffers": 312, "modules": 480,
                "leaf_modules": 380, "input": 150_528, "unit": 1},
    "ssd": {"match": ("SSD300",), "parameters": 22_900_000, "parameter_tensors": 161, "buffers": 130, "modules": 150,
            "leaf_modules": 110, "input": 270_000, "unit": 1},
    "bert": {"match": ("BERT-large",), "parameters": 334_000_000, "parameter_tensors": 391, "buffers": 1, "modules": 420,
             "leaf_modules": 320, "input": 384, "unit": 1},
    "xl-base": {"match": ("Transformer-XL base",), "parameters": 192_000_000, "parameter_tensors": 220, "buffers": 1, "modules": 200,
                "leaf_modules": 150, "input": 192, "unit": 192},
    "xl-large": {"match": ("Transformer-XL large",), "parameters": 284_000_000, "parameter_tensors": 250, "buffers": 1, "modules": 230,
                 "leaf_modules": 170, "input": 384, "unit": 384},
    "gnmt": {"match": ("GNMT",), "parameters": 160_000_000, "parameter_tensors": 60, "buffers": 0, "modules": 40,
             "leaf_modules": 25, "input": 50, "unit": None},
    "alexnet": {"match": ("AlexNet",), "parameters": 61_100_840, "parameter_tensors": 16, "buffers": 0, "modules": 22,
                "leaf_modules": 20, "input": 150_528, "unit": 1},
    "vgg16": {"match": ("VGG16",), "parameters": 138_357_544, "parameter_tensors": 32, "buffers": 0, "modules": 42,
              "leaf_modules": 39, "input": 150_528, "unit": 1},
}
# Calls from Python per module with compute: the module's own, and on average one more within. Chosen so that the host's work
# of one device is that of the bare modules on pretended devices; no step of DataParallel went into it.
CALLS = 2
PIECE = 1024  # elements of tensors are multiples of it where they are large, so that replays fold them in rows


def named(model):
    """The counts of a model of the throughput tables, or None."""
    return next((counts for counts in NAMED.values() if model.startswith(counts["match"])), None)


def shares(total, parts, piece=1):
    """`total` in whole multiples of `piece`, as even as they come; each at least one piece."""
    return [max(1, round(total * (i + 1) / parts / piece) - round(total * i / parts / piece)) * piece for i in range(parts)]


def workload(name, counts, elements=1.0, samples_gflop=1.0):
    """The document. `elements`: of fp32 that stand for an element of the model, 0.5 where that is fp16."""
    layers = max(1, counts["leaf_modules"])
    tensors = counts["parameter_tensors"]
    parameters = counts["parameters"] * elements
    sizes = shares(parameters, tensors, PIECE if parameters / tensors > 64 * PIECE else 64)
    layer_of = [min(layers - 1, i * layers // tensors) for i in range(tensors)]
    of_layer = [layer_of.count(layer) for layer in range(layers)]
    flops = samples_gflop * 1e9 / layers
    return {
        "tandem_workload": 1,
        "name": name,
        "origin": "made of published counts",
        "modules": counts["modules"],
        "input": {"width": max(1, round(counts.get("input", 150_528) * elements))},
        "output": {"width": 1000, "objective": "cross-entropy", "classes": 1000},
        "tensors": [{"name": f"tensor{i}", "shape": [sizes[i]], "layer": f"layer{layer_of[i]}"} for i in reversed(range(tensors))],
        "buffers": [{"name": f"buffer{i}", "shape": [64]} for i in range(counts["buffers"])],
        "layers": [{"name": f"layer{layer}", "calls": CALLS, "activation_bytes": 0,
                    "forward": {"operations": 1 + of_layer[layer], "flops": flops},
                    "backward": {"operations": 1 + of_layer[layer], "flops": 2 * flops}} for layer in range(layers)],
    }
