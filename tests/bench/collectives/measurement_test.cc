// SPDX-License-Identifier: Apache-2.0
#include "bench/collectives/measurement.h"

#include <gtest/gtest.h>

#include <tuple>

#include "common/comm/shared_memory/shared_memory.h"
#include "common/comm/thread_bootstrap.h"
#include "tests/support/errors.h"
#include "tests/support/forwarding_communicator.h"
#include "tests/support/host_devices.h"

namespace tandem::bench {
namespace {

// Runs `body` on ranks that are threads, each with a communicator of its own.
template <class Body>
void on_ranks(int ranks, const Body& body) {
  const auto platform = test::host_devices(ranks);
  run_ranks_as_threads(ranks, [&](Bootstrap& bootstrap) {
    Device& device = platform->device(bootstrap.rank());
    const auto communicator = make_shared_memory_communicator(bootstrap, device);
    body(Rank{bootstrap, *platform, device, *communicator});
  });
}

class EveryCollective : public testing::TestWithParam<std::tuple<Choice<Collective>, DType, int>> {
};

TEST_P(EveryCollective, LeavesNoWrongElement) {
  const auto& [choice, type, ranks] = GetParam();
  const auto forms = choice.value == Collective::kAllReduce
                         ? std::vector{BufferUse::kInPlace, BufferUse::kOutOfPlace}
                         : std::vector{BufferUse::kOnly};
  on_ranks(ranks, [&, &collective = choice, type = type, ranks = ranks](const Rank& rank) {
    for (const BufferUse form : forms) {
      for (const ReduceOp op : {ReduceOp::kAverage, ReduceOp::kSum}) {
        const CollectiveCase measured{.collective = collective.value,
                                      .form = form,
                                      .count = ranks * 37,
                                      .type = type,
                                      .op = op,
                                      .calls = 2};
        const CollectiveResult result = measure_collective(rank, measured, 3);
        EXPECT_EQ(result.wrong, "");
        EXPECT_EQ(result.wrong_elements, 0);
        EXPECT_EQ(result.seconds.size(), 3U);
        EXPECT_EQ(result.copy_seconds.size(), 3U);
        EXPECT_EQ(result.rank_seconds.size(), static_cast<std::size_t>(ranks));
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(, EveryCollective,
                         testing::Combine(testing::ValuesIn(kCollectives),
                                          testing::Values(DType::kFloat32, DType::kBFloat16,
                                                          DType::kFloat16),
                                          testing::Values(2, 3)),
                         [](const auto& one) {
                           return fmt::format("{}_{}_{}", std::get<0>(one.param).name,
                                              tandem::name_of(std::get<1>(one.param)),
                                              std::get<2>(one.param));
                         });

TEST(CollectiveMeasurement, WorldOfOne_HasNoMemcpyBesideIt) {
  on_ranks(1, [](const Rank& rank) {
    const auto result = measure_collective(rank, {.count = 16}, 2);
    EXPECT_EQ(result.seconds.size(), 2U);
    EXPECT_TRUE(result.copy_seconds.empty());
  });
}

TEST(CollectiveMeasurement, WhatDoesNotFit_IsSkippedOnAllRanks) {
  const auto platform = host::make_host_platform(
      {.devices = 2, .oversubscribe = true, .device_memory = {mib(8), mib(4)}});
  run_ranks_as_threads(2, [&](Bootstrap& bootstrap) {
    Device& device = platform->device(bootstrap.rank());
    const auto communicator = make_shared_memory_communicator(bootstrap, device);
    const Rank rank{bootstrap, *platform, device, *communicator};
    const auto result = measure_collective(rank, {.count = mib(2).value / 4}, 2);
    EXPECT_NE(result.skipped.find("host:1 has too little memory: 4.0 MiB needed"),
              std::string::npos)
        << result.skipped;
  });
}

// Rank 1 ends with one wrong element, from the given call on.
class OneWrongElement final : public test::ForwardingCommunicator {
 public:
  OneWrongElement(Communicator& inner, int from_call)
      : ForwardingCommunicator(inner), from_call_(from_call) {}

  void enqueue(Stream& stream, const CollectiveRequest& request) override {
    ForwardingCommunicator::enqueue(stream, request);
    if (request.kind != CollectiveRequest::Kind::kAllReduce) return;
    if (rank() != 1 || ++calls_ < from_call_) return;
    enqueue_copy_bytes(stream, request.to.subspan(5, 1).bytes(),
                       as_bytes(Span<const float>(&kWrong, 1, DeviceId{})));
  }

 private:
  static constexpr float kWrong = 1000;
  const int from_call_;
  int calls_ = 0;
};

std::string wrong_from_call(const Rank& rank, int call, BufferUse form, int samples) {
  OneWrongElement wrong(rank.communicator, call);
  const Rank with_wrong{rank.bootstrap, rank.platform, rank.device, wrong};
  const CollectiveCase measured{.form = form, .count = 64};
  const CollectiveResult result = measure_collective(with_wrong, measured, samples);
  EXPECT_EQ(result.wrong_elements, 1);
  return result.wrong;
}

TEST(CollectiveMeasurement, WrongElement_IsFoundOnAllRanksBeforeAnythingIsTimed) {
  on_ranks(2, [](const Rank& rank) {
    for (const BufferUse form : {BufferUse::kInPlace, BufferUse::kOutOfPlace}) {
      const std::string wrong = wrong_from_call(rank, 1, form, 3);
      EXPECT_TRUE(wrong.starts_with(
          "all_reduce of 256 B left wrong elements on rank 1: element 5 is 1000, not "))
          << wrong;
    }
  });
}

TEST(CollectiveMeasurement, WrongElementOfTheLastSample_IsFoundAfterIt) {
  on_ranks(2, [](const Rank& rank) {
    const int last = 1 + 5 + 3;  // the check, the warm-up, the samples
    EXPECT_NE(wrong_from_call(rank, last, BufferUse::kOutOfPlace, 3), "");
  });
}

}  // namespace
}  // namespace tandem::bench
