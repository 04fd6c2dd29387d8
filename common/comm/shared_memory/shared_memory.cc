// SPDX-License-Identifier: Apache-2.0
#include "common/comm/shared_memory/shared_memory.h"

#include <algorithm>
#include <functional>
#include <optional>

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

std::vector<const std::byte*> as_sources(const Views& views, std::int64_t offset_bytes = 0) {
  std::vector<const std::byte*> sources;
  for (const std::byte* const view : views) sources.push_back(view + offset_bytes);
  return sources;
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
        messages_(control_block(*control_),
                  {.rank = rank(),
                   .sharing = sharing_,
                   .job_ranks = bootstrap_.job_ranks(),
                   .deadline = options.deadline},
                  allocations_, stage_place_),
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
      case Kind::kAllGather:
      case Kind::kReduceScatter:
        return enqueue_parts(stream, request);
      case Kind::kScatter:
      case Kind::kGather:
        return enqueue_blocks(stream, request);
      case Kind::kSend:
      case Kind::kRecv:
        return enqueue_message(stream, request);
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

  void enqueue_parts(Stream& stream, const CollectiveRequest& request) {
    const std::int64_t note = note_of(request).value();
    const Reduction reduction{request.to.dtype(), factor_of(request.op, size())};
    queue_.enqueue(
        stream, request,
        [=, this, from = request.from, to = request.to, gathers = request.kind == Kind::kAllGather,
         place = allocations_.place_of(request.from.data())](const CollectiveCall&) {
          on_stream_.open(note, place);
          const auto parts = seen_by_all();
          if (gathers && parts) {
            copy_parts(*parts, to.bytes(), {0, from.size_bytes().value});
          } else if (gathers) {
            gather_staged(from.bytes(), to.bytes());
          } else if (parts) {
            reduce_elements(as_sources(*parts, rank() * to.size_bytes().value), {to.bytes().data()},
                            {0, to.size()}, reduction);
          } else {
            reduce_staged(from, to, reduction);
          }
          on_stream_.meet();
        });
  }

  void enqueue_blocks(Stream& stream, const CollectiveRequest& request) {
    const bool scatters = request.kind == Kind::kScatter;
    queue_.enqueue(stream, request,
                   [this, scatters, from = request.from.bytes(), to = request.to.bytes(),
                    plan = plan_of(request)](const CollectiveCall&) {
                     scatters ? blocks_.scatter(plan, from, to) : blocks_.gather(plan, from, to);
                   });
  }

  void enqueue_message(Stream& stream, const CollectiveRequest& request) {
    const bool sends = request.kind == Kind::kSend;
    const ConstAnySpan values = sends ? request.from : ConstAnySpan(request.to);
    const int from = sends ? rank() : request.root;
    const PointToPoint::Message message{
        .from = from,
        .to = sends ? request.root : rank(),
        // The two ranks ask for the same message.
        .note = note_of({.kind = Kind::kSend, .from = values, .root = from}).value()};
    queue_.enqueue(stream, request,
                   [this, sends, message, values = values.bytes(),
                    to = request.to.bytes()](const CollectiveCall&) {
                     sends ? messages_.send(message, values) : messages_.receive(message, to);
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

  // The address of every rank's memory of the collective that was opened last; nothing where some
  // rank's memory was not allocated here. All ranks get the same answer: where a rank has freed its
  // part of another rank's allocation, all ranks fail.
  [[nodiscard]] std::optional<Views> seen_by_all() {
    for (int peer = 0; peer < size(); ++peer) {
      if (!on_stream_.place_of(peer).is_allocated()) return std::nullopt;
    }
    Views views;
    for (int peer = 0; peer < size(); ++peer) {
      const auto view = allocations_.at(on_stream_.place_of(peer), peer);
      if (!view) on_stream_.fail_for_freed(peer);
      views.push_back(view.get());
    }
    return views;
  }

  // Copies bytes part.offset .. part.offset + part.count of every rank's part to their place in
  // `all`.
  void copy_parts(const Views& parts, ByteSpan all, Block part) const {
    const std::int64_t stride = all.size() / size();
    for (int peer = 0; peer < size(); ++peer) {
      copy_bytes(all.data() + peer * stride + part.offset, parts[static_cast<std::size_t>(peer)],
                 part.count);
    }
  }

  // Each rank fills its stage and copies from all stages.
  void gather_staged(ConstByteSpan mine, ByteSpan all) {
    const Views stages = allocations_.views_of(stage_place_);
    for (std::int64_t done = 0; done < mine.size(); done += kStageBytes) {
      const std::int64_t part = staged_part(mine.size(), done);
      copy_bytes(stages[static_cast<std::size_t>(rank())], mine.data() + done, part);
      on_stream_.meet();
      copy_parts(stages, all, {done, part});
      on_stream_.meet();
    }
  }

  // A rank's stage is divided evenly among all ranks.
  void reduce_staged(ConstAnySpan all, AnySpan mine, Reduction reduction) {
    const Views stages = allocations_.views_of(stage_place_);
    const std::int64_t room = kStageBytes / size() / kPage * kPage;
    const std::int64_t bytes = mine.size_bytes().value;
    for (std::int64_t done = 0; done < bytes; done += room) {
      const std::int64_t part = staged_part(bytes, done, room);
      for (int peer = 0; peer < size(); ++peer) {
        copy_bytes(stages[static_cast<std::size_t>(rank())] + peer * room,
                   all.bytes().data() + peer * bytes + done, part);
      }
      on_stream_.meet();
      reduce_elements(as_sources(stages, rank() * room), {mine.bytes().data() + done},
                      {0, part / size_of(mine.dtype())}, reduction);
      on_stream_.meet();
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
  PointToPoint messages_;
  CollectiveQueue queue_;
};

}  // namespace

std::unique_ptr<Communicator> make_shared_memory_communicator(Bootstrap& bootstrap, Device& device,
                                                              const CommunicatorOptions& options) {
  return std::make_unique<SharedMemoryCommunicator>(bootstrap, host::host_device(device), options);
}

}  // namespace tandem
