// SPDX-License-Identifier: Apache-2.0
#include "common/base/text.h"

#include <gtest/gtest.h>

#include <array>

#include "common/base/known_names.h"

namespace tandem {
namespace {

TEST(Text, IsSplit_IntoEmptyPartsToo) {
  using Parts = std::vector<std::string_view>;
  EXPECT_EQ(split("1,0", ','), (Parts{"1", "0"}));
  EXPECT_EQ(split("alone", ','), Parts{"alone"});
  EXPECT_EQ(split(",a,", ','), (Parts{"", "a", ""}));
  EXPECT_EQ(split("", ','), Parts{""});
}

TEST(Text, IsTrimmed_AtBothEnds) {
  EXPECT_EQ(trimmed(" \ta b\r"), "a b");
  EXPECT_EQ(trimmed(std::string_view("a\0", 2)), "a");
  EXPECT_EQ(trimmed(" "), "");
}

TEST(Text, Counts) {
  EXPECT_EQ(count_text(1, "launch"), "1 launch");
  EXPECT_EQ(count_text(2, "launch"), "2 launches");
  EXPECT_EQ(count_text(3, "core"), "3 cores");
  EXPECT_EQ(count_text(0, "core"), "0 cores");
}

TEST(Text, WordOfAShell_IsQuoted_WhereTheShellNeedsQuotes) {
  EXPECT_EQ(shell_word("--model=gpt2-124m:64"), "--model=gpt2-124m:64");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("$(true)"), "'$(true)'");
  EXPECT_EQ(shell_word("it's"), R"('it'\''s')");
  EXPECT_EQ(shell_word(""), "''");
}

TEST(Text, FieldOfCsv_HasItsQuotesDoubled) {
  EXPECT_EQ(csv_quoted(R"(a "b", c)"), R"("a ""b"", c")");
}

TEST(Text, WithinMarkup_HasItsMarkupEscaped) {
  EXPECT_EQ(markup_escaped(R"(<a b="c" d='e'>&)"), "&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;");
}

TEST(KnownNames, NearestIsNamed_WhereItIsNear) {
  constexpr std::array<std::string_view, 3> kNames{"flops", "seconds", "operations"};
  EXPECT_EQ(did_you_mean("flop", kNames), " (did you mean 'flops'?)");
  EXPECT_EQ(did_you_mean("secods", kNames), " (did you mean 'seconds'?)");
  EXPECT_EQ(did_you_mean("falops", kNames), " (did you mean 'flops'?)");
  EXPECT_EQ(did_you_mean("seocnds", kNames), " (did you mean 'seconds'?)");
  EXPECT_EQ(did_you_mean("operation", kNames), " (did you mean 'operations'?)");
  EXPECT_EQ(did_you_mean("oper", kNames), " (did you mean 'operations'?)");
  EXPECT_EQ(did_you_mean("frobnicate", kNames), "");
  EXPECT_EQ(did_you_mean("quux", kNames), "");
  EXPECT_EQ(did_you_mean(std::string(1000, 'x'), kNames), "");
}

}  // namespace
}  // namespace tandem
