// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "bench/job/job.h"
#include "bench/job/simulated_job.h"
#include "bench/step/simulated_step.h"
#include "bench/step/strategy_factory.h"
#include "bench/step/workload_source.h"
#include "tests/support/errors.h"

namespace tandem::bench {
namespace {

StepOptions options_of(const std::string& batch, const std::string& memory) {
  options::Values values;
  values.give("strategy", "ddp");
  values.give("model", "mlp-small");
  values.give("devices", "4");
  values.give("batch", batch);
  values.give("backend", "simulated");
  values.give("hardware", "dgx-a100");
  values.give("device-memory", memory);
  return step_options(values);
}

void run_once(const StepOptions& options) {
  const auto bootstrap = simulated_ranks(options.job);
  const auto model = make_model_for(options);
  Job job = open_job(*bootstrap, options.job);
  const auto strategy = make_strategy_together(*bootstrap, job, *model, options.variant);
  strategy->step();
  strategy->synchronize();
}

TEST(FittingBatch, IsTheLargestThatFits) {
  const StepOptions options = options_of("4000000", "64MiB");
  const auto bootstrap = simulated_ranks(options.job);
  const auto model = make_model_for(options);
  const auto batch = largest_fitting_batch(*bootstrap, options, *model);
  ASSERT_TRUE(batch);
  EXPECT_EQ(*batch % 4, 0);
  EXPECT_NO_THROW(run_once(options_of(std::to_string(*batch), "64MiB")));
  const Error error =
      test::error_of([&] { run_once(options_of(std::to_string(*batch + 4), "64MiB")); });
  EXPECT_EQ(error.kind(), ErrorKind::kOutOfMemory);
}

TEST(FittingBatch, IsNamedByTheError_OrThatNoneFits) {
  const Error error(ErrorKind::kOutOfMemory, "simulated:0 is out of memory");
  const auto refused = [&error](const char* memory) {
    const StepOptions options = options_of("4000000", memory);
    const auto bootstrap = simulated_ranks(options.job);
    return with_fitting_batch(error, *bootstrap, options, *make_model_for(options));
  };
  EXPECT_TRUE(test::mentions(refused("64MiB"), "; the largest batch that fits is ")) << "64 MiB";
  EXPECT_EQ(refused("1MiB").kind(), ErrorKind::kOutOfMemory);
  EXPECT_TRUE(test::mentions(refused("1MiB"), "simulated:0 is out of memory; no batch fits"));
}

}  // namespace
}  // namespace tandem::bench
