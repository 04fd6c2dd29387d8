// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "common/kernels/host/linear.h"
#include "common/kernels/host/scratch.h"
#include "common/kernels/image_operations.h"

namespace tandem::host {

// oneDNN's convolutions, prepared once per shape, with scratch memory that they share with other
// operations. Those of 1 x 1 on few positions are products of linear layers. prepare() is called by
// one thread at a time; what it returns runs later on a stream's worker, one at a time, and may
// outlive this object. A failure in oneDNN is an error of kind failure that names the convolution.
class Convolutions {
 public:
  Convolutions(Scratch& scratch, LinearProducts& products);
  ~Convolutions();
  Convolutions(const Convolutions&) = delete;
  Convolutions& operator=(const Convolutions&) = delete;

  using Work = LinearProducts::Work;
  [[nodiscard]] Work prepare(const ConvolutionForward& op);
  [[nodiscard]] Work prepare(const ConvolutionBackwardInput& op);
  [[nodiscard]] Work prepare(const ConvolutionBackwardWeight& op);

  // Convolutions prepared so far, those apart that are products.
  [[nodiscard]] std::int64_t count() const;

 private:
  class Library;
  std::unique_ptr<Library> library_;
  LinearProducts& products_;
};

}  // namespace tandem::host
