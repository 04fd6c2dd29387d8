// SPDX-License-Identifier: Apache-2.0
//
// The operations that models, losses and optimizers consist of: one struct each, holding the
// operands, and one interface that enqueues operations on a stream. All matrices are row-major and
// dense. Elements are float where a Span says so. Operands of any type are, in one operation, all
// fp32 or all bf16: then sums are taken in fp32 and rounded once. Every operand lies on the
// stream's device; the call returns before the work is done, and the operands must outlive the
// work. kernels/host/naive.h holds the plain version of each operation, the reference for the fast
// versions.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "common/kernels/basic_operations.h"
#include "common/kernels/image_operations.h"
#include "common/kernels/precision.h"
#include "common/kernels/transformer_operations.h"
#include "common/runtime/device.h"
#include "common/runtime/stream.h"

namespace tandem {

// One back end's operations for one stream at a time: the object caches primitives and scratch
// memory, so it is used with streams of one device and from one thread at a time.
class Operations {
 public:
  Operations() = default;
  Operations(const Operations&) = delete;
  Operations& operator=(const Operations&) = delete;
  virtual ~Operations() = default;

  virtual void enqueue(Stream& stream, const LinearForward& op) = 0;
  virtual void enqueue(Stream& stream, const LinearBackwardInput& op) = 0;
  virtual void enqueue(Stream& stream, const LinearBackwardWeight& op) = 0;
  virtual void enqueue(Stream& stream, const ReluBackward& op) = 0;
  virtual void enqueue(Stream& stream, const GeluBackward& op) = 0;
  virtual void enqueue(Stream& stream, const EmbeddingForward& op) = 0;
  virtual void enqueue(Stream& stream, const EmbeddingBackward& op) = 0;
  virtual void enqueue(Stream& stream, const LayerNormForward& op) = 0;
  virtual void enqueue(Stream& stream, const LayerNormBackward& op) = 0;
  virtual void enqueue(Stream& stream, const AttentionForward& op) = 0;
  virtual void enqueue(Stream& stream, const AttentionBackward& op) = 0;
  virtual void enqueue(Stream& stream, const MseLoss& op) = 0;
  virtual void enqueue(Stream& stream, const MseLossBackward& op) = 0;
  virtual void enqueue(Stream& stream, const CrossEntropyLoss& op) = 0;
  virtual void enqueue(Stream& stream, const CrossEntropyLossBackward& op) = 0;
  virtual void enqueue(Stream& stream, const WeightedSum& op) = 0;
  virtual void enqueue(Stream& stream, const SgdUpdate& op) = 0;
  virtual void enqueue(Stream& stream, const AdamUpdate& op) = 0;
  virtual void enqueue(Stream& stream, const FillRandom& op) = 0;
  virtual void enqueue(Stream& stream, const Fill& op) = 0;
  virtual void enqueue(Stream& stream, const Scale& op) = 0;
  virtual void enqueue(Stream& stream, const Add& op) = 0;
  virtual void enqueue(Stream& stream, const AddScalar& op) = 0;
  virtual void enqueue(Stream& stream, const Subtract& op) = 0;
  virtual void enqueue(Stream& stream, const Convert& op) = 0;
  virtual void enqueue(Stream& stream, const Orthogonalise& op) = 0;

  // How operations with several implementations were computed so far, by name of the operation.
  [[nodiscard]] virtual std::map<std::string, std::string> implementations() const { return {}; }

  // The operations on images; null where the back end has none (lack_of_images).
  [[nodiscard]] virtual ImageOperations* images() { return nullptr; }
};

// The reason why a back end has no operations on images; empty where the back end has these
// operations, and where the back end itself is absent. On CUDA the answer depends on cuDNN, which
// is loaded for the answer.
[[nodiscard]] std::string lack_of_images(Backend backend);

// Makes the operations of the device's back end. `precision` says whether fp32 operands are
// multiplied as fp32 or as tf32; kBf16 announces bf16 operands. Throws a usage error where the back
// end has no operations yet, or the device lacks that precision: tf32 on the host, bf16 on a CPU
// for which oneDNN has no bf16 kernels.
[[nodiscard]] std::unique_ptr<Operations> make_operations(Device& device,
                                                          Precision precision = Precision::kFp32);

}  // namespace tandem
