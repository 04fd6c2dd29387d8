// SPDX-License-Identifier: Apache-2.0
#include "bench/kernels/step_parts.h"

#include <gtest/gtest.h>

namespace tandem::bench {
namespace {

using std::chrono::milliseconds;

host::WorkAccount account() {
  host::WorkAccount account;
  account.add("linear_forward", milliseconds(60));
  account.add("sgd_update", milliseconds(20));
  account.add("copy", milliseconds(3));
  account.add("zero", milliseconds(2));
  account.worker = milliseconds(90);
  return account;
}

TEST(StepPartsTest, PartsAddUpToTheStep) {
  const StepParts parts = parts_of(account(), milliseconds(100), milliseconds(4));
  EXPECT_DOUBLE_EQ(parts.operations, 0.080);
  EXPECT_DOUBLE_EQ(parts.copies, 0.005);
  EXPECT_NEAR(parts.queue, 0.005, 1e-12);
  EXPECT_DOUBLE_EQ(parts.dispatch, 0.004);
  EXPECT_NEAR(parts.waiting(), 0.006, 1e-12);
}

// Copies are no arithmetic of the step: they count as outside.
TEST(StepPartsTest, OutsideIsAllButOperations) {
  const StepParts parts = parts_of(account(), milliseconds(100), milliseconds(4));
  EXPECT_NEAR(parts.outside(), 0.20, 1e-12);
  EXPECT_EQ(to_text(parts),
            "20.00 % of a step lie outside operations: dispatch 4.00 %, queue 5.00 %, copies 5.00 "
            "%, waiting 6.00 %");
}

}  // namespace
}  // namespace tandem::bench
