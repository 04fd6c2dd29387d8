// SPDX-License-Identifier: Apache-2.0
#include "common/model/resnet.h"

#include <algorithm>
#include <numeric>

#include "common/kernels/host_support.h"
#include "common/model/tensor_values.h"
#include "common/model/zoo.h"
#include "tests/model/resnet_run.h"

namespace tandem::test {
namespace {

std::vector<std::string> names_of(const ParameterLayout& layout) {
  std::vector<std::string> names;
  for (const ParameterLayout::Segment& segment : layout.segments()) names.push_back(segment.name);
  return names;
}

const ParameterLayout::Segment& segment_of(const ParameterLayout& layout, const std::string& name) {
  return *std::ranges::find(layout.segments(), name, &ParameterLayout::Segment::name);
}

TEST(ResNet50, IsTorchvisions) {
  const auto model = make_model("resnet50");
  EXPECT_EQ(model->layout().parameter_count(), 25'557'032);
  EXPECT_EQ(model->layout().size(), 161);
  EXPECT_EQ(model->buffers().size(), 3 * 53);
  EXPECT_EQ(model->module_count(), 151);
  EXPECT_EQ(model->input_width(), 224 * 224 * 3);
  EXPECT_EQ(model->input_classes(), 0);
  EXPECT_EQ(model->objective().kind, ObjectiveKind::kCrossEntropy);
  EXPECT_EQ(model->objective().classes, 1000);
  EXPECT_EQ(model->objective().target_width, 1);
  const ParameterLayout& layout = model->layout();
  EXPECT_EQ(segment_of(layout, "conv1.weight").shape, (Shape{64, 7, 7, 3}));
  EXPECT_EQ(segment_of(layout, "layer1.0.downsample.0.weight").shape, (Shape{256, 1, 1, 64}));
  EXPECT_EQ(segment_of(layout, "layer4.0.conv2.weight").shape, (Shape{512, 3, 3, 512}));
  EXPECT_EQ(segment_of(layout, "layer4.2.bn3.bias").shape, (Shape{2048}));
  EXPECT_EQ(segment_of(layout, "fc.weight").shape, (Shape{1000, 2048}));
}

// 4089184256 multiply-adds forward, 118013952 of them in the first convolution: 2 operations each.
TEST(ResNet50, Flops_AreThreeTimesForwardLessTheFirstInputsGradient) {
  EXPECT_DOUBLE_EQ(make_model("resnet50")->flops_per_sample(),
                   2 * (3 * 4'089'184'256.0 - 118'013'952.0));
}

TEST(ResNetTiny, ParametersAndBuffers_AreThoseOfTorchsModule_InItsOrder) {
  const auto model = make_model("resnet-tiny");
  const std::vector<std::string> names = names_of(model->layout());
  const std::vector<std::string> first{"conv1.weight",
                                       "bn1.weight",
                                       "bn1.bias",
                                       "layer1.0.conv1.weight",
                                       "layer1.0.bn1.weight",
                                       "layer1.0.bn1.bias",
                                       "layer1.0.conv2.weight",
                                       "layer1.0.bn2.weight",
                                       "layer1.0.bn2.bias",
                                       "layer1.0.conv3.weight",
                                       "layer1.0.bn3.weight",
                                       "layer1.0.bn3.bias",
                                       "layer1.0.downsample.0.weight"};
  EXPECT_TRUE(std::ranges::equal(first, std::vector(names.begin(), names.begin() + 13)));
  EXPECT_EQ(names.back(), "fc.bias");
  EXPECT_EQ(std::ranges::count(names, "layer1.1.downsample.0.weight"), 0);
  const std::vector<std::string> buffers = names_of(model->buffers());
  EXPECT_EQ(std::vector(buffers.begin(), buffers.begin() + 4),
            (std::vector<std::string>{"bn1.running_mean", "bn1.running_var",
                                      "bn1.num_batches_tracked", "layer1.0.bn1.running_mean"}));
}

// As autograd finishes them, which goes back through what forward did last: the head's bias first,
// of a block the downsampling before the rest.
TEST(ResNetTiny, Gradients_AreReadyOnceEach_FromTheHeadToTheStem) {
  const auto model = make_model("resnet-tiny");
  ResNetRun run(*model, 2);
  run.run();
  const std::vector<std::string> names = names_of(model->layout());
  std::vector<std::string> order;
  for (const int segment : run.sink.order)
    order.push_back(names[static_cast<std::size_t>(segment)]);
  const std::vector<std::string> first{"fc.bias",
                                       "fc.weight",
                                       "layer2.0.downsample.1.weight",
                                       "layer2.0.downsample.1.bias",
                                       "layer2.0.downsample.0.weight",
                                       "layer2.0.bn3.weight",
                                       "layer2.0.bn3.bias",
                                       "layer2.0.conv3.weight",
                                       "layer2.0.bn2.weight"};
  EXPECT_EQ(std::vector(order.begin(), order.begin() + 9), first);
  EXPECT_EQ(order.back(), "conv1.weight");
  std::vector<int> sorted = run.sink.order;
  std::ranges::sort(sorted);
  std::vector<int> each(names.size());
  std::iota(each.begin(), each.end(), 0);
  EXPECT_EQ(sorted, each);
}

TEST(ResNetTiny, SecondStepOnTheSameBuffers_ComesToTheSameBits) {
  const auto model = make_model("resnet-tiny");
  ResNetRun run(*model, 2);
  run.run();
  const std::vector<float> first = read_back<float>(run.device, run.gradients.flat);
  run.run();
  EXPECT_EQ(read_back<float>(run.device, run.gradients.flat), first);
}

TEST(ResNetTiny, Buffers_StartAsTorchs_AndAdvanceWithEachForward) {
  const auto model = make_model("resnet-tiny");
  ResNetRun run(*model, 2);
  EXPECT_EQ(run.buffer(0), std::vector<float>(8, 0));
  EXPECT_EQ(run.buffer(1), std::vector<float>(8, 1));
  EXPECT_EQ(run.buffer(2), std::vector<float>{0});
  run.run();
  const std::vector<float> mean = run.buffer(0);
  run.run();
  EXPECT_EQ(run.buffer(2), std::vector<float>{2});
  EXPECT_EQ(run.buffer(static_cast<std::size_t>(model->buffers().size()) - 1),
            std::vector<float>{2});
  for (std::size_t c = 0; c < mean.size(); ++c) {
    EXPECT_NEAR(run.buffer(0)[c], 1.9F * mean[c], 1e-6) << c;  // 0.9 of it and the same again
  }
}

TEST(ResNetTiny, InitialWeights_HaveTorchvisionsDeviations) {
  const auto model = make_model("resnet-tiny");
  ResNetRun run(*model, 1);
  const auto deviation = [&](const char* name) {
    const Values v = as_doubles(run.parameter(name));
    return std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0) /
                     static_cast<double>(v.size()));
  };
  EXPECT_NEAR(deviation("conv1.weight"), std::sqrt(2.0 / (8 * 49)), 0.004);
  EXPECT_NEAR(deviation("layer2.0.conv2.weight"), std::sqrt(2.0 / (8 * 9)), 0.01);
  EXPECT_NEAR(deviation("fc.weight"), 1 / std::sqrt(3 * 32.0), 0.01);
  EXPECT_EQ(run.parameter("layer1.0.bn2.weight"), std::vector<float>(4, 1));
  EXPECT_EQ(run.parameter("layer1.0.bn2.bias"), std::vector<float>(4, 0));
}

TEST(ResNetTiny, InBf16_ComesToNearlyTheSame) {
  if (host_bf16_support() == Bf16Support::kNone) {
    GTEST_SKIP() << "the library has no bf16 convolutions for this CPU";
  }
  const auto model = make_model("resnet-tiny");
  ResNetRun wide(*model, 8);
  ResNetRun narrow(*model, 8, Precision::kBf16);
  wide.run();
  narrow.run();
  EXPECT_LT(relative_distance({wide.output}, {narrow.output}), 1.0 / 16);
  const auto head = static_cast<std::size_t>(model->layout().size()) - 2;
  EXPECT_LT(relative_distance({wide.gradient(head)}, {narrow.gradient(head)}), 1.0 / 16);
  // On the way to the stem, ReLUs cut off here what they let pass there.
  EXPECT_LT(projection_error({wide.gradient(0)}, {narrow.gradient(0)}), 1.0 / 4);
  EXPECT_NE(wide.output, narrow.output);
}

}  // namespace
}  // namespace tandem::test
