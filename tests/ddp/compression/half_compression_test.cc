// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ddp/communication_hook.h"
#include "tests/ddp/compression/hook_run.h"
#include "tests/ddp/compression/naive_half.h"
#include "tests/support/errors.h"
#include "tests/support/fake_communicator.h"

namespace tandem::test {
namespace {

// From 2^-31, which fp16 rounds to zero, to 2^9.
Values values_of_all_sizes(int rank, int step, std::size_t gradient, const Shape& shape) {
  Values values = random_values(rank, step, gradient, shape);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = std::ldexp(values[i], static_cast<int>(i % 41) - 31);
  }
  return values;
}

template <class T>
constexpr ddp::Compression kTo = ddp::Compression::kBFloat16;
template <>
constexpr ddp::Compression kTo<Float16> = ddp::Compression::kFloat16;

template <class T>
class HalfCompressionTest : public testing::Test {
 protected:
  static HookRun run_of(int ranks) {
    return {.compression = kTo<T>,
            .buckets = {{{7, 13}, {5}, {}}, {{1}}, {{1000, 3}, {33, 2, 2}}},
            .ranks = ranks,
            .steps = 2,
            .values = values_of_all_sizes};
  }
};

using Narrow = testing::Types<BFloat16, Float16>;
TYPED_TEST_SUITE(HalfCompressionTest, Narrow);

TYPED_TEST(HalfCompressionTest, Result_IsTheNaiveModelsToTheBit) {
  for (const int ranks : {1, 2, 3, 4}) {
    const HookRun run = this->run_of(ranks);
    const auto results = run_hook(run);
    for (int step = 0; step < run.steps; ++step) {
      for (std::size_t gradient = 0; gradient < run.shapes().size(); ++gradient) {
        EXPECT_EQ(results[static_cast<std::size_t>(step)][gradient],
                  naive_half_average<TypeParam>(run.of_all_ranks(step, gradient)))
            << ranks << " ranks, step " << step << ", gradient " << gradient;
      }
    }
  }
}

// Else the test above would pass on a plain all-reduce.
TYPED_TEST(HalfCompressionTest, Result_IsNotTheAverage) {
  const HookRun run = this->run_of(2);
  const Values compressed = run_hook(run)[0][0];
  const Values mine = run.gradients_of(0, 0)[0];
  const Values theirs = run.gradients_of(1, 0)[0];
  int differ = 0;
  for (std::size_t i = 0; i < mine.size(); ++i) {
    if (compressed[i] != (mine[i] + theirs[i]) / 2) ++differ;
  }
  EXPECT_GT(differ, 10);
}

TYPED_TEST(HalfCompressionTest, SmallIntegers_AreAveragedExactly) {
  HookRun run = this->run_of(4);
  run.values = [](int rank, int, std::size_t, const Shape& shape) {
    return Values(static_cast<std::size_t>(shape.count()), static_cast<float>(8 * rank - 4));
  };
  const auto results = run_hook(run);
  for (const Values& values : results[1]) {
    for (const float value : values) EXPECT_EQ(value, 8);  // of -4, 4, 12, 20
  }
}

TEST(HalfCompressionLimits, OfFloat16_TurnLargeGradientsInfinite) {
  HookRun run{.compression = ddp::Compression::kFloat16, .buckets = {{{3}}}};
  run.values = [](int, int, std::size_t, const Shape&) { return Values{1e5F, 65504, -1e9F}; };
  const Values fp16 = run_hook(run)[0][0];
  EXPECT_EQ(fp16, (Values{INFINITY, 65504, -INFINITY}));
  run.compression = ddp::Compression::kBFloat16;
  const Values bf16 = run_hook(run)[0][0];
  for (const float value : bf16) EXPECT_TRUE(std::isfinite(value));
}

TEST(HalfCompressionCalls, PerBucket_AreOneCollectiveOfHalfTheBytes) {
  const auto platform = host_devices(1);
  Device& device = platform->device(0);
  FakeCommunicator communicator(device, 0, 2);
  HookBuckets buckets(communicator, {{{64, 3}}, {{16}}});
  ddp::HalfCompression hook(DType::kBFloat16, device, communicator);
  hook.set_buckets(buckets.hook);
  const auto stream = device.make_stream(StreamPriority::kNormal);
  for (const std::size_t bucket : {0U, 1U}) hook.reduce(*stream, bucket);
  stream->synchronize();
  ASSERT_EQ(communicator.all_reduces().size(), 2U);
  EXPECT_EQ(communicator.all_reduces()[0].count, 192);
  EXPECT_EQ(communicator.all_reduces()[1].count, 16);
}

TEST(HalfCompressionCalls, ToFloat_AreALogicError) {
  const auto platform = host_devices(1);
  FakeCommunicator communicator(platform->device(0), 0, 2);
  EXPECT_THROW(ddp::HalfCompression(DType::kFloat32, platform->device(0), communicator), Error);
}

}  // namespace
}  // namespace tandem::test
