// SPDX-License-Identifier: Apache-2.0
//
// The one table of a step's options. Command lines, --help, refusals, names of cells, sweeps, --ab,
// the comparison of ranks and docs/cli.md are loops over it; rules.cc says which options do not
// go together. The table holds text: what a value means is its owner's, who reads it from Values.
#pragma once

#include <algorithm>
#include <array>

#include "common/options/measuring_options.h"
#include "common/options/option.h"

namespace tandem::options {

// How to train, and on what.
inline constexpr auto kTrainingOptions = std::to_array<Option>({
    // Cell
    {.name = "run",
     .value = choice("time|pair|verify|trace|contention|calibrate|list", "time"),
     .marks = kWord,
     .help = "time: samples of the step; pair: the step in turn with one that has --ab's change; "
             "verify: some steps compared with single's; trace: samples, and a timeline of some "
             "steps more in --file, for tandem trace, Perfetto (ui.perfetto.dev) and "
             "chrome://tracing; contention: how much slower each phase is for its all-reduces, in "
             "--file; calibrate: the times of the operations of single's step, added to --file, "
             "which --calibration takes; list: the models and their sizes",
     .example = "verify"},
    {.name = "strategy",
     .value = choice(kStrategyNames, "single"),
     .runs = kSteppingRuns,
     .marks = kPaired,
     .help = "the way to train on several devices",
     .example = "ddp"},
    {.name = "launch",
     .value = choice("threads|processes"),
     .usual_of = launch_of_strategy,
     .help = "threads of one process, or processes under mpirun -np DEVICES --bind-to none; "
             "default: processes for ddp and ddp-replicate, else threads; independent runs as both",
     .example = "processes"},
    {.name = "model",
     .value = text("MODEL", "mlp-small"),
     .marks = kAsked,
     .help =
         "a model's name, as step_bench list has them, such as mlp-100m, mlp:LxW (L layers of W x "
         "W) or gpt2-124m:64 (samples of 64 tokens); or a workload file (docs/workload-files.md)",
     .example = "gpt2-124m:64"},
    {.name = "batch",
     .value = integer("SAMPLES", "", kAnyNumber),
     .marks = kOfOneCell,
     .help = "samples per step over all devices; without this and --batch-per-device all "
             "strategies that run as this was started are timed, with 64 per device "
             "(--benchmark_list_tests names them, --benchmark_filter chooses)",
     .example = "64"},
    {.name = "batch-per-device",
     .value = integer("SAMPLES", "", kAnyNumber),
     .marks = kOfOneCell,
     .help = "samples per step and device; this or --batch",
     .example = "32"},
    {.name = "devices",
     .value = integer("COUNT", "1", {1, kNoEnd, "use 1 or more"}),
     .help = "devices; of processes one each, by default as many as were started",
     .example = "2"},
    {.name = "backend",
     .value = choice("auto|host|cuda|simulated", "auto"),
     .last_choice_with = "hardware",
     .help = "devices: cores of the host, or GPUs (auto: if there are any)",
     .example = "host"},
    {.name = "input",
     .value = choice("host|pageable|device|scatter", "host"),
     .runs = kSteppingRuns,
     .last_choice_of = kDpAllReduceAlone,
     .marks = kPartOfCell | kPaired,
     .help = "where a step's batch starts: host (pinned), pageable or device memory; of "
             "dp-allreduce also scatter: the calling thread deals it out, as in dp",
     .example = "device"},
    {.name = "optimizer",
     .value = choice("sgd|adam|adamw", "sgd"),
     .marks = kPartOfCell | kPaired,
     .help = "sgd has momentum",
     .example = "adamw"},
    {.name = "precision",
     .value = choice("fp32|tf32|bf16", "fp32"),
     .marks = kPartOfCell | kPaired,
     .help = "tf32 is for GPUs alone; bf16: products and activations are in bf16, parameters, "
             "gradients, loss and optimizer in fp32",
     .example = "bf16"},
    {.name = "conv-fp32",
     .value = choice("off|on", "off"),
     .runs = kSteppingRuns,
     .scope = Scope::kCuda,
     .elsewhere = "convolutions of cores are fp32",
     .marks = kPartOfCell | kPaired,
     .help = "on: convolutions in fp32 keep to it (torch.backends.cudnn.allow_tf32=False); off: a "
             "GPU's may round their factors to tf32, as torch's default",
     .example = "on"},
    {.name = "channels-last",
     .value = choice("off|on", "off"),
     .runs = kSteppingRuns,
     .scope = Scope::kCuda,
     .elsewhere = "channels of cores are last anyhow",
     .marks = kPartOfCell | kPaired,
     .help = "on: weights and images lie in a GPU's memory with their channels last; off: first, "
             "torch's default",
     .example = "on"},
    {.name = "cuda-graph",
     .value = choice("off|on", "off"),
     .runs = "time|pair|verify|trace",
     .scope = Scope::kCuda,
     .marks = kPartOfCell | kPaired | kAsked,
     .help = "single, ddp, independent as processes: on captures the third step as a CUDA graph, "
             "of which it and all later ones are replays",
     .example = "on"},
    {.name = "seed",
     .value = integer("NUMBER", "1", {0, std::int64_t{1} << 53, "use 0 to 9007199254740992"}),
     .marks = kPartOfCell,
     .help = "the seed of weights and data",
     .example = "7"},
    {.name = "oversubscribe",
     .value = on_or_off(),
     .help = "let devices share cores or GPUs; results carry the mark",
     .example = "on"},
    {.name = "device-memory",
     .value = sizes(),
     .marks = kPartOfCell,
     .help = "capacity per device, or of each one: 2GiB,1GiB; default: what is left, shared evenly",
     .example = "2GiB"},
    // DataParallel
    {.name = "device-ids",
     .of = kDpOption,
     .value = device_list("DEVICE,...", "is no device: use numbers from 0"),
     .usual_of = devices_in_order,
     .marks = kPartOfCell,
     .help = "devices in any order, of which the first is the root; default: all in order",
     .example = "1,0"},
    {.name = "output-device",
     .of = kDpOption,
     .value = integer("DEVICE", "", {0, kNoEnd, "use a device's number, from 0"}),
     .usual_of = root_device,
     .marks = kPartOfCell,
     .help = "where outputs are gathered and the loss is computed; default: the root",
     .example = "1"},
    {.name = "threads",
     .of = kDpOption,
     .value = choice("spawned|kept", "spawned"),
     .marks = kPartOfCell | kPaired,
     .help = "the replicas' threads, spawned in every step (torch) or kept",
     .example = "kept"},
    {.name = "replicate",
     .of = kDpOption,
     .value = choice("tensor|coalesced|flat", "coalesced"),
     .marks = kPartOfCell | kPaired,
     .help = "weights sent by tensor, coalesced in 10 MiB chunks (torch), or flat",
     .example = "flat"},
    {.name = "broadcast",
     .of = kDpOption,
     .value = choice("torch|sequential|tree|collective", "torch"),
     .marks = kPartOfCell | kPaired,
     .help = "weights sequential from the root (torch without NCCL), by tree, collective (torch "
             "with NCCL), or as torch would: collective where each device has a GPU of its own and "
             "NCCL is there",
     .example = "tree"},
    {.name = "loss",
     .of = kDpOption,
     .value = choice("root|replicas", "root"),
     .marks = kPartOfCell | kPaired,
     .help = "computed on the root (torch's usual loop) or in the replicas",
     .example = "replicas"},
    {.name = "reduce",
     .of = kDpOption,
     .value = choice("torch|sequential|tree|collective", "torch"),
     .marks = kPartOfCell | kPaired,
     .help = "gradients coalesced and added sequentially on the root (torch without NCCL), by "
             "tree, as they lie, collective (torch with NCCL), or as torch would",
     .example = "tree"},
    // DDP
    {.name = "grads",
     .of = kAllReduceOption,
     .value = choice("copy|views", "copy"),
     .marks = kPartOfCell | kPaired,
     .help = "copy gradients into buckets and back (torch's default), or have views of buckets",
     .example = "views"},
    {.name = "overlap",
     .of = kAllReduceOption,
     .value = choice("on|off", "on"),
     .marks = kPartOfCell | kPaired,
     .help = "all-reduce while backward runs; off: after backward",
     .example = "off"},
    {.name = "bucket-mb",
     .of = kAllReduceOption,
     .value = mebibytes(1, "25"),
     .marks = kPartOfCell | kPaired,
     .help = "a bucket's size in MiB (default 25), or all: one bucket",
     .example = "100"},
    {.name = "first-bucket-mb",
     .of = kAllReduceOption,
     .value = mebibytes(1, "1"),
     .marks = kPartOfCell | kPaired,
     .help = "the first bucket's size in MiB (default 1; with --bucket-mb, that size)",
     .example = "0.5"},
    {.name = "accumulate",
     .of = kAllReduceOption,
     .value = integer("COUNT", "1", {1, kNoEnd, "use 1 or more micro-batches"}),
     .marks = kPartOfCell,
     .help = "micro-batches that a step's share is cut into; only the last one's backward reduces "
             "(no_sync)",
     .example = "4"},
    {.name = "static-graph",
     .of = kAllReduceOption,
     .value = choice("off|on", "off"),
     .marks = kPartOfCell | kPaired,
     .help = "on reduces the first step after backward",
     .example = "on"},
    {.name = "compress",
     .of = kAllReduceOption,
     .value = choice("none|bf16|fp16", "none"),
     .runs = kSamplingRuns,
     .marks = kPartOfCell | kPaired,
     .help = "the form in which all-reduces carry gradients",
     .example = "bf16"},
    {.name = "comm-priority",
     .of = kAllReduceOption,
     .value = choice("normal|high", "normal"),
     .scope = Scope::kCuda,
     .elsewhere = "streams of cores have no priority",
     .marks = kPartOfCell | kPaired,
     .help = "of a GPU's stream that buckets are all-reduced on; high (torch: "
             "is_high_priority_stream=True) lets all-reduces go before what waits of backward",
     .example = "high"},
    {.name = "comm-memory",
     .of = kAllReduceOption,
     .value = choice("device|registered", "device"),
     .scope = Scope::kCuda,
     .elsewhere = "only NCCL registers memory",
     .marks = kPartOfCell,
     .help = "where buckets lie over nccl: in the GPU's memory like all else, or in NCCL's own, "
             "registered (torch: TORCH_NCCL_USE_TENSOR_REGISTER_ALLOCATOR_HOOK=1), which may spare "
             "it copies",
     .example = "registered"},
    {.name = "comm",
     .of = kRanksOption,
     .value = choice("auto|shared_memory|mpi|gloo|nccl", "auto"),
     .marks = kPartOfCell,
     .help = "the transport of collectives; auto: on the host shared_memory on one node; on GPUs "
             "nccl, and through the host where ranks share one; shared_memory, mpi and gloo are "
             "the host's, on GPUs only where ranks share one",
     .example = "mpi"},
    {.name = "check-order",
     .of = kRanksOption,
     .value = on_or_off(),
     .marks = kPartOfCell,
     .help = "over mpi, gloo or nccl: ranks compare what they call before each collective, which "
             "costs a message each; shared_memory always does",
     .example = "on"},
    // GPU
    {.name = "gpus",
     .of = kGpuOption,
     .value = device_list("GPU,...", "is no GPU: use CUDA's numbers from 0"),
     .scope = Scope::kCuda,
     .marks = kVaried | kPerRank,
     .help = "GPUs to use, by CUDA's numbers; of processes, one for each on its node; default: all",
     .example = "2,0"},
    {.name = "p2p",
     .of = kGpuOption,
     .value = choice("off|on", "on"),
     .varied_in = kCopying,
     .scope = Scope::kCuda,
     .elsewhere = "p2p is between GPUs",
     .marks = kPartOfCell,
     .help = "off: GPUs do not reach each other's memory; copies and NCCL go through the host",
     .example = "off"},
    {.name = "gpu-wait",
     .of = kGpuOption,
     .value = choice("auto|park", "auto"),
     .scope = Scope::kCuda,
     .elsewhere = "gpu-wait is of GPUs",
     .marks = kPartOfCell,
     .help = "how the host waits for a GPU: auto as CUDA and torch do, which spins while there is "
             "a processor for each GPU of a process; park leaves the core to others, for shared "
             "machines, and adds a wake-up to each wait",
     .example = "park"},
    {.name = "bind",
     .of = kGpuOption,
     .value = choice("near|none", "near"),
     .scope = Scope::kCuda,
     .marks = kPartOfCell,
     .help = "near: threads and pinned memory of each device on its share of the cores near its "
             "GPU; none: where the launcher and the system let them",
     .example = "none"},
    // Simulation
    {.name = "dispatch-cost",
     .of = kSimulationOption,
     .value = costs(),
     .runs = kSteppingRuns,
     .marks = kPartOfCell | kPaired,
     .help = "what each call costs that PyTorch dispatches from Python, or costs of kinds such as "
             "call:3us,replica-module:9us: a kind that is not named costs nothing",
     .example = "8us"},
    {.name = "interpreter-lock",
     .of = kSimulationOption,
     .value = on_or_off(),
     .marks = kPartOfCell | kPaired,
     .help = "threads of a process share one interpreter; with --dispatch-cost",
     .example = "on"},
    {.name = "hardware",
     .of = kSimulationOption,
     .value = file("NAME|FILE"),
     .marks = kNamed,
     .help = "of --backend=simulated: the machine, by a name that 'tandem list hardware' has, or "
             "the .json file that describes it",
     .example = "dgx-a100"},
    {.name = "calibration",
     .of = kSimulationOption,
     .value = file(),
     .marks = kNamed,
     .help = "of --backend=simulated: the file of measured times that operations take, as "
             "step_bench calibrate writes it; without --hardware its machine is the one that is "
             "simulated",
     .example = "own-calibration.json"},
    {.name = "single-step",
     .of = kSimulationOption,
     .value = duration("", {1'000, kAnyNumber.most, "no step is that short: use 1us or more"}),
     .marks = kNamed,
     .help = "of --backend=simulated with --hardware: what a step of single takes on a device's "
             "share of the batch, as measured or published; one factor scales the operations of "
             "forward, loss and backward to it",
     .example = "36ms"},
});

template <std::size_t... counts>
constexpr auto joined(const std::array<Option, counts>&... parts) {
  std::array<Option, (counts + ...)> all{};
  auto next = all.begin();
  ((next = std::copy(parts.begin(), parts.end(), next)), ...);
  return all;
}

inline constexpr auto kOptions = joined(kTrainingOptions, kMeasuringOptions);

}  // namespace tandem::options
