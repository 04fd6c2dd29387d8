// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "common/kernels/host/scratch.h"
#include "common/kernels/image_operations.h"

namespace tandem::host {

// oneDNN's convolutions, prepared once per shape, with scratch memory that they share with other
// operations. prepare() is called by one thread at a time; what it returns runs later on a stream's
// worker, one at a time, and may outlive this object. A failure in oneDNN is an error of kind
// failure that names the convolution.
class Convolutions {
 public:
  explicit Convolutions(Scratch& scratch);
  ~Convolutions();
  Convolutions(const Convolutions&) = delete;
  Convolutions& operator=(const Convolutions&) = delete;

  struct Work {
    Span<std::byte> scratch;     // written while `body` runs
    std::function<void()> body;  // one execution
  };
  [[nodiscard]] Work prepare(const ConvolutionForward& op);
  [[nodiscard]] Work prepare(const ConvolutionBackwardInput& op);
  [[nodiscard]] Work prepare(const ConvolutionBackwardWeight& op);

  // Convolutions prepared so far.
  [[nodiscard]] std::int64_t count() const;

 private:
  class Library;
  std::unique_ptr<Library> library_;
};

}  // namespace tandem::host
