// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "common/kernels/operations.h"
#include "common/runtime/device.h"

namespace tandem::bench {

// Seconds that a row adds to a product of some width on a device, each width measured once.
class RowTimes {
 public:
  RowTimes(Device& device, Precision precision);

  // Seconds per row of a product of rows x width times width x width.
  [[nodiscard]] double at(std::int64_t width);

  // The largest width of which a product of `seconds` has as many rows as columns or more: the
  // product then runs as near to the speed of large products as its seconds allow.
  [[nodiscard]] std::int64_t width_for(double seconds);

 private:
  [[nodiscard]] double measure(std::int64_t width);

  Device& device_;
  const DType type_;
  std::unique_ptr<Operations> operations_;
  std::unique_ptr<Stream> stream_;
  std::map<std::int64_t, double> seconds_;  // seconds per row, by width
};

}  // namespace tandem::bench
