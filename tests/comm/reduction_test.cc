// SPDX-License-Identifier: Apache-2.0
#include "common/comm/reduction.h"

#include <gtest/gtest.h>

#include "common/tensor/random.h"

namespace tandem::test {
namespace {

constexpr std::array<std::int64_t, 12> kSizes{0,  1,   15,   16,   17,   31,
                                              33, 100, 2047, 2049, 6000, 70001};

TEST(ShareOfTest, Shares_CoverEveryElementOnce_CutAtCacheLines) {
  for (const std::int64_t elements : kSizes) {
    for (int size = 1; size <= 9; ++size) {
      std::int64_t next = 0;
      for (int rank = 0; rank < size; ++rank) {
        const Share share = share_of(rank, size, elements);
        EXPECT_EQ(share.first, next);
        EXPECT_GE(share.count, 0);
        EXPECT_TRUE(share.first % 16 == 0 || share.count == 0);
        next = share.first + share.count;
      }
      EXPECT_EQ(next, elements);
    }
  }
}

TEST(ShareOfTest, Shares_DifferByALineAtMost) {
  for (int size = 1; size <= 9; ++size) {
    for (int rank = 0; rank < size; ++rank) {
      EXPECT_NEAR(static_cast<double>(share_of(rank, size, 70000).count), 70000.0 / size, 17);
    }
  }
}

using Buffers = std::vector<std::vector<float>>;

Buffers random_buffers(std::size_t count, std::int64_t elements) {
  Buffers buffers(count, std::vector<float>(static_cast<std::size_t>(elements)));
  for (std::size_t i = 0; i < count; ++i) fill_uniform(buffers[i], i, 0, 1);
  return buffers;
}

std::vector<std::byte*> pointers(Buffers& buffers) {
  std::vector<std::byte*> all;
  for (auto& buffer : buffers) all.push_back(reinterpret_cast<std::byte*>(buffer.data()));
  return all;
}

// In buffer order, then the factor; nothing outside the share.
Buffers naive(Buffers buffers, std::int64_t first, std::int64_t count, float factor) {
  for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(first + count); ++i) {
    float sum = buffers[0][i];
    for (std::size_t rank = 1; rank < buffers.size(); ++rank) sum += buffers[rank][i];
    for (auto& buffer : buffers) buffer[i] = sum * factor;
  }
  return buffers;
}

class ReduceElementsTest : public testing::TestWithParam<std::size_t> {};

TEST_P(ReduceElementsTest, InPlace_EqualsPlainLoopsBitForBit) {
  for (const std::int64_t elements : kSizes) {
    // A quarter into the buffer and not at a line's start, and the whole of it.
    for (const std::int64_t first : {std::int64_t{0}, elements / 4}) {
      const float factor = GetParam() == 1 ? 1.0F : 1.0F / static_cast<float>(GetParam());
      Buffers buffers = random_buffers(GetParam(), elements);
      const std::int64_t count = (elements - first) - first / 2;
      const Buffers expected = naive(buffers, first, count, factor);
      const std::vector<std::byte*> all = pointers(buffers);
      reduce_elements({all.begin(), all.end()}, all, {first, count}, {.factor = factor});
      EXPECT_EQ(buffers, expected) << elements << " from " << first;
    }
  }
}

// Large ones go past the caches.
TEST_P(ReduceElementsTest, ResultsThatLieApart_EqualPlainLoopsBitForBit) {
  for (const std::int64_t elements : {std::int64_t{1003}, std::int64_t{(2 << 20) + 21}}) {
    Buffers sources = random_buffers(GetParam(), elements);
    const Buffers untouched = sources;
    Buffers results(GetParam(), std::vector<float>(sources[0].size(), -1.0F));
    Buffers expected = results;
    const Share share{5, elements - 7};
    const Buffers sums = naive(sources, share.first, share.count, 0.5F);
    for (auto& result : expected) {
      std::copy_n(sums[0].begin() + share.first, share.count, result.begin() + share.first);
    }
    const std::vector<std::byte*> from = pointers(sources);
    reduce_elements({from.begin(), from.end()}, pointers(results), share, {.factor = 0.5F});
    EXPECT_TRUE(results == expected) << elements;
    EXPECT_TRUE(sources == untouched) << elements;
  }
}

INSTANTIATE_TEST_SUITE_P(Buffers, ReduceElementsTest, testing::Values(1, 2, 3, 4, 5));

}  // namespace
}  // namespace tandem::test
