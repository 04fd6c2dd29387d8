// SPDX-License-Identifier: Apache-2.0
#include "common/comm/mpi/mpi_communicator.h"

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <iostream>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "common/base/dtype.h"
#include "common/base/error.h"
#include "common/base/units.h"
#include "common/comm/bootstrap.h"
#include "common/comm/collective_errors.h"
#include "common/comm/collective_queue.h"
#include "common/comm/communicator.h"
#include "common/comm/mpi/mpi_handles.h"
#include "common/comm/rank_exit.h"
#include "common/comm/reduction.h"
#include "common/comm/watchdog.h"

namespace tandem {
namespace {

using Kind = CollectiveRequest::Kind;

constexpr int kMessageTag = 1;

// The time for an aborted rank's program to report its error beside its own report, and the time
// for MPI to end the job.
constexpr Nanoseconds kGrace = std::chrono::seconds(2);
constexpr unsigned kSecondsToEnd = 5;

[[noreturn]] void exit_at_once(int) { _exit(1); }

// Called where a thread of this process is inside MPI for good.
void end_job(Bootstrap& bootstrap, const RankExit& rank_exit, const Error& error) {
  rank_exit.report(error);
  // The line is written in one piece, since the launcher writes to the same stream.
  std::cerr << std::string(error.what()) + "\n" << std::flush;
  rank_exit.leave(error);
  std::signal(SIGALRM, exit_at_once);  // bootstrap.abort() may hang inside MPI
  alarm(kSecondsToEnd);
  bootstrap.abort(1);
  _exit(1);
}

template <class Span, class Body>
void for_chunks(Span values, Body&& body) {
  const std::int64_t chunk = kMpiChunk.value / size_of(values.dtype());
  for (std::int64_t done = 0; done < values.size(); done += chunk) {
    body(done, static_cast<int>(std::min(chunk, values.size() - done)));
  }
}

void copy_part(ConstAnySpan from, AnySpan to) {
  if (from.data() == to.data() || from.empty()) return;
  std::memcpy(to.data(), from.data(), static_cast<std::size_t>(from.size_bytes().value));
}

// A call on the caller's thread, which is not part of the streams' sequence.
CollectiveCall on_host(const char* name, Bytes size) {
  return {.sequence = 0, .name = name, .size = size};
}

// The stream's worker makes one call at a time for collectives; gather_texts() may run
// at the same time on the caller's thread. Collectives and the callers' control messages do not
// mix: each kind has an MPI communicator.
class MpiCommunicator final : public Communicator {
 public:
  MpiCommunicator(Bootstrap& bootstrap, Device& device, const CommunicatorOptions& options)
      : rank_(bootstrap.rank()),
        ranks_(bootstrap.size()),
        job_ranks_(bootstrap.job_ranks()),
        device_(device),
        checks_order_(options.check_order == OrderCheck::kAlways),
        on_stream_(bootstrap, options.deadline, options.rank_exit),
        on_host_(bootstrap, options.deadline, options.rank_exit),
        rank_exit_(options.rank_exit),
        watchdog_(
            job_rank(rank_), options.deadline,
            [this, &bootstrap](const Error& error) { end_job(bootstrap, rank_exit_, error); }),
        queue_(rank_, options, [this] { abort(); }) {}

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return ranks_; }

  [[nodiscard]] std::unique_ptr<Buffer> allocate(Bytes size) override {
    Exchange exchange(*this, on_host("allocate", size));
    std::unique_ptr<Buffer> buffer;
    attempt_together(exchange, [&] { buffer = device_.allocate(size); });
    return buffer;
  }

  void enqueue(Stream& stream, const CollectiveRequest& request) override {
    const ConstAnySpan from = request.from;
    const AnySpan to = request.to;
    const int root = request.root;
    switch (request.kind) {
      case Kind::kAllReduce:
        return queue(stream, request, [=, this, op = request.op](const CollectiveCall& call) {
          all_reduce_values(call, from, to);
          scale(to, op);
        });
      case Kind::kBroadcast:
        return queue(stream, request,
                     [=, this](const CollectiveCall& call) { broadcast_values(call, to, root); });
      case Kind::kReduce:
        return enqueue_reduce(stream, request);
      case Kind::kScatter:
        return enqueue_scatter(stream, request);
      case Kind::kGather:
        return enqueue_gather(stream, request);
    }
  }

  void barrier() override { static_cast<void>(gather_texts(on_host("barrier", Bytes{0}), "")); }

  [[nodiscard]] std::vector<std::string> all_gather(const std::string& mine) override {
    const Bytes size{static_cast<std::int64_t>(mine.size())};
    return gather_texts(on_host("all_gather of texts", size), mine);
  }

  // Other ranks may wait for this rank inside MPI, where only the job's end reaches them. This
  // rank's program first gets time to report its error and end the job itself.
  void abort() noexcept override {
    aborted_ = true;
    if (ranks_ == 1) return;
    watchdog_.expire(kGrace + rank_exit_.grace,
                     fmt::format("rank {} has aborted its communicator while others may wait for "
                                 "it: ending the job; look at what was said before",
                                 job_rank(rank_)));
  }

 private:
  // The ranks' exchange of texts in a call, which errors name.
  class Exchange final : public RankExchange {
   public:
    Exchange(MpiCommunicator& ranks, const CollectiveCall& call) : ranks_(ranks), call_(call) {}

    [[nodiscard]] int rank() const override { return ranks_.rank(); }
    [[nodiscard]] int size() const override { return ranks_.size(); }
    [[nodiscard]] std::vector<std::string> all_gather(const std::string& mine) override {
      return ranks_.gather_texts(call_, mine);
    }

   private:
    MpiCommunicator& ranks_;
    const CollectiveCall call_;
  };

  [[nodiscard]] int job_rank(int rank) const { return job_ranks_[static_cast<std::size_t>(rank)]; }

  // ---- what is queued ----

  // Takes body(call) as any type, since every wrapping of functions costs time in each call.
  template <class Body>
  void queue(Stream& stream, const CollectiveRequest& request, Body body) {
    queue_.enqueue(stream, request,
                   [this, note = checks_order_ ? note_of(request).value() : 0,
                    body = std::move(body)](const CollectiveCall& call) {
                     if (checks_order_) check_order(call, note);
                     body(call);
                   });
  }

  // The check costs a message. Every rank sees all notes, so all ranks fail or none does.
  void check_order(const CollectiveCall& call, std::int64_t mine) {
    std::vector<std::int64_t> notes(static_cast<std::size_t>(ranks_));
    inside(call, "MPI_Allgather", [&] {
      return MPI_Allgather(&mine, 1, MPI_INT64_T, notes.data(), 1, MPI_INT64_T, on_stream_.get());
    });
    for (int peer = 0; peer < ranks_; ++peer) {
      if (notes[static_cast<std::size_t>(peer)] == mine) continue;
      throw diverged(job_rank(rank_), job_rank(peer));
    }
  }

  void enqueue_reduce(Stream& stream, const CollectiveRequest& request) {
    const ConstAnySpan mine = request.from;
    const AnySpan result = request.to;
    const int root = request.root;
    // MPI only reads the values of ranks other than the root, so the const_cast is safe.
    const AnySpan values = rank_ == root ? result
                                         : AnySpan(const_cast<std::byte*>(mine.data()), mine.size(),
                                                   mine.dtype(), mine.device());
    queue(stream, request, [=, this](const CollectiveCall& call) {
      if (rank_ == root) copy_part(mine, result);
      reduce_values(call, values, root);
    });
  }

  void enqueue_scatter(Stream& stream, const CollectiveRequest& request) {
    queue(stream, request,
          [this, source = request.from, mine = request.to, root = request.root,
           blocks = copy_of(request.blocks)](const CollectiveCall& call) {
            if (rank_ != root) return receive_values(call, mine, root);
            for (int peer = 0; peer < ranks_; ++peer) {
              const ConstAnySpan part = part_of(source, blocks, peer);
              peer == rank_ ? copy_part(part, mine) : send_values(call, part, peer);
            }
          });
  }

  void enqueue_gather(Stream& stream, const CollectiveRequest& request) {
    queue(stream, request,
          [this, mine = request.from, destination = request.to, root = request.root,
           blocks = copy_of(request.blocks)](const CollectiveCall& call) {
            if (rank_ != root) return send_values(call, mine, root);
            for (int peer = 0; peer < ranks_; ++peer) {
              const AnySpan part = part_of(destination, blocks, peer);
              peer == rank_ ? copy_part(mine, part) : receive_values(call, part, peer);
            }
          });
  }

  [[nodiscard]] static std::vector<Block> copy_of(std::span<const Block> blocks) {
    return {blocks.begin(), blocks.end()};
  }

  template <class Span>
  [[nodiscard]] static Span part_of(Span all, const std::vector<Block>& blocks, int rank) {
    const Block& block = blocks[static_cast<std::size_t>(rank)];
    return all.subspan(block.offset, block.count);
  }

  void scale(AnySpan values, ReduceOp op) const {
    if (op == ReduceOp::kSum || ranks_ == 1) return;
    const Reduction reduction{.type = values.dtype(), .factor = factor_of(op, ranks_)};
    reduce_elements({values.data()}, {values.data()}, {0, values.size()}, reduction);
  }

  // ---- MPI's calls ----

  // Each wait of a collective has the whole deadline: the collective ends only with its last chunk.
  template <class Call>
  void inside(const CollectiveCall& call, const char* function, Call&& run) {
    if (aborted_) throw aborted_by_others(job_rank(rank_));
    int code = MPI_SUCCESS;
    {
      const auto watch = watchdog_.watch(call);
      code = run();
    }
    check_mpi(code, function);
  }

  void all_reduce_values(const CollectiveCall& call, ConstAnySpan mine, AnySpan result) {
    const MpiElement element = elements_.of(result.dtype());
    const bool in_place = mine.data() == result.data();
    for_chunks(result, [&](std::int64_t done, int count) {
      const void* const from = in_place ? MPI_IN_PLACE : mine.subspan(done, count).data();
      inside(call, "MPI_Allreduce", [&] {
        return MPI_Allreduce(from, result.subspan(done, count).data(), count, element.type,
                             element.sum, on_stream_.get());
      });
    });
  }

  void reduce_values(const CollectiveCall& call, AnySpan values, int root) {
    const MpiElement element = elements_.of(values.dtype());
    for_chunks(values, [&](std::int64_t done, int count) {
      void* const part = values.subspan(done, count).data();
      inside(call, "MPI_Reduce", [&] {
        return MPI_Reduce(rank_ == root ? MPI_IN_PLACE : part, part, count, element.type,
                          element.sum, root, on_stream_.get());
      });
    });
  }

  void broadcast_values(const CollectiveCall& call, AnySpan values, int root) {
    const MPI_Datatype type = elements_.of(values.dtype()).type;
    for_chunks(values, [&](std::int64_t done, int count) {
      inside(call, "MPI_Bcast", [&] {
        return MPI_Bcast(values.subspan(done, count).data(), count, type, root, on_stream_.get());
      });
    });
  }

  void send_values(const CollectiveCall& call, ConstAnySpan values, int to) {
    const MPI_Datatype type = elements_.of(values.dtype()).type;
    for_chunks(values, [&](std::int64_t done, int count) {
      inside(call, "MPI_Send", [&] {
        return MPI_Send(values.subspan(done, count).data(), count, type, to, kMessageTag,
                        on_stream_.get());
      });
    });
  }

  void receive_values(const CollectiveCall& call, AnySpan values, int from) {
    const MPI_Datatype type = elements_.of(values.dtype()).type;
    for_chunks(values, [&](std::int64_t done, int count) {
      MPI_Status status{};
      inside(call, "MPI_Recv", [&] {
        return MPI_Recv(values.subspan(done, count).data(), count, type, from, kMessageTag,
                        on_stream_.get(), &status);
      });
      int came = 0;
      check_mpi(MPI_Get_count(&status, type, &came), "MPI_Get_count");
      if (came == count) return;
      fail(PeerFailure{.kind = PeerFailure::Kind::kDiverged},
           "rank {} sent {} elements and rank {} receives {}: both must name as many",
           job_rank(from), done + came, job_rank(rank_), values.size());
    });
  }

  [[nodiscard]] std::vector<std::string> gather_texts(const CollectiveCall& call,
                                                      const std::string& mine) {
    const auto ranks = static_cast<std::size_t>(ranks_);
    const int length = static_cast<int>(mine.size());
    std::vector<int> lengths(ranks);
    inside(call, "MPI_Allgather", [&] {
      return MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, on_host_.get());
    });
    std::vector<int> offsets(ranks);
    std::exclusive_scan(lengths.begin(), lengths.end(), offsets.begin(), 0);
    std::string all(static_cast<std::size_t>(offsets.back() + lengths.back()), '\0');
    if (all.empty()) return std::vector<std::string>(ranks);  // a barrier
    inside(call, "MPI_Allgatherv", [&] {
      return MPI_Allgatherv(mine.data(), length, MPI_CHAR, all.data(), lengths.data(),
                            offsets.data(), MPI_CHAR, on_host_.get());
    });
    std::vector<std::string> texts;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      texts.push_back(all.substr(static_cast<std::size_t>(offsets[rank]),
                                 static_cast<std::size_t>(lengths[rank])));
    }
    return texts;
  }

  const int rank_;
  const int ranks_;
  const std::vector<int> job_ranks_;  // the job's number of each rank, for messages
  Device& device_;
  const bool checks_order_;
  const MpiComm on_stream_;
  const MpiComm on_host_;
  const MpiElements elements_;
  std::atomic<bool> aborted_ = false;
  const RankExit rank_exit_;
  Watchdog watchdog_;
  CollectiveQueue queue_;
};

}  // namespace

std::unique_ptr<Communicator> make_mpi_communicator(Bootstrap& bootstrap, Device& device,
                                                    const CommunicatorOptions& options) {
  if (bootstrap.shares_address_space() && bootstrap.size() > 1) {
    fail(ErrorKind::kUsage,
         "the transport mpi needs a process for each rank, and these are threads: launch "
         "processes, or use the transport shared_memory");
  }
  return std::make_unique<MpiCommunicator>(bootstrap, device, options);
}

}  // namespace tandem
