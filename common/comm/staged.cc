// SPDX-License-Identifier: Apache-2.0
#include "common/comm/staged.h"

#include <algorithm>

#include "common/base/error.h"
#include "common/comm/bootstrap.h"
#include "common/comm/collective_checks.h"
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
    attempt_together([this](const std::string& mine) { return inner_->all_gather(mine); },
                     [&] { buffer = device_.allocate(size); });
    return buffer;
  }

  using Communicator::all_reduce;
  void all_reduce(Stream& stream, ConstAnySpan mine, AnySpan result, ReduceOp op) override {
    check_same_shape("all_reduce", mine, result);
    check_accesses(stream, "all_reduce", {reads(mine), writes(result)});
    const AnySpan staged = stage(mine);
    bring(stream, {{mine, staged}});
    on_host([&] { inner_->all_reduce(*inner_stream_, staged, op); });
    take_back(stream, {{staged, result}});
  }

  void broadcast(Stream& stream, AnySpan values, int root) override {
    check_root(root, size());
    check_accesses(stream, "broadcast", {writes(values)});
    const AnySpan staged = stage(values);
    bring(stream, rank() == root ? Copies{{values, staged}} : Copies{});
    on_host([&] { inner_->broadcast(*inner_stream_, staged, root); });
    if (rank() != root) take_back(stream, {{staged, values}});
  }

  using Communicator::reduce;
  void reduce(Stream& stream, ConstAnySpan mine, AnySpan result, int root) override {
    check_root(root, size());
    check_reduction(mine, result, rank() == root);
    check_accesses(stream, "reduce", {reads(mine), writes(result)});
    const AnySpan staged = stage(mine);
    bring(stream, {{mine, staged}});
    on_host([&] { inner_->reduce(*inner_stream_, staged, root); });
    if (rank() == root) take_back(stream, {{staged, result}});
  }

  void all_gather(Stream& stream, ConstAnySpan mine, AnySpan all) override {
    check_parts("all_gather", mine, all, size());
    check_accesses(stream, "all_gather", {reads(mine), writes(all)});
    const AnySpan staged = stage(all);
    const AnySpan own = staged.subspan(rank() * mine.size(), mine.size());
    bring(stream, {{mine, own}});
    on_host([&] { inner_->all_gather(*inner_stream_, own, staged); });
    take_back(stream, {{staged, all}});
  }

  void reduce_scatter(Stream& stream, ConstAnySpan all, AnySpan mine, ReduceOp op) override {
    check_parts("reduce_scatter", mine, all, size());
    check_accesses(stream, "reduce_scatter", {reads(all), writes(mine)});
    const AnySpan staged = stage(all);
    const AnySpan own = staged.subspan(rank() * mine.size(), mine.size());
    bring(stream, {{all, staged}});
    on_host([&] { inner_->reduce_scatter(*inner_stream_, staged, own, op); });
    take_back(stream, {{own, mine}});
  }

  void scatter(Stream& stream, ConstAnySpan source, AnySpan mine, const std::vector<Block>& blocks,
               int root) override {
    check_root(root, size());
    const bool is_root = rank() == root;
    check_blocks(blocks, mine, source, is_root, rank(), size());
    check_accesses(stream, "scatter",
                   {writes(mine), is_root ? at_root(reads(source)) : writes(mine)});
    const Sides sides = stage_blocks(mine, blocks, root);
    bring(stream, is_root ? copies_in(source, sides, blocks) : Copies{});
    on_host([&] { inner_->scatter(*inner_stream_, sides.all, sides.mine, sides.blocks, root); });
    take_back(stream, {{sides.mine, mine}});
  }

  void gather(Stream& stream, ConstAnySpan mine, AnySpan destination,
              const std::vector<Block>& blocks, int root) override {
    check_root(root, size());
    const bool is_root = rank() == root;
    check_blocks(blocks, mine, destination, is_root, rank(), size());
    check_accesses(stream, "gather",
                   {reads(mine), is_root ? at_root(writes(destination)) : reads(mine)});
    const Sides sides = stage_blocks(mine, blocks, root);
    bring(stream, {{mine, sides.mine}});
    on_host([&] { inner_->gather(*inner_stream_, sides.mine, sides.all, sides.blocks, root); });
    if (is_root) take_back(stream, copies_out(destination, sides, blocks));
  }

  void send(Stream& stream, ConstAnySpan values, int to) override {
    check_peer(to, rank(), size());
    check_accesses(stream, "send", {reads(values)});
    const AnySpan staged = stage(values);
    bring(stream, {{values, staged}});
    on_host([&] { inner_->send(*inner_stream_, staged, to); });
  }

  void recv(Stream& stream, AnySpan values, int from) override {
    check_peer(from, rank(), size());
    check_accesses(stream, "recv", {writes(values)});
    const AnySpan staged = stage(values);
    bring(stream, {});
    on_host([&] { inner_->recv(*inner_stream_, staged, from); });
    take_back(stream, {{staged, values}});
  }

  void barrier() override { inner_->barrier(); }
  [[nodiscard]] std::vector<double> all_gather(double mine) override {
    return inner_->all_gather(mine);
  }
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

  // The stage of a scatter or gather: this rank's block, and on the root all ranks' blocks without
  // gaps.
  struct Sides {
    AnySpan mine{};
    AnySpan all{};  // empty on ranks other than the root
    std::vector<Block> blocks{};
  };

  void check_accesses(Stream& stream, const char* name, const std::vector<Access>& accesses) const {
    check_placement(name, device_.id(), accesses);
    TANDEM_CHECK(stream.device() == device_.id(), "{} of {} on a stream of {}", name,
                 to_string(device_.id()), to_string(stream.device()));
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

  [[nodiscard]] Sides stage_blocks(ConstAnySpan mine, const std::vector<Block>& blocks, int root) {
    Sides sides;
    std::int64_t total = 0;
    for (const Block& block : blocks) {
      sides.blocks.push_back({total, block.count});
      total += block.count;
    }
    const std::int64_t others = rank() == root ? total : 0;
    const std::int64_t elements = std::max<std::int64_t>(1, mine.size() + others);
    make_room(Bytes{elements * size_of(mine.dtype())});
    sides.mine = on_stage(0, mine.size(), mine.dtype());
    if (rank() == root) sides.all = on_stage(mine.size(), total, mine.dtype());
    return sides;
  }

  [[nodiscard]] static Copies copies_in(ConstAnySpan source, const Sides& sides,
                                        const std::vector<Block>& blocks) {
    Copies copies;
    for (std::size_t peer = 0; peer < blocks.size(); ++peer) {
      const Block& there = sides.blocks[peer];
      copies.push_back({source.subspan(blocks[peer].offset, there.count),
                        sides.all.subspan(there.offset, there.count)});
    }
    return copies;
  }

  [[nodiscard]] static Copies copies_out(AnySpan destination, const Sides& sides,
                                         const std::vector<Block>& blocks) {
    Copies copies;
    for (std::size_t peer = 0; peer < blocks.size(); ++peer) {
      const Block& here = sides.blocks[peer];
      copies.push_back({sides.all.subspan(here.offset, here.count),
                        destination.subspan(blocks[peer].offset, here.count)});
    }
    return copies;
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

  template <class Call>
  void on_host(Call&& call) {
    call();
    inner_stream_->synchronize();
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
