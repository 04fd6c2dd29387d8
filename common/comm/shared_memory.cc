// SPDX-License-Identifier: Apache-2.0
#include "common/comm/shared_memory.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <new>

#include "common/base/check.h"
#include "common/comm/agreement.h"
#include "common/comm/node_memory.h"
#include "common/comm/reduction.h"
#include "common/comm/rendezvous.h"
#include "common/runtime/host/cores.h"
#include "common/runtime/host/host_device.h"

namespace tandem {
namespace {

// The transport's own chunk, whatever the buckets of whoever calls.
constexpr std::int64_t kStageElements = std::int64_t{1} << 18;  // 1 MiB

constexpr std::int64_t kPage = 4096;

std::int64_t round_up(std::int64_t value, std::int64_t to) { return (value + to - 1) / to * to; }

// A region of `stride` bytes per rank in one mapping, which lives as long as its buffers.
struct Allocation {
  std::int64_t number = 0;  // the same on all ranks
  std::weak_ptr<host::SharedMapping> mapping;
  std::byte* base = nullptr;
  std::int64_t stride = 0;

  [[nodiscard]] std::byte* region(int rank) const { return base + rank * stride; }
};

// The same elements in every rank's memory.
struct PeerViews {
  std::vector<float*> of_rank;    // empty for memory that was not allocated here
  std::int64_t allocation = 0;    // its number
  std::int64_t offset_bytes = 0;  // into it
};

struct ControlBlock {
  RendezvousState host;    // callers' threads meet here
  RendezvousState stream;  // collectives meet here
};

enum class Kind { kSum, kAverage, kBroadcast };

// All that must be the same on every rank, as one number (FNV-1a over its parts).
std::int64_t note_of(Kind kind, int root, const PeerViews& peers, std::int64_t elements) {
  std::uint64_t note = 0xcbf29ce484222325;
  for (const std::int64_t part : {static_cast<std::int64_t>(kind), std::int64_t{root}, elements,
                                  peers.allocation, peers.offset_bytes}) {
    note = (note ^ static_cast<std::uint64_t>(part)) * 0x100000001b3;
  }
  return static_cast<std::int64_t>(note);
}

// Pages for what all ranks touch, zero-filled, on rank 0's node. Collective.
std::shared_ptr<host::SharedMapping> map_control_block(Bootstrap& bootstrap) {
  const Bytes size{static_cast<std::int64_t>(sizeof(ControlBlock))};
  auto mapping = map_node_memory(bootstrap, size);
  attempt_together(bootstrap, [&] {
    if (bootstrap.rank() == 0) mapping->reserve(Bytes{0}, size);
  });
  return mapping;
}

class SharedMemoryCommunicator final : public Communicator {
 public:
  SharedMemoryCommunicator(Bootstrap& bootstrap, host::HostDevice& device, Nanoseconds deadline)
      : bootstrap_(bootstrap),
        device_(device),
        sharing_(bootstrap.shares_address_space() ? host::Sharing::kThreads
                                                  : host::Sharing::kProcesses),
        control_(map_control_block(bootstrap)),
        on_host_(block().host, sharing_, rank(), size(), deadline),
        on_stream_(block().stream, sharing_, rank(), size(), deadline),
        stage_(allocate(Bytes{kStageElements * static_cast<std::int64_t>(sizeof(float))})) {}

  [[nodiscard]] int rank() const override { return bootstrap_.rank(); }
  [[nodiscard]] int size() const override { return bootstrap_.size(); }

  [[nodiscard]] std::unique_ptr<Buffer> allocate(Bytes size) override {
    on_host_.meet();  // a rank that gave up is noticed here: the bootstrap may wait for it for ever
    const std::int64_t stride = round_up(std::max<std::int64_t>(size.value, 1), kPage);
    const auto mapping = map_node_memory(bootstrap_, Bytes{stride * this->size()});
    const Allocation allocation{++allocated_, mapping, mapping->data(), stride};
    std::unique_ptr<Buffer> buffer;
    attempt_together(bootstrap_, [&] {
      {
        // Each rank its own region: who reserves pages decides their NUMA node, as a touch would.
        const host::ScopedBinding here(device_.core());
        mapping->reserve(Bytes{rank() * stride}, Bytes{stride});
      }
      buffer = device_.adopt(allocation.region(rank()), size, mapping);
    });
    std::erase_if(allocations_, [](const Allocation& a) { return a.mapping.expired(); });
    allocations_.push_back(allocation);
    return buffer;
  }

  void all_reduce(Stream& stream, Span<float> values, ReduceOp op) override {
    const Kind kind = op == ReduceOp::kAverage ? Kind::kAverage : Kind::kSum;
    const float factor = op == ReduceOp::kAverage ? 1.0F / static_cast<float>(size()) : 1.0F;
    enqueue(stream, "all_reduce", values, [=, this](const PeerViews& peers, std::int64_t n) {
      on_stream_.meet_for(note_of(kind, 0, peers, n));
      const auto [first, count] = share_of(rank(), size(), n);
      reduce_to_all(peers.of_rank, first, count, factor);
      on_stream_.meet();
    });
  }

  void broadcast(Stream& stream, Span<float> values, int root) override {
    TANDEM_CHECK(root >= 0 && root < size(), "root {} of {} ranks", root, size());
    enqueue(stream, "broadcast", values, [this, root](const PeerViews& peers, std::int64_t n) {
      on_stream_.meet_for(note_of(Kind::kBroadcast, root, peers, n));
      if (rank() != root) {
        std::memcpy(peers.of_rank[static_cast<std::size_t>(rank())],
                    peers.of_rank[static_cast<std::size_t>(root)],
                    static_cast<std::size_t>(n) * sizeof(float));
      }
      on_stream_.meet();
    });
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
  using Collective = std::function<void(const PeerViews&, std::int64_t)>;

  [[nodiscard]] ControlBlock& block() const {
    return *std::launder(reinterpret_cast<ControlBlock*>(control_->data()));
  }

  // Peers' memory is not among the declared accesses: those are reported when the operation starts,
  // which is before the ranks have met. The loops that touch it are instrumented themselves.
  //
  // Queues `collective` on `values`: once on memory that all ranks see, else staged chunk by chunk.
  void enqueue(Stream& stream, const char* name, Span<float> values, Collective collective) {
    host::HostStream& on = host::host_stream(stream);
    const PeerViews peers = peers_of(values.data());
    if (!peers.of_rank.empty()) {
      on.enqueue({name, {writes(values)}, [collective = std::move(collective), peers, values] {
                    collective(peers, values.size());
                  }});
      return;
    }
    // Looked up now: the caller may allocate, or free, before the stream is there.
    const Span<float> stage = stage_->as<float>();
    on.enqueue(
        {name,
         {writes(values)},
         [collective = std::move(collective), values, stage, peers = peers_of(stage.data())] {
           run_staged(collective, values, stage, peers);
         }});
  }

  static void run_staged(const Collective& collective, Span<float> values, Span<float> stage,
                         const PeerViews& peers) {
    for (std::int64_t done = 0; done < values.size(); done += stage.size()) {
      const std::int64_t count = std::min(stage.size(), values.size() - done);
      const auto bytes = static_cast<std::size_t>(count) * sizeof(float);
      std::memcpy(stage.data(), values.data() + done, bytes);
      collective(peers, count);
      std::memcpy(values.data() + done, stage.data(), bytes);
    }
  }

  // Where each rank has what this rank has at `mine`; empty for memory not allocated here.
  [[nodiscard]] PeerViews peers_of(const float* mine) const {
    const auto* const address = reinterpret_cast<const std::byte*>(mine);
    for (const Allocation& allocation : allocations_) {
      const std::byte* const region = allocation.region(rank());
      if (allocation.mapping.expired()) continue;
      if (address < region || address >= region + allocation.stride) continue;
      PeerViews views{{}, allocation.number, address - region};
      for (int peer = 0; peer < size(); ++peer) {
        views.of_rank.push_back(
            reinterpret_cast<float*>(allocation.region(peer) + (address - region)));
      }
      return views;
    }
    return {};
  }

  Bootstrap& bootstrap_;
  host::HostDevice& device_;
  const host::Sharing sharing_;
  const std::shared_ptr<host::SharedMapping> control_;  // shared with the ranks that are threads
  Rendezvous on_host_;
  Rendezvous on_stream_;
  std::int64_t allocated_ = 0;
  std::vector<Allocation> allocations_;
  const std::unique_ptr<Buffer> stage_;
};

}  // namespace

std::unique_ptr<Communicator> make_shared_memory_communicator(Bootstrap& bootstrap, Device& device,
                                                              Nanoseconds deadline) {
  return std::make_unique<SharedMemoryCommunicator>(bootstrap, host::host_device(device), deadline);
}

}  // namespace tandem
