// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/comm/communicator.h"

namespace tandem::test {

// One rank of a job whose other ranks are imagined: notes what it is asked for, and leaves values
// as they are.
class FakeCommunicator final : public Communicator {
 public:
  struct Call {
    const float* data;
    std::int64_t count;
    ReduceOp op;
  };

  FakeCommunicator(Device& device, int rank, int size)
      : device_(device), rank_(rank), size_(size) {}

  // What rank 0 brings to an all-gather of texts; else it brings what this rank does.
  void let_root_gather(std::string text) { root_text_ = std::move(text); }

  // Called with the stream of each all-reduce, before it.
  void on_all_reduce(std::function<void(Stream&)> action) { on_all_reduce_ = std::move(action); }

  // Called when memory that was allocated here goes.
  void on_free(std::function<void()> action) { on_free_ = std::move(action); }

  [[nodiscard]] const std::vector<Call>& all_reduces() const { return all_reduces_; }
  void forget_calls() { all_reduces_.clear(); }

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  [[nodiscard]] std::unique_ptr<Buffer> allocate(Bytes size) override {
    return std::make_unique<Watched>(device_.allocate(size), on_free_);
  }
  void enqueue(Stream& stream, const CollectiveRequest& request) override {
    if (request.kind != CollectiveRequest::Kind::kAllReduce) return;
    if (on_all_reduce_) on_all_reduce_(stream);
    const AnySpan result = request.to;
    TANDEM_CHECK(request.from.data() == result.data(), "an all-reduce that is not in place");
    all_reduces_.push_back(
        {reinterpret_cast<const float*>(result.data()), result.size(), request.op});
  }
  void barrier() override {}
  [[nodiscard]] std::vector<std::string> all_gather(const std::string& mine) override {
    std::vector<std::string> all(static_cast<std::size_t>(size_), mine);
    if (root_text_) all.front() = *root_text_;
    return all;
  }
  void abort() noexcept override {}

 private:
  class Watched final : public Buffer {
   public:
    Watched(std::unique_ptr<Buffer> buffer, const std::function<void()>& on_free)
        : buffer_(std::move(buffer)), on_free_(on_free) {}
    ~Watched() override {
      if (on_free_) on_free_();
    }
    [[nodiscard]] ByteSpan bytes() override { return buffer_->bytes(); }

   private:
    const std::unique_ptr<Buffer> buffer_;
    const std::function<void()>& on_free_;  // the communicator's, which outlives its memory
  };

  Device& device_;
  const int rank_;
  const int size_;
  std::optional<std::string> root_text_;
  std::vector<Call> all_reduces_;
  std::function<void(Stream&)> on_all_reduce_;
  std::function<void()> on_free_;
};

}  // namespace tandem::test
