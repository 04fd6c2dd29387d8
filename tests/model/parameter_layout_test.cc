// SPDX-License-Identifier: Apache-2.0
#include "common/model/parameter_layout.h"

#include <gtest/gtest.h>

#include "tests/support/errors.h"
#include "tests/support/layouts.h"

namespace tandem::test {
namespace {

TEST(ParameterLayoutTest, AlignedCount_RoundsUpToACacheLine) {
  EXPECT_EQ(aligned_count(0), 0);
  EXPECT_EQ(aligned_count(1), 16);
  EXPECT_EQ(aligned_count(16), 16);
  EXPECT_EQ(aligned_count(17), 32);
}

TEST(ParameterLayoutTest, Segments_StartAtCacheLines_InRegistrationOrder) {
  const ParameterLayout layout = layout_of({17, 1, 16, 5});
  const std::vector<std::int64_t> offsets{0, 32, 48, 64};
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    EXPECT_EQ(layout.segments()[i].offset, offsets[i]);
  }
  EXPECT_EQ(layout.arena_count(), 80);
  EXPECT_EQ(layout.parameter_count(), 39);
}

TEST(ParameterLayoutTest, Segment_KnowsItsNameShapeAndBytes) {
  ParameterLayout layout;
  layout.add("layer0.weight", {3, 5});
  const ParameterLayout::Segment& segment = layout.segments().front();
  EXPECT_EQ(segment.name, "layer0.weight");
  EXPECT_EQ(segment.shape, (Shape{3, 5}));
  EXPECT_EQ(segment.size_bytes(), Bytes{60});
}

TEST(ParameterLayoutTest, Views_AreTheSegmentsPartsOfTheArena) {
  const ParameterLayout layout = layout_of({17, 1, 16});
  std::vector<float> arena(static_cast<std::size_t>(layout.arena_count()));
  const TensorList views =
      layout.views(Span<float>(arena.data(), layout.arena_count(), DeviceId{Backend::kHost, 3}));
  ASSERT_EQ(views.size(), 3U);
  EXPECT_EQ(views[1].data(), arena.data() + 32);
  EXPECT_EQ(views[1].size(), 1);
  EXPECT_EQ(views[2].device().index, 3);
}

TEST(ParameterLayoutTest, Views_OfTooSmallAnArena_AreALogicError) {
  const ParameterLayout layout = layout_of({17, 1});
  std::vector<float> arena(32);
  const Span<float> span(arena.data(), 32, DeviceId{});
  EXPECT_EQ(error_of([&] { static_cast<void>(layout.views(span)); }).kind(), ErrorKind::kLogic);
}

}  // namespace
}  // namespace tandem::test
