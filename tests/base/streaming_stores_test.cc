// SPDX-License-Identifier: Apache-2.0
#include "common/base/streaming_stores.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace tandem {
namespace {

// Wherever the two begin, and however many there are: before, within and past whole stores.
TEST(StreamingStores, Copy_WritesTheElements_AndNoOthers) {
  std::vector<float> from(80);
  std::iota(from.begin(), from.end(), 1.0F);
  for (std::size_t start = 0; start < 5; ++start) {
    for (std::int64_t count = 0; count < 40; ++count) {
      std::vector<float> to(64, -1.0F);
      StreamingStores().copy(to.data() + start, from.data() + start + 1, count);
      std::vector<float> expected(64, -1.0F);
      std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(start) + 1, count,
                  expected.begin() + static_cast<std::ptrdiff_t>(start));
      ASSERT_EQ(to, expected) << "from " << start << ", " << count;
    }
  }
}

}  // namespace
}  // namespace tandem
