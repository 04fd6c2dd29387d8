// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "common/model/linear_stack.h"
#include "common/parallel/scatter.h"
#include "dp/gather.h"
#include "tests/support/errors.h"
#include "tests/support/host_devices.h"

namespace tandem::test {
namespace {

using Sizes = std::vector<std::int64_t>;

struct Row {
  std::int64_t batch;
  int devices;
  Sizes sizes;
};

class ScatterTableTest : public testing::TestWithParam<Row> {};

TEST_P(ScatterTableTest, Pieces_AreTorchs) {
  Sizes sizes;
  std::int64_t next = 0;
  for (const Shard& shard : chunk_batch(GetParam().batch, GetParam().devices)) {
    EXPECT_EQ(shard.first, next);
    next += shard.count;
    sizes.push_back(shard.count);
  }
  EXPECT_EQ(sizes, GetParam().sizes);
  EXPECT_EQ(next, GetParam().batch);
}

INSTANTIATE_TEST_SUITE_P(Rows, ScatterTableTest,
                         testing::Values(Row{10, 4, {3, 3, 3, 1}}, Row{9, 4, {3, 3, 3}},
                                         Row{6, 4, {2, 2, 2}}, Row{5, 4, {2, 2, 1}},
                                         Row{33, 8, {5, 5, 5, 5, 5, 5, 3}},
                                         Row{36, 7, {6, 6, 6, 6, 6, 6}}, Row{3, 8, {1, 1, 1}},
                                         Row{1, 4, {1}}, Row{64, 4, {16, 16, 16, 16}}));

constexpr std::int64_t kWidth = 3;
constexpr std::int64_t kSamples = 5;

// Two replicas of shards 3 and 2, and a batch tensor that counts 0, 1, 2, ...
class ScatterGatherTest : public testing::TestWithParam<InputPlace> {
 protected:
  ScatterGatherTest() {
    for (std::size_t i = 0; i < shards_.size(); ++i) {
      owned_.push_back(std::make_unique<Replica>(platform_->device(static_cast<int>(i)), model_,
                                                 shards_[i].count,
                                                 TrainingOptions{.phases = {PhaseTiming::kOff}}));
      replicas_.push_back(owned_.back().get());
    }
    for (std::size_t i = 0; i < values_.size(); ++i) values_[i] = static_cast<float>(i);
    on_device_ = platform_->device(0).allocate(Bytes{4 * kSamples * kWidth});
    put(platform_->device(0), on_device_->as<float>(), values_);
  }

  [[nodiscard]] Span<const float> whole() {
    return GetParam() == InputPlace::kDevice ? Span<const float>(on_device_->as<float>())
                                             : Span<const float>(on_host(values_));
  }

  void synchronize() {
    for (Replica* const replica : replicas_) replica->stream().synchronize();
  }

  const std::unique_ptr<Platform> platform_ = host_devices(3);
  const Mlp model_{"any", {kWidth, 4}};
  const std::vector<Shard> shards_ = chunk_batch(kSamples, 2);
  std::vector<std::unique_ptr<Replica>> owned_;
  std::vector<Replica*> replicas_;
  std::vector<float> values_ = std::vector<float>(kSamples * kWidth);
  std::unique_ptr<Buffer> on_device_;
  Interpreter nobody_{DispatchCosts{}};
};

TEST_P(ScatterGatherTest, Scatter_BringsEachReplicaItsRows) {
  Scatter scatter(replicas_, shards_, {{whole(), kWidth}}, GetParam());
  for (int step = 0; step < 2; ++step) {
    scatter.enqueue(nobody_);
    for (int i = 0; i < 2; ++i) scatter.release(i);
    synchronize();
    for (int i = 0; i < 2; ++i) {
      const Shard& shard = shards_[static_cast<std::size_t>(i)];
      const auto rows = read_back<float>(platform_->device(i), scatter.shard(i, 0));
      ASSERT_EQ(rows.size(), static_cast<std::size_t>(shard.count * kWidth));
      EXPECT_EQ(rows.front(), static_cast<float>(shard.first * kWidth));
      EXPECT_EQ(rows.back(), static_cast<float>((shard.first + shard.count) * kWidth - 1));
    }
  }
  EXPECT_EQ(nobody_.calls(), 4);  // a shard each, in two steps
}

// On the device that holds the batch a shard is a view of it; elsewhere it is a copy.
TEST_P(ScatterGatherTest, Scatter_CopiesNothingToWhereTheBatchLies) {
  const Scatter scatter(replicas_, shards_, {{whole(), kWidth}}, GetParam());
  const bool is_view = scatter.shard(0, 0).data() == on_device_->as<float>().data();
  EXPECT_EQ(is_view, GetParam() == InputPlace::kDevice);
  EXPECT_EQ(scatter.shard(1, 0).device(), platform_->device(1).id());
}

INSTANTIATE_TEST_SUITE_P(Places, ScatterGatherTest,
                         testing::Values(InputPlace::kHost, InputPlace::kPageable,
                                         InputPlace::kDevice));

using GatherTest = ScatterGatherTest;

// The memory of floats as elements of another type.
AnySpan as_type(DType type, AnySpan floats) {
  return {floats.data(), floats.size_bytes().value / size_of(type), type, floats.device()};
}

// Onto a replica's device and onto one that has none, in types of both sizes.
TEST_P(GatherTest, PutsUnevenOutputsTogether_AndTheirGradientsBackApart) {
  std::vector<float> expected(12, 1.0F);
  expected.resize(20, 2.0F);
  for (const DType type : {DType::kFloat32, DType::kBFloat16}) {
    for (const int target : {0, 1, 2}) {
      const std::int64_t of_float = 4 / size_of(type);
      dp::OutputDevice output(platform_->device(target), replicas_,
                              PhaseOptions{PhaseTiming::kOff});
      dp::Gather gather(output, replicas_, {12 * of_float, 8 * of_float}, type);
      std::vector<AnySpan> outputs;
      for (int i = 0; i < 2; ++i) {
        const auto mine = replicas_[static_cast<std::size_t>(i)]->output().as<float>();
        put(platform_->device(i), mine, std::vector<float>(12 - 4 * i, i == 0 ? 1.0F : 2.0F));
        outputs.push_back(as_type(type, mine));
        gather.offer(i);
      }
      gather.enqueue(outputs, nobody_);
      output.stream().synchronize();
      const Span<const float> all = as_type(DType::kFloat32, gather.gathered()).as<float>();
      EXPECT_EQ(read_back<float>(platform_->device(target), all), expected) << target;
      put(platform_->device(target), as_type(DType::kFloat32, gather.gradient()).as<float>(),
          expected);
      const auto gradient = replicas_[1]->output_gradient().as<float>();
      gather.scatter_back({as_type(type, replicas_[0]->output_gradient()), as_type(type, gradient)},
                          nobody_);
      synchronize();
      EXPECT_EQ(read_back<float>(platform_->device(1), Span<const float>(gradient)),
                std::vector<float>(8, 2.0F));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Places, GatherTest, testing::Values(InputPlace::kHost));

}  // namespace
}  // namespace tandem::test
