// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "common/kernels/host/convolution.h"
#include "common/kernels/host/linear.h"
#include "common/kernels/host/scratch.h"
#include "common/kernels/operations.h"
#include "common/runtime/host/host_stream.h"

namespace tandem::host {

// The operations of a host device: oneDNN for the products and convolutions, own vectorised loops
// for the rest, all run by the stream's worker. As thread-safe as Operations. May be destroyed
// while its work is still queued.
//
// The loops are run(op), and run(op, scratch) of those that need scratch memory, of scratch_size();
// thread-safe on disjoint operands and scratch memory. Products and sums are rounded one by one (no
// fused multiply-add) and sums are taken in a fixed order, so that the bits of a result do not
// depend on the vector width of the machine. A class or token out of range is a logic error; a
// failure in oneDNN, which multiplies for attention, is an error of kind failure.
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
      host_stream(stream).enqueue({name, op.accesses(), [op] { run(op); }});
    }
  }

  // The number of library primitives made so far: one per product, shape, ReLU or none, and bias or
  // none.
  [[nodiscard]] std::int64_t primitive_count() const { return products_.count(); }

  // The number of convolutions prepared so far, without those that are products: one per pass,
  // shape and type.
  [[nodiscard]] std::int64_t convolution_count() const { return convolutions_.count(); }

 private:
  // Enqueues the result of `prepare()`: scratch memory and a body that writes this memory. The
  // memory is declared as written too: a second stream that used the same operations at the same
  // time would be seen as the race it is, and a stream of another device is refused.
  template <class Op, class Prepare>
  static void enqueue_prepared(Stream& stream, const char* name, const Op& op,
                               const Prepare& prepare) {
    std::vector<Access> all = op.accesses();
    check_placement(name, stream.device(), all);  // prepare() may see no other device's operands
    auto [scratch, body] = prepare();
    all.push_back(writes(scratch));
    host_stream(stream).enqueue({name, std::move(all), std::move(body)});
  }

  Scratch scratch_;
  LinearProducts products_;
  Convolutions convolutions_;
};

}  // namespace tandem::host
