// SPDX-License-Identifier: Apache-2.0
#include "ddp/compression/power_sgd.h"

#include <cmath>

#include "tests/ddp/compression/naive_power_sgd.h"
#include "tests/support/errors.h"
#include "tests/support/fake_communicator.h"

namespace tandem::test {
namespace {

constexpr int kPlainSteps = 2;  // steps before compression

// Sums of some 50 products of numbers about 1, over a few steps that build on one another.
constexpr double kTolerance = 2e-5;

HookRun run_of(int rank, int ranks) {
  return {.options = {.compression = ddp::Compression::kPowerSgd,
                      .power_sgd = {.rank = rank, .start_step = kPlainSteps, .seed = 7}},
          .buckets = {{{37, 53}, {37}, {31, 5, 7}}, {{3, 3}, {}}, {{40, 41}}},
          .ranks = ranks,
          .steps = kPlainSteps + 5,
          .values = random_values};
}

// In rank order, as the transport sums.
Values average(const std::vector<Values>& of_rank) {
  Values sum = of_rank.front();
  for (std::size_t rank = 1; rank < of_rank.size(); ++rank) {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += of_rank[rank][i];
  }
  for (float& value : sum) value *= 1 / static_cast<float>(of_rank.size());
  return sum;
}

template <class Expected>
void expect_close(const Values& actual, const Expected& expected, double tolerance) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    ASSERT_NEAR(actual[i], expected[i], tolerance) << "at element " << i;
  }
}

struct Ranks {
  int rank;
  int ranks;
};

void PrintTo(const Ranks& ranks, std::ostream* out) {
  *out << "rank " << ranks.rank << " on " << ranks.ranks << " ranks";
}

class PowerSgdRanks : public testing::TestWithParam<Ranks> {};

TEST_P(PowerSgdRanks, MatricesOverSeveralSteps_FollowTheNaiveModel) {
  const HookRun run = run_of(GetParam().rank, GetParam().ranks);
  const auto results = run_hook(run);
  std::uint64_t first_random = 0;
  for (const std::size_t gradient : {0U, 2U, 5U}) {
    const Shape shape = run.shapes()[gradient];
    const auto n = static_cast<std::size_t>(shape.dims().front());
    const std::size_t m = static_cast<std::size_t>(shape.count()) / n;
    const auto r = static_cast<std::size_t>(GetParam().rank);
    NaivePowerSgd naive(n, m, r, run.ranks, 7, first_random);
    first_random += m * r;
    for (int step = kPlainSteps; step < run.steps; ++step) {
      SCOPED_TRACE(testing::Message() << "gradient " << gradient << ", step " << step);
      const Dense expected = naive.step(run.of_all_ranks(step, gradient));
      expect_close(results[static_cast<std::size_t>(step)][gradient], expected.values, kTolerance);
    }
  }
}

TEST_P(PowerSgdRanks, VectorsScalarsAndSmallMatrices_AreAveragedExactly) {
  const HookRun run = run_of(GetParam().rank, GetParam().ranks);
  const auto results = run_hook(run);
  for (int step = 0; step < run.steps; ++step) {
    for (const std::size_t gradient : {1U, 3U, 4U}) {
      EXPECT_EQ(results[static_cast<std::size_t>(step)][gradient],
                average(run.of_all_ranks(step, gradient)));
    }
  }
}

TEST_P(PowerSgdRanks, BeforeTheStart_EverythingIsAveragedExactly) {
  const HookRun run = run_of(GetParam().rank, GetParam().ranks);
  const auto results = run_hook(run);
  for (int step = 0; step < kPlainSteps; ++step) {
    for (std::size_t gradient = 0; gradient < run.shapes().size(); ++gradient) {
      EXPECT_EQ(results[static_cast<std::size_t>(step)][gradient],
                average(run.of_all_ranks(step, gradient)));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, PowerSgdRanks,
                         testing::Values(Ranks{1, 1}, Ranks{1, 2}, Ranks{2, 2}, Ranks{4, 3},
                                         Ranks{3, 4}));

// A column times a row for each rank, the same in every step: their average has the rank of their
// number.
Values of_rank_one(int rank, int /*step*/, std::size_t gradient, const Shape& shape) {
  const std::int64_t n = shape.dims().front();
  const std::int64_t m = shape.count() / n;
  const Values column = random_values(rank, 0, gradient, {n});
  const Values row = random_values(rank, 0, gradient + 50, {m});
  Values values;
  for (const float a : column) {
    for (const float b : row) values.push_back(a * b);
  }
  return values;
}

HookRun low_rank_run(int rank) {
  HookRun run = run_of(rank, 2);
  run.buckets = {{{64, 65}}};
  run.values = of_rank_one;
  return run;
}

TEST(PowerSgd, OfTheMatrixsTrueRankOrMore_ReproducesTheAverage) {
  for (const int rank : {2, 3, 8}) {
    const HookRun run = low_rank_run(rank);
    const auto results = run_hook(run);
    for (int step = kPlainSteps; step < run.steps; ++step) {
      SCOPED_TRACE(testing::Message() << "rank " << rank << ", step " << step);
      expect_close(results[static_cast<std::size_t>(step)][0], average(run.of_all_ranks(step, 0)),
                   kTolerance);
    }
  }
}

TEST(PowerSgd, OfLessThanTheTrueRank_DoesNot) {
  const HookRun run = low_rank_run(1);
  const Values result = run_hook(run)[kPlainSteps][0];
  const Values exact = average(run.of_all_ranks(kPlainSteps, 0));
  double largest = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    largest = std::max(largest, static_cast<double>(std::abs(result[i] - exact[i])));
  }
  EXPECT_GT(largest, 0.05);
}

// The same gradient in every step: what one step misses comes with the next ones, so that the sum
// of the steps is the sum of the averages but for one last error, which does not grow.
TEST(PowerSgd, OverManySteps_LosesNothingOfTheSum) {
  HookRun run = run_of(2, 2);
  run.buckets = {{{24, 25}}};
  run.steps = kPlainSteps + 40;
  run.values = [](int rank, int, std::size_t gradient, const Shape& shape) {
    return random_values(rank, 0, gradient, shape);
  };
  const auto results = run_hook(run);
  const Values exact = average(run.of_all_ranks(0, 0));
  double missed = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    double sum = 0;
    for (std::size_t step = kPlainSteps; step < results.size(); ++step)
      sum += double{results[step][0][i]};
    missed = std::max(missed, std::abs(sum / 40 - double{exact[i]}));
  }
  EXPECT_LT(missed, 0.3);  // an error of some steps' gradients, over 40 steps
}

TEST(PowerSgd, AfterAStepOfZeros_GoesOn) {
  HookRun run = low_rank_run(2);
  run.values = [](int rank, int step, std::size_t gradient, const Shape& shape) {
    if (step > kPlainSteps) return of_rank_one(rank, step, gradient, shape);
    return Values(static_cast<std::size_t>(shape.count()), 0);
  };
  const auto results = run_hook(run);
  for (const float value : results[kPlainSteps][0]) ASSERT_EQ(value, 0);
  expect_close(results[kPlainSteps + 1][0], average(run.of_all_ranks(kPlainSteps + 1, 0)),
               kTolerance);
}

// On one rank of two that are imagined, to count its calls.
class PowerSgdCalls : public testing::Test {
 protected:
  ddp::PowerSgdOptions options(int rank = 2) { return {.rank = rank, .start_step = kPlainSteps}; }

  std::vector<std::int64_t> step(ddp::PowerSgd& hook, std::size_t buckets) {
    communicator_.forget_calls();
    const auto stream = device_.make_stream(StreamPriority::kNormal);
    for (std::size_t bucket = 0; bucket < buckets; ++bucket) hook.reduce(*stream, bucket);
    stream->synchronize();
    std::vector<std::int64_t> counts;
    for (const auto& call : communicator_.all_reduces()) counts.push_back(call.count);
    return counts;
  }

  const std::unique_ptr<Platform> platform_ = host_devices(1);
  Device& device_ = platform_->device(0);
  FakeCommunicator communicator_{device_, 0, 2};
};

using Counts = std::vector<std::int64_t>;

TEST_F(PowerSgdCalls, PerBucket_AreThreeCollectivesFromTheStartOn) {
  const HookBuckets buckets(communicator_, {{{40, 30}, {16}, {20, 32}}, {{32}}, {{50, 60}}});
  ddp::PowerSgd hook(options(), device_, communicator_);
  hook.set_buckets(buckets.hook);
  const Counts whole{1200 + 16 + 640, 32, 3008};  // the last one with its gap
  for (int i = 0; i < kPlainSteps; ++i) EXPECT_EQ(step(hook, 3), whole);
  const Counts compressed{16, 2 * (40 + 20), 2 * (30 + 32), 32, 2 * 50, 2 * 60};
  for (int i = 0; i < 2; ++i) EXPECT_EQ(step(hook, 3), compressed);
}

TEST_F(PowerSgdCalls, OnNewBuckets_CountTheStepsBefore) {
  const HookBuckets first(communicator_, {{{40, 30}}});
  const HookBuckets second(communicator_, {{{40, 30}}, {{50, 60}}});
  ddp::PowerSgd hook(options(), device_, communicator_);
  hook.set_buckets(first.hook);
  EXPECT_EQ(step(hook, 1), (Counts{1200}));
  hook.set_buckets(second.hook);
  EXPECT_EQ(step(hook, 2), (Counts{1200, 3008}));
  EXPECT_EQ(step(hook, 2), (Counts{80, 60, 100, 120}));
}

TEST_F(PowerSgdCalls, NoCompression_IsNoHook) {
  EXPECT_EQ(ddp::make_communication_hook({}, device_, communicator_), nullptr);
}

}  // namespace
}  // namespace tandem::test
