// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/host/host_image_operations.h"

#include <utility>

#include "common/kernels/host/image_loops.h"
#include "common/kernels/image_operands.h"
#include "common/runtime/host/host_stream.h"

namespace tandem::host {
namespace {

// Scratch memory is declared as written, as linear products have it.
template <class Op>
void enqueue_loop(Stream& stream, const char* name, Scratch& scratch, const Op& op) {
  check_sizes(op);
  HostStream& queue = host_stream(stream);
  std::vector<Access> all = accesses(op);
  const Scratch::Memory memory = scratch.of(scratch_size(op));
  all.push_back(writes(memory.bytes));
  queue.enqueue({name, std::move(all), [op, memory] { run(op, memory.bytes.data()); }});
}

template <class Op>
void enqueue_convolution(Stream& stream, const char* name, Convolutions& convolutions,
                         const Op& op) {
  check_sizes(op);
  HostStream& queue = host_stream(stream);
  std::vector<Access> all = accesses(op);
  check_placement(name, stream.device(), all);  // before anything is prepared for such operands
  Convolutions::Work work = convolutions.prepare(op);
  all.push_back(writes(work.scratch));
  queue.enqueue({name, std::move(all), std::move(work.body)});
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
