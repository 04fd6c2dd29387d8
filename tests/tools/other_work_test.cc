// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/run/other_work.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/fake_root.h"

namespace tandem::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr OtherWork kBuild{.busy_cpus = 1.75, .unwritten = mib(10)};
constexpr OtherWork kWriting{.busy_cpus = 0, .unwritten = mib(300)};

std::vector<std::string> lines_of(Nanoseconds most, std::vector<OtherWork> found,
                                  bool is_interrupted = false) {
  std::vector<std::string> lines;
  std::size_t next = 0;
  wait_for_other_work(
      most, [&] { return next < found.size() ? found[next++] : found.back(); },
      [&] { return is_interrupted; }, [&](const std::string& line) { lines.push_back(line); });
  return lines;
}

TEST(OtherWork, WithoutAny_NothingIsSaid) {
  EXPECT_THAT(lines_of(std::chrono::seconds(30), {OtherWork{}}), IsEmpty());
}

TEST(OtherWork, IsWaitedForUntilItEnds) {
  EXPECT_THAT(lines_of(std::chrono::seconds(30), {kBuild, kWriting, OtherWork{}}),
              ElementsAre("waiting up to 30 s for other work to end: 1.8 CPUs are busy, 10.0 MiB "
                          "wait to be written"));
}

TEST(OtherWork, ThatGoesOn_IsSaid) {
  const auto lines = lines_of(std::chrono::milliseconds(1), {kWriting});
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[1],
            "measuring beside other work: 0.0 CPUs are busy, 300.0 MiB wait to be written");
}

TEST(OtherWork, AnInterruptEndsTheWait) {
  EXPECT_EQ(lines_of(std::chrono::hours(1), {kBuild}, true).size(), 1U);
}

TEST(OtherWork, IsReadFromTheSystemsFiles) {
  test::FakeRoot node;
  node.write("proc/stat", "cpu 9 9 9 9 9 9 9 9");
  node.write("proc/meminfo", "MemTotal: 999 kB\nDirty: 1024 kB\nWriteback: 1024 kB");
  const OtherWork found = watch_other_work(node.root(), Nanoseconds{0});
  EXPECT_EQ(found.unwritten, mib(2));
  EXPECT_EQ(found.busy_cpus, 0);  // the counters stand still
  EXPECT_EQ(watch_other_work(node.root() / "absent", Nanoseconds{0}).unwritten, Bytes{0});
}

}  // namespace
}  // namespace tandem::cli
