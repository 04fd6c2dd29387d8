// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>

#include "bench/step/operation_flops.h"
#include "common/kernels/each_operation.h"

namespace tandem::bench {

// The facts known of an operation before the operation is enqueued.
struct WatchedOperation {
  const void* parameter = nullptr;  // parameter that the operation's layer uses; null: none
  double flops = 0;                 // FLOPs of matrix products and convolutions
};

class OperationWatcher {
 public:
  OperationWatcher() = default;
  OperationWatcher(const OperationWatcher&) = delete;
  OperationWatcher& operator=(const OperationWatcher&) = delete;
  virtual ~OperationWatcher() = default;

  virtual void before(Stream& stream, const WatchedOperation& operation) = 0;
};

// A device's operations; a watcher is told of each operation before the operation is enqueued.
// Narrow copies of parameters count as the parameters themselves. Device operations and watcher
// outlive this object.
class WatchedOperations final : public EachOperationHandedOn<WatchedOperations> {
 public:
  WatchedOperations(Operations& operations, OperationWatcher& watcher)
      : EachOperationHandedOn(operations), watcher_(watcher) {}

  template <class Op>
  void take(Stream& stream, const Op& op, const char* /*name*/) {
    watcher_.before(stream, {.parameter = original(parameter_of(op)),
                             .flops = static_cast<double>(flops_of(op))});
    note(op);
    hand_on(stream, op);
  }

 private:
  template <class Op>
  static const void* parameter_of(const Op& /*op*/) {
    return nullptr;
  }
  static const void* parameter_of(const LinearForward& op) { return op.weight.data(); }
  static const void* parameter_of(const EmbeddingForward& op) { return op.tokens.data(); }
  static const void* parameter_of(const LayerNormForward& op) { return op.gain.data(); }
  static const void* parameter_of(const ConvolutionForward& op) { return op.weight.data(); }
  static const void* parameter_of(const BatchNormForward& op) { return op.gain.data(); }

  template <class Op>
  void note(const Op& /*op*/) {}
  void note(const Convert& op) { copies_[op.out.data()] = op.in.data(); }

  [[nodiscard]] const void* original(const void* parameter) const {
    const auto copy = copies_.find(parameter);
    return copy == copies_.end() ? parameter : copy->second;
  }

  OperationWatcher& watcher_;
  std::map<const void*, const void*> copies_;  // from narrow copy to parameter
};

}  // namespace tandem::bench
