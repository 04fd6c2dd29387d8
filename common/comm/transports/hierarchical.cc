// SPDX-License-Identifier: Apache-2.0
//
// An all-reduce of n elements on nodes of two ranks; all on one stream, in this order:
//
//   local rank 0   |--- share 0 ---|--- share 1 ---|tail|   local rank 1, the last
//   node           reduce_scatter into the shares     reduce to the last
//   between        all_reduce share 0                 all_reduce share 1 + tail
//   node           all_gather of the shares           broadcast from the last
#include "common/comm/transports/hierarchical.h"

#include <utility>

#include "common/base/error.h"
#include "common/comm/bootstrap.h"
#include "common/comm/collective_errors.h"
#include "common/comm/communicator.h"
#include "common/comm/mpi/mpi_communicator.h"
#include "common/comm/reduction.h"
#include "common/comm/shared_memory/shared_memory.h"
#include "common/runtime/host/host_stream.h"

namespace tandem {

namespace {

constexpr std::int64_t kCacheLine = 64;  // bytes

// How the elements of an all-reduce fall to the ranks of a node.
struct Shares {
  std::int64_t each = 0;
  std::int64_t tail = 0;  // the elements that the last rank reduces beyond its share
};

Shares shares_of(std::int64_t elements, DType type, int ranks) {
  const std::int64_t line = kCacheLine / size_of(type);
  const std::int64_t each = elements / ranks / line * line;
  return {each, elements - each * ranks};
}

class HierarchicalCommunicator final : public Communicator {
 public:
  HierarchicalCommunicator(const NodeLayout& nodes, CommunicatorsOfNodes parts,
                           const CommunicatorOptions& options)
      : parts_(std::move(parts)),
        node_(*parts_.node),
        world_(*parts_.world),
        observer_(options.observer),
        is_even_(nodes.is_even()) {
    if (options.check_order == OrderCheck::kAlways) {
      notes_.resize(static_cast<std::size_t>(world_.size()));
    }
    const bool meets = meets_other_nodes(nodes, world_.rank());
    TANDEM_CHECK(meets == (parts_.between != nullptr), "rank {} of {}", world_.rank(),
                 world_.size());
  }

  [[nodiscard]] int rank() const override { return world_.rank(); }
  [[nodiscard]] int size() const override { return world_.size(); }

  [[nodiscard]] std::unique_ptr<Buffer> allocate(Bytes size) override {
    std::unique_ptr<Buffer> buffer;
    attempt_together(world_, [&] { buffer = node_.allocate(size); });
    return buffer;
  }

  // Tells the observer where the collective begins and ends on the stream. Where a part fails, the
  // report of the end is dropped with all later operations.
  void enqueue(Stream& stream, const CollectiveRequest& request) override {
    const CollectiveCall call{++enqueued_, request.name(), request.size()};
    *parts_.whole = call;
    if (observer_ == nullptr) return enqueue_parts(stream, request);
    host::HostStream& on = host::host_stream(stream);
    observer_->enqueued(call);
    on.enqueue({call.name, {}, [observer = observer_, call] { observer->started(call); }});
    enqueue_parts(stream, request);
    on.enqueue({call.name, {}, [observer = observer_, call] { observer->finished(call); }});
  }

  void barrier() override { world_.barrier(); }
  [[nodiscard]] std::vector<std::string> all_gather(const std::string& mine) override {
    return world_.all_gather(mine);
  }

  void abort() noexcept override {
    node_.abort();
    if (parts_.between) parts_.between->abort();
    world_.abort();
  }

 private:
  [[nodiscard]] int last() const { return node_.size() - 1; }
  [[nodiscard]] bool is_last() const { return node_.rank() == last(); }

  void enqueue_parts(Stream& stream, const CollectiveRequest& request) {
    if (request.kind != CollectiveRequest::Kind::kAllReduce) return world_.enqueue(stream, request);
    const AnySpan result = request.to;
    const Shares shares = is_even_ ? shares_of(result.size(), result.dtype(), node_.size())
                                   : Shares{.tail = result.size()};
    // The parts are compared where their ranks meet, but a part covers neither the whole operation
    // nor all ranks.
    if (!notes_.empty()) compare(stream, note_of(request).value());
    reduce_within_node(stream, request.from, result, shares);
    reduce_between_nodes(stream, result, shares, factor_of(request.op, size()));
    spread_within_node(stream, result, shares);
  }

  // Every rank sees all notes, so all ranks fail or none does.
  void compare(Stream& stream, std::int64_t note) {
    host::HostStream& on = host::host_stream(stream);
    const auto bits_of = [&stream](std::int64_t* notes, int count) {
      return Span<float>(reinterpret_cast<float*>(notes), std::int64_t{2} * count, stream.device());
    };
    const Span<float> mine = bits_of(&note_, 1);
    const Span<float> all = bits_of(notes_.data(), size());
    on.enqueue({"note", {writes(mine)}, [this, note] { note_ = note; }});
    world_.all_gather(stream, mine, all);
    on.enqueue({"compare", {reads(all)}, [this] {
                  for (int peer = 0; peer < size(); ++peer) {
                    if (notes_[static_cast<std::size_t>(peer)] == note_) continue;
                    throw diverged(rank(), peer);
                  }
                }});
  }

  void reduce_within_node(Stream& stream, ConstAnySpan mine, AnySpan result, Shares shares) {
    const std::int64_t even = shares.each * node_.size();
    if (shares.each > 0) {
      node_.reduce_scatter(stream, mine.subspan(0, even),
                           result.subspan(node_.rank() * shares.each, shares.each), ReduceOp::kSum);
    }
    if (shares.tail == 0) return;
    const AnySpan tail = result.subspan(even, shares.tail);
    if (mine.data() != result.data()) {
      stream.copy_bytes(tail.bytes(), mine.subspan(even, shares.tail).bytes());
    }
    if (node_.size() > 1) node_.reduce(stream, tail, last());
  }

  void reduce_between_nodes(Stream& stream, AnySpan result, Shares shares, float factor) {
    const std::int64_t count = shares.each + (is_last() ? shares.tail : 0);
    if (count == 0) return;
    const AnySpan mine = result.subspan(node_.rank() * shares.each, count);
    parts_.between->all_reduce(stream, mine, ReduceOp::kSum);
    if (factor == 1) return;
    host::host_stream(stream).enqueue(
        {"scale", {writes(mine.bytes())}, [mine, factor] {
           reduce_elements({mine.data()}, {mine.data()}, {0, mine.size()}, {mine.dtype(), factor});
         }});
  }

  void spread_within_node(Stream& stream, AnySpan result, Shares shares) {
    if (node_.size() == 1) return;
    const std::int64_t even = shares.each * node_.size();
    if (shares.each > 0) {
      node_.all_gather(stream, result.subspan(node_.rank() * shares.each, shares.each),
                       result.subspan(0, even));
    }
    if (shares.tail > 0) node_.broadcast(stream, result.subspan(even, shares.tail), last());
  }

  CommunicatorsOfNodes parts_;
  Communicator& node_;
  Communicator& world_;
  CollectiveObserver* const observer_;  // may be absent
  const bool is_even_;
  std::uint64_t enqueued_ = 0;
  std::vector<std::int64_t> notes_;  // notes of all ranks, for the stream; empty: not compared
  std::int64_t note_ = 0;            // this rank's note
};

}  // namespace

int colour_between_nodes(const NodeLayout& nodes, int rank) {
  if (nodes.is_even()) return nodes.local_rank(rank);
  return meets_other_nodes(nodes, rank) ? 0 : 1;
}

bool meets_other_nodes(const NodeLayout& nodes, int rank) {
  return nodes.is_even() || nodes.ranks_of(nodes.node_of(rank)).back() == rank;
}

std::unique_ptr<Communicator> make_hierarchical_communicator(const NodeLayout& nodes,
                                                             CommunicatorsOfNodes parts,
                                                             const CommunicatorOptions& options) {
  return std::make_unique<HierarchicalCommunicator>(nodes, std::move(parts), options);
}

std::unique_ptr<Communicator> make_communicator_of_nodes(Bootstrap& world, const NodeLayout& nodes,
                                                         Device& device,
                                                         const CommunicatorOptions& options) {
  const int rank = world.rank();
  CommunicatorsOfNodes parts;
  // The whole operation is observed, not its parts.
  CommunicatorOptions of_part = options;
  of_part.observer = nullptr;
  of_part.part_of = parts.whole.get();
  Bootstrap& on_node = *parts.bootstraps.emplace_back(world.split(nodes.node_of(rank)));
  Bootstrap& between =
      *parts.bootstraps.emplace_back(world.split(colour_between_nodes(nodes, rank)));
  // Where one node has no room, this call fails on all nodes, before any node waits for that one.
  attempt_together(world,
                   [&] { parts.node = make_shared_memory_communicator(on_node, device, of_part); });
  if (meets_other_nodes(nodes, rank)) {
    parts.between = make_mpi_communicator(between, device, of_part);
  }
  parts.world = make_mpi_communicator(world, device, of_part);
  return make_hierarchical_communicator(nodes, std::move(parts), options);
}

}  // namespace tandem
