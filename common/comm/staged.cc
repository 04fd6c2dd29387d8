// SPDX-License-Identifier: Apache-2.0
#include "common/comm/staged.h"

#include <algorithm>

#include "common/base/error.h"
#include "common/comm/bootstrap.h"
#include "common/comm/node_layout.h"
#include "common/runtime/copy.h"
#include "common/runtime/host/cores.h"
#include "common/runtime/host/host_platform.h"

namespace tandem {
namespace {

// A platform with a host device for this rank, on a core of its own where there are enough cores.
std::unique_ptr<Platform> open_host(Bootstrap& bootstrap) {
  const NodeLayout nodes = find_nodes(bootstrap);
  const std::vector<int> cores = host::allowed_cores();
  const auto local = static_cast<std::size_t>(nodes.local_rank(bootstrap.rank()));
  return host::make_host_platform({.devices = 1, .cores = {cores[local % cores.size()]}});
}

using Kind = CollectiveRequest::Kind;

class StagedCommunicator final : public Communicator {
 public:
  StagedCommunicator(Bootstrap& bootstrap, Device& device, const CommunicatorOptions& options,
                     const MakeHostCommunicator& make_host)
      : device_(device),
        host_(open_host(bootstrap)),
        inner_(make_host(host_->device(0), options)),
        inner_stream_(host_->device(0).make_stream(StreamPriority::kNormal)),
        is_free_(device.make_event()) {}

  // The last copy out of the stage may still run, so the stage has to wait.
  ~StagedCommunicator() override {
    static_cast<void>(capture_error([this] { wait_for_stage(); }));
  }

  [[nodiscard]] int rank() const override { return inner_->rank(); }
  [[nodiscard]] int size() const override { return inner_->size(); }

  [[nodiscard]] std::unique_ptr<Buffer> allocate(Bytes size) override {
    std::unique_ptr<Buffer> buffer;
    attempt_together(*inner_, [&] { buffer = device_.allocate(size); });
    return buffer;
  }

  void enqueue(Stream& stream, const CollectiveRequest& request) override {
    check_accesses(stream, request);
    const Staging staging = staging_of(request);
    bring(stream, staging.in);
    inner_->enqueue(*inner_stream_, staging.inner);
    inner_stream_->synchronize();
    if (!staging.out.empty()) take_back(stream, staging.out);
  }

  void barrier() override { inner_->barrier(); }
  [[nodiscard]] std::vector<std::string> all_gather(const std::string& mine) override {
    return inner_->all_gather(mine);
  }
  void abort() noexcept override { inner_->abort(); }

 private:
  struct Copy {
    ConstAnySpan from;
    AnySpan to;
  };
  using Copies = std::vector<Copy>;

  // A collective by way of the stage.
  struct Staging {
    Copies in;                // into the stage
    CollectiveRequest inner;  // from the stage and to it
    Copies out{};             // out of the stage; empty where this rank gets nothing
  };

  // The stage of a scatter or gather: this rank's block, and on the root all ranks' blocks without
  // gaps.
  struct Sides {
    AnySpan mine{};
    AnySpan all{};  // empty on ranks other than the root
  };

  void check_accesses(Stream& stream, const CollectiveRequest& request) const {
    check_placement(request.name(), device_.id(), request.accesses(rank()));
    TANDEM_CHECK(stream.device() == device_.id(), "{} of {} on a stream of {}", request.name(),
                 to_string(device_.id()), to_string(stream.device()));
  }

  [[nodiscard]] Staging staging_of(const CollectiveRequest& request) {
    const ConstAnySpan from = request.from;
    const AnySpan to = request.to;
    const bool is_root = rank() == request.root;
    switch (request.kind) {
      case Kind::kScatter:
      case Kind::kGather:
        return staging_of_blocks(request);
      case Kind::kAllGather: {
        const AnySpan staged = stage(to);
        const AnySpan own = part_of(staged, from.size());
        return {{{from, own}}, with(request, own, staged), {{staged, to}}};
      }
      case Kind::kReduceScatter: {
        const AnySpan staged = stage(from);
        const AnySpan own = part_of(staged, to.size());
        return {{{from, staged}}, with(request, staged, own), {{own, to}}};
      }
      case Kind::kRecv: {
        const AnySpan staged = stage(to);
        return {{}, with(request, {}, staged), {{staged, to}}};
      }
      case Kind::kAllReduce:
      case Kind::kBroadcast:
      case Kind::kReduce:
      case Kind::kSend:
        break;
    }
    const AnySpan staged = stage(from);
    const bool brings = request.kind != Kind::kBroadcast || is_root;
    const bool gets = request.kind == Kind::kAllReduce ||
                      (request.kind == Kind::kBroadcast && !is_root) ||
                      (request.kind == Kind::kReduce && is_root);
    return {brings ? Copies{{from, staged}} : Copies{}, with(request, staged, staged),
            gets ? Copies{{staged, to}} : Copies{}};
  }

  [[nodiscard]] Staging staging_of_blocks(const CollectiveRequest& request) {
    const bool is_root = rank() == request.root;
    const bool scatters = request.kind == Kind::kScatter;
    blocks_.clear();
    std::int64_t total = 0;
    for (const Block& block : request.blocks) {
      blocks_.push_back({total, block.count});
      total += block.count;
    }
    const Sides sides = stage_sides(scatters ? request.to : request.from, is_root ? total : 0);
    Staging staging{.in = {},
                    .inner = scatters ? with(request, sides.all, sides.mine)
                                      : with(request, sides.mine, sides.all)};
    staging.inner.blocks = blocks_;
    if (scatters) {
      staging.out = {{sides.mine, request.to}};
    } else {
      staging.in = {{request.from, sides.mine}};
    }
    if (!is_root) return staging;
    for (std::size_t peer = 0; peer < blocks_.size(); ++peer) {
      const Block& here = blocks_[peer];
      const AnySpan staged = sides.all.subspan(here.offset, here.count);
      const std::int64_t there = request.blocks[peer].offset;
      if (scatters) {
        staging.in.push_back({request.from.subspan(there, here.count), staged});
      } else {
        staging.out.push_back({staged, request.to.subspan(there, here.count)});
      }
    }
    return staging;
  }

  [[nodiscard]] static CollectiveRequest with(CollectiveRequest request, ConstAnySpan from,
                                              AnySpan to) {
    request.from = from;
    request.to = to;
    return request;
  }

  [[nodiscard]] AnySpan part_of(AnySpan all, std::int64_t elements) const {
    return all.subspan(rank() * elements, elements);
  }

  // The stage's memory under the host device's id, the only device that the inner communicator
  // takes.
  [[nodiscard]] AnySpan on_stage(std::int64_t offset, std::int64_t count, DType type) const {
    return {memory_->bytes().data() + offset * size_of(type), count, type, host_->device(0).id()};
  }

  // Makes the stage at least `size` large; a larger stage is kept.
  void make_room(Bytes size) {
    if (memory_ && memory_->bytes().size() >= size.value) return;
    wait_for_stage();
    memory_.reset();
    memory_ = device_.allocate_host(size);
  }

  [[nodiscard]] AnySpan stage(ConstAnySpan like) {
    make_room(std::max(Bytes{1}, like.size_bytes()));
    return on_stage(0, like.size(), like.dtype());
  }

  [[nodiscard]] Sides stage_sides(ConstAnySpan mine, std::int64_t all) {
    const std::int64_t elements = std::max<std::int64_t>(1, mine.size() + all);
    make_room(Bytes{elements * size_of(mine.dtype())});
    return {on_stage(0, mine.size(), mine.dtype()), on_stage(mine.size(), all, mine.dtype())};
  }

  // Marks a span as host memory, as which the runtime knows pinned memory.
  template <class Span>
  [[nodiscard]] static Span as_host_memory(Span span) {
    return {span.data(), span.size(), {Backend::kHost, DeviceId::kHostMemory}};
  }

  void enqueue_copies(Stream& stream, const Copies& copies) const {
    for (const Copy& copy : copies) {
      if (!copy.from.empty()) enqueue_between(stream, copy, is_staged(copy.to.data()));
    }
  }

  [[nodiscard]] bool is_staged(const std::byte* data) const {
    const ByteSpan all = memory_->bytes();
    return data >= all.data() && data < all.data() + all.size();
  }

  // Enqueues a copy. Where the root's side is host memory, the caller copies instead of the stream.
  static void enqueue_between(Stream& stream, const Copy& copy, bool into_stage) {
    const ConstAnySpan device_side = into_stage ? copy.from : ConstAnySpan(copy.to);
    if (device_side.device().is_host_memory()) {
      stream.synchronize();
      std::copy_n(copy.from.data(), copy.from.size_bytes().value, copy.to.data());
      return;
    }
    if (into_stage) {
      enqueue_copy_bytes(stream, as_host_memory(copy.to.bytes()), copy.from.bytes());
    } else {
      enqueue_copy_bytes(stream, copy.to.bytes(), as_host_memory(copy.from.bytes()));
    }
  }

  // Copies into the stage once the stage is free, and returns when the copies are done. A rank
  // whose stream has failed will not come, so abort() tells the ranks that would wait for this one.
  void bring(Stream& stream, const Copies& copies) {
    const auto error = capture_error([&] {
      stream.wait(*is_free_);
      enqueue_copies(stream, copies);
      stream.synchronize();
    });
    if (!error) return;
    abort();
    throw Error(*error);
  }

  void take_back(Stream& stream, const Copies& copies) {
    enqueue_copies(stream, copies);
    stream.record(*is_free_);
  }

  void wait_for_stage() const {
    const auto stream = device_.make_stream(StreamPriority::kNormal);
    stream->wait(*is_free_);
    stream->synchronize();
  }

  Device& device_;
  const std::unique_ptr<Platform> host_;
  const std::unique_ptr<Communicator> inner_;
  const std::unique_ptr<Stream> inner_stream_;
  std::vector<Block> blocks_;             // of the latest scatter or gather, as they are staged
  std::unique_ptr<Buffer> memory_;        // pinned: the stage; absent before the first call
  const std::unique_ptr<Event> is_free_;  // recorded after the last copy out of the stage
};

}  // namespace

std::unique_ptr<Communicator> make_staged_communicator(Bootstrap& bootstrap, Device& device,
                                                       const CommunicatorOptions& options,
                                                       const MakeHostCommunicator& make_host) {
  return std::make_unique<StagedCommunicator>(bootstrap, device, options, make_host);
}

}  // namespace tandem
