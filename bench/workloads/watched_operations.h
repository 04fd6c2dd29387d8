// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>

#include "bench/operation_flops.h"
#include "common/kernels/operations.h"

namespace tandem::bench {

// What is known of an operation before it is enqueued.
struct WatchedOperation {
  const void* parameter = nullptr;  // that its layer multiplies or adds; null: none
  double flops = 0;                 // of matrix products and convolutions
};

class OperationWatcher {
 public:
  OperationWatcher() = default;
  OperationWatcher(const OperationWatcher&) = delete;
  OperationWatcher& operator=(const OperationWatcher&) = delete;
  virtual ~OperationWatcher() = default;

  virtual void before(Stream& stream, const WatchedOperation& operation) = 0;
};

// A device's operations, of each of which a watcher is told before it is enqueued. Narrow copies of
// parameters count as what they are copies of. Both outlive this.
class WatchedOperations final : public Operations, private ImageOperations {
 public:
  WatchedOperations(Operations& operations, OperationWatcher& watcher)
      : operations_(operations), watcher_(watcher) {}

  void enqueue(Stream& s, const LinearForward& op) override;
  void enqueue(Stream& s, const EmbeddingForward& op) override;
  void enqueue(Stream& s, const LayerNormForward& op) override;
  void enqueue(Stream& s, const Convert& op) override;
  void enqueue(Stream& s, const ConvolutionForward& op) override;
  void enqueue(Stream& s, const BatchNormForward& op) override;

  void enqueue(Stream& s, const LinearBackwardInput& op) override { pass(s, op); }
  void enqueue(Stream& s, const LinearBackwardWeight& op) override { pass(s, op); }
  void enqueue(Stream& s, const AttentionForward& op) override { pass(s, op); }
  void enqueue(Stream& s, const AttentionBackward& op) override { pass(s, op); }
  void enqueue(Stream& s, const ReluBackward& op) override { pass(s, op); }
  void enqueue(Stream& s, const GeluBackward& op) override { pass(s, op); }
  void enqueue(Stream& s, const EmbeddingBackward& op) override { pass(s, op); }
  void enqueue(Stream& s, const LayerNormBackward& op) override { pass(s, op); }
  void enqueue(Stream& s, const MseLoss& op) override { pass(s, op); }
  void enqueue(Stream& s, const MseLossBackward& op) override { pass(s, op); }
  void enqueue(Stream& s, const CrossEntropyLoss& op) override { pass(s, op); }
  void enqueue(Stream& s, const CrossEntropyLossBackward& op) override { pass(s, op); }
  void enqueue(Stream& s, const WeightedSum& op) override { pass(s, op); }
  void enqueue(Stream& s, const SgdUpdate& op) override { pass(s, op); }
  void enqueue(Stream& s, const AdamUpdate& op) override { pass(s, op); }
  void enqueue(Stream& s, const FillRandom& op) override { pass(s, op); }
  void enqueue(Stream& s, const Fill& op) override { pass(s, op); }
  void enqueue(Stream& s, const Scale& op) override { pass(s, op); }
  void enqueue(Stream& s, const Add& op) override { pass(s, op); }
  void enqueue(Stream& s, const AddScalar& op) override { pass(s, op); }
  void enqueue(Stream& s, const Subtract& op) override { pass(s, op); }
  void enqueue(Stream& s, const Orthogonalise& op) override { pass(s, op); }
  void enqueue(Stream& s, const ConvolutionBackwardInput& op) override { pass_image(s, op); }
  void enqueue(Stream& s, const ConvolutionBackwardWeight& op) override { pass_image(s, op); }
  void enqueue(Stream& s, const BatchNormBackward& op) override { pass_image(s, op); }
  void enqueue(Stream& s, const MaxPoolForward& op) override { pass_image(s, op); }
  void enqueue(Stream& s, const MaxPoolBackward& op) override { pass_image(s, op); }
  void enqueue(Stream& s, const AveragePoolForward& op) override { pass_image(s, op); }
  void enqueue(Stream& s, const AveragePoolBackward& op) override { pass_image(s, op); }

  [[nodiscard]] ImageOperations* images() override {
    return operations_.images() == nullptr ? nullptr : this;
  }

 private:
  template <class Op>
  void pass(Stream& stream, const Op& op, const void* parameter = nullptr) {
    tell(stream, op, parameter);
    operations_.enqueue(stream, op);
  }
  template <class Op>
  void pass_image(Stream& stream, const Op& op, const void* parameter = nullptr) {
    tell(stream, op, parameter);
    operations_.images()->enqueue(stream, op);
  }
  template <class Op>
  void tell(Stream& stream, const Op& op, const void* parameter) {
    watcher_.before(stream, {.parameter = parameter, .flops = static_cast<double>(flops_of(op))});
  }
  [[nodiscard]] const void* original(const void* parameter) const;

  Operations& operations_;
  OperationWatcher& watcher_;
  std::map<const void*, const void*> copies_;  // of what
};

}  // namespace tandem::bench
