// SPDX-License-Identifier: Apache-2.0
#include "common/comm/staged.h"

#include <algorithm>
#include <cstdint>
#include <optional>

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

// The offset of `part` within `whole`; nothing where `part` does not lie there.
std::optional<Bytes> place_within(ConstByteSpan part, ConstByteSpan whole) {
  const auto begin = reinterpret_cast<std::uintptr_t>(whole.data());
  const auto here = reinterpret_cast<std::uintptr_t>(part.data());
  if (part.device() != whole.device() || part.size() == 0 || here < begin) return std::nullopt;
  const auto offset = static_cast<std::int64_t>(here - begin);
  if (offset + part.size() > whole.size()) return std::nullopt;
  return Bytes{offset};
}

class StagedCommunicator final : public Communicator {
 public:
  StagedCommunicator(Bootstrap& bootstrap, Device& device, const CommunicatorOptions& options,
                     const MakeHostCommunicator& make_host)
      : device_(device),
        host_(open_host(bootstrap)),
        inner_(make_host(host_->device(0), options)),
        inner_stream_(host_->device(0).make_stream(StreamPriority::kNormal)) {}

  [[nodiscard]] int rank() const override { return inner_->rank(); }
  [[nodiscard]] int size() const override { return inner_->size(); }

  [[nodiscard]] std::unique_ptr<Buffer> allocate(Bytes size) override {
    std::unique_ptr<Buffer> buffer;
    attempt_together(*inner_, [&] { buffer = device_.allocate(size); });
    return buffer;
  }

  // A rank that fails here will not come, so abort() informs the ranks that wait for it.
  void enqueue(Stream& stream, const CollectiveRequest& request) override {
    check_placement(request.name(), device_.id(), request.accesses(rank()));
    TANDEM_CHECK(stream.device() == device_.id(), "{} of {} on a stream of {}", request.name(),
                 to_string(device_.id()), to_string(stream.device()));
    const auto error = capture_error([&] { carry_out(stream, request); });
    if (!error) return;
    abort();
    throw Error(*error);
  }

  void barrier() override { inner_->barrier(); }
  [[nodiscard]] std::vector<std::string> all_gather(const std::string& mine) override {
    return inner_->all_gather(mine);
  }
  void abort() noexcept override { inner_->abort(); }

 private:
  // The stage holds what is brought and behind it the result; on every rank they lie in each other
  // as on the device. A root's host memory takes part where it lies.
  void carry_out(Stream& stream, const CollectiveRequest& request) {
    const ConstAnySpan from = request.from;
    const AnySpan to = request.to;
    make_room(from.size_bytes() + to.size_bytes());
    const auto from_in_to = place_within(from.bytes(), to.bytes());
    const auto to_in_from = place_within(to.bytes(), from.bytes());
    const AnySpan brought = on_stage(from_in_to.value_or(Bytes{0}), from);
    const AnySpan result =
        on_stage(from_in_to ? Bytes{0} : to_in_from.value_or(from.size_bytes()), to);
    const bool brings = from.device() == device_.id();
    const bool gets = to.device() == device_.id();
    const bool is_replaced =
        request.kind == CollectiveRequest::Kind::kBroadcast && rank() != request.root;
    if (brings && !is_replaced) enqueue_copy_bytes(stream, as_host_memory(brought), from.bytes());
    // Between a gather's blocks, values stay.
    if (gets && request.kind == CollectiveRequest::Kind::kGather) {
      enqueue_copy_bytes(stream, as_host_memory(result), to.bytes());
    }
    stream.synchronize();
    CollectiveRequest staged = request;
    if (brings) staged.from = brought;
    if (gets) staged.to = result;
    inner_->enqueue(*inner_stream_, staged);
    inner_stream_->synchronize();
    if (gets) enqueue_copy_bytes(stream, to.bytes(), as_host_memory(result));
    stream.synchronize();
  }

  // Makes the stage at least `size` large; a larger stage is kept.
  void make_room(Bytes size) {
    if (memory_ && memory_->bytes().size() >= size.value) return;
    memory_.reset();
    memory_ = device_.allocate_host(std::max(Bytes{1}, size));
  }

  // Memory of the stage under the host device's id, the only one that the inner communicator takes.
  [[nodiscard]] AnySpan on_stage(Bytes offset, ConstAnySpan like) const {
    return {memory_->bytes().data() + offset.value, like.size(), like.dtype(),
            host_->device(0).id()};
  }

  // The same memory as the runtime knows pinned memory.
  [[nodiscard]] static ByteSpan as_host_memory(AnySpan span) {
    return {span.data(), span.size_bytes().value, {Backend::kHost, DeviceId::kHostMemory}};
  }

  Device& device_;
  const std::unique_ptr<Platform> host_;
  const std::unique_ptr<Communicator> inner_;
  const std::unique_ptr<Stream> inner_stream_;
  std::unique_ptr<Buffer> memory_;  // pinned: the stage; absent before the first call
};

}  // namespace

std::unique_ptr<Communicator> make_staged_communicator(Bootstrap& bootstrap, Device& device,
                                                       const CommunicatorOptions& options,
                                                       const MakeHostCommunicator& make_host) {
  return std::make_unique<StagedCommunicator>(bootstrap, device, options, make_host);
}

}  // namespace tandem
