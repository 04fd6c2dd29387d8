// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "bench/driver/failure_flags.h"
#include "bench/job/gpu_flags.h"

namespace CLI {
class App;
}  // namespace CLI

namespace tandem::bench {

// The text of every flag of step_bench, as given or by default.
struct StepFlags {
  std::string strategy = "single";
  std::string launch;
  std::string model = "mlp-small";
  std::int64_t batch = 0;
  std::int64_t batch_per_device = 0;
  int devices = 1;
  std::string backend = "auto";
  std::string input = "host";
  std::string optimizer = "sgd";
  std::string precision = "fp32";
  std::string cuda_graph = "off";
  std::string device_ids;
  std::string output_device;
  std::string threads = "spawned";
  std::string replicate = "coalesced";
  std::string broadcast = "torch";
  std::string loss = "root";
  std::string reduce = "torch";
  std::string grads = "copy";
  std::string overlap = "on";
  std::string bucket_mb;
  std::string first_bucket_mb;
  int accumulate = 1;
  std::string static_graph = "off";
  std::string compress = "none";
  int powersgd_start = 2;
  std::string join = "off";
  std::string reducer = "buckets";
  std::string cycle_time = "1ms";
  std::string fusion_mb;
  std::string comm = "auto";
  std::string check_order = "off";
  std::string link;
  double core_gflops = 0;
  std::string peak_gflops;
  std::string dispatch_cost;
  std::string interpreter_lock = "off";
  std::string plant;
  FailureFlags failure;
  GpuFlags gpus;
  std::string check_numerics = "off";
  std::string fault;
  std::string phases = "on";
  std::uint64_t seed = 1;
  bool oversubscribe = false;
  std::string device_memory;
  int free_running = 0;
  std::string min_time = "500ms";
  int min_samples = 10;
  std::string warmup_time = "200ms";
  int warmup_steps = 5;
  std::string record;
  std::string write_workload;
  bool verify = false;
  std::string check;  // empty: no check is asked for
  bool models = false;
  int profile_steps = 0;
  std::string trace;
  int trace_steps = 5;
  std::string contention;
  int contention_pairs = 30;
  std::string ab;
  int pairs = 200;
};

void declare(CLI::App& app, StepFlags& flags);

// The flags with the one flag that `ab`, "option=value", names set anew. Throws usage errors for an
// option that cannot change within a process and for a value that is no change.
[[nodiscard]] StepFlags with_change(const StepFlags& flags, const std::string& ab);

}  // namespace tandem::bench
