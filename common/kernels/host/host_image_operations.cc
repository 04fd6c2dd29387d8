// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/host/host_image_operations.h"

#include <utility>

#include "common/kernels/host/enqueue_prepared.h"
#include "common/kernels/host/image_loops.h"
#include "common/kernels/image_operands.h"

namespace tandem::host {
namespace {

template <class Op>
void enqueue_loop(Stream& stream, const char* name, Scratch& scratch, const Op& op) {
  enqueue_prepared(stream, name, op, [&] {
    const Scratch::Memory memory = scratch.of(scratch_size(op));
    return std::pair(memory.bytes, [op, memory] { run(op, memory.bytes.data()); });
  });
}

template <class Op>
void enqueue_convolution(Stream& stream, const char* name, Convolutions& convolutions,
                         const Op& op) {
  enqueue_prepared(stream, name, op, [&] { return convolutions.prepare(op); });
}

}  // namespace

void HostImageOperations::enqueue(Stream& stream, const ConvolutionForward& op) {
  enqueue_convolution(stream, "convolution_forward", convolutions_, op);
}
void HostImageOperations::enqueue(Stream& stream, const ConvolutionBackwardInput& op) {
  enqueue_convolution(stream, "convolution_backward_input", convolutions_, op);
}
void HostImageOperations::enqueue(Stream& stream, const ConvolutionBackwardWeight& op) {
  enqueue_convolution(stream, "convolution_backward_weight", convolutions_, op);
}
void HostImageOperations::enqueue(Stream& stream, const BatchNormForward& op) {
  enqueue_loop(stream, "batch_norm_forward", scratch_, op);
}
void HostImageOperations::enqueue(Stream& stream, const BatchNormBackward& op) {
  enqueue_loop(stream, "batch_norm_backward", scratch_, op);
}
void HostImageOperations::enqueue(Stream& stream, const MaxPoolForward& op) {
  enqueue_loop(stream, "max_pool_forward", scratch_, op);
}
void HostImageOperations::enqueue(Stream& stream, const MaxPoolBackward& op) {
  enqueue_loop(stream, "max_pool_backward", scratch_, op);
}
void HostImageOperations::enqueue(Stream& stream, const AveragePoolForward& op) {
  enqueue_loop(stream, "average_pool_forward", scratch_, op);
}
void HostImageOperations::enqueue(Stream& stream, const AveragePoolBackward& op) {
  enqueue_loop(stream, "average_pool_backward", scratch_, op);
}

}  // namespace tandem::host
