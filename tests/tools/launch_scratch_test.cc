// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/launch/launch_scratch.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "tests/support/scratch_folder.h"

namespace tandem::cli {
namespace {

namespace fs = std::filesystem;
using Kind = LaunchScratch::Kind;

std::vector<fs::path> folders_in(const LaunchScratch& scratch) {
  std::vector<fs::path> folders;
  for (const std::string& variable : scratch.environment()) {
    folders.emplace_back(variable.substr(variable.find('=') + 1));
  }
  return folders;
}

// The number of a process that has been.
pid_t dead_process() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  return child;
}

TEST(LaunchScratch, Folders_GoWithAllThatIsInThem) {
  std::vector<fs::path> folders;
  {
    const LaunchScratch scratch(Kind::kOneNode);
    folders = folders_in(scratch);
    ASSERT_EQ(folders.size(), 2U);
    for (const fs::path& folder : folders) {
      fs::create_directories(folder / "session");
      std::ofstream(folder / "session/socket") << "left behind";
      EXPECT_TRUE(fs::is_directory(folder));
    }
  }
  for (const fs::path& folder : folders) EXPECT_FALSE(fs::exists(folder)) << folder;
}

TEST(LaunchScratch, SegmentsOfSeveralNodes_StayWhereEachNodeHasAFolder) {
  const LaunchScratch scratch(Kind::kSeveralNodes);
  ASSERT_EQ(scratch.environment().size(), 1U);
  EXPECT_TRUE(scratch.environment()[0].starts_with("TMPDIR="));
}

TEST(LaunchScratch, SegmentOfARankThatWasKilled_GoesWithIt) {
  fs::path segment;
  {
    const LaunchScratch scratch(Kind::kOneNode);
    segment = "/dev/shm/tandem." + std::to_string(dead_process()) + ".0.123";
    std::ofstream(segment) << "left behind";
    ASSERT_TRUE(fs::exists(segment));
  }
  EXPECT_FALSE(fs::exists(segment));
}

TEST(WhatTheDeadLeft, Goes_AndNothingElse) {
  const test::ScratchFolder folder;
  const auto make = [&](const std::string& name) {
    std::ofstream(folder / name.c_str()) << "content";
    return folder / name.c_str();
  };
  const fs::path dead = make("tandem." + std::to_string(dead_process()) + ".0.123");
  const fs::path living = make("tandem." + std::to_string(::getpid()) + ".0.123");
  const fs::path foreign = make("vader_segment.vm.0.1");
  const fs::path nameless = make("tandem.notes.txt");
  remove_what_the_dead_left(folder / "");
  EXPECT_FALSE(fs::exists(dead));
  EXPECT_TRUE(fs::exists(living) && fs::exists(foreign) && fs::exists(nameless));
}

}  // namespace
}  // namespace tandem::cli
