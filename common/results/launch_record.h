// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::results {

// Begins the back end of cells on pretended GPUs; the card follows, as in "pretended-a100".
inline constexpr std::string_view kPretended = "pretended-";
// The back end of cells whose times are simulated: no figure of theirs is measured.
inline constexpr std::string_view kSimulated = "simulated";

// The unit of comparison: one point of a sweep. Two launches of one cell differ by noise alone.
struct Cell {
  std::string strategy;  // "single", "independent", "dp", "dp-allreduce", "ddp", "ddp-replicate"
  std::string launch;    // "threads" or "processes"
  std::string model;     // --model; for a file name_in_results() of base/checksummed_file.h
  // "host", "cuda", "simulated", or "pretended-" and a card: GPUs that are not there, on which the
  // host's work is all that a step takes.
  std::string backend;
  int devices = 1;
  std::int64_t global_batch = 0;               // samples per step over all devices
  std::map<std::string, std::string> options;  // all other options that differ from their defaults

  bool operator==(const Cell&) const = default;
  // The value of an option; `usual` where the cell does not name the option.
  [[nodiscard]] std::string option(const std::string& name, const std::string& usual = "") const;
  // The cell's name: "ddp/processes/mlp-small/devices:2/batch:64" and then "/name:value" per
  // option.
  [[nodiscard]] std::string name() const;
  // Whether the devices are pretended GPUs.
  [[nodiscard]] bool is_pretended() const;
  [[nodiscard]] bool is_simulated() const { return backend == kSimulated; }
};

enum class Status { kOk, kSkipped, kFailed };

inline constexpr std::array<std::string_view, 3> kStatusNames{"ok", "skipped", "failed"};
[[nodiscard]] std::string_view to_string(Status status);

struct DevicePhases {
  int device = 0;  // number over the whole job; -1: not one device
  // Simulated devices of equal work, from `device` on, that these figures are of; absent: one.
  std::optional<int> count{};
  std::map<std::string, double> mean_seconds;  // per step, by phase name (trace/step_observer.h)
  double span_seconds = 0;                     // mean of last phase mark minus first, per step
};

// One gradient collective of a step, on every rank.
struct CollectiveRecord {
  std::int64_t bytes = 0;  // bytes of gradients
  // The mean time per step on the communication stream, by entry of `phases`, waiting for peers
  // included.
  std::vector<double> mean_seconds{};
  // The mean over samples of the least time of all devices, which is the time of the rank that
  // waited for no other.
  double least_seconds = 0;
};

struct DeviceMemory {
  int device = 0;
  std::optional<int> count{};  // as in DevicePhases
  std::int64_t capacity_bytes = 0;
  std::int64_t peak_bytes = 0;
};

struct ModelFacts {
  std::int64_t parameters = 0;
  std::int64_t parameter_bytes = 0;
  double flops_per_sample = 0;  // operations of forward and backward
  // For a device that does a whole step: operations of forward, loss, backward and update, and
  // bytes that the update reads and writes; 0: not known.
  std::int64_t operations_per_step = 0;
  std::int64_t optimizer_bytes_per_step = 0;
};

// A GPU's state at one moment, as its driver reports. Absent: the driver reported none.
struct GpuReading {
  std::optional<double> sm_mhz;
  std::optional<double> memory_mhz;
  std::optional<double> watts;
  std::optional<double> celsius;
  std::vector<std::string> slowed_by;  // causes of lowered clocks: "power cap", ...
};

// The path between a GPU and the GPU of another device of the launch on the same node. Absent and
// empty: the driver reported none.
struct GpuPeer {
  int device = 0;                   // the other device's number over the whole job
  std::optional<bool> peer_access;  // peer access by the driver's report, even with --p2p=off
  std::optional<int> nvlinks;       // active NVLinks, direct or through switches
  std::string path;                 // where both PCIe paths meet: "host bridge", ...; "same GPU"
};

// The GPU that a device lies on. Absent and empty: the driver reported none.
struct GpuRecord {
  int device = 0;                            // device number over the whole job
  std::string hardware;                      // PCI address and UUID
  std::string name;                          // "NVIDIA H200"
  std::optional<std::int64_t> memory_bytes;  // total memory
  std::string pci;                           // PCI address
  std::optional<int> numa_node;              // nearest NUMA node of host memory
  std::string driver;                        // driver version
  std::string compute_mode;                  // "default", "prohibited", "exclusive process"
  std::optional<bool> mig;                   // whether the GPU is divided into instances
  std::optional<int> nvlinks;                // active NVLinks
  std::optional<int> processes;              // computing processes at the start, own included
  std::vector<GpuPeer> peers{};              // peers on the same node, by device
  GpuReading before{};                       // after the warm-up, whose last work may still run
  GpuReading after{};                        // after the last sample
  // The time between both readings in ms, and how much of that time each cause held the clocks
  // down: "power cap", "thermal slowdown", ...; a cause that the driver does not count is absent.
  std::optional<double> watched_ms{};
  std::map<std::string, double> held_down_ms{};
  // The energy that the whole GPU took between both readings. Absent also on an instance (MIG), as
  // the counter is of the whole GPU.
  std::optional<double> joules{};
  // The SM clock's means in both halves of the warm-up's last two seconds: the higher over the
  // lower, less 1. Above kSteadyClock the warm-up ended at its cap.
  std::optional<double> clock_drift{};
};

inline constexpr double kSteadyClock = 0.02;

// The place, as the operating system saw it, of the thread that enqueued some phases of a device's
// step.
struct ThreadPlace {
  int device = 0;                   // device number over the whole job
  std::vector<std::string> phases;  // in the order of a step
  std::vector<int> cpus;            // OS numbers of the hardware threads allowed to the thread
  std::vector<int> numa_nodes;      // NUMA nodes of `cpus`; empty: not known
};

// Facts of the machine as this launch saw it.
struct MachineFacts {
  std::string host_name;           // rank 0's host
  std::vector<std::string> hosts;  // all nodes' hosts in order, on several nodes
  std::string cpu_model;
  int cores = 0;  // cores that this launch may use, on all nodes together
  std::int64_t memory_bytes = 0;
  std::vector<int> bound_cores;  // OS number of each device's core
  std::int64_t page_bytes = 0;
  double ping_pong_ns = 0;  // one-way time between the first two devices' cores; 0: one device
  std::string kernel;       // uname -sr
  std::map<std::string, std::string> libraries;  // "oneDNN": "2.6.3, avx512_core_bf16", ...
  std::map<std::string, std::string> variables;  // a fixed list only: CUDA_VISIBLE_DEVICES, ...
  int numa_nodes = 0;                            // NUMA nodes of host_name; 0: not known
  std::string huge_pages;  // transparent huge pages: "always", "madvise", "never"
  std::string container;   // "docker", "podman", "apptainer", ...; empty: no container shows
  std::string slurm_job;   // "4711, step 0, partition gpu, 2 nodes"; empty: no job
};

// One part of the host's work of a step under PyTorch, on one kind of thread. Sums per step: where
// several threads do the part, the sum over these threads.
struct HostPart {
  std::string part;     // "scatter", "replicate", "forward", "module", "reduction", "hooks", ...
  std::string thread;   // "main", "replica" (of DataParallel's forward), "autograd"
  double per_step = 0;  // how often a step has it
  double wall_seconds = 0;
  // The thread's; absent where a range of PyTorch's profiler gives the part.
  std::optional<double> cpu_seconds;
  // The time that the thread waited for a core; absent: as above, or the kernel does not report it.
  std::optional<double> run_delay_seconds;
};

// The time of threads of one kind per step, in and between all parts.
struct HostThreads {
  std::string kind;  // "main", "autograd", "other"
  int threads = 0;   // those that ran
  double cpu_seconds = 0;
  double run_delay_seconds = 0;
};

// Time that others took from a launch while its samples ran: the loss of the thread, core or
// process that lost most, of all ranks. Absent: the system does not report it.
struct TakenTime {
  double window_seconds = 0;  // from before the first sample to after the last one
  // A thread could run, and another program had its core. What threads of the launch take from each
  // other is not part of that.
  std::optional<double> run_delay_seconds;
  std::optional<double> steal_seconds;      // the hypervisor gave a core to others
  std::optional<double> throttled_seconds;  // a control group's quota was used up
  std::int64_t involuntary_switches = 0;    // of all ranks' threads
  std::int64_t major_faults = 0;            // of all ranks: pages that came from a disk
  std::optional<double> cpu_mhz;            // the slowest core's clock after the last sample
};

// The host's time by part in rank 0's process, from steps of their own after the samples.
struct HostWork {
  int steps = 0;
  std::vector<HostPart> parts;
  std::vector<HostThreads> threads;
  int modules = 0;
  int parameters = 0;  // tensors
  int buffers = 0;
};

// The findings of one launch (a fresh process group) of one cell. Times in seconds.
struct LaunchRecord {
  Cell cell;
  Status status = Status::kOk;
  std::string reason;                // why the launch was skipped or failed, one line
  std::string stderr_tail;           // end of a failed launch's stderr
  int launch_index = 0;              // 0-based, within the cell
  std::string mode = "synchronous";  // or "free-running": no barrier or wait between steps
  std::string precision = "fp32";    // or "tf32", "bf16": the step's arithmetic
  bool oversubscribed = false;
  std::vector<std::string> warnings;  // warnings of the measuring program, a line each
  // The modelled, not measured, parts: "dispatch cost 8us", "interpreter lock".
  std::vector<std::string> modelled;
  // A simulated launch's shares of its steps' critical path, by what they are of and rest on:
  // "operations measured", "collectives described", "host", ...
  std::optional<std::map<std::string, double>> rests_on{};
  std::string planted;             // "backward:1ms": a delay added on purpose; empty: no delay
  int devices_used = 0;            // fewer than the cell's for a small batch; 0: not known
  double dispatches_per_step = 0;  // calls with the dispatch cost, all devices together
  // On several nodes: the median skew with which ranks leave a barrier, and its uncertainty. Each
  // sample is the slowest rank's own duration there, and too long by about the skew.
  double barrier_skew_seconds = 0;
  double barrier_skew_uncertainty_seconds = 0;
  // The measured peak of one device in this precision, in GFLOP/s; 0: not known to this launch.
  double peak_gflops = 0;
  double first_step_seconds = 0;
  int warmup_steps = 0;  // discarded steps, first step included
  double warmup_seconds = 0;
  std::vector<double>
      step_seconds;  // raw samples in order; free-running: one mean per batch of steps
  std::vector<DevicePhases> phases;  // empty with --phases=off
  // Means over samples of each sample's critical device: the root where there is one, else the
  // slowest device, which differs from sample to sample. With the remainder the means add up to the
  // mean step.
  DevicePhases critical;
  double remainder_seconds = 0;  // mean host step minus the critical device's span
  // Means over samples of the least time of all devices in exposed_comm, and in forward + backward.
  // The critical device's excess over these means is skew.
  double least_exposed_seconds = 0;
  double least_compute_seconds = 0;
  std::optional<TakenTime> taken;             // absent: the launch did not watch
  std::optional<HostWork> host_work;          // of PyTorch's cells on pretended GPUs
  std::vector<CollectiveRecord> collectives;  // collectives in launch order; empty
                                              // and where the steps' collectives differ
  std::vector<DeviceMemory> memory;
  std::vector<GpuRecord> gpus;  // GPUs by device; empty on the host and without NVML
  // The energy of all GPUs together, each once, per step of the time between their readings; absent
  // where a GPU has none.
  std::optional<double> joules_per_step;
  std::vector<ThreadPlace> threads;  // places by device, each once; empty: not known
  // Options whose value depends on the machine, with the resulting value: "broadcast" of dp is
  // "collective" or "sequential"; "attention" and "convolutions" on GPUs name their
  // implementation, the latter with the format of the factors: "cuDNN 9.19.0, tf32".
  std::map<std::string, std::string> resolved;
  std::vector<std::int64_t> bucket_bytes;  // ddp's buckets in launch order
  ModelFacts model;
  MachineFacts machine;
};

// The peak memory of each device, also of those that one entry of `memory` is of.
[[nodiscard]] std::vector<std::int64_t> peaks_by_device(const LaunchRecord& record);

// Whether "attention", as resolved, is computed by products and softmax, not by one fused kernel.
[[nodiscard]] inline bool is_unfused(std::string_view attention) {
  return attention.starts_with("products and softmax");
}

// A launch record as one line of JSON, which a bench program leaves for `tandem run` and the
// journal keeps. Throws a logic error that names the field where a number is NaN or infinite, since
// such a figure must not pass for a missing one.
[[nodiscard]] std::string to_json_line(const LaunchRecord& record);

// Parses a launch record. Unknown fields are ignored, absent fields keep their defaults (additive
// changes are minor ones); `cell` and `status` are required. Throws a failure naming `source`.
[[nodiscard]] LaunchRecord parse_record(std::string_view text, std::string_view source);

// A GPU's record as one line, which one rank sends to the others, and the parser of that line.
[[nodiscard]] std::string to_json_line(const GpuRecord& gpu);
[[nodiscard]] GpuRecord parse_gpu(std::string_view text, std::string_view source);
[[nodiscard]] std::string to_json_line(const ThreadPlace& thread);
[[nodiscard]] ThreadPlace parse_thread(std::string_view text, std::string_view source);

// Writes the record into a file of its own, replaced atomically.
void write_record(const std::filesystem::path& path, const LaunchRecord& record);

[[nodiscard]] LaunchRecord read_record(const std::filesystem::path& path);

}  // namespace tandem::results
