// SPDX-License-Identifier: Apache-2.0
//
// Operations that are counted instead of carried out.
#pragma once

#include <cstdint>

#include "bench/operation_flops.h"
#include "common/kernels/image_operands.h"
#include "common/kernels/operands.h"

namespace tandem::bench {

// Of an update, by what it declares: each operand that is read once, and twice each that is changed
// in place, for it is read and written.
template <class Update>
[[nodiscard]] Bytes bytes_moved_by(const Update& update) {
  Bytes moved{0};
  for (const Access& access : accesses(update)) {
    moved += access.size * (access.mode == Access::Mode::kWrite ? 2 : 1);
  }
  return moved;
}

// What was enqueued so far.
struct OperationCount {
  std::int64_t operations = 0;  // copies and zeroing among them
  std::int64_t flops = 0;       // of matrix products and convolutions, attention's among them
  Bytes updated;                // read and written by optimizer updates

  // Throws a logic error where operands do not fit, as every back end does.
  template <class Op>
  void note(const Op& op) {
    check_sizes(op);
    ++operations;
    flops += flops_of(op);
  }

  template <class Update>
  void note_update(const Update& op) {
    note(op);
    updated += bytes_moved_by(op);
  }
};

class CountingImageOperations final : public ImageOperations {
 public:
  explicit CountingImageOperations(OperationCount& count) : count_(count) {}

  void enqueue(Stream& /*stream*/, const ConvolutionForward& op) override { count_.note(op); }
  void enqueue(Stream& /*stream*/, const ConvolutionBackwardInput& op) override { count_.note(op); }
  void enqueue(Stream& /*stream*/, const ConvolutionBackwardWeight& op) override {
    count_.note(op);
  }
  void enqueue(Stream& /*stream*/, const BatchNormForward& op) override { count_.note(op); }
  void enqueue(Stream& /*stream*/, const BatchNormBackward& op) override { count_.note(op); }
  void enqueue(Stream& /*stream*/, const MaxPoolForward& op) override { count_.note(op); }
  void enqueue(Stream& /*stream*/, const MaxPoolBackward& op) override { count_.note(op); }
  void enqueue(Stream& /*stream*/, const AveragePoolForward& op) override { count_.note(op); }
  void enqueue(Stream& /*stream*/, const AveragePoolBackward& op) override { count_.note(op); }

 private:
  OperationCount& count_;
};

// `count` outlives it, and the one above.
class CountingOperations final : public Operations {
 public:
  explicit CountingOperations(OperationCount& count) : count_(count), images_(count) {}

  void enqueue(Stream& /*stream*/, const LinearForward& op) override { count_.note(op); }
  void enqueue(Stream& /*stream*/, const LinearBackwardInput& op) override { count_.note(op); }
  void enqueue(Stream& /*stream*/, const LinearBackwardWeight& op) override { count_.note(op); }
  void enqueue(Stream& /*stream*/, const ReluBackward& op) override { count_.note(op); }
  void enqueue(Stream& /*stream*/, const GeluBackward& op) override { count_.note(op); }
  void enqueue(Stream& /*stream*/, const EmbeddingForward& op) override { count_.note(op); }
  void enqueue(Stream& /*stream*/, const EmbeddingBackward& op) override { count_.note(op); }
  void enqueue(Stream& /*stream*/, const LayerNormForward& op) override { count_.note(op); }
  void enqueue(Stream& /*stream*/, const LayerNormBackward& op) override { count_.note(op); }
  void enqueue(Stream& /*stream*/, const AttentionForward& op) override { count_.note(op); }
  void enqueue(Stream& /*stream*/, const AttentionBackward& op) override { count_.note(op); }
  void enqueue(Stream& /*stream*/, const MseLoss& op) override { count_.note(op); }
  void enqueue(Stream& /*stream*/, const MseLossBackward& op) override { count_.note(op); }
  void enqueue(Stream& /*stream*/, const CrossEntropyLoss& op) override { count_.note(op); }
  void enqueue(Stream& /*stream*/, const CrossEntropyLossBackward& op) override { count_.note(op); }
  void enqueue(Stream& /*stream*/, const WeightedSum& op) override { count_.note(op); }
  void enqueue(Stream& /*stream*/, const SgdUpdate& op) override { count_.note_update(op); }
  void enqueue(Stream& /*stream*/, const AdamUpdate& op) override { count_.note_update(op); }
  void enqueue(Stream& /*stream*/, const FillRandom& op) override { count_.note(op); }
  void enqueue(Stream& /*stream*/, const Fill& op) override { count_.note(op); }
  void enqueue(Stream& /*stream*/, const Scale& op) override { count_.note(op); }
  void enqueue(Stream& /*stream*/, const Add& op) override { count_.note(op); }
  void enqueue(Stream& /*stream*/, const AddScalar& op) override { count_.note(op); }
  void enqueue(Stream& /*stream*/, const Subtract& op) override { count_.note(op); }
  void enqueue(Stream& /*stream*/, const Convert& op) override { count_.note(op); }
  void enqueue(Stream& /*stream*/, const Orthogonalise& op) override { count_.note(op); }

  [[nodiscard]] ImageOperations* images() override { return &images_; }

 private:
  OperationCount& count_;
  CountingImageOperations images_;
};

}  // namespace tandem::bench
