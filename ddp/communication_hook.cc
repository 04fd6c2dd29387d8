// SPDX-License-Identifier: Apache-2.0
#include "ddp/communication_hook.h"

#include <algorithm>

namespace tandem::ddp {

HalfCompression::HalfCompression(DType type, Device& device, Communicator& communicator)
    : type_(type), communicator_(communicator), operations_(make_operations(device)) {
  TANDEM_CHECK(type != DType::kFloat32, "compression to {}", name_of(type));
}

void HalfCompression::set_buckets(const std::vector<Span<float>>& buckets) {
  buckets_ = buckets;
  std::int64_t largest = 0;
  for (const Span<float> bucket : buckets) largest = std::max(largest, bucket.size());
  staging_.reset();  // frees memory first: a device may be nearly full
  staging_ = communicator_.allocate(Bytes{largest * size_of(type_)});
}

void HalfCompression::reduce(Stream& comm, std::size_t index) {
  const Span<float> flat = buckets_.at(index);
  const ByteSpan memory = staging_->bytes();
  const AnySpan staged(memory.data(), flat.size(), type_, memory.device());
  operations_->enqueue(comm, Convert{.tensors = {{flat, staged}},
                                     .divisor = static_cast<float>(communicator_.size())});
  communicator_.all_reduce(comm, staged, ReduceOp::kSum);
  operations_->enqueue(comm, Convert{.tensors = {{staged, flat}}});
}

std::unique_ptr<CommunicationHook> make_communication_hook(Compression compression, Device& device,
                                                           Communicator& communicator) {
  switch (compression) {
    case Compression::kNone:
      return nullptr;
    case Compression::kBFloat16:
      return std::make_unique<HalfCompression>(DType::kBFloat16, device, communicator);
    case Compression::kFloat16:
      return std::make_unique<HalfCompression>(DType::kFloat16, device, communicator);
  }
  fail(ErrorKind::kLogic, "no such compression");
}

}  // namespace tandem::ddp
