// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/run/link_measurement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/support/scratch_folder.h"

namespace tandem::cli {
namespace {

namespace fs = std::filesystem;

// A copy_bench that does as `script` says, in a folder of its own.
class FakeCopies {
 public:
  explicit FakeCopies(const std::string& script) {
    std::ofstream(request().copy_bench) << "#!/bin/sh\nout=${7#*=}\n" << script << "\n";
    fs::permissions(request().copy_bench, fs::perms::owner_all);
  }

  [[nodiscard]] LinkMeasurement request() const {
    return {.copy_bench = folder_ / "copy_bench",
            .logs = folder_.path(),
            .backend = "host",
            .devices = 2};
  }
  [[nodiscard]] results::LinkMatrix measured() const {
    const Interrupts interrupts;
    return measure_links(request(), interrupts).value();
  }
  [[nodiscard]] bool left_figures() const { return fs::exists(folder_ / "links.json"); }

 private:
  test::ScratchFolder folder_;
};

TEST(LinkMeasurement, FiguresOfBothSizes_AreOneLink) {
  const FakeCopies fake(R"(cat >"$out" <<JSON
{"benchmarks": [
 {"name": "copy/from:host:0/to:host:1/bytes:4", "GBps": 0.001, "p50_us": 3.5},
 {"name": "copy/from:host:0/to:host:1/bytes:16777216", "GBps": 10.5, "p50_us": 1600},
 {"name": "copy/from:host:0/to:pinned/bytes:16777216", "error_message": "skipped"}]}
JSON)");
  const results::LinkMatrix matrix = fake.measured();
  EXPECT_EQ(matrix.reason, "");
  EXPECT_EQ(matrix.devices, 2);
  EXPECT_EQ(matrix.copy_bytes, 16 << 20);
  const std::vector<results::Link> links{
      {.from = "host:0", .to = "host:1", .gigabytes_per_second = 10.5, .latency_us = 3.5}};
  EXPECT_EQ(matrix.links, links);
  EXPECT_FALSE(fake.left_figures());
}

TEST(LinkMeasurement, WhateverGoesWrong_IsTheReason) {
  EXPECT_EQ(FakeCopies("echo 'copy_bench: no such back end' >&2; exit 2").measured().reason,
            "copy_bench: no such back end");
  EXPECT_NE(FakeCopies("kill -SEGV $$").measured().reason.find("ended by SIGSEGV"),
            std::string::npos);
  EXPECT_NE(FakeCopies("exit 0").measured().reason, "");
  EXPECT_NE(FakeCopies("echo '[' >\"$out\"").measured().reason.find("none of Google"),
            std::string::npos);
  EXPECT_EQ(FakeCopies("echo '{\"benchmarks\": []}' >\"$out\"").measured().reason,
            "copy_bench measured no copy");
  LinkMeasurement absent = FakeCopies("exit 0").request();
  absent.logs = fs::temp_directory_path();
  const Interrupts interrupts;
  EXPECT_NE(measure_links(absent, interrupts)->reason.find("cannot be started"), std::string::npos);
}

TEST(LinkMeasurement, OfManyDevices_TakesTheFirstEight) {
  LinkMeasurement request{.copy_bench = "copy_bench", .backend = "host", .devices = 64};
  const std::vector<std::string> command = link_command(request, "out");
  EXPECT_NE(std::ranges::find(command, "--devices=8"), command.end());
}

}  // namespace
}  // namespace tandem::cli
