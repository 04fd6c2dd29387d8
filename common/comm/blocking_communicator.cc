// SPDX-License-Identifier: Apache-2.0
#include "common/comm/blocking_communicator.h"

#include <cstring>

#include "common/comm/bootstrap.h"
#include "common/comm/host_collective.h"
#include "common/comm/reduction.h"
#include "common/comm/rendezvous.h"
#include "common/runtime/host/host_device.h"

namespace tandem {

namespace {

using host::ModelledTime;

enum class NotedKind {
  kSum,
  kAverage,
  kBroadcast,
  kReduce,
  kAllGather,
  kReduceScatter,
  kScatter,
  kGather
};

NotedKind kind_of(ReduceOp op) {
  return op == ReduceOp::kAverage ? NotedKind::kAverage : NotedKind::kSum;
}

class BlockingCommunicator final : public Communicator {
 public:
  BlockingCommunicator(Bootstrap& bootstrap, Device& device, const CommunicatorOptions& options,
                       std::unique_ptr<BlockingTransport> transport)
      : rank_(bootstrap.rank()),
        size_(bootstrap.size()),
        job_ranks_(bootstrap.job_ranks()),
        device_(device),
        checks_order_(options.check_order == OrderCheck::kAlways),
        transport_(std::move(transport)),
        queue_(options, [this] { abort(); }) {}

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }

  [[nodiscard]] std::unique_ptr<Buffer> allocate(Bytes size) override {
    // The transport's waits have a deadline, so the exchange goes through the transport.
    const CollectiveCall call = on_host("allocate", size);
    std::unique_ptr<Buffer> buffer;
    attempt_together([&](const std::string& mine) { return transport_->gather_texts(call, mine); },
                     [&] { buffer = device_.allocate(size); });
    return buffer;
  }

  void all_reduce(Stream& stream, ConstAnySpan mine, AnySpan result, ReduceOp op) override {
    check_same_shape("all_reduce", mine, result);
    enqueue(stream, "all_reduce", mine.size_bytes(), {reads(mine), writes(result)},
            note_of(kind_of(op), result, 0), [=, this](const CollectiveCall& call) {
              transport_->all_reduce(call, mine, result);
              scale(result, op);
            });
  }

  void broadcast(Stream& stream, AnySpan values, int root) override {
    check_root(root, size_);
    enqueue(stream, "broadcast", values.size_bytes(), {writes(values)},
            note_of(NotedKind::kBroadcast, values, root),
            [=, this](const CollectiveCall& call) { transport_->broadcast(call, values, root); });
  }

  using Communicator::reduce;
  void reduce(Stream& stream, ConstAnySpan mine, AnySpan result, int root) override {
    check_root(root, size_);
    check_reduction(mine, result, rank_ == root);
    // A transport only reads the values of ranks other than the root, so the const_cast is safe.
    const AnySpan values = rank_ == root ? result
                                         : AnySpan(const_cast<std::byte*>(mine.data()), mine.size(),
                                                   mine.dtype(), mine.device());
    enqueue(stream, "reduce", mine.size_bytes(), {reads(mine), writes(result)},
            note_of(NotedKind::kReduce, mine, root), [=, this](const CollectiveCall& call) {
              if (rank_ == root) copy_part(mine, result);
              transport_->reduce(call, values, root);
            });
  }

  void all_gather(Stream& stream, ConstAnySpan mine, AnySpan all) override {
    check_parts("all_gather", mine, all, size_);
    enqueue(stream, "all_gather", all.size_bytes(), {reads(mine), writes(all)},
            note_of(NotedKind::kAllGather, mine, 0),
            [=, this](const CollectiveCall& call) { transport_->all_gather(call, mine, all); });
  }

  void reduce_scatter(Stream& stream, ConstAnySpan all, AnySpan mine, ReduceOp op) override {
    check_parts("reduce_scatter", mine, all, size_);
    Note note = note_of(NotedKind::kReduceScatter, mine, 0);
    note.add(static_cast<std::int64_t>(op));
    enqueue(stream, "reduce_scatter", all.size_bytes(), {reads(all), writes(mine)}, note,
            [=, this](const CollectiveCall& call) {
              transport_->reduce_scatter(call, all, mine);
              scale(mine, op);
            });
  }

  void scatter(Stream& stream, ConstAnySpan source, AnySpan mine, const std::vector<Block>& blocks,
               int root) override {
    check_blocks_of(blocks, mine, source, root);
    std::vector<Access> accesses{writes(mine)};
    if (rank_ == root) accesses.push_back(at_root(reads(source)));
    enqueue(stream, "scatter", mine.size_bytes(), std::move(accesses),
            note_of(NotedKind::kScatter, blocks, root), [=, this](const CollectiveCall& call) {
              if (rank_ != root) return receive(call, mine, root);
              for (int peer = 0; peer < size_; ++peer) {
                const ConstAnySpan part = part_of(source, blocks, peer);
                peer == rank_ ? copy_part(part, mine) : dispatch(call, part, peer);
              }
            });
  }

  void gather(Stream& stream, ConstAnySpan mine, AnySpan destination,
              const std::vector<Block>& blocks, int root) override {
    check_blocks_of(blocks, mine, destination, root);
    std::vector<Access> accesses{reads(mine)};
    if (rank_ == root) accesses.push_back(at_root(writes(destination)));
    enqueue(stream, "gather", mine.size_bytes(), std::move(accesses),
            note_of(NotedKind::kGather, blocks, root), [=, this](const CollectiveCall& call) {
              if (rank_ != root) return dispatch(call, mine, root);
              for (int peer = 0; peer < size_; ++peer) {
                const AnySpan part = part_of(destination, blocks, peer);
                peer == rank_ ? copy_part(mine, part) : receive(call, part, peer);
              }
            });
  }

  void send(Stream& stream, ConstAnySpan values, int to) override {
    check_peer(to, rank_, size_);
    enqueue_message(stream, "send", values.size_bytes(), reads(values),
                    [=, this](const CollectiveCall& call) { dispatch(call, values, to); });
  }

  void recv(Stream& stream, AnySpan values, int from) override {
    check_peer(from, rank_, size_);
    enqueue_message(stream, "recv", values.size_bytes(), writes(values),
                    [=, this](const CollectiveCall& call) { receive(call, values, from); });
  }

  void barrier() override {
    static_cast<void>(transport_->gather_texts(on_host("barrier", Bytes{0}), ""));
  }

  [[nodiscard]] std::vector<double> all_gather(double mine) override {
    return gathered_numbers(mine, [this](const std::string& bits) { return all_gather(bits); });
  }

  [[nodiscard]] std::vector<std::string> all_gather(const std::string& mine) override {
    const Bytes size{static_cast<std::int64_t>(mine.size())};
    return transport_->gather_texts(on_host("all_gather of texts", size), mine);
  }

  void abort() noexcept override { transport_->abort(); }

 private:
  // A call on the caller's thread, which is not part of the streams' sequence.
  [[nodiscard]] static CollectiveCall on_host(const char* name, Bytes size) {
    return {.sequence = 0, .name = name, .size = size};
  }

  [[nodiscard]] static Note note_of(NotedKind kind, ConstAnySpan values, int root) {
    return Note{static_cast<std::int64_t>(kind), root, values.size(),
                static_cast<std::int64_t>(values.dtype())};
  }
  [[nodiscard]] static Note note_of(NotedKind kind, const std::vector<Block>& blocks, int root) {
    Note note{static_cast<std::int64_t>(kind), root};
    note.add(blocks);
    return note;
  }

  template <class Span>
  [[nodiscard]] static Span part_of(Span all, const std::vector<Block>& blocks, int rank) {
    const Block& block = blocks[static_cast<std::size_t>(rank)];
    return all.subspan(block.offset, block.count);
  }

  static void copy_part(ConstAnySpan from, AnySpan to) {
    if (from.data() == to.data() || from.empty()) return;
    std::memcpy(to.data(), from.data(), static_cast<std::size_t>(from.size_bytes().value));
  }

  void check_blocks_of(const std::vector<Block>& blocks, ConstAnySpan mine, ConstAnySpan at_root,
                       int root) const {
    check_root(root, size_);
    check_blocks(blocks, mine, at_root, rank_ == root, rank_, size_);
  }

  void dispatch(const CollectiveCall& call, ConstAnySpan values, int to) {
    if (!values.empty()) transport_->send(call, values, to);
  }
  void receive(const CollectiveCall& call, AnySpan values, int from) {
    if (!values.empty()) transport_->recv(call, values, from);
  }

  void scale(AnySpan values, ReduceOp op) const {
    if (op == ReduceOp::kSum || size_ == 1) return;
    const Reduction reduction{.type = values.dtype(), .factor = factor_of(op, size_)};
    reduce_elements({values.data()}, {values.data()}, {0, values.size()}, reduction);
  }

  // Takes body(call) as any type, since every wrapping of functions costs time in each call.
  template <class Body>
  void enqueue(Stream& stream, const char* name, Bytes size, std::vector<Access> accesses,
               const Note& note, Body&& body) {
    enqueue_call(
        stream, name, size, std::move(accesses),
        [this, note = note.value(), body = std::forward<Body>(body)](const CollectiveCall& call) {
          if (checks_order_) check_order(call, note);
          body(call);
        });
  }

  template <class Body>
  void enqueue_message(Stream& stream, const char* name, Bytes size, Access access, Body&& body) {
    enqueue_call(stream, name, size, {access}, std::forward<Body>(body));
  }

  template <class Body>
  void enqueue_call(Stream& stream, const char* name, Bytes size, std::vector<Access> accesses,
                    Body&& body) {
    const CollectiveCall call = queue_.next(name, size);
    auto run = [call, body = std::forward<Body>(body)](const ModelledTime& ready) {
      body(call);
      return ready;
    };
    queue_.enqueue(
        stream,
        HostCollective<decltype(run)>{
            .name = name, .size = size, .accesses = std::move(accesses), .body = std::move(run)});
  }

  // The check costs a message. Every rank sees all notes, so all ranks fail or none does.
  void check_order(const CollectiveCall& call, std::int64_t mine) {
    std::vector<std::int64_t> notes(static_cast<std::size_t>(size_));
    const auto bits_of = [this](std::int64_t* note, std::int64_t count) {
      return Span<float>(reinterpret_cast<float*>(note), 2 * count, device_.id());
    };
    transport_->all_gather(call, bits_of(&mine, 1), bits_of(notes.data(), size_));
    for (int peer = 0; peer < size_; ++peer) {
      if (notes[static_cast<std::size_t>(peer)] == mine) continue;
      fail(PeerFailure{.kind = PeerFailure::Kind::kDiverged},
           "rank {} and rank {} enqueued different collectives: every rank must enqueue the same "
           "ones in the same order",
           job_ranks_[static_cast<std::size_t>(rank_)], job_ranks_[static_cast<std::size_t>(peer)]);
    }
  }

  const int rank_;
  const int size_;
  const std::vector<int> job_ranks_;  // the job's number of each rank, for messages
  Device& device_;
  const bool checks_order_;
  const std::unique_ptr<BlockingTransport> transport_;
  CollectiveQueue queue_;
};

}  // namespace

void refuse_modelled_link(Device& device, const char* transport) {
  if (host::host_device(device).link() == nullptr) return;
  fail(ErrorKind::kUsage,
       "a modelled link is between devices of one node's shared memory, and {} moves data by "
       "itself: "
       "leave out the link, or take the transport shared_memory",
       transport);
}

std::unique_ptr<Communicator> make_blocking_communicator(
    Bootstrap& bootstrap, Device& device, const CommunicatorOptions& options,
    std::unique_ptr<BlockingTransport> transport) {
  return std::make_unique<BlockingCommunicator>(bootstrap, device, options, std::move(transport));
}

}  // namespace tandem
