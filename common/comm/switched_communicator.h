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

  using Communicator::all_reduce;
  using Communicator::reduce;

  [[nodiscard]] int rank() const override { return other_->rank(); }
  [[nodiscard]] int size() const override { return other_->size(); }
  [[nodiscard]] std::unique_ptr<Buffer> allocate(Bytes size) override {
    return other_->allocate(size);
  }
  void all_reduce(Stream& stream, ConstAnySpan mine, AnySpan result, ReduceOp op) override {
    if (*is_on_) other_->all_reduce(stream, mine, result, op);
  }
  void broadcast(Stream& stream, AnySpan values, int root) override {
    other_->broadcast(stream, values, root);
  }
  void reduce(Stream& stream, ConstAnySpan mine, AnySpan result, int root) override {
    other_->reduce(stream, mine, result, root);
  }
  void all_gather(Stream& stream, ConstAnySpan mine, AnySpan all) override {
    other_->all_gather(stream, mine, all);
  }
  void reduce_scatter(Stream& stream, ConstAnySpan all, AnySpan mine, ReduceOp op) override {
    other_->reduce_scatter(stream, all, mine, op);
  }
  void scatter(Stream& stream, ConstAnySpan source, AnySpan mine, const std::vector<Block>& blocks,
               int root) override {
    other_->scatter(stream, source, mine, blocks, root);
  }
  void gather(Stream& stream, ConstAnySpan mine, AnySpan destination,
              const std::vector<Block>& blocks, int root) override {
    other_->gather(stream, mine, destination, blocks, root);
  }
  void send(Stream& stream, ConstAnySpan values, int to) override {
    other_->send(stream, values, to);
  }
  void recv(Stream& stream, AnySpan values, int from) override {
    other_->recv(stream, values, from);
  }
  void barrier() override { other_->barrier(); }
  [[nodiscard]] std::vector<double> all_gather(double mine) override {
    return other_->all_gather(mine);
  }
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
