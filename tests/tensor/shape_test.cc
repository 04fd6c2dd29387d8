// SPDX-License-Identifier: Apache-2.0
#include "common/tensor/shape.h"

#include <gtest/gtest.h>

#include "tests/support/errors.h"

namespace tandem {
namespace {

TEST(Shape, Count_IsTheProductOfTheDimensions) {
  EXPECT_EQ((Shape{64, 3, 5}).count(), 960);
  EXPECT_EQ((Shape{64, 0}).count(), 0);
  EXPECT_EQ(Shape{}.count(), 1);
}

TEST(Shape, ToString_JoinsTheDimensions) {
  EXPECT_EQ(to_string(Shape{64, 1024}), "64x1024");
  EXPECT_EQ(to_string(Shape{}), "scalar");
}

TEST(Shape, Equal_ComparesDimensionsNotCounts) {
  EXPECT_EQ((Shape{2, 3}), (Shape{2, 3}));
  EXPECT_NE((Shape{2, 3}), (Shape{3, 2}));
}

TEST(Shape, WithANegativeDimension_IsALogicError) {
  const Error error = test::error_of([&] { const Shape shape{2, -1}; });
  EXPECT_EQ(error.kind(), ErrorKind::kLogic);
}

}  // namespace
}  // namespace tandem
