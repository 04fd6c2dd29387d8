// SPDX-License-Identifier: Apache-2.0
#include "common/options/table.h"

#include <gtest/gtest.h>

#include <set>

#include "common/base/text.h"
#include "common/options/values.h"
#include "tests/support/errors.h"

namespace tandem::options {
namespace {

TEST(Table, EveryOption_HasANameOfItsOwn_HelpAndAnExample) {
  std::set<std::string_view> names;
  for (const Option& option : kOptions) {
    EXPECT_TRUE(names.insert(option.name).second) << option.name;
    EXPECT_FALSE(option.help.empty()) << option.name;
    EXPECT_FALSE(option.value.takes.empty()) << option.name;
    EXPECT_FALSE(option.example.empty()) << option.name;
  }
}

TEST(Table, EveryDefaultAndExample_HasTheFormOfItsOption) {
  for (const Option& option : kOptions) {
    EXPECT_NO_THROW(check_form(option, std::string(option.example))) << option.name;
    if (option.value.usual.empty()) continue;
    EXPECT_NO_THROW(check_form(option, std::string(option.value.usual))) << option.name;
    EXPECT_NE(option.example, option.value.usual) << option.name;
  }
}

// A refusal beyond the limits says what to use.
TEST(Table, EveryLimit_IsSaidInItsRefusal) {
  for (const Option& option : kOptions) {
    if (option.value.form != Form::kInteger || option.value.limits.least < -1) continue;
    const std::string beyond = std::to_string(option.value.limits.least - 1);
    const Error error = test::error_of([&] { check_form(option, beyond); });
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_TRUE(test::mentions(error, "--" + std::string(option.name) + "=" + beyond + ": use "))
        << error.what();
  }
}

TEST(Table, EveryRunOfAnOption_IsARun) {
  for (const Option& option : kOptions) {
    if (option.runs.empty()) continue;
    for (const std::string_view run : split(option.runs, '|')) {
      EXPECT_NO_THROW(check_form("run", std::string(run))) << option.name;
    }
  }
}

TEST(Table, AForeignChoice_IsRefusedWithTheNearest) {
  const Error error = test::error_of([] { check_form("grads", "veiws"); });
  EXPECT_STREQ(error.what(),
               "--grads: 'veiws' is not known: use one of copy, views (did you mean 'views'?)");
}

TEST(Table, AForeignNumberFormat_IsRefusedWithTheNearestInBits) {
  const auto hint_at = [](const char* format) {
    const std::string said = test::error_of([&] { check_form("precision", format); }).what();
    return said.substr(said.rfind(" (did"));
  };
  EXPECT_EQ(hint_at("fp8"), " (did you mean 'bf16'?)");
  EXPECT_EQ(hint_at("fp64"), " (did you mean 'fp32'?)");
  EXPECT_EQ(hint_at("tf23"), " (did you mean 'tf32'?)");
}

TEST(Table, ChoicesOfAStrategy_AreThoseThatItTakes) {
  EXPECT_EQ(choices_of("input").size(), 4);
  EXPECT_EQ(choices_of("input", "dp-allreduce").back(), "scatter");
  EXPECT_EQ(choices_of("input", "dp").back(), "device");
}

TEST(Strategies, StandInTheOrderOfTheirKinds) {
  for (const StrategyTraits& traits : kStrategies) {
    EXPECT_EQ(&traits_of(traits.kind), &traits);
    EXPECT_EQ(find_strategy(traits.name), &traits);
  }
  EXPECT_EQ(find_strategy("fsdp"), nullptr);  // PyTorch's alone
  EXPECT_EQ(kStrategyNames, "single|independent|dp|dp-allreduce|ddp-replicate|ddp");
}

TEST(Values, Defaults_MayFollowFromOtherValues) {
  Values values;
  EXPECT_EQ(values.text("launch"), "threads");
  values.give("strategy", "ddp");
  EXPECT_EQ(values.text("launch"), "processes");
  values.give("devices", "3");
  EXPECT_EQ(values.text("device-ids"), "0,1,2");
  values.give("device-ids", "2,1,0");
  EXPECT_EQ(values.text("output-device"), "2");
}

TEST(Values, ACellsName_HoldsWhatDiffersFromTheDefaults) {
  Values values;
  values.give("strategy", "dp");
  values.give("devices", "2");
  values.give("device-ids", "0,1");   // all in order
  values.give("output-device", "0");  // the root
  values.give("accumulate", "01");    // one
  values.give("bucket-mb", "25");     // has no default of its own: torch's cap for the first bucket
  values.give("check-order", "true");
  values.give("record", "r.json");  // no part of a name
  const std::map<std::string, std::string> expected{{"bucket-mb", "25"}, {"check-order", "on"}};
  EXPECT_EQ(values.named(), expected);
}

TEST(Values, WhatNobodyRead_IsKnown) {
  const Values values;
  EXPECT_EQ(values.unread().size(), kOptions.size());
  static_cast<void>(values.text("grads"));
  EXPECT_EQ(values.unread().size(), kOptions.size() - 1);
}

TEST(Values, SizeThatIsImplied_IsRead_AndIsPartOfANameOnlyWhereItIsGiven) {
  Values values;
  EXPECT_EQ(values.mebibytes("bucket-mb"), mib(25));
  EXPECT_FALSE(values.is_set("bucket-mb"));
  values.give("bucket-mb", "25");
  EXPECT_TRUE(values.is_set("bucket-mb"));
}

}  // namespace
}  // namespace tandem::options
