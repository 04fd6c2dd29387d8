// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/host/host_operations.h"

#include <utility>

#include "common/kernels/host/attention.h"
#include "common/kernels/host/elementwise.h"
#include "common/kernels/host/image_loops.h"
#include "common/kernels/host/orthogonalise.h"
#include "common/kernels/host/scratch.h"
#include "common/kernels/host/softmax.h"
#include "common/kernels/host/transformer_loops.h"
#include "common/kernels/image_operands.h"
#include "common/kernels/operands.h"
#include "common/runtime/host/host_stream.h"

namespace tandem::host {
namespace {

template <class Op>
void enqueue_loop(Stream& stream, const char* name, const Op& op) {
  check_sizes(op);
  host_stream(stream).enqueue({name, accesses(op), [op] { run(op); }});
}

// Enqueues a loop that needs scratch memory.
template <class Op>
void enqueue_loop(Stream& stream, const char* name, Scratch& scratch, const Op& op) {
  enqueue_prepared(stream, name, op, [&] {
    const Scratch::Memory memory = scratch.of(scratch_size(op));
    return std::pair(memory.bytes, [op, memory] { run(op, memory.bytes.data()); });
  });
}

// Enqueues a product of oneDNN's, which LinearProducts or Convolutions prepare.
template <class Products, class Op>
void enqueue_product(Stream& stream, const char* name, Products& products, const Op& op) {
  enqueue_prepared(stream, name, op, [&] { return products.prepare(op); });
}

}  // namespace

void HostImageOperations::enqueue(Stream& stream, const ConvolutionForward& op) {
  enqueue_product(stream, "convolution_forward", convolutions_, op);
}
void HostImageOperations::enqueue(Stream& stream, const ConvolutionBackwardInput& op) {
  enqueue_product(stream, "convolution_backward_input", convolutions_, op);
}
void HostImageOperations::enqueue(Stream& stream, const ConvolutionBackwardWeight& op) {
  enqueue_product(stream, "convolution_backward_weight", convolutions_, op);
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

void HostOperations::enqueue(Stream& stream, const LinearForward& op) {
  enqueue_product(stream, "linear_forward", products_, op);
}
void HostOperations::enqueue(Stream& stream, const LinearBackwardInput& op) {
  enqueue_product(stream, "linear_backward_input", products_, op);
}
void HostOperations::enqueue(Stream& stream, const LinearBackwardWeight& op) {
  enqueue_product(stream, "linear_backward_weight", products_, op);
}
void HostOperations::enqueue(Stream& stream, const ReluBackward& op) {
  enqueue_loop(stream, "relu_backward", op);
}
void HostOperations::enqueue(Stream& stream, const GeluBackward& op) {
  enqueue_loop(stream, "gelu_backward", op);
}
void HostOperations::enqueue(Stream& stream, const EmbeddingForward& op) {
  enqueue_loop(stream, "embedding_forward", op);
}
void HostOperations::enqueue(Stream& stream, const EmbeddingBackward& op) {
  enqueue_loop(stream, "embedding_backward", op);
}
void HostOperations::enqueue(Stream& stream, const LayerNormForward& op) {
  enqueue_loop(stream, "layer_norm_forward", op);
}
void HostOperations::enqueue(Stream& stream, const LayerNormBackward& op) {
  enqueue_loop(stream, "layer_norm_backward", scratch_, op);
}
void HostOperations::enqueue(Stream& stream, const AttentionForward& op) {
  enqueue_loop(stream, "attention_forward", scratch_, op);
}
void HostOperations::enqueue(Stream& stream, const AttentionBackward& op) {
  enqueue_loop(stream, "attention_backward", scratch_, op);
}
void HostOperations::enqueue(Stream& stream, const MseLoss& op) {
  enqueue_loop(stream, "mse_loss", op);
}
void HostOperations::enqueue(Stream& stream, const MseLossBackward& op) {
  enqueue_loop(stream, "mse_loss_backward", op);
}
void HostOperations::enqueue(Stream& stream, const CrossEntropyLoss& op) {
  enqueue_loop(stream, "cross_entropy_loss", op);
}
void HostOperations::enqueue(Stream& stream, const CrossEntropyLossBackward& op) {
  enqueue_loop(stream, "cross_entropy_loss_backward", op);
}
void HostOperations::enqueue(Stream& stream, const WeightedSum& op) {
  enqueue_loop(stream, "weighted_sum", op);
}
void HostOperations::enqueue(Stream& stream, const SgdUpdate& op) {
  enqueue_loop(stream, "sgd_update", op);
}
void HostOperations::enqueue(Stream& stream, const AdamUpdate& op) {
  enqueue_loop(stream, "adam_update", op);
}
void HostOperations::enqueue(Stream& stream, const FillRandom& op) {
  enqueue_loop(stream, "fill_random", op);
}
void HostOperations::enqueue(Stream& stream, const Fill& op) { enqueue_loop(stream, "fill", op); }
void HostOperations::enqueue(Stream& stream, const Scale& op) { enqueue_loop(stream, "scale", op); }
void HostOperations::enqueue(Stream& stream, const Add& op) { enqueue_loop(stream, "add", op); }
void HostOperations::enqueue(Stream& stream, const AddScalar& op) {
  enqueue_loop(stream, "add_scalar", op);
}
void HostOperations::enqueue(Stream& stream, const Subtract& op) {
  enqueue_loop(stream, "subtract", op);
}
void HostOperations::enqueue(Stream& stream, const Convert& op) {
  enqueue_loop(stream, "convert", op);
}
void HostOperations::enqueue(Stream& stream, const Orthogonalise& op) {
  enqueue_loop(stream, "orthogonalise", op);
}

}  // namespace tandem::host
