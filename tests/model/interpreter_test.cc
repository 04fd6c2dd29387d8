// SPDX-License-Identifier: Apache-2.0
//
// What models charge the interpreter for.
#include <gtest/gtest.h>

#include <chrono>

#include "common/model/zoo.h"
#include "common/parallel/replica.h"
#include "tests/support/host_devices.h"

namespace tandem::test {
namespace {

struct Calls {
  const char* model;
  std::int64_t forward;     // all calls
  std::int64_t operations;  // those of them that are outside a module
};

// Operations alone cost something, and the interpreter is busy meanwhile: from when it is free
// says how many they were.
constexpr std::chrono::microseconds kCost{1};
constexpr int kBusy = 1'000'000;

DispatchCosts of_operations() {
  DispatchCosts costs;
  costs.set(DispatchKind::kOperation, kCost);
  return costs;
}

// The calls of one forward pass of a batch of one.
Calls calls_of_forward(const char* name) {
  const auto platform = host_devices(1);
  Device& device = platform->device(0);
  const auto model = make_model(name);
  const auto input = device.allocate(Bytes{4 * model->input_width()});
  Replica replica(device, *model, 1, TrainingOptions{.phases = {PhaseTiming::kOff}});
  const auto activations =
      model->make_activations(device, 1, Precision::kFp32, OutputType::kLayers);
  Interpreter interpreter(of_operations());
  const TimePoint before = interpreter.dispatch(DispatchKind::kOperation, kBusy);
  model->forward({replica.operations(), replica.stream(), &interpreter},
                 as_const(replica.parameters().tensors), replica.state(), input->as<float>(),
                 *activations);
  const TimePoint after = interpreter.dispatch(DispatchKind::kCall, 0);
  replica.stream().synchronize();
  return {name, interpreter.calls() - kBusy, (after - before) / kCost};
}

class ForwardCalls : public testing::TestWithParam<Calls> {};

TEST_P(ForwardCalls, AreThoseThatTorchDispatches) {
  const Calls found = calls_of_forward(GetParam().model);
  EXPECT_EQ(found.forward, GetParam().forward);
  EXPECT_EQ(found.operations, GetParam().operations);
}

// mlp:3x4 has a ReLU behind all linear layers but the last; custom is a product and a linear layer,
// counter an increment and a linear layer. gpt2-nano has 4 calls of the embedding, 20 a block, norm
// and head; outside modules 2, 11 a block, and the addition before all norms but the first.
INSTANTIATE_TEST_SUITE_P(Models, ForwardCalls,
                         testing::Values(Calls{"mlp:1x4", 1, 0}, Calls{"mlp:3x4", 5, 0},
                                         Calls{"linear", 1, 0}, Calls{"padded", 1, 0},
                                         Calls{"custom", 2, 0}, Calls{"counter", 2, 1},
                                         Calls{"gpt2-nano:4", 4 + 2 * 20 + 2, 2 + 2 * 11 + 4}));

}  // namespace
}  // namespace tandem::test
