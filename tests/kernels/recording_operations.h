// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "common/kernels/operations.h"

namespace tandem {

// Keeps the updates that are enqueued, and does nothing.
class RecordingOperations final : public EachOperation<RecordingOperations> {
 public:
  std::vector<SgdUpdate> sgd;
  std::vector<AdamUpdate> adam;

  template <class Op>
  void take(Stream& /*stream*/, const Op& /*op*/, const char* /*name*/) {}
  void take(Stream& /*stream*/, const SgdUpdate& op, const char* /*name*/) { sgd.push_back(op); }
  void take(Stream& /*stream*/, const AdamUpdate& op, const char* /*name*/) { adam.push_back(op); }
};

}  // namespace tandem
