// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/results/document.h"
#include "common/results/launch_record.h"

namespace tandem::results {

inline decltype(LaunchRecord::gpus) full_gpus() {
  return {{.device = 1,
           .hardware = "00000000:3B:00.0 GPU-5f0e",
           .name = "NVIDIA H200",
           .memory_bytes = 150754820096,
           .pci = "00000000:3B:00.0",
           .numa_node = 1,
           .driver = "580.65.06",
           .compute_mode = "default",
           .mig = false,
           .nvlinks = 18,
           .processes = 1,
           .peers = {{.device = 0, .peer_access = true, .nvlinks = 18, .path = "PCIe switch"}},
           .before =
               {.sm_mhz = 1980, .memory_mhz = 2619, .watts = 412.5, .celsius = 60, .slowed_by = {}},
           .after = {.sm_mhz = 1755,
                     .memory_mhz = {},
                     .watts = 699,
                     .celsius = 71,
                     .slowed_by = {"power cap"}},
           .watched_ms = 512.5,
           .held_down_ms = {{"power cap", 100.25}, {"thermal slowdown", 0}},
           .joules = 350.5,
           .clock_drift = 0.125}};
}

inline decltype(LaunchRecord::machine) full_machine() {
  return {.host_name = "node",
          .hosts = {"node", "other"},
          .cpu_model = "Test CPU",
          .cores = 2,
          .memory_bytes = 1LL << 33,
          .bound_cores = {0, 1},
          .page_bytes = 4096,
          .ping_pong_ns = 80.5,
          .kernel = "Linux 6",
          .libraries = {{"oneDNN", "2.6.3"}},
          .variables = {{"OMP_NUM_THREADS", "1"}},
          .numa_nodes = 2,
          .huge_pages = "madvise",
          .container = "podman",
          .slurm_job = "4711, step 0"};
}

inline TakenTime full_taken_time() {
  return {.window_seconds = 1.5,
          .run_delay_seconds = 0.01,
          .steal_seconds = 0.02,
          .throttled_seconds = 0,
          .involuntary_switches = 3,
          .major_faults = 1,
          .cpu_mhz = 2450};
}

inline HostWork full_host_work() {
  return {.steps = 20,
          .parts = {{.part = "replicate",
                     .thread = "main",
                     .per_step = 1,
                     .wall_seconds = 0.004,
                     .cpu_seconds = 0.003,
                     .run_delay_seconds = 0.0005}},
          .threads = {{.kind = "autograd",
                       .threads = 2,
                       .cpu_seconds = 0.001,
                       .run_delay_seconds = 0.0002}},
          .modules = 12,
          .parameters = 7,
          .buffers = 3};
}

// A record with every field set to something that is not its default.
inline LaunchRecord full_record() {
  LaunchRecord record;
  record.cell = {.strategy = "ddp",
                 .launch = "processes",
                 .model = "mlp-small",
                 .backend = "host",
                 .devices = 2,
                 .global_batch = 64,
                 .options = {{"grads", "views"}}};
  record.launch_index = 3;
  record.mode = "free-running";
  record.precision = "bf16";
  record.oversubscribed = true;
  record.warnings = {"device 1 shares a core"};
  record.modelled = {"dispatch cost 8us", "interpreter lock"};
  record.rests_on = {{"operations measured", 0.75}, {"host", 0.25}};
  record.planted = "backward:1ms";
  record.devices_used = 1;
  record.dispatches_per_step = 72.5;
  record.barrier_skew_seconds = 0.00003;
  record.barrier_skew_uncertainty_seconds = 0.00001;
  record.peak_gflops = 140.5;
  record.host_work = full_host_work();
  record.first_step_seconds = 0.5;
  record.warmup_steps = 4;
  record.warmup_seconds = 0.7;
  record.step_seconds = {0.010, 0.012, 0.011, 0.1 + 0.2};
  record.phases = {
      {.device = 0,
       .mean_seconds = {{"forward", 0.004}, {"backward", 0.005}},
       .span_seconds = 0.0095},
      {.device = 1, .count = 3, .mean_seconds = {{"idle", 0.001}}, .span_seconds = 0.0096}};
  record.remainder_seconds = 0.0001;
  record.memory = {{.device = 1, .count = 3, .capacity_bytes = 1 << 30, .peak_bytes = 1 << 20}};
  record.gpus = full_gpus();
  record.joules_per_step = 3.5;
  record.taken = full_taken_time();
  record.threads = {
      {.device = 1, .phases = {"forward", "backward"}, .cpus = {4, 5, 6, 7}, .numa_nodes = {1}}};
  record.resolved = {{"broadcast", "collective"}};
  record.bucket_bytes = {1 << 20, 25 << 20};
  record.model = {.parameters = 1000,
                  .parameter_bytes = 4000,
                  .flops_per_sample = 6e3,
                  .operations_per_step = 19,
                  .optimizer_bytes_per_step = 20480};
  record.machine = full_machine();
  return record;
}

inline SweepInfo sample_sweep() {
  SweepInfo sweep{
      .name = "quick",
      .definition = R"({"name":"quick"})",
      .planned_cells = 21,
      .launches_per_cell = 6,
      .dropped = {{.reason = "single is one device",
                   .cells = {"single/threads/m/devices:2/batch:8"}}},
      .additions = {{.cells = {"dp/threads/m/devices:2/batch:8"}, .launches_per_cell = 3}},
      .context = {},
      .commands = {{"run", "quick", "--launches=6"}, {}}};
  sweep.context.date = "2024-02-03T04:05:06+00:00";
  sweep.context.host_name = "node";
  sweep.context.executable = "./tandem";
  sweep.context.num_cpus = 2;
  sweep.context.caches = {{.type = "Data", .level = 1, .size = 32768, .num_sharing = 1}};
  sweep.context.load_avg = {0.5, 0.25, 0.125};
  sweep.context.library_build_type = "release";
  sweep.context.custom = {{"tandem_version", "0.1.0"}};
  return sweep;
}

}  // namespace tandem::results
