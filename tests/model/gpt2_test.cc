// SPDX-License-Identifier: Apache-2.0
#include "common/model/gpt2.h"

#include <algorithm>
#include <numeric>

#include "common/kernels/host_support.h"
#include "common/model/tensor_values.h"
#include "tests/model/gpt2_run.h"

namespace tandem::test {
namespace {

std::vector<std::string> parameter_names(const ParameterLayout& layout) {
  std::vector<std::string> names;
  for (const ParameterLayout::Segment& segment : layout.segments()) names.push_back(segment.name);
  return names;
}

TEST(Gpt2Test, Parameters_AreThoseOfTorchsModule_InItsOrder) {
  const Gpt2 model("one", {1, 2, 8, 11, 5, 3});
  const std::string h = "transformer.h.0.";
  EXPECT_EQ(
      parameter_names(model.layout()),
      (std::vector<std::string>{
          "transformer.wte.weight", "transformer.wpe.weight", h + "ln_1.weight", h + "ln_1.bias",
          h + "attn.c_attn.weight", h + "attn.c_attn.bias", h + "attn.c_proj.weight",
          h + "attn.c_proj.bias", h + "ln_2.weight", h + "ln_2.bias", h + "mlp.c_fc.weight",
          h + "mlp.c_fc.bias", h + "mlp.c_proj.weight", h + "mlp.c_proj.bias",
          "transformer.ln_f.weight", "transformer.ln_f.bias"}));
  const auto shape = [&](int segment) {
    return model.layout().segments()[static_cast<std::size_t>(segment)].shape;
  };
  EXPECT_EQ(shape(0), (Shape{11, 8}));
  EXPECT_EQ(shape(1), (Shape{5, 8}));
  EXPECT_EQ(shape(4), (Shape{24, 8}));
  EXPECT_EQ(shape(6), (Shape{8, 8}));
  EXPECT_EQ(shape(10), (Shape{32, 8}));
  EXPECT_EQ(shape(12), (Shape{8, 32}));
  EXPECT_EQ(shape(13), (Shape{8}));
}

TEST(Gpt2Test, OfSixTokens_TakesIdsAndIsTrainedForClasses) {
  const Gpt2 model = nano(6);
  EXPECT_EQ(model.module_count(), 7 + 2 * 10);
  EXPECT_EQ(model.buffers().size(), 0);
  EXPECT_EQ(model.input_width(), 6);
  EXPECT_EQ(model.input_classes(), 512);
  EXPECT_EQ(model.output_width(), 6 * 512);
  EXPECT_EQ(model.objective().kind, ObjectiveKind::kCrossEntropy);
  EXPECT_EQ(model.objective().target_width, 6);
  EXPECT_EQ(model.objective().classes, 512);
  // Forward once, backward twice: 12 width^2 per block and token, attention, head; 2 operations
  // per multiply-add.
  EXPECT_DOUBLE_EQ(model.flops_per_sample(),
                   3 * 2 * (2 * (6 * 12 * 64 * 64 + 2 * 6 * 6 * 64) + 6 * 64 * 512));
}

TEST(Gpt2Test, PositionsBeyondTheSequence_HaveNoGradient) {
  const Gpt2 model = nano(7);
  Gpt2Run run(model, 2);
  const std::vector<float> gradient = run.gradient(1);
  ASSERT_EQ(gradient.size(), 32U * 64U);
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    EXPECT_EQ(gradient[i] == 0, i >= 7 * 64) << i;
  }
}

// As autograd finishes them; the table that is tied to the head waits for the embedding.
TEST(Gpt2Test, Gradients_AreReadyOnceEach_FromTheHeadToTheTables) {
  const Gpt2 model("one", {1, 2, 8, 11, 5, 3});
  EXPECT_EQ(Gpt2Run(model, 2).sink.order,
            (std::vector<int>{14, 15, 13, 12, 11, 10, 8, 9, 7, 6, 5, 4, 2, 3, 1, 0}));
  const Gpt2 two = nano(4);
  std::vector<int> order = Gpt2Run(two, 1).sink.order;
  std::sort(order.begin(), order.end());
  std::vector<int> each(two.layout().segments().size());
  std::iota(each.begin(), each.end(), 0);
  EXPECT_EQ(order, each);
}

// What backward leaves in buffers that forward uses, too, may not matter.
TEST(Gpt2Test, SecondStepOnTheSameBuffers_ComesToTheSameBits) {
  const Gpt2 model = nano(8);
  Gpt2Run run(model, 2);
  const std::vector<float> first = read_back<float>(run.device, run.gradients.flat);
  run.run();
  EXPECT_EQ(read_back<float>(run.device, run.gradients.flat), first);
}

double deviation(const std::vector<float>& values) {
  double squares = 0;
  for (const float value : values) squares += static_cast<double>(value) * value;
  return std::sqrt(squares / static_cast<double>(values.size()));
}

TEST(Gpt2Test, InitialWeights_HaveGpt2sDeviations) {
  const Gpt2 model = nano(8);
  Gpt2Run run(model, 1);
  for (const auto distribution : {Distribution::kUniform, Distribution::kSmallIntegers}) {
    run.replica.initialise(3, distribution);
    run.replica.stream().synchronize();
    for (std::size_t i = 0; i < model.layout().segments().size(); ++i) {
      const std::string& name = model.layout().segments()[i].name;
      const auto values = read_back<float>(run.device, run.replica.parameters().tensors[i]);
      const bool is_gain = name.find(".ln_") != std::string::npos && name.ends_with("weight");
      if (name.ends_with("bias") || is_gain) {
        EXPECT_EQ(values, std::vector<float>(values.size(), is_gain ? 1.0F : 0.0F)) << name;
        continue;
      }
      const bool adds = name.find("c_proj") != std::string::npos;
      EXPECT_NEAR(deviation(values), adds ? 0.02 / std::sqrt(4) : 0.02, 0.001) << name;
    }
  }
}

class Gpt2InBf16 : public testing::Test {
 public:
  void SetUp() override {
    if (host_bf16_support() == Bf16Support::kNone) {
      GTEST_SKIP() << "the library has no bf16 products for this CPU";
    }
  }
};

TEST_F(Gpt2InBf16, LossAndGradients_AreNearThoseOfFp32_AndNotTheSame) {
  const Gpt2 model = nano(16);
  Gpt2Run wide(model, 2);
  Gpt2Run narrow(model, 2, Precision::kBf16);
  EXPECT_NE(narrow.found_loss(), wide.found_loss());
  EXPECT_NEAR(narrow.found_loss(), wide.found_loss(), 0.02);
  for (std::size_t i = 0; i < model.layout().segments().size(); ++i) {
    EXPECT_LT(relative_distance({wide.gradient(i)}, {narrow.gradient(i)}), 0.05) << i;
  }
}

// 509 and 511 are the same number in bf16: ids that were cast would give the same gradient.
TEST_F(Gpt2InBf16, Ids_AreNotRounded) {
  const Gpt2 model = nano(1);
  Gpt2Run run(model, 1, Precision::kBf16);
  put(run.device, run.input->as<float>(), {509});
  run.run();
  const std::vector<float> first = read_back<float>(run.device, run.gradients.flat);
  put(run.device, run.input->as<float>(), {511});
  run.run();
  EXPECT_NE(read_back<float>(run.device, run.gradients.flat), first);
}

}  // namespace
}  // namespace tandem::test
