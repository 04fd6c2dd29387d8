// SPDX-License-Identifier: Apache-2.0
#include "bench/workloads/watched_operations.h"

namespace tandem::bench {
namespace {

double flops_of(const LinearShape& shape) { return static_cast<double>(product_flops(shape)); }
double flops_of(const AttentionShape& shape) { return static_cast<double>(attention_flops(shape)); }
double flops_of(const ConvolutionShape& shape) {
  return static_cast<double>(convolution_flops(shape));
}

}  // namespace

const void* WatchedOperations::original(const void* parameter) const {
  const auto copy = copies_.find(parameter);
  return copy == copies_.end() ? parameter : copy->second;
}

void WatchedOperations::enqueue(Stream& s, const LinearForward& op) {
  pass(s, op, {.parameter = original(op.weight.data()), .flops = flops_of(op.shape)});
}
void WatchedOperations::enqueue(Stream& s, const LinearBackwardInput& op) {
  pass(s, op, {.flops = flops_of(op.shape)});
}
void WatchedOperations::enqueue(Stream& s, const LinearBackwardWeight& op) {
  pass(s, op, {.flops = flops_of(op.shape)});
}
void WatchedOperations::enqueue(Stream& s, const EmbeddingForward& op) {
  pass(s, op, {.parameter = op.tokens.data()});
}
void WatchedOperations::enqueue(Stream& s, const LayerNormForward& op) {
  pass(s, op, {.parameter = op.gain.data()});
}
void WatchedOperations::enqueue(Stream& s, const AttentionForward& op) {
  pass(s, op, {.flops = flops_of(op.shape)});
}
void WatchedOperations::enqueue(Stream& s, const AttentionBackward& op) {
  pass(s, op, {.flops = 2 * flops_of(op.shape)});
}
void WatchedOperations::enqueue(Stream& s, const Convert& op) {
  copies_[op.out.data()] = op.in.data();
  pass(s, op);
}
void WatchedOperations::enqueue(Stream& s, const ConvolutionForward& op) {
  pass_image(s, op, {.parameter = original(op.weight.data()), .flops = flops_of(op.shape)});
}
void WatchedOperations::enqueue(Stream& s, const ConvolutionBackwardInput& op) {
  pass_image(s, op, {.flops = flops_of(op.shape)});
}
void WatchedOperations::enqueue(Stream& s, const ConvolutionBackwardWeight& op) {
  pass_image(s, op, {.flops = flops_of(op.shape)});
}
void WatchedOperations::enqueue(Stream& s, const BatchNormForward& op) {
  pass_image(s, op, {.parameter = op.gain.data()});
}

}  // namespace tandem::bench
