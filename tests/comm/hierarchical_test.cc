// SPDX-License-Identifier: Apache-2.0
#include "common/comm/transports/hierarchical.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <string>

#include "common/base/error.h"
#include "common/comm/shared_memory/shared_memory.h"
#include "common/comm/thread_bootstrap.h"
#include "tests/comm/elements.h"
#include "tests/comm/nodes_of_threads.h"
#include "tests/support/errors.h"
#include "tests/support/host_devices.h"

namespace tandem::test {
namespace {

// A rank of a job on several nodes, beside the same job on one.
struct RankOnNode {
  RankOnNode(Bootstrap& world, const NodeLayout& nodes, Platform& platform,
             CollectiveObserver* observer = nullptr)
      : rank(world.rank()),
        size(world.size()),
        device(platform.device(rank)),
        several(make_communicator_of_threads(world, nodes, device, {.observer = observer})),
        one(make_shared_memory_communicator(world, device)),
        stream(device.make_stream(StreamPriority::kNormal)) {}

  int rank;
  int size;
  Device& device;
  std::unique_ptr<Communicator> several;
  std::unique_ptr<Communicator> one;
  std::unique_ptr<Stream> stream;
};

// Small whole numbers: exact in every type, and so is their sum over eight ranks.
constexpr int kPeriod = 7;
float whole_number(int rank, int i) { return static_cast<float>((3 * rank + i) % kPeriod - 3); }

template <class T>
std::vector<T> whole_numbers(int rank, std::int64_t count) {
  std::array<T, kPeriod> first;
  for (int i = 0; i < kPeriod; ++i) {
    first[static_cast<std::size_t>(i)] = static_cast<T>(whole_number(rank, i));
  }
  return repeated(first, count);
}

template <class T>
std::vector<T> sum_over_ranks(int ranks, std::int64_t count, float factor) {
  std::array<T, kPeriod> first;
  for (int i = 0; i < kPeriod; ++i) {
    float sum = 0;
    for (int rank = 0; rank < ranks; ++rank) sum += whole_number(rank, i);
    first[static_cast<std::size_t>(i)] = static_cast<T>(sum * factor);
  }
  return repeated(first, count);
}

template <class T>
void put_all(Device& device, Span<T> to, const std::vector<T>& values) {
  const auto stream = device.make_stream(StreamPriority::kNormal);
  const auto size = static_cast<std::int64_t>(values.size());
  stream->copy_bytes(as_writable_bytes(to), as_bytes(Span<const T>(values.data(), size, {})));
  stream->synchronize();
}

template <class T>
std::vector<std::byte> bits_of(Device& device, Span<T> values) {
  return read_back<std::byte>(device, as_writable_bytes(values));
}

// In place and apart, both ways of reducing; the bits of one node, and the right ones.
template <class T>
void check_all_reduce(RankOnNode& on, Span<T> mine, Span<T> result) {
  const std::int64_t count = mine.size();
  const auto own = on.device.allocate(mine.size_bytes());
  const Span<T> on_one_node = own->template as<T>();
  for (const ReduceOp op : {ReduceOp::kSum, ReduceOp::kAverage}) {
    put_all(on.device, mine, whole_numbers<T>(on.rank, count));
    put_all(on.device, on_one_node, whole_numbers<T>(on.rank, count));
    on.several->all_reduce(*on.stream, mine, result, op);
    on.one->all_reduce(*on.stream, on_one_node, op);
    on.stream->synchronize();
    const float factor = op == ReduceOp::kAverage ? 1.0F / static_cast<float>(on.size) : 1.0F;
    const auto expected = sum_over_ranks<T>(on.size, count, factor);
    const auto bits = bits_of(on.device, result);
    EXPECT_PRED2(same_elements, bits, bits_of(on.device, on_one_node)) << count;
    EXPECT_EQ(std::memcmp(bits.data(), expected.data(), bits.size()), 0) << count;
    if (mine.data() == result.data()) continue;
    const auto before = whole_numbers<T>(on.rank, count);
    EXPECT_EQ(std::memcmp(bits_of(on.device, mine).data(), before.data(), bits.size()), 0);
  }
}

template <class T>
void check_sizes(RankOnNode& on, std::initializer_list<std::int64_t> sizes) {
  for (const std::int64_t count : sizes) {
    const Bytes size = Bytes{count * static_cast<std::int64_t>(sizeof(T))};
    const auto shared = on.several->allocate(size);
    const auto shared_result = on.several->allocate(size);
    const auto own = on.device.allocate(size);
    check_all_reduce(on, shared->template as<T>(), shared->template as<T>());
    check_all_reduce(on, shared->template as<T>(), shared_result->template as<T>());
    check_all_reduce(on, own->template as<T>(), own->template as<T>());
  }
}

class HierarchicalTest : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(HierarchicalTest, AllReduce_HasTheBitsOfOneNode) {
  const NodeLayout nodes = nodes_of(GetParam());
  const int ranks = static_cast<int>(GetParam().size());
  const auto platform = host_devices(ranks);
  run_ranks_as_threads(ranks, [&](Bootstrap& world) {
    RankOnNode on(world, nodes, *platform);
    // Fewer than ranks, a share and some more, and more than a staged chunk.
    check_sizes<float>(on, {1, 33, 1000, (1 << 18) + 37});
    check_sizes<BFloat16>(on, {1, 97, 1001});
    check_sizes<Float16>(on, {1, 97, 1001});
  });
}

TEST_P(HierarchicalTest, OtherOperations_AreOverAllRanks) {
  const NodeLayout nodes = nodes_of(GetParam());
  const int ranks = static_cast<int>(GetParam().size());
  const auto platform = host_devices(ranks);
  run_ranks_as_threads(ranks, [&](Bootstrap& world) {
    RankOnNode on(world, nodes, *platform);
    const auto mine = on.device.allocate(bytes_of<float>(3));
    const auto all = on.device.allocate(bytes_of<float>(3 * ranks));
    put_all(on.device, mine->as<float>(), whole_numbers<float>(on.rank, 3));
    on.several->all_gather(*on.stream, mine->as<float>(), all->as<float>());
    on.several->broadcast(*on.stream, mine->as<float>(), ranks - 1);
    on.stream->synchronize();
    std::vector<float> gathered;
    for (int rank = 0; rank < ranks; ++rank) {
      for (const float value : whole_numbers<float>(rank, 3)) gathered.push_back(value);
    }
    EXPECT_EQ(read_back<float>(on.device, all->as<float>()), gathered);
    EXPECT_EQ(read_back<float>(on.device, mine->as<float>()), whole_numbers<float>(ranks - 1, 3));
    const std::vector<double> numbers = on.several->all_gather(static_cast<double>(on.rank));
    EXPECT_EQ(static_cast<int>(numbers.size()), ranks);
    EXPECT_EQ(numbers.back(), ranks - 1);
  });
}

using Hosts = std::vector<std::string>;
INSTANTIATE_TEST_SUITE_P(Nodes, HierarchicalTest,
                         testing::Values(Hosts{"a", "b"}, Hosts{"a", "a", "b", "b"},
                                         Hosts{"a", "b", "a", "b"}, Hosts{"a", "a", "b"},
                                         Hosts{"a", "b", "c"}, Hosts{"a", "b", "b", "c", "c", "c"},
                                         Hosts{"a", "a", "a", "b", "b", "b"}));

class Calls final : public CollectiveObserver {
 public:
  void enqueued(const CollectiveCall& call) noexcept override { note("enqueued", call); }
  void started(const CollectiveCall& call) noexcept override { note("started", call); }
  void finished(const CollectiveCall& call) noexcept override { note("finished", call); }
  [[nodiscard]] std::vector<std::string> all() const { return calls_; }

 private:
  void note(const char* what, const CollectiveCall& call) {
    const std::lock_guard lock(mutex_);
    calls_.push_back(fmt::format("{} {} {} {}", what, call.name, call.sequence, call.size.value));
  }
  std::mutex mutex_;
  std::vector<std::string> calls_;
};

TEST(HierarchicalObserverTest, IsToldOfWholeOperations) {
  const auto platform = host_devices(4);
  run_ranks_as_threads(4, [&](Bootstrap& world) {
    Calls calls;
    RankOnNode on(world, nodes_of({"a", "a", "b", "b"}), *platform, &calls);
    const auto values = on.several->allocate(bytes_of<float>(100));
    for (int round = 0; round < 2; ++round) {
      on.several->all_reduce(*on.stream, values->as<float>(), ReduceOp::kSum);
      on.stream->synchronize();
    }
    EXPECT_EQ(calls.all(),
              (std::vector<std::string>{"enqueued all_reduce 1 400", "started all_reduce 1 400",
                                        "finished all_reduce 1 400", "enqueued all_reduce 2 400",
                                        "started all_reduce 2 400", "finished all_reduce 2 400"}));
  });
}

TEST(HierarchicalObserverTest, SizeOfAGatherOrScatter_IsOfAllParts) {
  const auto platform = host_devices(2);
  run_ranks_as_threads(2, [&](Bootstrap& world) {
    Calls calls;
    RankOnNode on(world, nodes_of({"a", "b"}), *platform, &calls);
    const auto all = on.several->allocate(bytes_of<float>(100));
    const Span<float> mine = all->as<float>().subspan(50 * on.rank, 50);
    on.several->all_gather(*on.stream, mine, all->as<float>());
    on.several->reduce_scatter(*on.stream, all->as<float>(), mine, ReduceOp::kSum);
    on.stream->synchronize();
    const std::vector<std::string> all_calls = calls.all();
    EXPECT_EQ(std::count(all_calls.begin(), all_calls.end(), "finished all_gather 1 400"), 1);
    EXPECT_EQ(std::count(all_calls.begin(), all_calls.end(), "finished reduce_scatter 2 400"), 1);
  });
}

// Local ranks and the parts' own numbers would name another rank and another operation.
TEST(HierarchicalDeadlineTest, MessageNamesTheJobsRanks_AndTheWholeOperation) {
  const auto platform = host_devices(4);
  run_ranks_as_threads(4, [&](Bootstrap& world) {
    const NodeLayout nodes = nodes_of({"a", "a", "b", "b"});
    Device& device = platform->device(world.rank());
    const auto several = make_communicator_of_threads(world, nodes, device,
                                                      {.deadline = std::chrono::milliseconds(500)});
    const auto values = several->allocate(bytes_of<float>(100));
    const auto stream = device.make_stream(StreamPriority::kNormal);
    several->all_reduce(*stream, values->as<float>(), ReduceOp::kSum);
    stream->synchronize();
    barrier(world);
    if (world.rank() != 3) {
      several->all_reduce(*stream, values->as<float>(), ReduceOp::kSum);
      const Error error = error_of([&] { stream->synchronize(); });
      if (world.rank() == 2) {
        EXPECT_TRUE(mentions(error, "in all_reduce #2 (400 B): rank 2 waited")) << error.what();
        EXPECT_TRUE(mentions(error, "for rank 3,")) << error.what();
      }
    }
    barrier(world);  // nobody's memory goes while others look at it
  });
}

TEST(HierarchicalMemoryTest, MoreThanOneNodeHolds_IsOutOfMemoryOnAllRanks) {
  PlatformOptions options{.devices = 3, .oversubscribe = true};
  options.device_memory = {mib(16), mib(16), mib(8)};  // the other node's has less
  const auto platform = make_platform(BackendChoice::kHost, options);
  run_ranks_as_threads(3, [&](Bootstrap& world) {
    RankOnNode on(world, nodes_of({"a", "a", "b"}), *platform);
    const Error error = error_of([&] { static_cast<void>(on.several->allocate(mib(6))); });
    EXPECT_EQ(error.kind(), ErrorKind::kOutOfMemory) << error.what();
    EXPECT_NE(on.several->allocate(Bytes{100}), nullptr);
  });
}

TEST(HierarchicalAbortTest, EndsThoseWhoWaitOnAnyNode) {
  const auto platform = host_devices(4);
  const Error error = error_of([&] {
    run_ranks_as_threads(4, [&](Bootstrap& world) {
      RankOnNode on(world, nodes_of({"a", "a", "b", "b"}), *platform);
      const auto values = on.several->allocate(bytes_of<float>(100));
      if (world.rank() == 3) {
        on.several->abort();
        fail(ErrorKind::kFailure, "rank 3 gives up");
      }
      on.several->all_reduce(*on.stream, values->as<float>(), ReduceOp::kSum);
      const auto lost = capture_error([&] { on.stream->synchronize(); });
      if (!lost) return;  // a rank that got by before
      on.several->abort();
      throw Error(*lost);
    });
  });
  EXPECT_TRUE(mentions(error, "rank 3 gives up")) << error.what();
}

}  // namespace
}  // namespace tandem::test
