// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>

#include "common/comm/bootstrap.h"
#include "tests/support/errors.h"

namespace tandem::test {
namespace {

constexpr const char* kVariables[] = {
    "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "PMI_SIZE",  "PMI_RANK",
    "SLURM_STEP_NUM_TASKS", "SLURM_PROCID",         "PMIX_RANK",
};

class LauncherTest : public testing::Test {
 protected:
  LauncherTest() { forget(); }
  ~LauncherTest() override { forget(); }

 private:
  static void forget() {
    for (const char* variable : kVariables) ::unsetenv(variable);
  }
};

TEST_F(LauncherTest, WithoutALauncher_ItIsOneRank) {
  EXPECT_EQ(announced_ranks(), 1);
  EXPECT_EQ(announced_rank(), 0);
  check_ranks_can_meet();
}

TEST_F(LauncherTest, Srun_AnnouncesItsStep) {
  ::setenv("SLURM_STEP_NUM_TASKS", "4", 1);
  ::setenv("SLURM_PROCID", "3", 1);
  ::setenv("PMIX_RANK", "3", 1);
  EXPECT_EQ(announced_ranks(), 4);
  EXPECT_EQ(announced_rank(), 3);
  check_ranks_can_meet();
}

TEST_F(LauncherTest, MpirunWithinAnAllocation_GoesBeforeTheStepOfItsDaemons) {
  ::setenv("SLURM_STEP_NUM_TASKS", "2", 1);
  ::setenv("SLURM_PROCID", "1", 1);
  ::setenv("OMPI_COMM_WORLD_SIZE", "1", 1);
  ::setenv("OMPI_COMM_WORLD_RANK", "0", 1);
  EXPECT_EQ(announced_ranks(), 1);
  EXPECT_EQ(announced_rank(), 0);
}

TEST_F(LauncherTest, SrunWithoutPmix_IsRefusedBeforeMpiStarts) {
  ::setenv("SLURM_STEP_NUM_TASKS", "2", 1);
  const Error error = error_of([] { check_ranks_can_meet(); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_TRUE(mentions(error, "--mpi=pmix")) << error.what();
}

}  // namespace
}  // namespace tandem::test
