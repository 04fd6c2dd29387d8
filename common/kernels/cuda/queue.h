// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <vector>

#include "common/kernels/operands.h"
#include "common/runtime/cuda/cuda_stream.h"

namespace tandem::cuda {

// Checks the operation and queues what `launch` does on its stream. `scratch`: memory that it uses
// beside its operands, declared as written.
template <class Op, class Launch>
void queue(Stream& stream, const char* name, const Op& op, std::initializer_list<ByteSpan> scratch,
           const Launch& launch) {
  check_sizes(op);
  std::vector<Access> all = accesses(op);
  for (const ByteSpan& memory : scratch) all.push_back(writes(memory));
  check_placement(name, stream.device(), all);
  cuda_stream(stream).enqueue(name, launch);
}

template <class Op, class Launch>
void queue(Stream& stream, const char* name, const Op& op, ByteSpan scratch, const Launch& launch) {
  queue(stream, name, op, {scratch}, launch);
}

template <class Op, class Launch>
void queue(Stream& stream, const char* name, const Op& op, const Launch& launch) {
  queue(stream, name, op, {}, launch);
}

}  // namespace tandem::cuda
