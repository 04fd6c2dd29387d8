// SPDX-License-Identifier: Apache-2.0
//
// Each collective's calls of NCCL, and the work that has to follow on the stream.
#include "common/base/error.h"
#include "common/comm/bootstrap.h"
#include "common/comm/nccl/nccl_api.h"
#include "common/comm/nccl/nccl_communicator.h"

namespace tandem::nccl {
namespace {

using Kind = CollectiveRequest::Kind;

std::size_t count_of(ConstAnySpan span) { return static_cast<std::size_t>(span.size()); }

ncclDataType_t type_of(DType type) {
  switch (type) {
    case DType::kFloat32:
      return ncclFloat32;
    case DType::kBFloat16:
      return ncclBfloat16;
    case DType::kFloat16:
      return ncclFloat16;
  }
  fail(ErrorKind::kLogic, "an element type without a name");
}

}  // namespace

std::function<void(cuda::CudaStream&)> NcclCommunicator::average(AnySpan values,
                                                                 ReduceOp op) const {
  if (op == ReduceOp::kSum || size() == 1 || values.empty()) return nullptr;
  return [values, scale = scale_, factor = factor_of(op, size())](cuda::CudaStream& stream) {
    scale(stream, values, factor);
  };
}

NcclCommunicator::Collective NcclCommunicator::collective_of(Stream& stream,
                                                             const CollectiveRequest& request) {
  if (request.kind == Kind::kScatter) return scatter(stream, request);
  if (request.kind == Kind::kGather) return gather(request);
  const auto calls = [this, kind = request.kind, from = request.from, to = request.to,
                      root = request.root](ncclComm_t comm, cudaStream_t on) {
    switch (kind) {
      case Kind::kAllReduce:
        return check(api_,
                     api_.all_reduce(from.data(), to.data(), count_of(from), type_of(from.dtype()),
                                     ncclSum, comm, on),
                     "ncclAllReduce");
      case Kind::kBroadcast:
        return check(api_,
                     api_.broadcast(from.data(), to.data(), count_of(to), type_of(to.dtype()), root,
                                    comm, on),
                     "ncclBroadcast");
      case Kind::kReduce:
        // Elsewhere than on root NCCL writes nothing, wherever it may.
        return check(api_,
                     api_.reduce(from.data(), to.data(), count_of(from), type_of(from.dtype()),
                                 ncclSum, root, comm, on),
                     "ncclReduce");
      case Kind::kScatter:
      case Kind::kGather:
        return;  // the caller's, above
    }
  };
  const bool averages = request.kind == Kind::kAllReduce;
  return {.calls = calls, .after = averages ? average(request.to, request.op) : nullptr};
}

// ---- blocks ----

AnySpan NcclCommunicator::on_device(AnySpan at_root) {
  if (!at_root.device().is_host_memory()) return at_root;
  TANDEM_CHECK(!inside_group_, "the host's memory in a group of calls: {} elements",
               at_root.size());
  const Bytes size = at_root.size_bytes();
  // A buffer that is too small stays until the end: a call in flight may use it.
  if (staging_.empty() || staging_.back()->bytes().size() < size.value) {
    staging_.push_back(device_.allocate(size));
  }
  return {staging_.back()->bytes().data(), at_root.size(), at_root.dtype(), device_.id()};
}

ConstAnySpan NcclCommunicator::copied_to_device(Stream& stream, ConstAnySpan source) {
  if (!source.device().is_host_memory() || source.empty()) return source;
  const AnySpan staged = on_device(
      {const_cast<std::byte*>(source.data()), source.size(), source.dtype(), source.device()});
  stream.copy_bytes(staged.bytes(), source.bytes());
  return staged;
}

// With every other rank that has a block, as one call: they go on at the same time.
void NcclCommunicator::exchange_blocks(
    const std::vector<Block>& blocks,
    const std::function<void(int peer, const Block& block)>& each) const {
  Group group(api_);
  for (int peer = 0; peer < size(); ++peer) {
    const Block& block = blocks[static_cast<std::size_t>(peer)];
    if (peer != rank() && block.count > 0) each(peer, block);
  }
  check(api_, group.end(), "ncclGroupEnd");
}

void NcclCommunicator::send(ConstAnySpan values, int to, ncclComm_t comm, cudaStream_t on) const {
  const ncclDataType_t type = type_of(values.dtype());
  check(api_, api_.send(values.data(), count_of(values), type, to, comm, on), "ncclSend");
}

void NcclCommunicator::recv(AnySpan values, int from, ncclComm_t comm, cudaStream_t on) const {
  const ncclDataType_t type = type_of(values.dtype());
  check(api_, api_.recv(values.data(), count_of(values), type, from, comm, on), "ncclRecv");
}

NcclCommunicator::Collective NcclCommunicator::scatter(Stream& stream,
                                                       const CollectiveRequest& request) {
  const bool is_root = rank() == request.root;
  const ConstAnySpan from = is_root ? copied_to_device(stream, request.from) : request.from;
  const AnySpan mine = request.to;
  const int root = request.root;
  const std::vector<Block> blocks(request.blocks.begin(), request.blocks.end());
  return {.calls =
              [=, this](ncclComm_t comm, cudaStream_t on) {
                if (!is_root) {
                  if (!mine.empty()) recv(mine, root, comm, on);
                  return;
                }
                exchange_blocks(blocks, [&](int peer, const Block& block) {
                  send(from.subspan(block.offset, block.count), peer, comm, on);
                });
              },
          .after =
              [=](cuda::CudaStream& on) {
                if (!is_root || mine.empty()) return;
                const Block& own = blocks[static_cast<std::size_t>(root)];
                const ConstAnySpan part = from.subspan(own.offset, own.count);
                if (part.data() != mine.data()) on.copy_bytes(mine.bytes(), part.bytes());
              }};
}

NcclCommunicator::Collective NcclCommunicator::gather(const CollectiveRequest& request) {
  const bool is_root = rank() == request.root;
  const ConstAnySpan mine = request.from;
  const AnySpan destination = request.to;
  const int root = request.root;
  const AnySpan to = is_root && !destination.empty() ? on_device(destination) : destination;
  const std::vector<Block> blocks(request.blocks.begin(), request.blocks.end());
  return {.calls =
              [=, this](ncclComm_t comm, cudaStream_t on) {
                if (!is_root) {
                  if (!mine.empty()) send(mine, root, comm, on);
                  return;
                }
                exchange_blocks(blocks, [&](int peer, const Block& block) {
                  recv(to.subspan(block.offset, block.count), peer, comm, on);
                });
              },
          .after =
              [=, this](cuda::CudaStream& on) {
                if (!is_root) return;
                for (int peer = 0; peer < size(); ++peer) {
                  const Block& block = blocks[static_cast<std::size_t>(peer)];
                  if (block.count == 0) continue;
                  const AnySpan there = destination.subspan(block.offset, block.count);
                  const ConstAnySpan part =
                      peer == root ? mine : to.subspan(block.offset, block.count);
                  if (part.data() != there.data()) on.copy_bytes(there.bytes(), part.bytes());
                }
              }};
}

}  // namespace tandem::nccl
