// SPDX-License-Identifier: Apache-2.0
//
// As golden_test, on a GPU through the module as programs load it. Skipped, with the reason, where
// there is none; on stand-ins for all that needs one it runs as golden_on_stand_in.
#include "common/runtime/registry.h"
#include "tests/model/golden_run.h"
#include "tests/model/gpt2_run.h"

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

double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double largest = 0;
  double apart = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(double{a[i]}));
    apart = std::max(apart, std::abs(double{a[i]} - b[i]));
  }
  return apart / largest;
}

// In bf16 rows of logits are padded on GPUs: here to 512.
TEST(Gpt2GpuTest, OfAnOddVocabulary_IsInBf16NearFp32) {
  PlatformOptions wanted;
  wanted.devices = 1;
  const BackendFacts facts = probe_backends(BackendChoice::kCuda, wanted);
  if (facts.cuda.state != CudaState::kUsable) GTEST_SKIP() << facts.cuda.detail;
  const Gpt2 model("odd", {2, 2, 64, 505, 32, 24});
  auto wide =
      std::make_unique<Gpt2Run>(model, 3, Precision::kFp32, open_platform(Backend::kCuda, wanted));
  const double loss = wide->found_loss();
  std::vector<std::vector<float>> gradients;
  const std::size_t segments = model.layout().segments().size();
  for (std::size_t i = 0; i < segments; ++i) gradients.push_back(wide->gradient(i));
  wide.reset();
  Gpt2Run run(model, 3, Precision::kBf16, open_platform(Backend::kCuda, wanted));
  EXPECT_EQ(run.replica.output_padding(), 7);
  EXPECT_NEAR(run.found_loss(), loss, 0.01 * loss);
  for (std::size_t i = 0; i < segments; ++i) {
    EXPECT_LT(distance(gradients[i], run.gradient(i)), 0.05) << i;
  }
}

}  // namespace
}  // namespace tandem::test
