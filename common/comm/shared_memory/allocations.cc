// SPDX-License-Identifier: Apache-2.0
#include "common/comm/shared_memory/allocations.h"

#include "common/base/error.h"

namespace tandem {

void Allocations::add(const std::shared_ptr<host::SharedMapping>& mapping, std::int64_t stride) {
  const std::lock_guard lock(mutex_);
  std::erase_if(allocations_, [](const Allocation& a) { return a.mapping.expired(); });
  allocations_.push_back({++added_, mapping, mapping->data(), stride});
}

AllocationPlace Allocations::place_of(const void* mine) const {
  const auto* const address = static_cast<const std::byte*>(mine);
  const std::lock_guard lock(mutex_);
  for (const Allocation& allocation : allocations_) {
    const std::byte* const region = allocation.base + rank_ * allocation.stride;
    if (allocation.mapping.expired()) continue;
    if (address < region || address >= region + allocation.stride) continue;
    return {allocation.number, address - region};
  }
  return {};
}

std::shared_ptr<std::byte> Allocations::at(AllocationPlace place, int rank) const {
  const std::lock_guard lock(mutex_);
  for (const Allocation& allocation : allocations_) {
    if (allocation.number != place.allocation) continue;
    std::byte* const address = allocation.base + rank * allocation.stride + place.offset_bytes;
    if (auto mapping = allocation.mapping.lock()) return {std::move(mapping), address};
  }
  return nullptr;
}

std::vector<std::byte*> Allocations::views_of(AllocationPlace place) const {
  std::vector<std::byte*> views;
  for (int rank = 0; rank < ranks_; ++rank) {
    const std::shared_ptr<std::byte> view = at(place, rank);
    TANDEM_CHECK(view != nullptr, "allocation {} is gone", place.allocation);
    views.push_back(view.get());
  }
  return views;
}

}  // namespace tandem
