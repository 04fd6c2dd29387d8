// SPDX-License-Identifier: Apache-2.0
#include "ddp/horovod/response_cache.h"

namespace tandem::ddp::horovod {

std::optional<std::size_t> ResponseCache::position_of(int tensor) const {
  const auto index = static_cast<std::size_t>(tensor);
  return index < positions_.size() ? positions_[index] : std::nullopt;
}

void ResponseCache::set_position(int tensor, std::optional<std::size_t> position) {
  const auto index = static_cast<std::size_t>(tensor);
  if (index >= positions_.size()) positions_.resize(index + 1);
  positions_[index] = position;
}

// Takes all tensors at once: one by one, a cache of n tensors would be gone through n times in
// every step.
void ResponseCache::use(const std::vector<int>& tensors) {
  if (tensors.empty()) return;
  for (const int tensor : tensors) {
    if (const auto position = position_of(tensor)) tensors_[*position] = -1;
  }
  std::erase(tensors_, -1);
  tensors_.insert(tensors_.end(), tensors.begin(), tensors.end());
  const std::size_t forgotten = tensors_.size() > capacity_ ? tensors_.size() - capacity_ : 0;
  for (std::size_t i = 0; i < forgotten; ++i) set_position(tensors_[i], std::nullopt);
  tensors_.erase(tensors_.begin(), tensors_.begin() + static_cast<std::ptrdiff_t>(forgotten));
  for (std::size_t i = 0; i < tensors_.size(); ++i) set_position(tensors_[i], i);
}

}  // namespace tandem::ddp::horovod
