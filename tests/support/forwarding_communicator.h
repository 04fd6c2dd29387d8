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
  void enqueue(Stream& stream, const CollectiveRequest& request) override {
    inner_.enqueue(stream, request);
  }
  void barrier() override { inner_.barrier(); }
  [[nodiscard]] std::vector<std::string> all_gather(const std::string& mine) override {
    return inner_.all_gather(mine);
  }
  void abort() noexcept override { inner_.abort(); }

 private:
  Communicator& inner_;
};

}  // namespace tandem::test
