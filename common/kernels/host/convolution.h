// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/noncopyable.hpp>
#include <memory>

#include "common/kernels/convolution.h"
#include "common/kernels/host/linear.h"
#include "common/kernels/host/scratch.h"

namespace tandem::host {

// oneDNN's convolutions, prepared once per shape, with scratch memory shared with other operations.
// 1 x 1 convolutions on few positions are products of linear layers. prepare() is called by one
// thread at a time; its result runs later on a stream's worker, one at a time, and may outlive this
// object. A failure in oneDNN is an error of kind failure that names the convolution.
class Convolutions : boost::noncopyable {
 public:
  Convolutions(Scratch& scratch, LinearProducts& products);
  ~Convolutions();

  [[nodiscard]] PreparedWork prepare(const ConvolutionForward& op);
  [[nodiscard]] PreparedWork prepare(const ConvolutionBackwardInput& op);
  [[nodiscard]] PreparedWork prepare(const ConvolutionBackwardWeight& op);

  // The number of convolutions prepared so far, without those that are products.
  [[nodiscard]] std::int64_t count() const;

 private:
  class Library;
  std::unique_ptr<Library> library_;
  LinearProducts& products_;
};

}  // namespace tandem::host
