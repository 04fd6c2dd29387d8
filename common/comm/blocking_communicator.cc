// SPDX-License-Identifier: Apache-2.0
#include "common/comm/blocking_communicator.h"

#include <cstring>

#include "common/comm/bootstrap.h"
#include "common/comm/collective_errors.h"
#include "common/comm/collective_queue.h"
#include "common/comm/communicator.h"
#include "common/comm/reduction.h"

namespace tandem {

namespace {

using Kind = CollectiveRequest::Kind;

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
        queue_(rank_, options, [this] { abort(); }) {}

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }

  [[nodiscard]] std::unique_ptr<Buffer> allocate(Bytes size) override {
    // The transport's waits have a deadline, so the exchange goes through the transport.
    Exchange exchange(*this, on_host("allocate", size));
    std::unique_ptr<Buffer> buffer;
    attempt_together(exchange, [&] { buffer = device_.allocate(size); });
    return buffer;
  }

  void enqueue(Stream& stream, const CollectiveRequest& request) override {
    const ConstAnySpan from = request.from;
    const AnySpan to = request.to;
    const ReduceOp op = request.op;
    const int root = request.root;
    switch (request.kind) {
      case Kind::kAllReduce:
        return queue(stream, request, [=, this](const CollectiveCall& call) {
          transport_->all_reduce(call, from, to);
          scale(to, op);
        });
      case Kind::kBroadcast:
        return queue(stream, request, [=, this](const CollectiveCall& call) {
          transport_->broadcast(call, to, root);
        });
      case Kind::kReduce:
        return enqueue_reduce(stream, request);
      case Kind::kAllGather:
        return queue(stream, request, [=, this](const CollectiveCall& call) {
          transport_->all_gather(call, from, to);
        });
      case Kind::kReduceScatter:
        return queue(stream, request, [=, this](const CollectiveCall& call) {
          transport_->reduce_scatter(call, from, to);
          scale(to, op);
        });
      case Kind::kScatter:
        return enqueue_scatter(stream, request);
      case Kind::kGather:
        return enqueue_gather(stream, request);
      case Kind::kSend:
        return queue(stream, request,
                     [=, this](const CollectiveCall& call) { dispatch(call, from, root); });
      case Kind::kRecv:
        return queue(stream, request,
                     [=, this](const CollectiveCall& call) { receive(call, to, root); });
    }
  }

  void barrier() override {
    static_cast<void>(transport_->gather_texts(on_host("barrier", Bytes{0}), ""));
  }

  [[nodiscard]] std::vector<std::string> all_gather(const std::string& mine) override {
    const Bytes size{static_cast<std::int64_t>(mine.size())};
    return transport_->gather_texts(on_host("all_gather of texts", size), mine);
  }

  void abort() noexcept override { transport_->abort(); }

 private:
  // The ranks' exchange of texts in a call, which errors name.
  class Exchange final : public RankExchange {
   public:
    Exchange(BlockingCommunicator& ranks, const CollectiveCall& call)
        : ranks_(ranks), call_(call) {}

    [[nodiscard]] int rank() const override { return ranks_.rank(); }
    [[nodiscard]] int size() const override { return ranks_.size(); }
    [[nodiscard]] std::vector<std::string> all_gather(const std::string& mine) override {
      return ranks_.transport_->gather_texts(call_, mine);
    }

   private:
    BlockingCommunicator& ranks_;
    const CollectiveCall call_;
  };

  // A call on the caller's thread, which is not part of the streams' sequence.
  [[nodiscard]] static CollectiveCall on_host(const char* name, Bytes size) {
    return {.sequence = 0, .name = name, .size = size};
  }

  void enqueue_reduce(Stream& stream, const CollectiveRequest& request) {
    const ConstAnySpan mine = request.from;
    const AnySpan result = request.to;
    const int root = request.root;
    // A transport only reads the values of ranks other than the root, so the const_cast is safe.
    const AnySpan values = rank_ == root ? result
                                         : AnySpan(const_cast<std::byte*>(mine.data()), mine.size(),
                                                   mine.dtype(), mine.device());
    queue(stream, request, [=, this](const CollectiveCall& call) {
      if (rank_ == root) copy_part(mine, result);
      transport_->reduce(call, values, root);
    });
  }

  void enqueue_scatter(Stream& stream, const CollectiveRequest& request) {
    queue(stream, request,
          [this, source = request.from, mine = request.to, root = request.root,
           blocks = copy_of(request.blocks)](const CollectiveCall& call) {
            if (rank_ != root) return receive(call, mine, root);
            for (int peer = 0; peer < size_; ++peer) {
              const ConstAnySpan part = part_of(source, blocks, peer);
              peer == rank_ ? copy_part(part, mine) : dispatch(call, part, peer);
            }
          });
  }

  void enqueue_gather(Stream& stream, const CollectiveRequest& request) {
    queue(stream, request,
          [this, mine = request.from, destination = request.to, root = request.root,
           blocks = copy_of(request.blocks)](const CollectiveCall& call) {
            if (rank_ != root) return dispatch(call, mine, root);
            for (int peer = 0; peer < size_; ++peer) {
              const AnySpan part = part_of(destination, blocks, peer);
              peer == rank_ ? copy_part(mine, part) : receive(call, part, peer);
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

  static void copy_part(ConstAnySpan from, AnySpan to) {
    if (from.data() == to.data() || from.empty()) return;
    std::memcpy(to.data(), from.data(), static_cast<std::size_t>(from.size_bytes().value));
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
  void queue(Stream& stream, const CollectiveRequest& request, Body body) {
    const bool is_compared = checks_order_ && !request.is_message();
    queue_.enqueue(stream, request,
                   [this, is_compared, note = is_compared ? note_of(request).value() : 0,
                    body = std::move(body)](const CollectiveCall& call) {
                     if (is_compared) check_order(call, note);
                     body(call);
                   });
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
      throw diverged(job_ranks_[static_cast<std::size_t>(rank_)],
                     job_ranks_[static_cast<std::size_t>(peer)]);
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

std::unique_ptr<Communicator> make_blocking_communicator(
    Bootstrap& bootstrap, Device& device, const CommunicatorOptions& options,
    std::unique_ptr<BlockingTransport> transport) {
  return std::make_unique<BlockingCommunicator>(bootstrap, device, options, std::move(transport));
}

}  // namespace tandem
