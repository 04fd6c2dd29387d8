// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/observe/profiler_words.h"

#include <gtest/gtest.h>

namespace tandem::cli {
namespace {

ObservedJob ddp_on_gpus() {
  ObservedJob job;
  job.cell.strategy = "ddp";
  job.cell.launch = "processes";
  job.cell.devices = 4;
  job.cell.backend = "cuda";
  job.step_bench = "/bin/step_bench";
  job.options = {"--model=gpt2-small", "--batch=32"};
  job.out = "/out";
  return job;
}

ObservedJob dp_on_gpus() {
  ObservedJob job = ddp_on_gpus();
  job.cell.strategy = "dp";
  job.cell.launch = "threads";
  return job;
}

bool mentions(const std::vector<std::string>& command, const std::string& words) {
  return (" " + as_typed(command) + " ").find(" " + words + " ") != std::string::npos;
}

TEST(ProfilerWords, Nsys_IsStartedInEachRank) {
  const std::string line = as_typed(nsys_command(ddp_on_gpus(), false));
  EXPECT_TRUE(line.starts_with("mpirun "));
  EXPECT_TRUE(line.ends_with(
      "nsys profile --trace=cuda,nvtx,mpi --mpi-impl=openmpi --sample=none --cpuctxsw=none "
      "--capture-range=cudaProfilerApi --capture-range-end=stop --force-overwrite=true "
      "'--output=/out/rank%q{OMPI_COMM_WORLD_RANK}' /bin/step_bench --strategy=ddp "
      "--launch=processes --devices=4 --backend=cuda --profile-steps=10 --min-time=1ms "
      "--model=gpt2-small --batch=32"))
      << line;
  EXPECT_EQ(report_count(ddp_on_gpus()), 4);
}

TEST(ProfilerWords, Nsys_UnderSrun_NamesReportsBySlurmsRank) {
  ObservedJob job = ddp_on_gpus();
  job.site.launcher = LaunchSite::Launcher::kSrun;
  job.site.mpi_plugin = "pmix";
  const std::vector<std::string> command = nsys_command(job, false);
  EXPECT_EQ(command.front(), "srun");
  EXPECT_TRUE(mentions(command, "'--output=/out/rank%q{SLURM_PROCID}'"));
}

TEST(ProfilerWords, Nsys_OfThreads_IsOneProcessWithoutMpi) {
  const std::vector<std::string> command = nsys_command(dp_on_gpus(), false);
  EXPECT_EQ(command.front(), "nsys");
  EXPECT_TRUE(mentions(command, "--trace=cuda,nvtx"));
  EXPECT_TRUE(mentions(command, "--output=/out/process"));
  EXPECT_FALSE(mentions(command, "--mpi-impl=openmpi"));
  EXPECT_EQ(report_count(dp_on_gpus()), 1);
}

TEST(ProfilerWords, Nsys_OnTheHost_CapturesTheRange) {
  ObservedJob job = ddp_on_gpus();
  job.cell.backend = "host";
  const std::vector<std::string> command = nsys_command(job, true);
  EXPECT_TRUE(mentions(command, "--trace=nvtx,mpi,osrt"));
  EXPECT_TRUE(mentions(command, "--capture-range=nvtx --nvtx-capture=capture@tandem"));
}

TEST(ProfilerWords, Nsys_TracesNodesOfGraphs_OnlyWhereThereAreGraphs) {
  ObservedJob job = ddp_on_gpus();
  EXPECT_FALSE(mentions(nsys_command(job, false), "--cuda-graph-trace=node"));
  job.options = {"--cuda-graph=on"};
  EXPECT_TRUE(mentions(nsys_command(job, false), "--cuda-graph-trace=node"));
  job.options = {"--cuda-graph", "on"};
  EXPECT_TRUE(mentions(nsys_command(job, false), "--cuda-graph-trace=node"));
  job.options = {"--cuda-graph=off"};
  EXPECT_FALSE(mentions(nsys_command(job, false), "--cuda-graph-trace=node"));
}

TEST(ProfilerWords, Ncu_LeavesOutNccl_AndClocksAlone) {
  const std::vector<std::string> command = ncu_command(ddp_on_gpus(), {"forward", "backward"});
  EXPECT_TRUE(mentions(command, "--nvtx-include tandem@forward/ --nvtx-include tandem@backward/"));
  EXPECT_TRUE(mentions(command, "--kernel-name 'regex:^(?!nccl)'"));
  EXPECT_TRUE(mentions(command, "--clock-control none"));
  EXPECT_TRUE(mentions(command, "--profile-from-start off"));
  EXPECT_TRUE(mentions(command, "--comm-timeout=600s"));
}

TEST(ProfilerWords, Ncu_WithoutPhases_TakesSteps_AndOfThreadsRangesThatDoNotNest) {
  EXPECT_TRUE(mentions(ncu_command(ddp_on_gpus(), {}), "--nvtx-include tandem@step/"));
  EXPECT_TRUE(mentions(ncu_command(dp_on_gpus(), {}), "--nvtx-include tandem@step"));
  EXPECT_TRUE(mentions(ncu_command(dp_on_gpus(), {"update"}), "--nvtx-include tandem@update"));
}

TEST(ProfilerWords, OptionsThatAreGiven_StayAsTheyAre) {
  ObservedJob job = ddp_on_gpus();
  job.options = {"--min-time=2s", "--comm-timeout=9s"};
  const std::vector<std::string> command = ncu_command(job, {});
  EXPECT_FALSE(mentions(command, "--min-time=1ms"));
  EXPECT_FALSE(mentions(command, "--comm-timeout=600s"));
  EXPECT_TRUE(mentions(command, "--min-time=2s --comm-timeout=9s"));
}

TEST(ProfilerWords, Stats_AreOfWhatTheReportHolds) {
  EXPECT_TRUE(mentions(nsys_stats_command(ddp_on_gpus(), "/out/rank0.nsys-rep"),
                       "--report=nvtx_sum,nvtx_gpu_proj_sum,cuda_gpu_kern_sum,cuda_api_sum,"
                       "mpi_event_sum --format=csv --force-export=true --force-overwrite=true "
                       "--output=/out/rank0 /out/rank0.nsys-rep"));
  ObservedJob job = dp_on_gpus();
  job.cell.backend = "host";
  EXPECT_TRUE(mentions(nsys_stats_command(job, "/out/process.nsys-rep"), "--report=nvtx_sum"));
}

TEST(ProfilerWords, AsTyped_QuotesWhatAShellWouldRead) {
  EXPECT_EQ(as_typed({"a", "b c", "it's", ""}), "a 'b c' 'it'\\''s' ''");
}

}  // namespace
}  // namespace tandem::cli
