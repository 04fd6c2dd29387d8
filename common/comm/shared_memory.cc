// SPDX-License-Identifier: Apache-2.0
#include "common/comm/shared_memory.h"

#include <algorithm>
#include <cstring>
#include <functional>

#include "common/base/check.h"
#include "common/comm/agreement.h"
#include "common/comm/allocations.h"
#include "common/comm/block_transfer.h"
#include "common/comm/collective_meeting.h"
#include "common/comm/control_block.h"
#include "common/comm/node_memory.h"
#include "common/comm/reduction.h"
#include "common/comm/rendezvous.h"
#include "common/comm/stage.h"
#include "common/runtime/host/cores.h"
#include "common/runtime/host/host_device.h"

namespace tandem {
namespace {

using host::ModelledTime;

constexpr std::int64_t kPage = 4096;

std::int64_t round_up(std::int64_t value, std::int64_t to) { return (value + to - 1) / to * to; }

enum class Kind { kSum, kAverage, kBroadcast, kReduce, kScatter, kGather };

// The root's side of a scatter or gather may lie on the host.
template <class T>
Access at_root(Access access, Span<T> span) {
  if (span.device().is_host_memory()) access.place = Access::Place::kRemote;
  return access;
}

class SharedMemoryCommunicator final : public Communicator {
 public:
  SharedMemoryCommunicator(Bootstrap& bootstrap, host::HostDevice& device, Nanoseconds deadline)
      : bootstrap_(bootstrap),
        device_(device),
        sharing_(bootstrap.shares_address_space() ? host::Sharing::kThreads
                                                  : host::Sharing::kProcesses),
        control_(map_control_block(bootstrap)),
        on_host_(control_block(*control_).host, sharing_, rank(), size(), deadline),
        on_stream_(control_block(*control_).stream,
                   {.sharing = sharing_,
                    .rank = rank(),
                    .devices = devices_of_ranks(bootstrap, device.id()),
                    .deadline = deadline,
                    .link = device.link()}),
        allocations_(rank(), size()),
        blocks_(rank(), size(), allocations_, on_stream_),
        stage_(allocate(bytes_of<float>(kStageElements))),
        stage_place_(allocations_.place_of(stage_->bytes().data())) {}

  [[nodiscard]] int rank() const override { return bootstrap_.rank(); }
  [[nodiscard]] int size() const override { return bootstrap_.size(); }

  [[nodiscard]] std::unique_ptr<Buffer> allocate(Bytes size) override {
    on_host_.meet();  // a rank that gave up is noticed here: the bootstrap may wait for it for ever
    const std::int64_t stride = round_up(std::max<std::int64_t>(size.value, 1), kPage);
    const auto mapping = map_node_memory(bootstrap_, Bytes{stride * this->size()});
    std::unique_ptr<Buffer> buffer;
    attempt_together(bootstrap_, [&] {
      {
        // Each rank its own region: who reserves pages decides their NUMA node, as a touch would.
        const host::ScopedBinding here(device_.core());
        mapping->reserve(Bytes{rank() * stride}, Bytes{stride});
      }
      buffer = device_.adopt(mapping->data() + rank() * stride, size, mapping);
    });
    allocations_.add(mapping, stride);
    return buffer;
  }

  void all_reduce(Stream& stream, Span<float> values, ReduceOp op) override {
    const Kind kind = op == ReduceOp::kAverage ? Kind::kAverage : Kind::kSum;
    const float factor = op == ReduceOp::kAverage ? 1.0F / static_cast<float>(size()) : 1.0F;
    enqueue_in_place(stream, "all_reduce", values,
                     {.kind = kind,
                      .duration = modelled(ring_all_reduce_time, values.bytes()),
                      .move = [factor, this](const std::vector<float*>& of_rank, std::int64_t n) {
                        const auto [first, count] = share_of(rank(), size(), n);
                        reduce_to_all(of_rank, first, count, factor);
                      }});
  }

  void broadcast(Stream& stream, Span<float> values, int root) override {
    check_root(root);
    enqueue_in_place(stream, "broadcast", values,
                     {.kind = Kind::kBroadcast,
                      .root = root,
                      .duration = modelled(pipelined_time, values.bytes()),
                      .move = [root, this](const std::vector<float*>& of_rank, std::int64_t n) {
                        copy_floats(of_rank[static_cast<std::size_t>(rank())],
                                    of_rank[static_cast<std::size_t>(root)], n);
                      }});
  }

  void reduce(Stream& stream, Span<float> values, int root) override {
    check_root(root);
    enqueue_in_place(stream, "reduce", values,
                     {.kind = Kind::kReduce,
                      .root = root,
                      .changes_values = rank() == root,
                      .duration = modelled(pipelined_time, values.bytes()),
                      .move = [root, this](const std::vector<float*>& of_rank, std::int64_t n) {
                        const auto [first, count] = share_of(rank(), size(), n);
                        reduce_to_root(of_rank, first, count, root);
                      }});
  }

  void scatter(Stream& stream, Span<const float> source, Span<float> mine,
               const std::vector<Block>& blocks, int root) override {
    check_root(root);
    blocks_.check(blocks, mine.size(), source.size(), root);
    std::vector<Access> accesses{writes(mine)};
    if (rank() == root) accesses.push_back(at_root(reads(source), source));
    enqueue(stream, "scatter", std::move(accesses),
            [=, this, plan = plan_of(Kind::kScatter, blocks, root, source.device())](
                const ModelledTime& ready) { return blocks_.scatter(plan, source, mine, ready); });
  }

  void gather(Stream& stream, Span<const float> mine, Span<float> destination,
              const std::vector<Block>& blocks, int root) override {
    check_root(root);
    blocks_.check(blocks, mine.size(), destination.size(), root);
    std::vector<Access> accesses{reads(mine)};
    if (rank() == root) accesses.push_back(at_root(writes(destination), destination));
    enqueue(
        stream, "gather", std::move(accesses),
        [=, this, plan = plan_of(Kind::kGather, blocks, root, destination.device())](
            const ModelledTime& ready) { return blocks_.gather(plan, mine, destination, ready); });
  }

  void barrier() override { on_host_.meet(); }

  [[nodiscard]] std::vector<double> all_gather(double mine) override {
    on_host_.set_value(mine);
    on_host_.meet();
    std::vector<double> values;
    for (int peer = 0; peer < size(); ++peer) values.push_back(on_host_.value_of(peer));
    on_host_.meet();  // nobody sets the next value before all have read this one
    return values;
  }

  void abort() noexcept override {
    on_host_.abort();
    on_stream_.abort();
  }

 private:
  // A collective on the same elements of every rank's memory.
  struct InPlace {
    Kind kind = Kind::kSum;
    int root = 0;
    bool changes_values = true;  // this rank's
    Nanoseconds duration{0};     // over the modelled link
    std::function<void(const std::vector<float*>& of_rank, std::int64_t count)> move{};
  };
  using Body = std::function<ModelledTime(const ModelledTime& ready)>;

  void check_root(int root) const {
    TANDEM_CHECK(root >= 0 && root < size(), "root {} of {} ranks", root, size());
  }

  template <class Time>
  [[nodiscard]] Nanoseconds modelled(Time time, Bytes size) const {
    const host::HostLink* const link = device_.link();
    return link == nullptr ? Nanoseconds{0} : time(link->model(), size, this->size());
  }

  // Scatter and gather are copies one after the other through the root's port; the root's own block
  // crosses the link only where it lies on the host.
  [[nodiscard]] BlockTransfer::Plan plan_of(Kind kind, const std::vector<Block>& blocks, int root,
                                            DeviceId at_root) const {
    Note note{static_cast<std::int64_t>(kind), root};
    note.add(blocks);
    Opening opening{.note = note.value(), .root = root, .from_host = at_root.is_host_memory()};
    for (int peer = 0; device_.link() != nullptr && peer < size(); ++peer) {
      const std::int64_t count = blocks[static_cast<std::size_t>(peer)].count;
      if (count == 0 || (peer == root && !opening.from_host)) continue;
      opening.duration += transfer_time(device_.link()->model(), bytes_of<float>(count));
    }
    return {.blocks = blocks, .root = root, .opening = opening, .stage = stage_place_};
  }

  // Peers' memory is not among the declared accesses: those are reported when the operation starts,
  // which is before the ranks have met. The loops that touch it are instrumented themselves.
  // A rank whose stream has failed will not come, and tells those who would wait for it.
  void enqueue(Stream& stream, const char* name, std::vector<Access> accesses, Body body) {
    host::HostStream& on = host::host_stream(stream);
    const auto dropped = [this] { abort(); };
    if (on.link() != nullptr) {
      on.enqueue_transfer({name, std::move(accesses), std::move(body), dropped});
    } else {
      on.enqueue({name, std::move(accesses),
                  [body = std::move(body)] { static_cast<void>(body(ModelledTime{})); }, dropped});
    }
  }

  // Once on memory that all ranks see, else staged chunk by chunk.
  void enqueue_in_place(Stream& stream, const char* name, Span<float> values, InPlace collective) {
    // Looked up now: the caller may allocate, or free, before the stream is there.
    const Place place = allocations_.place_of(values.data());
    const Note note{static_cast<std::int64_t>(collective.kind), collective.root, values.size(),
                    place.allocation, place.offset_bytes};
    const Opening opening{
        .note = note.value(), .root = collective.root, .duration = collective.duration};
    const auto of_rank = allocations_.views_of(place.is_allocated() ? place : stage_place_);
    enqueue(stream, name, {writes(values)},
            [=, this, collective = std::move(collective)](const ModelledTime& ready) {
              if (!place.is_allocated()) {
                return run_staged(collective, opening, of_rank, values, ready);
              }
              on_stream_.open(opening, place, ready);
              collective.move(of_rank, values.size());
              return on_stream_.close(opening);
            });
  }

  ModelledTime run_staged(const InPlace& collective, const Opening& opening,
                          const std::vector<float*>& of_rank, Span<float> values,
                          const ModelledTime& ready) {
    ModelledTime end;
    float* const stage = of_rank[static_cast<std::size_t>(rank())];
    for (std::int64_t done = 0; done == 0 || done < values.size(); done += kStageElements) {
      const std::int64_t count = staged_part(values.size(), done);
      copy_floats(stage, values.data() + done, count);
      if (done == 0) {
        on_stream_.open(opening, {}, ready);
      } else {
        on_stream_.meet();
      }
      collective.move(of_rank, count);
      end = on_stream_.close(opening);
      if (collective.changes_values) copy_floats(values.data() + done, stage, count);
    }
    return end;
  }

  Bootstrap& bootstrap_;
  host::HostDevice& device_;
  const host::Sharing sharing_;
  const std::shared_ptr<host::SharedMapping> control_;  // shared with the ranks that are threads
  Rendezvous on_host_;
  CollectiveMeeting on_stream_;
  Allocations allocations_;
  BlockTransfer blocks_;
  const std::unique_ptr<Buffer> stage_;
  const Place stage_place_;
};

}  // namespace

std::unique_ptr<Communicator> make_shared_memory_communicator(Bootstrap& bootstrap, Device& device,
                                                              Nanoseconds deadline) {
  return std::make_unique<SharedMemoryCommunicator>(bootstrap, host::host_device(device), deadline);
}

}  // namespace tandem
