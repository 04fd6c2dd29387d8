// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "common/base/units.h"

namespace tandem {
namespace {

TEST(ParseNumber, AWholeText_IsItsNumber) {
  EXPECT_EQ(parse_number<int>("-12"), -12);
  EXPECT_EQ(parse_number<double>("2.5e3"), 2500);
}

TEST(ParseNumber, MoreOrOtherThanANumber_IsNone) {
  for (const char* text : {"", " 1", "1 ", "1x", "x", "0x10", "+1"}) {
    EXPECT_EQ(parse_number<int>(text), std::nullopt) << "'" << text << "'";
  }
  EXPECT_EQ(parse_number<int>("1.5"), std::nullopt);
}

TEST(ParseNumber, WhatTheTypeDoesNotHold_IsNone) {
  EXPECT_EQ(parse_number<int>("2147483648"), std::nullopt);
  EXPECT_EQ(parse_number<unsigned>("-1"), std::nullopt);
}

}  // namespace
}  // namespace tandem
