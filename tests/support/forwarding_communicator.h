// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/comm/communicator.h"

namespace tandem::test {

// Hands every call on to another communicator: a base for those that do one thing differently.
class ForwardingCommunicator : public Communicator {
 public:
  explicit ForwardingCommunicator(Communicator& inner) : inner_(inner) {}

  [[nodiscard]] int rank() const override { return inner_.rank(); }
  [[nodiscard]] int size() const override { return inner_.size(); }
  [[nodiscard]] std::unique_ptr<Buffer> allocate(Bytes size) override {
    return inner_.allocate(size);
  }
  using Communicator::all_reduce;
  void all_reduce(Stream& stream, ConstAnySpan mine, AnySpan result, ReduceOp op) override {
    inner_.all_reduce(stream, mine, result, op);
  }
  void broadcast(Stream& stream, AnySpan values, int root) override {
    inner_.broadcast(stream, values, root);
  }
  using Communicator::reduce;
  void reduce(Stream& stream, ConstAnySpan mine, AnySpan result, int root) override {
    inner_.reduce(stream, mine, result, root);
  }
  void all_gather(Stream& stream, ConstAnySpan mine, AnySpan all) override {
    inner_.all_gather(stream, mine, all);
  }
  void reduce_scatter(Stream& stream, ConstAnySpan all, AnySpan mine, ReduceOp op) override {
    inner_.reduce_scatter(stream, all, mine, op);
  }
  void scatter(Stream& stream, ConstAnySpan source, AnySpan mine, const std::vector<Block>& blocks,
               int root) override {
    inner_.scatter(stream, source, mine, blocks, root);
  }
  void gather(Stream& stream, ConstAnySpan mine, AnySpan destination,
              const std::vector<Block>& blocks, int root) override {
    inner_.gather(stream, mine, destination, blocks, root);
  }
  void send(Stream& stream, ConstAnySpan values, int to) override {
    inner_.send(stream, values, to);
  }
  void recv(Stream& stream, AnySpan values, int from) override {
    inner_.recv(stream, values, from);
  }
  void barrier() override { inner_.barrier(); }
  [[nodiscard]] std::vector<double> all_gather(double mine) override {
    return inner_.all_gather(mine);
  }
  [[nodiscard]] std::vector<std::string> all_gather(const std::string& mine) override {
    return inner_.all_gather(mine);
  }
  void abort() noexcept override { inner_.abort(); }

 private:
  Communicator& inner_;
};

}  // namespace tandem::test
