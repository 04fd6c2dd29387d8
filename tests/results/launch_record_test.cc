// SPDX-License-Identifier: Apache-2.0
#include "common/results/launch_record.h"

#include <gtest/gtest.h>

#include <limits>

#include "common/base/error.h"
#include "common/results/files.h"
#include "tests/results/samples.h"
#include "tests/support/scratch_folder.h"

namespace tandem::results {
namespace {

using test::ScratchFolder;

std::string refusal_of(const std::string& text) {
  const auto error = capture_error([&] { (void)parse_record(text, "record.json"); });
  return error ? error->what() : "";
}

TEST(LaunchRecord, RoundTrip_KeepsEveryField) {
  const LaunchRecord record = full_record();
  const LaunchRecord read = parse_record(to_json_line(record), "text");
  EXPECT_EQ(to_json_line(read), to_json_line(record));
  EXPECT_EQ(read.cell, record.cell);
  EXPECT_EQ(read.step_seconds, record.step_seconds);  // bit for bit
  EXPECT_EQ(read.phases[0].mean_seconds, record.phases[0].mean_seconds);
  EXPECT_EQ(read.machine.variables, record.machine.variables);
  EXPECT_EQ(read.bucket_bytes, record.bucket_bytes);
  EXPECT_EQ(read.mode, "free-running");
  EXPECT_TRUE(read.oversubscribed);
}

TEST(LaunchRecord, WhatStandsBesideTheTimes_IsKept) {
  const LaunchRecord read = parse_record(to_json_line(full_record()), "text");
  EXPECT_EQ(read.warnings, std::vector<std::string>{"device 1 shares a core"});
  EXPECT_EQ(read.modelled, (std::vector<std::string>{"dispatch cost 8us", "interpreter lock"}));
  EXPECT_EQ(read.planted, "backward:1ms");
  EXPECT_EQ(read.devices_used, 1);
  EXPECT_DOUBLE_EQ(read.dispatches_per_step, 72.5);
  EXPECT_DOUBLE_EQ(read.barrier_skew_seconds, 0.00003);
  EXPECT_DOUBLE_EQ(read.barrier_skew_uncertainty_seconds, 0.00001);
  EXPECT_EQ(read.machine.hosts, (std::vector<std::string>{"node", "other"}));
  EXPECT_DOUBLE_EQ(read.peak_gflops, 140.5);
  EXPECT_EQ(read.precision, "bf16");
  EXPECT_EQ(read.model.operations_per_step, 19);
  EXPECT_EQ(read.model.optimizer_bytes_per_step, 20480);
}

TEST(LaunchRecord, GpusAndThreads_AreKept) {
  const LaunchRecord read = parse_record(to_json_line(full_record()), "text");
  ASSERT_EQ(read.gpus.size(), 1U);
  const GpuRecord& gpu = read.gpus.front();
  EXPECT_EQ(gpu.pci, "00000000:3B:00.0");
  EXPECT_EQ(gpu.numa_node, 1);
  ASSERT_EQ(gpu.peers.size(), 1U);
  EXPECT_EQ(gpu.peers.front().peer_access, true);
  EXPECT_EQ(gpu.peers.front().nvlinks, 18);
  EXPECT_EQ(gpu.peers.front().path, "PCIe switch");
  EXPECT_EQ(gpu.watched_ms, 512.5);
  EXPECT_EQ(gpu.held_down_ms, full_record().gpus.front().held_down_ms);
  EXPECT_EQ(gpu.joules, 350.5);
  EXPECT_EQ(gpu.clock_drift, 0.125);
  EXPECT_EQ(read.joules_per_step, 3.5);
  ASSERT_TRUE(read.taken.has_value());
  EXPECT_EQ(read.taken->window_seconds, 1.5);
  EXPECT_EQ(read.taken->run_delay_seconds, 0.01);
  EXPECT_EQ(read.taken->steal_seconds, 0.02);
  EXPECT_EQ(read.taken->throttled_seconds, 0);
  EXPECT_EQ(read.taken->involuntary_switches, 3);
  EXPECT_EQ(read.taken->major_faults, 1);
  EXPECT_EQ(read.taken->cpu_mhz, 2450);
  ASSERT_EQ(read.threads.size(), 1U);
  EXPECT_EQ(read.threads.front().device, 1);
  EXPECT_EQ(read.threads.front().phases, (std::vector<std::string>{"forward", "backward"}));
  EXPECT_EQ(read.threads.front().cpus, (std::vector<int>{4, 5, 6, 7}));
  EXPECT_EQ(read.threads.front().numa_nodes, std::vector<int>{1});
  EXPECT_EQ(read.resolved, full_record().resolved);
}

// What a driver does not report is left out of the text.
TEST(LaunchRecord, WhatIsNotToldOfAGpu_IsAbsent) {
  const std::string bare = to_json_line(GpuRecord{});
  for (const char* field : {"numa_node", "nvlinks", "watched_ms", "power cap"}) {
    EXPECT_EQ(bare.find(field), std::string::npos) << field;
  }
  const GpuRecord read =
      parse_gpu(R"({"device": 1, "hardware": "a GPU-b", "processes": 2})", "text");
  EXPECT_EQ(read.processes, 2);
  EXPECT_FALSE(read.numa_node);
  EXPECT_FALSE(read.watched_ms);
  EXPECT_TRUE(read.peers.empty());
  EXPECT_TRUE(read.held_down_ms.empty());
  EXPECT_FALSE(read.joules || read.clock_drift);  // absent and not zero
}

TEST(LaunchRecord, LeastRecord_HasNothingBesideItsTimes) {
  const LaunchRecord read = parse_record(
      R"({"cell": {"strategy": "dp", "launch": "threads", "model": "m", "backend": "host",
          "devices": 2, "global_batch": 64}, "status": "skipped"})",
      "text");
  EXPECT_TRUE(read.warnings.empty());
  EXPECT_TRUE(read.modelled.empty());
  EXPECT_TRUE(read.planted.empty());
  EXPECT_EQ(read.devices_used, 0);
  EXPECT_TRUE(read.threads.empty());
  EXPECT_TRUE(read.resolved.empty());
}

TEST(LaunchRecord, Line_HoldsNoNewline) {
  LaunchRecord record = full_record();
  record.stderr_tail = "first\nsecond\n";
  EXPECT_EQ(to_json_line(record).find('\n'), std::string::npos);
  EXPECT_EQ(parse_record(to_json_line(record), "text").stderr_tail, "first\nsecond\n");
}

TEST(LaunchRecord, InvalidUtf8_IsReplaced) {
  LaunchRecord record = full_record();
  record.stderr_tail = "bad \xff byte";
  EXPECT_NE(parse_record(to_json_line(record), "text").stderr_tail.find("bad "), std::string::npos);
}

TEST(LaunchRecord, NumbersThatAreNotFinite_AreNeverWritten) {
  LaunchRecord record = full_record();
  record.step_seconds[1] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW((void)to_json_line(record), Error);
  record = full_record();
  record.model.flops_per_sample = std::numeric_limits<double>::infinity();
  EXPECT_THROW((void)to_json_line(record), Error);
}

TEST(LaunchRecord, DamagedText_NamesItsSourceAndField) {
  EXPECT_NE(refusal_of("{").find("record.json: it is not valid JSON"), std::string::npos);
  EXPECT_NE(refusal_of("{}").find("'cell' is missing"), std::string::npos);
  std::string text = to_json_line(full_record());
  text.replace(text.find("\"ok\""), 4, "\"fine\"");
  EXPECT_NE(refusal_of(text).find("record.json: status: \"fine\" is unknown; known are ok"),
            std::string::npos);
}

TEST(LaunchRecord, OkWithoutPositiveSamples_IsRefused) {
  LaunchRecord record = full_record();
  record.step_seconds.clear();
  EXPECT_NE(refusal_of(to_json_line(record)).find("no samples"), std::string::npos);
  record.step_seconds = {0.0};
  EXPECT_EQ(refusal_of(to_json_line(record)),
            "reading record.json: step_seconds[0]: 0: a step takes more than 0 s");
  record.status = Status::kSkipped;
  EXPECT_EQ(refusal_of(to_json_line(record)), "");
}

TEST(LaunchRecord, TimesThatNothingTakes_AreRefused) {
  for (const auto set : {+[](LaunchRecord& record) {
                           record.step_seconds = {0.1, 1e308};
                         },
                         +[](LaunchRecord& record) { record.step_seconds = {2e9}; },
                         +[](LaunchRecord& record) { record.warmup_seconds = 1e308; },
                         +[](LaunchRecord& record) { record.first_step_seconds = -1e308; },
                         +[](LaunchRecord& record) { record.critical.span_seconds = 1e308; },
                         +[](LaunchRecord& record) {
                           record.phases.front().mean_seconds.begin()->second = 1e308;
                         }}) {
    LaunchRecord record = full_record();
    set(record);
    EXPECT_NE(refusal_of(to_json_line(record)).find("use a number from -1e+09 to 1e+09"),
              std::string::npos);
  }
}

TEST(LaunchRecord, File_RoundTrips_AndErrorsNameThePath) {
  const ScratchFolder folder;
  write_record(folder / "record.json", full_record());
  EXPECT_EQ(read_record(folder / "record.json").launch_index, 3);
  EXPECT_FALSE(std::filesystem::exists(folder / "record.json.part"));
  EXPECT_THROW((void)read_record(folder / "absent.json"), Error);
  EXPECT_THROW(replace_file(folder / "no/such/folder", "text"), Error);
}

TEST(Cell, Name_HoldsItsOptions) {
  EXPECT_EQ(full_record().cell.name(), "ddp/processes/mlp-small/devices:2/batch:64/grads:views");
}

}  // namespace
}  // namespace tandem::results
