// SPDX-License-Identifier: Apache-2.0
//
// What a training step asks of a GPU: launches, fills among them, and the bytes of operations'
// operands, each counted once. Counted on stand-ins for CUDA and its libraries, which run nothing.
#include <gtest/gtest.h>

#include "common/kernels/operation_work.h"
#include "common/model/zoo.h"
#include "common/optim/optimizer.h"
#include "common/parallel/replica.h"
#include "tests/kernels/cuda_stand_in.h"

namespace tandem::test {
namespace {

struct Asked {
  int launches = 0;
  double gigabytes = 0;
};

class CountedOperations final : public EachOperationHandedOn<CountedOperations> {
 public:
  using EachOperationHandedOn::EachOperationHandedOn;

  template <class Op>
  void take(Stream& stream, const Op& op, const char* /*name*/) {
    bytes += bytes_moved_by(op);
    operations().enqueue(stream, op);
  }

  Bytes bytes{};
};

// Counts the second step: the first one also prepares.
Asked step_of(const std::string& name, std::int64_t batch) {
  stand_in::reset(1);
  stand_in::only_count();
  const auto platform = cuda::make_cuda_platform({});
  Device& device = platform->device(0);
  const auto stream = device.make_stream(StreamPriority::kNormal);
  const auto library =
      cuda::make_cuda_operations(device, Precision::kBf16, {.channels_last = true});
  CountedOperations operations(*library);
  const Executor on{operations, *stream};
  const auto model = make_model(name);
  stand_in::cudnn() = {};
  if (!model->needs_images()) {  // backward's scores of so many samples of GPT-2 124M are 2 GiB
    stand_in::cudnn().engines = {{.samples = 85}};
    stand_in::cudnn().fallbacks.clear();
  }
  const Arena weights = make_arena(device, model->layout());
  const Arena gradients = make_arena(device, model->layout());
  const Arena buffers = make_arena(device, model->buffers());
  ModuleState state{.buffers = buffers.tensors};
  const auto kept = model->make_activations(device, batch, Precision::kBf16, OutputType::kLayers);
  OwnedTensors tensors(device);
  const Span<float> input = tensors.add(batch * model->input_width());
  const Span<float> target = tensors.add(batch * model->objective().target_width);
  const Span<float> loss = tensors.add(1);
  const auto optimizer = make_optimizer(device, weights.flat.size(), {});
  IgnoreGradients nobody;
  const ConstTensorList parameters = tandem::as_const(weights.tensors);
  const auto step = [&] {
    model->forward(on, parameters, state, input, *kept);
    enqueue_loss(operations, *stream, model->objective(),
                 {.prediction = kept->output(),
                  .target = target,
                  .gradient = kept->output_gradient(),
                  .loss = loss,
                  .padding = kept->output_padding()});
    model->backward(on, parameters, input, *kept, gradients.tensors, nobody);
    optimizer->step(operations, *stream, weights.flat, gradients.flat);
  };
  step();
  operations.bytes = Bytes{};
  const int before = stand_in::launches();
  step();
  stream->synchronize();
  return {stand_in::launches() - before, static_cast<double>(operations.bytes.value) / 1e9};
}

TEST(CudaStep, AsksForSoManyLaunchesAndBytes) {
  const auto expect = [](const std::string& model, std::int64_t batch, const Asked& expected) {
    const Asked asked = step_of(model, batch);
    EXPECT_EQ(asked.launches, expected.launches) << model;
    EXPECT_NEAR(asked.gigabytes, expected.gigabytes, 0.05) << model;
  };
  expect("gpt2-124m", 8, {254, 23.35});
  expect("gpt2-124m", 96, {278, 230.31});
  expect("resnet50", 128, {541, 39.24});
}

}  // namespace
}  // namespace tandem::test
