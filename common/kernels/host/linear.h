// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/noncopyable.hpp>
#include <memory>

#include "common/kernels/host/scratch.h"
#include "common/kernels/operations.h"

namespace tandem::host {

// oneDNN's products for linear layers, prepared once per shape and activation, with scratch memory
// shared with other operations. prepare() is called by one thread at a time; its result runs later
// on a stream's worker, one at a time, and may outlive this object. A failure in oneDNN is an error
// of kind failure that names the product.
class LinearProducts : boost::noncopyable {
 public:
  explicit LinearProducts(Scratch& scratch);
  ~LinearProducts();

  [[nodiscard]] PreparedWork prepare(const LinearForward& op);
  [[nodiscard]] PreparedWork prepare(const LinearBackwardInput& op);
  [[nodiscard]] PreparedWork prepare(const LinearBackwardWeight& op);

  // The number of primitives made so far.
  [[nodiscard]] std::int64_t count() const;

 private:
  class Library;
  std::unique_ptr<Library> library_;
};

}  // namespace tandem::host
