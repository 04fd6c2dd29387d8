// SPDX-License-Identifier: Apache-2.0
#include "reports/gpu_notes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/reports/synthetic.h"

namespace tandem::reports {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Two launches of ddp; `change` is made to the GPU of the first.
template <class Change>
results::Document two_launches(Change&& change) {
  Synthetic synthetic;
  synthetic.add("ddp", 2, {0.010, 0.011});
  for (results::LaunchRecord& launch : synthetic.document().launches) {
    results::GpuRecord gpu;
    gpu.processes = 1;
    gpu.after.sm_mhz = 1980;
    launch.gpus = {gpu};
  }
  change(synthetic.document().launches.front());
  return synthetic.document();
}

TEST(GpuNotes, GpusWithNothingWrong_NeedNoLine) {
  EXPECT_THAT(gpu_notes(two_launches([](auto&) {})), IsEmpty());
  EXPECT_THAT(gpu_notes(Synthetic().add("dp", 2, {0.01}).document()), IsEmpty());
}

TEST(GpuNotes, ASlowdown_IsNamedWithItsLaunchesAndClocks) {
  const results::Document document = two_launches([](results::LaunchRecord& launch) {
    launch.gpus[0].after.sm_mhz = 1410;
    launch.gpus[0].after.slowed_by = {"power cap"};
  });
  EXPECT_THAT(gpu_notes(document),
              ElementsAre(HasSubstr("power cap held a GPU's clocks down in 1 launch; launches "
                                    "ended at 1410 to 1980 MHz")));
}

TEST(GpuNotes, AFailedLaunch_SaysNothingOfFigures) {
  const results::Document document = two_launches([](results::LaunchRecord& launch) {
    launch.status = results::Status::kFailed;
    launch.gpus[0].after.slowed_by = {"power cap"};
  });
  EXPECT_THAT(gpu_notes(document), IsEmpty());
}

TEST(GpuNotes, OtherProcesses_AreToldOfUnlessDevicesShareOnPurpose) {
  const auto busy = [](results::LaunchRecord& launch) { launch.gpus[0].processes = 3; };
  EXPECT_THAT(gpu_notes(two_launches(busy)), ElementsAre(HasSubstr("shared GPUs")));
  EXPECT_THAT(gpu_notes(two_launches([&](results::LaunchRecord& launch) {
                busy(launch);
                launch.oversubscribed = true;
              })),
              IsEmpty());
}

TEST(GpuNotes, AnInstance_IsNoWholeGpu) {
  EXPECT_THAT(gpu_notes(two_launches([](auto& launch) { launch.gpus[0].mig = true; })),
              ElementsAre(HasSubstr("MIG")));
}

}  // namespace
}  // namespace tandem::reports
