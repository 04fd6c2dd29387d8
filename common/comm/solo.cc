// SPDX-License-Identifier: Apache-2.0
#include "common/comm/solo.h"

#include "common/runtime/copy.h"

namespace tandem {
namespace {

using Kind = CollectiveRequest::Kind;

// Its collectives are copies within the device, which a graph may hold.
class SoloCommunicator final : public Communicator, private CaptureObserver {
 public:
  SoloCommunicator(Device& device, CollectiveObserver* observer)
      : device_(device), observer_(observer) {}

  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int size() const override { return 1; }
  [[nodiscard]] std::unique_ptr<Buffer> allocate(Bytes size) override {
    return device_.allocate(size);
  }

  // The observer hears of start and end at the call, since no peer is waited for.
  void enqueue(Stream& stream, const CollectiveRequest& request) override {
    const ConstAnySpan from = own_block(Kind::kScatter, request, request.from);
    const AnySpan to = own_block(Kind::kGather, request, request.to);
    if (from.data() != to.data() && !from.empty()) {
      enqueue_copy_bytes(stream, to.bytes(), from.bytes());
    }
    if (is_captured_) {
      captured_ += request.size();
    } else {
      tell_of(request.name(), request.size());
    }
  }

  [[nodiscard]] CaptureObserver* capture_observer() override { return this; }

  void barrier() override {}
  [[nodiscard]] std::vector<std::string> all_gather(const std::string& mine) override {
    return {mine};
  }
  void abort() noexcept override {}

 private:
  void capture_begins() override {
    is_captured_ = true;
    captured_ = {};
  }
  void capture_ends() override { is_captured_ = false; }
  // As over NCCL, a replay is one collective of all captured bytes.
  void replay_begins(Stream& /*stream*/) override { tell_of("replay", captured_); }
  void replay_ends(Stream& /*stream*/) override {}

  void tell_of(const char* name, Bytes size) {
    if (observer_ == nullptr) return;
    const CollectiveCall call{.sequence = ++told_, .name = name, .size = size};
    observer_->enqueued(call);
    observer_->started(call);
    observer_->finished(call);
  }

  // The rank's block of `all`, which is the root's side of a collective of this kind; else `all`.
  template <class Span>
  [[nodiscard]] static Span own_block(Kind kind, const CollectiveRequest& request, Span all) {
    if (request.kind != kind) return all;
    return all.subspan(request.blocks[0].offset, request.blocks[0].count);
  }

  Device& device_;
  CollectiveObserver* const observer_;  // may be absent
  std::uint64_t told_ = 0;
  bool is_captured_ = false;  // what is enqueued now
  Bytes captured_{};          // by collectives
};

}  // namespace

std::unique_ptr<Communicator> make_solo_communicator(Device& device,
                                                     const CommunicatorOptions& options) {
  return std::make_unique<SoloCommunicator>(device, options.observer);
}

}  // namespace tandem
