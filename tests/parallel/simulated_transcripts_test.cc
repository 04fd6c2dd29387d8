// SPDX-License-Identifier: Apache-2.0
//
// What a step enqueues in virtual time is what it enqueues on the host back end: the same phases,
// operations, copies and collectives of the same bytes, on the same streams in the same order.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "common/comm/shared_memory/shared_memory.h"
#include "common/comm/thread_bootstrap.h"
#include "common/model/zoo.h"
#include "common/parallel/independent.h"
#include "common/parallel/single.h"
#include "common/runtime/registry.h"
#include "common/trace/step_observer.h"
#include "ddp/distributed_data_parallel.h"
#include "ddp/dp_all_reduce.h"
#include "dp/data_parallel.h"
#include "dp/ddp_replicate.h"
#include "simulate/engine/simulated_communicator.h"
#include "tests/support/simulated_devices.h"

namespace tandem::test {
namespace {

constexpr int kDevices = 2;
constexpr int kSteps = 4;
constexpr std::int64_t kBatch = 8;

// What each stream of each device was given, a line for each piece.
class Transcript final : public DetailObserver {
 public:
  void step_ends(Device& device, Stream& stream) override { add(device, stream, "step ends"); }

  // By device, and within a device by stream in the order in which they came.
  [[nodiscard]] std::vector<std::string> lines() const {
    std::vector<std::string> all;
    for (const auto& [device, streams] : lines_) {
      for (std::size_t i = 0; i < streams.size(); ++i) {
        all.push_back(fmt::format("device {}, stream {}:\n{}", device, i, streams[i].text));
      }
    }
    return all;
  }

 private:
  struct OfStream {
    const Stream* stream;
    std::string text;
  };

  void add(Device& device, Stream& stream, const std::string& line) {
    const std::lock_guard lock(mutex_);
    std::vector<OfStream>& streams = lines_[device.id().index];
    auto found = std::ranges::find(streams, &stream, &OfStream::stream);
    if (found == streams.end()) found = streams.insert(found, OfStream{&stream, {}});
    found->text += line + "\n";
  }

  void part_begins(Device& device, Stream& stream, std::string_view phase) override {
    add(device, stream, fmt::format("{}:", phase));
  }
  void work_begins(Device& device, Stream& stream, const EnqueuedWork& work) override {
    add(device, stream,
        fmt::format("  {} {} {} index {}, {} B, {} copies", static_cast<int>(work.kind), work.name,
                    work.layer, work.index, work.size.value, work.copies));
  }
  void work_ends(Device& device, Stream& stream, const EnqueuedWork& work) override {
    add(device, stream, fmt::format("  end of {}", work.name));
  }
  void bucket_ready(Device& device, Stream& stream, std::size_t index) override {
    add(device, stream, fmt::format("  bucket {} ready", index));
  }
  void bucket_back(Device& device, Stream& stream, std::size_t index) override {
    add(device, stream, fmt::format("  bucket {} back", index));
  }

  std::mutex mutex_;
  std::map<int, std::vector<OfStream>> lines_;
};

// A strategy with its options.
struct Way {
  std::string strategy;
  TrainingOptions training{};
  dp::DataParallelOptions dp{};
  ddp::ReducerOptions reducer{};
  ddp::Shards shards = ddp::Shards::kOwn;

  [[nodiscard]] bool has_ranks() const { return strategy.starts_with("ddp"); }
};

std::unique_ptr<Strategy> make_local(Platform& platform, const Model& model, const Way& way) {
  if (way.strategy == "dp") {
    return std::make_unique<dp::DataParallel>(platform, model, way.training, way.dp);
  }
  if (way.strategy == "dp-allreduce") {
    return std::make_unique<ddp::DpAllReduce>(
        platform, model, way.training,
        ddp::DpAllReduceOptions{.shards = way.shards, .reducer = way.reducer});
  }
  if (way.strategy == "independent") {
    return std::make_unique<IndependentThreads>(platform, model, way.training);
  }
  return std::make_unique<Single>(platform, platform.device(0), model,
                                  Shard{0, way.training.global_batch}, way.training);
}

std::unique_ptr<Strategy> make_rank(Platform& platform, const Model& model, const Way& way,
                                    Communicator& ranks) {
  Device& device = platform.device(ranks.rank());
  if (way.strategy == "ddp-replicate") {
    return std::make_unique<dp::DdpReplicate>(platform, device, model, ranks, way.training);
  }
  return std::make_unique<ddp::DistributedDataParallel>(platform, device, model, ranks,
                                                        way.training, way.reducer);
}

void take_steps(Strategy& strategy) {
  for (int step = 0; step < kSteps; ++step) strategy.step();
  strategy.synchronize();
}

void run_on_host(const Model& model, const Way& way) {
  PlatformOptions options;
  options.devices = kDevices;
  options.oversubscribe = true;
  const auto platform = open_platform(Backend::kHost, options);
  if (!way.has_ranks()) return take_steps(*make_local(*platform, model, way));
  run_ranks_as_threads(kDevices, [&](Bootstrap& bootstrap) {
    Device& device = platform->device(bootstrap.rank());
    const auto communicator = make_shared_memory_communicator(bootstrap, device);
    take_steps(*make_rank(*platform, model, way, *communicator));
  });
}

void run_simulated(const Model& model, const Way& way) {
  HardwareDescription machine = round_machine();
  machine.gpu.memory.value = gib(4);
  const auto platform = simulated_devices(kDevices, machine);
  if (!way.has_ranks()) return take_steps(*make_local(*platform, model, way));
  const std::vector<Device*> devices = devices_of(*platform);
  const auto communicators = simulated::make_team_communicators(devices);
  std::vector<std::unique_ptr<Strategy>> ranks(communicators.size());
  const auto threads = platform->make_threads(devices, ThreadLife::kKept);
  threads->run([&](int i) {
    const auto rank = static_cast<std::size_t>(i);
    ranks[rank] = make_rank(*platform, model, way, *communicators[rank]);
  });
  for (int step = 0; step < kSteps; ++step) {
    threads->run([&](int i) { ranks[static_cast<std::size_t>(i)]->step(); });
  }
  threads->run([&](int i) { ranks[static_cast<std::size_t>(i)]->synchronize(); });
}

std::vector<std::string> transcript_of(void (*run)(const Model&, const Way&), const Model& model,
                                       Way way) {
  Transcript transcript;
  way.training.global_batch = kBatch;
  way.training.phases.observers = {&transcript};
  run(model, way);
  return transcript.lines();
}

class SimulatedTranscripts : public testing::TestWithParam<const char*> {
 protected:
  void expect_same(const Way& way) const {
    const std::vector<std::string> on_host = transcript_of(run_on_host, *model_, way);
    const std::vector<std::string> simulated = transcript_of(run_simulated, *model_, way);
    ASSERT_FALSE(on_host.empty());
    ASSERT_EQ(on_host.size(), simulated.size()) << way.strategy;
    for (std::size_t i = 0; i < on_host.size(); ++i) {
      EXPECT_EQ(on_host[i], simulated[i]) << way.strategy;
    }
  }

  const std::unique_ptr<Model> model_ = make_model(GetParam());
};

INSTANTIATE_TEST_SUITE_P(Of, SimulatedTranscripts,
                         testing::Values("mlp-tiny", "gpt2-nano", "resnet-tiny"),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST_P(SimulatedTranscripts, WithoutCommunication) {
  for (const char* const strategy : {"single", "independent"}) {
    expect_same({.strategy = strategy});
    expect_same({.strategy = strategy, .training = {.input = InputPlace::kDevice}});
    expect_same({.strategy = strategy, .training = {.input = InputPlace::kPageable}});
    expect_same({.strategy = strategy, .training = {.optimizer = {.kind = OptimizerKind::kAdam}}});
  }
}

TEST_P(SimulatedTranscripts, OfDp) {
  using Options = dp::DataParallelOptions;
  const Options copies{.broadcast = dp::Order::kSequential, .reduce = dp::Order::kSequential};
  const auto expect_same_dp = [&](const std::function<void(Way&)>& change) {
    Way way{.strategy = "dp", .dp = copies};
    change(way);
    expect_same(way);
  };
  expect_same_dp([](Way&) {});
  expect_same_dp([](Way& way) { way.dp.broadcast = way.dp.reduce = dp::Order::kTree; });
  expect_same_dp([](Way& way) { way.dp.broadcast = way.dp.reduce = dp::Order::kCollective; });
  expect_same_dp([](Way& way) { way.dp.replicate = dp::Grouping::kTensor; });
  expect_same_dp([](Way& way) { way.dp.replicate = dp::Grouping::kFlat; });
  expect_same_dp([](Way& way) { way.dp.threads = dp::Threads::kKept; });
  expect_same_dp([](Way& way) { way.dp.loss = dp::LossPlace::kReplicas; });
  expect_same_dp([](Way& way) { way.dp.device_ids = {1, 0}; });
  expect_same_dp([](Way& way) { way.dp.output_device = 1; });
  expect_same_dp([](Way& way) { way.training.input = InputPlace::kDevice; });
  expect_same_dp([](Way& way) { way.training.input = InputPlace::kPageable; });
}

TEST_P(SimulatedTranscripts, OfDdp_AsProcessesAndAsThreads) {
  using Options = ddp::ReducerOptions;
  const std::vector<Options> all{
      {},
      {.grads = ddp::GradsMode::kViews},
      {.overlap = ddp::Overlap::kOff},
      {.graph = ddp::Graph::kStatic},
      {.buckets = {.first = kib(4), .rest = kib(16)}},
      {.micro_batches = 2},
      {.compression = ddp::Compression::kBFloat16},
      {.compression = ddp::Compression::kFloat16},
  };
  for (const Options& reducer : all) {
    SCOPED_TRACE(&reducer - all.data());
    expect_same({.strategy = "ddp", .reducer = reducer});
    expect_same({.strategy = "dp-allreduce", .reducer = reducer});
  }
  expect_same({.strategy = "dp-allreduce", .shards = ddp::Shards::kScattered});
}

TEST_P(SimulatedTranscripts, OfDdpReplicate) {
  expect_same({.strategy = "ddp-replicate"});
  expect_same({.strategy = "ddp-replicate", .training = {.input = InputPlace::kDevice}});
  expect_same({.strategy = "ddp-replicate", .training = {.input = InputPlace::kPageable}});
}

}  // namespace
}  // namespace tandem::test
