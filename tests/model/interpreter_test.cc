// SPDX-License-Identifier: Apache-2.0
//
// What models charge the interpreter for.
#include <gtest/gtest.h>

#include "common/model/zoo.h"
#include "common/parallel/replica.h"
#include "tests/support/host_devices.h"

namespace tandem::test {
namespace {

// The calls of one forward pass of a batch of one.
std::int64_t calls_of_forward(const std::string& name) {
  const auto platform = host_devices(1);
  Device& device = platform->device(0);
  const auto model = make_model(name);
  const auto input = device.allocate(Bytes{4 * model->input_width()});
  Replica replica(device, *model, 1, TrainingOptions{.phases = {PhaseTiming::kOff}});
  const auto activations = model->make_activations(device, 1, Precision::kFp32);
  Interpreter interpreter(DispatchCosts{});
  model->forward({replica.operations(), replica.stream(), &interpreter},
                 as_const(replica.parameters().tensors), replica.state(), input->as<float>(),
                 *activations);
  replica.stream().synchronize();
  return interpreter.calls();
}

struct Calls {
  const char* model;
  std::int64_t forward;
};

class ForwardCalls : public testing::TestWithParam<Calls> {};

TEST_P(ForwardCalls, AreThoseThatTorchDispatches) {
  EXPECT_EQ(calls_of_forward(GetParam().model), GetParam().forward);
}

INSTANTIATE_TEST_SUITE_P(Models, ForwardCalls,
                         testing::Values(Calls{"mlp:1x4", 1},  // linear
                                         Calls{"mlp:3x4", 5},  // and a ReLU behind all but the last
                                         Calls{"linear", 1}, Calls{"padded", 1},
                                         Calls{"custom", 2},   // product, linear
                                         Calls{"counter", 2},  // increment, linear
                                         // 4 of the embedding, 20 a block, norm and head
                                         Calls{"gpt2-nano:4", 4 + 2 * 20 + 2}));

}  // namespace
}  // namespace tandem::test
