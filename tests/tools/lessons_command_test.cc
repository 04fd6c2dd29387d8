// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/lessons_command.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

namespace tandem::cli {
namespace {

std::string command_of(const LessonsOptions& options, const LessonsMachine& machine) {
  return fmt::format("{}", fmt::join(lessons_command("/bin/lessons", options, machine), " "));
}

TEST(LessonsCommand, TwoCores_RunTwoRanks) {
  EXPECT_EQ(command_of({.names = {"a", "b"}}, {2, true}),
            "mpirun -np 2 --bind-to none --oversubscribe --mca btl vader,self /bin/lessons a b");
}

TEST(LessonsCommand, OneCoreOrNoMpirun_RunsOneProcess) {
  EXPECT_EQ(command_of({}, {1, true}), "/bin/lessons");
  EXPECT_EQ(command_of({}, {8, false}), "/bin/lessons");
}

TEST(LessonsCommand, List_StartsNoRanks) {
  EXPECT_EQ(command_of({.list = true}, {2, true}), "/bin/lessons --list");
}

}  // namespace
}  // namespace tandem::cli
