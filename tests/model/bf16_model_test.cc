// SPDX-License-Identifier: Apache-2.0
//
// What a model in bf16 keeps of fp32: its parameters, its ends and the gradients of the parameters.
#include <gtest/gtest.h>

#include "common/kernels/host_support.h"
#include "common/model/linear_stack.h"
#include "common/model/passes.h"
#include "common/model/zoo.h"
#include "common/parallel/shards.h"
#include "tests/model/model_run.h"

namespace tandem::test {
namespace {

class Bf16Model : public testing::Test {
 public:
  void SetUp() override {
    if (host_bf16_support() == Bf16Support::kNone) {
      GTEST_SKIP() << "the library has no bf16 products for this CPU";
    }
  }
};

TrainingOptions untimed(Precision precision) {
  return {.precision = precision, .phases = {PhaseTiming::kOff}};
}

// Whole numbers up to 256 are whole in bf16 too: casts and copies may not change a bit.
TEST_F(Bf16Model, OnSmallIntegers_ComesToTheBitsOfFp32) {
  const Mlp mlp("exact", {4, 8, 4});
  const auto linear = make_linear();  // one layer; and below many rows per sample
  const auto padded = make_padded();
  for (const Model* model : {static_cast<const Model*>(&mlp), static_cast<const Model*>(&*linear),
                             static_cast<const Model*>(&*padded)}) {
    ModelRun wide(*model, 4, Precision::kFp32, Distribution::kSmallIntegers);
    ModelRun narrow(*model, 4, Precision::kBf16, Distribution::kSmallIntegers);
    EXPECT_EQ(narrow.output(), wide.output()) << model->name();
    EXPECT_EQ(read_back<float>(narrow.device, narrow.gradients.flat),
              read_back<float>(wide.device, wide.gradients.flat))
        << model->name();
  }
}

// 1 + 2^-9 is no number of bf16: forward multiplies by 1, and the parameter stays what it was.
TEST_F(Bf16Model, Forward_ComputesOnRoundedCopies_AndLeavesTheParameters) {
  const Mlp model("one", {1, 1});
  const auto platform = host_devices(1);
  Device& device = platform->device(0);
  Replica replica(device, model, 1, untimed(Precision::kBf16), OutputType::kFp32);
  put(device, replica.parameters().tensors[0], {1 + 0x1p-9F});
  const auto input = device.allocate(Bytes{4});
  put(device, input->as<float>(), {3});
  Interpreter interpreter(DispatchCosts{});
  replica.forward(input->as<float>(), interpreter);
  replica.stream().synchronize();
  const Span<float> output = replica.output().as<float>();
  EXPECT_EQ(read_back<float>(device, output), std::vector<float>{3});
  EXPECT_EQ(read_back<float>(device, replica.parameters().tensors[0]),
            std::vector<float>{1 + 0x1p-9F});
  // The next forward casts anew.
  put(device, replica.parameters().tensors[0], {2});
  replica.forward(input->as<float>(), interpreter);
  replica.stream().synchronize();
  EXPECT_EQ(read_back<float>(device, output), std::vector<float>{6});
}

// The sum of 2^-9 over 3 samples is no number of bf16 if it stands beside 1.
TEST_F(Bf16Model, GradientsOfParameters_AreNotRoundedToBf16) {
  const Mlp model("one", {1, 1});
  const auto platform = host_devices(1);
  Device& device = platform->device(0);
  Replica replica(device, model, 4, untimed(Precision::kBf16), OutputType::kFp32);
  const auto input = device.allocate(Bytes{16});
  const Arena gradients = make_arena(device, model.layout());
  put(device, input->as<float>(), {1, 1, 1, 1});
  put(device, replica.output_gradient().as<float>(), {1, 0x1p-9F, 0x1p-9F, 0x1p-9F});
  Interpreter interpreter(DispatchCosts{});
  IgnoreGradients nobody;
  replica.forward(input->as<float>(), interpreter);
  replica.backward(input->as<float>(), gradients.tensors, nobody);
  replica.stream().synchronize();
  for (const Span<float> gradient : gradients.tensors) {
    EXPECT_EQ(read_back<float>(device, gradient), std::vector<float>{1 + 3 * 0x1p-9F});
  }
}

// Under autocast the weight's gradient comes before the bias's, in fp32 behind it.
TEST_F(Bf16Model, Backward_AnnouncesGradientsInAutocastsOrder) {
  const Mlp model("order", {4, 8, 4});
  EXPECT_EQ(ModelRun(model, 2, Precision::kFp32).sink.order, (std::vector<int>{3, 2, 1, 0}));
  EXPECT_EQ(ModelRun(model, 2, Precision::kBf16).sink.order, (std::vector<int>{2, 3, 0, 1}));
}

TEST_F(Bf16Model, OnRealNumbers_StaysWithinTheFormatsReach) {
  const Mlp model("real", {16, 32, 32, 8});
  ModelRun wide(model, 8);
  ModelRun narrow(model, 8, Precision::kBf16);
  const auto distance = [](const Values& a, const Values& b) {
    double largest = 0;
    double apart = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      largest = std::max(largest, std::abs(a[i]));
      apart = std::max(apart, std::abs(a[i] - b[i]));
    }
    return apart / largest;
  };
  // Not equal: that would be fp32 under another name.
  EXPECT_GT(distance(wide.output(), narrow.output()), 0);
  EXPECT_LT(distance(wide.output(), narrow.output()), 0.03);
  for (std::size_t segment = 0; segment < model.layout().segments().size(); ++segment) {
    EXPECT_LT(distance(wide.gradient(segment), narrow.gradient(segment)), 0.05) << segment;
  }
}

// The loss and the gradients of a step whose output is of this type.
std::vector<float> trained(const Model& model, OutputType output_type) {
  const auto platform = host_devices(1);
  Device& device = platform->device(0);
  const TrainingOptions options = untimed(Precision::kBf16);
  Replica replica(device, model, 2, options, output_type);
  EXPECT_EQ(replica.output().dtype() == DType::kBFloat16, output_type == OutputType::kLayers);
  LocalBatch batch(*platform, device, model, {0, 2}, options);
  const Arena gradients = make_arena(device, model.layout());
  const auto loss = device.allocate(bytes_of<float>(1));
  Interpreter interpreter(DispatchCosts{});
  IgnoreGradients nobody;
  replica.initialise(5, Distribution::kUniform);
  batch.load(replica, interpreter);
  replica.forward(batch.inputs(), interpreter);
  replica.compute_loss(batch.targets(), loss->as<float>(), interpreter);
  replica.backward(batch.inputs(), gradients.tensors, nobody);
  replica.stream().synchronize();
  std::vector<float> results = read_back<float>(device, gradients.flat);
  results.push_back(read_back<float>(device, loss->as<float>()).front());
  return results;
}

// Widening is exact, and the gradient is rounded once either way.
TEST_F(Bf16Model, LossOfTheLayersOwnOutput_ComesToTheBitsOfOneOfItsFp32Copy) {
  for (const char* name : {"mlp-tiny", "padded", "gpt2-nano:16", "resnet-tiny"}) {
    const auto model = make_model(name);
    EXPECT_EQ(trained(*model, OutputType::kLayers), trained(*model, OutputType::kFp32)) << name;
  }
}

TEST(ParameterCopies, ElementsBehindTheFirst_StayZero) {
  const auto platform = host_devices(1);
  Device& device = platform->device(0);
  ParameterLayout layout;
  layout.add("a", {2});
  layout.add("b", {3});
  const Arena given = make_arena(device, layout);
  put(device, given.tensors[0], {1, 2});
  put(device, given.tensors[1], {3, 4, 5});
  ParameterCopies copies(device, DType::kBFloat16, layout, {0, 1}, 4);
  const auto read = [&](int segment) {
    const auto copy = copies.of(segment).as<const BFloat16>();
    std::vector<float> values;
    for (const BFloat16 value : copy) values.push_back(static_cast<float>(value));
    return values;
  };
  const auto operations = make_operations(device, Precision::kBf16);
  const auto stream = device.make_stream(StreamPriority::kNormal);
  copies.cast({*operations, *stream}, {given.tensors.begin(), given.tensors.end()});
  stream->synchronize();
  EXPECT_EQ(read(0), (std::vector<float>{1, 2, 0, 0, 0, 0}));
  EXPECT_EQ(read(1), (std::vector<float>{3, 4, 5}));
}

std::int64_t bytes_held(const Model& model, Precision precision) {
  const auto platform = host_devices(1);
  const Replica replica(platform->device(0), model, 1, untimed(precision));
  return platform->device(0).memory().used.value;
}

// A model of 2 MiB of parameters and hardly any activations: half as much again for their copies,
// less half of the output and of two gradients.
TEST_F(Bf16Model, CopiesOfTheParameters_AreAccountedForOnTheDevice) {
  const Mlp model("wide", {1024, 512});
  const std::int64_t copies = 2 * model.layout().arena_count();
  const std::int64_t more =
      bytes_held(model, Precision::kBf16) - bytes_held(model, Precision::kFp32);
  EXPECT_GE(more, copies - 3 * 512 * 2);
  EXPECT_LT(more, copies + (64 << 10));
}

}  // namespace
}  // namespace tandem::test
