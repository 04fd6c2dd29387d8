#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kernels of a listed step have sizes, without which they have no time: of architectures that people train, in four precisions.

    listed_sizes_test.py few|many TANDEM KERNEL_SECONDS LIST_STEPS

few: 4 architectures; many: 20.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import torch_python  # beside the tests

PYTHON = torch_python.need(torch_python.HAS_CUDA, "timm", "torchvision", "transformers")
PRECISIONS = ["fp32", "tf32", "amp-bf16", "amp-fp16"]
FEW = ["timm/mobilevit_s/256", "torchvision/resnet18/224", "transformers/distilbert/128", "torch/lstm/35"]
MANY = FEW + [f"timm/{name}/224" for name in (
    "coatnet_0_rw_224", "convit_tiny", "efficientformer_l1", "fastvit_t8", "focalnet_tiny_srf", "ghostnet_100", "hiera_tiny_224",
    "levit_128", "maxvit_tiny_tf_224", "mixer_b16_224", "mvitv2_tiny", "xcit_tiny_12_p16_224")] + [
        "torchvision/densenet121/224", "torchvision/efficientnet_b0/224", "transformers/gpt2/128", "transformers/t5-small/128"]
MOST = 0.01  # of the step's projected time
MACHINE = "dgx-a100"


def table(architectures):
    rows = []
    for architecture in architectures:
        source, model, size = architecture.split("/")
        rows += [{"source": source, "model": model, "batch": 8, "size": int(size), "precision": precision, "layout": "channels-first",
                  "optimizer": "sgd", "machine": MACHINE, "step_ms": 1} for precision in PRECISIONS]
    return {"rows": rows}


def lists_of(architectures, tandem, list_steps):
    """{"model, precision": lines of its kernels}."""
    with tempfile.TemporaryDirectory() as folder:
        asked, out = pathlib.Path(folder, "table.json"), pathlib.Path(folder, "lists.txt")
        asked.write_text(json.dumps(table(architectures)))
        done = subprocess.run([tandem, "pretend", "--gpus=1", "--like=a100", "--", PYTHON, list_steps, asked, f"--out={out}"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        lists, kernels = {}, []
        for line in out.read_text().splitlines() if out.exists() else []:
            if line.startswith("{"):
                head = json.loads(line)
                kernels = lists.setdefault(f"{head['model']}, {head['precision']}", [])
            else:
                kernels.append(line)
    return lists, done.stderr


def has_size(kernel):
    """Bytes or FLOPs: the last of a product's, a convolution's and attention's sizes, the first of all others'."""
    kind, _, _, _, *sizes = kernel.split()
    is_of_bytes_last = kind.startswith(("product", "convolution", "attention", "recurrence"))
    return float(sizes[-1 if is_of_bytes_last else 0]) > 0


def largest_without_size(kernels, program):
    """The share of the step that a kernel without sizes takes, and the kernel."""
    text = "".join(f"list {MACHINE}\n{kernel}\n" for kernel in kernels) + "costs\n"
    seconds = [float(word) for word in subprocess.run([program], input=text, stdout=subprocess.PIPE, text=True, check=True).stdout.split()]
    assert len(seconds) == len(kernels)
    return max(((time / sum(seconds), kernel) for time, kernel in zip(seconds, kernels) if not has_size(kernel)), default=(0, ""))


def main(which, tandem, program, list_steps):
    architectures = FEW if which == "few" else MANY
    lists, errors = lists_of(architectures, tandem, list_steps)
    if len(lists) != len(architectures) * len(PRECISIONS):
        print(f"{len(lists)} of {len(architectures) * len(PRECISIONS)} steps were listed:\n{errors}")
        return 1
    status = 0
    for name, kernels in lists.items():
        share, kernel = largest_without_size(kernels, program)
        if not kernels or share > MOST:
            print(f"{name}: {share:.1%} of the step is a kernel without a size: {kernel}")
            status = 1
    return status


sys.exit(main(*sys.argv[1:]))
