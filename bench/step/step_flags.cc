// SPDX-License-Identifier: Apache-2.0
#include "bench/step/step_flags.h"

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <array>
#include <utility>

#include "common/base/error.h"

namespace tandem::bench {
namespace {

void declare_cell(CLI::App& app, StepFlags& flags) {
  app.add_option("--strategy", flags.strategy,
                 "single, independent, dp, dp-allreduce, ddp or ddp-replicate")
      ->capture_default_str();
  app.add_option("--launch", flags.launch,
                 "threads (one process) or processes (under mpirun -np DEVICES --bind-to none); by "
                 "default processes for ddp and ddp-replicate, else threads");
  app.add_option(
         "--model", flags.model,
         "such as mlp-small, mlp-100m, mlp:LxW (L layers of W x W), gpt2-124m or "
         "gpt2-124m:64 (samples of 64 tokens); --models lists all; or a workload file, such "
         "as own.json (WORKLOADS.md)")
      ->capture_default_str();
  app.add_option("--batch", flags.batch,
                 "samples per step over all devices; without this and --batch-per-device all "
                 "strategies that run as this was started are timed, with 64 per device "
                 "(--benchmark_list_tests names them, --benchmark_filter chooses)");
  app.add_option("--batch-per-device", flags.batch_per_device,
                 "samples per step and device; this or --batch");
  app.add_option("--devices", flags.devices,
                 "devices; of processes, one each (default: 1; of processes, as many as were "
                 "started)");
  app.add_option("--backend", flags.backend, "auto, host or cuda")->capture_default_str();
  app.add_option("--input", flags.input,
                 "where a step's batch starts: host (pinned), pageable or device memory; of "
                 "dp-allreduce also scatter: the calling thread deals it out, as in dp")
      ->capture_default_str();
  app.add_option("--optimizer", flags.optimizer, "sgd (with momentum), adam or adamw")
      ->capture_default_str();
  app.add_option("--precision", flags.precision,
                 "fp32; tf32 (GPU); or bf16: products and activations in bf16, parameters, their "
                 "gradients, loss and optimizer in fp32")
      ->capture_default_str();
  app.add_option("--cuda-graph", flags.cuda_graph,
                 "single, ddp, independent as processes, on GPUs: on captures the third step as a "
                 "CUDA graph, of which it and all later ones are replays")
      ->capture_default_str();
  app.add_option("--seed", flags.seed, "of weights and data")
      ->capture_default_str()
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1} << 53));
  app.add_flag("--oversubscribe", flags.oversubscribe,
               "let devices share cores or GPUs; results carry the mark");
  app.add_option("--device-memory", flags.device_memory,
                 "capacity per device, such as 2GiB, or of each one: 2GiB,1GiB (default: what is "
                 "left, shared evenly)");
  declare_gpus(app, flags.gpus);
}

void declare_dp(CLI::App& app, StepFlags& flags) {
  app.add_option("--device-ids", flags.device_ids,
                 "dp: devices in any order, such as 1,0; the first is the root (default: all)");
  app.add_option("--output-device", flags.output_device,
                 "dp: where outputs are gathered and the loss is computed (default: the root)");
  app.add_option("--threads", flags.threads, "dp: spawned in every step (torch) or kept")
      ->capture_default_str();
  app.add_option("--replicate", flags.replicate,
                 "dp: weights sent by tensor, coalesced in 10 MiB chunks (torch), or flat")
      ->capture_default_str();
  app.add_option("--broadcast", flags.broadcast,
                 "dp: weights sequential from the root (torch without NCCL), by tree, collective "
                 "(torch with NCCL), or as torch would: collective where each device has a GPU of "
                 "its own and NCCL is there")
      ->capture_default_str();
  app.add_option("--loss", flags.loss, "dp: on the root (torch's usual loop) or in the replicas")
      ->capture_default_str();
  app.add_option("--reduce", flags.reduce,
                 "dp: gradients coalesced and added sequentially on the root (torch without NCCL), "
                 "by tree, as they lie, collective (torch with NCCL), or as torch would")
      ->capture_default_str();
}

void declare_all_reduce(CLI::App& app, StepFlags& flags) {
  app.add_option("--grads", flags.grads,
                 "ddp, dp-allreduce: copy gradients into buckets and back (torch's default), or "
                 "views of buckets")
      ->capture_default_str();
  app.add_option("--overlap", flags.overlap,
                 "ddp, dp-allreduce: on, or off (all-reduce after backward)")
      ->capture_default_str();
  app.add_option("--bucket-mb", flags.bucket_mb,
                 "ddp, dp-allreduce: bucket size in MiB (default 25), or all: one bucket");
  app.add_option("--first-bucket-mb", flags.first_bucket_mb,
                 "ddp, dp-allreduce: first bucket's size in MiB (default 1; with --bucket-mb, that "
                 "size)");
  app.add_option("--accumulate", flags.accumulate,
                 "ddp, dp-allreduce: micro-batches that a step's share is cut into; only the last "
                 "one's backward reduces (no_sync)")
      ->capture_default_str();
  app.add_option("--static-graph", flags.static_graph,
                 "ddp, dp-allreduce: on or off; on reduces the first step after backward")
      ->capture_default_str();
  app.add_option("--compress", flags.compress,
                 "ddp, dp-allreduce: what gradients travel as: none, bf16, fp16 or powersgd:RANK")
      ->capture_default_str();
  app.add_option("--powersgd-start", flags.powersgd_start,
                 "ddp, dp-allreduce: steps that are averaged uncompressed before (2 or more)")
      ->capture_default_str();
  app.add_option("--join", flags.join,
                 "ddp: uneven shares by torch's Join, with sums divided by all ranks (world) or by "
                 "those with data (active); or off")
      ->capture_default_str();
}

void declare_transport(CLI::App& app, StepFlags& flags) {
  app.add_option("--comm", flags.comm,
                 "ddp, ddp-replicate: transport of collectives: auto (host: shared_memory on one "
                 "node; GPUs: nccl where each rank has its own), shared_memory, mpi, gloo or nccl")
      ->capture_default_str();
  app.add_flag(
      "--check-order{on}", flags.check_order,
      "ddp, ddp-replicate over mpi, gloo or nccl: ranks compare what they call before each "
      "collective, which costs a message each; shared_memory always does");
}

void declare_horovod(CLI::App& app, StepFlags& flags) {
  app.add_option(
         "--reducer", flags.reducer,
         "ddp, dp-allreduce: gradients in buckets settled in advance, or fused as they come "
         "by horovod")
      ->capture_default_str();
  app.add_option("--cycle-time", flags.cycle_time,
                 "horovod: from one look for gradients to the next")
      ->capture_default_str();
  app.add_option(
      "--fusion-mb", flags.fusion_mb,
      "horovod: gradients fused into one all-reduce, in MiB at most (default 128); 0: none");
}

void declare_models(CLI::App& app, StepFlags& flags) {
  app.add_option(
      "--link", flags.link,
      "host: a modelled link between devices, LATENCY:BANDWIDTH such as 100us:200MBps, or "
      "LINK@GPU-FORMAT such as pcie4@a100-fp32, time stretched; the machine has to keep "
      "up with it, so not with a small model on a fast link");
  app.add_option("--core-gflops", flags.core_gflops,
                 "speed of one core that a preset link is scaled to; measured where absent");
  app.add_option("--dispatch-cost", flags.dispatch_cost,
                 "modelled: what each call costs that PyTorch dispatches from Python, such as 8us");
  app.add_flag("--interpreter-lock{on}", flags.interpreter_lock,
               "modelled: threads of a process share one interpreter; with --dispatch-cost");
}

void declare_measuring(CLI::App& app, StepFlags& flags) {
  app.add_option("--phases", flags.phases, "time the parts of a step: on or off")
      ->capture_default_str();
  app.add_option(
      "--plant", flags.plant,
      "a delay planted in a phase of device 0 (dp: of the root), such as loss:2ms, to see "
      "that it is found");
  app.add_option("--peak-gflops", flags.peak_gflops,
                 "peak of a device in the precision, which achieved FLOP/s are held against: a "
                 "number, or measured: by large products, after the steps");
  app.add_option("--free-running", flags.free_running,
                 "steps per sample, without barrier or wait between them (default: 1 step, both)");
  app.add_option("--min-time", flags.min_time, "measure at least this long")->capture_default_str();
  app.add_option("--min-samples", flags.min_samples, "and at least so many samples")
      ->capture_default_str();
  app.add_option("--warmup-time", flags.warmup_time, "discard at least this long")
      ->capture_default_str();
  app.add_option("--warmup-steps", flags.warmup_steps, "and at least so many steps (3 or more)")
      ->capture_default_str();
  app.add_option("--profile-steps", flags.profile_steps,
                 "what a profiler captures: so many steps behind the warm-up, by cudaProfilerStart "
                 "and cudaProfilerStop in every rank and as the NVTX range capture@tandem; see "
                 "tandem profile");
  app.add_option("--trace", flags.trace,
                 "when all is measured, record some steps more, in a pass of their own, and write "
                 "them to this file: a timeline of all ranks that Perfetto (ui.perfetto.dev) and "
                 "chrome://tracing open; tandem profile summary reads it");
  app.add_option("--trace-steps", flags.trace_steps, "so many steps of it, behind a warm-up")
      ->capture_default_str();
  app.add_option("--contention", flags.contention,
                 "ddp, dp-allreduce: when all is measured, time the same step with its all-reduces "
                 "and without them in turn, print how much slower each phase is for them, and "
                 "write that to this file");
  app.add_option("--contention-pairs", flags.contention_pairs,
                 "so many blocks with them and without; an interval needs 20")
      ->capture_default_str();
  app.add_option("--record", flags.record, "write the launch's full record to this file");
  app.add_option("--write-workload", flags.write_workload,
                 "instead of timing steps: measure the model layer by layer, with --batch and down "
                 "to an eighth of it, and write a workload file of it that is replayed");
  app.add_flag(
      "--models", flags.models,
      "list the models and their sizes, a workload file's too where --model is one, and end");
  app.add_flag("--check{options}", flags.check,
               "say what is wrong with the command line, if anything is, and end; with "
               "--check=backend also where this machine has no such back end; --check=model "
               "prints the model's size as JSON");
  app.add_flag("--verify", flags.verify,
               "instead of timing: train some steps and compare with single");
  app.add_option(
      "--ab", flags.ab,
      "instead of timing alone: interleaved pairs of steps, without and with a changed "
      "option, such as --ab=grads=views, phases=off or strategy=single; the time shown is with "
      "it, the ratio is step time with it over without");
  app.add_option("--pairs", flags.pairs, "pairs of --ab")->capture_default_str();
  app.footer(
      "Google Benchmark's flags (--benchmark_filter, _list_tests, _repetitions, _min_time, "
      "_format, "
      "_out, _context and the rest of its --help) say what they say elsewhere; random interleaving "
      "is refused where there are several ranks.\nExit status: 0 measured, 1 failed, 2 wrong "
      "usage.");
}

void declare_failing(CLI::App& app, StepFlags& flags) {
  declare_failure(app, flags.failure);
  app.add_flag("--check-numerics{on}", flags.check_numerics,
               "look for NaN and infinity in every gradient before it is combined with others, and "
               "name the first parameter that has one; each step then waits for copies of its "
               "gradients");
  app.add_option("--fault", flags.fault,
                 "planted on purpose, to see that a job with it ends as it should: "
                 "KIND[:RANK][@STEP], of killed, stopped, throws, memory, diverges, late and nan "
                 "(default: the last rank, step 5)");
}

struct Changeable {
  std::string_view name;
  std::string StepFlags::*text;
};

// Options in which both sides of a pair may differ: all options that do not concern the process or
// its devices.
constexpr std::array kChangeable{Changeable{"strategy", &StepFlags::strategy},
                                 Changeable{"input", &StepFlags::input},
                                 Changeable{"optimizer", &StepFlags::optimizer},
                                 Changeable{"precision", &StepFlags::precision},
                                 Changeable{"cuda-graph", &StepFlags::cuda_graph},
                                 Changeable{"threads", &StepFlags::threads},
                                 Changeable{"replicate", &StepFlags::replicate},
                                 Changeable{"broadcast", &StepFlags::broadcast},
                                 Changeable{"loss", &StepFlags::loss},
                                 Changeable{"reduce", &StepFlags::reduce},
                                 Changeable{"grads", &StepFlags::grads},
                                 Changeable{"overlap", &StepFlags::overlap},
                                 Changeable{"bucket-mb", &StepFlags::bucket_mb},
                                 Changeable{"first-bucket-mb", &StepFlags::first_bucket_mb},
                                 Changeable{"static-graph", &StepFlags::static_graph},
                                 Changeable{"compress", &StepFlags::compress},
                                 Changeable{"dispatch-cost", &StepFlags::dispatch_cost},
                                 Changeable{"interpreter-lock", &StepFlags::interpreter_lock},
                                 Changeable{"plant", &StepFlags::plant},
                                 Changeable{"phases", &StepFlags::phases}};

}  // namespace

void declare(CLI::App& app, StepFlags& flags) {
  declare_cell(app, flags);
  declare_dp(app, flags);
  declare_all_reduce(app, flags);
  declare_horovod(app, flags);
  declare_transport(app, flags);
  declare_models(app, flags);
  declare_measuring(app, flags);
  declare_failing(app, flags);
}

StepFlags with_change(const StepFlags& flags, const std::string& ab) {
  const std::size_t equals = ab.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == ab.size()) {
    fail(ErrorKind::kUsage, "--ab={}: give an option and its other value, such as grads=views", ab);
  }
  const std::string option = ab.substr(0, equals);
  const std::string value = ab.substr(equals + 1);
  StepFlags changed = flags;
  std::vector<std::string_view> known;
  for (const Changeable& candidate : kChangeable) {
    known.push_back(candidate.name);
    if (candidate.name != option) continue;
    if (changed.*candidate.text == value) {
      fail(ErrorKind::kUsage, "--ab={}: that is the value without it", ab);
    }
    changed.*candidate.text = value;
    return changed;
  }
  fail(ErrorKind::kUsage, "--ab={}: '{}' cannot change within a process: use one of {}", ab, option,
       fmt::join(known, ", "));
}

}  // namespace tandem::bench
