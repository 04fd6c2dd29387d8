// SPDX-License-Identifier: Apache-2.0
#include "common/comm/shared_memory.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "common/comm/allocations.h"
#include "common/comm/bootstrap.h"
#include "common/comm/host_collective.h"
#include "common/comm/node_memory.h"
#include "common/comm/reduction.h"
#include "common/comm/rendezvous.h"
#include "common/comm/shared_transfers.h"
#include "common/runtime/host/host_device.h"

namespace tandem {
namespace {

using host::ModelledTime;

constexpr std::int64_t kPage = 4096;

std::int64_t round_up(std::int64_t value, std::int64_t to) { return (value + to - 1) / to * to; }

// The kinds of collectives that the ranks' notes tell apart.
enum class Kind {
  kSum,
  kAverage,
  kBroadcast,
  kReduce,
  kAllGather,
  kSumScatter,
  kAverageScatter,
  kScatter,
  kGather,
  kMessage
};

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
        devices_(devices_of_ranks(bootstrap, device.id())),
        control_(map_control_block(bootstrap)),
        on_host_(control_block(*control_).host, all_meet(options.deadline)),
        on_stream_({control_block(*control_).stream, all_meet(options.deadline)},
                   {.rank = rank(), .devices = devices_, .link = device.link()}),
        texts_(bootstrap, on_host_),
        allocations_(rank(), size()),
        blocks_(rank(), allocations_, on_stream_),
        stage_(allocate(Bytes{kStageBytes})),
        stage_place_(allocations_.place_of(stage_->bytes().data())),
        messages_(control_block(*control_),
                  {.rank = rank(),
                   .sharing = sharing_,
                   .devices = devices_,
                   .job_ranks = bootstrap_.job_ranks(),
                   .deadline = options.deadline,
                   .link = device.link()},
                  allocations_, stage_place_),
        queue_(options, [this] { abort(); }) {}

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

  using Communicator::all_reduce;
  void all_reduce(Stream& stream, ConstAnySpan mine, AnySpan result, ReduceOp op) override {
    check_same_shape("all_reduce", mine, result);
    const Reduction reduction{mine.dtype(), factor_of(op, size())};
    enqueue_symmetric(stream, "all_reduce",
                      {.kind = op == ReduceOp::kAverage ? Kind::kAverage : Kind::kSum,
                       .mine = mine,
                       .result = result,
                       .duration = modelled(ring_all_reduce_time, mine.size_bytes()),
                       .move = [=, this](const Views& from, const Views& to, std::int64_t count) {
                         reduce_elements(as_sources(from), to, share_of(rank(), size(), count),
                                         reduction);
                       }});
  }

  void broadcast(Stream& stream, AnySpan values, int root) override {
    check_root(root, size());
    const std::int64_t element = size_of(values.dtype());
    enqueue_symmetric(stream, "broadcast",
                      {.kind = Kind::kBroadcast,
                       .root = root,
                       .mine = values,
                       .result = values,
                       .duration = modelled(pipelined_time, values.size_bytes()),
                       .move = [=, this](const Views& from, const Views& to, std::int64_t count) {
                         copy_bytes(to[static_cast<std::size_t>(rank())],
                                    from[static_cast<std::size_t>(root)], count * element);
                       }});
  }

  using Communicator::reduce;
  void reduce(Stream& stream, ConstAnySpan mine, AnySpan result, int root) override {
    check_root(root, size());
    check_reduction(mine, result, rank() == root);
    const Reduction reduction{mine.dtype(), 1};
    enqueue_symmetric(stream, "reduce",
                      {.kind = Kind::kReduce,
                       .root = root,
                       .mine = mine,
                       .result = result,
                       .result_is_roots_alone = mine.data() != result.data(),
                       .changes_result = rank() == root,
                       .duration = modelled(pipelined_time, mine.size_bytes()),
                       .move = [=, this](const Views& from, const Views& to, std::int64_t count) {
                         reduce_elements(as_sources(from), {to[static_cast<std::size_t>(root)]},
                                         share_of(rank(), size(), count), reduction);
                       }});
  }

  void all_gather(Stream& stream, ConstAnySpan mine, AnySpan all) override {
    check_parts("all_gather", mine, all, size());
    const Opening opening =
        opening_of(Kind::kAllGather, mine, 0, modelled(ring_pass_time, all.size_bytes()));
    enqueue(stream, "all_gather", all.size_bytes(), {reads(mine), writes(all)},
            [=, this, place = allocations_.place_of(mine.data())](const ModelledTime& ready) {
              on_stream_.open(opening, place, ready);
              if (const auto parts = seen_by_all()) {
                copy_parts(*parts, all.bytes(), {0, mine.size_bytes().value});
              } else {
                gather_staged(mine.bytes(), all.bytes());
              }
              return on_stream_.close(opening);
            });
  }

  void reduce_scatter(Stream& stream, ConstAnySpan all, AnySpan mine, ReduceOp op) override {
    check_parts("reduce_scatter", mine, all, size());
    const Kind kind = op == ReduceOp::kAverage ? Kind::kAverageScatter : Kind::kSumScatter;
    const Opening opening = opening_of(kind, mine, 0, modelled(ring_pass_time, all.size_bytes()));
    const Reduction reduction{mine.dtype(), factor_of(op, size())};
    enqueue(stream, "reduce_scatter", all.size_bytes(), {reads(all), writes(mine)},
            [=, this, place = allocations_.place_of(all.data())](const ModelledTime& ready) {
              on_stream_.open(opening, place, ready);
              if (const auto parts = seen_by_all()) {
                reduce_elements(as_sources(*parts, rank() * mine.size_bytes().value),
                                {mine.bytes().data()}, {0, mine.size()}, reduction);
              } else {
                reduce_staged(all, mine, reduction);
              }
              return on_stream_.close(opening);
            });
  }

  void scatter(Stream& stream, ConstAnySpan source, AnySpan mine, const std::vector<Block>& blocks,
               int root) override {
    check_root(root, size());
    check_blocks(blocks, mine, source, rank() == root, rank(), size());
    std::vector<Access> accesses{writes(mine)};
    if (rank() == root) accesses.push_back(at_root(reads(source)));
    enqueue(stream, "scatter", mine.size_bytes(), std::move(accesses),
            [=, this, plan = plan_of(Kind::kScatter, blocks, root, mine.dtype(), source.device())](
                const ModelledTime& ready) {
              return blocks_.scatter(plan, source.bytes(), mine.bytes(), ready);
            });
  }

  void gather(Stream& stream, ConstAnySpan mine, AnySpan destination,
              const std::vector<Block>& blocks, int root) override {
    check_root(root, size());
    check_blocks(blocks, mine, destination, rank() == root, rank(), size());
    std::vector<Access> accesses{reads(mine)};
    if (rank() == root) accesses.push_back(at_root(writes(destination)));
    enqueue(
        stream, "gather", mine.size_bytes(), std::move(accesses),
        [=, this, plan = plan_of(Kind::kGather, blocks, root, mine.dtype(), destination.device())](
            const ModelledTime& ready) {
          return blocks_.gather(plan, mine.bytes(), destination.bytes(), ready);
        });
  }

  void send(Stream& stream, ConstAnySpan values, int to) override {
    check_peer(to, rank(), size());
    enqueue(stream, "send", values.size_bytes(), {reads(values)},
            [=, this, message = message_of(rank(), to, values)](const ModelledTime& ready) {
              return messages_.send(message, values.bytes(), ready);
            });
  }

  void recv(Stream& stream, AnySpan values, int from) override {
    check_peer(from, rank(), size());
    enqueue(stream, "recv", values.size_bytes(), {writes(values)},
            [=, this, message = message_of(from, rank(), values)](const ModelledTime& ready) {
              return messages_.receive(message, values.bytes(), ready);
            });
  }

  void barrier() override { on_host_.meet(); }

  [[nodiscard]] std::vector<double> all_gather(double mine) override {
    on_host_.set_value(mine);
    on_host_.meet();
    std::vector<double> values;
    for (int peer = 0; peer < size(); ++peer) values.push_back(on_host_.value_of(peer));
    on_host_.meet();  // no rank sets the next value before all have read this one
    return values;
  }

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

  // A collective that does the same work on the same elements of every rank's memory.
  struct Symmetric {
    Kind kind = Kind::kSum;
    int root = 0;
    ConstAnySpan mine{};
    AnySpan result{};
    bool result_is_roots_alone = false;  // result lies apart on the root, so the call is staged
    bool changes_result = true;          // whether this rank's result changes
    Nanoseconds duration{0};             // over the modelled link
    std::function<void(const Views& from, const Views& to, std::int64_t count)> move{};
  };

  template <class Time>
  [[nodiscard]] Nanoseconds modelled(Time time, Bytes size) const {
    const host::HostLink* const link = device_.link();
    return link == nullptr ? Nanoseconds{0} : time(link->model(), size, this->size());
  }

  [[nodiscard]] static Note note_of(Kind kind, int root, ConstAnySpan mine) {
    return Note{static_cast<std::int64_t>(kind), root, static_cast<std::int64_t>(mine.dtype()),
                mine.size()};
  }

  [[nodiscard]] static Opening opening_of(Kind kind, ConstAnySpan mine, int root,
                                          Nanoseconds duration) {
    return {.note = note_of(kind, root, mine).value(), .root = root, .duration = duration};
  }

  [[nodiscard]] PointToPoint::Message message_of(int from, int to, ConstAnySpan values) const {
    const host::HostLink* const link = device_.link();
    return {.from = from,
            .to = to,
            .note = note_of(Kind::kMessage, from, values).value(),
            .duration = link == nullptr ? Nanoseconds{0}
                                        : transfer_time(link->model(), values.size_bytes())};
  }

  // Scatter and gather copy one block after the other through the root's port; the root's own block
  // crosses the link only where the root's side is host memory.
  [[nodiscard]] BlockTransfer::Plan plan_of(Kind kind, const std::vector<Block>& blocks, int root,
                                            DType type, DeviceId at_root) const {
    Note note{static_cast<std::int64_t>(kind), root, static_cast<std::int64_t>(type)};
    note.add(blocks);
    BlockTransfer::Plan plan{.root = root, .stage = stage_place_};
    plan.opening = {.note = note.value(), .root = root, .from_host = at_root.is_host_memory()};
    for (int peer = 0; peer < size(); ++peer) {
      const Block& elements = blocks[static_cast<std::size_t>(peer)];
      plan.blocks.push_back({elements.offset * size_of(type), elements.count * size_of(type)});
      if (device_.link() == nullptr || elements.count == 0) continue;
      if (peer == root && !plan.opening.from_host) continue;
      plan.opening.duration +=
          transfer_time(device_.link()->model(), Bytes{plan.blocks.back().count});
    }
    return plan;
  }

  void enqueue(Stream& stream, const char* name, Bytes size, std::vector<Access> accesses,
               auto body) {
    queue_.enqueue(
        stream,
        HostCollective<decltype(body)>{
            .name = name, .size = size, .accesses = std::move(accesses), .body = std::move(body)});
  }

  // Moves all elements at once where every rank sees the memory, else in staged chunks.
  void enqueue_symmetric(Stream& stream, const char* name, Symmetric collective) {
    // The places are looked up now, since the caller may allocate or free memory before the stream
    // runs the collective.
    const bool staged = collective.result_is_roots_alone;
    const AllocationPlace from =
        staged ? AllocationPlace{} : allocations_.place_of(collective.mine.data());
    const AllocationPlace to =
        staged ? AllocationPlace{} : allocations_.place_of(collective.result.data());
    Note note = note_of(collective.kind, collective.root, collective.mine);
    for (const AllocationPlace& place : {from, to}) {
      note.add(place.allocation);
      note.add(place.offset_bytes);
    }
    const Opening opening{
        .note = note.value(), .root = collective.root, .duration = collective.duration};
    const bool seen = from.is_allocated() && to.is_allocated();
    const Views sources = allocations_.views_of(seen ? from : stage_place_);
    const Views results = allocations_.views_of(seen ? to : stage_place_);
    enqueue(stream, name, collective.mine.size_bytes(),
            {reads(collective.mine), writes(collective.result)},
            [=, this, collective = std::move(collective)](const ModelledTime& ready) {
              if (!seen) return run_staged(collective, opening, sources, ready);
              on_stream_.open(opening, {}, ready);
              collective.move(sources, results, collective.mine.size());
              return on_stream_.close(opening);
            });
  }

  ModelledTime run_staged(const Symmetric& collective, const Opening& opening, const Views& stages,
                          const ModelledTime& ready) {
    ModelledTime end;
    const ConstByteSpan mine = collective.mine.bytes();
    std::byte* const stage = stages[static_cast<std::size_t>(rank())];
    for (std::int64_t done = 0; done == 0 || done < mine.size(); done += kStageBytes) {
      const std::int64_t part = staged_part(mine.size(), done);
      copy_bytes(stage, mine.data() + done, part);
      if (done == 0) {
        on_stream_.open(opening, {}, ready);
      } else {
        on_stream_.meet();
      }
      collective.move(stages, stages, part / size_of(collective.mine.dtype()));
      end = on_stream_.close(opening);
      if (collective.changes_result) {
        copy_bytes(collective.result.bytes().data() + done, stage, part);
      }
    }
    return end;
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
  const std::vector<DeviceId> devices_;
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
