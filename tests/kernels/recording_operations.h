// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "common/kernels/operations.h"

namespace tandem {

// Keeps the updates that are enqueued, and does nothing.
class RecordingOperations final : public Operations {
 public:
  std::vector<SgdUpdate> sgd;
  std::vector<AdamUpdate> adam;

  void enqueue(Stream& /*stream*/, const SgdUpdate& op) override { sgd.push_back(op); }
  void enqueue(Stream& /*stream*/, const AdamUpdate& op) override { adam.push_back(op); }
  void enqueue(Stream& /*stream*/, const LinearForward& /*op*/) override {}
  void enqueue(Stream& /*stream*/, const LinearBackwardInput& /*op*/) override {}
  void enqueue(Stream& /*stream*/, const LinearBackwardWeight& /*op*/) override {}
  void enqueue(Stream& /*stream*/, const ReluBackward& /*op*/) override {}
  void enqueue(Stream& /*stream*/, const GeluBackward& /*op*/) override {}
  void enqueue(Stream& /*stream*/, const EmbeddingForward& /*op*/) override {}
  void enqueue(Stream& /*stream*/, const EmbeddingBackward& /*op*/) override {}
  void enqueue(Stream& /*stream*/, const LayerNormForward& /*op*/) override {}
  void enqueue(Stream& /*stream*/, const LayerNormBackward& /*op*/) override {}
  void enqueue(Stream& /*stream*/, const AttentionForward& /*op*/) override {}
  void enqueue(Stream& /*stream*/, const AttentionBackward& /*op*/) override {}
  void enqueue(Stream& /*stream*/, const MseLoss& /*op*/) override {}
  void enqueue(Stream& /*stream*/, const MseLossBackward& /*op*/) override {}
  void enqueue(Stream& /*stream*/, const CrossEntropyLoss& /*op*/) override {}
  void enqueue(Stream& /*stream*/, const CrossEntropyLossBackward& /*op*/) override {}
  void enqueue(Stream& /*stream*/, const WeightedSum& /*op*/) override {}
  void enqueue(Stream& /*stream*/, const FillRandom& /*op*/) override {}
  void enqueue(Stream& /*stream*/, const Fill& /*op*/) override {}
  void enqueue(Stream& /*stream*/, const Scale& /*op*/) override {}
  void enqueue(Stream& /*stream*/, const Add& /*op*/) override {}
  void enqueue(Stream& /*stream*/, const AddScalar& /*op*/) override {}
  void enqueue(Stream& /*stream*/, const Subtract& /*op*/) override {}
  void enqueue(Stream& /*stream*/, const Convert& /*op*/) override {}
  void enqueue(Stream& /*stream*/, const Orthogonalise& /*op*/) override {}
};

}  // namespace tandem
