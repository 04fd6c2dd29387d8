// SPDX-License-Identifier: Apache-2.0
//
// What a step charges by kind: a kind alone costs a millisecond a piece, so that an interpreter is
// free no earlier than so many milliseconds later.
#include <gtest/gtest.h>

#include "common/comm/shared_memory/shared_memory.h"
#include "common/comm/thread_bootstrap.h"
#include "common/model/zoo.h"
#include "common/parallel/replica.h"
#include "ddp/all_reduce_rank.h"
#include "dp/replicate.h"
#include "tests/support/host_devices.h"
#include "tests/support/training.h"

namespace tandem::test {
namespace {

using enum DispatchKind;
using std::chrono::milliseconds;

// Linear layers of 5 calls and 6 parameters.
constexpr const char* kModel = "mlp:3x4";
constexpr int kCalls = 5;
constexpr int kParameters = 6;

DispatchCosts alone(DispatchKind kind) {
  DispatchCosts costs;
  costs.set(kind, milliseconds(1));
  return costs;
}

// Makes the interpreter busy for so long that all charges of a test come meanwhile: from then on
// when it is free gives the charges exactly.
TimePoint kept_busy(Interpreter& interpreter, DispatchKind kind) {
  return interpreter.dispatch(kind, 1000);
}

TimePoint free_from(Interpreter& interpreter) { return interpreter.dispatch(kCall, 0); }

class ReplicasKinds : public testing::TestWithParam<DispatchKind> {};

TEST_P(ReplicasKinds, AreChargedForTheirOwnNumber) {
  const auto platform = host_devices(1);
  const auto model = make_model("resnet-tiny");
  const auto stream = platform->device(0).make_stream(StreamPriority::kNormal);
  Interpreter interpreter(alone(GetParam()));
  const TimePoint before = kept_busy(interpreter, GetParam());
  const std::int64_t calls = interpreter.calls();
  dp::charge_construction(*model, interpreter, *stream);
  const auto parameters = static_cast<int>(model->layout().size());
  const auto buffers = static_cast<int>(model->buffers().size());
  const int pieces = GetParam() == kReplicaModule      ? model->module_count()
                     : GetParam() == kReplicaParameter ? parameters
                                                       : buffers;
  EXPECT_GT(pieces, 0);
  EXPECT_EQ(free_from(interpreter) - before, milliseconds(pieces));
  EXPECT_EQ(interpreter.calls() - calls, model->module_count() + parameters + buffers);
}

INSTANTIATE_TEST_SUITE_P(Each, ReplicasKinds,
                         testing::Values(kReplicaModule, kReplicaParameter, kReplicaBuffer));

class BackwardTest : public testing::Test {
 protected:
  void run(Interpreter& caller) {
    const auto input = platform_->device(0).allocate(Bytes{4 * model_->input_width()});
    replica_.forward(input->as<float>(), caller);
    replica_.begin_backward(caller);
    replica_.backward(input->as<float>(), gradients_.tensors, nobody_);
    replica_.end_backward(caller);
    replica_.stream().synchronize();
  }

  const std::unique_ptr<Platform> platform_ = host_devices(1);
  const std::unique_ptr<Model> model_ = make_model(kModel);
  const Arena gradients_ = make_arena(platform_->device(0), model_->layout());
  IgnoreGradients nobody_;
  Replica replica_{
      platform_->device(0), *model_, 1,
      TrainingOptions{.phases = {PhaseTiming::kOff}, .interpreter = {.costs = alone(kAutograd)}}};
};

TEST_F(BackwardTest, HasANodePerCallAndParameter_EachTime) {
  Interpreter caller(DispatchCosts{});
  for (const int times : {1, 2}) {
    run(caller);
    EXPECT_EQ(replica_.autograd().calls(), times * (kCalls + kParameters));
  }
}

TEST_F(BackwardTest, TheCallerWaitsForAutogradsThread_WhichCountsAsNoDispatch) {
  Interpreter caller(alone(kOptimizer));
  const TimePoint before = Clock::now();
  run(caller);
  EXPECT_EQ(caller.calls(), kCalls);
  EXPECT_GE(free_from(caller) - before, milliseconds(kCalls + kParameters));
}

TEST_F(BackwardTest, AutogradsThreadStartsBehindItsCaller) {
  Interpreter caller(alone(kCall));
  const TimePoint before = Clock::now();
  run(caller);
  EXPECT_GE(free_from(caller) - before, milliseconds(kCalls + kCalls + kParameters));
}

// One rank, in two micro-batches: only the backward that is reduced has hooks.
TEST(DdpHookTest, IsChargedPerParameter_InTheBackwardThatIsReduced) {
  const auto platform = host_devices(1);
  Device& device = platform->device(0);
  const auto model = make_model(kModel);
  const auto input = device.allocate(Bytes{4 * 2 * model->input_width()});
  const auto targets = device.allocate(Bytes{4 * 2 * model->output_width()});
  run_ranks_as_threads(1, [&](Bootstrap& bootstrap) {
    const auto communicator = make_shared_memory_communicator(bootstrap, device);
    Interpreter interpreter(DispatchCosts{});
    ddp::AllReduceRank rank(device, *model, 2, {*communicator}, interpreter,
                            TrainingOptions{.global_batch = 2}, {.micro_batches = 2});
    rank.train(input->as<float>(), targets->as<float>());
    rank.synchronize();
    EXPECT_EQ(rank.replica().autograd().calls(), 2 * (kCalls + kParameters) + kParameters);
  });
}

// Each strategy's weights are those without a cost: charging moves work in time and nowhere else.
class Charged : public testing::TestWithParam<const char*> {};

TEST_P(Charged, TrainsTheSame) {
  const auto model = exact_model();
  Training run{.strategy = GetParam(), .devices = 2, .training = exact_training(8)};
  run.platform.oversubscribe = true;
  const Outcome plain = train(*model, run);
  run.training.interpreter.costs =
      parse_dispatch_costs("call:3us,replica-module:5us,autograd:2us,ddp-hook:1us", "test");
  EXPECT_EQ(train(*model, run), plain);
}

INSTANTIATE_TEST_SUITE_P(Strategies, Charged,
                         testing::Values("dp", "ddp", "dp-allreduce", "ddp-replicate"));

}  // namespace
}  // namespace tandem::test
