// SPDX-License-Identifier: Apache-2.0
#include "ddp/horovod/tensor_queue.h"

#include <utility>

namespace tandem::ddp::horovod {

void TensorQueue::push(int tensor) {
  const std::lock_guard lock(mutex_);
  ready_.tensors.push_back(tensor);
  ++not_launched_;
}

std::optional<StepRecord> TensorQueue::await_launches() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return not_launched_ == 0 || ended_; });
  if (not_launched_ == 0) return std::exchange(record_, {});
  if (failure_) throw Error(*failure_);
  return std::nullopt;
}

void TensorQueue::shut_down() noexcept {
  std::unique_lock lock(mutex_);
  ready_.shut_down = true;
  changed_.wait(lock, [this] { return ended_; });
}

std::optional<Error> TensorQueue::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

TensorQueue::Ready TensorQueue::take() {
  const std::lock_guard lock(mutex_);
  return {std::exchange(ready_.tensors, {}), ready_.shut_down};
}

void TensorQueue::note_cycle(CyclePath path, std::size_t tensors,
                             const std::vector<Bytes>& groups) {
  const std::lock_guard lock(mutex_);
  ++record_.cycles;
  if (path == CyclePath::kNegotiated) ++record_.negotiated;
  if (path == CyclePath::kCached) ++record_.cached;
  record_.groups.insert(record_.groups.end(), groups.begin(), groups.end());
  not_launched_ -= tensors;
  if (tensors > 0 && not_launched_ == 0) changed_.notify_all();
}

void TensorQueue::end(const std::optional<Error>& failure) {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  if (failure) failure_.emplace(*failure);
  changed_.notify_all();
}

}  // namespace tandem::ddp::horovod
