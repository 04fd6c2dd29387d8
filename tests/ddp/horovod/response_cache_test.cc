// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <random>

#include "ddp/horovod/controller.h"

namespace tandem::ddp::horovod {
namespace {

using Tensors = std::vector<int>;

// By position; checks that both directions of the look-up agree.
Tensors contents(const ResponseCache& cache) {
  Tensors tensors;
  for (std::size_t position = 0; position < cache.size(); ++position) {
    tensors.push_back(cache.tensor_at(position));
    EXPECT_EQ(cache.position_of(tensors.back()), position);
  }
  return tensors;
}

TEST(ResponseCache, NewTensors_LieInOrderOfUse) {
  ResponseCache cache(10);
  cache.use({3, 1});
  cache.use({});
  cache.use({2});
  EXPECT_EQ(contents(cache), (Tensors{3, 1, 2}));
  EXPECT_EQ(cache.position_of(0), std::nullopt);
  EXPECT_EQ(cache.position_of(99), std::nullopt);
}

TEST(ResponseCache, UsedAgain_BecomesTheLatest) {
  ResponseCache cache(10);
  cache.use({0, 1, 2, 3});
  cache.use({2, 0});
  EXPECT_EQ(contents(cache), (Tensors{1, 3, 2, 0}));
}

TEST(ResponseCache, Full_ForgetsTheOneUsedLongestAgo) {
  ResponseCache cache(3);
  cache.use({0, 1, 2});
  cache.use({0});
  cache.use({3});
  EXPECT_EQ(contents(cache), (Tensors{2, 0, 3}));
  EXPECT_EQ(cache.position_of(1), std::nullopt);
}

TEST(ResponseCache, MoreAtOnceThanItHolds_KeepsTheLatest) {
  ResponseCache cache(2);
  cache.use({0, 1, 2, 3});
  EXPECT_EQ(contents(cache), (Tensors{2, 3}));
}

TEST(ResponseCache, OfCapacityZero_CachesNothing) {
  ResponseCache cache(0);
  cache.use({0, 1});
  EXPECT_EQ(cache.size(), 0U);
  EXPECT_EQ(cache.position_of(0), std::nullopt);
}

// One use after the other, on a list: what several at once must come to.
class NaiveCache {
 public:
  explicit NaiveCache(std::size_t capacity) : capacity_(capacity) {}
  void use(int tensor) {
    tensors_.remove(tensor);
    if (tensors_.size() == capacity_) tensors_.pop_front();
    tensors_.push_back(tensor);
  }
  [[nodiscard]] Tensors contents() const { return {tensors_.begin(), tensors_.end()}; }

 private:
  const std::size_t capacity_;
  std::list<int> tensors_;
};

TEST(ResponseCache, RandomUses_EqualThoseOfANaiveList) {
  std::mt19937 random(1);
  for (const std::size_t capacity : {1U, 4U, 7U, 20U}) {
    ResponseCache cache(capacity);
    NaiveCache naive(capacity);
    for (int round = 0; round < 200; ++round) {
      Tensors tensors{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
      std::shuffle(tensors.begin(), tensors.end(), random);
      tensors.resize(random() % 10);
      cache.use(tensors);
      for (const int tensor : tensors) naive.use(tensor);
      ASSERT_EQ(contents(cache), naive.contents());
    }
  }
}

}  // namespace
}  // namespace tandem::ddp::horovod
