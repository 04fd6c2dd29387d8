// SPDX-License-Identifier: Apache-2.0
#include "common/comm/solo.h"

#include "common/comm/immediate_calls.h"
#include "common/runtime/copy.h"

namespace tandem {
namespace {

using Kind = CollectiveRequest::Kind;

// Its collectives are copies within the device.
class SoloCommunicator final : public Communicator {
 public:
  SoloCommunicator(Device& device, CollectiveObserver* observer)
      : device_(device), calls_(observer) {}

  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int size() const override { return 1; }
  [[nodiscard]] std::unique_ptr<Buffer> allocate(Bytes size) override {
    return device_.allocate(size);
  }

  void enqueue(Stream& stream, const CollectiveRequest& request) override {
    const ConstAnySpan from = own_block(Kind::kScatter, request, request.from);
    const AnySpan to = own_block(Kind::kGather, request, request.to);
    if (from.data() != to.data() && !from.empty()) {
      enqueue_copy_bytes(stream, to.bytes(), from.bytes());
    }
    calls_.note(request);
  }

  void barrier() override {}
  [[nodiscard]] std::vector<std::string> all_gather(const std::string& mine) override {
    return {mine};
  }
  void abort() noexcept override {}

 private:
  // The rank's block of `all`, which is the root's side of a collective of this kind; else `all`.
  template <class Span>
  [[nodiscard]] static Span own_block(Kind kind, const CollectiveRequest& request, Span all) {
    if (request.kind != kind) return all;
    return all.subspan(request.blocks[0].offset, request.blocks[0].count);
  }

  Device& device_;
  ImmediateCalls calls_;
};

}  // namespace

std::unique_ptr<Communicator> make_solo_communicator(Device& device,
                                                     const CommunicatorOptions& options) {
  return std::make_unique<SoloCommunicator>(device, options.observer);
}

}  // namespace tandem
