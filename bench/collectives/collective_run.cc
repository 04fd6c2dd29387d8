// SPDX-License-Identifier: Apache-2.0
#include "bench/collectives/collective_run.h"

#include "common/base/error.h"

namespace tandem::bench {

namespace {

// Elements of the second buffer; 0 where one is enough.
std::int64_t other_count(const CollectiveCase& measured, int ranks) {
  if (measured.collective == Collective::kSendRecv) return measured.count;
  if (measured.form == BufferUse::kInPlace) return 0;
  if (is_in_blocks(measured.collective)) return measured.count / ranks;
  return measured.collective == Collective::kAllReduce ? measured.count : 0;
}

std::unique_ptr<Buffer> allocate(Communicator& communicator, std::int64_t count, DType type) {
  return count == 0 ? nullptr : communicator.allocate(Bytes{count * size_of(type)});
}

// Elements of the memcpy's target; 0 in a world of one rank, which has nothing to compare with.
std::int64_t copy_count(const CollectiveCase& measured, int ranks) {
  return ranks > 1 ? measured.count : 0;
}

}  // namespace

Bytes memory_of(const CollectiveCase& measured, int ranks) {
  const std::int64_t elements =
      measured.count + other_count(measured, ranks) + copy_count(measured, ranks);
  return Bytes{elements * size_of(measured.type)};
}

CollectiveRun::CollectiveRun(Communicator& communicator, Device& device, Platform& platform,
                             const CollectiveCase& measured)
    : communicator_(communicator),
      measured_(measured),
      rank_(communicator.rank()),
      ranks_(communicator.size()),
      block_(measured.count / ranks_),
      pattern_(measured.type, ranks_),
      whole_(allocate(communicator, measured.count, measured.type)),
      other_(allocate(communicator, other_count(measured, ranks_), measured.type)),
      copy_(allocate(communicator, copy_count(measured, ranks_), measured.type)),
      stream_(device.make_stream(StreamPriority::kNormal)),
      timed_(device),
      values_(platform, *stream_) {
  TANDEM_CHECK(!is_in_blocks(measured.collective) || measured.count % ranks_ == 0,
               "{} elements in blocks of {} ranks", measured.count, ranks_);
  for (int rank = 0; rank < ranks_; ++rank) blocks_.push_back({rank * block_, block_});
  assign_regions();
}

AnySpan CollectiveRun::whole(Buffer& buffer, std::int64_t count) const {
  const ByteSpan bytes = buffer.bytes();
  return {bytes.data(), count, measured_.type, bytes.device()};
}

void CollectiveRun::assign_regions() {
  const Region all{whole(*whole_, measured_.count), 0};
  const std::int64_t mine = rank_ * block_;
  const auto my_block = [&]() -> Region {
    if (measured_.form == BufferUse::kInPlace) return {all.span.subspan(mine, block_), mine};
    return {whole(*other_, block_), mine};
  };
  const Region on_root = rank_ == kRoot ? all : Region{};
  switch (measured_.collective) {
    case Collective::kAllReduce:
    case Collective::kSendRecv:
      input_ = all;
      result_ = other_ ? Region{whole(*other_, measured_.count), 0} : all;
      break;
    case Collective::kBroadcast:
    case Collective::kReduce:
      input_ = result_ = all;
      break;
    case Collective::kAllGather:
      input_ = my_block();
      result_ = all;
      break;
    case Collective::kReduceScatter:
      input_ = all;
      result_ = my_block();
      break;
    case Collective::kScatter:
      input_ = on_root;
      result_ = my_block();
      break;
    case Collective::kGather:
      input_ = my_block();
      result_ = on_root;
      break;
  }
}

void CollectiveRun::load() {
  // The result is written first: in place, the input lies in the result.
  values_.write(result_.span, result_.first, [](std::int64_t) { return -1.0F; });
  values_.write(input_.span, input_.first,
                [&](std::int64_t index) { return pattern_.value(rank_, index); });
}

void CollectiveRun::load_zeros() {
  values_.write(input_.span, input_.first, [](std::int64_t) { return 0.0F; });
}

void CollectiveRun::enqueue() {
  for (int i = 0; i < measured_.calls; ++i) call();
}

void CollectiveRun::enqueue_memcpy() {
  for (int i = 0; i < measured_.calls; ++i) {
    enqueue_copy_bytes(*stream_, whole(*copy_, measured_.count).bytes(),
                       whole(*whole_, measured_.count).bytes());
  }
}

bool CollectiveRun::hold() {
  if (measured_.calls == 1 || stream_->device().backend != Backend::kHost) return false;
  gate_.emplace(*stream_);
  return true;
}

void CollectiveRun::call() {
  switch (measured_.collective) {
    case Collective::kAllReduce:
      return communicator_.all_reduce(*stream_, input_.span, result_.span, measured_.op);
    case Collective::kBroadcast:
      return communicator_.broadcast(*stream_, result_.span, kRoot);
    case Collective::kReduce:
      return communicator_.reduce(*stream_, result_.span, kRoot);
    case Collective::kAllGather:
      return communicator_.all_gather(*stream_, input_.span, result_.span);
    case Collective::kReduceScatter:
      return communicator_.reduce_scatter(*stream_, input_.span, result_.span, measured_.op);
    case Collective::kScatter:
      return communicator_.scatter(*stream_, input_.span, result_.span, blocks_, kRoot);
    case Collective::kGather:
      return communicator_.gather(*stream_, input_.span, result_.span, blocks_, kRoot);
    case Collective::kSendRecv:
      return send_around();
  }
}

// A stream does one operation after the other, and a send may wait for its receiver: ranks of even
// number send first, ranks of odd number receive first.
void CollectiveRun::send_around() {
  const int next = (rank_ + 1) % ranks_;
  const int last = (rank_ + ranks_ - 1) % ranks_;
  if (rank_ % 2 == 0) communicator_.send(*stream_, input_.span, next);
  communicator_.recv(*stream_, result_.span, last);
  if (rank_ % 2 == 1) communicator_.send(*stream_, input_.span, next);
}

WrongElements CollectiveRun::check() {
  const Expectation expected(measured_, pattern_, rank_, ranks_);
  return values_.compare(result_.span, result_.first,
                         [&](std::int64_t index) { return expected.at(index); });
}

}  // namespace tandem::bench
