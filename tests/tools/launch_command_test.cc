// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/launch/launch_command.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

namespace tandem::cli {
namespace {

const LaunchSettings kSettings{
    .step_bench = "/bin/step_bench", .min_time = "500ms", .min_samples = 10, .oversubscribe = true};

results::Cell cell_of(const std::string& strategy, const std::string& launch,
                      const std::map<std::string, std::string>& options = {}) {
  return {strategy, launch, "mlp-small", "host", 2, 64, options};
}

std::string command_of(const results::Cell& cell, const LaunchSettings& settings = kSettings) {
  return fmt::format("{}", fmt::join(launch_command(cell, settings, "/out/r.json"), " "));
}

TEST(LaunchCommand, Threads_RunDirectly) {
  EXPECT_EQ(
      command_of(cell_of("dp", "threads", {{"grads", "views"}})),
      "/bin/step_bench --strategy=dp --launch=threads --model=mlp-small --batch=64 --devices=2 "
      "--backend=host --min-time=500ms --min-samples=10 --grads=views --record=/out/r.json "
      "--oversubscribe");
}

TEST(LaunchCommand, Processes_RunUnderMpirun_Unbound) {
  EXPECT_TRUE(command_of(cell_of("ddp", "processes"))
                  .starts_with("mpirun -np 2 --bind-to none --oversubscribe --mca btl vader,self "
                               "/bin/step_bench --strategy=ddp --launch=processes "));
}

TEST(CheckCommand, HasTheCellsOptions_AndNeedsNoLauncher) {
  const results::Cell cell = cell_of("ddp", "processes", {{"grads", "views"}});
  const auto words = [&](Check check) {
    return fmt::format("{}", fmt::join(check_command(cell, kSettings, check), " "));
  };
  EXPECT_EQ(words(Check::kOptions),
            "/bin/step_bench --strategy=ddp --launch=processes --model=mlp-small --batch=64 "
            "--devices=2 --backend=host --min-time=500ms --min-samples=10 --grads=views --check");
  EXPECT_EQ(words(Check::kBackend), words(Check::kOptions) + "=backend");
}

TEST(LaunchCommand, ModelThatIsAFile_IsGivenWhereItLies) {
  LaunchSettings settings = kSettings;
  settings.model_files = {{"own.json#12", "models/own.json#12"}};
  results::Cell cell;
  cell.launch = "threads";
  cell.model = "own.json#12";
  const auto command = launch_command(cell, settings, "/out/r.json");
  EXPECT_NE(std::find(command.begin(), command.end(), "--model=models/own.json#12"), command.end());
}

TEST(LaunchCommand, Peak_IsGivenAsItIs_UnlessTheCellHasItsOwn) {
  LaunchSettings settings = kSettings;
  settings.speeds.peak_gflops = "measured";
  results::Cell cell = cell_of("dp", "threads", {{"precision", "bf16"}});
  const auto count_of = [&](const std::string& word) {
    const std::vector<std::string> command = launch_command(cell, settings, "/out/r.json");
    return std::count(command.begin(), command.end(), word);
  };
  EXPECT_EQ(count_of("--peak-gflops=measured"), 1);
  EXPECT_EQ(count_of("--precision=bf16"), 1);
  cell.options["peak-gflops"] = "140.5";
  EXPECT_EQ(count_of("--peak-gflops=measured"), 0);
  EXPECT_EQ(count_of("--peak-gflops=140.5"), 1);
}

TEST(LaunchCommand, DeadlineAndFlightFolder_AreGivenWhereTheyAreSet) {
  LaunchSettings settings = kSettings;
  settings.comm_timeout = "3s";
  settings.flight_folder = "/out/r.flight";
  const std::string command = command_of(cell_of("ddp", "processes"), settings);
  EXPECT_NE(command.find(" --comm-timeout=3s --flight-dir=/out/r.flight"), std::string::npos);
}

TEST(LaunchCommand, Variable_ReplacesTheOneOfItsName) {
  std::vector<std::string> environment{"TMPDIR=/tmp", "TMPDIR_2=/b", "HOME=/"};
  set_variable(environment, "TMPDIR=/a");
  EXPECT_EQ(environment, (std::vector<std::string>{"TMPDIR_2=/b", "HOME=/", "TMPDIR=/a"}));
}

TEST(LaunchCommand, Environment_IsCleanedOfWhatChangesTheMeasurement) {
  const std::vector<std::string> removed{
      "OMP_NUM_THREADS",  "OPENBLAS_CORETYPE",  "GOMP_CPU_AFFINITY", "KMP_AFFINITY",
      "DNNL_MAX_CPU_ISA", "ONEDNN_MAX_CPU_ISA", "BENCHMARK_OUT"};
  for (const std::string& name : removed) ::setenv(name.c_str(), "1", 1);
  ::setenv("TANDEM_KEPT", "1", 1);
  const std::vector<std::string> environment = launch_environment();
  const auto has = [&](const std::string& text) {
    return std::find(environment.begin(), environment.end(), text) != environment.end();
  };
  for (const std::string& name : removed) EXPECT_FALSE(has(name + "=1")) << name;
  EXPECT_TRUE(has("TANDEM_KEPT=1"));
  EXPECT_TRUE(has("OMPI_ALLOW_RUN_AS_ROOT=1") && has("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"));
}

TEST(LaunchCommand, Environment_HasLostNodesNoticedSoon_UnlessTheUserSaysWhen) {
  const auto has = [](const std::string& text) {
    const std::vector<std::string> environment = launch_environment();
    return std::find(environment.begin(), environment.end(), text) != environment.end();
  };
  EXPECT_TRUE(has("OMPI_MCA_oob_tcp_keepalive_time=5"));
  ::setenv("OMPI_MCA_oob_tcp_keepalive_time", "60", 1);
  EXPECT_TRUE(has("OMPI_MCA_oob_tcp_keepalive_time=60"));
  EXPECT_FALSE(has("OMPI_MCA_oob_tcp_keepalive_time=5"));
  ::unsetenv("OMPI_MCA_oob_tcp_keepalive_time");
}

}  // namespace
}  // namespace tandem::cli
