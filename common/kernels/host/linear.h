// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "common/kernels/host/scratch.h"
#include "common/kernels/operations.h"
#include "common/runtime/stream.h"

namespace tandem::host {

// oneDNN's products for linear layers, prepared once per shape and activation, with scratch memory
// shared with other operations. prepare() is called by one thread at a time; its result runs later
// on a stream's worker, one at a time, and may outlive this object. A failure in oneDNN is an error
// of kind failure that names the product.
class LinearProducts {
 public:
  explicit LinearProducts(Scratch& scratch);
  ~LinearProducts();
  LinearProducts(const LinearProducts&) = delete;
  LinearProducts& operator=(const LinearProducts&) = delete;

  struct Work {
    Span<std::byte> scratch;     // written while `body` runs; may be empty
    std::function<void()> body;  // one execution
  };
  [[nodiscard]] Work prepare(const LinearForward& op);
  [[nodiscard]] Work prepare(const LinearBackwardInput& op);
  [[nodiscard]] Work prepare(const LinearBackwardWeight& op);

  // The number of primitives made so far.
  [[nodiscard]] std::int64_t count() const;

 private:
  class Library;
  std::unique_ptr<Library> library_;
};

}  // namespace tandem::host
