// SPDX-License-Identifier: Apache-2.0
#include "common/comm/communicator.h"

#include <cstring>

#include "common/base/error.h"

namespace tandem {

namespace {

using Kind = CollectiveRequest::Kind;

Access reads(ConstAnySpan span) { return tandem::reads(span.bytes()); }
Access writes(AnySpan span) { return tandem::writes(span.bytes()); }

Access at_root(Access access) {
  if (access.device.is_host_memory()) access.place = Access::Place::kRemote;
  return access;
}

void check_same_shape(const char* name, ConstAnySpan mine, ConstAnySpan result) {
  TANDEM_CHECK(mine.size() == result.size() && mine.dtype() == result.dtype(),
               "{} of {} elements of {} into {} of {}", name, mine.size(), name_of(mine.dtype()),
               result.size(), name_of(result.dtype()));
}

void check_reduction(ConstAnySpan mine, ConstAnySpan result, bool is_root) {
  if (is_root || !result.empty()) check_same_shape("reduce", mine, result);
  TANDEM_CHECK(is_root || result.empty() || result.data() == mine.data(),
               "a result of {} elements of reduce on another rank than root", result.size());
}

void check_root(int root, int ranks) {
  TANDEM_CHECK(root >= 0 && root < ranks, "root {} of {} ranks", root, ranks);
}

void check_blocks(const std::vector<Block>& blocks, ConstAnySpan mine, ConstAnySpan at_root,
                  bool is_root, int rank, int ranks) {
  TANDEM_CHECK(static_cast<int>(blocks.size()) == ranks, "{} blocks for {} ranks", blocks.size(),
               ranks);
  const std::int64_t count = blocks[static_cast<std::size_t>(rank)].count;
  TANDEM_CHECK(mine.size() == count, "{} elements for a block of {}", mine.size(), count);
  if (is_root && !mine.empty()) {
    TANDEM_CHECK(mine.dtype() == at_root.dtype(), "{} here and {} at root", name_of(mine.dtype()),
                 name_of(at_root.dtype()));
  }
  for (const Block& block : blocks) {
    TANDEM_CHECK(block.offset >= 0 && block.count >= 0, "a block of {} elements at {}", block.count,
                 block.offset);
    TANDEM_CHECK(!is_root || block.offset + block.count <= at_root.size(),
                 "a block of {} elements at {} of root's {}", block.count, block.offset,
                 at_root.size());
  }
}

}  // namespace

const char* CollectiveRequest::name() const {
  switch (kind) {
    case Kind::kAllReduce:
      return "all_reduce";
    case Kind::kBroadcast:
      return "broadcast";
    case Kind::kReduce:
      return "reduce";
    case Kind::kScatter:
      return "scatter";
    case Kind::kGather:
      return "gather";
  }
  return "";
}

Bytes CollectiveRequest::size() const {
  return kind == Kind::kScatter ? to.size_bytes() : from.size_bytes();
}

std::vector<Access> CollectiveRequest::accesses(int rank) const {
  switch (kind) {
    case Kind::kBroadcast:
      return {writes(to)};
    case Kind::kScatter:
      if (rank != root) return {writes(to)};
      return {writes(to), at_root(reads(from))};
    case Kind::kGather:
      if (rank != root) return {reads(from)};
      return {reads(from), at_root(writes(to))};
    case Kind::kAllReduce:
    case Kind::kReduce:
      break;
  }
  return {reads(from), writes(to)};
}

void Communicator::all_reduce(Stream& stream, ConstAnySpan mine, AnySpan result, ReduceOp op) {
  check_same_shape("all_reduce", mine, result);
  enqueue(stream, {.kind = Kind::kAllReduce, .from = mine, .to = result, .op = op});
}

void Communicator::broadcast(Stream& stream, AnySpan values, int root) {
  check_root(root, size());
  enqueue(stream, {.kind = Kind::kBroadcast, .from = values, .to = values, .root = root});
}

void Communicator::reduce(Stream& stream, ConstAnySpan mine, AnySpan result, int root) {
  check_root(root, size());
  check_reduction(mine, result, rank() == root);
  enqueue(stream, {.kind = Kind::kReduce, .from = mine, .to = result, .root = root});
}

void Communicator::scatter(Stream& stream, ConstAnySpan source, AnySpan mine,
                           const std::vector<Block>& blocks, int root) {
  check_root(root, size());
  check_blocks(blocks, mine, source, rank() == root, rank(), size());
  enqueue(stream,
          {.kind = Kind::kScatter, .from = source, .to = mine, .root = root, .blocks = blocks});
}

void Communicator::gather(Stream& stream, ConstAnySpan mine, AnySpan destination,
                          const std::vector<Block>& blocks, int root) {
  check_root(root, size());
  check_blocks(blocks, mine, destination, rank() == root, rank(), size());
  enqueue(stream,
          {.kind = Kind::kGather, .from = mine, .to = destination, .root = root, .blocks = blocks});
}

// A number travels as its bits, so that all ranks see the same number.
std::vector<double> Communicator::all_gather(double mine) {
  std::string bits(sizeof(mine), '\0');
  std::memcpy(bits.data(), &mine, sizeof(mine));
  std::vector<double> values;
  for (const std::string& theirs : all_gather(bits)) {
    values.emplace_back();
    std::memcpy(&values.back(), theirs.data(), sizeof(double));
  }
  return values;
}

Note note_of(const CollectiveRequest& collective) {
  Note note;
  note.add(static_cast<std::int64_t>(collective.kind));
  note.add(static_cast<std::int64_t>(collective.op));
  note.add(collective.root);
  for (const Block& block : collective.blocks) {
    note.add(block.offset);
    note.add(block.count);
  }
  if (!collective.blocks.empty()) return note;
  note.add(static_cast<std::int64_t>(collective.from.dtype()));
  note.add(collective.from.size());
  return note;
}

}  // namespace tandem
