// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>

#include "common/comm/communicator.h"

namespace tandem {

// Another communicator whose all-reduces can be left out, to measure a program without all-reduces
// and otherwise unchanged. The switch is read when an all-reduce is enqueued, and must then have
// the same value on all ranks. While the switch is off, `result` keeps its values. As thread-safe
// as the other communicator.
class SwitchedCommunicator final : public Communicator {
 public:
  using Switch = std::shared_ptr<const std::atomic<bool>>;

  SwitchedCommunicator(std::unique_ptr<Communicator> other, Switch is_on)
      : other_(std::move(other)), is_on_(std::move(is_on)) {}

  [[nodiscard]] int rank() const override { return other_->rank(); }
  [[nodiscard]] int size() const override { return other_->size(); }
  [[nodiscard]] std::unique_ptr<Buffer> allocate(Bytes size) override {
    return other_->allocate(size);
  }
  void enqueue(Stream& stream, const CollectiveRequest& request) override {
    const bool is_switched = request.kind == CollectiveRequest::Kind::kAllReduce;
    if (!is_switched || *is_on_) other_->enqueue(stream, request);
  }
  void barrier() override { other_->barrier(); }
  [[nodiscard]] std::vector<std::string> all_gather(const std::string& mine) override {
    return other_->all_gather(mine);
  }
  [[nodiscard]] CaptureObserver* capture_observer() override { return other_->capture_observer(); }
  void abort() noexcept override { other_->abort(); }

 private:
  const std::unique_ptr<Communicator> other_;
  const Switch is_on_;
};

}  // namespace tandem
