// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "reports/answer/report.h"
#include "reports/model/subject.h"
#include "reports/render/formats.h"
#include "reports/tables/torch.h"
#include "tests/reports/synthetic.h"

namespace tandem::reports {
namespace {

results::HostWork work_of(double wall) {
  return {.steps = 20,
          .parts = {{.part = "replicate",
                     .thread = "main",
                     .per_step = 1,
                     .wall_seconds = wall,
                     .cpu_seconds = 0.003,
                     .run_delay_seconds = 0.001}},
          .threads =
              {{.kind = "autograd", .threads = 2, .cpu_seconds = 0.0025, .run_delay_seconds = 0}},
          .modules = 4,
          .parameters = 3,
          .buffers = 2};
}

Synthetic measured() {
  Synthetic synthetic;
  synthetic.add("dp", 2, {0.02, 0.02}).add("single", 1, {0.01, 0.01});
  for (results::LaunchRecord& record : synthetic.document().launches) {
    record.cell.backend = "pretended-a100";
    record.cell.options[kImplementation] = "torch-2.15.0";
  }
  auto& launches = synthetic.document().launches;
  launches[0].host_work = work_of(0.006);
  launches[1].host_work = work_of(0.008);
  return synthetic;
}

TEST(HostWorkTable, TellsWorkFromBothKindsOfWaiting) {
  Synthetic synthetic = measured();
  const TextTable table = host_work_table(summarize(synthetic.document()));
  ASSERT_EQ(table.rows.size(), 2U);
  const std::vector<std::string>& part = table.rows[0];
  ASSERT_GE(part.size(), 5U);
  const auto last = part.rbegin();
  // The rest of 6 and 8 ms beside 3 ms of CPU time and 1 ms without a core.
  EXPECT_EQ(last[0].find("3.000 ["), 0U) << last[0];
  EXPECT_EQ(last[1].find("1.000"), 0U) << last[1];
  EXPECT_EQ(last[2].find("3.000"), 0U) << last[2];
  EXPECT_EQ(last[3].find("7.000 ["), 0U) << last[3];
  EXPECT_EQ(table.rows[1].rbegin()[2].find("2.500"), 0U);
}

// 7 ms for the 4 modules, 3 parameters and 2 buffers of two replicas.
TEST(HostWorkTable, SharesAPartAmongItsPieces) {
  Synthetic synthetic = measured();
  const TextTable table = host_work_table(summarize(synthetic.document()));
  const std::string piece = table.rows[0].rbegin()[4];
  EXPECT_EQ(piece.find("388.89 us ["), 0U) << piece;
  EXPECT_NE(piece.find("] a piece of a replica"), std::string::npos) << piece;
  EXPECT_EQ(table.rows[1].rbegin()[4], "-");
}

TEST(HostWorkTable, WithoutADelayOfTheKernelsIsUntold) {
  Synthetic synthetic = measured();
  for (results::LaunchRecord& record : synthetic.document().launches) {
    if (record.host_work) record.host_work->parts[0].run_delay_seconds.reset();
  }
  const TextTable table = host_work_table(summarize(synthetic.document()));
  EXPECT_EQ(table.rows[0].rbegin()[0], "-");
  EXPECT_EQ(table.rows[0].rbegin()[1], "-");
}

TEST(HostWorkTable, ARangeOfTheProfilersHasAWallTimeAlone) {
  Synthetic synthetic = measured();
  for (results::LaunchRecord& record : synthetic.document().launches) {
    if (!record.host_work) continue;
    record.host_work->parts[0].cpu_seconds.reset();
    record.host_work->parts[0].run_delay_seconds.reset();
  }
  const std::vector<std::string> part = host_work_table(summarize(synthetic.document())).rows[0];
  const auto last = part.rbegin();
  EXPECT_EQ(last[0], "-");
  EXPECT_EQ(last[1], "-");
  EXPECT_EQ(last[2], "-");
  EXPECT_EQ(last[3].find("7.000 ["), 0U) << last[3];
}

TEST(HostWorkTable, StandsInReportsOfLaunchesThatTellIt) {
  Synthetic synthetic = measured();
  EXPECT_NE(to_markdown(make_report(synthetic.document())).find("Where the host's time goes"),
            std::string::npos);
  for (results::LaunchRecord& record : synthetic.document().launches) record.host_work.reset();
  EXPECT_EQ(to_markdown(make_report(synthetic.document())).find("Where the host's time goes"),
            std::string::npos);
}

}  // namespace
}  // namespace tandem::reports
