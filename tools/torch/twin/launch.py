# SPDX-License-Identifier: Apache-2.0
"""What every program of torch's side does before it measures: types of options, the back end, torch's switches, the warm-up.
Works before torch is imported, which it is given."""
import argparse
import os
import re

from twin import place as places

REDUCING = ("ddp", "fsdp", "zero1")
IN_PROCESSES = ("independent", *REDUCING)
UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
LEAST_WARMUP = 5, 0.2  # steps, seconds
WARMUP_OF_GPUS = 5, 2.0  # their clocks climb for a second or more
MOST_WARMUP_OF_GPUS = 10.0  # where they are not steady
# What gloo and NCCL say where the other end is gone.
OF_ANOTHER_RANK = re.compile(r"[Cc]onnection (reset|closed|refused)|remote (worker|process)|ncclRemoteError|Broken pipe|Read error|"
                             r"Application timeout caused pair closure|Timed out waiting [0-9]+ms for")


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise places.UsageError(message)


def seconds(text):
    match = re.fullmatch(r"([0-9.]+)(ns|us|ms|s)", text)
    if not match:
        raise argparse.ArgumentTypeError(f"'{text}' is no duration such as 500ms")
    return float(match[1]) * UNITS[match[2]]


def backend(text):
    if text not in ("auto", "host", "cuda") and not text.startswith(places.PRETENDED):
        raise argparse.ArgumentTypeError(f"'{text}' is no back end: use auto, host, cuda or pretended-CARD")
    return text


def settled(chosen):
    """`auto` is decided without torch, whose libraries start a thread per core that they may use."""
    return chosen if chosen != "auto" else "cuda" if places.has_nvidia_device() else "host"


def positive(text):
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is no number from 1")
    return int(text)


def check_backend(torch, options):
    """Whether torch has the back end."""
    card = os.environ.get("TANDEM_PRETEND_LIKE") if places.PRETENDING in os.environ else None
    if options.backend == "cuda" and card:
        raise places.UsageError("--backend=cuda: the GPUs here are pretended, and their figures are no GPU's; give "
                                f"--backend={places.PRETENDED}{card}, or run without tandem pretend")
    if options.backend.startswith(places.PRETENDED) and options.backend != f"{places.PRETENDED}{card}":
        raise places.UsageError(f"--backend={options.backend}: torch sees {f'pretended GPUs like {card}' if card else 'no pretended GPUs'}; "
                                "run it under tandem pretend with that --like")
    if options.backend == "cuda" and not torch.cuda.is_available():
        raise places.UsageError("--backend=cuda (auto where there is an NVIDIA GPU): this torch has no GPU that it can use; "
                                "give --backend=host, or a torch with CUDA")


def has_fully_shard(torch):
    try:
        from torch.distributed.fsdp import fully_shard
    except ImportError:
        return False
    return callable(fully_shard)


def unavailable(torch, options):
    """Why torch does not have what was asked for, the model aside; empty where it does."""
    if options.strategy == "dp" and options.backend == "host":
        return "torch's DataParallel is between GPUs; on a CPU it is the plain module"
    if options.strategy == "fsdp" and not has_fully_shard(torch):
        return f"torch {torch.__version__} has no fully_shard (FSDP2); it came with 2.6"
    if options.strategy == "fsdp" and options.channels_last == "on":
        return "fully_shard needs contiguous weights, and channels-last=on makes others"
    if options.backend == "host" and options.precision in ("tf32", "fp16"):
        return f"{options.precision} is a GPU's"
    if options.conv_fp32 == "on" and (options.backend == "host" or options.precision != "fp32"):
        return "conv-fp32 applies to fp32 on GPUs"
    if options.backend.startswith(places.PRETENDED) and options.join == "on":
        return "join: ranks count each other by an all-reduce, and pretended GPUs compute none"
    needed = places.launch().gpu + 1 if places.LAUNCH in os.environ else options.devices
    if options.backend != "host" and needed > torch.cuda.device_count():
        return f"{needed} devices, but torch sees {torch.cuda.device_count()} GPUs"
    return ""


def lacks_model(name):
    import models
    try:
        models.build(name)
    except (KeyError, ValueError):
        return f"torch's side has no model '{name}'"
    return ""


def prepare(torch, options, rank):
    """One thread per device, and the switches that step_bench has by default. Denormals are flushed as its threads do. Convolutions
    have tf32 in fp32 too, as torch has it where nobody sets anything."""
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    torch.backends.cuda.matmul.allow_tf32 = options.precision == "tf32"
    torch.backends.cudnn.allow_tf32 = options.conv_fp32 == "off"
    local = places.launch().gpu if places.LAUNCH in os.environ else rank if options.strategy in IN_PROCESSES else 0
    options.device = "cpu" if options.backend == "host" else f"cuda:{local}"
    if options.backend != "host":
        torch.cuda.set_device(local)


def own_gpus(torch, options):
    """The numbers of this process's."""
    if options.backend == "host":
        return []
    return list(range(options.devices)) if options.strategy == "dp" else [torch.cuda.current_device()]


def least_warmup(options):
    return WARMUP_OF_GPUS if options.backend == "cuda" else LEAST_WARMUP


def warm_up(sampler, options, ranks, least, gpus):
    """`least`: steps, seconds. `gpus` are this process's."""
    from twin import clocks

    if options.backend != "cuda":
        return sampler.warm_up(*least)
    return sampler.warm_up(*least, clocks.Watch(ranks, clocks.sm_clocks(gpus)).is_steady, MOST_WARMUP_OF_GPUS)


def lacks_gpus(torch):
    """Why this torch has no GPUs to be measured on, though they are asked for; where this machine has none, a plan may be
    all that is wanted."""
    if torch.version.cuda is None:
        return f"its torch {torch.__version__} is built without CUDA; install one with it, or name another python by --with-torch=PYTHON"
    if places.has_nvidia_device() and not torch.cuda.is_available():
        return f"its torch {torch.__version__}, of CUDA {torch.version.cuda}, sees no GPU here: its driver may be too old for that"
    return ""
