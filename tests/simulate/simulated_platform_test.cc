// SPDX-License-Identifier: Apache-2.0
//
// The contract of all back ends on the simulated one, but for the cases that read memory, and what
// holds in virtual time alone: durations to the nanosecond.
#include "simulate/engine/simulated_platform.h"

#include <gtest/gtest.h>

#include <vector>

#include "common/runtime/copy.h"
#include "common/runtime/interpreter.h"
#include "common/runtime/registry.h"
#include "simulate/engine/simulated_stream.h"
#include "tests/runtime/runtime_contract.h"
#include "tests/support/simulated_devices.h"

namespace tandem::test {
namespace {

struct SimulatedBackend {
  static std::unique_ptr<Platform> open(const PlatformOptions& options, std::string&) {
    return simulated::make_simulated_platform(round_machine(), options);
  }
};
INSTANTIATE_TYPED_TEST_SUITE_P(Simulated, RuntimeContract, SimulatedBackend);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(RuntimeContractOfData);

class SimulatedTimes : public ::testing::Test {
 protected:
  // Opens `devices` of the machine.
  void open(int devices) { platform_ = simulated_devices(devices, machine_); }

  Device& device(int index) { return platform_->device(index); }
  std::unique_ptr<Stream> stream(int index = 0) {
    return device(index).make_stream(StreamPriority::kNormal);
  }
  std::unique_ptr<Buffer> memory(int index, std::int64_t bytes) {
    return device(index).allocate(Bytes{bytes});
  }

  // How long the running host thread takes for `work`.
  template <class Act>
  Nanoseconds time_of(const Act& work) {
    const TimePoint start = platform_->now();
    work();
    return platform_->now() - start;
  }

  [[nodiscard]] Nanoseconds moving(KernelKind kind, std::int64_t bytes) const {
    return kernel_time(machine_.gpu, {.kind = kind, .sizes = {bytes}});
  }

  HardwareDescription machine_ = round_machine();
  std::unique_ptr<Platform> platform_;
};

TEST_F(SimulatedTimes, EnqueuingCostsTheHostItsCalls_AndSynchronizingTheWork) {
  machine_.host.launch.value = ns(40);
  open(1);
  const auto s = stream();
  const auto bytes = memory(0, 100'000);
  EXPECT_EQ(time_of([&] {
              enqueue_zero_bytes(*s, bytes->bytes());
              enqueue_zero_bytes(*s, bytes->bytes());
            }),
            ns(2 * 40));
  EXPECT_EQ(time_of([&] { s->synchronize(); }),
            2 * moving(KernelKind::kFill, 100'000) - ns(40));  // the first began at 40
}

TEST_F(SimulatedTimes, CopiesTakeTheWayBetweenTheirPlaces) {
  machine_.node.host_link.latency.value = ns(700);
  machine_.node.peer_link->latency.value = ns(300);
  open(2);
  const auto s = stream(1);
  const auto here = memory(1, 80'000);
  const auto there = memory(0, 80'000);
  const auto also_here = memory(1, 80'000);
  const auto host = platform_->allocate_host(Bytes{80'000});
  const auto time_of_copy = [&](Buffer& to, Buffer& from) {
    return time_of([&] {
      enqueue_copy_bytes(*s, to.bytes(), from.bytes());
      s->synchronize();
    });
  };
  EXPECT_EQ(time_of_copy(*here, *there), ns(300 + 8000));
  EXPECT_EQ(time_of_copy(*here, *host), ns(700 + 20'000));
  EXPECT_EQ(time_of_copy(*host, *here), ns(700 + 20'000));
  EXPECT_EQ(time_of_copy(*also_here, *here),
            moving(KernelKind::kCopy, 160'000));  // read and written
}

TEST_F(SimulatedTimes, WithoutPeerLinks_CopiesGoThroughTheHost) {
  machine_.node.host_link.latency.value = ns(700);
  machine_.node.peer_link.reset();
  open(2);
  const auto s = stream(1);
  const auto here = memory(1, 80'000);
  const auto there = memory(0, 80'000);
  EXPECT_EQ(time_of([&] {
              enqueue_copy_bytes(*s, here->bytes(), there->bytes());
              s->synchronize();
            }),
            ns(2 * 700 + 20'000));
}

// One way as fast as the driver copies, and both ways at once slower.
TEST_F(SimulatedTimes, CopiesStagedInTheHostsMemory_AreSlowerBothWays) {
  machine_.node.peer_link.reset();
  machine_.node.staged_link =
      StagedLinkDescription{{{2e9, "round"}, {ns(900), "round"}}, {1.6e9, "round"}};
  open(2);
  const auto here = memory(1, 80'000);
  const auto there = memory(0, 80'000);
  const auto here_too = memory(1, 80'000);
  const auto there_too = memory(0, 80'000);
  const auto to_here = stream(1);
  const auto to_there = stream(0);
  EXPECT_EQ(time_of([&] {
              enqueue_copy_bytes(*to_here, here->bytes(), there->bytes());
              to_here->synchronize();
            }),
            ns(900 + 40'000));
  EXPECT_EQ(time_of([&] {
              enqueue_copy_bytes(*to_here, here->bytes(), there->bytes());
              enqueue_copy_bytes(*to_there, there_too->bytes(), here_too->bytes());
              to_here->synchronize();
              to_there->synchronize();
            }),
            ns(900 + 50'000));
}

TEST_F(SimulatedTimes, PullsFromOneDeviceAtOnce_ShareItsPort) {
  open(5);
  const auto source = memory(0, 50'000);
  std::vector<std::unique_ptr<Stream>> streams;
  std::vector<std::unique_ptr<Buffer>> results;
  const Nanoseconds took = time_of([&] {
    for (int i = 1; i < 5; ++i) {
      streams.push_back(stream(i));
      results.push_back(memory(i, 50'000));
      enqueue_copy_bytes(*streams.back(), results.back()->bytes(), source->bytes());
    }
    for (const auto& one : streams) one->synchronize();
  });
  EXPECT_EQ(took, ns(4 * 5000));
}

TEST_F(SimulatedTimes, EventsCarryTheTimeAtWhichTheirStreamGetsThere) {
  open(2);
  const auto first = stream(0);
  const auto second = stream(1);
  const auto start = device(1).make_timed_event();
  const auto end = device(1).make_timed_event();
  const auto ready = device(0).make_event();
  const auto bytes = memory(0, 300'000);
  enqueue_zero_bytes(*first, bytes->bytes());
  first->record(*ready);
  second->record(*start);
  second->wait(*ready);
  second->delay(ns(25));
  second->record(*end);
  EXPECT_FALSE(end->is_done());
  second->synchronize();
  EXPECT_TRUE(end->is_done());
  EXPECT_EQ(*end - *start, moving(KernelKind::kFill, 300'000) + ns(25));
}

TEST_F(SimulatedTimes, StreamsThatStoodStillForAnotherDevice_WakeUp) {
  machine_.host.stream_wake = SourcedFigure<Nanoseconds>{ns(50), "round"};
  open(2);
  const auto first = stream(0);
  const auto second = stream(0);
  const auto other = stream(1);
  const auto ready = device(0).make_event();
  first->delay(ns(1000));
  first->record(*ready);
  second->wait(*ready);
  other->wait(*ready);
  other->delay(ns(1));
  EXPECT_EQ(time_of([&] { second->synchronize(); }), ns(1000));
  // The thread works for the first device, so that its call woke the other's stream up as well.
  EXPECT_EQ(time_of([&] { other->synchronize(); }), ns(50 + 1));
}

TEST_F(SimulatedTimes, ThreadsCallAtTheSameTime_ThoughTheyAreRecordedInTurn) {
  machine_.host.launch.value = ns(10);
  open(3);
  std::vector<std::unique_ptr<Stream>> streams;
  std::vector<Device*> devices;
  for (int i = 0; i < 3; ++i) {
    streams.push_back(stream(i));
    devices.push_back(&device(i));
  }
  const auto threads = platform_->make_threads(devices, ThreadLife::kKept);
  const auto body = [&](int i) {
    for (int call = 0; call <= i; ++call) streams[static_cast<std::size_t>(i)]->delay(ns(1));
  };
  EXPECT_EQ(time_of([&] { threads->run(body); }), ns(3 * 10));
}

TEST_F(SimulatedTimes, NewThreadsCostTheirStarts_KeptThreadsAWakeUp) {
  machine_.host.thread_start.value = ns(1000);
  machine_.host.wake.value = ns(30);
  open(3);
  const std::vector<Device*> devices{&device(0), &device(1), &device(2)};
  const auto nothing = [](int) {};
  const auto time_of_run = [&](ThreadLife life) {
    const auto threads = platform_->make_threads(devices, life);
    return time_of([&] { threads->run(nothing); });
  };
  EXPECT_EQ(time_of_run(ThreadLife::kOneRun), ns(3 * 1000 + 30));  // and one to see the last end
  EXPECT_EQ(time_of_run(ThreadLife::kKept), ns(30 + 30));
}

TEST_F(SimulatedTimes, FailureOfAThread_IsThrownWhenAllHaveRun) {
  open(2);
  int ran = 0;
  const auto threads = platform_->make_threads({&device(0), &device(1)}, ThreadLife::kKept);
  const Error error = error_of([&] {
    threads->run([&](int i) {
      ++ran;
      if (i == 0) fail(ErrorKind::kFailure, "thread 0");
    });
  });
  EXPECT_TRUE(mentions(error, "thread 0")) << error.what();
  EXPECT_EQ(ran, 2);
}

// Threads that each make calls on an interpreter: their own, or one for all.
class SimulatedInterpreters : public SimulatedTimes {
 protected:
  Nanoseconds time_with(bool is_shared) {
    const DispatchCosts costs = DispatchCosts::alike(ns(8));
    std::vector<std::unique_ptr<Interpreter>> interpreters;
    std::vector<std::unique_ptr<Stream>> streams;
    std::vector<Device*> devices;
    open(4);
    for (int i = 0; i < 4; ++i) {
      interpreters.push_back(std::make_unique<Interpreter>(costs));
      streams.push_back(stream(i));
      devices.push_back(&device(i));
    }
    const auto threads = platform_->make_threads(devices, ThreadLife::kKept);
    const auto body = [&](int i) {
      const auto mine = static_cast<std::size_t>(i);
      Interpreter& interpreter = *interpreters[is_shared ? 0 : mine];
      for (int call = 0; call < 5; ++call) {
        dispatch(interpreter, *streams[mine], DispatchKind::kCall);
      }
    };
    return time_of([&] { threads->run(body); });
  }
};

TEST_F(SimulatedInterpreters, OfTheThreadsOwn_HoldNobodyUp) {
  EXPECT_EQ(time_with(false), ns(5 * 8));
}

TEST_F(SimulatedInterpreters, SharedByAllThreads_AreNeverIdle) {
  EXPECT_EQ(time_with(true), ns(4 * 5 * 8));
}

TEST_F(SimulatedTimes, MemoryIsAddressesThatNobodyElseHas) {
  open(2);
  const auto first = memory(0, 1000);
  const auto second = memory(1, 1000);
  const auto host = platform_->allocate_host(Bytes{1000});
  EXPECT_GE(second->bytes().data() - first->bytes().data(), 1000);
  EXPECT_GE(host->bytes().data() - second->bytes().data(), 1000);
  EXPECT_FALSE(platform_->holds_data());
}

TEST_F(SimulatedTimes, TouchedMemory_EndsTheProcess) {
  open(1);
  const auto bytes = memory(0, 8);
  EXPECT_DEATH(*bytes->as<volatile int>().data() = 1, "");
}

TEST_F(SimulatedTimes, MemoryThatIsReadBack_IsAnErrorAtOnce) {
  open(1);
  const auto bytes = memory(0, 8);
  const Error error =
      error_of([&] { static_cast<void>(read_back<float>(device(0), bytes->as<float>())); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_TRUE(mentions(error, "a simulation computes no numbers")) << error.what();
}

TEST_F(SimulatedTimes, ANotedEvent_TakesNoCall_AndIsWhereTheHostWas) {
  machine_.host.launch.value = ns(40);
  open(1);
  const auto s = stream();
  const auto event = device(0).make_timed_event();
  s->delay(ns(10));
  EXPECT_EQ(time_of([&] { s->note(*event); }), ns(0));
  s->synchronize();
  EXPECT_EQ(event->on_clock(), ns(40 + 10));
}

TEST(SimulatedPlatform, HasTheGpusCapacity_UnlessAskedOtherwise) {
  PlatformOptions options;
  options.devices = 2;
  const auto usual = simulated::make_simulated_platform(round_machine(), options);
  EXPECT_EQ(usual->device(1).memory().capacity, mib(64));
  options.device_memory = {mib(1), mib(2)};
  const auto asked = simulated::make_simulated_platform(round_machine(), options);
  EXPECT_EQ(asked->device(1).memory().capacity, mib(2));
}

TEST(SimulatedPlatform, WithoutPeerAccess_HasNoLinksBetweenPeers) {
  PlatformOptions options;
  const auto hardware_of = [&options] {
    const auto platform = simulated::make_simulated_platform(round_machine(), options);
    return simulated::simulation_of(platform->device(0)).hardware();
  };
  EXPECT_TRUE(hardware_of().node.peer_link);
  options.peer_access = PeerAccess::kOff;
  EXPECT_FALSE(hardware_of().node.peer_link);
}

TEST(SimulatedPlatform, RefusesMoreDevicesThanANodeHas) {
  const Error error = error_of([] { static_cast<void>(simulated_devices(9)); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_TRUE(mentions(error, "round machine has 8 GPUs")) << error.what();
}

TEST(SimulatedPlatform, OfOneRank_RefusesMoreRanksThanItsNodesHaveGpus) {
  HardwareDescription machine = round_machine();
  PlatformOptions options;
  options.devices = 9;
  options.own_device = 0;
  const auto open = [&] {
    return simulated::make_simulated_platform(machine, options)->device_count();
  };
  const Error error = error_of([&] { static_cast<void>(open()); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_TRUE(mentions(error, "has 8 GPUs in all")) << error.what();
  machine.network = NetworkDescription{{2, "round"}, machine.node.host_link};
  EXPECT_EQ(open(), 1);
}

TEST(SimulatedPlatform, WithoutHardware_IsAUsageErrorThatNamesTheOption) {
  const Error error = error_of([] { static_cast<void>(simulated::described_hardware({})); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_TRUE(mentions(error, "--hardware")) << error.what();
}

}  // namespace
}  // namespace tandem::test
