// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace tandem::ddp::horovod {

// The tensors that were agreed on lately. Ranks use the same tensors in the same order, so all
// ranks' caches are equal, and a position in the cache names a tensor in one bit. Positions go from
// the least recently used tensor to the latest. A full cache forgets the least recently used
// tensor.
class ResponseCache {
 public:
  // A capacity of 0 caches nothing.
  explicit ResponseCache(std::size_t capacity) : capacity_(capacity) {}

  [[nodiscard]] std::size_t size() const { return tensors_.size(); }
  [[nodiscard]] int tensor_at(std::size_t position) const { return tensors_.at(position); }
  [[nodiscard]] std::optional<std::size_t> position_of(int tensor) const;

  // Makes `tensors`, each named once, the latest, in this order. Positions change.
  void use(const std::vector<int>& tensors);

 private:
  void set_position(int tensor, std::optional<std::size_t> position);

  const std::size_t capacity_;
  std::vector<int> tensors_;                           // by position
  std::vector<std::optional<std::size_t>> positions_;  // by tensor
};

}  // namespace tandem::ddp::horovod
