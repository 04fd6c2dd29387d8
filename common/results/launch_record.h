// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/results/gpu_record.h"

namespace tandem::results {

// What is compared: one point of a sweep. Two launches of one cell differ by noise alone.
struct Cell {
  std::string strategy;  // "single", "independent", "dp", "dp-allreduce", "ddp", "ddp-replicate"
  std::string launch;    // "threads" or "processes"
  std::string model;     // as given to --model; of a file name_in_results (base/pinned_file.h)
  std::string backend;   // "host" or "cuda"
  int devices = 1;
  std::int64_t global_batch = 0;               // samples per step over all devices
  std::map<std::string, std::string> options;  // all others that differ from their defaults

  bool operator==(const Cell&) const = default;
  // "ddp/processes/mlp-small/devices:2/batch:64" and then "/name:value" per option.
  [[nodiscard]] std::string name() const;
};

enum class Status { kOk, kSkipped, kFailed };

// "ok", "skipped", "failed".
[[nodiscard]] std::string_view to_string(Status status);

struct DevicePhases {
  int device = 0;                              // over the whole job; -1 where it is not one device
  std::map<std::string, double> mean_seconds;  // per step, by phase name (trace/phase.h)
  double span_seconds = 0;                     // mean of last phase mark minus first, per step
};

// One gradient collective of a step, on every rank.
struct CollectiveRecord {
  std::int64_t bytes = 0;  // of gradients
  // Per step, by device: on its communication stream, waiting for peers included.
  std::vector<double> mean_seconds;
  // Mean over samples of the least of all devices: of the rank that waited for nobody.
  double least_seconds = 0;
};

struct DeviceMemory {
  int device = 0;
  std::int64_t capacity_bytes = 0;
  std::int64_t peak_bytes = 0;
};

struct ModelFacts {
  std::int64_t parameters = 0;
  std::int64_t parameter_bytes = 0;
  double flops_per_sample = 0;  // forward and backward
  // Of a device that does a whole step: operations of forward, loss, backward and update, and what
  // the update reads and writes; 0: not told.
  std::int64_t operations_per_step = 0;
  std::int64_t optimizer_bytes_per_step = 0;
};

// Facts of the machine as this launch saw it.
struct MachineFacts {
  std::string host_name;           // of rank 0
  std::vector<std::string> hosts;  // all nodes', in their order, where they are several
  std::string cpu_model;
  int cores = 0;  // that this launch may use, on all nodes together
  std::int64_t memory_bytes = 0;
  std::vector<int> bound_cores;  // OS number of each device's core
  std::int64_t page_bytes = 0;
  double ping_pong_ns = 0;  // one way between the first two devices' cores; 0: one device
  std::string kernel;       // uname -sr
  std::map<std::string, std::string> libraries;  // "oneDNN": "2.6.3, avx512_core_bf16", ...
  std::map<std::string, std::string> variables;  // named list only: CUDA_VISIBLE_DEVICES, ...
  int numa_nodes = 0;                            // of host_name; 0: not told
  std::string huge_pages;                        // transparent ones: "always", "madvise", "never"
  std::string container;  // "docker", "podman", "apptainer", ...; empty: none that shows
  std::string slurm_job;  // "4711, step 0, partition gpu, 2 nodes"; empty: none
};

// Everything one launch (a fresh process group) of one cell found. Times in seconds.
struct LaunchRecord {
  Cell cell;
  Status status = Status::kOk;
  std::string reason;                // why skipped or failed, one line
  std::string stderr_tail;           // of a failed launch
  int launch_index = 0;              // 0-based, within the cell
  std::string mode = "synchronous";  // or "free-running": no barrier or wait between steps
  std::string precision = "fp32";    // or "tf32", "bf16": what the step computed in
  bool oversubscribed = false;
  std::vector<std::string> warnings;  // of the program that measured, a line each
  // What is a model and no measurement: "link 20us:1GBps", "dispatch cost 8us", "interpreter lock".
  std::vector<std::string> modelled;
  std::string planted;   // "backward:1ms": a delay put there on purpose; empty: none
  int devices_used = 0;  // fewer than the cell's where its batch is too small; 0: not told
  double dispatches_per_step = 0;    // calls charged with the dispatch cost, all devices together
  double link_lateness_seconds = 0;  // per step: transfers later than the link model has them
  // Largest of the launch: how far past a modelled end a wait for it ended.
  double link_overshoot_seconds = 0;
  // On several nodes: how far apart ranks leave a barrier (median), and how sure that is. Each
  // sample is the slowest rank's own duration there, and too long by about as much.
  double barrier_skew_seconds = 0;
  double barrier_skew_uncertainty_seconds = 0;
  // Speed of one core that the modelled link's preset was scaled to, in GFLOP/s; 0: no preset.
  double core_gflops = 0;
  // Measured peak of one device in this precision, in GFLOP/s; 0: this launch was told none.
  double peak_gflops = 0;
  double first_step_seconds = 0;
  int warmup_steps = 0;  // discarded, first step included
  double warmup_seconds = 0;
  std::vector<double>
      step_seconds;  // raw samples in order; free-running: one mean per batch of steps
  std::vector<DevicePhases> phases;  // empty with --phases=off
  // Means over samples of each sample's critical device: the root where there is one, else the
  // slowest, which differs from sample to sample. With the remainder they add up to the mean step.
  DevicePhases critical;
  double remainder_seconds = 0;  // mean host step minus the critical device's span
  // Means over samples of the least of all devices: exposed_comm, and forward + backward. What the
  // critical device has beyond these is skew.
  double least_exposed_seconds = 0;
  double least_compute_seconds = 0;
  std::vector<CollectiveRecord> collectives;  // in launch order; empty with --phases=off,
                                              // and where steps differ in theirs
  std::vector<DeviceMemory> memory;
  std::vector<GpuRecord> gpus;       // by device; empty on the host and without NVML
  std::vector<ThreadPlace> threads;  // by device, each place once; empty: not told
  // Options that stand for whatever the machine has, and what they came to: "broadcast" of dp is
  // "collective" or "sequential"; "attention" on GPUs says what computes it.
  std::map<std::string, std::string> resolved;
  std::vector<std::int64_t> bucket_bytes;  // ddp: in launch order
  ModelFacts model;
  MachineFacts machine;
};

}  // namespace tandem::results
