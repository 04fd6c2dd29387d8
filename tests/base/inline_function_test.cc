// SPDX-License-Identifier: Apache-2.0
#include "common/base/inline_function.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>

namespace tandem {
namespace {

using Sum = InlineFunction<int(int), 32>;

// A function that keeps `witness` alive, in so many bytes.
template <std::size_t kBytes>
auto adding(std::shared_ptr<int> witness) {
  return [witness = std::move(witness), weight = std::array<std::byte, kBytes>{}](int other) {
    return *witness + other + static_cast<int>(weight.size() - kBytes);
  };
}

template <class Make>
void expect_to_be_moved_and_ended(Make&& make) {
  const auto witness = std::make_shared<int>(40);
  Sum first = make(witness);
  EXPECT_EQ(first(2), 42);
  EXPECT_EQ(witness.use_count(), 2);

  Sum second = std::move(first);
  EXPECT_FALSE(first);  // NOLINT(bugprone-use-after-move): what is moved away holds nothing
  EXPECT_EQ(second(3), 43);
  EXPECT_EQ(witness.use_count(), 2);

  second.reset();
  EXPECT_FALSE(second);
  EXPECT_EQ(witness.use_count(), 1);
}

TEST(InlineFunction, HoldsWhatFits) {
  expect_to_be_moved_and_ended([](auto witness) { return Sum(adding<8>(std::move(witness))); });
}

TEST(InlineFunction, HoldsWhatDoesNotFit) {
  expect_to_be_moved_and_ended([](auto witness) { return Sum(adding<500>(std::move(witness))); });
}

TEST(InlineFunction, ReplacedOneEnds) {
  const auto first = std::make_shared<int>(1);
  const auto second = std::make_shared<int>(2);
  Sum sum = adding<8>(first);
  sum = adding<500>(second);
  EXPECT_EQ(first.use_count(), 1);
  EXPECT_EQ(sum(0), 2);
  sum.emplace(adding<8>(first));
  EXPECT_EQ(second.use_count(), 1);
  EXPECT_EQ(sum(0), 1);
}

TEST(InlineFunction, EndsWhatItHoldsWhenItGoes) {
  const auto witness = std::make_shared<int>(1);
  { const Sum sum = adding<500>(witness); }
  EXPECT_EQ(witness.use_count(), 1);
}

TEST(InlineFunction, TakesAndReturnsWhatIsMovedAlone) {
  InlineFunction<std::unique_ptr<int>(std::unique_ptr<int>), 16> next =
      [step = std::make_unique<int>(1)](std::unique_ptr<int> value) {
        *value += *step;
        return value;
      };
  EXPECT_EQ(*next(std::make_unique<int>(6)), 7);
}

TEST(InlineFunction, HoldsNothingAtFirst) { EXPECT_FALSE(Sum()); }

}  // namespace
}  // namespace tandem
