// SPDX-License-Identifier: Apache-2.0
//
// Training with Horovod's reducer against training with buckets. Communicators here add in rank
// order, element by element, and both divide the sum: what is fused with what changes no bit.
#include <gtest/gtest.h>

#include "common/model/zoo.h"
#include "tests/support/training.h"

namespace tandem::test {
namespace {

Training ten_steps(const std::string& strategy, int devices) {
  Training run{.strategy = strategy, .devices = devices, .steps = 10};
  run.training.global_batch = 12;
  run.platform.oversubscribe = true;
  return run;
}

TEST(HorovodTraining, EqualsDdpWithViews_BitForBit_WhateverIsFused) {
  const auto model = make_model("mlp-tiny");
  for (const int devices : {2, 3}) {
    Training run = ten_steps("ddp", devices);
    run.reducer.grads = ddp::GradsMode::kViews;
    const Outcome buckets = train(*model, run);
    for (const char* strategy : {"ddp", "dp-allreduce"}) {
      for (const Bytes threshold : {Bytes{0}, kib(64), mib(128)}) {
        run = ten_steps(strategy, devices);
        run.reducer = {
            .kind = ddp::ReducerKind::kHorovod,
            .horovod = {.cycle = std::chrono::microseconds(100), .fusion_threshold = threshold}};
        EXPECT_EQ(train(*model, run), buckets) << strategy << ", " << to_string(threshold);
      }
    }
  }
}

}  // namespace
}  // namespace tandem::test
