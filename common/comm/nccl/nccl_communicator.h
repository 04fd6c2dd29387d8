// SPDX-License-Identifier: Apache-2.0
//
// Ranks on GPUs of their own, over NCCL.
//
//   caller's thread   record start | NCCL's call, until it is on the stream | scale | record end
//   stream                 start ------- collective (spins for its peers) ------- scale -- end
//   watching thread   looks: begun? done? late? NCCL's own trouble? another rank's?
//
// Trouble of any kind ends the same way, in this order: the GPU counts as failed, so that nobody
// takes what the collective left for a result; the other ranks of the node are informed; the
// communicator is aborted, which lets go of the streams. Where a thread does not come out of NCCL,
// whose calls nobody can interrupt, the process ends with the reason.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/base/units.h"
#include "common/comm/communicator.h"
#include "common/comm/nccl/nccl_api.h"
#include "common/comm/nccl/nccl_memory.h"
#include "common/comm/node_memory.h"
#include "common/runtime/cuda/check.h"
#include "common/runtime/cuda/cuda_stream.h"
#include "common/runtime/span.h"
#include "common/runtime/stream.h"

namespace tandem::nccl {

// Enqueues values *= factor: multiplied in fp32 and rounded once. NCCL's own average scales each
// part before the sum, by a factor in the elements' type (bf16's 1/3 is 0.2 % off). A test puts its
// own in its place.
using Scale = void (*)(cuda::CudaStream& stream, AnySpan values, float factor);

// The collectives of one rank that are on their streams and not known to be done: an event before
// and one after each show how far it has come. In order, as the streams run them. Thread-safe: the
// caller adds, a watching thread looks.
class InFlight {
 public:
  // `observer` may be absent, else outlives this.
  InFlight(cuda::Gpu& gpu, CollectiveObserver* observer) : gpu_(gpu), observer_(observer) {}

  // Around what is enqueued as `call`.
  using Ticket = std::uint64_t;
  [[nodiscard]] Ticket begin(cuda::CudaStream& stream, const CollectiveCall& call);
  void end(Ticket ticket, cuda::CudaStream& stream);

  // Forgets a call that came to nothing.
  void drop(Ticket ticket);

  // Reports to the observer what has begun and ended since the last look. The collective that began
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

// A rank waits at the call until the collective is on its stream; the first ones connect the ranks
// and take longest. An average is NCCL's sum, then scaled in fp32; sums of 16-bit numbers are
// rounded as NCCL's algorithm has it. A lost or late peer is a communication error at the next
// synchronize() of any stream of the GPU, which stays failed.
//
// allocate() waits until no rank has a collective in flight, and frees what has gone meanwhile: see
// Memory. All ranks of a node end theirs together, on a thread each.
class NcclCommunicator final : public Communicator {
 public:
  // Collective; `bootstrap` is not kept, `device`, a GPU's, and `api` outlive it.
  NcclCommunicator(const Api& api, Scale scale, Bootstrap& bootstrap, Device& device,
                   const CommunicatorOptions& options);
  ~NcclCommunicator() override;

  [[nodiscard]] int rank() const override { return host_->rank(); }
  [[nodiscard]] int size() const override { return host_->size(); }
  [[nodiscard]] std::unique_ptr<Buffer> allocate(Bytes size) override;

  // Root's host memory of a scatter or gather passes through memory of its GPU, taken at the first
  // call of a size; where ranks are threads of one process that has to be while nothing is in
  // flight.
  void enqueue(Stream& stream, const CollectiveRequest& request) override;

  void barrier() override { static_cast<void>(host_->all_gather("")); }
  [[nodiscard]] std::vector<std::string> all_gather(const std::string& mine) override {
    return host_->all_gather(mine);
  }
  void abort() noexcept override { peers_.raise(); }

  // Begins a group of calls on several communicators by one thread: until it ends, calls are on no
  // stream, and no other thread gets into NCCL's communicator.
  void enter_group();
  // Lets other threads in again. All members do so before any one leaves: a member that gives up
  // waits for its watcher, and watchers of the others wait to get in.
  void let_others_in();
  // Enqueues what comes behind the calls; NCCL's own group ended with `result`.
  void leave_group(ncclResult_t result);

 private:
  struct Collective {
    std::function<void(ncclComm_t, cudaStream_t)> calls{};
    std::function<void(cuda::CudaStream&)> after{};  // behind it on the stream; may be absent
  };
  [[nodiscard]] Collective collective_of(Stream& stream, const CollectiveRequest& request);
  [[nodiscard]] Collective scatter(Stream& stream, const CollectiveRequest& request);
  [[nodiscard]] Collective gather(const CollectiveRequest& request);
  void send(ConstAnySpan values, int to, ncclComm_t comm, cudaStream_t on) const;
  void recv(AnySpan values, int from, ncclComm_t comm, cudaStream_t on) const;
  void launch(cuda::CudaStream& stream, const CollectiveCall& call,
              const CollectiveRequest& request, const Collective& collective);
  void fail_enqueued(const CollectiveCall& call, const std::optional<Error>& error);
  void finish(InFlight::Ticket ticket, cuda::CudaStream& stream, const Collective& collective);
  void check_order(const std::string& note);
  [[nodiscard]] CollectiveCall next(const char* name, Bytes size);

  [[nodiscard]] std::function<void(cuda::CudaStream&)> average(AnySpan values, ReduceOp op) const;
  [[nodiscard]] AnySpan on_device(AnySpan at_root);
  [[nodiscard]] ConstAnySpan copied_to_device(Stream& stream, ConstAnySpan source);
  void exchange_blocks(const std::vector<Block>& blocks,
                       const std::function<void(int peer, const Block& block)>& each) const;

  void wait_until_quiet();
  [[nodiscard]] int job_rank() const;
  [[nodiscard]] Error told_to_end() const;

  void watch();
  [[nodiscard]] std::optional<Error> trouble();
  void give_up(const Error& reason) noexcept;
  void end();

  const Api& api_;
  const Scale scale_;
  cuda::CudaDevice& device_;
  const CommunicatorOptions options_;
  const std::unique_ptr<Bootstrap> host_;   // of callers' exchanges
  const std::unique_ptr<Bootstrap> order_;  // of comparing what was enqueued; null: it is not
  AbortFlag peers_;
  InFlight in_flight_;
  const std::shared_ptr<Memory> memory_;  // shared with its buffers
  std::unique_ptr<Handle> handle_;
  std::uint64_t enqueued_ = 0;
  std::vector<std::unique_ptr<Buffer>> staging_;  // of host memory; the last is the largest

  std::optional<Handle::Inside> inside_group_;                             // absent outside of one
  std::vector<std::pair<CollectiveCall, std::function<void()>>> grouped_;  // what follows its calls

  std::mutex mutex_;  // guards closed_
  std::condition_variable changed_;
  bool closed_ = false;
  // The caller is in a call that compares the order of collectives: it finds out for itself.
  std::atomic<bool> comparing_ = false;
  std::thread watcher_;  // last: it uses all of the above
};

// Calls of one thread on several communicators, all NcclCommunicators, as one group of NCCL's:
// without it the first would wait for the second, which the same thread has yet to make. Where
// `calls` throws, the group is ended all the same.
void call_together(const Api& api, const std::vector<Communicator*>& ranks,
                   const std::function<void()>& calls);

}  // namespace tandem::nccl
