// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/doctor/gpus.h"

#include "tests/tools/doctor/expect_finding.h"

namespace tandem::doctor {
namespace {

IdleGpu idle(int index) {
  return {.index = std::to_string(index),
          .pci = "00000000:1B:00.0",
          .uuid = "GPU-" + std::to_string(index),
          .name = "NVIDIA H200",
          .driver = "580.10",
          .compute_mode = "Default",
          .mig = "Disabled",
          .used_mib = 4,
          .total_mib = 143771,
          .utilization = 0};
}

TEST(DoctorGpus, AreReadAsNvidiaSmiWritesThem) {
  const auto gpus = parse_gpus(
      "0, 00000000:1B:00.0, GPU-0, NVIDIA H200, 580.10, Default, Disabled, 4, 143771, 0\n"
      "NVIDIA-SMI has failed\n"
      "1, 00000000:43:00.0, GPU-1, NVIDIA T4, 580.10, Exclusive_Process, [N/A], [N/A], 16384, 7\n");
  ASSERT_EQ(gpus.size(), 2U);
  EXPECT_EQ(gpus[0].name, "NVIDIA H200");
  EXPECT_EQ(gpus[0].used_mib, 4);
  EXPECT_EQ(gpus[1].mig, "");
  EXPECT_EQ(gpus[1].used_mib, std::nullopt);
  EXPECT_EQ(gpus[1].utilization, 7);
}

TEST(DoctorGpus, ThatAreIdleAndAlike_AreFine) {
  const Findings findings = judge_gpus({idle(0), idle(1)});
  EXPECT_EQ(findings.size(), 2U);
  EXPECT_TRUE(finds(findings, Level::kOk, "gpus", "2 x NVIDIA H200, driver 580.10"));
  EXPECT_TRUE(finds(findings, Level::kOk, "busy GPUs", "none"));
}

TEST(DoctorGpus, ThatAreBusy_AreNamed) {
  IdleGpu computing = idle(0);
  computing.utilization = 98;
  IdleGpu held = idle(1);
  held.used_mib = 40000;
  const Findings findings = judge_gpus({computing, held});
  EXPECT_TRUE(
      finds(findings, Level::kProblem, "busy GPUs", "GPU 0 (00000000:1B:00.0) computed for 98 %"));
  EXPECT_TRUE(finds(findings, Level::kWarning, "busy GPUs", "40000 of 143771 MiB"));
}

TEST(DoctorGpus, InAModeThatRefuses_AreNamed) {
  IdleGpu gpu = idle(0);
  gpu.compute_mode = "Prohibited";
  gpu.mig = "Enabled";
  const Findings findings = judge_gpus({gpu});
  EXPECT_TRUE(finds(findings, Level::kProblem, "compute mode", "prohibited"));
  EXPECT_TRUE(finds(findings, Level::kWarning, "MIG", "divided into instances"));
}

TEST(DoctorGpus, OfTwoKinds_AreToldOf) {
  IdleGpu other = idle(1);
  other.name = "NVIDIA T4";
  EXPECT_TRUE(finds(judge_gpus({idle(0), other}), Level::kWarning, "gpus", "2 kinds"));
}

TEST(DoctorGpus, ThatNobodyTellsOf_AreNotChecked) {
  EXPECT_TRUE(finds(judge_gpus({}), Level::kNotChecked, "gpus", "nvidia-smi"));
}

TEST(DoctorGpus, ThatAreHidden_AreNotJudged) {
  const std::vector<IdleGpu> gpus{idle(0), idle(1), idle(2)};
  EXPECT_EQ(visible_of(gpus, {}).size(), 3U);
  const auto named = visible_of(gpus, {{"CUDA_VISIBLE_DEVICES", "2,GPU-0"}});
  ASSERT_EQ(named.size(), 2U);
  EXPECT_EQ(named[0].index, "0");
  EXPECT_EQ(named[1].index, "2");
  EXPECT_TRUE(visible_of(gpus, {{"CUDA_VISIBLE_DEVICES", "-1"}}).empty());
}

results::GpuRecord loaded(int device) {
  results::GpuRecord gpu;
  gpu.device = device;
  gpu.hardware = "GPU-" + std::to_string(device);
  gpu.pci = "0000:1b:00.0";
  gpu.driver = "580.10";
  return gpu;
}

GpuLoad load_of(std::vector<results::GpuRecord> gpus) {
  GpuLoad load;
  load.run.result.end = cli::ChildResult::End::kExited;
  load.record.emplace();
  load.record->gpus = std::move(gpus);
  return load;
}

TEST(DoctorGpuLoad, ThatRanUnhindered_IsFine) {
  const Findings findings = judge_gpu_load(load_of({loaded(0)}));
  EXPECT_EQ(findings.size(), 1U);
  EXPECT_TRUE(finds(findings, Level::kOk, "cuda", "driver 580.10 runs this build's CUDA"));
}

Findings with_access(std::optional<bool> access) {
  results::GpuRecord first = loaded(0);
  results::GpuRecord second = loaded(1);
  first.peers = {{.device = 1, .peer_access = access, .nvlinks = {}, .path = "host bridge"}};
  second.peers = {{.device = 0, .peer_access = access, .nvlinks = {}, .path = "host bridge"}};
  return judge_gpu_load(load_of({first, second}));
}

TEST(DoctorPeers, AreToldOfOncePerPair) {
  EXPECT_TRUE(finds(with_access(true), Level::kOk, "peer access", "all 1 pairs"));
  const Findings without = with_access(false);
  EXPECT_EQ(without.size(), 2U);
  EXPECT_TRUE(finds(without, Level::kWarning, "peer access",
                    "none between devices 0 and 1 (their paths meet at: host bridge)"));
  EXPECT_TRUE(finds(with_access({}), Level::kNotChecked, "peer access", "does not report it"));
}

TEST(DoctorGpuLoad, ThatCouldNotRun_SaysWhatTheProgramSaid) {
  GpuLoad load;
  load.run.result = {.end = cli::ChildResult::End::kExited, .code = 1};
  load.run.reason = "the driver supports CUDA 12.4, this build needs 13.0: update the driver";
  const Findings findings = judge_gpu_load(load);
  EXPECT_TRUE(
      finds(findings, Level::kProblem, "cuda", "supports CUDA 12.4, this build needs 13.0"));
}

}  // namespace
}  // namespace tandem::doctor
