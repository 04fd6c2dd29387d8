// SPDX-License-Identifier: Apache-2.0
#include "common/comm/shared_memory/shared_memory.h"

#include <algorithm>

#include "common/base/rounding.h"
#include "common/comm/bootstrap.h"
#include "common/comm/collective_queue.h"
#include "common/comm/communicator.h"
#include "common/comm/node_memory.h"
#include "common/comm/reduction.h"
#include "common/comm/shared_memory/allocations.h"
#include "common/comm/shared_memory/rendezvous.h"
#include "common/comm/shared_memory/shared_transfers.h"
#include "common/runtime/host/host_device.h"

namespace tandem {
namespace {

constexpr std::int64_t kPage = 4096;

using Kind = CollectiveRequest::Kind;

// The addresses of one place in every rank's memory, by rank.
using Views = std::vector<std::byte*>;

std::vector<const std::byte*> as_sources(const Views& views) {
  return {views.begin(), views.end()};
}

class SharedMemoryCommunicator final : public Communicator {
 public:
  SharedMemoryCommunicator(Bootstrap& bootstrap, host::HostDevice& device,
                           const CommunicatorOptions& options)
      : bootstrap_(bootstrap),
        device_(device),
        sharing_(bootstrap.shares_address_space() ? host::Sharing::kThreads
                                                  : host::Sharing::kProcesses),
        control_(map_control_block(bootstrap)),
        on_host_(control_block(*control_).host, all_meet(options.deadline)),
        on_stream_({control_block(*control_).stream, all_meet(options.deadline)}, rank()),
        texts_(bootstrap, on_host_),
        allocations_(rank(), size()),
        blocks_(rank(), allocations_, on_stream_),
        stage_(allocate(Bytes{kStageBytes})),
        stage_place_(allocations_.place_of(stage_->bytes().data())),
        queue_(rank(), options, [this] { abort(); }) {}

  [[nodiscard]] int rank() const override { return bootstrap_.rank(); }
  [[nodiscard]] int size() const override { return bootstrap_.size(); }

  [[nodiscard]] std::unique_ptr<Buffer> allocate(Bytes size) override {
    on_host_.meet();  // finds a rank that gave up, for which the bootstrap may wait for ever
    const std::int64_t stride = round_up(std::max<std::int64_t>(size.value, 1), kPage);
    const auto mapping = map_node_memory(bootstrap_, Bytes{stride * this->size()});
    std::unique_ptr<Buffer> buffer;
    attempt_together(bootstrap_, [&] {
      // Each rank adopts its own region once the device is known to have room for the region.
      buffer = device_.adopt(mapping->data() + rank() * stride, size, mapping,
                             [&] { mapping->reserve(Bytes{rank() * stride}, Bytes{stride}); });
    });
    allocations_.add(mapping, stride);
    return buffer;
  }

  void enqueue(Stream& stream, const CollectiveRequest& request) override {
    switch (request.kind) {
      case Kind::kAllReduce:
      case Kind::kBroadcast:
      case Kind::kReduce:
        return enqueue_symmetric(stream, request);
      case Kind::kScatter:
      case Kind::kGather:
        return enqueue_blocks(stream, request);
    }
  }

  void barrier() override { on_host_.meet(); }

  [[nodiscard]] std::vector<std::string> all_gather(const std::string& mine) override {
    return texts_.all_gather(mine);
  }

  void abort() noexcept override {
    on_host_.abort();
    on_stream_.abort();
  }

 private:
  [[nodiscard]] Meeters all_meet(Nanoseconds deadline) const {
    return {
        .sharing = sharing_, .ranks = bootstrap_.job_ranks(), .mine = rank(), .deadline = deadline};
  }

  void enqueue_blocks(Stream& stream, const CollectiveRequest& request) {
    const bool scatters = request.kind == Kind::kScatter;
    queue_.enqueue(stream, request,
                   [this, scatters, from = request.from.bytes(), to = request.to.bytes(),
                    plan = plan_of(request)](const CollectiveCall&) {
                     scatters ? blocks_.scatter(plan, from, to) : blocks_.gather(plan, from, to);
                   });
  }

  [[nodiscard]] BlockTransfer::Plan plan_of(const CollectiveRequest& request) const {
    const bool scatters = request.kind == Kind::kScatter;
    const DType type = scatters ? request.to.dtype() : request.from.dtype();
    Note note = note_of(request);
    note.add(static_cast<std::int64_t>(type));
    BlockTransfer::Plan plan{.root = request.root, .note = note.value(), .stage = stage_place_};
    for (const Block& elements : request.blocks) {
      plan.blocks.push_back({elements.offset * size_of(type), elements.count * size_of(type)});
    }
    return plan;
  }

  // All-reduce, broadcast and reduce: the same work on the same elements of every rank's memory.
  // Moves all elements at once where every rank sees the memory, else in staged chunks.
  void enqueue_symmetric(Stream& stream, const CollectiveRequest& request) {
    // The places are looked up now, since the caller may allocate or free memory before the stream
    // runs the collective.
    const bool result_is_roots_alone =
        request.kind == Kind::kReduce && request.from.data() != request.to.data();
    const auto place_of = [&](const std::byte* memory) {
      return result_is_roots_alone ? AllocationPlace{} : allocations_.place_of(memory);
    };
    const AllocationPlace from = place_of(request.from.data());
    const AllocationPlace to = place_of(request.to.data());
    Note note = note_of(request);
    for (const AllocationPlace& place : {from, to}) {
      note.add(place.allocation);
      note.add(place.offset_bytes);
    }
    const bool seen = from.is_allocated() && to.is_allocated();
    Views sources = allocations_.views_of(seen ? from : stage_place_);
    Views results = allocations_.views_of(seen ? to : stage_place_);
    queue_.enqueue(stream, request, [=, this](const CollectiveCall&) {
      if (!seen) return run_staged(request, note.value(), sources);
      on_stream_.open(note.value(), {});
      move(request, sources, results, request.from.size());
      on_stream_.meet();
    });
  }

  // This rank's part of the work on `count` elements.
  void move(const CollectiveRequest& request, const Views& from, const Views& to,
            std::int64_t count) const {
    const auto root = static_cast<std::size_t>(request.root);
    const DType type = request.from.dtype();
    if (request.kind == Kind::kBroadcast) {
      return copy_bytes(to[static_cast<std::size_t>(rank())], from[root], count * size_of(type));
    }
    const Share share = share_of(rank(), size(), count);
    const Reduction reduction{type, factor_of(request.op, size())};
    if (request.kind == Kind::kReduce) {
      return reduce_elements(as_sources(from), {to[root]}, share, reduction);
    }
    reduce_elements(as_sources(from), to, share, reduction);
  }

  void run_staged(const CollectiveRequest& request, std::int64_t note, const Views& stages) {
    const ConstByteSpan mine = request.from.bytes();
    const bool changes_result = request.kind != Kind::kReduce || rank() == request.root;
    std::byte* const stage = stages[static_cast<std::size_t>(rank())];
    for (std::int64_t done = 0; done == 0 || done < mine.size(); done += kStageBytes) {
      const std::int64_t part = staged_part(mine.size(), done);
      copy_bytes(stage, mine.data() + done, part);
      if (done == 0) {
        on_stream_.open(note, {});
      } else {
        on_stream_.meet();
      }
      move(request, stages, stages, part / size_of(request.from.dtype()));
      on_stream_.meet();
      if (changes_result) copy_bytes(request.to.bytes().data() + done, stage, part);
    }
  }

  Bootstrap& bootstrap_;
  host::HostDevice& device_;
  const host::Sharing sharing_;
  const std::shared_ptr<host::SharedMapping> control_;  // shared with the ranks that are threads
  Rendezvous on_host_;
  CollectiveMeeting on_stream_;
  TextExchange texts_;
  Allocations allocations_;
  BlockTransfer blocks_;
  const std::unique_ptr<Buffer> stage_;
  const AllocationPlace stage_place_;
  CollectiveQueue queue_;
};

}  // namespace

std::unique_ptr<Communicator> make_shared_memory_communicator(Bootstrap& bootstrap, Device& device,
                                                              const CommunicatorOptions& options) {
  return std::make_unique<SharedMemoryCommunicator>(bootstrap, host::host_device(device), options);
}

}  // namespace tandem
