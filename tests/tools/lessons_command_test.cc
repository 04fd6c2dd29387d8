// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/lessons_command.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

namespace tandem::cli {
namespace {

std::string lessons_line(const LessonsOptions& options, const LessonsMachine& machine) {
  return fmt::format("{}", fmt::join(lessons_command("/bin/lessons", options, machine), " "));
}

TEST(LessonsCommand, TwoCores_RunTwoRanks) {
  EXPECT_EQ(lessons_line({.names = {"a", "b"}}, {2, true}),
            "mpirun -np 2 --bind-to none --oversubscribe --mca btl vader,self /bin/lessons a b");
}

TEST(LessonsCommand, OneCoreOrNoMpirun_RunsOneProcess) {
  EXPECT_EQ(lessons_line({}, {1, true}), "/bin/lessons");
  EXPECT_EQ(lessons_line({}, {8, false}), "/bin/lessons");
}

TEST(LessonsCommand, List_StartsNoRanks) {
  EXPECT_EQ(lessons_line({.list = true}, {2, true}), "/bin/lessons --list");
}

}  // namespace
}  // namespace tandem::cli
