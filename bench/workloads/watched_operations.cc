// SPDX-License-Identifier: Apache-2.0
#include "bench/workloads/watched_operations.h"

namespace tandem::bench {
const void* WatchedOperations::original(const void* parameter) const {
  const auto copy = copies_.find(parameter);
  return copy == copies_.end() ? parameter : copy->second;
}

void WatchedOperations::enqueue(Stream& s, const LinearForward& op) {
  pass(s, op, original(op.weight.data()));
}
void WatchedOperations::enqueue(Stream& s, const EmbeddingForward& op) {
  pass(s, op, op.tokens.data());
}
void WatchedOperations::enqueue(Stream& s, const LayerNormForward& op) {
  pass(s, op, op.gain.data());
}
void WatchedOperations::enqueue(Stream& s, const Convert& op) {
  copies_[op.out.data()] = op.in.data();
  pass(s, op);
}
void WatchedOperations::enqueue(Stream& s, const ConvolutionForward& op) {
  pass_image(s, op, original(op.weight.data()));
}
void WatchedOperations::enqueue(Stream& s, const BatchNormForward& op) {
  pass_image(s, op, op.gain.data());
}

}  // namespace tandem::bench
