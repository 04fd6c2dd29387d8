# SPDX-License-Identifier: Apache-2.0
"""The record of a launch in the form in which `tandem run` takes it: common/results/launch_record.h, a line of JSON."""
import json
import os
import pathlib
import platform
import re
import socket
import statistics

from twin import place as places

# As common/results/machine_facts.cc has them; nothing else of the environment leaves the machine.
NAMED = ("NCCL_", "OMPI_MCA_", "PRTE_MCA_", "CUDA_")
# No settings of the user's: what mpirun sets for its ranks and what Tandem sets for a launch.
OF_LAUNCHES = ("OMPI_MCA_orte_", "OMPI_MCA_ess", "OMPI_MCA_pmix", "OMPI_MCA_initial_wdir",
               "OMPI_MCA_mpi_oversubscribe", "OMPI_MCA_shmem_RUNTIME_QUERY_hint", "OMPI_MCA_btl_vader_backing_directory",
               "OMPI_MCA_hwloc_base_binding_policy", "OMPI_MCA_rmaps_base_mapping_policy",
               "OMPI_MCA_rmaps_base_oversubscribe", "OMPI_MCA_oob_tcp_keepalive_", "OMPI_MCA_btl_sm_backing_directory",
               "OMPI_MCA_PREFIXES", "OMPI_MCA_cpu_type", "OMPI_MCA_mca_base_component_path", "OMPI_MCA_num_procs",
               "PRTE_MCA_oob_tcp_keepalive_", "PRTE_MCA_rmaps_default_mapping_policy",
               "PRTE_MCA_hwloc_default_binding_policy")
TRANSPORT = ("OMPI_MCA_btl", "vader,self")  # within a node, which Tandem chooses
SECRET = ("TOKEN", "SECRET", "PASSW", "CREDENTIAL", "KEY", "PRIVATE", "://")
LONG_WORD = re.compile(r"[A-Za-z0-9]{16}")  # as keys have, and names, paths and the parts of UUIDs mostly do not


def text_of(path):
    try:
        return pathlib.Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def cpu_model():
    for line in text_of("/proc/cpuinfo").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return f"{platform.machine()} CPU"


def looks_secret(name, value):
    return any(word in f"{name} {value}".upper() for word in SECRET) or LONG_WORD.search(value) is not None


def variables():
    named = {name: value for name, value in os.environ.items()
             if name.startswith(NAMED) and not name.startswith(OF_LAUNCHES) and (name, value) != TRANSPORT}
    return {name: "(redacted)" if looks_secret(name, value) else value for name, value in named.items()}


def blas_of(torch):
    """What multiplies matrices on the CPU: "BLAS_INFO=mkl, oneDNN, AVX512"."""
    parts = [part.strip() for part in torch.__config__.show().replace("\n", ",").split(",")]
    found = [part for part in parts if part.startswith("BLAS_INFO=")][:1]
    found += [part.lstrip("- ") for part in parts if part.startswith(("- Intel(R) MKL-DNN", "- Intel(R) oneAPI Math"))]
    capability = getattr(torch.backends, "cpu", None)
    if capability is not None and hasattr(capability, "get_cpu_capability"):
        found.append(capability.get_cpu_capability())
    return ", ".join(found)


def machine(torch, cores, bound):
    """`cores`: of all nodes; `bound`: of each device that is one."""
    page = os.sysconf("SC_PAGE_SIZE")
    libraries = {"torch": torch.__version__, "python": places.python_version(), "torch CPU kernels": blas_of(torch)}
    if torch.cuda.is_available():
        libraries["torch CUDA"] = str(torch.version.cuda)
        libraries["pretended device" if places.PRETENDING in os.environ else "device"] = torch.cuda.get_device_name(0)
        if torch.distributed.is_nccl_available():
            libraries["torch NCCL"] = ".".join(map(str, torch.cuda.nccl.version()))
    launched = places.launch()
    hosts = {"hosts": launched.hosts} if launched and len(launched.hosts) > 1 else {}
    return {"host_name": socket.gethostname(), **hosts, "cpu_model": cpu_model(), "cores": cores,
            "memory_bytes": os.sysconf("SC_PHYS_PAGES") * page, "bound_cores": bound, "page_bytes": page,
            "kernel": f"{platform.system()} {platform.release()}", "libraries": libraries, "variables": variables()}


def cell(options):
    return {"strategy": options.strategy, "launch": options.launch, "model": options.model, "backend": options.backend,
            "devices": options.devices, "global_batch": options.batch, "options": options.named}


def mean_phases(samples, rank):
    """A rank's means over all samples; with None those of the slowest rank of each sample."""
    chosen = [max(by_rank, key=lambda one: one[0]) if rank is None else by_rank[rank] for _, by_rank in samples]
    names = chosen[0][1]
    return {"device": -1 if rank is None else rank,
            "mean_seconds": {name: statistics.fmean(phases[name] for _, phases in chosen) for name in names},
            "span_seconds": statistics.fmean(sum(phases.values()) for _, phases in chosen)}


def phases(samples):
    if not samples[0][1][0][1]:
        return {}
    critical = mean_phases(samples, None)
    step = statistics.fmean(seconds for seconds, _ in samples)
    return {"phases": [mean_phases(samples, rank) for rank in range(len(samples[0][1]))], "critical": critical,
            "remainder_seconds": step - critical["span_seconds"]}


def convolutions(torch, options, module):
    """By what a GPU computes them, and the format of their factors as far as torch's switches say; empty where there are none."""
    has_some = any(isinstance(part, (torch.nn.Conv1d, torch.nn.Conv2d, torch.nn.Conv3d)) for part in module.modules())
    if options.backend == "host" or not has_some:
        return ""
    factors = options.precision if options.precision in ("bf16", "fp16") else "fp32" if options.conv_fp32 == "on" else "may be tf32"
    return f"torch's cuDNN, {factors}"


def skipped(options, reason):
    return {"cell": cell(options), "status": "skipped", "reason": reason}


def measured(options, found):
    first, steps, seconds, _ = found.warmup
    return {"cell": cell(options), "status": "ok", "mode": "synchronous", "precision": options.precision,
            "oversubscribed": found.place.is_oversubscribed, "devices_used": options.devices,
            "warnings": found.warnings, "first_step_seconds": first, "warmup_steps": steps, "warmup_seconds": seconds,
            "step_seconds": [step for step, _ in found.samples], **phases(found.samples), "taken": found.taken,
            "resolved": found.resolved,
            "model": {"parameters": sum(count for count, _ in found.parameters),
                      "parameter_bytes": sum(count * size for count, size in found.parameters)},
            "memory": found.memory,
            "machine": found.machine, **({"host_work": found.host_work} if found.host_work else {})}


def write(path, record):
    """In one piece or not at all."""
    scratch = pathlib.Path(f"{path}.{os.getpid()}.part")
    scratch.write_text(json.dumps(record, allow_nan=False) + "\n", encoding="utf-8")
    scratch.replace(path)
