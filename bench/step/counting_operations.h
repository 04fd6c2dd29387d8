// SPDX-License-Identifier: Apache-2.0
//
// Operations that are counted instead of carried out.
#pragma once

#include <cstdint>

#include "bench/step/operation_flops.h"
#include "common/kernels/each_operation.h"
#include "common/kernels/image_operands.h"
#include "common/kernels/operands.h"

namespace tandem::bench {

// The bytes that an update moves, by the accesses that it declares: each operand that is only read
// counts once, and each operand that is changed in place counts twice, being read and written.
template <class Update>
[[nodiscard]] Bytes bytes_moved_by(const Update& update) {
  Bytes moved{0};
  for (const Access& access : accesses(update)) {
    moved += access.size * (access.mode == Access::Mode::kWrite ? 2 : 1);
  }
  return moved;
}

// The operations that were enqueued so far.
struct OperationCount {
  std::int64_t operations = 0;  // number of operations, copies and zeroing included
  std::int64_t flops = 0;  // of matrix products and convolutions, attention's among the products
  Bytes updated;           // bytes read and written by optimizer updates

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

// `count` outlives the operations.
class CountingOperations final : public EachOperation<CountingOperations> {
 public:
  explicit CountingOperations(OperationCount& count) : count_(count) {}

  template <class Op>
  void take(Stream& /*stream*/, const Op& op, const char* /*name*/) {
    count_.note(op);
  }
  void take(Stream& /*stream*/, const SgdUpdate& op, const char* /*name*/) {
    count_.note_update(op);
  }
  void take(Stream& /*stream*/, const AdamUpdate& op, const char* /*name*/) {
    count_.note_update(op);
  }

  [[nodiscard]] ImageOperations* images() override { return this; }

 private:
  OperationCount& count_;
};

}  // namespace tandem::bench
