// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "common/kernels/each_operation.h"
#include "common/kernels/host/attention.h"
#include "common/kernels/host/convolution.h"
#include "common/kernels/host/elementwise.h"
#include "common/kernels/host/image_loops.h"
#include "common/kernels/host/linear.h"
#include "common/kernels/host/orthogonalise.h"
#include "common/kernels/host/scratch.h"
#include "common/kernels/host/softmax.h"
#include "common/kernels/host/transformer_loops.h"
#include "common/kernels/image_operands.h"
#include "common/kernels/operands.h"
#include "common/runtime/host/host_stream.h"

namespace tandem::host {

// The operations of a host device: oneDNN for the products and convolutions, own loops for the
// rest, all run by the stream's worker. As thread-safe as Operations. May be destroyed while its
// work is still queued.
class HostOperations final : public EachOperation<HostOperations> {
 public:
  explicit HostOperations(Device& device)
      : scratch_(device), products_(scratch_), convolutions_(scratch_, products_) {}

  template <class Op>
  void take(Stream& stream, const Op& op, const char* name) {
    if constexpr (requires { products_.prepare(op); }) {
      enqueue_prepared(stream, name, op, [&] { return products_.prepare(op); });
    } else if constexpr (requires { convolutions_.prepare(op); }) {
      enqueue_prepared(stream, name, op, [&] { return convolutions_.prepare(op); });
    } else if constexpr (requires { scratch_size(op); }) {
      enqueue_prepared(stream, name, op, [&] {
        const Scratch::Memory memory = scratch_.of(scratch_size(op));
        return std::pair(memory.bytes, [op, memory] { run(op, memory.bytes.data()); });
      });
    } else {
      check_sizes(op);
      host_stream(stream).enqueue({name, accesses(op), [op] { run(op); }});
    }
  }

  [[nodiscard]] ImageOperations* images() override { return this; }

  // The number of library primitives made so far: one per product, shape, ReLU or none, and bias or
  // none.
  [[nodiscard]] std::int64_t primitive_count() const { return products_.count(); }

  // The number of convolutions prepared so far, without those that are products: one per pass,
  // shape and type.
  [[nodiscard]] std::int64_t convolution_count() const { return convolutions_.count(); }

 private:
  Scratch scratch_;
  LinearProducts products_;
  Convolutions convolutions_;
};

}  // namespace tandem::host
