// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/kernels/host/convolution.h"

namespace tandem::host {

// The operations on images of a host device: oneDNN for the convolutions, own loops for the rest,
// all run by the stream's worker. A part of HostOperations, with which this object shares scratch
// memory, products and thread-safety.
class HostImageOperations final : public ImageOperations {
 public:
  HostImageOperations(Scratch& scratch, LinearProducts& products)
      : scratch_(scratch), convolutions_(scratch, products) {}

  void enqueue(Stream& stream, const ConvolutionForward& op) override;
  void enqueue(Stream& stream, const ConvolutionBackwardInput& op) override;
  void enqueue(Stream& stream, const ConvolutionBackwardWeight& op) override;
  void enqueue(Stream& stream, const BatchNormForward& op) override;
  void enqueue(Stream& stream, const BatchNormBackward& op) override;
  void enqueue(Stream& stream, const MaxPoolForward& op) override;
  void enqueue(Stream& stream, const MaxPoolBackward& op) override;
  void enqueue(Stream& stream, const AveragePoolForward& op) override;
  void enqueue(Stream& stream, const AveragePoolBackward& op) override;

  // The number of convolutions prepared so far, without those that are products: one per pass,
  // shape and type.
  [[nodiscard]] std::int64_t convolution_count() const { return convolutions_.count(); }

 private:
  Scratch& scratch_;
  Convolutions convolutions_;
};

}  // namespace tandem::host
