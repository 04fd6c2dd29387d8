// SPDX-License-Identifier: Apache-2.0
//
// Whole steps on the CUDA back end, with stand-ins for all that needs a GPU: GPUs are threads, each
// stream a FIFO of its own, so that a missing wait shows. The numbers are the host's.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>

#include "common/kernels/host_support.h"
#include "common/model/zoo.h"
#include "common/parallel/replica.h"
#include "common/parallel/shard_by_shard.h"
#include "common/parallel/shards.h"
#include "common/parallel/single.h"
#include "common/runtime/copy.h"
#include "common/runtime/registry.h"
#include "tests/support/build_folder.h"
#include "tests/support/training.h"

namespace tandem::test {
namespace {

class CudaTraining : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::filesystem::path folder = build_folder() / "tests" / "stand_in";
    if (!exists(folder)) GTEST_SKIP() << "no stand-in for GPUs here: archives have none";
    setenv("TANDEM_MODULE_PATH", folder.c_str(), 1);
  }

  static Training exact_run(Backend backend, const std::string& strategy, int devices) {
    Training run{.strategy = strategy, .devices = devices, .training = exact_training(16)};
    run.platform.oversubscribe = true;
    run.backend = backend;
    if (strategy == "dp-allreduce") run.platform.gpus = {0};  // between two, collectives are NCCL's
    return run;
  }
};

TEST_F(CudaTraining, Single_EqualsTheHostsBitForBit_OnIntegers) {
  const auto model = exact_model();
  EXPECT_EQ(train(*model, exact_run(Backend::kCuda, "single", 1)),
            train(*model, exact_run(Backend::kHost, "single", 1)));
}

TEST_F(CudaTraining, DpAndIndependent_EqualSingleBitForBit_OnIntegers) {
  const auto model = exact_model();
  const Outcome single = train(*model, exact_run(Backend::kCuda, "single", 1));
  for (const int devices : {1, 2, 4}) {  // of two GPUs
    EXPECT_EQ(train(*model, exact_run(Backend::kCuda, "dp", devices)), single) << devices;
  }
  EXPECT_EQ(train(*model, exact_run(Backend::kCuda, "independent", 1)), single);
}

// In other orders of summation: to rounding only, over several steps of each optimizer.
TEST_F(CudaTraining, SingleAndDp_FollowTheHost_InEveryPrecisionOfBoth) {
  const auto model = make_model("mlp:2x64");
  for (const Precision precision : {Precision::kFp32, Precision::kBf16}) {
    if (precision == Precision::kBf16 && host_bf16_support() == Bf16Support::kNone) continue;
    for (const OptimizerKind optimizer :
         {OptimizerKind::kSgd, OptimizerKind::kAdam, OptimizerKind::kAdamW}) {
      Training run{.strategy = "single", .devices = 1, .steps = 4};
      run.platform.oversubscribe = true;
      run.training.global_batch = 10;
      run.training.precision = precision;
      run.training.optimizer.kind = optimizer;
      const Outcome host = train(*model, run);
      const double tolerance = precision == Precision::kBf16 ? 2e-2 : 2e-5;
      for (const int devices : {1, 3}) {
        run.backend = Backend::kCuda;
        run.devices = devices;
        run.strategy = devices == 1 ? "single" : "dp";
        const Outcome cuda = train(*model, run);
        EXPECT_LT(relative_difference(host.weights, cuda.weights), tolerance);
      }
    }
  }
}

std::int64_t allocations_on(Platform& platform) {
  std::int64_t all = 0;
  for (int i = 0; i < platform.device_count(); ++i) all += platform.device(i).memory().allocations;
  return all;
}

// A collective of another thread's may be in flight by then, behind which taking memory, and what
// libraries do when they first meet a shape, would wait for ever.
TEST_F(CudaTraining, FirstStep_TakesNoMemory) {
  const auto model = make_model("gpt2-nano:4");
  for (const char* const strategy : {"single", "dp", "dp-allreduce"}) {
    for (const Precision precision : {Precision::kFp32, Precision::kBf16}) {
      Training run = exact_run(Backend::kCuda, strategy, strategy[0] == 's' ? 1 : 2);
      run.training.precision = precision;
      std::int64_t before = 0;
      run.before_steps = [&](Platform& platform) { before = allocations_on(platform); };
      run.after_step = [&](Platform& platform, int /*step*/) {
        EXPECT_EQ(allocations_on(platform), before) << strategy << " in " << name_of(precision);
      };
      static_cast<void>(train(*model, run));
      EXPECT_GT(before, 0);
    }
  }
}

// What the module that this process has loaded searched for so far.
int searches() {
  void* const module = dlopen((build_folder() / "tests/stand_in/libtandem_cuda.so").c_str(),
                              RTLD_NOLOAD | RTLD_LAZY | RTLD_LOCAL);
  if (module == nullptr) return 0;
  const int made = reinterpret_cast<int (*)()>(dlsym(module, "tandem_cublaslt_searches"))();
  dlclose(module);
  return made;
}

// Nor does a step choose an algorithm, whose kernel would be loaded then: not where gradients have
// moved to other buckets. Biases of 52 elements leave gaps.
TEST_F(CudaTraining, NoStep_ChoosesAlgorithms) {
  const auto model = make_model("mlp:3x52");
  Training run = exact_run(Backend::kCuda, "dp-allreduce", 2);
  run.steps = 4;
  run.reducer.grads = ddp::GradsMode::kViews;
  run.reducer.buckets = {.first = kib(1), .rest = kib(12)};
  std::atomic<int> before = 0;
  run.before_steps = [&](Platform& /*platform*/) { before = searches(); };
  run.after_step = [&](Platform& /*platform*/, int step) { EXPECT_EQ(searches(), before) << step; };
  static_cast<void>(train(*model, run));
  EXPECT_GT(before, 0);
}

// By then: rehearsed.
TEST_F(CudaTraining, SettledOptions_SayWhatComputesAttention) {
  const auto model = make_model("gpt2-nano:4");
  for (const Backend backend : {Backend::kCuda, Backend::kHost}) {
    PlatformOptions wanted;
    wanted.devices = 1;
    const auto platform = open_platform(backend, wanted);
    const Single single(*platform, platform->device(0), *model, {0, 2}, {.global_batch = 2});
    const auto settled = single.resolved_options();
    if (backend == Backend::kHost) {
      EXPECT_TRUE(settled.empty());
    } else {  // of fp32
      EXPECT_TRUE(settled.at("attention").starts_with("products and softmax, since "));
    }
  }
}

TEST_F(CudaTraining, Rehearsal_LeavesZeros_AndIsNoStep) {
  PlatformOptions wanted;
  wanted.devices = 1;
  const auto platform = open_platform(Backend::kCuda, wanted);
  Device& device = platform->device(0);
  const auto model = make_model("counter");   // whose forward writes a buffer
  Replica replica(device, *model, 1000, {});  // its input is larger than its weights
  const Arena gradients = make_arena(device, model->layout());
  replica.initialise(1, Distribution::kUniform);
  replica.prime(gradients.tensors);
  for (const Arena* const arena : {&replica.parameters(), &replica.buffers(), &gradients}) {
    const auto values = read_back<float>(device, arena->flat);
    EXPECT_EQ(values, std::vector<float>(values.size()));
  }
  EXPECT_TRUE(replica.state().attributes.empty());
}

// Normalised shard by shard, so that single is compared with single and dp with dp.
class CudaTrainingOfImages : public CudaTraining {
 protected:
  void SetUp() override {
    CudaTraining::SetUp();
    const std::string lack = lack_of_images(Backend::kCuda);
    if (!lack.empty()) GTEST_SKIP() << lack;
    run_.platform.oversubscribe = true;
    run_.training.images.fp32_factors = true;
    run_.training.global_batch = 8;
    run_.training.optimizer.sgd.learning_rate = 0.01F;
  }

  // By dp where there are several devices.
  Outcome train_on(Backend backend, int devices) {
    run_.backend = backend;
    run_.devices = devices;
    run_.strategy = devices == 1 ? "single" : "dp";
    return train(*model_, run_);
  }

  const std::unique_ptr<Model> model_ = make_model("resnet-tiny");
  Training run_{.strategy = "single", .steps = 3};
};

TEST_F(CudaTrainingOfImages, WithChannelsLast_FollowTheHost_InEachStrategy) {
  run_.training.images.channels_last = true;
  for (const int devices : {1, 2, 3}) {
    const Outcome host = train_on(Backend::kHost, devices);
    const Outcome cuda = train_on(Backend::kCuda, devices);
    EXPECT_LT(relative_difference(host.weights, cuda.weights), kStrategyTolerance) << devices;
  }
}

// A seed has other numbers than on the host, where channels are last: the reference is one device
// that takes the shards in turn.
TEST_F(CudaTrainingOfImages, WithChannelsFirst_FollowTheirShards_InEachStrategy) {
  for (const int devices : {1, 2, 3}) {
    const Outcome cuda = train_on(Backend::kCuda, devices);
    const auto platform = open_platform(Backend::kCuda, PlatformOptions{.devices = 1});
    ShardByShard reference(*platform, platform->device(0), *model_,
                           chunk_batch(run_.training.global_batch, devices), run_.training);
    for (int step = 0; step < run_.steps; ++step) reference.step();
    EXPECT_LT(relative_difference(values_of(*platform, reference.weights()), cuda.weights),
              kStrategyTolerance)
        << devices;
  }
}

}  // namespace
}  // namespace tandem::test
