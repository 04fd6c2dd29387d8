// SPDX-License-Identifier: Apache-2.0
//
// A step that allocates device memory waits for the driver, or for the kernel's pages: by then all
// must be there.
#include <gtest/gtest.h>

#include <mutex>

#include "common/model/replay.h"
#include "common/model/zoo.h"
#include "tests/support/steps_to_make.h"
#include "tests/support/training.h"
#include "tests/support/workloads.h"

namespace tandem::test {
namespace {

constexpr int kSteadySteps = steps_to_make(100);
constexpr int kSettled = 4;  // ddp makes its buckets anew in the second step

// Over all devices, by step.
struct Memory {
  std::int64_t allocations = 0;
  std::int64_t used = 0;
  std::int64_t peak = 0;

  bool operator==(const Memory&) const = default;
};

Memory memory_of(Platform& platform) {
  Memory memory;
  for (int i = 0; i < platform.device_count(); ++i) {
    const MemoryUse use = platform.device(i).memory();
    memory.allocations += use.allocations;
    memory.used += use.used.value;
    memory.peak += use.peak.value;
  }
  return memory;
}

// By its name, or of tests/workloads: "replay:tokens".
std::unique_ptr<Model> model_of(const std::string& name) {
  constexpr std::string_view kReplay = "replay:";
  if (!name.starts_with(kReplay)) return make_model(name);
  return std::make_unique<Replay>(workload(name.substr(kReplay.size())));
}

struct Case {
  const char* strategy;
  const char* model;
};

class SteadyState : public testing::TestWithParam<Case> {};

TEST_P(SteadyState, AllocatesNothing_AndLeavesTheHighWaterMark) {
  std::mutex mutex;
  std::vector<Memory> after(kSteadySteps);
  Training run{.strategy = GetParam().strategy, .devices = 2, .steps = kSteadySteps};
  run.training.global_batch = 4;
  run.platform.oversubscribe = true;
  run.after_step = [&](Platform& platform, int step) {
    const std::lock_guard lock(mutex);
    after[static_cast<std::size_t>(step)] = memory_of(platform);
  };
  static_cast<void>(train(*model_of(GetParam().model), run));
  const Memory& settled = after[kSettled];
  EXPECT_GT(settled.allocations, 0);
  // By the end of the last step another rank may have let go of its memory, where ranks have their
  // own.
  const bool is_one = run.strategy == "single" || run.strategy == "dp";
  for (std::size_t step = kSettled; step < (is_one ? kSteadySteps : kSteadySteps - 1); ++step) {
    EXPECT_EQ(after[step], settled) << step;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Strategies, SteadyState,
    testing::Values(Case{"single", "mlp-tiny"}, Case{"single", "gpt2-nano:4"},
                    Case{"dp", "mlp-tiny"}, Case{"dp", "gpt2-nano:4"},
                    Case{"dp-allreduce", "gpt2-nano:4"}, Case{"ddp", "mlp-tiny"},
                    Case{"ddp", "gpt2-nano:4"}, Case{"ddp-replicate", "gpt2-nano:4"},
                    Case{"single", "resnet-tiny"}, Case{"dp", "resnet-tiny"},
                    Case{"ddp", "resnet-tiny"}, Case{"single", "replay:by-flops"},
                    Case{"dp", "replay:tokens"}, Case{"dp-allreduce", "replay:by-flops"},
                    Case{"ddp", "replay:tokens"}, Case{"ddp-replicate", "replay:tokens"}));

}  // namespace
}  // namespace tandem::test
