// SPDX-License-Identifier: Apache-2.0
//
// Ranks of the communicator over the stand-ins for NCCL and CUDA's runtime, each on a thread.
#pragma once

#include "common/runtime/copy.h"
#include "tests/comm/nccl_stand_in.h"
#include "tests/support/errors.h"
#include "tests/support/host_devices.h"

namespace tandem::test {

inline constexpr Nanoseconds kShort = std::chrono::milliseconds(300);
inline const CommunicatorOptions kPatient{.deadline = std::chrono::seconds(20)};
inline const CommunicatorOptions kHasty{.deadline = kShort};

// One rank of a case.
struct FakeRank {
  FakeRank(Bootstrap& ranks, Device& its_device, const CommunicatorOptions& options)
      : bootstrap(ranks),
        device(its_device),
        stream(device.make_stream(StreamPriority::kNormal)),
        values(device.allocate(bytes_of<float>(4))),
        communicator(make_on_fake(ranks, device, options)) {
    device.bind_this_thread();
    put(device, span(), std::vector<float>(4, static_cast<float>(bootstrap.rank() + 1)));
  }

  [[nodiscard]] int rank() const { return bootstrap.rank(); }
  [[nodiscard]] Span<float> span() { return values->as<float>(); }
  void all_reduce() { communicator->all_reduce(*stream, span(), ReduceOp::kSum); }
  [[nodiscard]] Error error_at_wait() {
    return error_of([this] { stream->synchronize(); });
  }

  Bootstrap& bootstrap;
  Device& device;
  const std::unique_ptr<Stream> stream;
  const std::unique_ptr<Buffer> values;
  std::unique_ptr<Communicator> communicator;  // ends before what it works on
};

class NcclCommunicatorTest : public ::testing::Test {
 protected:
  void SetUp() override { fake_nccl::reset(); }
  void TearDown() override {
    platform_.reset();
    expect_clean();
  }

  void open(int ranks) {
    stand_in::reset(ranks);
    platform_ = stand_in_gpus(ranks);
  }

  // `body` on every rank; ranks end together.
  void on_ranks(int ranks, const CommunicatorOptions& options,
                const std::function<void(FakeRank&)>& body) {
    open(ranks);
    run_ranks_as_threads(ranks, [&](Bootstrap& bootstrap) {
      FakeRank rank(bootstrap, platform_->device(bootstrap.rank()), options);
      body(rank);
      barrier(bootstrap);
    });
  }

  // The error of making the communicators, on each rank.
  [[nodiscard]] std::vector<Error> errors_of_start(int ranks, const CommunicatorOptions& options) {
    open(ranks);
    std::vector<Error> errors(static_cast<std::size_t>(ranks), Error(ErrorKind::kLogic, "none"));
    run_ranks_as_threads(ranks, [&](Bootstrap& bootstrap) {
      errors[static_cast<std::size_t>(bootstrap.rank())] = error_of([&] {
        static_cast<void>(make_on_fake(bootstrap, platform_->device(bootstrap.rank()), options));
      });
    });
    return errors;
  }

  std::unique_ptr<Platform> platform_;
};

}  // namespace tandem::test
