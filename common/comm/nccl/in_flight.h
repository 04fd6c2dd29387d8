// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "common/base/units.h"
#include "common/comm/communicator.h"
#include "common/runtime/cuda/cuda_stream.h"
#include "common/runtime/cuda/handles.h"

namespace tandem::nccl {

// The collectives of one rank that are on their streams and not known to be done: an event before
// and one behind each tell how far it has come. In order, as the streams run them. Thread-safe: the
// caller adds, a watching thread looks.
class InFlight {
 public:
  // `observer` may be absent, else outlives this.
  InFlight(cuda::Gpu& gpu, CollectiveObserver* observer) : gpu_(gpu), observer_(observer) {}

  // Around what is enqueued as `call`; nothing is tracked on a stream that is being captured.
  using Ticket = std::uint64_t;
  [[nodiscard]] Ticket begin(cuda::CudaStream& stream, const CollectiveCall& call);
  void end(Ticket ticket, cuda::CudaStream& stream);

  // Forgets a call that came to nothing.
  void drop(Ticket ticket);

  // Tells the observer what has begun and ended since the last look. The collective that began
  // longest ago, where it is not done.
  struct Running {
    CollectiveCall call;
    Nanoseconds since{0};  // its beginning was seen
  };
  [[nodiscard]] std::optional<Running> look(TimePoint now);

  [[nodiscard]] bool is_empty() const;

  // Once none of them will end.
  void forget();

 private:
  struct Flight {
    Ticket ticket = 0;
    CollectiveCall call{};
    std::unique_ptr<cuda::UniqueEvent> start{};
    std::unique_ptr<cuda::UniqueEvent> end{};
    bool is_launched = false;  // its end is recorded
    std::optional<TimePoint> began{};
  };
  [[nodiscard]] std::unique_ptr<cuda::UniqueEvent> take_event();
  [[nodiscard]] bool is_done(const cuda::UniqueEvent& event) const;
  void record(const cuda::UniqueEvent& event, cuda::CudaStream& stream) const;

  cuda::Gpu& gpu_;
  CollectiveObserver* const observer_;
  mutable std::mutex mutex_;  // guards all below
  Ticket tickets_ = 0;
  std::deque<Flight> flights_;
  std::vector<std::unique_ptr<cuda::UniqueEvent>> spare_;
};

}  // namespace tandem::nccl
