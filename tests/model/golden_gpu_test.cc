// SPDX-License-Identifier: Apache-2.0
//
// As golden_test, on a GPU through the module as programs load it. Skipped, with the reason, where
// there is none; on stand-ins for all that needs one it runs as golden_on_stand_in.
#include "common/runtime/registry.h"
#include "tests/model/golden_run.h"

namespace tandem::test {
namespace {

class GoldenGpuTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    PlatformOptions wanted;
    wanted.devices = 1;
    const BackendFacts facts = probe_backends(BackendChoice::kCuda, wanted);
    if (facts.cuda.state != CudaState::kUsable) GTEST_SKIP() << facts.cuda.detail;
    platform_ = open_platform(Backend::kCuda, wanted);
    const bool is_of_images = make_model(golden_.model)->needs_images();
    const std::string lack = is_of_images ? lack_of_images(Backend::kCuda) : "";
    if (!lack.empty()) GTEST_SKIP() << lack;
  }

  const Golden golden_ = read_golden(GetParam());
  std::unique_ptr<Platform> platform_;
};

INSTANTIATE_TEST_SUITE_P(Models, GoldenGpuTest,
                         ::testing::Values("mlp-3x16", "gpt2-nano-24", "resnet-tiny"),
                         test_name_of_golden);

TEST_P(GoldenGpuTest, OutputLossAndGradients_AreTorchs) {
  for (const bool channels_last : {false, true}) {
    GoldenRun run(platform_->device(0), golden_,
                  {.fp32_factors = true, .channels_last = channels_last});
    expect_golden_gradients(run, golden_);
  }
}

TEST_P(GoldenGpuTest, WeightsAndBuffersAfterSteps_AreTorchs_OfEachOptimizer) {
  for (const auto& [name, kind] : kGoldenOptimizers) {
    GoldenRun run(platform_->device(0), golden_, {.fp32_factors = true});
    expect_golden_steps(run, golden_, name, {.kind = kind});
  }
}

}  // namespace
}  // namespace tandem::test
