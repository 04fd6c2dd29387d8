// SPDX-License-Identifier: Apache-2.0
#include "common/base/system_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fake_root.h"

namespace tandem {
namespace {

using test::FakeRoot;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(CpusOf, AListOfRanges) {
  EXPECT_THAT(cpus_of("0-2,8"), ElementsAre(0, 1, 2, 8));
  EXPECT_THAT(cpus_of(""), IsEmpty());
  EXPECT_THAT(cpus_of("none"), IsEmpty());
}

TEST(TextBehind, AKeyIsTheRestOfItsLine) {
  FakeRoot node;
  node.write("status", "Name:\ta b\nno colon\nCpus_allowed_list:\t0-1\nmodel name\t: A: B");
  const auto status = node.root() / "status";
  EXPECT_EQ(text_behind(status, "Cpus_allowed_list"), "0-1");
  EXPECT_EQ(text_behind(status, "model name"), "A: B");
  EXPECT_EQ(text_behind(status, "Name"), "a b");
  EXPECT_EQ(text_behind(status, "no colon"), "");
  EXPECT_EQ(text_behind(node.root() / "absent", "Name"), "");
}

TEST(ProcessorTimes, AreThoseOfTheNamedLine) {
  FakeRoot node;
  node.write("stat", "cpu  10 1 5 80 2 1 1 4 3 0\ncpu0 1 1 1 1 1 1 1 1 1 1\ncpu1 1 2 3");
  const auto times = processor_times(node.root() / "stat");
  ASSERT_TRUE(times.contains("cpu"));
  EXPECT_EQ(times.at("cpu").total, 104);
  EXPECT_EQ(times.at("cpu").busy, 16);  // without interrupts
  EXPECT_EQ(times.at("cpu").stolen, 4);
  EXPECT_EQ(times.at("cpu0").total, 8);
  EXPECT_FALSE(times.contains("cpu1"));  // too few columns
  EXPECT_TRUE(processor_times(node.root() / "absent").empty());
}

}  // namespace
}  // namespace tandem
