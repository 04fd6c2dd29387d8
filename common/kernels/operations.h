// SPDX-License-Identifier: Apache-2.0
//
// The operations that models, losses and optimizers consist of: one struct each, holding the
// operands, and one interface that enqueues operations on a stream. The headers included here have
// the structs, what each reads and writes (accesses()), and the host's loops. All matrices are
// row-major and dense. Elements are float where a Span says so. Operands of any type are, in one
// operation, all fp32 or all bf16: then sums are taken in fp32 and rounded once. Every operand lies
// on the stream's device; the call returns before the work is done, and the operands must outlive
// the work. tests/kernels/naive holds the plain version of each operation, the reference for the
// fast versions.
#pragma once

#include <boost/noncopyable.hpp>
#include <map>
#include <memory>
#include <string>

#include "common/kernels/activation.h"
#include "common/kernels/attention.h"
#include "common/kernels/batch_norm.h"
#include "common/kernels/convolution.h"
#include "common/kernels/elementwise.h"
#include "common/kernels/embedding.h"
#include "common/kernels/layer_norm.h"
#include "common/kernels/linear.h"
#include "common/kernels/losses.h"
#include "common/kernels/pooling.h"
#include "common/kernels/precision.h"
#include "common/kernels/updates.h"
#include "common/runtime/device.h"
#include "common/runtime/stream.h"

namespace tandem {

// Every operation: X(struct, name). The name stands in errors, timelines and benchmarks. From these
// lists come the interface below, its wrappers (EachOperation) and CUDA's launches. The
// convolutions are apart because
// libraries alone compute them.
#define TANDEM_EACH_CONVOLUTION(X)                        \
  X(ConvolutionForward, convolution_forward)              \
  X(ConvolutionBackwardInput, convolution_backward_input) \
  X(ConvolutionBackwardWeight, convolution_backward_weight)

#define TANDEM_EACH_OTHER_OPERATION(X)                     \
  X(LinearForward, linear_forward)                         \
  X(LinearBackwardInput, linear_backward_input)            \
  X(LinearBackwardWeight, linear_backward_weight)          \
  X(ReluBackward, relu_backward)                           \
  X(EmbeddingForward, embedding_forward)                   \
  X(EmbeddingBackward, embedding_backward)                 \
  X(LayerNormForward, layer_norm_forward)                  \
  X(LayerNormBackward, layer_norm_backward)                \
  X(AttentionForward, attention_forward)                   \
  X(AttentionBackward, attention_backward)                 \
  X(BatchNormForward, batch_norm_forward)                  \
  X(BatchNormBackward, batch_norm_backward)                \
  X(MaxPoolForward, max_pool_forward)                      \
  X(MaxPoolBackward, max_pool_backward)                    \
  X(AveragePoolForward, average_pool_forward)              \
  X(AveragePoolBackward, average_pool_backward)            \
  X(MseLoss, mse_loss)                                     \
  X(MseLossBackward, mse_loss_backward)                    \
  X(CrossEntropyLoss, cross_entropy_loss)                  \
  X(CrossEntropyLossBackward, cross_entropy_loss_backward) \
  X(WeightedSum, weighted_sum)                             \
  X(SgdUpdate, sgd_update)                                 \
  X(AdamUpdate, adam_update)                               \
  X(FillRandom, fill_random)                               \
  X(Fill, fill)                                            \
  X(Scale, scale)                                          \
  X(Add, add)                                              \
  X(AddScalar, add_scalar)                                 \
  X(Convert, convert)

#define TANDEM_EACH_OPERATION(X) TANDEM_EACH_CONVOLUTION(X) TANDEM_EACH_OTHER_OPERATION(X)

// One back end's operations for one stream at a time: the object caches primitives and scratch
// memory, so it is used with streams of one device and from one thread at a time.
class Operations : boost::noncopyable {
 public:
  virtual ~Operations() = default;

#define TANDEM_ENQUEUE(Op, name) virtual void enqueue(Stream& stream, const Op& op) = 0;
  TANDEM_EACH_OPERATION(TANDEM_ENQUEUE)
#undef TANDEM_ENQUEUE

  // How operations with several implementations were computed so far, by name of the operation.
  [[nodiscard]] virtual std::map<std::string, std::string> implementations() const { return {}; }
};

// The reason why a back end has no convolutions, and so no models of images; empty where the back
// end has convolutions, and where the back end itself is absent. On CUDA the answer depends on
// cuDNN, which is loaded for the answer; without cuDNN an enqueued convolution is a usage error.
[[nodiscard]] std::string lack_of_images(Backend backend);

// Makes the operations of the device's back end. `precision` says whether fp32 operands are
// multiplied as fp32 or as tf32; kBf16 announces bf16 operands. `images` says how images lie on
// GPUs, and whether convolutions of fp32 operands there may be tf32. Throws a usage
// error where the back end has no operations yet, or the device lacks that precision: tf32 on the
// host, bf16 on a CPU for which oneDNN has no bf16 kernels.
[[nodiscard]] std::unique_ptr<Operations> make_operations(Device& device,
                                                          Precision precision = Precision::kFp32,
                                                          const ImageOptions& images = {});

// Operations that are all passed to one template of `Derived`, with a literal name, such as
// "linear_forward" for LinearForward:
//   template <class Op> void take(Stream& stream, const Op& op, const char* name);
template <class Derived>
class EachOperation : public Operations {
 public:
#define TANDEM_TAKE(Op, name)                             \
  void enqueue(Stream& stream, const Op& op) final {      \
    static_cast<Derived*>(this)->take(stream, op, #name); \
  }
  TANDEM_EACH_OPERATION(TANDEM_TAKE)
#undef TANDEM_TAKE
};

// Operations that are each handed on in the end to other operations, which outlive this object:
// take() calls operations().enqueue(stream, op).
template <class Derived>
class EachOperationHandedOn : public EachOperation<Derived> {
 public:
  explicit EachOperationHandedOn(Operations& operations) : operations_(operations) {}

  [[nodiscard]] std::map<std::string, std::string> implementations() const final {
    return operations_.implementations();
  }

 protected:
  [[nodiscard]] Operations& operations() { return operations_; }

 private:
  Operations& operations_;
};

// The parameter of an operation's layer, the parameter's copy or its gradient; null where the
// operation belongs to no layer, as an optimizer's update does.
template <class Op>
[[nodiscard]] const void* parameter_of(const Op& op) {
  if constexpr (requires { op.dweight; }) {
    return op.dweight.data();
  } else if constexpr (requires { op.dtokens; }) {
    return op.dtokens.data();
  } else if constexpr (requires { op.tokens; }) {
    return op.tokens.data();
  } else if constexpr (requires { op.shape, op.weight; }) {
    return op.weight.data();
  } else if constexpr (requires { op.shape, op.gain; }) {
    return op.gain.data();
  } else {
    return nullptr;
  }
}

}  // namespace tandem
