// SPDX-License-Identifier: Apache-2.0
//
// What each collective asks of NCCL, and what has to follow on the stream.
#include "common/base/error.h"
#include "common/comm/bootstrap.h"
#include "common/comm/collective_checks.h"
#include "common/comm/nccl/nccl_api.h"
#include "common/comm/nccl/nccl_communicator.h"
#include "common/comm/nccl/nccl_group.h"

namespace tandem::nccl {
namespace {

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

std::string note_of(const char* name, ConstAnySpan values, int root = 0, const char* op = "") {
  return fmt::format("{} of {} {} root {} {}", name, values.size(), name_of(values.dtype()), root,
                     op);
}

std::string note_of(const char* name, const std::vector<Block>& blocks, int root) {
  std::string note = fmt::format("{} root {}", name, root);
  for (const Block& block : blocks) note += fmt::format(" {}+{}", block.offset, block.count);
  return note;
}

const char* name_of(ReduceOp op) { return op == ReduceOp::kAverage ? "average" : "sum"; }

}  // namespace

template <class... Parts>
std::string NcclCommunicator::noted(const Parts&... parts) const {
  return order_ ? note_of(parts...) : std::string();
}

std::function<void(cuda::CudaStream&)> NcclCommunicator::average(AnySpan values,
                                                                 ReduceOp op) const {
  if (op == ReduceOp::kSum || size() == 1 || values.empty()) return nullptr;
  return [values, scale = scale_, factor = factor_of(op, size())](cuda::CudaStream& stream) {
    scale(stream, values, factor);
  };
}

void NcclCommunicator::all_reduce(Stream& stream, ConstAnySpan mine, AnySpan result, ReduceOp op) {
  check_same_shape("all_reduce", mine, result);
  enqueue(stream, {.name = "all_reduce",
                   .size = mine.size_bytes(),
                   .accesses = {reads(mine), writes(result)},
                   .note = noted("all_reduce", mine, 0, name_of(op)),
                   .calls =
                       [=, this](ncclComm_t comm, cudaStream_t on) {
                         check(api_,
                               api_.all_reduce(mine.data(), result.data(), count_of(mine),
                                               type_of(mine.dtype()), ncclSum, comm, on),
                               "ncclAllReduce");
                       },
                   .after = average(result, op)});
}

void NcclCommunicator::broadcast(Stream& stream, AnySpan values, int root) {
  check_root(root, size());
  enqueue(stream, {.name = "broadcast",
                   .size = values.size_bytes(),
                   .accesses = {writes(values)},
                   .note = noted("broadcast", values, root),
                   .calls =
                       [=, this](ncclComm_t comm, cudaStream_t on) {
                         check(api_,
                               api_.broadcast(values.data(), values.data(), count_of(values),
                                              type_of(values.dtype()), root, comm, on),
                               "ncclBroadcast");
                       },
                   .after = nullptr});
}

void NcclCommunicator::reduce(Stream& stream, ConstAnySpan mine, AnySpan result, int root) {
  check_root(root, size());
  check_reduction(mine, result, rank() == root);
  enqueue(stream, {.name = "reduce",
                   .size = mine.size_bytes(),
                   .accesses = {reads(mine), writes(result)},
                   .note = noted("reduce", mine, root),
                   .calls =
                       [=, this](ncclComm_t comm, cudaStream_t on) {
                         // Elsewhere than on root NCCL writes nothing, wherever it may.
                         check(api_,
                               api_.reduce(mine.data(), result.data(), count_of(mine),
                                           type_of(mine.dtype()), ncclSum, root, comm, on),
                               "ncclReduce");
                       },
                   .after = nullptr});
}

void NcclCommunicator::all_gather(Stream& stream, ConstAnySpan mine, AnySpan all) {
  check_parts("all_gather", mine, all, size());
  enqueue(stream, {.name = "all_gather",
                   .size = all.size_bytes(),
                   .accesses = {reads(mine), writes(all)},
                   .note = noted("all_gather", mine),
                   .calls =
                       [=, this](ncclComm_t comm, cudaStream_t on) {
                         check(api_,
                               api_.all_gather(mine.data(), all.data(), count_of(mine),
                                               type_of(mine.dtype()), comm, on),
                               "ncclAllGather");
                       },
                   .after = nullptr});
}

void NcclCommunicator::reduce_scatter(Stream& stream, ConstAnySpan all, AnySpan mine, ReduceOp op) {
  check_parts("reduce_scatter", mine, all, size());
  enqueue(stream, {.name = "reduce_scatter",
                   .size = all.size_bytes(),
                   .accesses = {reads(all), writes(mine)},
                   .note = noted("reduce_scatter", mine, 0, name_of(op)),
                   .calls =
                       [=, this](ncclComm_t comm, cudaStream_t on) {
                         check(api_,
                               api_.reduce_scatter(all.data(), mine.data(), count_of(mine),
                                                   type_of(mine.dtype()), ncclSum, comm, on),
                               "ncclReduceScatter");
                       },
                   .after = average(mine, op)});
}

// ---- blocks and messages ----

AnySpan NcclCommunicator::on_device(AnySpan at_root) {
  if (!at_root.device().is_host_memory()) return at_root;
  TANDEM_CHECK(!grouped_, "the host's memory in a group of calls: {} elements", at_root.size());
  const Bytes size = at_root.size_bytes();
  // What is too small stays until the end: a call in flight may use it.
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

void NcclCommunicator::scatter(Stream& stream, ConstAnySpan source, AnySpan mine,
                               const std::vector<Block>& blocks, int root) {
  check_root(root, size());
  const bool is_root = rank() == root;
  check_blocks(blocks, mine, source, is_root, rank(), size());
  std::vector<Access> accesses{writes(mine)};
  if (is_root) accesses.push_back(at_root(reads(source)));
  const ConstAnySpan from = is_root ? copied_to_device(stream, source) : source;
  const ncclDataType_t type = type_of(mine.dtype());
  enqueue(stream, {.name = "scatter",
                   .size = mine.size_bytes(),
                   .accesses = std::move(accesses),
                   .note = noted("scatter", blocks, root),
                   .calls =
                       [=, this](ncclComm_t comm, cudaStream_t on) {
                         if (!is_root) {
                           if (mine.empty()) return;
                           return check(
                               api_, api_.recv(mine.data(), count_of(mine), type, root, comm, on),
                               "ncclRecv");
                         }
                         exchange_blocks(blocks, [&](int peer, const Block& block) {
                           const ConstAnySpan part = from.subspan(block.offset, block.count);
                           check(api_, api_.send(part.data(), count_of(part), type, peer, comm, on),
                                 "ncclSend");
                         });
                       },
                   .after =
                       [=](cuda::CudaStream& on) {
                         if (!is_root || mine.empty()) return;
                         const Block& own = blocks[static_cast<std::size_t>(root)];
                         const ConstAnySpan part = from.subspan(own.offset, own.count);
                         if (part.data() != mine.data()) on.copy_bytes(mine.bytes(), part.bytes());
                       }});
}

void NcclCommunicator::gather(Stream& stream, ConstAnySpan mine, AnySpan destination,
                              const std::vector<Block>& blocks, int root) {
  check_root(root, size());
  const bool is_root = rank() == root;
  check_blocks(blocks, mine, destination, is_root, rank(), size());
  std::vector<Access> accesses{reads(mine)};
  if (is_root) accesses.push_back(at_root(writes(destination)));
  const AnySpan to = is_root && !destination.empty() ? on_device(destination) : destination;
  const ncclDataType_t type = type_of(mine.dtype());
  enqueue(stream, {.name = "gather",
                   .size = mine.size_bytes(),
                   .accesses = std::move(accesses),
                   .note = noted("gather", blocks, root),
                   .calls =
                       [=, this](ncclComm_t comm, cudaStream_t on) {
                         if (!is_root) {
                           if (mine.empty()) return;
                           return check(
                               api_, api_.send(mine.data(), count_of(mine), type, root, comm, on),
                               "ncclSend");
                         }
                         exchange_blocks(blocks, [&](int peer, const Block& block) {
                           const AnySpan part = to.subspan(block.offset, block.count);
                           check(api_, api_.recv(part.data(), count_of(part), type, peer, comm, on),
                                 "ncclRecv");
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
                           if (part.data() != there.data())
                             on.copy_bytes(there.bytes(), part.bytes());
                         }
                       }});
}

void NcclCommunicator::send(Stream& stream, ConstAnySpan values, int to) {
  check_peer(to, rank(), size());
  enqueue(stream, {.name = "send",
                   .size = values.size_bytes(),
                   .accesses = {reads(values)},
                   .calls =
                       [=, this](ncclComm_t comm, cudaStream_t on) {
                         check(api_,
                               api_.send(values.data(), count_of(values), type_of(values.dtype()),
                                         to, comm, on),
                               "ncclSend");
                       },
                   .after = nullptr});
}

void NcclCommunicator::recv(Stream& stream, AnySpan values, int from) {
  check_peer(from, rank(), size());
  enqueue(stream, {.name = "recv",
                   .size = values.size_bytes(),
                   .accesses = {writes(values)},
                   .calls =
                       [=, this](ncclComm_t comm, cudaStream_t on) {
                         check(api_,
                               api_.recv(values.data(), count_of(values), type_of(values.dtype()),
                                         from, comm, on),
                               "ncclRecv");
                       },
                   .after = nullptr});
}

std::vector<double> NcclCommunicator::all_gather(double mine) {
  return gathered_numbers(mine,
                          [this](const std::string& bits) { return host_->all_gather(bits); });
}

}  // namespace tandem::nccl
