// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "common/kernels/host/vector_math.h"

namespace tandem::host {
namespace {

// From 0 down to -87, unevenly between whole multiples of ln 2.
std::vector<float> exponents(std::int64_t count) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) {
    values.push_back(
        static_cast<float>(-87.0 * static_cast<double>(i) / static_cast<double>(count)));
  }
  return values;
}

TEST(Exponentials, AreRightToTheirLastBits) {
  const std::vector<float> in = exponents(200'000);
  std::vector<float> out(in.size());
  exponentials(std::ssize(in), in.data(), 0, out.data());
  for (std::size_t i = 0; i < in.size(); ++i) {
    const double expected = std::exp(double{in[i]});
    ASSERT_NEAR(out[i] / expected, 1, 3e-7) << "of " << in[i];
  }
}

TEST(Exponentials, OfTheBaseAndOfFarBelow_AreOneAndZero) {
  const float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> values{5, 5 - 88, -1e30F, -infinity};
  EXPECT_EQ(exponentials(4, values.data(), 5, values.data()), 1);
  EXPECT_EQ(values, (std::vector<float>{1, 0, 0, 0}));
}

// Lengths around the lanes and blocks of the loop.
TEST(Exponentials, OfEveryLength_AreAllAddedUp) {
  for (const std::int64_t count : {1, 2, 15, 63, 64, 65, 1023, 1024, 1025, 5000}) {
    const std::vector<float> in = exponents(count);
    std::vector<float> out(in.size());
    const double sum = exponentials(count, in.data(), -1, out.data());
    double expected = 0;
    for (const float value : in) expected += std::exp(double{value} + 1);
    EXPECT_NEAR(sum / expected, 1, 5e-7) << count;
    EXPECT_EQ(sum_of_exponentials(count, in.data(), -1), sum) << count;
  }
}

// A sum in fp32 would stop growing at 2^24.
TEST(Exponentials, OfMoreThanFp32CanCount_AreAllAddedUp) {
  const std::int64_t count = (1 << 24) + 1000;
  const std::vector<float> in(static_cast<std::size_t>(count), 0.5F);
  EXPECT_EQ(sum_of_exponentials(count, in.data(), 0.5F), static_cast<double>(count));
}

TEST(Largest, IsFoundAtEveryPlace) {
  for (const std::size_t count : {1U, 63U, 64U, 65U, 200U}) {
    for (std::size_t place = 0; place < count; ++place) {
      std::vector<float> values(count, -7);
      values[place] = -3;
      ASSERT_EQ(largest(std::ssize(values), values.data()), -3) << place << " of " << count;
    }
  }
}

}  // namespace
}  // namespace tandem::host
