// SPDX-License-Identifier: Apache-2.0
#include "common/comm/solo.h"

#include "common/base/error.h"
#include "common/comm/collective_checks.h"
#include "common/runtime/copy.h"

namespace tandem {
namespace {

constexpr int kOne = 1;

class SoloCommunicator final : public Communicator {
 public:
  SoloCommunicator(Device& device, CollectiveObserver* observer)
      : device_(device), observer_(observer) {}

  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int size() const override { return kOne; }
  [[nodiscard]] std::unique_ptr<Buffer> allocate(Bytes size) override {
    return device_.allocate(size);
  }

  using Communicator::all_reduce;
  void all_reduce(Stream& stream, ConstAnySpan mine, AnySpan result, ReduceOp) override {
    check_same_shape("all_reduce", mine, result);
    move(stream, "all_reduce", mine, result);
  }
  void broadcast(Stream& stream, AnySpan values, int root) override {
    check_root(root, kOne);
    move(stream, "broadcast", values, values);
  }
  using Communicator::reduce;
  void reduce(Stream& stream, ConstAnySpan mine, AnySpan result, int root) override {
    check_root(root, kOne);
    check_reduction(mine, result, true);
    move(stream, "reduce", mine, result);
  }
  void all_gather(Stream& stream, ConstAnySpan mine, AnySpan all) override {
    check_parts("all_gather", mine, all, kOne);
    move(stream, "all_gather", mine, all);
  }
  void reduce_scatter(Stream& stream, ConstAnySpan all, AnySpan mine, ReduceOp) override {
    check_parts("reduce_scatter", mine, all, kOne);
    move(stream, "reduce_scatter", all, mine);
  }
  void scatter(Stream& stream, ConstAnySpan source, AnySpan mine, const std::vector<Block>& blocks,
               int root) override {
    check_root(root, kOne);
    check_blocks(blocks, mine, source, true, 0, kOne);
    move(stream, "scatter", source.subspan(blocks[0].offset, blocks[0].count), mine);
  }
  void gather(Stream& stream, ConstAnySpan mine, AnySpan destination,
              const std::vector<Block>& blocks, int root) override {
    check_root(root, kOne);
    check_blocks(blocks, mine, destination, true, 0, kOne);
    move(stream, "gather", mine, destination.subspan(blocks[0].offset, blocks[0].count));
  }
  void send(Stream&, ConstAnySpan, int to) override { check_peer(to, 0, kOne); }
  void recv(Stream&, AnySpan, int from) override { check_peer(from, 0, kOne); }

  void barrier() override {}
  [[nodiscard]] std::vector<double> all_gather(double mine) override { return {mine}; }
  [[nodiscard]] std::vector<std::string> all_gather(const std::string& mine) override {
    return {mine};
  }
  void abort() noexcept override {}

 private:
  // The observer hears of start and end at the call, since no peer is waited for.
  void move(Stream& stream, const char* name, ConstAnySpan from, AnySpan to) {
    const CollectiveCall call{.sequence = ++enqueued_, .name = name, .size = to.size_bytes()};
    if (observer_ != nullptr) observer_->enqueued(call);
    if (from.data() != to.data() && !from.empty()) {
      enqueue_copy_bytes(stream, to.bytes(), from.bytes());
    }
    if (observer_ == nullptr) return;
    observer_->started(call);
    observer_->finished(call);
  }

  Device& device_;
  CollectiveObserver* const observer_;  // may be absent
  std::uint64_t enqueued_ = 0;
};

}  // namespace

std::unique_ptr<Communicator> make_solo_communicator(Device& device,
                                                     const CommunicatorOptions& options) {
  return std::make_unique<SoloCommunicator>(device, options.observer);
}

}  // namespace tandem
