// SPDX-License-Identifier: Apache-2.0
#include "common/model/zoo.h"
#include "tests/model/model_run.h"

namespace tandem::test {
namespace {

// 2 per multiply-add; twice for a first layer, three times for one behind it.
TEST(LinearModelTest, IsTorchsLinear10To5) {
  const auto model = make_linear();
  EXPECT_EQ(model->layout().segments()[0].shape, (Shape{5, 10}));
  EXPECT_EQ(model->layout().segments()[1].shape, (Shape{5}));
  EXPECT_EQ(model->module_count(), 1);
  EXPECT_EQ(model->buffers().size(), 0);
  EXPECT_DOUBLE_EQ(model->flops_per_sample(), 2 * 2 * 10 * 5);
}

TEST(LinearModelTest, ForwardAndBackward_ArePlain) {
  const auto model = make_linear();
  const std::vector<PlainLayer> layers{{.in = 10, .out = 5}};
  expect_forward_is_plain(*model, layers, 3);
  expect_backward_is_finite_difference(*model, layers, 3);
}

TEST(PaddedModelTest, IsOneLinearOn40Positions) {
  const auto model = make_padded();
  EXPECT_EQ(model->input_width(), 400);
  EXPECT_EQ(model->output_width(), 800);
  EXPECT_EQ(model->layout().segments()[0].shape, (Shape{20, 10}));
  EXPECT_EQ(model->layout().parameter_count(), 220);
  EXPECT_EQ(model->module_count(), 1);
  EXPECT_DOUBLE_EQ(model->flops_per_sample(), 40 * 2 * 2 * 10 * 20);
}

TEST(PaddedModelTest, ForwardAndBackward_ArePlain) {
  const auto model = make_padded();
  const std::vector<PlainLayer> layers{{.in = 10, .out = 20}};
  expect_forward_is_plain(*model, layers, 3);
  expect_backward_is_finite_difference(*model, layers, 2);
}

TEST(CustomModelTest, IsAProductWithoutBiasAndALinear) {
  const auto model = make_custom();
  ASSERT_EQ(model->layout().size(), 3);
  EXPECT_EQ(model->layout().segments()[0].shape, (Shape{50, 100}));
  EXPECT_EQ(model->layout().segments()[1].shape, (Shape{50, 50}));
  EXPECT_EQ(model->layout().segments()[2].shape, (Shape{50}));
  EXPECT_EQ(model->module_count(), 2);
  EXPECT_DOUBLE_EQ(model->flops_per_sample(), 2 * 2 * 100 * 50 + 3 * 2 * 50 * 50);
}

TEST(CustomModelTest, ForwardAndBackward_ArePlain) {
  const auto model = make_custom();
  const std::vector<PlainLayer> layers{{.in = 100, .out = 50, .has_bias = false},
                                       {.in = 50, .out = 50}};
  expect_forward_is_plain(*model, layers, 3);
  expect_backward_is_finite_difference(*model, layers, 2, 23);
}

TEST(CustomModelTest, Gradients_AreReadyFromTheLinearToTheParameter) {
  const auto model = make_custom();
  EXPECT_EQ(ModelRun(*model, 1).sink.order, (std::vector<int>{2, 1, 0}));
}

TEST(CounterTest, IsALinearWithOneBuffer) {
  const Counter model;
  EXPECT_EQ(model.layout().parameter_count(), 55);
  EXPECT_EQ(model.module_count(), 2);
  ASSERT_EQ(model.buffers().size(), 1);
  EXPECT_EQ(model.buffers().segments()[0].count, 1);
}

TEST(CounterTest, ForwardAndBackward_ArePlain) {
  const std::vector<PlainLayer> layers{{.in = 10, .out = 5}};
  expect_forward_is_plain(Counter(), layers, 3);
  expect_backward_is_finite_difference(Counter(), layers, 3);
}

TEST(CounterTest, EachForward_CountsInBufferAndAttribute) {
  const Counter model;
  ModelRun run(model, 2);  // the first forward
  Interpreter nobody(DispatchCosts{});
  for (int repeat = 0; repeat < 2; ++repeat) {
    run.replica.forward(run.input->as<float>(), nobody);
  }
  run.replica.stream().synchronize();
  ModuleState& state = run.replica.state();
  EXPECT_EQ(read_back<float>(run.device, state.buffers.front()), std::vector<float>{3});
  EXPECT_EQ(state.attributes.at("calls"), 3);
}

TEST(CounterTest, EachReplica_HasItsOwnState) {
  const Counter model;
  ModelRun run(model, 2);
  Replica other(run.device, model, 2, TrainingOptions{.phases = {PhaseTiming::kOff}});
  EXPECT_EQ(read_back<float>(run.device, other.state().buffers.front()), std::vector<float>{0});
  EXPECT_TRUE(other.state().attributes.empty());
}

}  // namespace
}  // namespace tandem::test
