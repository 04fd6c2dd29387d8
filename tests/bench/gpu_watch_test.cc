// SPDX-License-Identifier: Apache-2.0
#include "bench/gpu_watch.h"

#include <gtest/gtest.h>

#include "common/comm/thread_bootstrap.h"
#include "common/results/record_text.h"
#include "tests/support/fake_nvml.h"

namespace tandem::bench {
namespace {

using nvml::testing::fake;
using nvml::testing::kAddress;

class GpuWatchTest : public ::testing::Test {
 protected:
  void SetUp() override { fake = {}; }
  [[nodiscard]] GpuWatch watch_of(int device, const std::string& hardware) const {
    return {{{.device = device, .hardware = hardware}}, nvml::Nvml::open(api_)};
  }
  const nvml::Api api_ = nvml::testing::fake_api();
  const std::string hardware_ = std::string(kAddress) + " GPU-5f0e";
};

TEST_F(GpuWatchTest, ReadsBeforeAndAfter) {
  GpuWatch watch = watch_of(3, hardware_);
  watch.before_samples();
  fake.sm_mhz = 1410;
  fake.limits = 0x4;
  watch.after_samples();
  ASSERT_EQ(watch.records().size(), 1U);
  const results::GpuRecord& record = watch.records().front();
  EXPECT_EQ(record.device, 3);
  EXPECT_EQ(record.hardware, hardware_);
  EXPECT_EQ(record.before.sm_mhz, 1980);
  EXPECT_TRUE(record.before.slowed_by.empty());
  EXPECT_EQ(record.after.sm_mhz, 1410);
  EXPECT_EQ(record.after.slowed_by, std::vector<std::string>{"power cap"});
}

TEST_F(GpuWatchTest, AGpuThatNvmlDoesNotKnow_HasNoRecord) {
  GpuWatch watch = watch_of(0, "00000000:86:00.0 GPU-1");
  watch.before_samples();
  watch.after_samples();
  EXPECT_TRUE(watch.records().empty());
}

TEST_F(GpuWatchTest, WithoutNvml_ThereAreNoRecords) {
  GpuWatch watch({{.device = 0, .hardware = hardware_}}, nullptr);
  watch.before_samples();
  watch.after_samples();
  EXPECT_TRUE(watch.records().empty());
}

// Every rank ends with all records in the order of devices, whichever rank told of them.
TEST_F(GpuWatchTest, Gather_BringsAllRanksTogether) {
  run_ranks_as_threads(2, [&](Bootstrap& bootstrap) {
    GpuWatch watch = watch_of(1 - bootstrap.rank(), hardware_);
    watch.before_samples();
    watch.after_samples();
    const std::vector<results::GpuRecord> all = watch.gather(bootstrap);
    ASSERT_EQ(all.size(), 2U);
    for (int device = 0; device < 2; ++device) {
      results::GpuRecord expected = watch.records().front();
      expected.device = device;
      EXPECT_EQ(results::to_json_line(all[static_cast<std::size_t>(device)]),
                results::to_json_line(expected));
    }
  });
}

}  // namespace
}  // namespace tandem::bench
